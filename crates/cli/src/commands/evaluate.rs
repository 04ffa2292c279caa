//! `nystrom evaluate`.

use super::coverage::Covered;
use super::errors::ModelErrors;
use super::predict::{ERROR, ReadRows, describe};
use crate::args::Evaluate;
use crate::failure::{Result, data};
use crate::model_file;
use crate::session::Session;
use crate::summary::Summary;
use nystrom_pipeline::{Alone, Model};

/// The level of the intervals that are evaluated without `--interval`.
const USUAL_LEVEL: f64 = 0.9;

pub fn run(args: &Evaluate) -> Result<()> {
    let session = Session::of_model(&args.of, &Alone)?;
    let model = model_file::load(&args.of.model)?;
    let level = level(args, &model)?;
    let file = ReadRows::of(&model, &args.of.data, &[], &session)?;
    let predicted = file.predict(&model, (level, false), &session)?;
    let covered = level.map(|level| (level, predicted.covered()));
    let errors = predicted.errors(&model, None);
    report(args, &model, file.rows.len(), (errors, covered), &session)
}

/// The level of `--interval`; without the option 0.9, if the model has such intervals.
pub fn level(args: &Evaluate, model: &Model) -> Result<Option<f64>> {
    if let Some(level) = args.interval {
        model.has_intervals(level)?;
        return Ok(Some(level));
    }
    Ok(Some(USUAL_LEVEL).filter(|level| model.has_intervals(*level).is_ok()))
}

/// Prints the errors on `rows` rows, and the share of values in the intervals of a level. An error
/// if no row has a value of some target, or if a class was in no fitted row.
pub fn report(
    args: &Evaluate,
    model: &Model,
    rows: usize,
    (errors, covered): (ModelErrors, Option<(f64, Covered)>),
    session: &Session<'_>,
) -> Result<()> {
    if let Some(target) = errors.absent(model) {
        return Err(data(format!(
            "{}: no row has a value of the target {target:?} to compare with; use `predict`",
            args.of.data.data.display(),
        )));
    }
    if let ModelErrors::Classes(Err(error)) = errors {
        return Err(error.into());
    }
    let mut summary = Summary::of("evaluate");
    describe(model, rows, &mut summary);
    errors.report(model, ERROR, &mut summary);
    if let Some((level, covered)) = covered {
        covered.report(level, &model.output_names(), &mut summary);
    }
    summary.print(session, false)
}
