//! Claims as the pages show them: one by one, and counted.

use maud::{Markup, html};

use super::{Count, badge};
use crate::experiment::{Claim, MissingData};
use crate::record::{Entry, Status};
use crate::report::Tally;

/// Each claim with its verdict, the paper's number and ours.
pub fn claims<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> Markup {
    html! {
        ul.claims {
            @for claim in claims {
                li {
                    span { (badge(class(claim))) span.kind { (claim.kind.word()) } } " "
                    span { (claim.text) } " "
                    span.numbers { "paper: " b { (claim.paper) } } " "
                    span.numbers { "measured: " b { (claim.measured) } }
                }
            }
        }
    }
}

/// The class of the verdict's badge.
pub fn class(claim: &Claim) -> &'static str {
    match claim.holds {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "open",
    }
}

/// What cannot be computed for want of a data set.
pub fn lacking(data: &MissingData) -> Markup {
    html! { b { (data.name) } @if !data.needed_for.is_empty() { ", needed for " (data.needed_for) } }
}

/// `✓ 3 hold ✗ 1 does not ∅ 1 data set missing` of the claims that count, with signs that a screen reader passes over.
pub fn in_short(entry: &Entry) -> Markup {
    let count = Count::of([entry]);
    let (Tally { hold, do_not, open }, lack_data) = (count.sum(), count.lack_data);
    let counted = |class: &str, sign: &str, number: usize, one: &str, many: &str| {
        let word = if number == 1 { one } else { many };
        html! { span class=(format!("badge {class}")) { span aria-hidden="true" { (sign) } " " (number) " " (word) } " " }
    };
    html! {
        @match entry.record.as_ref().map(|record| record.status) {
            None => (badge("unknown")),
            Some(Status::Failed) => (badge("error")),
            Some(Status::NoData | Status::Done) => {
                @if hold > 0 { (counted("holds", "✓", hold, "holds", "hold")) }
                @if do_not > 0 { (counted("fails", "✗", do_not, "does not", "do not")) }
                @if open > 0 { (counted("open", "?", open, "undecided", "undecided")) }
                @if lack_data > 0 { (counted("lacks", "∅", lack_data, "data set missing", "data sets missing")) }
                @if hold + do_not + open + lack_data == 0 { (badge("unclaimed")) }
            }
        }
    }
}
