//! A column with many numbers in each row, of which only those other than 0 are stored.

use std::sync::Arc;

use crate::error::{DataError, Result};

/// The values of a column with many numbers in each row, most of them 0, as compressed sparse rows.
///
/// Memory: 12 bytes for each stored number, 16 for each row. A copy, and a selection of rows such
/// as [`Table::select_rows`](crate::Table::select_rows), share the numbers: 8 bytes for each row.
///
/// ```
/// use nystrom_data::{Column, SparseColumn, Table, Values};
///
/// // 0.5 at place 1 and 2 at place 900 000; a row of zeros
/// let words = SparseColumn::new(900_001, vec![0, 2, 2], vec![1, 900_000], vec![0.5, 2.0])?;
/// let label = Column::numbers("label", vec![1.0, -1.0]);
/// let column = Column { name: "words".into(), values: Values::Sparse(words) };
/// let table = Table::new("mine", vec![label, column])?;
/// let turned = table.select_rows(&[1, 0])?;
/// let Values::Sparse(words) = &turned.columns()[1].values else { panic!() };
/// assert_eq!(words.row(1), (&[1, 900_000][..], &[0.5, 2.0][..]));
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SparseColumn {
    all: Arc<Stored>,
    /// The row of `all` that each row is.
    rows: Vec<usize>,
}

#[derive(Debug)]
struct Stored {
    dim: usize,
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl SparseColumn {
    /// Rows of `dim` numbers. Row i has `values[t]` at the places `places[t]`, counted from 0, for
    /// t from `starts[i]` to `starts[i + 1]` (without it), and 0 elsewhere. The places of a row
    /// ascend. Values that are 0 are not stored. O(n + number of values).
    ///
    /// # Errors
    /// [`DataError::SparseRows`] if starts, places and values do not fit together.
    pub fn new(
        dim: usize,
        starts: Vec<usize>,
        places: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<SparseColumn> {
        let wrong = |row, problem| Err(DataError::SparseRows { row, problem });
        if starts.first() != Some(&0) || starts.last() != Some(&values.len()) {
            return wrong(0, "starts must begin with 0 and end with the number of values");
        }
        if places.len() != values.len() {
            return wrong(0, "there must be as many places as values");
        }
        for (row, ends) in starts.windows(2).enumerate() {
            if ends[0] > ends[1] || ends[1] > values.len() {
                return wrong(row, "starts must not fall");
            }
            let places = &places[ends[0]..ends[1]];
            if places.windows(2).any(|pair| pair[0] >= pair[1]) {
                return wrong(row, "the places of a row must ascend");
            }
            if places.last().is_some_and(|&last| last as usize >= dim) {
                return wrong(row, "a place is not below the number of places");
            }
        }
        Ok(SparseColumn::of(without_zeros(Stored { dim, starts, places, values })))
    }

    fn of(all: Stored) -> SparseColumn {
        let rows = (0..all.starts.len() - 1).collect();
        SparseColumn { all: Arc::new(all), rows }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of places of each row, those of its zeros included.
    pub fn dim(&self) -> usize {
        self.all.dim
    }

    /// The places and the values of the numbers other than 0 of a row, by place.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let Stored { starts, places, values, .. } = &*self.all;
        let row = self.rows[row];
        let of_row = starts[row]..starts[row + 1];
        (&places[of_row.clone()], &values[of_row])
    }

    /// The number of stored numbers in all rows. O(n).
    pub fn stored(&self) -> usize {
        (0..self.len()).map(|row| self.row(row).0.len()).sum()
    }

    /// These rows, which must exist.
    pub(crate) fn take(&self, rows: &[usize]) -> SparseColumn {
        let rows = rows.iter().map(|&row| self.rows[row]).collect();
        SparseColumn { all: Arc::clone(&self.all), rows }
    }

    /// Appends the rows of `other`.
    pub(crate) fn append(&mut self, other: &SparseColumn) {
        let dim = self.dim().max(other.dim());
        let mut all = Stored { dim, starts: vec![0], places: Vec::new(), values: Vec::new() };
        for column in [&*self, other] {
            for row in 0..column.len() {
                let (places, values) = column.row(row);
                all.places.extend_from_slice(places);
                all.values.extend_from_slice(values);
                all.starts.push(all.values.len());
            }
        }
        *self = SparseColumn::of(all);
    }
}

/// Equal if both have the same number of places and the same rows.
impl PartialEq for SparseColumn {
    fn eq(&self, other: &SparseColumn) -> bool {
        (self.dim(), self.len()) == (other.dim(), other.len())
            && (0..self.len()).all(|row| self.row(row) == other.row(row))
    }
}

fn without_zeros(all: Stored) -> Stored {
    if all.values.iter().all(|value| *value != 0.0) {
        return all;
    }
    let Stored { dim, starts, places, values } = all;
    let mut kept = Stored { dim, starts: vec![0], places: Vec::new(), values: Vec::new() };
    for ends in starts.windows(2) {
        for t in (ends[0]..ends[1]).filter(|&t| values[t] != 0.0) {
            kept.places.push(places[t]);
            kept.values.push(values[t]);
        }
        kept.starts.push(kept.values.len());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(rows: &[&[(u32, f64)]], dim: usize) -> SparseColumn {
        let pairs = rows.concat();
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        });
        let (places, values) = pairs.into_iter().unzip();
        SparseColumn::new(dim, [0].into_iter().chain(ends).collect(), places, values).unwrap()
    }

    #[test]
    fn zeros_are_not_stored_and_selections_share_the_numbers() {
        let all = column(&[&[(0, 1.0), (3, 0.0)], &[], &[(2, -0.0), (4, 5.0)]], 5);
        assert_eq!((all.stored(), all.dim(), all.len()), (2, 5, 3));
        assert_eq!(all, column(&[&[(0, 1.0)], &[], &[(4, 5.0)]], 5));
        let some = all.take(&[2, 2, 1]).take(&[1, 2]);
        assert_eq!(some, column(&[&[(4, 5.0)], &[]], 5));
        assert!(Arc::ptr_eq(&some.all, &all.all));
        let mut both = some.clone();
        both.append(&column(&[&[(8, 1.0)]], 9));
        assert_eq!(both, column(&[&[(4, 5.0)], &[], &[(8, 1.0)]], 9));
        assert_ne!(all.take(&[0]), column(&[&[(0, 1.0)]], 6));
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let refused = |starts: &[usize], places: &[u32], values: &[f64]| match SparseColumn::new(
            4,
            starts.to_vec(),
            places.to_vec(),
            values.to_vec(),
        ) {
            Err(DataError::SparseRows { row, problem }) => format!("{row}: {problem}"),
            other => panic!("{other:?}"),
        };
        assert!(refused(&[], &[], &[]).starts_with("0: starts must begin"));
        assert!(refused(&[0, 1], &[], &[]).starts_with("0: starts must begin"));
        assert!(refused(&[0, 1], &[1, 2], &[1.0]).starts_with("0: there must be as many"));
        assert!(refused(&[0, 2, 1], &[1], &[1.0]).starts_with("0: starts must not fall"));
        assert!(refused(&[0, 1, 0, 1], &[1], &[1.0]).starts_with("1: starts must not fall"));
        assert!(refused(&[0, 0, 2], &[1, 1], &[1.0, 2.0]).starts_with("1: the places"));
        assert!(refused(&[0, 1], &[4], &[1.0]).starts_with("0: a place is not below"));
        assert!(SparseColumn::new(0, vec![0], vec![], vec![]).unwrap().is_empty());
    }
}
