//! The page of a fit, `--report`.

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

/// Operations that explaining a fit may take if there was no search.
const WORK: f64 = 2e10;

/// Refuses a file that cannot be written, or that is the data or the model.
pub fn check(args: &Fit, output: &Output) -> Result<()> {
    let Some(path) = &args.report else { return Ok(()) };
    if Output::from(path.clone().into_os_string()).is_stdout() {
        let text = "--report needs a file: standard output takes the summary";
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

/// The file that a path leads to, there or not.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    folder.map_or_else(
        |_| path.to_owned(),
        |folder| folder.join(path.file_name().unwrap_or_default()),
    )
}

/// Writes the page, if one was asked for.
pub fn write(args: &Fit, page: FitPage<'_>, summary: &mut Summary) -> Result<()> {
    let Some(path) = &args.report else { return Ok(()) };
    crate::output::write(path, page.html().as_bytes())?;
    summary.line("report", path.display().to_string());
    summary.value("report", path.display().to_string());
    Ok(())
}

/// What a model that was told how to fit makes of its columns, at some of the rows.
pub fn explain(model: &Model, table: &Table, seed: u64) -> Result<Option<Explanation>> {
    let n = table.rows();
    let count = model.rows_to_explain(WORK).min(n);
    // a stream of its own, so that the fit draws the same with and without
    let rows = random::uniform_subset(n, count, &mut Pcg64::seed_from_u64(seed))?;
    let explanation = model.explain(&table.select_rows(&rows)?).map_err(of_pipeline)?;
    Ok(Some(explanation).filter(Explanation::is_finite))
}

/// Rows that were held out, with their predictions.
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
