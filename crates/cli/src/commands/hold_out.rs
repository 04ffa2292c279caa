//! `--hold-out`.

use super::predict::Predicted;
use crate::failure::{Result, of_pipeline};
use crate::summary::Summary;
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{Fit, Model};

/// The rows to fit, and those held out; both keep the order of the file.
pub fn split(
    fit: &Fit,
    table: Table,
    targets: &[String],
    share: Option<f64>,
    rng: &mut dyn Rng,
) -> Result<(Table, Option<Table>)> {
    let Some(share) = share else { return Ok((table, None)) };
    let fold = fit.hold_out(&table, targets, share, rng).map_err(of_pipeline)?;
    Ok((table.select_rows(&fold.train)?, Some(table.select_rows(&fold.validation)?)))
}

/// The predictions of rows that were held out; their errors are reported, by weight if the fit was.
pub fn report(fit: &Fit, model: &Model, table: &Table, summary: &mut Summary) -> Result<Predicted> {
    let predicted = Predicted::of(model, table, (None, false))?;
    let weights = fit.weights.as_ref().map(|name| table.numbers(name.as_str())).transpose()?;
    predicted.errors(model, weights)?.report(model, ("held out", "held_out", "held_out"), summary);
    Ok(predicted)
}
