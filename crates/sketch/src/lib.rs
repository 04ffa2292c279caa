//! Landmarks, weighted dictionaries and Nyström approximations of psd matrices:
//! **L = C W⁺ Cᵀ** with C = K\[:, J\], W = K\[J, J\], and **L_γ = KS(SᵀKS + γI)⁻¹SᵀK**.
//!
//! The main types:
//!
//! * [`Landmarks`]: a set J of distinct rows. A [`LandmarkSelector`] chooses it. Selectors:
//!   [`RpCholesky`], [`Greedy`], [`SparseGreedy`], [`AdaptiveFull`], [`AdaptivePartial`],
//!   [`KMeansPlusPlus`], [`Uniform`], [`Diagonal`], [`ColumnNorm`], and [`Proportional`] to given
//!   scores. [`Including`] given rows; [`GreedyByGroup`] within [`Quotas`]; [`DistributedGreedy`]
//!   from blocks of rows.
//! * [`PivotedCholesky`](nystrom_linalg_core::PivotedCholesky): pivots, with the factor F and the
//!   trace errors of the approximation.
//! * [`Dictionary`]: rows with weights such that E\[SSᵀ\] = I.
//! * [`Nystrom`]: the approximation with its n × r factor in memory. [`NystromStream`]: the same
//!   approximation by row tiles, with O(m²) memory. [`FeatureMap`]: their feature map, from an
//!   m × m matrix, which also maps points outside the data.
//! * [`Sketch`]: a random matrix S, drawn from a [`SketchDistribution`]. Distributions:
//!   [`Subsampling`], [`Accumulation`], [`GaussianSketch`], [`Rademacher`], [`VerySparse`],
//!   [`Localized`], [`SparseSign`]. [`SketchedMatrix`] stores KS and SᵀKS.
//! * [`EnsembleNystrom`]: a weighted sum of several Nyström approximations. [`ModifiedNystrom`]: of
//!   all CUCᵀ the nearest to K in the Frobenius norm; evaluates all of K.
//! * [`frobenius_error`], [`SpectralNorm`], [`trace_error`]: norms of K − L, in tiles.
//!   [`ErrorNorms`]: all three for small n.
//! * [`KernelPca`], [`SpectralEmbedding`], [`KernelKMeans`]: principal components, coordinates of a
//!   graph and clusters, with bounds on what the approximation changes.
//! * [`TwoSample`]: whether two samples have the same distribution.
//! * [`risk_sample_size`] and [`approximation_sample_size`]: the number of columns that a theorem
//!   requires.
//!
//! # Notation
//!
//! | symbol | meaning | shape |
//! |---|---|---|
//! | K (A for selectors) | symmetric positive semi-definite matrix | n × n |
//! | J | landmarks, m row indices of K | m |
//! | C, W | C = K\[:, J\], W = K\[J, J\] | n × m, m × m |
//! | L = FFᵀ | Nyström approximation of K (Â for selectors) and its factor F | n × n, n × r |
//! | φ(x) = R⁻¹k_J(x) | features of a point, W = RRᵀ, k_J(x) its kernel values with J | r |
//! | S | sampling or sketching matrix, E\[SSᵀ\] = I | n × m, n × d |
//! | K_S | sketched approximation KS(SᵀKS)⁻¹SᵀK | n × n |
//! | p_i, w_i | sampling probability and weight of row i | |
//! | γ, μ | absolute ridge, as in K + γI | |
//! | λ | per-sample ridge, as in K + nλI | |
//! | τ_i(γ), l_i(λ) | leverage score of row i, \[K(K + γI)⁻¹\]_ii and \[K(K + nλI)⁻¹\]_ii | |
//! | d_eff | effective dimension, the sum of the leverage scores | |
//! | δ | jitter added to W; for [`SketchDiagnostics`] a level for the eigenvalues of K/n | |
//! | ε | machine epsilon; in sample sizes an accuracy | |
//! | ρ | probability with which a guarantee may fail | |
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
mod distributed_greedy;
mod embedding;
mod ensemble;
mod landmarks;
mod measures;
mod modified;
mod nystrom;
mod orthonormal;
mod quotas;
mod sample_size;
mod select;
mod sketches;
mod stream;
#[cfg(feature = "testing")]
pub mod testing;
mod two_sample;
mod whiten;

pub use diagnostics::{AccumulationSize, Satisfiability, SizeConstants, SketchDiagnostics};
pub use dictionary::Dictionary;
pub use distributed_greedy::{DistributedChoice, DistributedGreedy};
pub use embedding::{
    ClusterSums, FeatureMoments, KernelClusters, KernelKMeans, KernelPca, PrincipalComponents,
    SpectralEmbedding, SpectralMap, SpectralSums,
};
pub use ensemble::{EnsembleNystrom, EnsembleWeights};
pub use landmarks::{Draw, Landmarks};
pub use measures::{ErrorNorms, SpectralEstimate, SpectralNorm, frobenius_error, trace_error};
pub use modified::ModifiedNystrom;
pub use nystrom::Nystrom;
pub use quotas::Quotas;
pub use sample_size::{approximation_sample_size, check_failure_probability, risk_sample_size};
pub use select::{
    AdaptiveFull, AdaptivePartial, ColumnNorm, Diagonal, Greedy, GreedyByGroup, Including,
    KMeansPlusPlus, LandmarkSelector, Proportional, RpCholesky, SparseGreedy, Uniform, rp_cholesky,
};
pub use sketches::{
    Accumulation, DenseSketch, GaussianSketch, Localized, ProductBuffer, Rademacher, Sketch,
    SketchDistribution, SketchProduct, SketchedMatrix, SparseSign, SparseSketch, Subsampling,
    VerySparse,
};
pub use stream::NystromStream;
pub use two_sample::{TwoSample, TwoSampleSums, TwoSampleTest};
pub use whiten::{FeatureMap, Whitening};
