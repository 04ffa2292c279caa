//! `nystrom predict`.

use super::evaluate::Errors;
use crate::args::Predict;
use crate::diagnosis::Use;
use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::model_file::ModelFile;
use crate::output::{Columns, LINE, Values, check_writable};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::faer::{Mat, MatRef};
use nystrom::prelude::*;
use std::process::ExitCode;

pub fn run(args: &Predict) -> Result<ExitCode> {
    let session = Session::new(args.threads, args.json, args.quiet)?;
    check_writable(&args.output, &[&args.model, &args.data.data])?;
    let saved = ModelFile::load(&args.model)?;
    session.progress.stage("reading", None);
    let input = Input::read(&args.data, libsvm_features(&saved.columns))?;
    let (features, target) = arrange(&input, &saved)?;
    let instead = "the model was fitted to them, so correct the file";
    let rows = input.rows(Use { features: &[], needed: &features, instead }, &args.data)?;
    let x = input.matrix(&features, &rows);
    let x = match &saved.standardization {
        Some(scaling) => scaling.transform(x.as_ref())?,
        None => x,
    };

    session.progress.stage("predicting", Some((x.nrows() * saved.model.centers().len()) as f64));
    let predicted = saved.model.predict(Points::from_rows(x.as_ref()))?;
    session.progress.clear();
    let column: Vec<f64> = predicted.col(0).iter().copied().collect();
    let lines = input.lines(&rows);
    let columns = match args.data.drop_missing {
        true => vec![
            ("row", Values::Counts(&rows)),
            (LINE, Values::Counts(&lines)),
            ("prediction", Values::Numbers(&column)),
        ],
        false => vec![("prediction", Values::Numbers(&column))],
    };
    Columns(columns).write(&args.output, &session)?;

    let mut summary = Summary::of("predict");
    summary.line("predicted", format!("{:?} for {}", saved.target, text::count(x.nrows(), "row")));
    summary.value("target", &saved.target);
    summary.value("rows", x.nrows());
    if let Some(actual) = target.and_then(|target| input.numbers(target)) {
        report(actual, &rows, predicted.as_ref(), &mut summary)?;
    }
    if args.output.is_stdout() {
        summary.value("row", &rows);
        summary.value("predictions", &column);
    }
    summary.written(&args.output);
    summary.print(&session, args.output.is_stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// The error on the rows whose target is known, if there are any.
fn report(
    actual: &[f64],
    rows: &[usize],
    predicted: MatRef<'_, f64>,
    summary: &mut Summary,
) -> Result<()> {
    let known: Vec<usize> = (0..rows.len()).filter(|&i| !actual[rows[i]].is_nan()).collect();
    if known.is_empty() {
        return Ok(());
    }
    let y = Mat::from_fn(known.len(), 1, |i, _| actual[rows[known[i]]]);
    let f = Mat::from_fn(known.len(), 1, |i, _| predicted[(known[i], 0)]);
    Errors::of(f.as_ref(), y.as_ref())?.report("error", "error", summary);
    Ok(())
}

/// The columns with the features in the order of the model, and that with the target if there is
/// one.
///
/// By name; where a file has no names by position, if it has as many columns as the file that was
/// fitted, as many without the target, or as many as there are features.
fn arrange(input: &Input, saved: &ModelFile) -> Result<(Vec<usize>, Option<usize>)> {
    let without_target =
        || saved.columns.iter().filter(|name| **name != saved.target).cloned().collect();
    let count = input.names().len();
    let layout: Option<Vec<String>> = match input.named {
        true => None,
        false if count == saved.columns.len() => Some(saved.columns.clone()),
        false if count + 1 == saved.columns.len() => Some(without_target()),
        false if count == saved.features.len() => Some(saved.features.clone()),
        false => None,
    };
    let find = |name: &String| match &layout {
        Some(layout) => {
            layout.iter().position(|other| other == name).and_then(|place| input.at(place))
        }
        None => input.find(name),
    };
    let absent: Vec<String> = saved
        .features
        .iter()
        .filter(|name| find(name).is_none())
        .map(|name| format!("{name:?}"))
        .collect();
    if !absent.is_empty() {
        let names: Vec<String> =
            input.names().into_iter().map(|name| format!("{name:?}")).collect();
        let text = format!(
            "{}: the model needs {}, which the file lacks; it has {}",
            input.source(),
            some(&absent),
            some(&names)
        );
        return Err(Failure::Data(text).into());
    }
    Ok((saved.features.iter().filter_map(find).collect(), find(&saved.target)))
}

/// The first of these names, and how many more there are.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// How many features a libsvm file has to show, for a model fitted to one: its last ones may not
/// occur in other files.
fn libsvm_features(columns: &[String]) -> usize {
    let index = |name: &String| name.strip_prefix('f')?.parse::<usize>().ok();
    columns.iter().filter_map(index).max().unwrap_or(0)
}
