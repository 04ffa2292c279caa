//! `index.html`: the verdicts first, then every experiment, then the run. One file, no network, no scripts.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::html_experiment::{article, badge, time};
use super::{Count, count};
use crate::experiment::Paper;
use crate::machine;
use crate::record::{Entry, Run, Status};

/// The whole page.
pub fn page(run: &Run) -> anyhow::Result<String> {
    let papers = by_paper(run);
    let mut articles = Vec::new();
    for (paper, entries) in &papers {
        let entries = entries.iter().map(|entry| article(run, entry)).collect::<anyhow::Result<Vec<_>>>()?;
        articles.push((*paper, entries));
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Papers reproduced: verdicts, figures and tables" }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                header { (opening(run)) }
                main {
                    section aria-labelledby="verdicts" { (verdicts(&papers)) }
                    @for (paper, entries) in articles {
                        section aria-labelledby=(anchor(paper)) {
                            h2 id=(anchor(paper)) { (paper.short) }
                            p.cite { a href=(paper.url) { (paper.full) } }
                            @for entry in entries { (entry) }
                        }
                    }
                    section aria-labelledby="run" { (this_run(run)) }
                }
            }
        }
    };
    Ok(page.into_string())
}

/// Entries in the order of the registry, grouped by paper.
fn by_paper(run: &Run) -> Vec<(&'static Paper, Vec<&Entry>)> {
    let mut papers: Vec<(&'static Paper, Vec<&Entry>)> = Vec::new();
    for entry in &run.entries {
        let paper = entry.experiment.paper;
        match papers.iter_mut().find(|(other, _)| *other == paper) {
            Some((_, entries)) => entries.push(entry),
            None => papers.push((paper, vec![entry])),
        }
    }
    papers
}

fn anchor(paper: &Paper) -> String {
    let plain = paper.short.to_lowercase();
    plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn opening(run: &Run) -> Markup {
    let Count { hold, do_not, lack_data, failed } = count(run);
    let tiles = [
        ("holds", hold, if hold == 1 { "claim holds" } else { "claims hold" }),
        ("fails", do_not, if do_not == 1 { "does not hold" } else { "do not hold" }),
        ("lacks", lack_data, if lack_data == 1 { "data set missing" } else { "data sets missing" }),
    ];
    html! {
        h1 { "Papers reproduced" }
        ul.tiles {
            @for (class, number, what) in tiles { li class=(class) { strong { (number) } " " (what) } }
            @if failed > 0 { li.fails { strong { (failed) } " experiment" @if failed != 1 { "s" } " failed" } }
        }
        p {
            "Scale " b { (run.scale.word()) } ", seed " b { (run.seed) } ", started " (time(&run.started))
            @match &run.finished {
                Some(finished) => { ", finished " (time(finished)) "." }
                None => { ". " strong { "This run has not finished." } }
            }
            @if run.scale == crate::experiment::Scale::Smoke {
                " " strong { "Smoke runs are tiny: they show that the code runs, and their verdicts mean nothing." }
            }
        }
    }
}

fn verdicts(papers: &[(&'static Paper, Vec<&Entry>)]) -> Markup {
    html! {
        h2 id="verdicts" { "Verdicts" }
        @for (paper, entries) in papers {
            h3 { a href=(format!("#{}", anchor(paper))) { (paper.short) } }
            table.verdicts role="table" {
                caption.hidden { "Every claim of " (paper.short) ", checked" }
                thead { tr role="row" {
                    th role="columnheader" scope="col" { "Verdict" }
                    th role="columnheader" scope="col" { "Claim" }
                    th role="columnheader" scope="col" { "Paper" }
                    th role="columnheader" scope="col" { "Measured" }
                    th role="columnheader" scope="col" { "Where" }
                } }
                tbody { @for entry in entries { (verdict_rows(entry)) } }
            }
        }
    }
}

fn verdict_rows(entry: &Entry) -> Markup {
    let Some(record) = &entry.record else { return row(entry, badge("unknown"), html! { "Not run." }, "", "") };
    if record.status == Status::Failed {
        let why = record.error.as_deref().unwrap_or_default();
        return row(entry, badge("error"), html! { "The experiment failed: " (why) }, "", "");
    }
    html! {
        @for claim in &record.outcome.claims {
            (row(entry, badge(if claim.holds { "holds" } else { "fails" }), html! { (claim.text) }, &claim.paper, &claim.measured))
        }
        @for data in &record.outcome.missing {
            @let what = html! {
                b { (data.name) } " is missing"
                @if !data.needed_for.is_empty() { ": " (data.needed_for) }
                @else if record.status == Status::NoData { ": " (entry.experiment.says) }
            };
            (row(entry, badge("lacks"), what, "", ""))
        }
        @if record.status == Status::Done && record.outcome.claims.is_empty() && record.outcome.missing.is_empty() {
            (row(entry, badge("unknown"), html! { "No claim to check." }, "", ""))
        }
    }
}

fn row(entry: &Entry, verdict: Markup, what: Markup, paper: &str, measured: &str) -> Markup {
    html! {
        tr role="row" {
            td role="cell" { (verdict) }
            td.claim role="cell" { (what) }
            td role="cell" data-label="paper" { (paper) }
            td role="cell" data-label="measured" { (measured) }
            td role="cell" { a href=(format!("#{}", entry.experiment.name)) { (entry.experiment.figure) } }
        }
    }
}

fn this_run(run: &Run) -> Markup {
    let unknown = "unknown";
    let facts = [
        ("Version", format!("nystrom {}", env!("CARGO_PKG_VERSION"))),
        ("Source", run.revision.clone().unwrap_or_else(|| unknown.into())),
        ("Compiler", machine::rustc_version().unwrap_or(unknown).into()),
        ("Processor", run.cpu.clone().unwrap_or_else(|| unknown.into())),
        ("Threads", run.threads.to_string()),
        ("Seed", run.seed.to_string()),
        ("Scale", run.scale.word().into()),
        ("Data folder", run.data_dir.clone().unwrap_or_else(|| "none given".into())),
    ];
    html! {
        h2 id="run" { "This run" }
        dl { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
        p {
            "The same verdicts for programs: " a href="run.json" { "run.json" }
            ". Tables and plots lie as CSV and SVG under " code { "experiments/" } "."
        }
    }
}
