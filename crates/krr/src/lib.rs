//! Kernel ridge regression, **f = Σ_i α_i k(·, x_i)** with **α = (K + nλI)⁻¹y**: exact, and
//! restricted to landmarks or sketches by streaming.
//!
//! Given points x_i, targets y_i and a kernel k, each method minimises over f, in the space of k or
//! in a part of it,
//!
//! ```text
//! (1/n) Σ_i w_i (y_i − f(x_i) − b)²  +  λ‖f‖².
//! ```
//!
//! The weights are w_i = 1 and the constant is b = 0 unless the caller asks for others.
//!
//! * [`ExactKrr`]: f is any function in the space of k. n × n matrix, n³/3 flops: the definition,
//!   for n up to about 10⁴.
//! * [`NystromKrr`]: f = Σ_j θ_j k(·, z_j) over m centres z_j. O(nm²) flops in one pass over the
//!   rows, O(m²) memory.
//! * [`SketchedKrr`]: f in the span of a sketch. One landmark per column and dense Gaussian columns
//!   are its extremes.
//! * [`Falkon`], [`Krill`]: the f of `NystromKrr` by preconditioned conjugate gradients. O(nm)
//!   flops per iteration.
//! * [`AutoKrr`]: the cheapest of `NystromKrr`, `Falkon` and `Krill` in a given memory.
//! * [`FullKrr`]: the f of `ExactKrr` by preconditioned conjugate gradients. O(n²) flops per
//!   iteration; no n × n matrix need be stored.
//! * [`DictionaryKrr`]: f through the weighted dictionary of a stream (SQUEAK), with its risk
//!   bound.
//! * [`DivideAndConquerKrr`]: the average of exact regressions on parts of the data.
//! * [`LogisticKrr`], [`FullLogisticKrr`]: classes by the logistic loss, by Newton's method.
//!   [`LossKrr`]: quantiles, and Huber's loss.
//! * `path` of the first three: the fits at many λ with leave-one-out errors ([`LambdaPath`]); of
//!   the logistic fits: models at many λ. [`FullPath`]: the best λ by validation.
//! * [`FitState`]: a fit as sums over rows, which can be merged, saved and continued.
//! * [`CrossValidation`] of any procedure.
//! * [`Certificate`]: an upper bound on the distance of a fit from the exact one;
//!   [`TightCertificate`] bounds it from both sides.
//! * [`KrrModel`]: the result. It predicts in tiles and has gradients; with the feature `serde` it
//!   is saved and loaded.
//! * [`Device`]: where products with K are computed, such as a graphics card (`crates/gpu`).
//! * [`Posterior`]: the variance of the Gaussian process whose mean is the fit.
//! * [`risk`]: bias², variance and risk at fixed design in closed form, for K and for any low-rank
//!   L = FFᵀ.
//! * [`metrics`]: mean squared error and others.
//!
//! ```
//! use faer::Mat;
//! use nystrom_kernels::{Gaussian, Points};
//! use nystrom_krr::{NystromKrr, metrics};
//! use nystrom_linalg_core::Ridge;
//! use nystrom_sketch::Landmarks;
//!
//! let x: Vec<f64> = (0..200).map(|i| i as f64 / 100.0).collect();          // 200 points on [0, 2)
//! let y = Mat::from_fn(200, 1, |i, _| (4.0 * x[i]).sin());
//! let landmarks = Landmarks::new(200, (0..200).step_by(10).collect())?;    // every tenth of them
//! let krr = NystromKrr::new(Gaussian::new(0.3)?, Ridge::PerSample(1e-8));
//! let model = krr.fit((Points::from_slice(&x), &y), &landmarks)?;
//! let at = [0.123, 1.0];
//! let f = model.predict(Points::from_slice(&at))?;                         // 2 × 1
//! assert!((f[(0, 0)] - 0.492_f64.sin()).abs() < 1e-3);
//! assert_eq!(model.report().m, 20);
//! # Ok::<(), nystrom_linalg_core::Error>(())
//! ```
//!
//! # Notation
//! These letters have the same meaning everywhere in this crate. Where one has another meaning, the
//! last column says so. `docs/NOTATION.md` translates the letters of the papers.
//!
//! | symbol | meaning | where |
//! |---|---|---|
//! | n, d, t | rows, coordinates of a point, targets of a row | |
//! | m | centres, or columns of a sketch (M in Falkon's paper) | parts: [`DivideAndConquerKrr`] |
//! | u | rows of a sketch that are not 0 | |
//! | k, K | the kernel; its n × n matrix at the points x_i | |
//! | y, w, D | targets (n × t), weights of the rows, diag(w) | [`Problem`] |
//! | λ; μ = nλ | the ridge per sample; what is added to the diagonal of K | |
//! | z_j, θ | centres; coefficients (m × t) of f = Σ_j θ_j k(·, z_j) | [`KrrModel`] |
//! | α | coefficients (n × t) where every row is a centre; γ = D^(−½)α | [`ExactKrr`] |
//! | b | the constant of each target | |
//! | C = K_nm, W = K_mm | kernel values k(x_i, z_j) and k(z_i, z_j) | |
//! | R, δ | W + δI = RRᵀ, δ a shift of rounding level | `features/whitener.rs` |
//! | φ(x) = R⁻¹k_Z(x), Φ = CR⁻ᵀ | whitened features; k_Z(x) holds k(z_j, x) | `features/rows.rs` |
//! | β = Rᵀθ | coefficients of Φ, for which the penalty is μ‖β‖² | `direct/solver.rs` |
//! | S; S̄ | a sketch, n × m; its u rows that are not 0 | `features/kernel_rows.rs` |
//! | L = CW⁺Cᵀ, E = K − L | the Nyström approximation of K, and what it misses | `certificate/` |
//! | F | K ≈ FFᵀ; k is its rank there | [`FullKrr`] |
//! | V, S, g | ΦᵀDΦ = VSVᵀ and g = VᵀΦᵀDy: S are eigenvalues here | `path/` |
//! | h_i, d_eff = Σ h_i | leverage of row i, and their sum | `path/` |
//! | p | columns of Φ: m, or m + 1 with a constant | `sums/accumulator.rs` |
//! | Ω = diag(ω) | how many rows each centre stands for | [`Centers`], [`Falkon`] |
//! | Ψ | a random embedding of n rows in 2m | [`Krill`] |
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

