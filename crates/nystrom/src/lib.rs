//! Kernel methods that scale, with guarantees: **L = C W⁺ Cᵀ ⪯ K** in place of an n × n matrix, and
//! regression, scores and samples from it.
//!
//! One dependency for the whole workspace: kernels, leverage scores, landmark selection, Nyström
//! approximations and kernel ridge regression. It works at n far beyond what an n × n matrix
//! allows. Tests hold methods to their theorems. Every crate can also be used alone.
//!
//! ```
//! use nystrom::prelude::*;
//! use nystrom::sketch::Uniform;
//!
//! let rng = &mut Pcg64::seed_from_u64(0);
//! # let n = 2000;
//! # let x = nystrom::linalg_core::random::standard_normal::<f64>(n, 3, rng);
//! # let y = Mat::from_fn(n, 1, |i, _| (2.0 * x[(i, 0)]).sin());
//! // x: n × 3, y: n × 1
//! let points = Points::from_rows(x.as_ref());
//! let kernel = Matern32::new(1.0)?;
//! // lazy: nothing n × n
//! let k = KernelMatrix::new(kernel, points)?;
//! let landmarks = Uniform::default().select(&k, 200, rng)?;
//! let model =
//!     NystromKrr::new(kernel, Ridge::PerSample(1e-6)).fit((points, &y), &landmarks)?;
//! let y_hat = model.predict(points)?;
//! # assert!((y_hat[(0, 0)] - y[(0, 0)]).abs() < 0.1);
//! # Ok::<(), nystrom::Error>(())
//! ```
//!
//! # Where to find what
//!
//! | to … | look at |
//! |---|---|
//! | be shown around, with programs | [`guide`] |
//! | get from a CSV file to a saved model | [`guide::file_to_model`] |
//! | evaluate a kernel in blocks, write your own | [`kernels`] |
//! | know which rows matter | [`leverage`] |
//! | choose landmarks, approximate K | [`sketch`] |
//! | draw diverse subsets: k-DPPs | [`dpp`] |
//! | fit, predict, save, know the risk | [`krr`] |
//! | implement an n × n matrix without points | [`linalg_core::PsdMatrix`] |
//!
//! # Conventions
//! A [`Ridge`] says whether it is μ in K + μI or λ in K + nλI. The random generator is the last
//! argument, and the same seed gives the same bits with any number of threads. Errors name the
//! offending value and the remedy. Matrices are faer's, re-exported as
//! [`faer`](https://docs.rs/faer), so that versions match.
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]

// Inlined, so that their pages are here and links lead to them, in whatever order crates are
// documented.
#[doc(inline)]
pub use nystrom_dpp as dpp;
#[doc(inline)]
pub use nystrom_kernels as kernels;
#[doc(inline)]
pub use nystrom_krr as krr;
#[doc(inline)]
pub use nystrom_leverage as leverage;
#[doc(inline)]
pub use nystrom_sketch as sketch;

pub use faer;
pub use nystrom_linalg_core::{Error, Result, Ridge};
pub use rand;
pub use rand_pcg;

pub mod guide;
/// The ground: psd matrices that are never stored, ridges, factorisations, reproducible sums and
/// random streams.
///
/// All of the crate `nystrom-linalg-core`; the list gives its items pages here, without those of
/// faer that come with it.
pub mod linalg_core {
    #[cfg(feature = "large-pages")]
    #[doc(inline)]
    pub use nystrom_linalg_core::LargePages;
    #[cfg(feature = "serde")]
    #[doc(inline)]
    pub use nystrom_linalg_core::serialize;
    #[cfg(feature = "testing")]
    #[doc(inline)]
    pub use nystrom_linalg_core::testing;
    #[doc(no_inline)]
    pub use nystrom_linalg_core::*;
    #[doc(inline)]
    pub use nystrom_linalg_core::{
        BandEigen, Cholesky, ConjugateGradients, Counted, Dense, Error, GramSums, Indices,
        JitterLadder, KeptTriangle, LinearSystem, PackedCholesky, PackedLower, PivotedCholesky,
        PsdMatrix, Result, Ridge, RowTree, SavedSolve, Scalar, ShiftedLowRank, Stop, Streams,
        SymmetricEigen, TallFactor, Vectorised, WrittenColumns, dispatch, instruction_set, ops,
        random, symmetric_product, validate, work,
    };
}
pub mod prelude;
#[cfg(feature = "testing")]
pub mod testing;
