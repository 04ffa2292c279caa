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
use nystrom_pipeline::{Metric, Model, Report, Validation};

/// A fit as one page. It shows how good the fit is on rows that it has not seen, which columns
/// matter, what was tried, and how to repeat it.
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
    /// What was fitted.
    pub model: &'a Model,
    /// How it was found, if it was searched for.
    pub report: Option<&'a Report>,
    /// Predictions for rows that it has not seen.
    pub validation: Option<&'a Validation>,
    /// Of a fit that was not searched for: λ and leave-one-out errors.
    pub lambdas: &'a [[f64; 2]],
    /// The command that repeats it.
    pub command: Option<&'a str>,
}

impl<'a> FitPage<'a> {
    /// The page of a fit that was searched for.
    pub fn of(model: &'a Model, report: &'a Report) -> Self {
        let validation = report.validation.as_ref();
        FitPage { model, report: Some(report), validation, lambdas: &[], command: None }
    }

    /// The page: one file, without network or script.
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

    /// The few numbers that are looked for first.
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
            tile("On rows not seen", number(validation.rows as f64));
        }
        html! {
            ul.tiles { @for (what, value) in &tiles { li { span.what { (what) } b { (value) } } } }
        }
    }

    /// What was fitted, in words.
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
        let (features, columns) = (model.columns().features().len(), model.columns().names().len());
        facts.push(("Features", format!("{features} of {}", count(columns, "column"))));
        if let Some(report) = self.report {
            let error = format!(
                "{} standard deviations of the target, {} with the plain default (Gaussian \
                 kernel, 500 landmarks)",
                number(report.chosen.error),
                number(report.plain_error)
            );
            facts.push(("Validation error", error));
            let stopped = if report.stopped { "; it was stopped before its end" } else { "" };
            let work = format!(
                "{} trials, {} of {} operations that were allowed{stopped}",
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
                    "The same command on the same file gives the same model to the bit, at any \
                     number of threads, on processors with the same instructions. Written by \
                     nystrom " (made.version) "."
                }
            }
        }
    }
}

/// A figure of a fit's page.
fn drawn(plot: &Plot) -> Markup {
    match figure(plot, look::look, &html! {}) {
        Ok(figure) => figure,
        Err(error) => html! { p.note { (error) } },
    }
}

/// Figures beside each other, as far as the page is wide.
fn gallery(plots: &[Plot]) -> Markup {
    html! { @if !plots.is_empty() { div.plots { @for plot in plots { (drawn(plot)) } } } }
}

fn metric(metric: Metric) -> String {
    match metric {
        Metric::None => "none: features as they were scaled".to_owned(),
        learned => learned.to_string(),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", number((1e4 * share).round() / 100.0))
}

fn count(n: usize, what: &str) -> String {
    format!("{} {what}{}", number(n as f64), if n == 1 { "" } else { "s" })
}
