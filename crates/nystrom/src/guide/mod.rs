//! A tour in eleven short chapters, each with programs that run; read them in order or take what
//! you need.
//!
//! 1. [`matrices`]: an n × n matrix that is never stored, and the ridge that goes with it
//! 2. [`landmarks`]: a few rows that stand for all
//! 3. [`scores`]: which rows matter, exactly and nearly, and how to check an estimate
//! 4. [`kdpp`]: subsets that avoid repeating themselves
//! 5. [`regression`]: fit, predict, save; which solver
//! 6. [`lambda`]: choosing λ, kernels and length scales
//! 7. [`certificate`]: how far a fit is from exact regression, without computing that
//! 8. [`streaming`]: one pass, bounded memory
//! 9. [`own_kernel`]: a kernel, or a matrix, of your own
//! 10. [`own_selector`]: a selector, an estimator, a sketch of your own
//! 11. [`file_to_model`]: all of the way from a CSV file to a saved model, and back
//!
//! # The idea in four sentences
//! A [`PsdMatrix`](crate::linalg_core::PsdMatrix) K is something whose blocks can be evaluated; it
//! is never stored. A set of landmarks J compresses it to C = K\[:, J\] and W = K\[J, J\], and L =
//! C W⁺ Cᵀ ⪯ K is what is left of it. A selector picks J; ridge leverage scores say which rows it
//! should not miss. Kernel ridge regression is then a solve on the compressed problem, O(nm²) where
//! the exact one is O(n³).
//!
//! # What every chapter takes for granted
//! The generator is the last argument, and the same seed gives the same bits with any number of
//! threads. Points are wrapped in [`Points`](crate::kernels::Points), which says whether they lie
//! in rows or columns. A [`Ridge`](crate::Ridge) says whether it is λ (times n) or μ. Errors name
//! the offending value and the remedy; `?` in front of a reader is enough.
//!
//! Which method to take, with measured evidence, is in `docs/CHOOSING.md` of the repository; what
//! the papers call these quantities, in `docs/NOTATION.md`.

pub mod certificate;
pub mod file_to_model;
pub mod kdpp;
pub mod lambda;
pub mod landmarks;
pub mod matrices;
pub mod own_kernel;
pub mod own_selector;
pub mod regression;
pub mod scores;
pub mod streaming;
