//! Columns of a table, to which the row groups of a Parquet file are appended.

use parquet::data_type::ByteArray;
use parquet::schema::types::ColumnDescriptor;

use crate::builder::ColumnBuilder;
use crate::column::Column;
use crate::doubts::Doubts;
use crate::error::Problem;
use crate::parquet_type::Holds;
use crate::parquet_values::Values;

/// A column to which row groups are appended, and the number of its last row, from 1.
pub(crate) enum Growing {
    /// As many columns as a list has numbers; one without lists.
    Numbers {
        columns: Vec<(Vec<f64>, Doubts)>,
        is_list: bool,
        rows: u64,
    },
    Text {
        column: ColumnBuilder,
        rows: u64,
    },
}

impl Growing {
    /// An empty column, which begins after `rows` rows of the file.
    pub fn new(
        (column, holds, list): (&ColumnDescriptor, Holds, Option<usize>),
        rows: u64,
    ) -> Self {
        if holds.is_text() {
            return Growing::Text { column: ColumnBuilder::text(column.path().string()), rows };
        }
        let columns = vec![Default::default(); list.unwrap_or(1)];
        Growing::Numbers { columns, is_list: list.is_some(), rows }
    }

    /// Appends the values of a row group. An error has the row of the wrong value, from 1.
    pub fn push(&mut self, values: Values) -> std::result::Result<(), (u64, Problem)> {
        match (self, values) {
            (Growing::Numbers { columns, rows, .. }, Values::Numbers(values)) => {
                for row in values.chunks_exact(columns.len()) {
                    *rows += 1;
                    for ((numbers, doubts), value) in columns.iter_mut().zip(row) {
                        numbers.push(value.map_or(f64::NAN, |value| doubts.finite(value, *rows)));
                    }
                }
                Ok(())
            }
            (Growing::Numbers { rows, .. }, Values::Ragged(row)) => {
                let holds = "lists of different lengths".to_owned();
                Err((*rows + row as u64 + 1, Problem::ParquetType { holds }))
            }
            (Growing::Text { column, rows }, Values::Text(values)) => {
                for value in values {
                    *rows += 1;
                    let text = value.as_ref().map(ByteArray::as_utf8).transpose();
                    let text = text
                        .map_err(|error| (*rows, Problem::Parquet { reason: error.to_string() }))?;
                    column.push(text).map_err(|problem| (*rows, problem))?;
                }
                Ok(())
            }
            _ => Err((
                1,
                Problem::Parquet { reason: "its type differs between row groups".to_owned() },
            )),
        }
    }

    /// The columns; those of lists are named by their first part and a number from 0.
    pub fn finish(self, column: &ColumnDescriptor) -> Vec<(Column, Doubts)> {
        let (path, root) = (column.path().string(), &column.path().parts()[0]);
        match self {
            Growing::Text { column, .. } => vec![(column.finish(), Doubts::default())],
            Growing::Numbers { columns, is_list, .. } => {
                let name = |i: usize| if is_list { format!("{root}[{i}]") } else { path.clone() };
                let columns = columns.into_iter().enumerate();
                columns.map(|(i, (x, doubts))| (Column::numbers(name(i), x), doubts)).collect()
            }
        }
    }

    /// The number of rows appended, and those before.
    pub fn rows(&self) -> u64 {
        match self {
            Growing::Numbers { rows, .. } | Growing::Text { rows, .. } => *rows,
        }
    }
}
