//! Greedy selection of the row with the largest residual.

use super::partial_cholesky::pivoted_cholesky;
use crate::{LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PivotedCholesky, PsdMatrix, Result, Scalar};
use rand::Rng;

/// Greedy landmarks: the next landmark is always the row s with the largest residual (A − Â)_ss.
/// This is Cholesky factorisation with complete pivoting, stopped early ("incomplete Cholesky",
/// "farthest point in feature space").
///
/// Deterministic: the generator is not used, and of equal residuals the row with the smallest index
/// is taken. All outliers are selected first, which makes the spectral norm of A − Â small but, on
/// noisy data, leaves a large trace. [`RpCholesky`](crate::RpCholesky) balances both.
///
/// The result has k landmarks, or fewer if they determine A up to rounding error or the tolerance.
///
/// # Cost
/// kn entries for k pivots, and n diagonal entries; nk² flops; n·k numbers of memory, or with a
/// tolerance up to 3n numbers for each pivot taken. For a small stored matrix, use
/// [`PivotedCholesky::new`].
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
    /// The selection stops when tr(A − Â) ≤ tolerance·tr A; 0 by default.
    pub tolerance: f64,
}

impl Greedy {
    /// A partial Cholesky factorisation of `A` with up to `k` pivots.
    ///
    /// # Errors
    /// Those of [`RpCholesky::factor`](crate::RpCholesky::factor).
    pub fn factor<T: Scalar>(&self, A: &dyn PsdMatrix<T>, k: usize) -> Result<PivotedCholesky<T>> {
        pivoted_cholesky(A, k, self.tolerance, PivotedCholesky::largest) //   s = argmax d
    }
}

impl<T: Scalar> LandmarkSelector<T> for Greedy {
    /// # Errors
    /// Those of [`factor`](Greedy::factor).
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, _rng: &mut dyn Rng) -> Result<Landmarks> {
        Landmarks::from_pivots(&self.factor(k, m)?)
    }
}
