//! Kernel ridge regression, **f = Σ_i α_i k(·, x_i)** with **α = (K + nλI)⁻¹y**: exact, and
//! restricted to landmarks or sketches by streaming.
//!
//! Given points x_i, targets y_i (n × t) and a kernel k, find f in a space of functions minimising
//!
//! ```text
//! (1/n) Σ_i w_i (y_i − f(x_i) − b)²  +  λ‖f‖²
//!
//! (weights w_i = 1 and b = 0 unless asked for)
//! ```
//!
//! * [`ExactKrr`]: f ranges over the whole space of k. n × n matrix, n³/3 flops: the definition,
//!   for n up to about 10⁴.
//! * [`NystromKrr`]: f = Σ_j θ_j k(·, z_j) over m centres z_j. O(nm²) flops in one pass over the
//!   rows, O(m²) memory.
//! * [`SketchedKrr`]: f in the span of any sketch S, between one landmark per column and dense
//!   Gaussian.
//! * [`Falkon`], [`Krill`]: the same f by preconditioned conjugate gradients. O(nm) an iteration.
//! * [`AutoKrr`]: the cheapest of these three in a given memory, and why.
//! * [`FullKrr`]: the f of `ExactKrr` by preconditioned conjugate gradients. O(n²) an iteration,
//!   nothing n × n stored.
//! * [`DictionaryKrr`]: through the weighted dictionary of a stream (SQUEAK), with its risk bound.
//! * [`DivideAndConquerKrr`]: exact on parts of the data, averaged.
//! * [`LogisticKrr`], [`FullLogisticKrr`]: classes by the logistic loss, by Newton's method.
//! * `path` of these: leave-one-out errors at all λ ([`LambdaPath`]).
//! * [`CrossValidation`] of any procedure.
//! * [`Certificate`]: how far a fit is from the exact one, [`TightCertificate`] from both sides.
//! * [`Posterior`]: the variance of the Gaussian process whose mean a fit is.
//! * [`KrrModel`]: what both return: predicts in tiles; saved and loaded behind the feature
//!   `serde`.
//! * [`risk`]: bias², variance and risk at fixed design in closed form, for K and for any low-rank
//!   L = FFᵀ.
//! * [`metrics`]: mean squared error and its relatives.
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
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod accumulator;
mod centers;
mod certificate;
mod cross_validation;
mod dictionary;
mod divide_and_conquer;
mod exact;
mod feature_sums;
mod gradient;
mod iterative;
mod kernel_rows;
mod logistic;
mod metric;
pub mod metrics;
mod model;
mod nystrom;
mod path;
mod posterior;
mod problem;
mod qr;
mod report;
pub mod risk;
mod rows;
#[cfg(feature = "serde")]
mod saved;
mod sign_embedding;
mod sketched;
mod solver;
mod source;
mod state;
mod sums;
mod svd;
mod targets;
mod totals;
mod waiting;
mod whitener;

pub use centers::Centers;
pub use certificate::{
    Certificate, CertificateCost, CertificateReport, Closeness, TargetCertificate, TightCertificate,
};
pub use cross_validation::{
    Better, CrossValidation, CvScore, CvTable, EachRidge, ExactGrid, Folds, GridFit, NystromGrid,
    Score,
};
pub use dictionary::DictionaryKrr;
pub use divide_and_conquer::{DivideAndConquerKrr, DivideAndConquerModel, DivideAndConquerReport};
pub use exact::ExactKrr;
pub use gradient::MarginalEffects;
pub use iterative::{
    AutoKrr, Estimate, Extras, Falkon, FullKrr, FullPath, FullPathFit, Iteration, IterationReport,
    IterativeFit, IterativeOptions, Krill, MemoryPlan, Method, Monitor, Plan, PlannedFit,
    ProblemSize, RowPasses, Verdict,
};
pub use logistic::{FullLogisticKrr, LogisticKrr};
pub use metric::{
    LearnedMetric, LinearMap, MetricDistance, MetricFit, MetricForm, MetricPath, MetricStep,
};
pub use model::KrrModel;
pub use nystrom::NystromKrr;
pub use nystrom_linalg_core::Stop;
pub use path::{LambdaPath, PathPoint, lambda_grid};
pub use posterior::Posterior;
pub use problem::Problem;
pub use report::{FitReport, SolvedBy};
#[cfg(feature = "serde")]
pub use saved::{MODEL_FORMAT, SavedModel};
pub use sketched::SketchedKrr;
pub use solver::Solver;
pub use source::{Block, Blocks, RowIter, RowSource};
pub use state::{
    CenterProduct, CenterProducts, DualProduct, DualProducts, FitState, FitSums, FoldSums,
    FoldedEquations, FoldedScore, NewtonEquations, NewtonSums, NormalEquations, PassInput,
    PathErrors, ResidualRows, ResidualSums, RowSums, RowValues, SquaredErrors, StatePath,
    StatePoint, TallQr, Tiled, ValueSums, step_of_newton,
};
