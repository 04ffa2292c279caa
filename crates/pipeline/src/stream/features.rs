//! The features of a block.

use super::first_pass::place;
use crate::columns::{Applied, Columns, Known};
use crate::error::{self, Error, Result};
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

/// An error with the line and the file of the first row that has it.
fn placed(first: Error, columns: &Columns, table: &Table) -> Error {
    for row in 0..table.rows() {
        let Ok(alone) = table.select_rows(&[row]) else { continue };
        let here = place(table, row);
        match columns.apply(&alone) {
            Err(Error::Values { column, what, remedy }) => {
                let what = what.replace(&error::place(&alone, 0), &here);
                return Error::Values { column, what, remedy };
            }
            Err(Error::Fingerprint { column, problem, .. }) => {
                return Error::Fingerprint { column, place: here, problem };
            }
            _ => {}
        }
    }
    first
}
