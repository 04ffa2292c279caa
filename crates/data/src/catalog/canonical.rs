//! The canonical form of a table: CSV whose numbers read back to the same bits.

use std::path::PathBuf;

use super::Entry;
use crate::column::Cell;
use crate::{Csv, Format, Table};

/// The reader for the output of [`Table::to_csv`]: a header, columns of numbers or text, empty
/// fields for missing values.
pub(super) fn format() -> Format {
    Format::Csv(Csv::new().missing([""]).infer_text())
}

impl Entry {
    /// The path, below the folder of all data sets, of a copy in the canonical form: one CSV file
    /// of all columns.
    ///
    /// The file may be named with or without `.gz`. [`locate`](super::locate) looks for it if the
    /// files of the catalog are absent.
    pub fn canonical_path(&self) -> PathBuf {
        PathBuf::from(self.name).join("table.csv.gz")
    }
}

impl Table {
    /// The table as CSV: a header, commas, lines that end in `\n`. Each number is the shortest text
    /// that reads back to the same bits. A missing value is an empty field. Text is quoted where
    /// necessary.
    ///
    /// Read it with `Csv::new().missing([""]).infer_text()`. A column of text whose first value
    /// looks like a number is then read as numbers. O(n·d) time; memory for the whole text.
    ///
    /// ```
    /// use nystrom_data::Csv;
    ///
    /// let reader = Csv::new().missing([""]).infer_text();
    /// let table = reader.read("wind,\"PM2.5, hourly\"\nN,0.10\n,1e-7\n".as_bytes(), "air.csv")?;
    /// let text = table.to_csv();
    /// assert_eq!(text, "wind,\"PM2.5, hourly\"\nN,0.1\n,1e-7\n");
    /// assert_eq!(reader.read(text.as_bytes(), "air.csv")?, table);
    /// # Ok::<(), nystrom_data::DataError>(())
    /// ```
    pub fn to_csv(&self) -> String {
        let mut text = self.names().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        for row in 0..self.rows() {
            for (j, cell) in self.row(row).enumerate() {
                let comma = if j == 0 { "" } else { "," };
                text += comma;
                match cell {
                    Cell::Number(value) => text += &shortest(value),
                    Cell::Text(value) => text += &quoted(value),
                    // a blank line would not be a row
                    Cell::Missing if self.columns().len() == 1 => text += "\"\"",
                    Cell::Missing => {}
                    Cell::Sparse(..) => text += &quoted(&cell.to_string()),
                }
            }
            text.push('\n');
        }
        text
    }
}

/// The shorter of the plain and the exponential form, such as `0.001` and `1e-3`.
fn shortest(value: f64) -> String {
    let (plain, exponent) = (value.to_string(), format!("{value:e}"));
    if exponent.len() < plain.len() { exponent } else { plain }
}

/// A field as written in the file, in quotes where necessary.
fn quoted(field: &str) -> String {
    let plain = !field.contains([',', '"', '\n', '\r']) && field.trim() == field;
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}
