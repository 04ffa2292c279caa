//! Linear algebra shared by all `nystrom` crates: an interface to an n × n positive semi-definite
//! matrix **K** that is never stored whole, the ridge that makes K invertible, and the dense
//! factorisations that low-rank approximations of K need.
//!
//! The main types, in reading order:
//!
//! * [`Scalar`]: `f32` or `f64`.
//! * [`Ridge`]: says whether a number is μ in K + μI or λ in K + nλI.
//! * [`PsdMatrix`]: blocks, diagonal and tiled products of a matrix that need not exist in memory.
//!   [`Dense`] wraps a stored matrix; [`Counted`] counts the entries that an algorithm evaluates.
//!   [`Scaled`] weights the rows; [`SchurComplement`] is what given rows leave unexplained.
//! * [`Cholesky`], [`SymmetricEigen`], [`ConjugateGradients`]: factor or iterate, solve, and
//!   report the jitter, rank or residual. [`BandEigen`] is for problems that need few eigenvectors.
//! * [`RowTree`]: sums over rows, whose bits do not depend on the number of threads.
//! * [`Streams`] and [`random`]: random numbers from the caller's generator, split so that parallel
//!   draws are reproducible.
//! * [`work`]: counts of flops and kernel values, for tests of documented costs.
//!
//! # Notation
//!
//! | symbol | meaning | shape |
//! |---|---|---|
//! | n | number of samples, the order of K | |
//! | t | number of right-hand sides | |
//! | A, K | symmetric positive semi-definite matrix | n × n |
//! | B, X | right-hand sides and solutions of A·X = B (b, x for one column) | n × t |
//! | μ = nλ | absolute and per-sample ridge: K + μI = K + nλI | |
//! | δ | jitter added to a diagonal so that a Cholesky factorisation succeeds | |
//! | L | lower triangular Cholesky factor, A + δI = LLᵀ | n × n |
//! | M⁻¹ | preconditioner, M⁻¹ ≈ A⁻¹ | n × n |
//! | F | factor of a low-rank matrix FFᵀ | n × k |
//! | ε | machine epsilon of the scalar type, [`Scalar::EPS`] | |
//!
//! ```
//! use faer::Mat;
//! use nystrom_linalg_core::{Cholesky, Dense, JitterLadder, PsdMatrix, Ridge};
//!
//! let k = Mat::from_fn(3, 3, |i, j| if i == j { 1.0_f64 } else { 0.5 });
//! let k = Dense::new(k.as_ref())?;                       // checked: square, finite, symmetric
//! let mu = Ridge::PerSample(1e-2).absolute(k.dim())?;    // nλ = 0.03
//! let mut a = k.block((0..3).into(), (0..3).into());
//! for i in 0..3 { a[(i, i)] += mu; }
//! let factor = Cholesky::with_jitter(a.as_ref(), JitterLadder::default())?;
//! assert_eq!(factor.jitter(), 0.0);                      // none was needed
//! # Ok::<(), nystrom_linalg_core::Error>(())
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]
#![allow(non_snake_case)]

mod arch;
mod band;
mod cg;
mod cholesky;
mod counted;
mod dense;
mod dot;
mod error;
mod gram_sums;
mod indices;
#[cfg(any(feature = "ndarray", feature = "nalgebra"))]
mod interop;
mod jitter;
mod kept_triangle;
#[cfg(feature = "large-pages")]
mod large_pages;
mod low_rank;
pub mod ops;
mod packed_cholesky;
mod packed_lower;
mod panels;
mod pieces;
mod pivoted_cholesky;
mod psd;
pub mod psd_factor;
pub mod random;
mod ridge;
mod rounding;
mod row_tree;
mod saved_solve;
mod scalar;
mod scaled;
mod schur_complement;
#[cfg(feature = "serde")]
pub mod serialize;
mod simd;
mod simd_ones;
mod solve;
mod streams;
mod symmetric_block;
mod symmetric_eigen;
#[cfg(feature = "testing")]
pub mod testing;
mod tridiagonal;
pub mod validate;
pub mod work;

pub use arch::{dispatch, instruction_set};
pub use band::BandEigen;
pub use cg::{ConjugateGradients, LinearSystem};
pub use cholesky::Cholesky;
pub use counted::Counted;
pub use dense::Dense;
pub use error::{Error, Result};
pub use faer;
pub use gram_sums::GramSums;
pub use indices::Indices;
#[cfg(feature = "nalgebra")]
pub use interop::nalgebra_view;
#[cfg(feature = "ndarray")]
pub use interop::ndarray_view;
pub use jitter::JitterLadder;
pub use kept_triangle::{KeptTriangle, symmetric_product};
#[cfg(feature = "large-pages")]
pub use large_pages::LargePages;
pub use low_rank::{ShiftedLowRank, TallFactor};
pub use packed_cholesky::PackedCholesky;
pub use packed_lower::PackedLower;
pub use pivoted_cholesky::PivotedCholesky;
pub use psd::PsdMatrix;
pub use ridge::Ridge;
pub use row_tree::RowTree;
pub use saved_solve::SavedSolve;
pub use scalar::Scalar;
pub use scaled::Scaled;
pub use schur_complement::SchurComplement;
pub use simd::{Vectorised, WrittenColumns};
pub use simd_ones::{CountOnes, WithOnes, dispatch_ones};
pub use solve::Stop;
pub use streams::Streams;
pub use symmetric_eigen::SymmetricEigen;
