//! Rows of libsvm files with only the features that they name.

use std::io::Read;
use std::path::Path;

use super::Libsvm;
use crate::column::{Column, Values};
use crate::error::Result;
use crate::lines::Lines;
use crate::open::open;
use crate::sparse_column::SparseColumn;
use crate::table::Table;

/// Rows of a libsvm file in which features that a row leaves out take no memory, as compressed
/// sparse rows: row i has the features `columns[t]` with the values `values[t]` for t from
/// `starts[i]` to `starts[i + 1]`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SparseTable {
    /// The labels, and `qid` if a row has one, with the lines of the rows.
    pub labels: Table,
    /// The number of features.
    pub features: usize,
    /// The index of feature 0 in the file: 1, or 0 if a row has the index 0.
    pub first: usize,
    /// One number more than rows.
    pub starts: Vec<usize>,
    /// The features of the rows, ascending in each row.
    pub columns: Vec<u32>,
    /// Their values.
    pub values: Vec<f64>,
}

impl SparseTable {
    /// The labels, and after them one column of sparse rows, whose places are the indices of the
    /// file. No copy of the values, unless some are 0.
    ///
    /// # Errors
    /// [`DataError::SparseRows`](crate::DataError::SparseRows) for parts that no reader makes; that
    /// of [`Table::new`] if a label has the name of the column.
    ///
    /// ```
    /// use nystrom_data::{Libsvm, Values};
    /// let table = Libsvm::new().read_sparse("1 1:0.5\n-1\n".as_bytes(), "t.libsvm")?;
    /// let table = table.into_table("features")?;
    /// assert_eq!(table.names().collect::<Vec<_>>(), ["label", "features"]);
    /// let Values::Sparse(rows) = &table.column("features")?.values else { panic!() };
    /// assert_eq!((rows.dim(), rows.row(0)), (2, (&[1][..], &[0.5][..])));
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn into_table(self, name: impl Into<String>) -> Result<Table> {
        let SparseTable { labels, features, first, starts, mut columns, values } = self;
        columns.iter_mut().for_each(|column| *column = column.saturating_add(first as u32));
        let rows = SparseColumn::new(features.saturating_add(first), starts, columns, values)?;
        let column = Column { name: name.into(), values: Values::Sparse(rows) };
        let all = labels.columns().iter().cloned().chain([column]).collect();
        labels.with_columns(all)
    }
}

impl Libsvm {
    /// Like [`read`](Self::read), without adding zeros: 28 bytes for each pair `index:value` of the
    /// file, while it is read.
    ///
    /// ```
    /// use nystrom_data::Libsvm;
    /// let rows = Libsvm::new().read_sparse("1 1:0.5 900000:2\n-1\n".as_bytes(), "t.libsvm")?;
    /// assert_eq!(rows.labels.numbers("label")?, [1.0, -1.0]);
    /// assert_eq!((rows.features, rows.starts), (900_000, vec![0, 2, 2]));
    /// assert_eq!((rows.columns, rows.values), (vec![0, 899_999], vec![0.5, 2.0]));
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`read`](Self::read) but for the size of the table.
    pub fn read_sparse(&self, mut reader: impl Read, name: &str) -> Result<SparseTable> {
        let mut lines = Lines::new(&mut reader, name)?;
        let rows = self.rest(&mut lines)?;
        let (shape, features) = self.shape_of(&rows, name)?;
        let labels = self.label_columns(&rows, &shape, name)?;
        let first = shape.first();
        let columns = rows.entries.iter().map(|(index, _)| index - first as u32).collect();
        let values = rows.entries.iter().map(|(_, value)| *value).collect();
        let starts = std::iter::once(0).chain(rows.ends).collect();
        let labels = Table::with_lines(name, labels, rows.numbers)?;
        let labels = labels.noted(lines.notes(), Vec::new());
        Ok(SparseTable { labels, features, first, starts, columns, values })
    }

    /// [`read_sparse`](Self::read_sparse) of a file.
    ///
    /// # Errors
    /// As [`read_sparse`](Self::read_sparse); [`DataError::NotFound`](crate::DataError::NotFound).
    pub fn read_sparse_file(&self, path: impl AsRef<Path>) -> Result<SparseTable> {
        let (file, name) = open(path.as_ref())?;
        self.read_sparse(file, &name)
    }
}
