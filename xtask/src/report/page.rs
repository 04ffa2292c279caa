//! `index.html`: every figure at a glance, what does not hold, and each experiment by its paper.
//!
//! The page is one file: no network, no scripts, nothing beside it but links to the data.

use maud::{Markup, PreEscaped, html};
use nystrom_page::draw;

use super::article::{self, article, badge, time};
use super::{claims, class, sets_missing};
use crate::claim::{self, Claim, Kind};
use crate::context::Scale;
use crate::experiment::Experiment;
use crate::method;
use crate::record::{Record, Run, Status};

/// The page of a run.
pub fn page(run: &Run) -> anyhow::Result<String> {
    let papers = || run.registry.chunk_by(|a, b| a.paper == b.paper);
    let galleries =
        papers().map(|paper| gallery(run, paper)).collect::<anyhow::Result<Vec<Markup>>>()?;
    let chapters =
        papers().map(|paper| chapter(run, paper)).collect::<anyhow::Result<Vec<Markup>>>()?;
    let header = html! {
        h1 { "Papers reproduced" }
        (tiles(run))
        (setting(run))
    };
    let main = html! {
        section aria-labelledby="gallery" {
            h2 id="gallery" { "At a glance" }
            @for gallery in galleries { (gallery) }
        }
        section aria-labelledby="exceptions" {
            h2 id="exceptions" { "What does not hold, is open or lacks data" }
            @for (experiment, record) in run.ran(run.registry) { (exceptions(experiment, record)) }
        }
        @for chapter in chapters { (chapter) }
        section aria-labelledby="run" { (this_run(run)) }
    };
    let style = include_str!("style.css");
    Ok(nystrom_page::document("Papers reproduced: every verdict", &header, &main, style))
}

/// The counts as tiles: each kind of claim by itself.
fn tiles(run: &Run) -> Markup {
    let what = ["The paper prints", "The paper's figures show", "The paper proves"];
    let kinds = Kind::COUNTED.map(|kind| claims(&run.records, &[kind]));
    let lacking = sets_missing(&run.records);
    let failed = run.records.iter().filter(|record| record.status == Status::Failed).count();
    html! {
        ul.tiles {
            @for (what, claims) in what.iter().zip(&kinds).filter(|(_, c)| !c.is_empty()) {
                li { span.what { (what) } (counts(claims)) }
            }
            @if kinds.iter().all(Vec::is_empty) { li.lacks { "No claim that counts" } }
            @if lacking > 0 { li { (lacks(lacking)) } }
            @if failed > 0 {
                li.fails { b { (failed) } " experiment" @if failed != 1 { "s" } " failed" }
            }
        }
    }
}

/// Scale, seed and times of the run. The verdicts of a smoke run mean nothing, and it says so.
fn setting(run: &Run) -> Markup {
    html! {
        p {
            "Scale " b { (run.scale) } ", seed " b { (run.seed) }
            ", started " (time(&run.started))
            @match &run.finished {
                Some(finished) => { ", finished " (time(finished)) "." }
                None => { ". " strong { "This run has not finished." } }
            }
            @if run.scale == Scale::Smoke {
                " " strong { "Smoke runs are tiny: they show that the code runs, and their \
                              verdicts mean nothing." }
            }
        }
    }
}

/// Thumbnails of what a paper's experiments show, each with its verdicts and linked to its place.
fn gallery(run: &Run, experiments: &[Experiment]) -> anyhow::Result<Markup> {
    let records = || run.ran(experiments).map(|(_, record)| record);
    let tiles = run.ran(experiments).map(|(experiment, record)| tile(experiment, record));
    let tiles = tiles.collect::<anyhow::Result<Vec<Markup>>>()?;
    let paper = experiments[0].paper.short;
    Ok(html! {
        @if !tiles.is_empty() {
            h3 {
                a href=(format!("#{}", anchor(paper))) { (paper) } " "
                (counts(&claims(records(), &Kind::COUNTED))) (lacks(sets_missing(records())))
            }
            ul.gallery { @for tile in tiles { li { (tile) } } }
        }
    })
}

