//! Ridge leverage scores **l_i(λ) = \[K(K + nλI)⁻¹\]_ii**: exact, and approximate with their
//! guarantees.
//!
//! The score of row i is the share of φ(x_i) that the other rows do not explain at the ridge nλ;
//! the sum of all scores is the effective dimension d_eff(λ).
//!
//! * [`exact_scores`] and [`ExactSpectrum`] (a whole λ path, rank-k scores): n × n by definition.
//! * [`AlaouiMahoney`] and [`fast_scores`]: O(np²) time and np kernel evaluations, never above the
//!   exact scores.
//! * [`Projector`]: scores with respect to a weighted dictionary, the formula that the recursive
//!   and streaming estimators share.
//! * [`RecursiveRls`], [`Bless`], [`BlessR`]: sequences of dictionaries, each sampled by scores
//!   with respect to the one before.
//! * [`Squeak`]: a dictionary from one pass over a stream, in bounded memory. [`MergeTree`] and
//!   [`Disqueak`] merge the dictionaries of several streams, [`Ink`] is the predecessor of SQUEAK,
//!   and [`PointProjector`] scores the points of a second pass.
//! * [`SpectralAnalysis`]: scores of a stationary kernel from the density of the points, without a
//!   kernel evaluation. [`SpectralLeverage`] holds the analysis and its points, and implements
//!   [`RidgeLeverage`].
//! * [`Audit`]: compares the scores of any estimator with the exact scores of a few random rows.
//!   [`ExactSpectrum::accuracy`]: the ε of a dictionary.
//! * [`RidgeLeverage`]: the interface of all estimators; [`LeverageProportional`] turns an
//!   estimator into a landmark selector. [`RankLeverage`] and [`FastRankLeverage`] select landmarks
//!   by rank-k scores.
//!
//! # Notation
//!
//! | symbol | meaning | shape |
//! |---|---|---|
//! | K, K_ii | psd kernel matrix, its diagonal; K_ij = φ(x_i)ᵀφ(x_j) | n × n, n |
//! | κ² | max K_ii | number |
//! | λ, μ | ridge per sample, absolute ridge μ = nλ (type `Ridge`) | numbers |
//! | l_i, l̃_i | exact score of row i, an estimate of it; in \[0, K_ii/(K_ii + μ)\] | n numbers |
//! | τ̃_i, τ̂_i | estimates with respect to a dictionary (`Projector`) | n numbers |
//! | d_eff, d_mof | Σ l_i = tr K(K + μI)⁻¹, n·max l_i | numbers |
//! | D, w | dictionary: \|D\| distinct rows with positive weights w | \|D\|, \|D\| |
//! | S | sampling matrix of D: S e_j = √w_j e_{i_j}, with E\[SSᵀ\] = I | n × \|D\| |
//! | C, W | columns of K of m landmarks, their rows in C | n × m, m × m |
//! | L = BBᵀ | Nyström approximation C W⁺ Cᵀ, of rank r ≤ m; L is not formed | n × n, B: n × r |
//! | U, σ_j | eigenvectors and eigenvalues of K, σ_1 ≥ … ≥ σ_n | n × n, n |
//! | γ | absolute ridge of SQUEAK, whose n is not known in advance | number |
//!
//! ```
//! use faer::Mat;
//! use nystrom_leverage::{
//!     AlaouiMahoney, Draw, LandmarkSelector, LeverageProportional, exact_scores,
//! };
//! use nystrom_linalg_core::{Dense, Ridge};
//! use rand::SeedableRng;
//!
//! let k = Mat::from_fn(200, 200, |i, j| (-((i as f64 - j as f64) / 30.0).powi(2)).exp());
//! let k = Dense::new(k.as_ref())?;
//! let ridge = Ridge::PerSample(1e-3);
//! let exact = exact_scores(&k, ridge)?;
//! assert!(exact.d_eff() < exact.d_mof() && exact.d_mof() < 200.0);
//!
//! let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
//! let selector = LeverageProportional {
//!     estimator: AlaouiMahoney { columns: 60 },
//!     ridge,
//!     draw: Draw::WithoutReplacement,
//! };
//! assert_eq!(selector.select(&k, 20, &mut rng)?.len(), 20);
//! # Ok::<(), nystrom_linalg_core::Error>(())
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod accuracy;
mod alaoui_mahoney;
mod audit;
mod bless;
mod estimator;
mod exact;
mod projector;
mod rank_leverage;
mod recursive;
mod score;
mod select;
pub mod spectral_analysis;
mod spectrum;
mod squeak;
#[cfg(feature = "testing")]
pub mod testing;
mod unit_weights;

pub use alaoui_mahoney::{AlaouiMahoney, FastScores, STORED_ENTRIES, fast_scores};
pub use audit::{Audit, AuditReference, AuditReport};
pub use bless::{Bless, BlessLevel, BlessPath, BlessR, bless_oversampling};
pub use estimator::{Exact, RidgeLeverage};
pub use exact::exact_scores;
pub use nystrom_sketch::{Dictionary, Draw, LandmarkSelector, Landmarks};
pub use projector::Projector;
pub use rank_leverage::{FastRankLeverage, RankLeverage, fast_rank_k_scores};
pub use recursive::{
    Inclusion, RecursiveLevel, RecursiveNystrom, RecursiveNystromSample, RecursiveRls,
    RecursiveRlsOfSize, RecursiveSample,
};
pub use score::{ExactRoute, ExactScores};
pub use select::LeverageProportional;
pub use spectral_analysis::{
    Bandwidth, Density, DensityMethod, FromSpectralDensity, Guard, KernelDensity, LocalScore,
    ProfileFamily, Refusal, SampledDensity, SampledEstimate, SpectralAnalysis, SpectralLeverage,
    SpectralReport, SpectralScores, Stationary, StationaryFamily,
};
pub use spectrum::ExactSpectrum;
pub use squeak::{
    Disqueak, Ink, MergeTree, PointProjector, ScoreRule, Squeak, SqueakParams, StreamDictionary,
    TreeShape, even_chunks,
};
#[cfg(feature = "serde")]
pub use squeak::{MergeTreeState, SQUEAK_FORMAT, SavedSqueak, SqueakState};
pub use unit_weights::UnitWeights;
