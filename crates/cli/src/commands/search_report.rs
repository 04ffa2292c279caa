//! The report of a search, as lines and as JSON.

use super::classes;
use crate::kernel::describe as kernel;
use crate::summary::Summary;
use crate::text::{self, against_mean, count, names, number};
use nystrom_pipeline::{
    Calibrate, Centers, Columns, LossTrial, Metric, Model, Report, SearchErrors, Trial,
};

/// The number of best candidates that have a line.
const SHOWN: usize = 5;

/// Adds the errors of the chosen candidate in a report.
pub fn errors_of(report: &Report, label: &'static str, summary: &mut Summary) {
    errors(&report.search_errors(), report.chosen.error, label, summary);
}

/// Adds the errors of the chosen candidate: for each target in its units, for classes as error rate
/// and log-loss. `error` is the error in standard deviations.
pub fn errors(of: &SearchErrors, error: f64, label: &'static str, summary: &mut Summary) {
    let on = count(of.rows, if of.calibration { "calibration row" } else { "validation row" });
    if let Some(errors) = &of.classes {
        return classes::describe(errors, label, &on, summary);
    }
    if let Some(LossTrial { error, squares, .. }) = &of.loss {
        let unit = "standard deviations of the target on validation rows";
        summary
            .line(label, format!("mean loss {}, {} by squares", number(*error), number(*squares)));
        return summary.line("", format!("in {unit}"));
    }
    let errors = of.targets.iter();
    let errors = errors.map(|of| against_mean(&of.target, of.rmse, of.mean_rmse));
    let errors = text::few(&errors.collect::<Vec<_>>(), "targets");
    if errors.is_empty() || of.rows == 0 {
        let text = format!("RMSE {} standard deviations of the target", number(error));
        return summary.line(label, text);
    }
    errors.into_iter().for_each(|text| summary.line(label, text));
    summary.line("", format!("on {on}"));
}

/// Adds the model and the search that found it.
pub fn describe(model: &Model, report: &Report, how: Option<Calibrate>, summary: &mut Summary) {
    let targets = names(&model.target_names());
    let (rows, features) = (count(report.rows, "row"), features(model.columns()));
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
    summary.line("kernel", format!("{}{}", kernel(model.regression().kernel()), metric(chosen)));
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
    if report.loss.is_some() {
        summary.line("loss", model.made.loss.to_string());
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
    let stopped = if report.stopped { "; stopped before its end" } else { "" };
    let work = format!(
        "{} candidates, {} of {} operations{stopped}",
        report.trials.len(),
        number(report.work),
        number(report.work_allowed)
    );
    summary.line("searched", work);
    let unit = match model.classes() {
        Some(_) => "of classes as ±1, in standard deviations",
        None => "in standard deviations of the target",
    };
    summary.line("best", format!("RMSE {unit}, plain default {}", number(report.plain_error)));
    let mut best: Vec<_> =
        report.trials.iter().filter(|trial| trial.error.is_finite() && !trial.combined).collect();
    best.sort_by(|a, b| a.error.total_cmp(&b.error));
    let line = |trial: &Trial| {
        let Trial { error, bandwidth, centers, rows, .. } = trial;
        let rows = match centers {
            Centers::All => count(*rows, "row"),
            some => format!("{some} of {rows}"),
        };
        let (error, metric) = (number(*error), metric(trial));
        let scale = match trial.family.has_scale() {
            true => format!(", bandwidth {}", number(*bandwidth)),
            false => String::new(),
        };
        format!("{error} {}{metric}{scale}, {rows}", trial.family)
    };
    let mut best: Vec<String> = best.into_iter().map(line).collect();
    best.dedup();
    best.into_iter().take(SHOWN).for_each(|text| summary.item(text));
    values(model, report, summary);
}

/// The features of columns, in words.
pub fn features(columns: &Columns) -> String {
    match (columns.fingerprint(), columns.sparse()) {
        (Some((name, bits)), _) => format!("{} of {name:?}", count(bits, "bit")),
        (None, Some((_, sparse))) => count(sparse, "sparse feature"),
        (None, None) => count(columns.dim(), "feature"),
    }
}

/// The linear map before the kernel, unless there is none.
fn metric(trial: &Trial) -> String {
    match trial.metric {
        Metric::None => String::new(),
        metric => format!(", {metric}"),
    }
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
