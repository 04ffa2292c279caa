//! The row that is explained worst, again and again.

use super::pivots::pivoted_cholesky;
use crate::{LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PivotedCholesky, PsdMatrix, Result, Scalar};
use rand::Rng;

/// Greedy landmarks: each is the row with the largest residual diagonal (A − Â)_ss. That is
/// Cholesky with complete pivoting, stopped early ("incomplete Cholesky", "farthest point in
/// feature space").
///
/// Deterministic: the generator is not used, and among equal residuals the row with the smallest
/// number is taken. It finds outliers first, all of them, which is its strength in the spectral
/// norm and its weakness in the trace on noisy data. [`RpCholesky`](crate::RpCholesky) balances the
/// two.
///
/// At most k landmarks, fewer only when those taken explain A to rounding error or to the
/// tolerance.
///
/// # Cost
/// Exactly kn entries and n diagonal ones, nk² flops, n·k numbers of memory, with a tolerance 3n
/// for each pivot taken. ([`PivotedCholesky::new`] is the form for a small stored matrix.)
///
/// # Source
/// S. Fine, K. Scheinberg, *Efficient SVM training using low-rank kernel representations*, JMLR 2,
/// 2001; F. Bach, M. Jordan, *Kernel independent component analysis*, JMLR 3, 2002.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{Greedy, LandmarkSelector};
/// use rand::SeedableRng;
/// let k = mat![[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.5]];
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// assert_eq!(Greedy::default().select(&Dense::new(k.as_ref())?, 2, rng)?.indices(), [0, 2]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Greedy {
    /// Stop once tr(A − Â) ≤ tolerance·tr A; 0 by default.
    pub tolerance: f64,
}

impl Greedy {
    /// Up to `k` pivots of `A` with the factor they give.
    ///
    /// # Errors
    /// As [`RpCholesky::factor`](crate::RpCholesky::factor).
    pub fn factor<T: Scalar>(&self, A: &dyn PsdMatrix<T>, k: usize) -> Result<PivotedCholesky<T>> {
        pivoted_cholesky(A, k, self.tolerance, PivotedCholesky::largest) //   s = argmax d
    }
}

impl<T: Scalar> LandmarkSelector<T> for Greedy {
    /// Errors as [`factor`](Greedy::factor).
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, _rng: &mut dyn Rng) -> Result<Landmarks> {
        Landmarks::from_pivots(&self.factor(k, m)?)
    }
}
