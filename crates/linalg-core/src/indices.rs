//! Rows or columns of a matrix: a contiguous range, or a list.

use crate::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;

/// Indices of rows or columns of a matrix: a contiguous range, which needs no memory, or any list
/// in any order.
///
/// ```
/// use nystrom_linalg_core::Indices;
/// let range: Indices = (3..6).into();
/// let list: Indices = (&[5, 3, 3]).into();
/// assert_eq!(range.iter().collect::<Vec<_>>(), [3, 4, 5]);
/// assert_eq!((list.len(), list.get(0)), (3, 5));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Indices<'a> {
    /// The indices start, start + 1, …, end − 1.
    Range(Range<usize>),
    /// Any indices in any order, repetitions allowed.
    List(&'a [usize]),
}

impl<'a> Indices<'a> {
    /// Number of indices.
    pub fn len(&self) -> usize {
        match self {
            Indices::Range(range) => range.len(),
            Indices::List(list) => list.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `t`-th index.
    ///
    /// # Panics
    /// If `t >= len()`.
    pub fn get(&self, t: usize) -> usize {
        match self {
            Indices::Range(range) => {
                assert!(t < range.len(), "position {t} of {} indices", range.len());
                range.start + t
            }
            Indices::List(list) => list[t],
        }
    }

    /// The indices in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|t| self.get(t))
    }

    /// The indices at positions `range`.
    ///
    /// # Panics
    /// If `range` reaches beyond `len()`.
    pub fn slice(&self, range: Range<usize>) -> Indices<'a> {
        match self {
            Indices::Range(all) => {
                assert!(
                    range.end <= all.len(),
                    "positions up to {} of {} indices",
                    range.end,
                    all.len()
                );
                Indices::Range(all.start + range.start..all.start + range.end)
            }
            Indices::List(list) => Indices::List(&list[range]),
        }
    }

    /// Checks that every index is below `n`.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] with the first index that is not; `what` names the list in the
    /// message.
    pub fn check(&self, n: usize, what: &'static str) -> Result<()> {
        let bad = match self {
            Indices::Range(range) if range.end <= n || range.is_empty() => None,
            _ => self.iter().position(|i| i >= n),
        };
        match bad {
            None => Ok(()),
            Some(position) => {
                Err(Error::IndexOutOfRange { what, position, index: self.get(position), n })
            }
        }
    }

    /// Checks that every index is below `n` and that no two are equal.
    ///
    /// # Errors
    /// As [`check`](Self::check); [`Error::DuplicateIndex`] with the first repetition.
    pub fn check_distinct(&self, n: usize, what: &'static str) -> Result<()> {
        self.check(n, what)?;
        let Indices::List(list) = self else { return Ok(()) };
        let mut seen = HashMap::with_capacity(list.len());
        for (second, &index) in list.iter().enumerate() {
            if let Some(first) = seen.insert(index, second) {
                return Err(Error::DuplicateIndex { what, index, first, second });
            }
        }
        Ok(())
    }
}

impl From<Range<usize>> for Indices<'_> {
    fn from(range: Range<usize>) -> Self {
        Indices::Range(range)
    }
}

impl<'a> From<&'a [usize]> for Indices<'a> {
    fn from(list: &'a [usize]) -> Self {
        Indices::List(list)
    }
}

impl<'a, const N: usize> From<&'a [usize; N]> for Indices<'a> {
    fn from(list: &'a [usize; N]) -> Self {
        Indices::List(list)
    }
}

impl<'a> From<&'a Vec<usize>> for Indices<'a> {
    fn from(list: &'a Vec<usize>) -> Self {
        Indices::List(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_both_kinds_agree() {
        let list = [4, 5, 6, 7];
        let (a, b) = (Indices::from(4..8).slice(1..3), Indices::from(&list).slice(1..3));
        assert_eq!(a.iter().collect::<Vec<_>>(), b.iter().collect::<Vec<_>>());
        assert!(Indices::from(2..2).is_empty());
    }

    #[test]
    fn check_names_the_first_offender() {
        let error = Indices::from(&[0, 9, 12]).check(9, "landmarks").unwrap_err();
        assert_eq!(
            error,
            Error::IndexOutOfRange { what: "landmarks", position: 1, index: 9, n: 9 }
        );
        assert!(Indices::from(0..9).check(9, "rows").is_ok());
        assert!(Indices::from(0..10).check(9, "rows").is_err());
    }

    #[test]
    fn check_distinct_names_the_first_repetition() {
        let error = Indices::from(&[5, 2, 0, 2, 5]).check_distinct(9, "landmarks").unwrap_err();
        let (what, index) = ("landmarks", 2);
        assert_eq!(error, Error::DuplicateIndex { what, index, first: 1, second: 3 });
        let error = Indices::from(&[5, 5, 9]).check_distinct(9, "landmarks").unwrap_err();
        assert!(matches!(error, Error::IndexOutOfRange { position: 2, .. }));
        assert!(Indices::from(0..9).check_distinct(9, "rows").is_ok());
        assert!(Indices::from(0..10).check_distinct(9, "rows").is_err());
    }
}
