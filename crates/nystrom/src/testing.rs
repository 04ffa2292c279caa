//! The rules of the traits as tests, for implementations of your own (feature `testing`).
//!
//! One line tests a kernel, a psd matrix, a landmark selector, an estimator of leverage scores or a
//! sketch. What is tested is what everything else relies on: shapes, symmetry, semi-definiteness,
//! unbiasedness, accuracy. Also errors instead of panics, and the same bits at any number of
//! threads. Every type of this workspace passes through the same functions.
//!
//! | yours implements | test it by |
//! |---|---|
//! | [`Kernel`](crate::kernels::Kernel), or a [`Profile`](crate::kernels::Profile) | [`check_kernel`] |
//! | [`PsdMatrix`](crate::linalg_core::PsdMatrix) | [`check_psd_matrix`] |
//! | [`LandmarkSelector`](crate::sketch::LandmarkSelector) | [`check_selector`] |
//! | [`RidgeLeverage`](crate::leverage::RidgeLeverage) | [`check_estimator`] |
//! | [`SketchDistribution`](crate::sketch::SketchDistribution) and its [`Sketch`](crate::sketch::Sketch)es | [`check_sketch`] |
//!
//! ```
//! use nystrom::kernels::FromFn;
//! use nystrom::prelude::*;
//! use nystrom::testing::*;
//!
//! let x = [0.1, 0.4, 0.4, 0.9, 2.0];
//! let kernel = FromFn::new(|x: &[f64], y: &[f64]| 1.0 + x[0].min(y[0])); // yours
//! check_kernel(&kernel, Points::from_slice(&x));
//! let k = KernelMatrix::new(kernel, Points::from_slice(&x))?;
//! check_psd_matrix(&k);
//! check_selector(&Greedy::default(), &k, Promise::UpToRank);
//! // within this factor of the exact scores
//! check_estimator(&Exact, 1.0 + 1e-9);
//! check_sketch::<f64>(&GaussianSketch, 8, 3, &mut Pcg64::seed_from_u64(0));
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! They panic with what is broken and where: call them from a `#[test]`.

pub use crate::kernels::testing::check_kernel;
pub use crate::leverage::testing::check_estimator;
pub use crate::linalg_core::testing::check_psd_matrix;
pub use crate::sketch::testing::{Promise, check_selector, check_sketch};