fn tile(experiment: &Experiment, record: &Record) -> anyhow::Result<Markup> {
    let plot = record.outcome.plots.first();
    let drawing = plot.map(|plot| draw::draw(plot, method::look)).transpose()?;
    Ok(html! {
        a href=(format!("#{}", experiment.name)) {
            figure {
                @if let Some(drawing) = drawing {
                    svg.plot aria-hidden="true" viewBox=(draw::view_box(draw::HEIGHT)) {
                        (PreEscaped(drawing.body))
                    }
                } @else if record.outcome.tables.is_empty() { "–" } @else { "a table" }
            }
            (experiment.heading())
        }
        p { (in_short(record)) }
    })
}

/// The verdicts of the claims that count (of our own claims, if none counts), and how many data
/// sets are missing.
fn in_short(record: &Record) -> Markup {
    let counted = claims([record], &Kind::COUNTED);
    let ours = claims([record], &[Kind::Ours]);
    let lacking = sets_missing([record]);
    html! {
        @if record.status == Status::Failed { (badge("error", "failed")) }
        (counts(&counted)) (lacks(lacking))
        @if counted.is_empty() && !ours.is_empty() {
            span.ours { "ours: " (claim::counts(&ours)) }
        } @else if counted.is_empty() && record.status == Status::Done && lacking == 0 {
            (badge("unclaimed", "no claim"))
        }
    }
}

/// The failures of an experiment; empty if all its claims hold.
fn exceptions(experiment: &Experiment, record: &Record) -> Markup {
    let mut failing = claims([record], &Kind::COUNTED);
    failing.retain(|claim| claim.holds != Some(true));
    let missing = &record.outcome.missing;
    html! {
        @if record.error.is_some() || !missing.is_empty() || !failing.is_empty() {
            h3 {
                a href=(format!("#{}", experiment.name)) { (experiment.heading()) }
                " " small { (experiment.paper.short) }
            }
            (article::error(record))
            (article::claims(&failing))
            @for data in missing { p { (article::lacking(data)) } }
        }
    }
}

/// A paper and its experiments.
fn chapter(run: &Run, experiments: &[Experiment]) -> anyhow::Result<Markup> {
    let paper = experiments[0].paper;
    let articles = experiments.iter().map(|experiment| article(run, experiment));
    let articles = articles.collect::<anyhow::Result<Vec<Markup>>>()?;
    Ok(html! {
        section aria-labelledby=(anchor(paper.short)) {
            h2 id=(anchor(paper.short)) { (paper.short) }
            p.cite {
                @if paper.url.starts_with("http") { a href=(paper.url) { (paper.full) } }
                @else { (paper.full) }
            }
            @for article in articles { (article) }
        }
    })
}

fn this_run(run: &Run) -> Markup {
    let known = |fact: Option<&str>| fact.unwrap_or("unknown").to_owned();
    let facts = [
        ("Version", format!("nystrom {}", run.versions.nystrom)),
        ("Source", known(run.versions.git.as_deref())),
        ("Compiler", known(run.versions.rustc.as_deref())),
        ("Processor", known(run.cpu.as_deref())),
        ("Instruction set", run.instruction_set.clone()),
        ("Threads", run.threads.to_string()),
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

/// `✓ 3 hold ✗ 1 does not`.
fn counts(claims: &[&Claim]) -> Markup {
    html! {
        @for (holds, number, verb) in claim::tally(claims) {
            (badge(class(holds), html! { b { (number) } " " (verb) }))
        }
    }
}

/// `∅ 1 data set missing`; empty if none is missing.
fn lacks(sets: usize) -> Markup {
    let words = html! { b { (sets) } " data set" @if sets != 1 { "s" } " missing" };
    html! { @if sets > 0 { (badge("lacks", words)) } }
}

/// The name of a paper as an anchor of the page.
fn anchor(paper: &str) -> String {
    paper.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}
