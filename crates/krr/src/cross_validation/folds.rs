//! A random partition of the rows.

use crate::Problem;
use crate::data::{parts_of_problem, random_parts};
use nystrom_linalg_core::{Error, Result, Scalar, validate};
use rand::Rng;

/// The rows 0, …, n − 1 in random order, cut into parts whose sizes differ by at most one.
///
/// ```
/// use nystrom_krr::Folds;
/// use rand::SeedableRng;
/// let folds = Folds::random(10, 3, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert_eq!((0..3).map(|f| folds.test(f).len()).collect::<Vec<_>>(), [4, 3, 3]);
/// assert_eq!(folds.train(0).len(), 6);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Folds {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "checked"))]
    parts: Vec<Vec<usize>>,
}

/// The parts of a file, if every row is in one of them; in increasing order.
#[cfg(feature = "serde")]
fn checked<'de, D: serde::Deserializer<'de>>(file: D) -> Result<Vec<Vec<usize>>, D::Error> {
    use serde::{Deserialize, de::Error};
    let parts = Vec::<Vec<usize>>::deserialize(file)?;
    let n = parts.iter().map(Vec::len).sum();
    let mut fold = vec![usize::MAX; n];
    for (part, rows) in parts.iter().enumerate() {
        for &row in rows {
            match fold.get_mut(row) {
                Some(fold) if *fold == usize::MAX => *fold = part,
                _ => {
                    let problem = format!("row {row} of {n} is there twice, or is no row");
                    let error = nystrom_linalg_core::Error::Incompatible { what: "folds", problem };
                    return Err(D::Error::custom(error));
                }
            }
        }
    }
    Folds::of(&fold, parts.len()).map(|folds| folds.parts).map_err(D::Error::custom)
}

impl Folds {
    /// `folds` parts of n rows, every partition into parts of these sizes equally likely. Within a
    /// part the rows are in increasing order.
    ///
    /// # Randomness
    /// n bounded integers.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `folds` is less than 2, [`Error::TooMany`] if it exceeds n,
    /// [`Error::Empty`] if n = 0.
    pub fn random(n: usize, folds: usize, rng: &mut dyn Rng) -> Result<Self> {
        validate::not_empty("points (n)", n)?;
        check_count(folds)?;
        validate::at_most("folds", folds, n)?;
        Ok(Folds { parts: random_parts(&(0..n).collect::<Vec<_>>(), folds, rng)? })
    }

    /// As [`random`](Self::random), for the rows of a problem. The numbers of rows of positive
    /// weight in the parts also differ by at most one.
    ///
    /// # Errors
    /// As [`random`](Self::random), where [`Error::TooMany`] counts rows of positive weight.
    pub(super) fn of_problem<T: Scalar>(
        problem: Problem<'_, T>,
        folds: usize,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        check_count(folds)?;
        Ok(Folds { parts: parts_of_problem(problem, ("folds", folds), rng)? })
    }

    /// `fold` holds the number of the fold of each row 0, …, n − 1, below `folds`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `folds` is less than 2, [`Error::IndexOutOfRange`] for a fold
    /// that is not below it, [`Error::Empty`] for a fold without rows.
    ///
    /// ```
    /// use nystrom_krr::Folds;
    /// let by_group = Folds::of(&[0, 2, 1, 0, 2, 2], 3)?;
    /// assert_eq!((by_group.test(2), by_group.train(2)), (&[1, 4, 5][..], vec![0, 2, 3]));
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn of(fold: &[usize], folds: usize) -> Result<Self> {
        check_count(folds)?;
        let mut parts = vec![Vec::new(); folds];
        for (row, &fold) in fold.iter().enumerate() {
            let (what, position, index, n) = ("folds of the rows", row, fold, folds);
            let out = Error::IndexOutOfRange { what, position, index, n };
            parts.get_mut(fold).ok_or(out)?.push(row);
        }
        parts.iter().try_for_each(|part| validate::not_empty("rows of a fold", part.len()))?;
        Ok(Folds { parts })
    }

    /// n.
    pub(super) fn rows(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// The number of folds.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// The rows held out in fold `fold`.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn test(&self, fold: usize) -> &[usize] {
        &self.parts[fold]
    }

    /// All other rows, in increasing order.
    ///
    /// # Panics
    /// If there is no such fold.
    pub fn train(&self, fold: usize) -> Vec<usize> {
        assert!(fold < self.parts.len(), "fold {fold} of {}", self.parts.len());
        let others = self.parts.iter().enumerate().filter(|(f, _)| *f != fold);
        let mut rows: Vec<usize> = others.flat_map(|(_, part)| part.iter().copied()).collect();
        rows.sort_unstable();
        rows
    }
}

/// Refuses fewer than two folds.
pub(crate) fn check_count(folds: usize) -> Result<()> {
    let requirement = "at least 2; leave-one-out is what the paths of ExactKrr and NystromKrr give";
    validate::require(folds >= 2, "number of folds", folds as f64, requirement)
}
