//! The course of the search: learning curves, errors against parameters, and all trials.

use super::look::{FIT, nth};
use super::{FitPage, gallery, tried};
use crate::plot::{Axis, Plot, Point};
use maud::{Markup, html};
use nystrom_pipeline::{Centers, CurvePoint, Report, Trial};

const ERROR: &str = "error / sd of the target";

pub fn section(page: &FitPage<'_>) -> Markup {
    let Some(report) = page.report else { return plain(page) };
    let mut plots = curves(report);
    plots.extend(lambdas(report));
    plots.extend(bandwidths(report));
    plots.push(rungs(report));
    html! {
        section aria-labelledby="search" {
            h2 id="search" { "What was tried" }
            p {
                "Errors are root mean squares on validation rows, in standard deviations of the \
                 target: 1 is no better than the mean. Trials that fit a part of the rows use at \
                 most 1500 validation rows of each fold; trials that fit all rows use all \
                 validation rows."
            }
            (gallery(&plots))
            (tried::table(report))
        }
    }
}

/// The section for a fit without a search, whose λ was chosen by leave-one-out.
fn plain(page: &FitPage<'_>) -> Markup {
    if page.lambdas.is_empty() {
        return html! {};
    }
    let mut plot = Plot::new(
        "lambda",
        "Leave-one-out error against λ",
        Axis::log("λ"),
        Axis::log("RMSE, leaving one out"),
    );
    plot.line_and_points("the fit", FIT, points(page.lambdas.to_vec()));
    plot.vertical("chosen", page.model.made.lambda);
    html! {
        section aria-labelledby="search" {
            h2 id="search" { "What was tried" }
            (gallery(&[plot]))
        }
    }
}

/// Learning curves. They have the validation rows of the first fold, the chosen fit those of all.
fn curves(report: &Report) -> Vec<Plot> {
    let curves = &report.curves;
    let [first, of_all] = match report.validation.as_ref().map_or(1, |found| found.folds) {
        1 => ["", ""],
        _ => [", first fold", ", mean over folds"],
    };
    let most = curves.landmarks.last().map_or(0, |point| point.landmarks);
    let rows = (
        format!("Learning curve: {most} landmarks, increasing rows"),
        "rows fitted",
        &curves.rows,
        (|point: &CurvePoint| point.rows) as fn(&CurvePoint) -> usize,
    );
    let all = curves.landmarks.last().map_or(0, |point| point.rows);
    let landmarks = (
        format!("Learning curve: {all} rows, increasing landmarks"),
        "landmarks",
        &curves.landmarks,
        (|point: &CurvePoint| point.landmarks) as fn(&CurvePoint) -> usize,
    );
    let shown = [rows, landmarks].into_iter().filter(|(.., points, _)| points.len() > 1);
    shown
        .map(|(title, x, points, at)| {
            let mut plot = Plot::new("curve", &title, Axis::log(x), Axis::log(ERROR));
            let points = points.iter().map(|point| Point::new(at(point) as f64, point.error));
            let candidate = format!("the chosen candidate, random landmarks{first}");
            plot.line_and_points(&candidate, FIT, points);
            plot.horizontal(&format!("the chosen fit{of_all}"), report.chosen.error);
            plot
        })
        .collect()
}

/// The trials with the columns' treatment, kernel family and metric of the chosen one. They may
/// differ in length scale, λ, rows and centres.
fn like_chosen(report: &Report) -> impl Iterator<Item = &Trial> {
    let key = |trial: &Trial| (trial.shape, trial.family, trial.metric);
    report.trials.iter().filter(move |trial| key(trial) == key(&report.chosen))
}

/// The numbers of rows, increasing, of the trials like the chosen one that use all rows as centres.
fn sizes(report: &Report) -> Vec<usize> {
    let all = like_chosen(report).filter(|trial| trial.centers == Centers::All);
    let mut sizes: Vec<usize> = all.map(|trial| trial.rows).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn of_rows(report: &Report, rows: usize) -> impl Iterator<Item = &Trial> {
    like_chosen(report).filter(move |t| t.centers == Centers::All && t.rows == rows)
}

/// The least finite error at each abscissa, by increasing abscissa.
fn least(pairs: impl IntoIterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut pairs: Vec<[f64; 2]> = pairs.into_iter().filter(|[_, e]| e.is_finite()).collect();
    pairs.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    pairs.dedup_by(|later, kept| (later[0] / kept[0] - 1.0).abs() < 1e-9);
    pairs
}

fn points(pairs: Vec<[f64; 2]>) -> impl Iterator<Item = Point> {
    pairs.into_iter().map(|[x, y]| Point::new(x, y))
}

/// The error against λ, one series for each number of rows.
fn lambdas(report: &Report) -> Option<Plot> {
    let title = "Error against λ, at the length scale and metric of the best trial";
    let mut plot = Plot::new("lambda", title, Axis::log("λ"), Axis::log(ERROR));
    for (at, &rows) in sizes(report).iter().enumerate() {
        let best = of_rows(report, rows).min_by(|a, b| a.error.total_cmp(&b.error));
        let errors = best.iter().flat_map(|best| &best.errors);
        let all = errors.map(|[mu, error]| [mu / rows as f64, *error]);
        plot.line_and_points(&format!("{rows} rows"), nth(at), points(least(all)));
    }
    if let Centers::Uniform(m) | Centers::Pivots(m) = report.chosen.centers {
        let n = report.chosen.rows as f64;
        let path = report.chosen.errors.iter().map(|[mu, e]| [mu / n, *e]);
        let name = format!("{m} landmarks, leave-one-out");
        plot.line_and_points(&name, nth(4), points(least(path)));
    }
    plot.vertical("chosen", report.chosen.mu / report.chosen.rows as f64);
    plot.series.iter().any(|series| series.points.len() > 1).then_some(plot)
}

/// The error against the length scale, one series for each number of rows.
fn bandwidths(report: &Report) -> Option<Plot> {
    let title = "Error against the length scale";
    let x = "length scale / median distance";
    let mut plot = Plot::new("bandwidth", title, Axis::log(x), Axis::log(ERROR));
    for (at, &rows) in sizes(report).iter().enumerate() {
        let all = least(of_rows(report, rows).map(|trial| [trial.multiple, trial.error]));
        if all.len() > 1 {
            plot.line_and_points(&format!("{rows} rows"), nth(at), points(all));
        }
    }
    // the scale spans at least ± 2 %, so that negligible differences look small
    let ends = plot.series.iter().flat_map(|series| &series.points).map(|point| point.y);
    plot.room = ends.flat_map(|error| [0.98 * error, 1.02 * error]).collect();
    plot.vertical("chosen", report.chosen.multiple);
    (!plot.series.is_empty()).then_some(plot)
}

/// The errors of all trials against the number of fitted rows.
fn rungs(report: &Report) -> Plot {
    let mut plot = Plot::new(
        "trials",
        "All trials of the search, by rows",
        Axis::log("rows fitted"),
        Axis::log(ERROR),
    );
    let trials = || report.trials.iter().filter(|trial| trial.error.is_finite());
    let all = trials().map(|trial| Point::new(trial.rows as f64, trial.error));
    plot.points("a trial", "faint", all);
    let best = least(trials().map(|trial| [trial.rows as f64, trial.error]));
    plot.line_and_points("the best", FIT, points(best));
    plot
}
