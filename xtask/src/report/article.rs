//! One experiment of the page: what the paper says, what was measured, at which cost, and how to
//! rerun it.

use maud::{Markup, Render, html};
use nystrom_page::figure;

use super::class;
use crate::claim::{Claim, Kind, verdict};
use crate::datasets::MissingData;
use crate::experiment::Experiment;
use crate::method;
use crate::number::{duration, number};
use crate::record::{Record, Run, Status};

/// The experiment's part of the page.
pub fn article(run: &Run, experiment: &Experiment) -> anyhow::Result<Markup> {
    let title = format!("{}-title", experiment.name);
    let found = run.record(experiment.name).map(findings).transpose()?;
    Ok(html! {
        article id=(experiment.name) aria-labelledby=(title) {
            h3 id=(title) { (experiment.heading()) " " small { (experiment.name) } }
            p { b { "The paper says: " } (experiment.says()) }
            @match found {
                Some(found) => (found),
                None => p.note { "Not run yet in this setting." }
            }
            p.command { "Rerun just this: " code { (run.command(experiment)) } }
        }
    })
}

/// The plots, or the tables if there are no plots; the claims that count, our own claims, the rest.
fn findings(record: &Record) -> anyhow::Result<Markup> {
    let Record { name, outcome, .. } = record;
    let link = |id: &str, kind: &str| {
        html! { a.download href=(format!("experiments/{name}/{id}.{kind}")) { (kind) } }
    };
    let plots = outcome.plots.iter().map(|plot| {
        let links = html! { (link(&plot.id, "csv")) " " (link(&plot.id, "svg")) };
        figure::figure(plot, method::look, &links)
    });
    let plots = plots.collect::<Result<Vec<Markup>, _>>()?;
    let tables = html! {
        @for table in &outcome.tables { (figure::table(table, &link(&table.id, "csv"))) }
    };
    let [theirs, ours] = [&Kind::COUNTED[..], &[Kind::Ours]].map(|k| super::claims([record], k));
    Ok(html! {
        (error(record))
        @if plots.is_empty() { (tables) } @else { div.plots { @for plot in &plots { (plot) } } }
        (claims(&theirs))
        @if !ours.is_empty() { h4 { "Claims of our own, counted nowhere" } (claims(&ours)) }
        @if !plots.is_empty() { (tables) }
        @for data in &outcome.missing { (missing(data)) }
        @for note in &outcome.notes { p.note { (note) } }
        @if !outcome.scale_note.is_empty() { p { b { "Sizes: " } (outcome.scale_note) } }
        @if record.status != Status::NoData { (cost(record)) }
    })
}

/// The reason why the experiment failed; empty if it did not.
pub fn error(record: &Record) -> Markup {
    html! { @if let Some(error) = &record.error { p.error { (badge("error", "failed")) (error) } } }
}

/// Each claim with its verdict, the paper's number and ours.
pub fn claims(claims: &[&Claim]) -> Markup {
    html! {
        @if !claims.is_empty() { ul.claims {
            @for claim in claims {
                @let ([word, ..], class) = (verdict(claim.holds), class(claim.holds));
                li {
                    span { (badge(class, word)) span.kind { (claim.kind) } } " "
                    span { (claim.text) } " "
                    span.numbers { "paper: " b { (claim.paper) } } " "
                    span.numbers { "measured: " b { (claim.measured) } }
                }
            }
        } }
    }
}

/// The results that cannot be computed because a data set is missing.
pub fn lacking(data: &MissingData) -> Markup {
    html! {
        (badge("lacks", "data missing")) b { (data.name) }
        @if !data.needed_for.is_empty() { ", needed for " (data.needed_for) }
    }
}

fn missing(data: &MissingData) -> Markup {
    let files: Vec<String> = data.files.iter().map(|file| format!("DIR/{file}")).collect();
    html! {
        div.missing {
            p { (lacking(data)) }
            dl {
                div { dt { "Where to get it" } dd { (with_code(&data.where_to_get)) } }
                div { dt { "Where to put it" } dd { code { (files.join(", ")) } } }
                div { dt { "Expected shape" } dd { (data.expected_shape) } }
                @if let Some(sum) = &data.checksum {
                    div { dt { "SHA-256, uncompressed" } dd { code { (sum) } } }
                }
            }
        }
    }
}

/// The text, with what stands between backquotes as code.
fn with_code(text: &str) -> Markup {
    html! {
        @for (i, part) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
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
            ", instruction set " (record.instruction_set) ", scale " (record.scale)
            ", computed on " (time(&record.started)) "."
        }
    }
}

/// A verdict in words with a sign, never by colour alone; a screen reader passes over the sign.
pub fn badge(class: &str, words: impl Render) -> Markup {
    let sign = match class {
        "holds" => "✓",
        "fails" => "✗",
        "open" => "?",
        "lacks" => "∅",
        "error" => "!",
        _ => "–",
    };
    html! {
        span class=(format!("badge {class}")) { span aria-hidden="true" { (sign) } " " (words) } " "
    }
}

/// An RFC 3339 time as people write it.
pub fn time(rfc3339: &str) -> Markup {
    html! { span.whole { (rfc3339.replace('T', " ").replace('Z', " UTC")) } }
}
