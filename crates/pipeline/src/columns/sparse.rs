//! The features of a column of sparse rows: its numbers as they are.

use super::Why;
use super::options::NOT_COUNTS;
use crate::error::{Error, Result, place};
use nystrom::kernels::SparseRows;
use nystrom_data::{Column, SparseColumn, Table, Values};
use serde::{Deserialize, Serialize};

/// Sparse rows, neither centred nor scaled. A feature is a place of the rows: in libsvm files, the
/// index of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SparseFeatures {
    /// The place of the first feature: 1 if no row has a number at place 0.
    pub first: usize,
    /// The number of features, d.
    pub count: usize,
}

impl SparseFeatures {
    /// The features of a column, or the reason why the fitted `rows` (`None`: all) have none.
    pub fn of(column: &SparseColumn, rows: Option<&[usize]>) -> Result<SparseFeatures, Why> {
        let n = rows.map_or(column.len(), <[usize]>::len);
        if (0..n).all(|i| column.row(rows.map_or(i, |rows| rows[i])).0.is_empty()) {
            return Err(Why::Empty);
        }
        let from_zero = (0..column.len()).any(|row| column.row(row).0.first() == Some(&0));
        let first = usize::from(!from_zero);
        Ok(SparseFeatures { first, count: column.dim() - first })
    }

    pub fn is_sound(&self) -> bool {
        self.first <= 1 && self.count > 0 && self.count as u64 <= 1 << 32
    }

    /// The rows of a column in d dimensions, and one more for each place that is no feature, so
    /// that numbers there count in distances.
    pub fn rows_of(&self, column: &Column) -> Result<SparseRows<f64>> {
        let Values::Sparse(all) = &column.values else {
            let what = "holds no sparse rows, to which the model was fitted";
            return Err(Error::values(&column.name, what, "read rows of a libsvm file as sparse"));
        };
        let mut dim = self.count.max(all.dim().saturating_sub(self.first));
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let (first, last) = (self.first as u32, dim as u32);
        for row in 0..all.len() {
            let (places, of_row) = all.row(row);
            columns.extend(places.iter().map(|place| place.checked_sub(first).unwrap_or(last)));
            values.extend_from_slice(of_row);
            starts.push(values.len());
        }
        dim += usize::from(self.first > 0 && columns.contains(&last));
        Ok(SparseRows::new(dim, starts, columns, values)?)
    }
}

/// An error for the first negative number of sparse rows.
pub(super) fn refuse_negative(column: &Column, table: &Table) -> Result<()> {
    let Values::Sparse(all) = &column.values else { return Ok(()) };
    for row in 0..all.len() {
        let (places, values) = all.row(row);
        if let Some(t) = values.iter().position(|value| *value < 0.0) {
            let what = format!("has {}:{} in {}", places[t], values[t], place(table, row));
            return Err(Error::values(&column.name, what, NOT_COUNTS));
        }
    }
    Ok(())
}

/// An error for a column of sparse rows where each row needs one value.
pub(crate) fn refuse_sparse(name: &str, values: &Values) -> Result<()> {
    let what = "holds sparse rows, which are many numbers each";
    match values {
        Values::Sparse(_) => Err(Error::values(name, what, "take another column here")),
        _ => Ok(()),
    }
}
