//! The one form in which any table can be kept: CSV whose numbers read back to the bit.

use std::path::PathBuf;

use super::Entry;
use crate::column::Cell;
use crate::{Csv, Format, Table};

/// The reader of what [`Table::to_csv`] writes: a header, columns of numbers or text, empty fields
/// for missing values.
pub(super) fn format() -> Format {
    Format::Csv(Csv::new().missing([""]).infer_text())
}

impl Entry {
    /// Where a copy in another packing is kept: one CSV of all columns, below the folder of all
    /// data sets.
    ///
    /// With or without `.gz` at the end. [`locate`](super::locate) looks there if the files of the
    /// catalog are absent.
    pub fn canonical_path(&self) -> PathBuf {
        PathBuf::from(self.name).join("table.csv.gz")
    }
}

impl Table {
    /// The table as CSV: a header, commas, lines that end in `\n`. Each number is the shortest text
    /// that reads back to the same bits. A missing value is an empty field; text is quoted
    /// where it has to be.
    ///
    /// Read it with `Csv::new().missing([""]).infer_text()`, which takes text for numbers where it
    /// looks like them. O(n·d) time; the whole text is returned.
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
                    // a blank line is no row
                    Cell::Missing if self.columns().len() == 1 => text += "\"\"",
                    Cell::Missing => {}
                }
            }
            text.push('\n');
        }
        text
    }
}

/// The shorter of `0.001` and `1e-3`.
fn shortest(value: f64) -> String {
    let (plain, exponent) = (value.to_string(), format!("{value:e}"));
    if exponent.len() < plain.len() { exponent } else { plain }
}

/// A field as it stands in the file.
fn quoted(field: &str) -> String {
    let plain = !field.contains([',', '"', '\n', '\r']) && field.trim() == field;
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}
