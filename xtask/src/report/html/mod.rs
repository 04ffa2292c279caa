//! The pages of the report: `index.html` with every verdict, and one page for each paper with its
//! figures and tables.
//!
//! Each page is one file: no network, no scripts, nothing beside it but links to the data.

mod claims;
mod experiment;
mod gallery;
mod index;
mod paper;

use maud::{Markup, html};

use super::Count;
use crate::context::Scale;
use crate::experiment::Paper;
use crate::record::{Entry, Run};

/// Every page: its file name and its text.
pub fn pages(run: &Run) -> anyhow::Result<Vec<(String, String)>> {
    let chapters = chapters(run);
    let mut pages = vec![("index.html".to_owned(), index::page(run, &chapters))];
    for (at, chapter) in chapters.iter().enumerate() {
        pages.push((chapter.file(), paper::page(run, &chapters, at)?));
    }
    Ok(pages)
}

/// A paper and its experiments, in the order of the registry.
struct Chapter<'a> {
    paper: &'static Paper,
    entries: Vec<&'a Entry>,
}

impl Chapter<'_> {
    /// `alaoui-mahoney-2015.html`.
    fn file(&self) -> String {
        format!("{}.html", self.slug())
    }

    /// The paper's short name, fit for a file and for an anchor.
    fn slug(&self) -> String {
        let plain = self.paper.short.to_lowercase();
        plain
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join("-")
    }

    /// Whether any of its experiments has run.
    fn has_run(&self) -> bool {
        self.entries.iter().any(|entry| entry.record.is_some())
    }

    fn count(&self) -> Count {
        Count::of(self.entries.iter().copied())
    }
}

fn chapters(run: &Run) -> Vec<Chapter<'_>> {
    let mut chapters: Vec<Chapter> = Vec::new();
    for entry in &run.entries {
        let paper = entry.experiment.paper;
        match chapters.iter_mut().find(|chapter| chapter.paper == paper) {
            Some(chapter) => chapter.entries.push(entry),
            None => chapters.push(Chapter { paper, entries: vec![entry] }),
        }
    }
    chapters
}

/// The frame of every page.
fn document(title: &str, header: &Markup, main: &Markup) -> String {
    nystrom_page::document(title, header, main, include_str!("style.css"))
}

/// The counts as tiles: each kind of claim by itself.
fn tiles(Count { kinds, lack_data, failed }: Count) -> Markup {
    let what = ["The paper prints", "The paper's figures show", "The paper proves"];
    let kinds: Vec<_> = what.iter().zip(kinds).filter(|(_, tally)| tally.total() > 0).collect();
    html! {
        ul.tiles {
            @for (what, tally) in &kinds { li { span.what { (what) } (claims::tally(*tally)) } }
            @if kinds.is_empty() { li.lacks { "No claim that counts" } }
            @if lack_data > 0 { li { (claims::lacks(lack_data)) } }
            @if failed > 0 {
                li.fails { b { (failed) } " experiment" @if failed != 1 { "s" } " failed" }
            }
        }
    }
}

/// Scale, seed and times of the run, with a warning where its verdicts mean nothing.
fn setting(run: &Run) -> Markup {
    html! {
        p {
            "Scale " b { (run.scale.word()) } ", seed " b { (run.seed) }
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

/// The sign and the word of a verdict.
fn sign(class: &str) -> (&'static str, &'static str) {
    match class {
        "holds" => ("✓", "holds"),
        "fails" => ("✗", "does not hold"),
        "open" => ("?", "undecided"),
        "lacks" => ("∅", "data missing"),
        "error" => ("!", "failed"),
        "unknown" => ("–", "not run"),
        _ => ("–", "no claim"),
    }
}

/// A verdict as a word with a sign, never by colour alone.
fn badge(class: &str) -> Markup {
    let (sign, word) = sign(class);
    html! {
        span class=(format!("badge {class}")) { span aria-hidden="true" { (sign) } " " (word) }
    }
}

/// An RFC 3339 time as people write it.
fn time(rfc3339: &str) -> Markup {
    html! { span.whole { (rfc3339.replace('T', " ").replace('Z', " UTC")) } }
}

/// The full citation, linked where there is a page to link to.
fn citation(paper: &Paper) -> Markup {
    html! {
        @if paper.url.starts_with("http") { a href=(paper.url) { (paper.full) } }
        @else { (paper.full) }
    }
}
