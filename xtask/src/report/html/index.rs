//! `index.html`: the verdict of every claim, by paper and by figure, and what the run was.

use maud::{Markup, html};
use nystrom::linalg_core::instruction_set;

use super::claims::{claims, in_short, lacking, lacks, tally};
use super::{Chapter, badge, citation, document, gallery, setting, tiles};
use crate::claim::{Claim, Kind};
use crate::machine;
use crate::record::{Entry, Run};
use crate::report::count;

/// The first page.
pub fn page(run: &Run, chapters: &[Chapter]) -> String {
    let header = html! {
        h1 { "Papers reproduced" }
        (tiles(count(run)))
        (setting(run))
    };
    let main = html! {
        section aria-labelledby="gallery" {
            h2 id="gallery" { "At a glance" }
            @for chapter in chapters.iter().filter(|chapter| chapter.has_run()) {
                @let count = chapter.count();
                h3 {
                    a href=(chapter.file()) { (chapter.paper.short) }
                    " " (tally(count.sum())) (lacks(count.lack_data))
                }
                p.cite { (citation(chapter.paper)) }
                (gallery::of(chapter))
            }
        }
        section aria-labelledby="verdicts" {
            h2 id="verdicts" { "Figures and tables" }
            p { "Under each figure: the claims that do not hold or are undecided, and the data \
                 that are missing. The claims that hold are folded, and so are claims of our own, \
                 which are counted nowhere." }
            @for chapter in chapters { (verdicts(chapter)) }
        }
        section aria-labelledby="run" { (this_run(run)) }
    };
    document("Papers reproduced: every verdict", &header, &main)
}

/// The figures and tables of one paper, each with what does not hold in words and the rest folded.
fn verdicts(chapter: &Chapter) -> Markup {
    html! {
        h3 id=(chapter.slug()) { a href=(chapter.file()) { (chapter.paper.short) } }
        ul.figures { @for entry in &chapter.entries { li { (figure(&chapter.file(), entry)) } } }
    }
}

/// The claims of which something is true, and the others.
fn split<'a>(
    claims: impl IntoIterator<Item = &'a Claim>,
    is: impl Fn(&Claim) -> bool,
) -> (Vec<&'a Claim>, Vec<&'a Claim>) {
    claims.into_iter().partition(|claim| is(claim))
}

/// One figure or table: its line, then what the reader must know at once, then the other claims,
/// folded.
fn figure(page: &str, entry: &Entry) -> Markup {
    let heading = entry.experiment.heading();
    let place = format!("{page}#{}", entry.experiment.name);
    html! {
        h4 { a href=(place) { (heading) } " " (in_short(entry)) }
        @if let Some(record) = &entry.record {
            @let all = record.outcome.claims.iter();
            @let (ours, theirs) = split(all, |claim| claim.kind == Kind::Ours);
            @let (hold, do_not) = split(theirs, |claim| claim.holds == Some(true));
            @if let Some(error) = &record.error { p.error { (error) } }
            @if !do_not.is_empty() { (claims(do_not)) }
            @for data in &record.outcome.missing { p { (badge("lacks")) " " (lacking(data)) } }
            @let words = if hold.len() == 1 { "claim holds" } else { "claims hold" };
            @if !hold.is_empty() { (folded(words, &heading, hold)) }
            @if !ours.is_empty() { (folded("of our own", &heading, ours)) }
        }
    }
}

/// So many claims under a line that opens them.
fn folded(what: &str, heading: &str, list: Vec<&Claim>) -> Markup {
    html! {
        details {
            summary { (list.len()) " " (what) span.hidden { ", " (heading) } }
            (claims(list))
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
        ("Instruction set", instruction_set().into()),
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
