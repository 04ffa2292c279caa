//! One experiment of the page: what the paper says, what was measured, at which cost, and how to
//! rerun it.

use maud::{Markup, PreEscaped, html};

use super::claims::{claims, lacking};
use super::{badge, time};
use crate::claim::Kind;
use crate::experiment::{Cell, MissingData, Plot, Table};
use crate::number::{duration, number};
use crate::record::{Entry, Record, Run, Status};
use crate::report::{draw, legend};

/// The experiment's part of the page.
pub fn article(run: &Run, entry: &Entry) -> anyhow::Result<Markup> {
    let experiment = &entry.experiment;
    let found =
        entry.record.as_ref().map(|record| findings(experiment.name, record)).transpose()?;
    Ok(html! {
        article id=(experiment.name) aria-labelledby=(format!("{}-title", experiment.name)) {
            h2 id=(format!("{}-title",
                experiment.name)) { (experiment.heading()) " " small { (experiment.name) } }
            p { b { "The paper says: " } (experiment.says) }
            @match found {
                Some(found) => (found),
                None => p.note { "Not run yet in this setting." }
            }
            p.command { "Rerun just this: " code { (entry.command(run)) } }
        }
    })
}

fn findings(name: &str, record: &Record) -> anyhow::Result<Markup> {
    let outcome = &record.outcome;
    let plots =
        outcome.plots.iter().map(|plot| figure(name, plot)).collect::<anyhow::Result<Vec<_>>>()?;
    let (ours, theirs): (Vec<_>, Vec<_>) =
        outcome.claims.iter().partition(|claim| claim.kind == Kind::Ours);
    let tables = html! { @for table in &outcome.tables { (data_table(name, table)) } };
    Ok(html! {
        @if let Some(error) = &record.error { p.error { (badge("error")) " " (error) } }
        @if !plots.is_empty() { div.plots { @for plot in &plots { (plot) } } }
        @if plots.is_empty() { (tables) }
        @if !theirs.is_empty() { (claims(theirs)) }
        @if !ours.is_empty() { h3 { "Claims of our own, counted nowhere" } (claims(ours)) }
        @if !plots.is_empty() { (tables) }
        @for data in &outcome.missing { (missing(data)) }
        @for note in &outcome.notes { p.note { (note) } }
        @if !outcome.scale_note.is_empty() { p { b { "Sizes: " } (outcome.scale_note) } }
        @if record.status != Status::NoData { (cost(record)) }
    })
}

fn cost(record: &Record) -> Markup {
    html! {
        p {
            b { "Cost: " } (duration(record.seconds)) " on "
            (record.threads) " thread" @if record.threads != 1 { "s" }
            @match record.peak_mb {
                Some(mb) => { ", peak memory " (number(mb.round())) " MB" }
                None => ", peak memory unknown on this system"
            }
            ", scale " (record.scale.word()) ", computed on " (time(&record.started)) "."
        }
    }
}

fn missing(data: &MissingData) -> Markup {
    html! {
        div.missing {
            p { (badge("lacks")) " " (lacking(data)) }
            dl {
                div { dt { "Where to get it" } dd { (data.where_to_get) } }
                div {
                    dt { "Where to put it" }
                    dd {
                        @for (i, file) in data.files.iter().enumerate() {
                            @if i > 0 { ", " }
                            code { "DIR/" (file) }
                        }
                    }
                }
                div { dt { "Expected shape" } dd { (data.expected_shape) } }
                @if let Some(sum) = &data.checksum {
                    div { dt { "SHA-256, uncompressed" } dd { code { (sum) } } }
                }
            }
        }
    }
}

fn data_table(name: &str, table: &Table) -> Markup {
    let paper = |i: usize| table.columns[i].from_paper.then_some("paper");
    let numeric = |i: usize| {
        table.rows.iter().any(|row| matches!(row[i], Cell::Number(_))).then_some("number")
    };
    html! {
        div.scroll role="region" aria-label=(table.title) tabindex="0" {
            table.data {
                caption { span { (table.title) " " (download(name, &table.id, "csv")) } }
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
                    @for row in &table.rows { tr { @for (i,
                        cell) in row.iter().enumerate() { (data_cell(cell, paper(i))) } } }
                }
            }
        }
    }
}

fn data_cell(cell: &Cell, class: Option<&str>) -> Markup {
    let class = class.unwrap_or_default();
    match cell {
        Cell::Text(text) => html! { td class=(class) { (text) } },
        Cell::Number(value) => html! { td class=(format!("number {class}")) { (number(*value)) } },
        Cell::Missing => {
            html! { td class=(format!("number {class}")) { span.unit aria-label="none" { "–" } } }
        }
    }
}

fn figure(name: &str, plot: &Plot) -> anyhow::Result<Markup> {
    let drawing = draw::draw(plot)?;
    let axis = |axis: &crate::plot::Axis| {
        format!("{}{}", axis.label, if axis.log { " (logarithmic)" } else { "" })
    };
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
            (legend::list(plot))
            figcaption {
                (plot.title) " " (download(name, &plot.id, "csv")) " " (download(name, &plot.id,
                    "svg"))
                @for note in &drawing.notes { " " span.note { (note) } }
            }
        }
    })
}

fn download(name: &str, id: &str, kind: &str) -> Markup {
    html! { a.download href=(format!("experiments/{name}/{id}.{kind}")) { (kind) } }
}
