//! Tables as data: columns with units, and rows of cells.

use serde::{Deserialize, Serialize};

/// A table with a title, columns that carry units, and rows of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Table {
    /// An identifier of lower-case letters, digits and `-`: usable as a file name, and unique among
    /// the plots and tables of a page.
    pub id: String,
    /// The caption.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A deserialised [`Table`] before the lengths of its rows are checked.
#[derive(Deserialize)]
struct Stored {
    id: String,
    title: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl TryFrom<Stored> for Table {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { id, title, columns, rows } = stored;
        match rows.iter().find(|row| row.len() != columns.len()) {
            None => Ok(Table { id, title, columns, rows }),
            Some(row) => {
                let (got, want) = (row.len(), columns.len());
                Err(format!("table `{id}`: a row of {got} cells under {want} columns"))
            }
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(id: &str, title: &str, columns: impl IntoIterator<Item = Column>) -> Self {
        Table {
            id: id.into(),
            title: title.into(),
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the number of cells is not the number of columns.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = row.into_iter().collect();
        let (got, want) = (row.len(), self.columns.len());
        assert_eq!(got, want, "table `{}`: a row of {got} cells under {want} columns", self.id);
        self.rows.push(row);
    }
}

/// A column of a table: its name, its unit and the origin of its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// The unit, such as `s` or `MB`; empty for pure numbers and for text.
    pub unit: String,
    /// Whether the values are printed in a paper. Such columns look different from measured ones.
    pub from_paper: bool,
}

impl Column {
    /// A column of pure numbers or of text.
    pub fn new(name: &str) -> Self {
        Column { name: name.into(), unit: String::new(), from_paper: false }
    }

    /// A column of quantities with a unit.
    pub fn with_unit(name: &str, unit: &str) -> Self {
        Column { name: name.into(), unit: unit.into(), from_paper: false }
    }

    /// A column of values printed in the paper.
    pub fn paper(name: &str) -> Self {
        Column { name: name.into(), unit: String::new(), from_paper: true }
    }
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number. It is stored in full precision and shown as [`number`](crate::number::number)
    /// writes it, NaN and infinities included.
    Number(#[serde(with = "crate::number::lossless")] f64),
    /// No value: not measured, or not printed in the paper.
    Missing,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Cell::Number(value)
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Cell::Number(value as f64)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Missing, Into::into)
    }
}
