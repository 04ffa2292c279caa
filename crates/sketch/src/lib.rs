//! Landmarks, weighted dictionaries and Nyström approximations of psd matrices:
//! **L = C W⁺ Cᵀ** with C = K\[:, J\], W = K\[J, J\], and **L_γ = KS(SᵀKS + γI)⁻¹SᵀK**.
//!
//! The types that matter:
//!
//! * [`Landmarks`], a set J of distinct rows, and [`LandmarkSelector`], a way of choosing them.
//!   Selectors: [`RpCholesky`], [`Greedy`], [`SparseGreedy`], [`AdaptiveFull`],
//!   [`AdaptivePartial`], [`KMeansPlusPlus`], [`Uniform`], [`Diagonal`], [`ColumnNorm`],
//!   [`Proportional`] to given scores.
//! * [`PivotedCholesky`](nystrom_linalg_core::PivotedCholesky), pivots with the factor and the
//!   error they give.
//! * [`Dictionary`], rows with weights such that E\[SSᵀ\] = I.
//! * [`Nystrom`], the approximation with its n × m factor in memory; [`NystromStream`], the same by
//!   row tiles with O(m²) memory. [`FeatureMap`], their m × m half, which also serves points
//!   outside the data.
//! * [`Sketch`], any random matrix S known by KS and SᵀKS, drawn by a [`SketchDistribution`].
//!   Distributions: [`Subsampling`], [`Accumulation`], [`GaussianSketch`], [`Rademacher`],
//!   [`VerySparse`], [`Localized`], [`SparseSign`]. [`SketchedMatrix`], what it leaves of K.
//! * [`EnsembleNystrom`], a weighted mean of several; [`ModifiedNystrom`], the nearest to K in the
//!   Frobenius norm, for which all of K is read.
//! * [`frobenius_error`], [`SpectralNorm`], [`trace_error`] and, for small n, [`ErrorNorms`]: how
//!   far L is from K, in tiles.
//! * [`risk_sample_size`] and [`approximation_sample_size`], how many columns a theorem asks for.
//!
//! ```
//! use faer::Mat;
//! use nystrom_linalg_core::{Dense, PsdMatrix};
//! use nystrom_sketch::{LandmarkSelector, Nystrom, Uniform};
//! use rand::SeedableRng;
//!
//! let k = Mat::from_fn(200, 200, |i, j| (-((i as f64 - j as f64) / 60.0).powi(2)).exp());
//! let k = Dense::new(k.as_ref())?;
//! let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
//! let landmarks = Uniform::default().select(&k, 20, &mut rng)?;
//! let l = Nystrom::new(&k, &landmarks)?;
//! assert!(l.trace_error(&k)? < 0.01 * k.trace());
//! # Ok::<(), nystrom_linalg_core::Error>(())
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod diagnostics;
mod dictionary;
mod ensemble;
mod landmarks;
mod measures;
mod modified;
mod nystrom;
mod orthonormal;
mod sample_size;
mod select;
mod sketches;
mod stream;
#[cfg(feature = "testing")]
pub mod testing;
mod whiten;

pub use diagnostics::{
    AccumulationSize, MeasuredSizes, Satisfiability, SizeConstants, SizeSearch, SketchDiagnostics,
};
pub use dictionary::Dictionary;
pub use ensemble::{EnsembleNystrom, EnsembleWeights};
pub use landmarks::{Draw, Landmarks};
pub use measures::{ErrorNorms, SpectralEstimate, SpectralNorm, frobenius_error, trace_error};
pub use modified::ModifiedNystrom;
pub use nystrom::Nystrom;
pub use sample_size::{approximation_sample_size, check_failure_probability, risk_sample_size};
pub use select::{
    AdaptiveFull, AdaptivePartial, ColumnNorm, Diagonal, Greedy, KMeansPlusPlus, LandmarkSelector,
    Proportional, RpCholesky, SparseGreedy, Uniform, rp_cholesky,
};
pub use sketches::{
    Accumulation, DenseSketch, GaussianSketch, Localized, ProductBuffer, Rademacher, Sketch,
    SketchDistribution, SketchProduct, SketchedMatrix, SparseSign, SparseSketch, Subsampling,
    VerySparse,
};
pub use stream::NystromStream;
pub use whiten::{FeatureMap, Whitening};
