//! Figures and tables of a page, with their descriptions for screen readers.

use maud::{Markup, PreEscaped, html};

use crate::draw::{self, NotDrawn};
use crate::legend;
use crate::number::number;
use crate::plot::{Axis, Plot};
use crate::style::Look;
use crate::table::{Cell, Table};

/// A plot with its legend and caption. `links` follow the caption.
///
/// # Errors
/// As [`draw`](draw::draw).
pub fn figure(plot: &Plot, look: Look, links: &Markup) -> Result<Markup, NotDrawn> {
    let drawing = draw::draw(plot, look)?;
    let axis =
        |axis: &Axis| format!("{}{}", axis.label, if axis.log { " (logarithmic)" } else { "" });
    let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    let spoken = format!(
        "{}. {} against {}; series: {}.",
        plot.title,
        axis(&plot.y),
        axis(&plot.x),
        names.join(", ")
    );
    Ok(html! {
        figure {
            svg.plot role="img" aria-label=(spoken) viewBox=(draw::view_box(draw::HEIGHT)) {
                (PreEscaped(drawing.body))
            }
            (legend::list(plot, look))
            figcaption {
                (plot.title) " " (links)
                @for note in &drawing.notes { " " span.note { (note) } }
            }
        }
    })
}

/// A table in a box that scrolls sideways on narrow screens. `links` follow the caption.
pub fn table(table: &Table, links: &Markup) -> Markup {
    let paper = |i: usize| table.columns[i].from_paper.then_some("paper");
    let numeric = |i: usize| {
        table.rows.iter().any(|row| matches!(row[i], Cell::Number(_))).then_some("number")
    };
    html! {
        div.scroll role="region" aria-label=(table.title) tabindex="0" {
            table.data {
                caption { span { (table.title) " " (links) } }
                thead { tr {
                    @for (i, column) in table.columns.iter().enumerate() {
                        th scope="col" class=(format!("{} {}", numeric(i).unwrap_or_default(),
                            paper(i).unwrap_or_default())) {
                            (column.name)
                            @if !column.unit.is_empty() { " " span.unit { "/ " (column.unit) } }
                            @if column.from_paper { span.unit.below { "(paper)" } }
                        }
                    }
                } }
                tbody {
                    @for row in &table.rows {
                        tr { @for (i, cell) in row.iter().enumerate() { (shown(cell, paper(i))) } }
                    }
                }
            }
        }
    }
}

fn shown(cell: &Cell, class: Option<&str>) -> Markup {
    let class = class.unwrap_or_default();
    match cell {
        Cell::Text(text) => html! { td class=(class) { (text) } },
        Cell::Number(value) => html! { td class=(format!("number {class}")) { (number(*value)) } },
        Cell::Missing => {
            html! { td class=(format!("number {class}")) { span.unit aria-label="none" { "–" } } }
        }
    }
}
