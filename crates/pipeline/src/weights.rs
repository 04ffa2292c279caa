//! Weights of rows.

use crate::error::{Error, Result};
use crate::fit::Fit;
use nystrom_data::Table;

/// Refuses weights that are all 0.
pub(crate) fn refuse_no_weight(table: &Table, name: &str) -> Result<()> {
    let values = table.numbers(name)?;
    if !values.is_empty() && values.iter().all(|v| *v == 0.0) {
        return Err(Error::values(name, "is 0 in every row", "weights must not all be 0"));
    }
    Ok(())
}

/// The weights of these rows, if the fit has weights; an error for a weight that is negative or not
/// finite. `place` describes a row of the table.
pub(crate) fn weights_of(
    fit: &Fit,
    table: &Table,
    rows: &[usize],
    place: fn(&Table, usize) -> String,
) -> Result<Option<Vec<f64>>> {
    let Some(name) = &fit.weights else { return Ok(None) };
    let values = table.numbers(name.as_str())?;
    let is_wrong = |row: &&usize| !(values[**row].is_finite() && values[**row] >= 0.0);
    match rows.iter().find(is_wrong) {
        None => Ok(Some(rows.iter().map(|&row| values[row]).collect())),
        Some(&row) if values[row].is_nan() => {
            let what = format!("misses its weight in {}", place(table, row));
            Err(Error::values(name, what, "fill it in, or leave out the row"))
        }
        Some(&row) => {
            let what = format!("has the weight {} in {}", values[row], place(table, row));
            Err(Error::values(name, what, "weights are positive"))
        }
    }
}
