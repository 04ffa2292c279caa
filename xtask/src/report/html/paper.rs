//! `<paper>.html`: the figures and tables of one paper, in its order.

use maud::{Markup, html};

use super::experiment::article;
use super::{Chapter, citation, document, gallery, setting, tiles};
use crate::record::Run;

/// The page of the chapter at this place.
pub fn page(run: &Run, chapters: &[Chapter], at: usize) -> anyhow::Result<String> {
    let chapter = &chapters[at];
    let articles = chapter
        .entries
        .iter()
        .map(|entry| article(run, entry))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let header = html! {
        (ways(chapters, at))
        h1 { (chapter.paper.short) }
        p.cite { (citation(chapter.paper)) }
        (tiles(chapter.count()))
        (setting(run))
    };
    let main = html! {
        @if chapter.entries.len() > 1 { nav aria-label="On this page" { (gallery::of(chapter)) } }
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
