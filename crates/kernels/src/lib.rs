//! Positive definite kernels, evaluated in fast vectorised blocks: **K_ij = k(x_i, y_j)**, most of
//! them **k(x, y) = κ(‖x − y‖²/ℓ²)**.
//!
//! * [`Points`]: n points in ℝ^d, with the axis that holds them in the type.
//! * [`Kernel`]: something that fills blocks k(x_i, y_j); [`KernelMatrix`] is the n × n matrix that
//!   is never stored.
//! * Isotropic kernels: [`Gaussian`], [`Matern12`] = [`LaplacianEuclidean`], [`Matern32`],
//!   [`Matern52`], [`Matern`] of any smoothness, [`PowerExponential`], [`RationalQuadratic`]; with
//!   a length scale per coordinate through [`Isotropic::with_length_scales`]. Your own takes a
//!   struct and one line: [`Profile`].
//! * Others: [`LaplacianL1`], [`PowerExponentialL1`], [`Linear`], [`Polynomial`], [`Bernoulli`],
//!   [`Periodic`], [`Precomputed`], any closure through [`FromFn`]; [`Sum`], [`Product`] and
//!   [`Scaled`] combine them.
//! * [`DifferentiableKernel`]: gradients of Σ_j θ_j k(·, z_j), two matrix products.
//! * [`SpectralDensity`] of the stationary ones; [`median_heuristic`] for a length scale;
//!   [`KMeans`] for centres that stand for the points.
//!
//! # How blocks are computed
//! Almost every kernel is a sum over coordinates (squared differences, absolute differences,
//! products), then a formula. A block is cut into tiles that depend on its shape alone. Of a tile,
//! 4 (with AVX-512: 8) columns by two vector registers of rows are summed in registers. There the
//! formula is applied, with its own vector exponential, within 2 ulp. The result is
//! stored once, past the caches if the block is larger than they are. AVX-512, AVX2 or NEON is
//! found at run time.
//!
//! Distances come from differences, so that no digits are lost far from the origin and equal points
//! have distance exactly 0. From 20 coordinates on they come from ‖x‖² + ‖y‖² − 2⟨x, y⟩, half the
//! work, for those pairs where that cancels no more than four binary digits. Entries depend neither
//! on the tile they fall in nor on the number of threads.
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

mod chain;
mod dual;
mod gradient;
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
mod dot_product;
mod laplacian;
mod periodic;
mod precomputed;

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
pub use periodic::Periodic;
pub use points::Points;
pub use power_exponential::{ExponentialPower, PowerExponential};
pub use power_exponential_l1::PowerExponentialL1;
pub use precomputed::Precomputed;
pub use probe::kernel_probe;
pub use rational_quadratic::{InversePower, RationalQuadratic};
pub use spectral_density::{RadialSpectralDensity, SpectralDensity, SpectralProfile};
