//! Chapter 1. An n × n matrix that is never stored.
//!
//! A kernel on points is a matrix whose entries are computed when somebody asks.
//! [`KernelMatrix`](crate::kernels::KernelMatrix) puts the two together and allocates nothing;
//! algorithms ask for blocks, in tiles, and count what they ask for.
//!
//! ```
//! use nystrom::prelude::*;
//!
//! let x: Vec<f64> = (0..100_000).map(|i| f64::from(i) / 1e5).collect();
//! // 80 GB, if it were stored
//! let k = KernelMatrix::new(Matern32::new(0.1)?, Points::from_slice(&x))?;
//! let block = k.block((0..3).into(), (&[7, 70_000]).into()); // 3 × 2 of it
//! assert_eq!((block.nrows(), block.ncols(), k.trace()), (3, 2, 100_000.0));
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! Points of several coordinates come as a matrix:
//! [`Points::from_rows`](crate::kernels::Points::from_rows) for n × d,
//! [`Points::from_cols`](crate::kernels::Points::from_cols) for d × n. Both are views: nothing is
//! copied.
//!
//! # λ or nλ
//! Half of the literature adds λ to K's diagonal, the other half nλ, in the same letter. Here the
//! type says it, once:
//!
//! ```
//! use nystrom::Ridge;
//! assert_eq!(Ridge::PerSample(1e-3).absolute(2000)?, 2.0);   // λ: K + nλI
//! assert_eq!(Ridge::Absolute(2.0).absolute(2000)?, 2.0);     // μ: K + μI
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! # A matrix without points
//! Anything with a diagonal and blocks is a matrix too: a covariance known by a formula, a graph
//! Laplacian's inverse, a matrix on disk. Implement [`PsdMatrix`](crate::linalg_core::PsdMatrix);
//! [`own_kernel`](super::own_kernel) has one in twenty lines. Everything but the methods that need
//! the points themselves (SQUEAK, spectral analysis, regression) works on it.
