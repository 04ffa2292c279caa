//! Greedy selection within quotas.

use super::partial_cholesky::pivoted_cholesky;
use crate::{LandmarkSelector, Landmarks, Quotas};
use nystrom_linalg_core::{PivotedCholesky, PsdMatrix, Result, Scalar};
use rand::Rng;

/// Greedy landmarks within [`Quotas`]: the next landmark is always the row with the largest
/// residual (A − Â)_ss among the rows of groups that are not full.
///
/// Every step maximises ln det A_CC over the rows that may be added, so that this is the greedy
/// algorithm for ln det under a partition constraint. If it ends before all quotas are filled,
/// since all rows left of a group depend on the rows chosen, it starts again and always fills the
/// group with the fewest independent rows to spare. That may fail as well although there are
/// independent rows that fill the quotas; it cannot fail if A is positive definite.
///
/// Deterministic: the generator is not used, and of equal residuals the row with the smallest index
/// is taken.
///
/// # Cost
/// That of [`Greedy`](crate::Greedy), twice if it has to start again.
///
/// # Source
/// The greedy algorithm for a matroid: M. Fisher, G. Nemhauser & L. Wolsey, *An analysis of
/// approximations for maximizing submodular set functions II*, 1978. Their bound, ½ of the best
/// value, is for monotone functions f ≥ 0 such as ln det (I + A_CC), not for ln det A_CC.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{GreedyByGroup, LandmarkSelector, Quotas};
/// use rand::SeedableRng;
/// let k = mat![[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]];
/// let selector = GreedyByGroup { quotas: Quotas::new(vec![0, 0, 1], vec![1, 1])? };
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// assert_eq!(selector.select(&Dense::new(k.as_ref())?, 2, rng)?.indices(), [0, 2]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GreedyByGroup {
    /// The groups and their quotas.
    pub quotas: Quotas,
}

impl GreedyByGroup {
    /// A partial Cholesky factorisation of `A` whose pivots fill the quotas.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if there are quotas of another number of rows,
    /// [`Quota`](nystrom_linalg_core::Error::Quota) for a group without enough independent rows,
    /// and those of [`RpCholesky::factor`](crate::RpCholesky::factor).
    pub fn factor<T: Scalar>(&self, A: &dyn PsdMatrix<T>) -> Result<PivotedCholesky<T>> {
        let k = self.quotas.size();
        self.quotas.check(A.dim(), k)?;
        let mut f = pivoted_cholesky(A, k, 0.0, |f| self.largest(f))?;
        if f.rank() < k {
            let again = pivoted_cholesky(A, k, 0.0, |f| self.scarcest(f))?;
            if again.rank() > f.rank() {
                f = again;
            }
        }
        self.quotas.check_filled(&f)?;
        Ok(f)
    }

    /// The row with the largest residual in a group that is not full.
    fn largest<T: Scalar>(&self, f: &PivotedCholesky<T>) -> Option<usize> {
        let missing = self.quotas.missing(f.pivots());
        largest_of(f, |row| missing[self.quotas.group(row)] > 0)
    }

    /// The row with the largest residual in the group with the fewest rows to spare.
    fn scarcest<T: Scalar>(&self, f: &PivotedCholesky<T>) -> Option<usize> {
        let missing = self.quotas.missing(f.pivots());
        let mut independent = vec![0; missing.len()];
        for (row, _) in f.residual().iter().enumerate().filter(|(_, d)| **d > 0.0) {
            independent[self.quotas.group(row)] += 1;
        }
        let open = (0..missing.len()).filter(|&g| missing[g] > 0 && independent[g] > 0);
        let group = open.min_by_key(|&g| independent[g] as isize - missing[g] as isize)?;
        largest_of(f, |row| self.quotas.group(row) == group)
    }
}

/// The row with the largest positive residual among those allowed, of equal ones the first.
fn largest_of<T: Scalar>(
    f: &PivotedCholesky<T>,
    is_allowed: impl Fn(usize) -> bool,
) -> Option<usize> {
    let d = f.residual();
    let allowed = (0..d.len()).filter(|&row| d[row] > 0.0 && is_allowed(row));
    allowed.reduce(|best, row| if d[row] > d[best] { row } else { best })
}

impl<T: Scalar> LandmarkSelector<T> for GreedyByGroup {
    /// # Errors
    /// Those of [`factor`](GreedyByGroup::factor), and
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the quotas do not add up to m.
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, _rng: &mut dyn Rng) -> Result<Landmarks> {
        self.quotas.check(k.dim(), m)?;
        Landmarks::from_pivots(&self.factor(k)?)
    }
}
