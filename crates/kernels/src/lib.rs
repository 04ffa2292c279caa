//! Positive definite kernels k(x, y) on ℝ^d, most of the form κ(‖x − y‖²/ℓ²), evaluated in blocks
//! K_ij = k(x_i, y_j) by vector registers.
//!
//! * [`Points`]: a view of n points in ℝ^d, made from the rows or the columns of a matrix or from
//!   [`SparseRows`], such as word counts, whose zeros are not stored. A [`PointSet`] owns either.
//! * [`Kernel`]: evaluates blocks k(x_i, y_j). [`KernelMatrix`] is the n × n matrix of a kernel on
//!   n points, which is never stored.
//! * Isotropic kernels: [`Gaussian`], [`Matern12`] = [`LaplacianEuclidean`], [`Matern32`],
//!   [`Matern52`], [`Matern`] of any smoothness, [`PowerExponential`], [`RationalQuadratic`].
//!   [`Isotropic::with_length_scales`] gives each coordinate its own length scale. A new isotropic
//!   kernel is a struct that implements [`Profile`] in one line.
//! * Other kernels: [`LaplacianL1`], [`PowerExponentialL1`], [`Linear`], [`Polynomial`],
//!   [`Bernoulli`], [`Periodic`], [`Precomputed`], and any closure by [`FromFn`]. [`Sum`],
//!   [`Product`] and [`Scaled`] combine kernels.
//! * For molecules and other sets: [`Tanimoto`] on [`Bits`], rows of bits packed into points, and
//!   [`MinMax`] on counts.
//! * [`DifferentiableKernel`]: gradients of Σ_j θ_j k(·, z_j).
//! * [`SpectralDensity`]: the spectral density of a stationary kernel.
//! * [`median_heuristic`] estimates a length scale; [`KMeans`] computes centres.
//!
//! # Notation
//!
//! | symbol | meaning | shape |
//! |---|---|---|
//! | n, d | number of points, and of coordinates of a point | |
//! | x_i, y_j | points; x_k is also coordinate k of a point x | d |
//! | K | kernel matrix, K_ij = k(x_i, x_j) | n × n |
//! | z_j | centres, or landmarks | m points |
//! | ℓ, ℓ_k | length scale, for all coordinates or for coordinate k | |
//! | κ | profile of an isotropic kernel, k(x, y) = κ(s) with s = ‖x − y‖²/ℓ² | |
//! | r | distance ‖x − y‖ | |
//! | ν, a | smoothness of a Matérn kernel, and its factor a = √(2ν)/ℓ of the distance | |
//!
//! # How blocks are computed
//! Almost every kernel is a formula applied to a sum over coordinates (of squared differences,
//! absolute differences or products). A block is cut into tiles. In a tile, the sums for 4 columns
//! (8 with AVX-512) by two vector registers of rows are accumulated in registers, and the formula
//! is applied to them there, with a vector exponential accurate to 2 ulp. Every entry is
//! stored once; stores bypass the caches if the block is larger than the caches. AVX-512, AVX2 or
//! NEON is detected at run time.
//!
//! Distances are computed from differences, so that no digits are lost far from the origin and
//! equal points have distance exactly 0. With 20 or more coordinates they are computed as
//! ‖x‖² + ‖y‖² − 2⟨x, y⟩, which is half the work, for all pairs for which this expression cancels
//! at most four binary digits. Entries depend neither on the tile that they are in nor on the
//! number of threads.
//!
//! ```
//! use faer::mat;
//! use nystrom_kernels::{Gaussian, Kernel, Points};
//! let x = mat![[0.0, 0.0], [3.0, 4.0], [1e6, 1e6_f64]]; // three points in the plane
//! let k = Gaussian::new(5.0)?.gram(Points::from_rows(x.as_ref()));
//! assert_eq!((k[(0, 0)], k[(0, 2)]), (1.0, 0.0));
//! assert!((k[(0, 1)] - (-0.5_f64).exp()).abs() < 1e-15);
//! # Ok::<(), nystrom_linalg_core::Error>(())
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod kernel;
mod matrix;
mod points;
mod probe;

mod chain_rule;
mod dual_numbers;
mod gradient;
#[cfg(debug_assertions)]
mod instances;
mod isotropic;
mod lane;
mod load;
mod metric;

mod gaussian;
mod matern;
mod power_exponential;
mod power_exponential_l1;
mod rational_quadratic;

mod bernoulli;
mod bit_panels;
mod bits;
mod dot_product;
mod laplacian;
mod min_max;
mod periodic;
mod precomputed;
mod tanimoto;

mod combine;
mod from_fn;

mod bandwidth;
mod bessel;
mod k_means;
mod spectral_density;

pub mod reference;
#[cfg(feature = "testing")]
pub mod testing;
mod tile;

pub use bandwidth::{median_heuristic, median_manhattan_heuristic};
pub use bernoulli::Bernoulli;
pub use bits::Bits;
pub use combine::{Product, Scaled, Sum};
pub use dot_product::{Linear, Polynomial};
pub use from_fn::FromFn;
pub use gaussian::{Gaussian, SquaredExponential};
pub use gradient::DifferentiableKernel;
#[cfg(feature = "serde")]
pub use isotropic::SavedProfile;
pub use isotropic::{Ard, Isotropic, Profile};
pub use k_means::{Clusters, KMeans};
pub use kernel::Kernel;
pub use lane::{Lane, Plain};
pub use laplacian::LaplacianL1;
#[cfg(feature = "serde")]
pub use load::{LoadedKernel, SavedKernel};
pub use matern::{
    Exponential, LaplacianEuclidean, Matern, Matern12, Matern32, Matern52, MaternFiveHalves,
    MaternNu, MaternThreeHalves,
};
pub use matrix::KernelMatrix;
pub use min_max::MinMax;
pub use periodic::Periodic;
pub use points::{PointSet, Points, SparseRows};
pub use power_exponential::{ExponentialPower, PowerExponential};
pub use power_exponential_l1::PowerExponentialL1;
pub use precomputed::Precomputed;
pub use probe::kernel_probe;
pub use rational_quadratic::{InversePower, RationalQuadratic};
pub use spectral_density::{RadialSpectralDensity, SpectralDensity, SpectralProfile};
pub use tanimoto::Tanimoto;
