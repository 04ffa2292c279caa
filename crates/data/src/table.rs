//! A table: named columns of numbers or text, all of the same length.

use crate::column::distinct_names;
use crate::column::{Categories, Cell, Column, ColumnRef, Values};
use crate::doubts::Doubts;
use crate::error::{DataError, Place, Result, place::list};

/// The content of a file: named columns of numbers or text, with missing values marked.
///
/// Methods take the table by value and return the changed table, so that a preparation is a chain
/// of calls that ends in [`into_dataset`](Table::into_dataset). Nothing is dropped, filled in or
/// encoded unless the chain says so.
///
/// ```
/// use nystrom_data::{Csv, Encoding};
///
/// let text = "no,wind,temp,pm\n1,N,-0.7,4\n2,S,NA,8\n3,N,1.5,7\n";
/// let data = Csv::new().missing(["NA"]).text(["wind"]).read(text.as_bytes(), "air.csv")?
///     .drop_columns(["no"])?
///     .drop_missing_rows()
///     .encode("wind", Encoding::OneHot)?
///     .into_dataset("pm")?;
/// assert_eq!(data.feature_names, ["wind=N", "wind=S", "temp"]);
/// assert_eq!((data.x.nrows(), data.x.ncols(), data.y), (2, 3, vec![4.0, 7.0]));
/// # Ok::<(), nystrom_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Table {
    source: String,
    rows: usize,
    pub(crate) columns: Vec<Column>,
    /// The line of each row in its file, from 1; empty if the format has no lines.
    lines: Vec<u64>,
    /// Decisions made in reading, in words.
    notes: Vec<String>,
    /// Cells of number columns that are not numbers and are missing, with the positions of the
    /// columns.
    strays: Vec<(usize, Doubts)>,
}

