//! The columns of a table that a text names, by name or number.

use crate::args::list;
use crate::failure::Result;
use nystrom_data::Table;

/// The columns that a comma-separated list names. If the whole text is the name of a column, it is
/// that column.
pub fn columns(table: &Table, text: &str) -> Result<Vec<usize>> {
    match one_column(table, text) {
        Ok(column) => Ok(vec![column]),
        Err(_) => list(text).iter().map(|item| one_column(table, item)).collect(),
    }
}

/// The position of the column `text`: its name, else its number from 1, or from −1 backwards.
pub fn one_column(table: &Table, text: &str) -> Result<usize> {
    let count = table.names().len();
    let place = match (table.names().position(|name| name == text), text.parse::<i64>()) {
        (Some(position), _) => return Ok(position),
        (None, Ok(k)) if k > 0 => usize::try_from(k - 1).ok(),
        (None, Ok(k)) if k < 0 => {
            usize::try_from(k.unsigned_abs()).ok().and_then(|k| count.checked_sub(k))
        }
        _ => None,
    };
    match place.filter(|&place| place < count) {
        Some(place) => Ok(place),
        None => Ok(table.column(text).map(|_| 0)?), // the error that lists the names
    }
}
