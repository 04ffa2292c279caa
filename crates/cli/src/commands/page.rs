//! The page of a fit, `--report`.

use crate::args::{Fit, Output};
use crate::failure::{Failure, Result, of_pipeline};
use crate::input::Features;
use crate::summary::Summary;
use nystrom::faer::Mat;
use nystrom::linalg_core::random;
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
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
pub fn explain(model: &Model, features: &Features, seed: u64) -> Result<Option<Explanation>> {
    let n = features.x.nrows();
    let count = model.rows_to_explain(WORK).min(n);
    // a stream of its own, so that the fit draws the same with and without
    let rows = random::uniform_subset(n, count, &mut Pcg64::seed_from_u64(seed))?;
    let (mean, scale): (&[f64], &[f64]) =
        features.scaling.as_ref().map_or((&[], &[]), |s| (&s.means, &s.scales));
    let raw = |i: usize, j: usize| match scale.get(j) {
        Some(scale) => mean[j] + scale * features.x[(i, j)],
        None => features.x[(i, j)],
    };
    let column = |(j, name): (usize, &String)| {
        Column::numbers(name, rows.iter().map(|&i| raw(i, j)).collect())
    };
    let table = Table::new("rows", features.names.iter().enumerate().map(column).collect())?;
    let explanation = model.explain(&table).map_err(of_pipeline)?;
    Ok(Some(explanation).filter(Explanation::is_finite))
}

/// Rows that were held out, with their predictions.
pub fn held_out(target: &str, predicted: &Mat<f64>, actual: &Mat<f64>) -> Validation {
    let column = |values: &Mat<f64>| values.col(0).iter().copied().collect();
    let compared = Compared {
        target: target.to_owned(),
        actual: column(actual),
        predicted: column(predicted),
    };
    Validation {
        rows: actual.nrows(),
        folds: 1,
        split: "held out".to_owned(),
        targets: vec![compared],
        classes: None,
    }
}
