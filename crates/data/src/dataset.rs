//! Features and target, ready for an algorithm.

use faer::{Mat, MatRef};

use crate::column::{Column, ColumnRef};
use crate::error::{DataError, Result};
use crate::standardize::{Standardize, Standardizer};
use crate::table::Table;

/// Features and target of a supervised problem.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Dataset {
    /// The name of the data.
    pub name: String,
    /// n × d features, one row per observation; all finite.
    pub x: Mat<f64>,
    /// n targets; all finite. [`targets`](Dataset::targets) gives them as a matrix.
    pub y: Vec<f64>,
    /// d names, one per column of `x`.
    pub feature_names: Vec<String>,
    /// The name of the target.
    pub target_name: String,
    /// A remark that readers of results should know; may be empty.
    pub note: String,
}

impl Table {
    /// All columns as an n × d matrix, in the order of the table. O(n·d).
    ///
    /// # Errors
    /// [`DataError::TextColumn`] or [`DataError::MissingValues`] for the first such column.
    pub fn matrix(&self) -> Result<Mat<f64>> {
        let columns = self
            .columns()
            .iter()
            .map(|column| self.complete(column))
            .collect::<Result<Vec<_>>>()?;
        Ok(Mat::from_fn(self.rows(), columns.len(), |i, j| columns[j][i]))
    }

    /// The column `target` as y, all others as x. O(n·d).
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`], [`DataError::TextColumn`], [`DataError::MissingValues`],
    /// [`DataError::NoRows`], [`DataError::NoFeatures`].
    ///
    /// ```
    /// use nystrom_data::{ColumnRef, Csv};
    ///
    /// let data = Csv::new()
    ///     .read("a,b,c\n1,2,3\n4,5,6\n".as_bytes(), "t.csv")?
    ///     .into_dataset(ColumnRef::Last)?;
    /// assert_eq!((data.x[(1, 0)], data.y[1], data.target_name.as_str()), (4.0, 6.0, "c"));
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn into_dataset(self, target: impl Into<ColumnRef>) -> Result<Dataset> {
        let target = self.position(target)?;
        let table = || self.source().to_owned();
        if self.rows() == 0 {
            return Err(DataError::NoRows { table: table() });
        }
        if self.columns().len() == 1 {
            return Err(DataError::NoFeatures { table: table() });
        }
        let y = self.complete(&self.columns()[target])?.to_vec();
        let target_name = self.columns()[target].name.clone();
        let name = self.source().to_owned();
        let features = self.drop_columns([target])?;
        let feature_names = features.names().map(str::to_owned).collect();
        Ok(Dataset {
            name,
            x: features.matrix()?,
            y,
            feature_names,
            target_name,
            note: String::new(),
        })
    }

    /// The numbers of a column; an error if one is missing or infinite.
    fn complete<'a>(&'a self, column: &'a Column) -> Result<&'a [f64]> {
        let values = self.numbers_of(column)?;
        let missing = |(_, value): &(usize, &f64)| !value.is_finite();
        match values.iter().enumerate().find(missing) {
            None => Ok(values),
            Some((row, _)) => Err(DataError::MissingValues {
                table: self.source().to_owned(),
                column: column.name.clone(),
                count: values.iter().enumerate().filter(missing).count(),
                line: self.line(row),
                row,
            }),
        }
    }
}

impl Dataset {
    /// The targets as an n × 1 matrix, the form in which regressions take them. A view: O(1).
    ///
    /// ```
    /// let data = nystrom_data::Csv::new()
    ///     .read("a,b\n1,2\n3,4\n".as_bytes(), "t.csv")?
    ///     .into_dataset("b")?;
    /// let y = data.targets();
    /// assert_eq!((y.nrows(), y.ncols(), y[(1, 0)]), (2, 1, 4.0));
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn targets(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.y, self.y.len(), 1)
    }

    /// The features with the target as one more column: n × (d + 1).
    ///
    /// For methods without a target, such as leverage scores of all measured columns.
    ///
    /// ```
    /// let data = nystrom_data::Csv::new()
    ///     .read("a,b\n1,2\n3,4\n".as_bytes(), "t.csv")?
    ///     .into_dataset("b")?;
    /// let all = data.with_target_as_feature();
    /// assert_eq!((all.ncols(), all[(1, 1)]), (2, 4.0));
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn with_target_as_feature(&self) -> Mat<f64> {
        let d = self.x.ncols();
        Mat::from_fn(self.x.nrows(), d + 1, |i, j| if j < d { self.x[(i, j)] } else { self.y[i] })
    }

    /// The rows with these positions (from 0), in this order. A row may occur more than once.
    ///
    /// # Errors
    /// [`DataError::NoSuchRow`].
    ///
    /// ```
    /// let data = nystrom_data::Csv::new()
    ///     .read("a,b\n1,2\n3,4\n".as_bytes(), "t.csv")?
    ///     .into_dataset("b")?;
    /// assert_eq!(data.select_rows(&[1])?.y, [4.0]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn select_rows(&self, rows: &[usize]) -> Result<Dataset> {
        let n = self.y.len().min(self.x.nrows());
        if let Some(&row) = rows.iter().find(|&&row| row >= n) {
            return Err(DataError::NoSuchRow { table: self.name.clone(), row, rows: n });
        }
        let x = Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)]);
        let y = rows.iter().map(|&row| self.y[row]).collect();
        Ok(Dataset { x, y, ..self.without_values() })
    }

    /// The data with standardised features, and the map that standardises them. The target is
    /// unchanged.
    ///
    /// # Errors
    /// Those of [`Standardizer::fit`].
    ///
    /// ```
    /// use nystrom_data::{Csv, Standardize};
    ///
    /// let data = Csv::new().read("a,b\n1,2\n3,4\n".as_bytes(), "t.csv")?.into_dataset("b")?;
    /// let (data, map) = data.standardize(Standardize::default())?;
    /// assert_eq!((data.x[(0, 0)], data.x[(1, 0)]), (-1.0, 1.0)); // divisor n
    /// assert_eq!((map.means[0], map.scales[0]), (2.0, 1.0));
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn standardize(self, options: Standardize) -> Result<(Dataset, Standardizer)> {
        let map = Standardizer::fit(self.x.as_ref(), &self.feature_names, options)?;
        let x = map.transform(self.x.as_ref())?;
        Ok((Dataset { x, ..self }, map))
    }

    fn without_values(&self) -> Dataset {
        Dataset {
            name: self.name.clone(),
            x: Mat::new(),
            y: Vec::new(),
            feature_names: self.feature_names.clone(),
            target_name: self.target_name.clone(),
            note: self.note.clone(),
        }
    }
}
