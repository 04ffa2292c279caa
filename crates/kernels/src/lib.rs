//! Positive definite kernels, evaluated in fast vectorised blocks.
#![allow(non_snake_case)]
mod kernel;
mod matrix;
mod points;

mod bernoulli;
mod bessel;
mod combine;
mod dot_product;
mod from_fn;
mod gaussian;
mod isotropic;
mod lane;
mod laplacian;
mod matern;
mod metric;
mod periodic;
mod rational_quadratic;
mod tile;

pub use bernoulli::Bernoulli;
pub use combine::{Product, Scaled, Sum};
pub use dot_product::{Linear, Polynomial};
pub use from_fn::FromFn;
pub use gaussian::{Gaussian, SquaredExponential};
pub use isotropic::{Ard, Isotropic, Profile};
pub use kernel::Kernel;
pub use lane::{Lane, Plain};
pub use laplacian::LaplacianL1;
pub use matern::{
    Exponential, LaplacianEuclidean, Matern, Matern12, Matern32, Matern52, MaternFiveHalves, MaternNu,
    MaternThreeHalves,
};
pub use matrix::KernelMatrix;
pub use periodic::Periodic;
pub use points::Points;
pub use rational_quadratic::{InversePower, RationalQuadratic};
