//! Errors on rows that were kept out of the fit.

use super::look::{FIT, IDEAL, ROW};
use super::{FitPage, classes, count, gallery};
use crate::figure;
use crate::plot::{Axis, Plot, Point};
use crate::table::{Cell, Column, Table};
use maud::{Markup, html};
use nystrom_pipeline::{Compared, Coverage, Validation};

/// At most this many targets are shown.
const TARGETS: usize = 4;

pub fn section(page: &FitPage<'_>, validation: &Validation) -> Markup {
    let coverage = page.report.map_or(&[][..], |report| &report.coverage);
    let targets = &validation.targets[..validation.targets.len().min(TARGETS)];
    let more = validation.targets.len() - targets.len();
    html! {
        section aria-labelledby="predictions" {
            h2 id="predictions" { "Errors on rows kept out of the fit" }
            p { (rows(page, validation)) }
            @for compared in targets {
                (gallery(&[against(compared), residuals(compared)]))
            }
            @if more > 0 { p.note { (count(more, "more target")) " not shown." } }
            @if !targets.is_empty() { (figure::table(&errors(&validation.targets), &html! {})) }
            @if let Some(confusion) = &validation.classes {
                @let errors = page.report.and_then(|report| report.classes);
                (classes::shown(confusion, errors))
            }
            @if !coverage.is_empty() { (covered(coverage)) }
        }
    }
}

/// A sentence that says which rows the errors are measured on.
fn rows(page: &FitPage<'_>, validation: &Validation) -> String {
    let rows = count(validation.rows, "row");
    let how = match (validation.split.split_once(' '), validation.folds) {
        (Some(("group", column)), _) => format!(
            "rows with the same value in {column:?} were set aside together, so that groups were \
             set aside whole"
        ),
        (Some(("time", column)), _) => format!("the last rows by {column:?} were set aside"),
        (_, 1) => "they were set aside at random".to_owned(),
        (_, folds) => {
            format!("they were cut at random into {folds} parts, each predicted from the others")
        }
    };
    if page.report.is_none() {
        return format!("This section uses {rows} that were held out of search and fit.");
    }
    format!(
        "This section uses {rows} for validation: {how}. Each row was predicted by a fit that did \
         not include it. The search chose among candidates by their errors on these rows, so the \
         error on new rows may be a little larger."
    )
}

/// Errors of predictions, in units of the target. A residual is predicted − actual.
pub struct Errors {
    pub rmse: f64,
    pub r2: f64,
    pub mean_absolute: f64,
    /// The median of the residuals' absolute values.
    pub median_absolute: f64,
    /// The 90 % quantile of the residuals' absolute values.
    pub quantile_90: f64,
    /// The mean residual.
    pub mean: f64,
}

impl Errors {
    pub fn of(compared: &Compared) -> Errors {
        let Compared { actual, predicted, .. } = compared;
        let n = actual.len() as f64;
        let residuals: Vec<f64> = actual.iter().zip(predicted).map(|(y, f)| f - y).collect();
        let mean_of = |values: &[f64]| values.iter().sum::<f64>() / n;
        let mean = mean_of(actual);
        let spread: f64 = actual.iter().map(|y| (y - mean).powi(2)).sum();
        let square: f64 = residuals.iter().map(|e| e * e).sum();
        let mut sizes: Vec<f64> = residuals.iter().map(|e| e.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * sizes.len() as f64).ceil() as usize;
            sizes.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
        };
        Errors {
            rmse: (square / n).sqrt(),
            r2: 1.0 - square / spread,
            mean_absolute: mean_of(&sizes),
            median_absolute: at(0.5),
            quantile_90: at(0.9),
            mean: mean_of(&residuals),
        }
    }
}

fn errors(targets: &[Compared]) -> Table {
    let columns = [
        "target",
        "RMSE",
        "R²",
        "mean |residual|",
        "median |residual|",
        "90 % quantile of |residual|",
        "mean residual",
    ];
    let mut table = Table::new("errors", "Errors on these rows", columns.map(Column::new));
    for compared in targets {
        let Errors { rmse, r2, mean_absolute, median_absolute, quantile_90, mean } =
            Errors::of(compared);
        let numbers = [rmse, r2, mean_absolute, median_absolute, quantile_90, mean].map(Cell::from);
        table.push([Cell::from(&*compared.target)].into_iter().chain(numbers));
    }
    table
}

fn against(compared: &Compared) -> Plot {
    let Compared { target, actual, predicted } = compared;
    let mut plot = Plot::new(
        "predicted-actual",
        &format!("Predicted against actual, {target}"),
        Axis::linear("actual"),
        Axis::linear("predicted"),
    );
    let rows = actual.iter().zip(predicted).map(|(&y, &f)| Point::new(y, f));
    plot.points("a row", ROW, rows);
    plot.line("perfect", IDEAL, ends(actual).map(|at| Point::new(at, at)));
    plot
}

fn residuals(compared: &Compared) -> Plot {
    let Compared { target, actual, predicted } = compared;
    let mut plot = Plot::new(
        "residuals",
        &format!("Residuals against predictions, {target}"),
        Axis::linear("predicted"),
        Axis::linear("predicted − actual"),
    );
    let rows = actual.iter().zip(predicted).map(|(&y, &f)| Point::new(f, f - y));
    plot.points("a row", ROW, rows);
    plot.line("perfect", IDEAL, ends(predicted).map(|at| Point::new(at, 0.0)));
    plot
}

fn ends(values: &[f64]) -> [f64; 2] {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    [finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max)]
}

fn covered(coverage: &[Coverage]) -> Markup {
    let mut plot = Plot::new(
        "coverage",
        "Coverage of intervals",
        Axis::linear("level of the intervals"),
        Axis::linear("share of rows inside"),
    );
    for (at, one) in coverage.iter().take(TARGETS).enumerate() {
        // two standard deviations. The share varies by p(1 − p)/n over all n rows, the quantile
        // from half of them by twice that: 3p(1 − p)/n together
        let error = |level: f64| 2.0 * (3.0 * level * (1.0 - level) / one.rows as f64).sqrt();
        let points = one.levels.iter().map(|&[level, share]| {
            Point::with_range(level, share, share - error(level), share + error(level))
        });
        let key = if coverage.len() == 1 { FIT } else { super::look::nth(at) };
        plot.line_and_points(&one.target, key, points);
    }
    plot.line("nominal level", IDEAL, [0.5, 1.0].map(|at| Point::new(at, at)));
    let rows = coverage.first().map_or(0, |one| one.rows);
    html! {
        h3 { "Intervals" }
        p {
            (count(rows, "row")) " were kept out of search and fit. Each half of them is compared \
             with intervals that were calibrated on the other half. The bars are two standard \
             deviations of the share if the intervals have their nominal level."
        }
        (gallery(&[plot]))
    }
}
