//! Chapter 9. A kernel, or a matrix, of your own.
//!
//! Three ways, from the shortest to the most general. A closure:
//!
//! ```
//! use nystrom::kernels::FromFn;
//! use nystrom::prelude::*;
//! use nystrom::testing::check_kernel;
//!
//! let x = [0.2, 0.5, 0.9];
//! let kernel = FromFn::new(|x: &[f64], y: &[f64]| 1.0 + x[0].min(y[0]));
//! check_kernel(&kernel, Points::from_slice(&x));                 // is it one? (feature `testing`)
//! ```
//!
//! A function of the distance: a struct and one line, fused into the same vectorised tiles as the
//! built-in kernels, with all their length scales. s is the squared distance divided by the squared
//! length scale.
//!
//! ```
//! use nystrom::kernels::{Isotropic, Lane, Profile};
//! use nystrom::prelude::*;
//! use nystrom::testing::check_kernel;
//!
//! /// κ(s) = 1/(1 + s).
//! struct Cauchy;
//! impl Profile for Cauchy {
//!     fn at<V: Lane>(&self, s: V) -> V {
//!         s.lit(1.0) / (s + 1.0)
//!     }
//! }
//! let x = Mat::from_fn(40, 3, |i, j| ((i * (j + 2)) as f64).sin());
//! check_kernel::<f64>(&Isotropic::with_profile(Cauchy, 0.5)?, Points::from_rows(x.as_ref()));
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! A matrix without points: [`PsdMatrix`](crate::linalg_core::PsdMatrix), two methods and the
//! dimension. Leverage scores, landmarks, sketches and k-DPPs ask for nothing more.
//!
//! ```
//! use nystrom::faer::{ColMut, MatMut};
//! use nystrom::linalg_core::Indices;
//! use nystrom::prelude::*;
//! use nystrom::testing::check_psd_matrix;
//!
//! /// Covariance of Brownian motion at times 1, 2, …, n.
//! struct Brownian(usize);
//! impl PsdMatrix<f64> for Brownian {
//!     fn dim(&self) -> usize {
//!         self.0
//!     }
//!     fn diag_into(&self, mut out: ColMut<'_, f64>, idx: Indices<'_>) {
//!         for (t, i) in idx.iter().enumerate() {
//!             out[t] = (i + 1) as f64;
//!         }
//!     }
//!     fn block_into(&self, mut out: MatMut<'_, f64>, rows: Indices<'_>, cols: Indices<'_>) {
//!         for (t, j) in cols.iter().enumerate() {
//!             for (s, i) in rows.iter().enumerate() {
//!                 out[(s, t)] = (i.min(j) + 1) as f64;
//!             }
//!         }
//!     }
//! }
//! check_psd_matrix(&Brownian(50));
//! let landmarks = Greedy::default().select(&Brownian(10_000), 5, &mut Pcg64::seed_from_u64(0))?;
//! assert_eq!(landmarks.indices()[0], 9_999);                     // the largest variance first
//! # Ok::<(), nystrom::Error>(())
//! ```
