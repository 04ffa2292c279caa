//! `nystrom evaluate`.

use super::predict::{Predicted, predict, summarise};
use crate::args::Evaluate;
use crate::failure::{Failure, Result};
use crate::model_file;
use crate::session::Session;
use crate::summary::Summary;
use std::process::ExitCode;

pub fn run(args: &Evaluate) -> Result<ExitCode> {
    let session = Session::new(args.threads, args.json, args.quiet)?;
    let model = model_file::load(&args.model)?;
    let Predicted { values, rows, actual, .. } = predict(&model, &args.data, &session)?;
    let known = |actual: &Option<Vec<f64>>| {
        actual.as_ref().is_some_and(|actual| rows.iter().any(|&row| !actual[row].is_nan()))
    };
    if let Some((target, _)) = model.targets().iter().zip(&actual).find(|(_, a)| !known(a)) {
        let text = format!(
            "{}: the target {:?} is in no row, so that there is nothing to compare with; use \
             `predict`",
            args.data.data.display(),
            target.name
        );
        return Err(Failure::Data(text).into());
    }
    let mut summary = Summary::of("evaluate");
    summarise(&model, values.as_ref(), &rows, &actual, &mut summary)?;
    summary.print(&session, false)?;
    Ok(ExitCode::SUCCESS)
}
