//! The gallery: a thumbnail of every figure with its verdict, linked to its place. People look before they read.

use maud::{Markup, PreEscaped, html};

use super::Chapter;
use super::claims::in_short;
use crate::record::Entry;
use crate::report::thumbnail;

/// Every experiment that has something to show.
pub fn gallery(chapters: &[Chapter]) -> anyhow::Result<Markup> {
    let mut tiles = vec![];
    for chapter in chapters {
        for entry in &chapter.entries {
            tiles.extend(tile(chapter, entry));
        }
    }
    Ok(html! {
        h2 id="gallery" { "At a glance" }
        ul.gallery { @for tile in &tiles { li { (tile) } } }
        @if tiles.is_empty() { p.note { "Nothing has been computed yet." } }
    })
}

fn tile(chapter: &Chapter, entry: &Entry) -> Option<Markup> {
    let outcome = &entry.record.as_ref()?.outcome;
    let picture = match (outcome.plots.first(), outcome.tables.first()) {
        (Some(plot), _) => thumbnail::of_plot(plot),
        (None, Some(table)) => thumbnail::of_table(table),
        (None, None) => return None,
    };
    let heading = entry.experiment.heading();
    Some(html! {
        a href=(format!("{}#{}", chapter.file(), entry.experiment.name)) {
            figure { (PreEscaped(picture)) }
            span.paper { (chapter.paper.short) }
            span.figure { (heading) }
        }
        p { (in_short(entry)) }
    })
}
