//! Determinantal point processes of a fixed size (k-DPPs): diverse subsets. **Pr(C) = det K_CC /
//! e_c(K)** over the subsets of size c of n items. K is an n × n psd matrix and e_c the elementary
//! symmetric polynomial of its eigenvalues.
//!
//! The types that matter:
//!
//! * [`LEnsemble`]: one decomposition of K (dense, or from a low-rank factor); from it
//!   [`ExactKDpp`] and [`ExactDpp`], exact draws and probabilities. [`Truncation`], where K has low
//!   rank at the level that matters; [`LEnsemble::draw_of_size`], where one draw will do.
//! * [`RejectionKDpp`]: exact draws without an n × n matrix, for any n.
//! * [`SwapChain`]: Algorithm 1 of Li, Jegelka & Sra (2016), c entries of K and O(c²) a step, for
//!   any n. [`DownUpWalk`]: O(nc) a step but few of them. Both start from any selector, such as
//!   `RpCholesky` or `KMeansPlusPlus` of `nystrom-sketch`.
//! * [`KDpp`], [`KDppChain`], [`KDppWalk`]: the same as selectors of landmarks; [`log_det`], the
//!   volume ln det K_YY of any set.
//! * [`KDppBounds`], what the theorems promise; [`EffectiveSize`] of a chain; [`PathCoupling`], the
//!   α of Theorem 5. [`stationary_meetings`], a bound of the distance from the stationary
//!   distribution by exact draws; [`coupled_meetings`], an estimate of it that says when it is not
//!   one.
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
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod bounds;
mod certified;
mod chain;
mod coupling;
mod down_up;
mod effective_size;
mod elementary;
mod ensemble;
mod exact;
mod log_det;
mod once;
mod path_coupling;
mod projection;
mod rejection;
mod select;
mod start;
mod truncation;

pub use bounds::KDppBounds;
pub use certified::{StationaryMeetings, stationary_meetings};
pub use chain::{SwapChain, SwapRule};
pub use coupling::{Meetings, coupled_meetings};
pub use down_up::DownUpWalk;
pub use effective_size::EffectiveSize;
pub use elementary::ElementarySymmetric;
pub use ensemble::LEnsemble;
pub use exact::{ExactDpp, ExactKDpp};
pub use log_det::log_det;
pub use path_coupling::{PathCoupling, mixing_time};
pub use rejection::{Effort, PreparedRejection, Rejection, RejectionKDpp};
pub use select::{KDpp, KDppChain, KDppWalk};
pub use truncation::Truncation;

/// States refer to a matrix and hold large ones: shown is what a caller may read off them.
macro_rules! shown {
    ($($state:ident: $part:ident),*) => {$(
        impl<T: nystrom_linalg_core::Scalar> std::fmt::Debug for $state<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($state));
                shown.field(stringify!($part), &self.$part()).finish_non_exhaustive()
            }
        }
    )*};
}
shown!(SwapChain: items, DownUpWalk: items, RejectionKDpp: effort);
