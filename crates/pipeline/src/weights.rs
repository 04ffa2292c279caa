//! Weights of rows.

use crate::error::{Error, Result, place};
use nystrom_data::Table;

/// Refuses weights that are all 0.
pub(crate) fn refuse_no_weight(table: &Table, name: &str) -> Result<()> {
    let values = table.numbers(name)?;
    if !values.is_empty() && values.iter().all(|v| *v == 0.0) {
        return Err(Error::values(name, "is 0 in every row", "weights must not all be 0"));
    }
    Ok(())
}

/// Weights of mean 1.
///
/// # Errors
/// Those of [`check_weights`].
pub(crate) fn weights(table: &Table, name: &str) -> Result<Vec<f64>> {
    let values = table.numbers(name)?;
    check_weights(name, values, |row| place(table, row))?;
    // with mean 1, so that λ means the same with and without
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Ok(values.iter().map(|w| w / mean).collect())
}

/// Refuses weights that are negative or not finite; `place` says where one is.
pub(crate) fn check_weights(
    name: &str,
    weights: &[f64],
    place: impl Fn(usize) -> String,
) -> Result<()> {
    match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        None => Ok(()),
        Some(i) if weights[i].is_nan() => {
            let what = format!("misses its weight in {}", place(i));
            Err(Error::values(name, what, "fill it in, or leave out the row"))
        }
        Some(i) => {
            let what = format!("has the weight {} in {}", weights[i], place(i));
            Err(Error::values(name, what, "weights are positive"))
        }
    }
}
