//! The features of a block.

use super::first_pass::place;
use crate::columns::{Applied, Columns, Known};
use crate::error::{Error, Result};
use nystrom_data::Table;

/// The features of the rows of a block, n × d, with notes about unexpected cells; `own` are their
/// targets if the rows are fitted. An error names the line.
pub(super) fn features(
    columns: &Columns,
    block: &Table,
    own: Option<Known<'_>>,
) -> Result<Applied> {
    columns.apply_to(block, own).map_err(|error| placed(error, columns, block))
}

/// An error with the line of the first row that has it.
fn placed(error: Error, columns: &Columns, table: &Table) -> Error {
    for row in 0..table.rows() {
        let alone = table.select_rows(&[row]).map_err(Error::from);
        let applied = alone.and_then(|alone| columns.apply(&alone));
        if let Err(Error::Values { column, what, remedy }) = applied {
            let what = what.replace("in row 1", &format!("in {}", place(table, row)));
            return Error::Values { column, what, remedy };
        }
    }
    error
}
