//! Determinantal point processes of a fixed size (k-DPPs), which sample diverse subsets: **Pr(C) =
//! det K_CC / e_c(K)** for the subsets C of size c of n items. K is an n × n psd matrix and e_c the
//! elementary symmetric polynomial of its eigenvalues.
//!
//! The main types and functions:
//!
//! * [`LEnsemble`]: one decomposition of K (dense, or from a low-rank factor). It provides
//!   [`ExactKDpp`] and [`ExactDpp`]: exact draws and probabilities. [`Truncation`]: the same for a
//!   K that is numerically close to low rank, without an n × n matrix. [`LEnsemble::draw_of_size`]:
//!   a single draw in less time.
//! * [`RejectionKDpp`]: exact draws without an n × n matrix, for any n.
//! * [`SwapChain`]: Algorithm 1 of Li, Jegelka & Sra (2016), with about c entries of K and O(c²)
//!   flops per step, for any n. [`DownUpWalk`]: O(nc) flops per step, but few steps. Both start
//!   from any selector, such as `RpCholesky` or `KMeansPlusPlus` of `nystrom-sketch`.
//! * [`KDpp`], [`KDppChain`], [`KDppWalk`]: these samplers as selectors of landmarks. [`log_det`]:
//!   the log-volume ln det K_YY of any set.
//! * Constraints: rows of different quality by [`Scaled`](nystrom_linalg_core::Scaled), rows to
//!   include by [`SchurComplement`](nystrom_linalg_core::SchurComplement), both for every sampler;
//!   numbers of rows of each group by [`SwapChain::with_quotas`].
//! * [`KDppBounds`]: the error bounds of the theorems. [`EffectiveSize`]: the effective sample size
//!   of a chain. [`PathCoupling`]: the α of Theorem 5. [`stationary_meetings`]: a confidence bound
//!   of the distance of a chain from its stationary distribution, from exact draws.
//!   [`coupled_meetings`]: an estimate of a bound of this distance without exact draws, or `None`
//!   if there is no valid estimate.
//!
//! # Notation
//!
//! | symbol | meaning | shape |
//! |---|---|---|
//! | K | psd matrix of n items; K_ij = φ_iᵀφ_j | n × n |
//! | λ_i, V, r | eigenvalues of K above rounding error, their eigenvectors, the rank | r, n × r |
//! | C, Y, c | a draw, the state of a chain, their size (the k of "k-DPP") | c items |
//! | K_CC, K_{:,C} | rows and columns C of K, columns C of K | c × c, n × c |
//! | K̃_C | Nyström approximation K_{:,C} K_CC⁻¹ K_{C,:} (not formed) | n × n |
//! | e_j | elementary symmetric polynomial of degree j of the eigenvalues | number |
//! | v, u | the item that leaves Y in a step, the item that enters | items |
//! | ρ | det K_{Y−v+u}/det K_YY, the ratio that decides an exchange | number |
//! | B, g_j | low-rank guide of the rejection sampler, its score of item j | n × n, n |
//! | t, σ, A_σ | intermediate sample: size, items, weighted matrix | t, t, t × t |
//! | α | path-coupling coefficient of Theorem 5 | number |
//! | ε | machine precision; in [`mixing_time`] a distance in total variation | number |
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
mod within_quotas;

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
pub use within_quotas::QuotaKDpp;

/// `Debug` for types that hold matrices: prints one public accessor instead of the fields.
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
