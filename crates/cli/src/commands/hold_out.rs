//! `--hold-out`.

use super::predict::Predicted;
use crate::failure::Result;
use crate::summary::Summary;
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{Fit, Model};

/// The rows that were held out, and their weights if the fit has weights.
pub struct HeldOut {
    table: Table,
    weights: Option<Vec<f64>>,
}

/// The rows to fit, and the rows held out, both in the order of the file.
pub fn split(
    fit: &Fit,
    table: Table,
    targets: &[String],
    share: Option<f64>,
    rng: &mut dyn Rng,
) -> Result<(Table, Option<HeldOut>)> {
    let Some(share) = share else { return Ok((table, None)) };
    let fold = fit.hold_out(&table, targets, share, rng)?;
    let weights = fit.weights_of(&table)?;
    let weights = weights.map(|w| fold.validation.iter().map(|&row| w[row]).collect());
    let held_out = HeldOut { table: table.select_rows(&fold.validation)?, weights };
    Ok((table.select_rows(&fold.train)?, Some(held_out)))
}

/// Predicts the rows that were held out and adds the errors, weighted if the fit was weighted.
pub fn report(model: &Model, held_out: &HeldOut, summary: &mut Summary) -> Result<Predicted> {
    let predicted = Predicted::of(model, &held_out.table, (None, false))?;
    let errors = predicted.errors(model, held_out.weights.as_deref());
    errors.report(model, ("held out", "held_out", "held_out"), summary);
    Ok(predicted)
}
