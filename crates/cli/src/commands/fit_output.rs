//! The outputs of a fit: the model, the summary, and with `--report` an HTML page.

use super::predict::Predicted;
use crate::args::{FitArgs, Output};
use crate::failure::{NOT_CONVERGED, Result, usage};
use crate::output::{check_stdout, check_writable, place, write};
use crate::session::Session;
use crate::summary::Summary;
use crate::text;
use nystrom::linalg_core::random;
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_page::FitPage;
use nystrom_pipeline::{Compared, Explanation, Model, Validation};
use std::path::Path;

/// The operations that the explanation of a fit without a search may take.
const WORK: f64 = 2e10;

/// Refuses a model or report that cannot be written or would overwrite another file, and two
/// results on the same standard output.
pub fn check(args: &FitArgs, session: &Session<'_>) -> Result<()> {
    let output = args.output();
    check_stdout(output, args.run.json && !args.plan)?;
    check_writable(output, &[&args.data.data], session)?;
    let Some(path) = &args.report else { return Ok(()) };
    if Output::from(path.clone().into_os_string()).is_stdout() {
        return Err(usage("--report needs a file: standard output is for the summary"));
    }
    let others: Vec<&Path> =
        [Some(&*args.data.data), output.file()].into_iter().flatten().collect();
    if others.iter().any(|other| place(other) == place(path)) {
        return Err(usage(format!(
            "{}: the report would overwrite the data or the model; name another file",
            path.display()
        )));
    }
    check_writable(&Output::File(path.clone()), &others, session)
}

/// Adds the file of the model, its `size` in bytes and `more` about it.
pub fn describe(args: &FitArgs, size: u64, more: &str, summary: &mut Summary) {
    let output = args.output().to_string();
    summary.line("model", format!("{output}, {}{more}", text::bytes(size)));
    summary.value("model", output);
    summary.value("seed", args.run.seed);
}

/// Prints the summary and the warning about a fit that did not converge; returns the exit status.
pub fn finish(
    args: &FitArgs,
    summary: Summary,
    warning: Option<String>,
    session: &Session<'_>,
) -> Result<u8> {
    summary.print(session, args.output().is_stdout())?;
    warning.iter().for_each(|text| session.warn(text));
    Ok(warning.map_or(0, |_| NOT_CONVERGED))
}

/// Writes the page, if `--report` is given.
pub fn write_page(args: &FitArgs, page: FitPage<'_>, summary: &mut Summary) -> Result<()> {
    let Some(path) = &args.report else { return Ok(()) };
    let report = Output::File(path.clone());
    write(&report, page.html().as_bytes())?;
    summary.line("report", report.to_string());
    summary.value("report", report.to_string());
    Ok(())
}

/// The explanation of a model that was fitted without a search, from some of the rows; `None` if
/// it cannot be explained.
pub fn explain(model: &Model, table: &Table, seed: u64) -> Result<Option<Explanation>> {
    if model.check_explains().is_err() {
        return Ok(None);
    }
    let n = table.rows();
    let count = model.rows_to_explain(WORK).min(n);
    // a separate generator, so that the fit draws the same numbers with and without an explanation
    let rows = random::uniform_subset(n, count, &mut Pcg64::seed_from_u64(seed))?;
    let explanation = model.explain(&table.select_rows(&rows)?)?;
    Ok(Some(explanation).filter(Explanation::is_finite))
}

/// The rows that were held out, with their predictions.
pub fn held_out(target: &str, predicted: &Predicted) -> Validation {
    let predictions = predicted.values.col(0).iter().copied();
    let actual = predicted.actual.first().cloned().flatten().unwrap_or_default();
    let known = actual.iter().copied().zip(predictions).filter(|(actual, _)| !actual.is_nan());
    let (actual, predicted): (Vec<f64>, Vec<f64>) = known.unzip();
    let rows = actual.len();
    let compared = Compared { target: target.to_owned(), actual, predicted };
    Validation {
        rows,
        folds: 1,
        split: "held out".to_owned(),
        targets: vec![compared],
        classes: None,
    }
}
