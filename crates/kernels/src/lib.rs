//! Positive definite kernels, evaluated in fast vectorised blocks.
#![allow(non_snake_case)]
mod kernel;
mod matrix;
mod points;
pub use kernel::Kernel;
pub use matrix::KernelMatrix;
pub use points::Points;
