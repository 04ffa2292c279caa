//! Randomly pivoted Cholesky, one pivot at a time.

use crate::select::partial_cholesky::pivoted_cholesky;
use nystrom_linalg_core::{PivotedCholesky, PsdMatrix, Result, Scalar, random};
use rand::Rng;

/// Randomly pivoted Cholesky in its simple form, one pivot at a time.
/// [`RpCholesky`](crate::RpCholesky) has the same distribution of pivots and takes a fraction of
/// the time.
///
/// ```text
/// F = 0, d = diag A;   k times:   s ~ d/Σd,   g = A(:, s) − F F(s, :)ᵀ,   append g/√g_s to F,
///     d ← max(d − g²/g_s, 0)
/// ```
///
/// One step maps A to A⁽¹⁾ = A − A(:, s)A(s, :)/A_ss, and E A⁽¹⁾ = A − A²/tr A.
///
/// The result has `k` pivots, or fewer if they determine A up to rounding error.
///
/// # Cost
/// kn entries for k pivots, and n diagonal entries; nk² flops in matrix-vector products; n·k
/// numbers of memory.
///
/// # Randomness
/// One uniform per pivot.
///
/// # Source
/// Y. Chen, E. Epperly, J. Tropp, R. Webber, *Randomly pivoted Cholesky*, Communications on Pure
/// and Applied Mathematics 78, 2025 (arXiv:2207.06503), Algorithm 2.1.
///
/// # Errors
/// Those of [`RpCholesky::factor`](crate::RpCholesky::factor).
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::rp_cholesky;
/// use rand::SeedableRng;
/// let a = Mat::from_fn(50, 50, |i, j| (i.min(j) + 1) as f64);
/// let f = rp_cholesky(&Dense::new(a.as_ref())?, 10, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert_eq!(f.factor().shape(), (50, 10));
/// assert!(f.trace_error() < 0.1 * f.traces()[0]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn rp_cholesky<T: Scalar>(
    A: &dyn PsdMatrix<T>,
    k: usize,
    rng: &mut dyn Rng,
) -> Result<PivotedCholesky<T>> {
    pivoted_cholesky(A, k, 0.0, |f| random::categorical(f.residual(), rng)) // s ~ d/Σd
}
