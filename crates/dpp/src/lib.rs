//! Determinantal point processes of a fixed size (k-DPPs): diverse subsets, with **Pr(C) = det K_CC / e_c(K)** over the subsets of size c of
//! n items, K an n × n psd matrix and e_c the elementary symmetric polynomial of its eigenvalues.
//!
//! The types that matter:
//!
//! * [`LEnsemble`]: one decomposition of K (dense, or from a low-rank factor); from it [`ExactKDpp`] and [`ExactDpp`], exact draws and
//!   probabilities.
//!
//! ```
//! use faer::Mat;
//! use nystrom_dpp::LEnsemble;
//! use nystrom_linalg_core::Dense;
//! use rand::SeedableRng;
//!
//! let k = Mat::from_fn(100, 100, |i, j| (-((i as f64 - j as f64) / 8.0).powi(2)).exp());
//! let k = Dense::new(k.as_ref())?;
//! let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
//! let ensemble = LEnsemble::new(&k)?;
//! let landmarks = ensemble.k_dpp(10)?.sample(rng);
//! assert_eq!(landmarks.len(), 10);
//! # Ok::<(), nystrom_linalg_core::Error>(())
//! ```
#![allow(non_snake_case)]

mod chain;
mod down_up;
mod elementary;
mod ensemble;
mod exact;
mod kmeans;
mod projection;
mod start;

pub use chain::{SwapChain, SwapRule};
pub use down_up::DownUpWalk;
pub use elementary::ElementarySymmetric;
pub use ensemble::LEnsemble;
pub use exact::{ExactDpp, ExactKDpp};
pub use kmeans::KMeansPlusPlus;
