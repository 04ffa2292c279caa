//! The gallery: a thumbnail of every figure with its verdict, linked to its place. People look
//! before they read.

use maud::{Markup, PreEscaped, html};

use super::Chapter;
use super::claims::in_short;
use crate::record::Entry;
use crate::report::thumbnail;

/// The figures and tables of a paper that have run, also those that have nothing to show.
pub fn of(chapter: &Chapter) -> Markup {
    let page = chapter.file();
    let tiles: Vec<Markup> =
        chapter.entries.iter().filter_map(|entry| tile(&page, entry)).collect();
    html! { @if !tiles.is_empty() { ul.gallery { @for tile in tiles { li { (tile) } } } } }
}

fn tile(page: &str, entry: &Entry) -> Option<Markup> {
    let outcome = &entry.record.as_ref()?.outcome;
    let picture = match (outcome.plots.first(), outcome.tables.first()) {
        (Some(plot), _) => thumbnail::of_plot(plot),
        (None, Some(table)) => thumbnail::of_table(table),
        (None, None) => thumbnail::of_nothing(),
    };
    Some(html! {
        a href=(format!("{page}#{}", entry.experiment.name)) {
            figure { (PreEscaped(picture)) }
            (entry.experiment.heading())
        }
        p { (in_short(entry)) }
    })
}
