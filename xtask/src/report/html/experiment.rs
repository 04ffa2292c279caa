//! One experiment of the page: what the paper says, what was measured, at which cost, and how to
//! rerun it.

use maud::{Markup, html};
use nystrom_page::figure;

use super::claims::{claims, lacking};
use super::{badge, time};
use crate::claim::Kind;
use crate::datasets::MissingData;
use crate::experiment::{Plot, Table};
use crate::method;
use crate::number::{duration, number};
use crate::record::{Entry, Record, Run, Status};

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
        outcome.plots.iter().map(|plot| plotted(name, plot)).collect::<anyhow::Result<Vec<_>>>()?;
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
    figure::table(table, &download(name, &table.id, "csv"))
}

fn plotted(name: &str, plot: &Plot) -> anyhow::Result<Markup> {
    let links = html! { (download(name, &plot.id, "csv")) " " (download(name, &plot.id, "svg")) };
    Ok(figure::figure(plot, method::look, &links)?)
}

fn download(name: &str, id: &str, kind: &str) -> Markup {
    html! { a.download href=(format!("experiments/{name}/{id}.{kind}")) { (kind) } }
}
