//! `nystrom inspect`.

use super::search_report;
use crate::args::Inspect;
use crate::failure::Result;
use crate::kernel::describe;
use crate::model_file;
use crate::session::Session;
use crate::summary::Summary;
use crate::text::{self, count, number};
use nystrom_pipeline::{Alone, Average, Explanation, Influence, Model, TargetLoss};

/// The number of columns that are listed with their importance.
const SHOWN: usize = 12;
/// The number of targets or classes whose mean changes are listed.
const OUTPUTS: usize = 3;

pub fn run(args: &Inspect) -> Result<()> {
    let session = Session::new(None, args.json, false, &Alone)?;
    let model = model_file::load(&args.model)?;
    let mut summary = Summary::of("inspect");
    let targets = match model.classes() {
        Some(classes) => vec![classes.target.clone()],
        None => model.output_names(),
    };
    summary.line("predicts", targets.join(", "));
    summary.value("targets", &targets);
    if model.made.loss != TargetLoss::Squares {
        summary.line("loss", model.made.loss.to_string());
    }
    if let Some(how) = text::target_scale(model.target_scale()) {
        summary.line("target", how);
    }
    summary.value("target_scale", model.target_scale());
    if let Some(classes) = model.classes() {
        summary.line("classes", classes.names.join(", "));
        summary.value("classes", classes);
    }
    let (features, needed) = (model.columns().features(), model.columns().names().len());
    let columns = count(needed, "column");
    let from = match (model.columns().fingerprint(), model.columns().sparse()) {
        (None, None) => format!("{} of {columns}", count(features.len(), "feature")),
        _ => search_report::features(model.columns()),
    };
    summary.line("from", from);
    summary.value("columns", model.columns().names().collect::<Vec<_>>());
    summary.value("features", &features);
    for dropped in model.columns().dropped() {
        summary.line("left out", dropped.to_string());
    }
    summary.value("dropped", model.columns().dropped());
    let regression = model.regression();
    summary.line("kernel", describe(regression.kernel()));
    summary.value("kernel", regression.kernel());
    let made = &model.made;
    summary.line("lambda", number(made.lambda));
    let holds = if made.holds_all_rows { "; the file holds every training row" } else { "" };
    summary.line("centres", format!("{}{holds}", made.centers));
    if made.logistic {
        summary.line("loss", "logistic: values are log-odds");
    }
    weights(&model, &features, &mut summary);
    match (&made.errors, made.validation_error) {
        (Some(errors), error) => {
            search_report::errors(errors, error.unwrap_or(f64::NAN), "error", &mut summary);
        }
        (None, Some(error)) => {
            let text = format!("{} standard deviations of the target", number(error));
            summary.line("validation error", text);
        }
        (None, None) => {}
    }
    if let Some(explanation) = &model.explanation {
        explained(explanation, &mut summary);
    }
    summary.value("explanation", &model.explanation);
    if !made.settings.is_empty() {
        summary.line("made by", &made.settings);
    }
    summary.line("version", &made.version);
    summary.value("made", made);
    summary.value("fit", regression.report());
    summary.print(&session, false)
}

/// Adds the weight of each feature in the learned metric, if there is one: the norms of the columns
/// of A.
fn weights(model: &Model, features: &[String], summary: &mut Summary) {
    let Some(map) = model.map() else { return };
    let mut weights: Vec<(&str, f64)> =
        features.iter().enumerate().map(|(j, name)| (&name[..], map.col(j).norm_l2())).collect();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    summary.value("weights", &weights);
}

/// Adds a line for each of the most important columns.
fn explained(explanation: &Explanation, summary: &mut Summary) {
    let Explanation { rows, outputs, columns, .. } = explanation;
    let learnt = columns.iter().any(|column| column.metric.is_some());
    let of = if learnt { "the learned metric" } else { "squared slopes" };
    let rows = count(*rows, "row");
    summary.line(
        "importance",
        format!("share of {of}; mean change per unit of the column, over {rows}"),
    );
    let width = columns.iter().take(SHOWN).map(|c| c.column.chars().count()).max().unwrap_or(0);
    for column in columns.iter().take(SHOWN) {
        let Influence { column: name, effects, .. } = column;
        let several = outputs.len() > 1;
        let effects = effects.iter().zip(outputs).take(OUTPUTS).map(|(effect, output)| {
            let Average { mean, standard_error, .. } = effect;
            let error =
                standard_error.map_or_else(String::new, |error| format!(" ± {}", number(error)));
            let output = if several { format!("{output} ") } else { String::new() };
            format!("{output}{}{error}", number(*mean))
        });
        let effects = effects.collect::<Vec<_>>().join(", ");
        let share = 100.0 * column.importance();
        summary.item(format!("{name:width$}  {share:5.1} %  {effects}").trim_end());
    }
    if columns.len() > SHOWN {
        let more = count(columns.len() - SHOWN, "column");
        summary.line("", format!("{more} more: --json lists all"));
    }
}
