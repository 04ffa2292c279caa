//! The importance of the columns, and partial dependence on them.

use super::{count, gallery, look, percent};
use crate::figure;
use crate::number::with_error;
use crate::plot::{Axis, Plot, Point};
use crate::table::{Cell, Column, Table};
use maud::{Markup, html};
use nystrom_pipeline::{AnyKernel, Average, Dependence, Explanation, Family, Grid, Influence};

/// At most this many columns are shown, the most important ones.
const SHOWN: usize = 30;
/// At most this many outputs are shown.
const OUTPUTS: usize = 5;

pub fn section(explanation: &Explanation, kernel: &AnyKernel) -> Markup {
    let Explanation { rows, outputs, columns, .. } = explanation;
    let learnt = columns.iter().any(|column| column.metric.is_some());
    let mut plots: Vec<Plot> = columns.iter().filter_map(|column| plot(outputs, column)).collect();
    let series = plots.iter().flat_map(|plot| &plot.series).flat_map(|series| &series.points);
    let room: Vec<f64> = series.map(|point| point.y).collect();
    plots.iter_mut().for_each(|plot| plot.room.clone_from(&room));
    let tables: Vec<Table> = columns.iter().filter_map(|column| levels(outputs, column)).collect();
    html! {
        section aria-labelledby="columns" {
            h2 id="columns" { "Which columns matter" }
            p {
                @if learnt {
                    "Importance is the column's share of the diagonal of the learned metric."
                } @else {
                    "No metric was learned. Importance is the column's share of the mean squared \
                     slopes along standardised features."
                }
                " The levels of a text column are added up. The mean change is the average \
                 derivative of the prediction with respect to a numeric column, per unit, over "
                (count(*rows, "row")) " that were fitted. Its standard error treats the model as \
                 fixed. A column that is associated with the target need not be a cause of it."
                @if rough(kernel.family()) {
                    " The kernel is not differentiable at its centres, so that mean changes are \
                     uncertain; partial dependence is more reliable."
                }
            }
            (bars(explanation))
            @if columns.len() > SHOWN {
                p.note { "The " (SHOWN) " most important of " (columns.len()) " columns." }
            }
            @if outputs.len() > OUTPUTS {
                p.note { "The first " (OUTPUTS) " of " (outputs.len()) " outputs." }
            }
            h3 { "Partial dependence" }
            p {
                "The mean prediction if all rows had the same value in one column and kept their \
                 own values in the others. Shown are the most important columns, from the 2.5 % to \
                 the 97.5 % quantile of their values. All plots have the same vertical scale."
            }
            (gallery(&plots))
            @for table in &tables { (figure::table(table, &html! {})) }
        }
    }
}

/// Whether kernels of a family are not differentiable at the centres.
fn rough(family: Family) -> bool {
    match family {
        Family::Matern { nu } => nu <= 0.5,
        Family::PowerExponential { power } => power <= 1.0,
        Family::LaplacianL1 | Family::PowerExponentialL1 { .. } => true,
        _ => false,
    }
}

fn bars(explanation: &Explanation) -> Markup {
    let outputs = &explanation.outputs[..explanation.outputs.len().min(OUTPUTS)];
    let largest = explanation.columns.first().map_or(1.0, Influence::importance);
    let title = "Importance of columns and mean change of the prediction";
    html! {
        div.scroll role="region" aria-label=(title) tabindex="0" {
            table.data {
                caption { span { (title) } }
                thead { tr {
                    th scope="col" { "column" }
                    th.number scope="col" { "importance" }
                    th scope="col" { span.hidden { "bar" } }
                    @for output in outputs {
                        th.number scope="col" { "change of " (output) span.unit { " / unit" } }
                    }
                } }
                tbody {
                    @for column in explanation.columns.iter().take(SHOWN) { tr {
                        th scope="row" { (column.column) }
                        td.number { (percent(column.importance())) }
                        td { (bar(column.importance() / largest)) }
                        @for at in 0..outputs.len() {
                            td.number { @match column.effects.get(at) {
                                Some(effect) => (average(effect)),
                                None => span.unit { "text" },
                            } }
                        }
                    } }
                }
            }
        }
    }
}

fn bar(share: f64) -> Markup {
    let width = if share.is_finite() { 100.0 * share.clamp(0.0, 1.0) } else { 0.0 };
    html! { span.bar aria-hidden="true" { span style=(format!("width:{width:.1}%")) {} } }
}

fn average(average: &Average) -> String {
    match average.standard_error {
        Some(error) => with_error(average.mean, error),
        None => crate::number::number(average.mean),
    }
}

/// Partial dependence on a numeric column, as a plot.
fn plot(outputs: &[String], column: &Influence) -> Option<Plot> {
    let Dependence { at: Grid::Numbers(at), means, .. } = column.dependence.as_ref()? else {
        return None;
    };
    let name = &column.column;
    let y = match outputs {
        [one] => format!("mean prediction of {one}"),
        _ => "mean prediction".to_owned(),
    };
    let mut plot = Plot::new(
        "dependence",
        &format!("Mean prediction by {name}"),
        Axis::linear(name),
        Axis::linear(&y),
    );
    for (k, (output, means)) in outputs.iter().zip(means).take(OUTPUTS).enumerate() {
        let points = at.iter().zip(means).map(|(&at, mean)| Point::new(at, mean.mean));
        plot.line_and_points(output, look::nth(k), points);
    }
    Some(plot)
}

/// Partial dependence on a text column, as a table.
fn levels(outputs: &[String], column: &Influence) -> Option<Table> {
    let Dependence { at: Grid::Levels(levels), means, .. } = column.dependence.as_ref()? else {
        return None;
    };
    let shown = outputs.len().min(OUTPUTS);
    let names = [column.column.as_str()].into_iter().chain(outputs[..shown].iter().map(|o| &**o));
    let title = format!("Mean prediction by {}", column.column);
    let mut table = Table::new("levels", &title, names.map(Column::new));
    for (k, level) in levels.iter().enumerate() {
        let means = means.iter().take(shown).map(|means| Cell::from(average(&means[k])));
        table.push([Cell::from(&**level)].into_iter().chain(means));
    }
    Some(table)
}
