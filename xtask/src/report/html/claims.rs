//! Claims as the pages show them: one by one, and counted.

use maud::{Markup, html};

use super::{Count, badge, sign};
use crate::claim::Kind;
use crate::datasets::MissingData;
use crate::experiment::Claim;
use crate::record::{Entry, Status};
use crate::report::Tally;

/// Each claim with its verdict, the paper's number and ours.
pub fn claims<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Markup {
    html! {
        ul.claims {
            @for claim in claims {
                li {
                    span { (badge(class(claim))) " " span.kind { (claim.kind.word()) } } " "
                    span { (claim.text) } " "
                    span.numbers { "paper: " b { (claim.paper) } } " "
                    span.numbers { "measured: " b { (claim.measured) } }
                }
            }
        }
    }
}

/// The class of the verdict's badge.
fn class(claim: &Claim) -> &'static str {
    match claim.holds {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "open",
    }
}

/// What cannot be computed for want of a data set.
pub fn lacking(data: &MissingData) -> Markup {
    html! {
        b { (data.name) }
        @if !data.needed_for.is_empty() { ", needed for " (data.needed_for) }
    }
}

/// `✓ 3 hold ✗ 1 does not` with signs that a screen reader passes over.
pub fn tally(tally: Tally) -> Markup {
    html! { @for (class, number, word) in tally.parts() { (counted(class, number, word)) } }
}

/// `∅ 1 data set missing`; nothing where none is.
pub fn lacks(sets: usize) -> Markup {
    let word = if sets == 1 { "data set missing" } else { "data sets missing" };
    html! { @if sets > 0 { (counted("lacks", sets, word)) } }
}

fn counted(class: &str, number: usize, word: &str) -> Markup {
    html! {
        span class=(format!("badge {class}")) {
            span aria-hidden="true" { (sign(class).0) } " " b { (number) } " " (word)
        }
        " "
    }
}

/// The verdicts that count and the data that are missing. Where none counts, how many claims of our
/// own there are.
pub fn in_short(entry: &Entry) -> Markup {
    let Some(record) = &entry.record else { return badge("unknown") };
    let count = Count::of([entry]);
    let claims = &record.outcome.claims;
    let ours = Tally::of(claims.iter().filter(|claim| claim.kind == Kind::Ours));
    html! {
        @if record.status == Status::Failed { (badge("error")) }
        (tally(count.sum())) (lacks(count.lack_data))
        @if count.sum().total() == 0 && !claims.is_empty() {
            span.ours { "ours: " (ours.words()) }
        } @else if record.status == Status::Done && claims.is_empty() && count.lack_data == 0 {
            (badge("unclaimed"))
        }
    }
}
