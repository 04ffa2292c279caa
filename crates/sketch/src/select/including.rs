//! Landmarks that include given rows.

use crate::{LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, SchurComplement};
use rand::Rng;

/// Landmarks that include the rows `given`; `others` chooses the remaining rows from the
/// [`SchurComplement`] of the given ones.
///
/// With `KDpp` of `nystrom-dpp` this is a k-DPP conditioned on the given rows, with
/// [`Greedy`](crate::Greedy) the greedy choice that starts with them, with
/// [`RpCholesky`](crate::RpCholesky) a factorisation whose first pivots they are. The given rows
/// come first in the result.
///
/// # Cost
/// That of the complement, and that of `others` with its entries.
///
/// # Source
/// That of [`SchurComplement`].
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{Greedy, Including, LandmarkSelector};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(9, 9, |i, j| (-(i as f64 - j as f64).abs() / 9.0).exp());
/// let selector = Including { given: vec![8], others: Greedy::default() };
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// // row 0 is the farthest from row 8
/// assert_eq!(selector.select(&Dense::new(k.as_ref())?, 2, rng)?.indices(), [8, 0]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Including<S> {
    /// The rows to include.
    pub given: Vec<usize>,
    /// The selector of the other rows.
    pub others: S,
}

impl<T: Scalar, S: LandmarkSelector<T>> LandmarkSelector<T> for Including<S> {
    /// # Errors
    /// Those of [`SchurComplement::new`] and of `others`, and
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if more than m rows are given.
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        let rest = SchurComplement::new(k, &self.given)?;
        let others = match rest.missing(m)? {
            0 => Vec::new(),
            missing => self.others.select(&rest, missing, rng)?.into_indices(),
        };
        Landmarks::new(k.dim(), rest.complete(&others))
    }
}
