//! `nystrom predict`.

use super::evaluate::Errors;
use crate::args::Predict;
use crate::failure::Result;
use crate::input::{Input, Scaling};
use crate::model_file::ModelFile;
use crate::output::{Columns, Values, check_writable};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::faer::Mat;
use nystrom::prelude::*;
use std::process::ExitCode;

pub fn run(args: &Predict) -> Result<ExitCode> {
    let session = Session::new(args.threads, args.json, args.quiet)?;
    check_writable(args.output.as_ref())?;
    let saved = ModelFile::load(&args.model)?;
    session.progress.stage("reading", None);
    let input = Input::read(&args.data, libsvm_features(&saved.features))?;
    let (input, has_target) = arrange(input, &saved)?;
    let input = input.drop_missing(&args.data)?;
    let all = input.table.matrix()?;
    let d = saved.features.len();
    let x = Scaling::apply(saved.standardization.as_ref(), all.subcols(0, d).to_owned())?;

    session.progress.stage("predicting", Some((x.nrows() * saved.model.centers().len()) as f64));
    let predicted = saved.model.predict(Points::from_rows(x.as_ref()))?;
    session.progress.clear();
    let column: Vec<f64> = predicted.col(0).iter().copied().collect();
    let columns = match args.data.drop_missing {
        true => vec![("row", Values::Counts(&input.rows)), ("prediction", Values::Numbers(&column))],
        false => vec![("prediction", Values::Numbers(&column))],
    };
    Columns(columns).write(args.output.as_deref(), &session)?;

    let mut summary = Summary::default();
    summary.line("predicted", format!("{:?} for {}", saved.target, text::count(x.nrows(), "row")));
    summary.value("target", &saved.target);
    summary.value("rows", x.nrows());
    if has_target {
        let actual: Mat<f64> = all.subcols(d, 1).to_owned();
        Errors::of(predicted.as_ref(), actual.as_ref())?.report("error", "error", &mut summary);
    }
    if let Some(output) = &args.output {
        summary.line("written", output.display().to_string());
        summary.value("output", output);
    }
    summary.print(&session, args.output.is_none())?;
    Ok(ExitCode::SUCCESS)
}

/// The features in the order of the model, then the target if it is there.
///
/// By name, or by position where the file has no names: d columns are the features, d + 1 those of the file that was fitted.
fn arrange(input: Input, saved: &ModelFile) -> Result<(Input, bool)> {
    let names: Vec<String> = input.table.names().map(str::to_owned).collect();
    let d = saved.features.len();
    let mut wanted = match (input.named, names.len()) {
        (false, count) if count == d => names.clone(),
        (false, count) if count == d + 1 => {
            let mut names = names.clone();
            let target = names.remove(saved.target_position);
            names.push(target);
            names
        }
        _ => saved.features.clone(),
    };
    let by_name = wanted.len() == d && names.contains(&saved.target) && !wanted.contains(&saved.target);
    if by_name {
        wanted.push(saved.target.clone());
    }
    let has_target = wanted.len() == d + 1;
    Ok((input.select(&wanted)?, has_target))
}

/// How many features a libsvm file has to show, for a model fitted to one: its last ones may not occur in other files.
fn libsvm_features(features: &[String]) -> Option<usize> {
    let index = |name: &String| name.strip_prefix('f')?.parse::<usize>().ok();
    features.iter().map(index).collect::<Option<Vec<usize>>>()?.into_iter().max()
}
