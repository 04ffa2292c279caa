//! `--report`: the HTML page about a fit.

use super::predict::Predicted;
use crate::args::{Fit, Output};
use crate::failure::{Failure, Result, of_pipeline};
use crate::summary::Summary;
use nystrom::linalg_core::random;
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_page::FitPage;
use nystrom_pipeline::{Compared, Explanation, Model, Validation};
use std::path::{Path, PathBuf};

/// The operations that the explanation of a fit without a search may take.
const WORK: f64 = 2e10;

/// Refuses a report file that cannot be written, or that is the data or the model file.
pub fn check(args: &Fit, output: &Output) -> Result<()> {
    let Some(path) = &args.report else { return Ok(()) };
    if Output::from(path.clone().into_os_string()).is_stdout() {
        let text = "--report needs a file: standard output is for the summary";
        return Err(Failure::Usage(text.into()).into());
    }
    let others: Vec<&Path> =
        [Some(&*args.data.data), output.file()].into_iter().flatten().collect();
    if others.iter().any(|other| place(other) == place(path)) {
        let text = format!(
            "{}: the report would overwrite the data or the model; name another file",
            path.display()
        );
        return Err(Failure::Usage(text).into());
    }
    crate::output::check_writable(&Output::File(path.clone()), &others)
}

/// The canonical path of a file, which need not exist.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    folder.map_or_else(
        |_| path.to_owned(),
        |folder| folder.join(path.file_name().unwrap_or_default()),
    )
}

/// Writes the page, if `--report` is given.
pub fn write(args: &Fit, page: FitPage<'_>, summary: &mut Summary) -> Result<()> {
    let Some(path) = &args.report else { return Ok(()) };
    crate::output::write(path, page.html().as_bytes())?;
    summary.line("report", path.display().to_string());
    summary.value("report", path.display().to_string());
    Ok(())
}

/// The explanation of a model that was fitted without a search, from some of the rows.
pub fn explain(model: &Model, table: &Table, seed: u64) -> Result<Option<Explanation>> {
    let n = table.rows();
    let count = model.rows_to_explain(WORK).min(n);
    // a separate generator, so that the fit draws the same numbers with and without an explanation
    let rows = random::uniform_subset(n, count, &mut Pcg64::seed_from_u64(seed))?;
    let explanation = model.explain(&table.select_rows(&rows)?).map_err(of_pipeline)?;
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