impl Table {
    /// A table of these columns. Errors call it `source`.
    ///
    /// # Errors
    /// [`DataError::Length`] if columns differ in length, [`DataError::At`] with
    /// [`Problem::DuplicateColumn`](crate::Problem::DuplicateColumn) if two have the same name.
    ///
    /// ```
    /// use nystrom_data::{Column, Table};
    ///
    /// let table = Table::new(
    ///     "mine",
    ///     vec![Column::numbers("x", vec![1.0, 2.0]), Column::numbers("y", vec![3.0, 4.0])],
    /// )?;
    /// assert_eq!(table.rows(), 2);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn new(source: impl Into<String>, columns: Vec<Column>) -> Result<Table> {
        let source = source.into();
        let rows = columns.first().map_or(0, Column::len);
        for column in &columns {
            if column.len() != rows {
                let what = format!("{source}: rows of column {:?}", column.name);
                return Err(DataError::Length { what, expected: rows, found: column.len() });
            }
        }
        let place = |i: usize| Place::new(&source).field(i + 1);
        distinct_names(columns.iter().map(|column| column.name.as_str()), place)?;
        let (lines, notes, strays) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Table { source, rows, columns, lines, notes, strays })
    }

    /// Like [`new`](Table::new), with the line of each row.
    pub(crate) fn with_lines(
        source: impl Into<String>,
        columns: Vec<Column>,
        lines: Vec<u64>,
    ) -> Result<Table> {
        Ok(Table { lines, ..Table::new(source, columns)? })
    }

    /// The origin of the table, usually the path of its file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The line of the file on which row `row` (from 0) starts. Lines count from 1 and include the
    /// header, as in editors. `None` for formats without lines and for rows that do not exist.
    ///
    /// ```
    /// let table = nystrom_data::Csv::new().read("a,b\n1,2\n\n3,4\n".as_bytes(), "t.csv")?;
    /// assert_eq!((table.line(0), table.line(1), table.line(2)), (Some(2), Some(4), None));
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn line(&self, row: usize) -> Option<u64> {
        self.lines.get(row).copied()
    }

    /// The decisions made in reading the table, one line each.
    ///
    /// ```
    /// use nystrom_data::{Csv, Format, Origin};
    ///
    /// let bytes = "a,b\n1,2\n?,3\n".as_bytes();
    /// let table = Format::Csv(Csv::new()).found(Origin::Bytes { bytes, name: "t.csv" }, &[])?;
    /// assert_eq!(table.notes(), ["\"a\": \"?\" in 1 row is taken for a missing value"]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The table with these notes, and with these cells that are missing because they are not
    /// numbers.
    pub(crate) fn noted(self, notes: Vec<String>, strays: Vec<(usize, Doubts)>) -> Table {
        Table { notes, strays, ..self }
    }

    /// Removes and returns the cells that are missing because they are not numbers.
    pub(crate) fn take_strays(&mut self) -> Vec<(usize, Doubts)> {
        std::mem::take(&mut self.strays)
    }

    /// The columns, in the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The names of the columns.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The column with this name or position.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`], with the names that exist.
    pub fn column(&self, column: impl Into<ColumnRef>) -> Result<&Column> {
        self.position(column).map(|i| &self.columns[i])
    }

    /// The numbers of a column; NaN is a missing value.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`]; [`DataError::TextColumn`] if the column holds text,
    /// [`DataError::SparseColumn`] if it holds sparse rows.
    pub fn numbers(&self, column: impl Into<ColumnRef>) -> Result<&[f64]> {
        self.numbers_of(self.column(column)?)
    }

    pub(crate) fn numbers_of<'a>(&self, column: &'a Column) -> Result<&'a [f64]> {
        match &column.values {
            Values::Numbers(values) => Ok(values),
            Values::Categories(text) => Err(DataError::TextColumn {
                table: self.source.clone(),
                column: column.name.clone(),
                example: text.levels.first().cloned().unwrap_or_default(),
            }),
            Values::Sparse(_) => Err(DataError::sparse(&self.source, &column.name)),
        }
    }

    /// The text of a column.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`]; [`DataError::NumericColumn`] if the column holds numbers.
    pub fn categories(&self, column: impl Into<ColumnRef>) -> Result<&Categories> {
        let column = self.column(column)?;
        match &column.values {
            Values::Categories(text) => Ok(text),
            Values::Numbers(_) => Err(DataError::NumericColumn {
                table: self.source.clone(),
                column: column.name.clone(),
            }),
            Values::Sparse(_) => Err(DataError::sparse(&self.source, &column.name)),
        }
    }

    /// The values of row `row`, from 0; empty if there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Cell<'_>> {
        self.columns.iter().filter_map(move |column| column.cell(row))
    }

    /// The number of missing values in all columns.
    pub fn missing(&self) -> usize {
        let missing =
            |column: &Column| (0..self.rows).filter(|&row| column.is_missing(row)).count();
        self.columns.iter().map(missing).sum()
    }

    /// The table without these columns.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`].
    pub fn drop_columns<C: Into<ColumnRef>>(
        mut self,
        columns: impl IntoIterator<Item = C>,
    ) -> Result<Table> {
        let mut keep = vec![true; self.columns.len()];
        for column in columns {
            keep[self.position(column)?] = false;
        }
        let mut keep = keep.into_iter();
        self.columns.retain(|_| keep.next().unwrap_or(true));
        Ok(self)
    }

    /// The table with only these columns, in this order.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`]; that of [`Table::new`] if a column is named twice.
    ///
    /// ```
    /// let table = nystrom_data::Csv::new().read("a,b,c\n1,2,3\n".as_bytes(), "t.csv")?;
    /// assert_eq!(table.select_columns(["c", "a"])?.names().collect::<Vec<_>>(), ["c", "a"]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn select_columns<C: Into<ColumnRef>>(
        self,
        columns: impl IntoIterator<Item = C>,
    ) -> Result<Table> {
        let positions =
            columns.into_iter().map(|column| self.position(column)).collect::<Result<Vec<_>>>()?;
        let columns = positions.into_iter().map(|i| self.columns[i].clone()).collect();
        let table = Table::with_lines(self.source, columns, self.lines)?;
        Ok(Table { rows: self.rows, notes: self.notes, ..table })
    }

    /// The table with a column renamed.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`]; that of [`Table::new`] if another column has the new name.
    pub fn rename_column(
        mut self,
        column: impl Into<ColumnRef>,
        name: impl Into<String>,
    ) -> Result<Table> {
        let position = self.position(column)?;
        self.columns[position].name = name.into();
        let columns = std::mem::take(&mut self.columns);
        self.with_columns(columns)
    }

    /// The table without the rows in which any value is missing.
    ///
    /// Drop unused columns first: a row is removed even if its only missing value is in an unused
    /// column.
    pub fn drop_missing_rows(self) -> Table {
        let complete = |row: &usize| !self.columns.iter().any(|column| column.is_missing(*row));
        let rows: Vec<usize> = (0..self.rows).filter(complete).collect();
        self.take(&rows)
    }

    /// The rows with these positions (from 0), in this order. A row may occur more than once.
    ///
    /// # Errors
    /// [`DataError::NoSuchRow`].
    pub fn select_rows(&self, rows: &[usize]) -> Result<Table> {
        match rows.iter().find(|&&row| row >= self.rows) {
            Some(&row) => {
                Err(DataError::NoSuchRow { table: self.source.clone(), row, rows: self.rows })
            }
            None => Ok(self.take(rows)),
        }
    }

    fn take(&self, rows: &[usize]) -> Table {
        let columns = self.columns.iter().map(|column| column.take(rows)).collect();
        let lines = rows.iter().filter_map(|&row| self.line(row)).collect();
        let (notes, strays) = (self.notes.clone(), Vec::new());
        Table { source: self.source.clone(), rows: rows.len(), columns, lines, notes, strays }
    }

    /// One table with the rows of all `tables`, one table after the other. Categories are united.
    /// Lines are not kept.
    ///
    /// # Errors
    /// [`DataError::StackMismatch`] if their columns differ in number, name, order or kind;
    /// [`DataError::NoRows`] if there is no table.
    ///
    /// ```
    /// use nystrom_data::{Csv, Table};
    ///
    /// let parts = ["1,2\n", "3,4\n"]
    ///     .map(|text| Csv::new().names(["x", "y"]).read(text.as_bytes(), "part.csv").unwrap());
    /// assert_eq!(Table::stack(parts)?.numbers("x")?, [1.0, 3.0]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn stack(tables: impl IntoIterator<Item = Table>) -> Result<Table> {
        let mut tables = tables.into_iter();
        let mut all =
            tables.next().ok_or(DataError::NoRows { table: "stack of no tables".to_owned() })?;
        all.lines.clear();
        for table in tables {
            all.same_columns(&table)?;
            for (mine, theirs) in all.columns.iter_mut().zip(&table.columns) {
                mine.append(theirs);
            }
            all.rows += table.rows;
        }
        Ok(all)
    }

    /// Returns an error if the columns of `table` differ in number, name, order or kind.
    pub(crate) fn same_columns(&self, table: &Table) -> Result<()> {
        let describe = |column: Option<&Column>| match column {
            Some(column) => format!("{:?} ({})", column.name, column.kind()),
            None => "absent".to_owned(),
        };
        for position in 0..self.columns.len().max(table.columns.len()) {
            let [ours, theirs] = [self, table].map(|table| table.columns.get(position));
            if ours.zip(theirs).is_some_and(|(a, b)| a.name == b.name && a.kind() == b.kind()) {
                continue;
            }
            let (expected, found) = (describe(ours), describe(theirs));
            let (first, table) = (self.source.clone(), table.source.clone());
            return Err(DataError::StackMismatch { first, table, position, expected, found });
        }
        Ok(())
    }

    /// The table with its columns renamed to these names, in order.
    ///
    /// # Errors
    /// [`DataError::Length`] if the number of names is not that of the columns; that of
    /// [`Table::new`] if two names are equal.
    ///
    /// ```
    /// let table = nystrom_data::Csv::new().read("c1,c2\n1,2\n".as_bytes(), "t.csv")?;
    /// let table = table.with_names(["c2", "c1"])?;
    /// assert_eq!(table.numbers("c1")?, [2.0]);
    /// assert_eq!(table.line(0), Some(2));
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn with_names<S: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Table> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() != self.columns.len() {
            let what = format!("{}: names of the columns", self.source);
            let (expected, found) = (self.columns.len(), names.len());
            return Err(DataError::Length { what, expected, found });
        }
        let columns = std::mem::take(&mut self.columns).into_iter().zip(names);
        let columns = columns.map(|(column, name)| Column { name, ..column }).collect();
        self.with_columns(columns)
    }

    /// The table with the column at this position (from 0) replaced.
    ///
    /// # Errors
    /// [`DataError::UnknownColumn`] if there is no column at this position; those of
    /// [`Table::new`].
    ///
    /// ```
    /// use nystrom_data::{Column, Csv};
    ///
    /// let table = Csv::new().read("a,b\n1,2\n".as_bytes(), "t.csv")?;
    /// let table = table.with_column(0, Column::numbers("a", vec![7.0]))?;
    /// assert_eq!(table.numbers("a")?, [7.0]);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn with_column(mut self, position: usize, column: Column) -> Result<Table> {
        let position = self.position(position)?;
        let mut columns = std::mem::take(&mut self.columns);
        columns[position] = column;
        self.with_columns(columns)
    }

    /// The table with these columns instead; rows, lines and notes are kept.
    pub(crate) fn with_columns(self, columns: Vec<Column>) -> Result<Table> {
        Ok(Table { notes: self.notes, ..Table::with_lines(self.source, columns, self.lines)? })
    }

    /// The position of a column, from 0.
    pub(crate) fn position(&self, column: impl Into<ColumnRef>) -> Result<usize> {
        let wanted = column.into();
        wanted
            .position(self.names())
            .ok_or_else(|| unknown_column(&self.source, &wanted, self.names()))
    }
}

pub(crate) fn unknown_column<'a>(
    table: &str,
    wanted: &ColumnRef,
    names: impl ExactSizeIterator<Item = &'a str>,
) -> DataError {
    let (table, wanted, count) = (table.to_owned(), wanted.to_string(), names.len());
    DataError::UnknownColumn { table, wanted, count, available: list(names) }
}
