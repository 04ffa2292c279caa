//! `nystrom evaluate`.

use super::predict::{Predicted, predict, summarise};
use crate::args::Evaluate;
use crate::failure::{Failure, Result, of_pipeline};
use crate::model_file;
use crate::session::Session;
use crate::summary::Summary;
use std::process::ExitCode;

pub fn run(args: &Evaluate) -> Result<ExitCode> {
    let session = Session::new(args.threads, args.json, args.quiet)?;
    let model = model_file::load(&args.model)?;
    let predicted = predict(&model, &args.data, (None, false), &session)?;
    let Predicted { rows, actual, named, .. } = &predicted;
    let known = |actual: &Option<Vec<f64>>| {
        actual.as_ref().is_some_and(|actual| rows.iter().any(|&row| !actual[row].is_nan()))
    };
    let absent = match (model.classes(), named) {
        (Some(_), Some(named)) if named.0.iter().any(Option::is_some) => None,
        (Some(classes), _) => Some(&classes.target),
        (None, _) => {
            let mut of_targets = model.targets().iter().zip(actual);
            of_targets.find(|(_, actual)| !known(actual)).map(|(target, _)| &target.name)
        }
    };
    if let Some(target) = absent {
        let text = format!(
            "{}: the target {target:?} is in no row, so that there is nothing to compare with; use \
             `predict`",
            args.data.data.display(),
        );
        return Err(Failure::Data(text).into());
    }
    predicted.class_errors(&model).map_err(of_pipeline)?;
    let mut summary = Summary::of("evaluate");
    summarise(&model, &predicted, &mut summary)?;
    summary.print(&session, false)?;
    Ok(ExitCode::SUCCESS)
}
