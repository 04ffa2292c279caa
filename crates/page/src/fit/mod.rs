//! The page of a fit.

mod classes;
mod influences;
mod look;
mod predictions;
mod search;
mod tried;

use crate::document;
use crate::figure::figure;
use crate::number::number;
use crate::plot::Plot;
use maud::{Markup, html};
use nystrom_pipeline::{Columns, Metric, Model, Report, Validation};

/// A page about a fit. It shows errors on rows that were not fitted, the importance of the columns,
/// the candidates of the search, and the command that repeats the fit.
///
/// ```
/// use nystrom::prelude::*;
/// use nystrom_data::{Column, Table};
/// use nystrom_page::FitPage;
/// use nystrom_pipeline::Fit;
/// let a: Vec<f64> = (0..60).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = a.iter().map(|a| a.sin()).collect();
/// let table = Table::new("t", vec![Column::numbers("a", a), Column::numbers("y", y)]).unwrap();
/// let fit = Fit { work: Some(1e8), ..Fit::default() };
/// let fitted = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(0))?;
/// let page = FitPage::of(&fitted.model, &fitted.report).html();
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Predicted against actual"));
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FitPage<'a> {
    /// The fitted model.
    pub model: &'a Model,
    /// The report of the search, if there was one.
    pub report: Option<&'a Report>,
    /// Predictions for rows, each by a fit that did not include the row.
    pub validation: Option<&'a Validation>,
    /// For a fit without a search: pairs of λ and leave-one-out error.
    pub lambdas: &'a [[f64; 2]],
    /// The command that repeats the fit.
    pub command: Option<&'a str>,
}

impl<'a> FitPage<'a> {
    /// The page of a fit that was found by a search.
    pub fn of(model: &'a Model, report: &'a Report) -> Self {
        let validation = report.validation.as_ref();
        FitPage { model, report: Some(report), validation, lambdas: &[], command: None }
    }

    /// The page as one HTML file, which needs no network and no script.
    pub fn html(&self) -> String {
        let targets = self.model.target_names().join(", ");
        let title = format!("{targets}: a fit");
        let header = html! {
            h1 { "Predicting " (targets) }
            (self.tiles())
        };
        let main = html! {
            (self.outline())
            @if let Some(validation) = self.validation { (predictions::section(self, validation)) }
            @if let Some(explanation) = &self.model.explanation {
                (influences::section(explanation, self.model.regression().kernel()))
            }
            (search::section(self))
            (self.repeat())
        };
        document(&title, &header, &main, "")
    }

    /// The most important numbers, shown at the top.
    fn tiles(&self) -> Markup {
        let mut tiles: Vec<(String, String)> = Vec::new();
        let mut tile = |what: &str, value: String| tiles.push((what.to_owned(), value));
        for compared in self.validation.iter().flat_map(|v| &v.targets).take(3) {
            let errors = predictions::Errors::of(compared);
            tile(&format!("RMSE of {}", compared.target), number(errors.rmse));
            tile(&format!("R² of {}", compared.target), number(errors.r2));
        }
        if let Some(errors) = self.report.and_then(|report| report.classes) {
            tile("Rows in the wrong class", percent(errors.error_rate));
            tile("Logarithmic loss", number(errors.log_loss));
            if let Some(auc) = errors.auc {
                tile("Area under the ROC curve", number(auc));
            }
        }
        if let Some(validation) = self.validation {
            tile("Rows of these errors", number(validation.rows as f64));
        }
        html! {
            ul.tiles { @for (what, value) in &tiles { li { span.what { (what) } b { (value) } } } }
        }
    }

    /// The list of facts about the model.
    fn outline(&self) -> Markup {
        let model = self.model;
        let kernel = model.regression().kernel();
        let scale = kernel
            .bandwidth()
            .map_or_else(String::new, |scale| format!(", length scale {}", number(scale)));
        let mut facts = vec![("Kernel", format!("{}{scale}", kernel.describe()))];
        if let Some(report) = self.report {
            facts.push(("Metric", metric(report.chosen.metric)));
        }
        facts.push(("Centres", model.made.centers.clone()));
        facts.push(("λ", number(model.made.lambda)));
        if model.made.logistic {
            facts.push(("Loss", "logistic".to_owned()));
        }
        if let Some(report) = self.report {
            facts.push(("Rows", number(report.rows as f64)));
        }
        facts.push(("Features", features(model.columns())));
        if let Some(report) = self.report {
            let error = format!(
                "{} standard deviations of the target, {} with the plain default (Gaussian \
                 kernel, at most 500 landmarks)",
                number(report.chosen.error),
                number(report.plain_error)
            );
            facts.push(("Validation error", error));
            let stopped = if report.stopped { "; stopped early" } else { "" };
            let work = format!(
                "{} trials, {} of {} allowed operations{stopped}",
                report.trials.len(),
                number(report.work),
                number(report.work_allowed)
            );
            facts.push(("Search", work));
        }
        for dropped in model.columns().dropped() {
            facts.push(("Left out", dropped.to_string()));
        }
        for note in self.report.iter().flat_map(|report| &report.notes) {
            facts.push(("Note", note.clone()));
        }
        html! {
            section aria-labelledby="outline" {
                h2 id="outline" { "What was fitted" }
                dl { @for (what, value) in &facts { div { dt { (what) } dd { (value) } } } }
            }
        }
    }

    fn repeat(&self) -> Markup {
        let made = &self.model.made;
        html! {
            section aria-labelledby="repeat" {
                h2 id="repeat" { "How to repeat it" }
                @if let Some(command) = self.command { p.command { code { (command) } } }
                p {
                    "The same command on the same file gives the same model bit for bit, with any \
                     number of threads, on processors with the same vector instructions. Written \
                     by nystrom " (made.version) "."
                }
            }
        }
    }
}

/// A plot as a figure, or as a paragraph with the error if it cannot be drawn.
fn drawn(plot: &Plot) -> Markup {
    match figure(plot, look::look, &html! {}) {
        Ok(figure) => figure,
        Err(error) => html! { p.note { (error) } },
    }
}

/// Figures side by side, as many as fit the width of the page.
fn gallery(plots: &[Plot]) -> Markup {
    html! { @if !plots.is_empty() { div.plots { @for plot in plots { (drawn(plot)) } } } }
}

fn metric(metric: Metric) -> String {
    match metric {
        Metric::None => "none (features as scaled)".to_owned(),
        learned => learned.to_string(),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", number((1e4 * share).round() / 100.0))
}

/// The number of features, and of the columns that have them.
fn features(columns: &Columns) -> String {
    match columns.sparse() {
        Some((_, features)) => format!("{features}, sparse"),
        None => {
            let (features, columns) = (columns.features().len(), columns.names().len());
            format!("{features} of {}", count(columns, "column"))
        }
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{} {what}{}", number(n as f64), if n == 1 { "" } else { "s" })
}