// A folder uses only folders before it in this order: data; device; algebra, model; features; sums;
// direct; path; cross_validation; state; iterative; certificate, logistic, metric.
mod algebra;
mod certificate;
mod cross_validation;
mod data;
mod device;
mod direct;
mod features;
mod iterative;
mod losses;
mod metric;
pub mod metrics;
mod model;
mod path;
pub mod risk;
mod state;
mod sums;

pub use certificate::{
    Certificate, CertificateCost, CertificateReport, Closeness, TargetCertificate, TightCertificate,
};
pub use cross_validation::{
    Better, CrossValidation, CvScore, CvTable, EachRidge, ExactGrid, Folds, GridFit, NystromGrid,
    Score,
};
pub use data::{Block, Centers, Problem, RowIter, RowSource};
pub use device::{Device, KernelProduct};
pub use direct::{
    DictionaryKrr, DivideAndConquerKrr, DivideAndConquerModel, DivideAndConquerReport, ExactKrr,
    NystromKrr, SketchedKrr, Solver,
};
pub use iterative::{
    AutoKrr, Estimate, Extras, Falkon, FullKrr, FullPath, FullPathFit, Iteration, IterationReport,
    IterativeFit, IterativeOptions, Krill, MemoryPlan, Method, Monitor, Plan, PlannedFit,
    ProblemSize, RowPasses, Verdict,
};
pub use losses::{FullLogisticKrr, LogisticKrr, Loss, LossKrr};
pub use metric::{
    LearnedMetric, LinearMap, MetricDistance, MetricFit, MetricForm, MetricPath, MetricStep,
};
pub use model::{FitReport, KrrModel, MarginalEffects, Posterior, SolvedBy};
#[cfg(feature = "serde")]
pub use model::{MODEL_FORMAT, SavedModel};
pub use nystrom_linalg_core::Stop;
pub use path::{LambdaPath, PathPoint, lambda_grid};
pub use state::{
    CenterProduct, CenterProducts, FitState, FitSums, FoldSums, FoldedEquations, FoldedScore,
    NewtonEquations, NewtonSums, NormalEquations, PassInput, PathErrors, RowSums, SquaredErrors,
    StatePath, StatePoint, TallQr, Tiled, step_of_newton,
};
