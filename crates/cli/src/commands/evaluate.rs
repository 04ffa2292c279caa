//! `nystrom evaluate`.

use super::errors::ModelErrors;
use super::predict::{ERROR, Rows, describe};
use crate::args::Evaluate;
use crate::failure::{Failure, Result, of_pipeline};
use crate::model_file;
use crate::session::Session;
use crate::summary::Summary;
use nystrom_pipeline::Model;

pub fn run(args: &Evaluate) -> Result<()> {
    let session = Session::new(args.threads, args.json, args.quiet)?;
    let model = model_file::load(&args.model)?;
    let file = Rows::of(&model, &args.data, &[], &session)?;
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
    session: &Session,
) -> Result<()> {
    if let Some(target) = errors.absent(model) {
        let text = format!(
            "{}: no row has a value of the target {target:?} to compare with; use `predict`",
            args.data.data.display(),
        );
        return Err(Failure::Data(text).into());
    }
    if let ModelErrors::Classes(Err(error)) = errors {
        return Err(of_pipeline(error));
    }
    let mut summary = Summary::of("evaluate");
    describe(model, rows, &mut summary);
    errors.report(model, ERROR, &mut summary);
    summary.print(session, false)
}
