//! The confusion matrix of a classification, and the reliability of its probabilities.

use super::gallery;
use super::look::{FIT, IDEAL};
use crate::number::number;
use crate::plot::{Axis, Plot, Point};
use maud::{Markup, html};
use nystrom_pipeline::{ClassErrors, Confusion};

/// The matrix shows at most this many classes: those with the most rows.
const SHOWN: usize = 20;

pub fn shown(confusion: &Confusion, errors: Option<ClassErrors>) -> Markup {
    html! {
        (matrix(confusion))
        h3 { "Probabilities" }
        p {
            "The probabilities were calibrated on these rows, with one parameter for each class. "
            @if let Some(errors) = errors {
                "Their calibration error in 15 bins is " (number(errors.calibration_error)) "."
            }
        }
        (gallery(&[reliability(confusion)]))
    }
}

fn matrix(confusion: &Confusion) -> Markup {
    let Confusion { names, counts, .. } = confusion;
    let total = |k: usize| counts[k].iter().sum::<usize>();
    let mut classes: Vec<usize> = (0..names.len()).collect();
    classes.sort_by_key(|&k| std::cmp::Reverse(total(k)));
    classes.truncate(SHOWN);
    classes.sort_unstable();
    let share = |k: usize, l: usize| counts[k][l] as f64 / total(k).max(1) as f64;
    let title = "Number of rows by their class (down) and their predicted class (across)";
    html! {
        div.scroll role="region" aria-label=(title) tabindex="0" {
            table.data {
                caption { span { (title) } }
                thead { tr {
                    th scope="col" { "class" }
                    @for &l in &classes { th.number scope="col" { (names[l]) } }
                    th.number scope="col" { "right" }
                } }
                tbody {
                    @for &k in &classes { tr {
                        th scope="row" { (names[k]) }
                        @for &l in &classes {
                            td.number.shade style=(format!("--share:{:.3}", 0.6 * share(k, l))) {
                                (counts[k][l])
                            }
                        }
                        td.number { (super::percent(share(k, k))) }
                    } }
                }
            }
        }
        @if names.len() > SHOWN {
            p.note { "The " (SHOWN) " classes with the most rows, of " (names.len()) "." }
        }
    }
}

fn reliability(confusion: &Confusion) -> Plot {
    let (title, x) = match &confusion.names[..] {
        [_, second] => (
            format!("How often a row was {second}, by its probability"),
            format!("probability of {second}"),
        ),
        _ => (
            "How often the most probable class was right, by its probability".to_owned(),
            "probability of the most probable class".to_owned(),
        ),
    };
    let mut plot =
        Plot::new("reliability", &title, Axis::linear(&x), Axis::linear("share of rows"));
    let points = confusion.bins.iter().map(|bin| {
        let error = (bin.share * (1.0 - bin.share) / bin.rows as f64).sqrt();
        Point::with_range(bin.probability, bin.share, bin.share - error, bin.share + error)
    });
    plot.line_and_points("bins with equal numbers of rows; standard errors", FIT, points);
    plot.line("perfect", IDEAL, [0.0, 1.0].map(|at| Point::new(at, at)));
    plot
}
