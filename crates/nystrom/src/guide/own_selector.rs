//! Chapter 10. A selector, an estimator, a sketch of your own.
//!
//! Each stage is a trait of one or two methods. What you write stands in every experiment, example
//! and regression beside the built-in ones. One line tests that it keeps the trait's rules, on
//! which everything else relies.
//!
//! ```
//! use nystrom::linalg_core::validate;
//! use nystrom::prelude::*;
//! use nystrom::testing::{Promise, check_selector};
//!
//! /// Rows 0, n/m, 2n/m, …
//! struct EveryNth;
//! impl<T: Scalar> LandmarkSelector<T> for EveryNth {
//!     fn select(&self, k: &dyn PsdMatrix<T>, m: usize, _rng: &mut dyn Rng) -> Result<Landmarks> {
//!         let n = k.dim();
//!         validate::not_empty("landmarks", m)?;
//!         validate::at_most("landmarks", m, n)?;
//!         Landmarks::new(n, (0..m).map(|j| j * n / m).collect())
//!     }
//! }
//!
//! let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 40.0).collect();
//! let k = KernelMatrix::new(Matern32::new(0.1)?, Points::from_slice(&x))?;
//! // distinct, in range, as many as asked, typed errors, L ⪯ K …
//! check_selector::<f64>(&EveryNth, &k, Promise::Exactly);
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! | yours | implement | test of its rules |
//! |---|---|---|
//! | leverage scores | [`RidgeLeverage`](crate::leverage::RidgeLeverage): a dictionary; scores follow | `testing::check_estimator` |
//! | a random matrix S | [`Sketch`](crate::sketch::Sketch) and its [`SketchDistribution`](crate::sketch::SketchDistribution) | `testing::check_sketch` |
//!
//! The generator comes last, `rng: &mut dyn Rng`, and is never stored; with the same seed a
//! selector gives the same rows at any number of threads. Draws for n items in parallel take one
//! key and a stream each ([`Streams`](crate::linalg_core::Streams)).
