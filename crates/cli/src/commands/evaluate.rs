//! `nystrom evaluate`.

use super::errors::ModelErrors;
use super::predict::{ERROR, ReadRows, describe};
use crate::args::Evaluate;
use crate::failure::{Result, data};
use crate::model_file;
use crate::session::Session;
use crate::summary::Summary;
use nystrom_pipeline::{Alone, Model};

pub fn run(args: &Evaluate) -> Result<()> {
    let session = Session::of_model(&args.of, &Alone)?;
    let model = model_file::load(&args.of.model)?;
    let file = ReadRows::of(&model, &args.of.data, &[], &session)?;
    let predicted = file.predict(&model, (None, false), &session)?;
    report(args, &model, file.rows.len(), predicted.errors(&model, None)?, &session)
}

/// Prints the errors on `rows` rows. An error if no row has a value of some target, or if a class
/// was in no fitted row.
pub fn report(
    args: &Evaluate,
    model: &Model,
    rows: usize,
    errors: ModelErrors,
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
    summary.print(session, false)
}
