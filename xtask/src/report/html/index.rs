//! `index.html`: the verdict of every claim, paper by paper, and what the run was.

use maud::{Markup, html};

use super::{Chapter, Count, badge, citation, document, setting, tiles};
use crate::machine;
use crate::record::{Entry, Run, Status};
use crate::report::count;

/// The first page.
pub fn page(run: &Run, chapters: &[Chapter]) -> String {
    let header = html! {
        h1 { "Papers reproduced" }
        (tiles(count(run)))
        (setting(run))
    };
    let main = html! {
        section aria-labelledby="papers" { (papers(chapters)) }
        section aria-labelledby="verdicts" {
            h2 id="verdicts" { "Verdicts" }
            @for chapter in chapters { (verdicts(chapter)) }
        }
        section aria-labelledby="run" { (this_run(run)) }
    };
    document("Papers reproduced: every verdict", &header, &main)
}

/// One line per paper, with its counts and the way to its page.
fn papers(chapters: &[Chapter]) -> Markup {
    html! {
        h2 id="papers" { "Papers" }
        table.papers {
            caption.hidden { "Each paper, with how many of its claims hold" }
            thead { tr {
                th scope="col" { "Figures and tables of" }
                th.number scope="col" { "hold" } th.number scope="col" { "do not" } th.number scope="col" { "data missing" }
            } }
            tbody {
                @for chapter in chapters {
                    @let Count { hold, do_not, lack_data, .. } = chapter.count();
                    tr {
                        th scope="row" {
                            a href=(chapter.file()) { (chapter.paper.short) }
                            span.title { (citation(chapter.paper)) }
                        }
                        td.number { (hold) } td.number { (do_not) } td.number { (lack_data) }
                    }
                }
            }
        }
    }
}

fn verdicts(chapter: &Chapter) -> Markup {
    html! {
        h3 id=(chapter.slug()) { a href=(chapter.file()) { (chapter.paper.short) } }
        table.verdicts role="table" {
            caption.hidden { "Every claim of " (chapter.paper.short) ", checked" }
            thead { tr role="row" {
                th role="columnheader" scope="col" { "Verdict" }
                th role="columnheader" scope="col" { "Claim" }
                th role="columnheader" scope="col" { "Paper" }
                th role="columnheader" scope="col" { "Measured" }
                th role="columnheader" scope="col" { "Where" }
            } }
            tbody { @for entry in &chapter.entries { (Rows { page: &chapter.file(), entry }.all()) } }
        }
    }
}

/// The rows of one experiment.
struct Rows<'a> {
    page: &'a str,
    entry: &'a Entry,
}

impl Rows<'_> {
    fn all(&self) -> Markup {
        let Some(record) = &self.entry.record else {
            return self.row(&badge("unknown"), &html! { "Not run." }, "", "");
        };
        if record.status == Status::Failed {
            let why = record.error.as_deref().unwrap_or_default();
            return self.row(&badge("error"), &html! { "The experiment failed: " (why) }, "", "");
        }
        let outcome = &record.outcome;
        html! {
            @for claim in &outcome.claims {
                (self.row(&badge(if claim.holds { "holds" } else { "fails" }), &html! { (claim.text) }, &claim.paper, &claim.measured))
            }
            @for data in &outcome.missing {
                @let what = html! {
                    b { (data.name) } " is missing"
                    @if !data.needed_for.is_empty() { ": " (data.needed_for) }
                    @else if record.status == Status::NoData { ": " (self.entry.experiment.says) }
                };
                (self.row(&badge("lacks"), &what, "", ""))
            }
            @if record.status == Status::Done && outcome.claims.is_empty() && outcome.missing.is_empty() {
                (self.row(&badge("unknown"), &html! { "No claim to check." }, "", ""))
            }
        }
    }

    fn row(&self, verdict: &Markup, what: &Markup, paper: &str, measured: &str) -> Markup {
        let experiment = &self.entry.experiment;
        html! {
            tr role="row" {
                td role="cell" { (verdict) }
                td.claim role="cell" { (what) }
                td role="cell" data-label="paper" { (paper) }
                td role="cell" data-label="measured" { (measured) }
                td role="cell" { a href=(format!("{}#{}", self.page, experiment.name)) { (experiment.heading()) } }
            }
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
