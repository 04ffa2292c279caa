//! The report of a search, as lines and as JSON.

use crate::kernel::describe as kernel;
use crate::summary::Summary;
use crate::text::{self, count, names, number};
use nystrom_pipeline::{Calibrate, Metric, Model, Report};

/// The number of best candidates that have a line.
const SHOWN: usize = 5;

pub fn describe(model: &Model, report: &Report, how: Option<Calibrate>, summary: &mut Summary) {
    let targets = names(&model.target_names());
    let (rows, features) = (count(report.rows, "row"), count(report.features.len(), "feature"));
    summary.line("fitted", format!("{targets} on {rows}, {features}"));
    for dropped in text::few(&report.dropped, "columns") {
        summary.line("left out", dropped);
    }
    let rare = model.columns().rare().into_iter().map(|(column, levels)| {
        format!("{column:?} has {levels} rare levels, which share one feature")
    });
    let notes: Vec<String> = rare.chain(report.notes.iter().cloned()).collect();
    for note in text::few(&notes, "notes") {
        summary.line("note", note);
    }
    let chosen = &report.chosen;
    let metric = match chosen.metric {
        Metric::None => String::new(),
        metric => format!(", {metric}"),
    };
    summary.line("kernel", format!("{}{metric}", kernel(model.regression().kernel())));
    summary.line("centres", model.made.centers.clone());
    summary.line("lambda", number(model.made.lambda));
    if let Some(how) = text::target_scale(model.target_scale()) {
        summary.line("target", how);
    }
    if let Some(classes) = model.classes() {
        summary.line("classes", classes.names.join(", "));
        summary.value("classes", &classes.names);
    }
    if let Some(logistic) = &report.logistic {
        let [by_logistic, by_squares] = [logistic.log_loss, logistic.squares].map(number);
        let taken = if logistic.is_better() { "logistic" } else { "squares" };
        let losses =
            format!("log-loss {by_logistic} by the logistic loss, {by_squares} by squares");
        summary.line("loss", format!("{taken}: {losses}, on validation rows"));
    }
    if let Some(errors) = &report.classes {
        summary.line("validation", super::classes::describe(errors));
    }
    if let Some(rows) = report.calibration_rows {
        let rows = count(rows, "row");
        let from = match how {
            Some(Calibrate::Cross(parts)) => {
                format!("the search, by {parts} fits that each leave out a part of them")
            }
            Some(Calibrate::LeaveOneOut) => {
                "the search, by fits that each leave one of them out".to_owned()
            }
            _ => "search and fit".to_owned(),
        };
        summary.line("intervals", format!("calibrated on {rows} kept out of {from}"));
    }
    summary.line(
        "validation",
        format!(
            "RMSE {} standard deviations of the target; {} for the plain default",
            number(chosen.error),
            number(report.plain_error)
        ),
    );
    let stopped = if report.stopped { "; stopped before its end" } else { "" };
    let work = format!(
        "{} candidates, {} of {} operations{stopped}",
        report.trials.len(),
        number(report.work),
        number(report.work_allowed)
    );
    summary.line("searched", work);
    let mut best: Vec<_> =
        report.trials.iter().filter(|trial| trial.error.is_finite() && !trial.combined).collect();
    best.sort_by(|a, b| a.error.total_cmp(&b.error));
    for trial in best.into_iter().take(SHOWN) {
        let text = format!(
            "{} {}, {}, bandwidth {}, {} of {} rows",
            number(trial.error),
            trial.family,
            trial.metric,
            number(trial.bandwidth),
            trial.centers,
            trial.rows
        );
        summary.line("", text);
    }
    values(model, report, summary);
}

fn values(model: &Model, report: &Report, summary: &mut Summary) {
    summary.targets(&model.target_names());
    summary.value("rows", report.rows);
    summary.value("features", &report.features);
    summary.value("dropped", &report.dropped);
    summary.value("lambda", model.made.lambda);
    summary.value("bandwidth", model.regression().kernel().bandwidth());
    summary.value("validation_error", report.chosen.error);
    summary.value("explanation", &model.explanation);
    summary.value("search", report);
}
