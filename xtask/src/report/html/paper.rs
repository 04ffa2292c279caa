//! `<paper>.html`: the figures and tables of one paper, in its order.

use maud::{Markup, html};

use super::experiment::article;
use super::{Chapter, Count, badge, citation, document, setting, tiles};
use crate::record::{Entry, Run, Status};

/// The page of the chapter at this place.
pub fn page(run: &Run, chapters: &[Chapter], at: usize) -> anyhow::Result<String> {
    let chapter = &chapters[at];
    let articles = chapter.entries.iter().map(|entry| article(run, entry)).collect::<anyhow::Result<Vec<_>>>()?;
    let header = html! {
        (ways(chapters, at))
        h1 { (chapter.paper.short) }
        p.cite { (citation(chapter.paper)) }
        (tiles(chapter.count()))
        (setting(run))
    };
    let main = html! {
        @if chapter.entries.len() > 1 { (contents(chapter)) }
        @for article in articles { (article) }
    };
    Ok(document(&format!("{}, reproduced", chapter.paper.short), &header, &main))
}

/// The way back and to the other papers.
fn ways(chapters: &[Chapter], at: usize) -> Markup {
    html! {
        nav aria-label="Pages of the report" {
            ul {
                li { a href="index.html" { "All verdicts" } }
                @for (i, chapter) in chapters.iter().enumerate() {
                    @let current = (i == at).then_some("page");
                    li { a href=(chapter.file()) aria-current=[current] { (chapter.paper.short) } }
                }
            }
        }
    }
}

fn contents(chapter: &Chapter) -> Markup {
    html! {
        nav.contents aria-label="On this page" {
            ul {
                @for entry in &chapter.entries {
                    li { a href=(format!("#{}", entry.experiment.name)) { (entry.experiment.heading()) } " " (in_short(entry)) }
                }
            }
        }
    }
}

/// `✓ 3 ✗ 1` in words that a screen reader can say.
fn in_short(entry: &Entry) -> Markup {
    let Count { hold, do_not, .. } = Count::of([entry]);
    html! {
        @match entry.record.as_ref().map(|record| record.status) {
            None => (badge("unknown")),
            Some(Status::Failed) => (badge("error")),
            Some(Status::NoData) => (badge("lacks")),
            Some(Status::Done) => {
                @if hold > 0 { span.badge.holds { span aria-hidden="true" { "✓" } " " (hold) " hold" @if hold == 1 { "s" } } " " }
                @if do_not > 0 {
                    span.badge.fails { span aria-hidden="true" { "✗" } " " (do_not) @if do_not == 1 { " does not" } @else { " do not" } }
                }
            }
        }
    }
}
