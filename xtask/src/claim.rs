//! A statement of a paper as an inequality: by what right it is made, what was measured, and
//! whether it holds.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::number::{number, with_error};
use crate::statistics::Estimate;

/// A verdict is open where so many standard errors around the measured value cover the bound.
///
/// Two: a true value at the bound gets a verdict, rightly or wrongly, in about one of twenty runs.
pub const WIDTH: f64 = 2.0;

/// By what right a claim is made. Only the first three are a paper's, and count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number or an inequality that the paper prints.
    Printed,
    /// What we read off a figure of the paper. Where our copy does not tell the figure's setting,
    /// one of ours stands in, and the experiment says so.
    Picture,
    /// A theorem of the paper.
    Theorem,
    /// A claim of our own, or one that depends on what the paper leaves open.
    Ours,
}

impl Kind {
    /// The kinds that count, in the order of the report.
    pub const COUNTED: [Kind; 3] = [Kind::Printed, Kind::Picture, Kind::Theorem];
}

/// The word in `run.json` and in the report.
impl Display for Kind {
    fn fmt(&self, to: &mut Formatter) -> fmt::Result {
        self.serialize(to)
    }
}

/// One statement as an inequality, checked; [`Measured`] makes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The inequality in words and symbols: `risk ratio of leverage sampling at p = 2 d_eff ≤ 1.1`.
    pub text: String,
    /// What the paper prints or proves: `1.06`.
    pub paper: String,
    /// What was measured: `1.04 ± 0.02`.
    pub measured: String,
    /// Whether the inequality holds for what was measured; none where the error bar covers the
    /// bound.
    pub holds: Option<bool>,
    /// By what right it is made.
    pub kind: Kind,
    /// The measured value, where it is one number.
    #[serde(with = "crate::number::lossless_option")]
    pub value: Option<f64>,
    /// Its standard error over draws.
    pub standard_error: Option<f64>,
    /// True if the value depends on a clock; comparisons of runs leave it out.
    pub time: bool,
}

impl Claim {
    /// The paper prints it.
    pub fn printed(self) -> Self {
        Claim { kind: Kind::Printed, ..self }
    }

    /// We read it off the paper's figure.
    pub fn picture(self) -> Self {
        Claim { kind: Kind::Picture, ..self }
    }

    /// The paper proves it.
    pub fn theorem(self) -> Self {
        Claim { kind: Kind::Theorem, ..self }
    }
}

/// A measured value with the words that say of what. A claim on it is [`Kind::Ours`] until
/// [`printed`](Claim::printed), [`picture`](Claim::picture) or [`theorem`](Claim::theorem) is
/// called.
#[derive(Debug, Clone)]
pub struct Measured {
    /// `config A, n = 2000: error of uniform over that of BLESS`.
    pub text: String,
    /// The value.
    pub value: Estimate,
}

/// A measured value with the words that say of what.
pub fn measured(text: impl Into<String>, value: impl Into<Estimate>) -> Measured {
    Measured { text: text.into(), value: value.into() }
}

impl Measured {
    /// A claim that holds where `slack` of the measured value is not negative; slack changes as
    /// fast as the value. NaN does not hold.
    fn claim(self, text: String, paper: impl Into<String>, slack: impl Fn(f64) -> f64) -> Claim {
        let Estimate { value, error, time } = self.value;
        let slack = slack(value);
        let open = error.is_some_and(|error| error > 0.0 && slack.abs() <= WIDTH * error);
        Claim {
            text,
            paper: paper.into(),
            measured: error.map_or_else(|| number(value), |error| with_error(value, error)),
            holds: (!open).then_some(slack >= 0.0),
            kind: Kind::Ours,
            value: Some(value),
            standard_error: error,
            time,
        }
    }

    /// `what ≤ bound`.
    pub fn at_most(self, paper: impl Into<String>, bound: f64) -> Claim {
        let text = format!("{} ≤ {}", self.text, number(bound));
        self.claim(text, paper, |value| bound - value)
    }

    /// `what ≥ bound`.
    pub fn at_least(self, paper: impl Into<String>, bound: f64) -> Claim {
        let text = format!("{} ≥ {}", self.text, number(bound));
        self.claim(text, paper, |value| value - bound)
    }

    /// `lowest ≤ what ≤ highest`.
    pub fn between(self, paper: impl Into<String>, [lowest, highest]: [f64; 2]) -> Claim {
        let text = format!("{} ≤ {} ≤ {}", number(lowest), self.text, number(highest));
        self.claim(text, paper, |value| (value - lowest).min(highest - value))
    }

    /// `|what − printed| ≤ tolerance`, for a number that the paper prints.
    pub fn near(self, printed: f64, tolerance: f64) -> Claim {
        let text = format!("|{} − {}| ≤ {}", self.text, number(printed), number(tolerance));
        self.claim(text, number(printed), |value| tolerance - (value - printed).abs())
    }
}

/// A verdict in words: in full, as the verb of one claim, and of many.
pub fn verdict(holds: Option<bool>) -> [&'static str; 3] {
    match holds {
        Some(true) => ["holds", "holds", "hold"],
        Some(false) => ["does not hold", "does not", "do not"],
        None => ["is open", "is open", "are open"],
    }
}

/// The verdicts that any of the claims has, with their number and the verb of so many claims.
pub fn tally(claims: &[&Claim]) -> Vec<(Option<bool>, usize, &'static str)> {
    let all = [Some(true), Some(false), None].map(|holds| {
        let number = claims.iter().filter(|claim| claim.holds == holds).count();
        let [_, one, many] = verdict(holds);
        (holds, number, if number == 1 { one } else { many })
    });
    all.into_iter().filter(|(_, number, _)| *number > 0).collect()
}

/// `3 hold, 1 does not`; `none` without claims.
pub fn counts(claims: &[&Claim]) -> String {
    let parts: Vec<String> =
        tally(claims).iter().map(|(_, number, verb)| format!("{number} {verb}")).collect();
    if parts.is_empty() { "none".into() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::estimate;

    #[test]
    fn a_verdict_is_open_where_the_error_bar_covers_the_bound() {
        let at_most = |value| measured("x", estimate(value, 0.1)).at_most("", 1.0).holds;
        assert_eq!([0.7, 0.9, 1.1, 1.3].map(at_most), [Some(true), None, None, Some(false)]);
        let at_least = |value| measured("x", estimate(value, 0.1)).at_least("", 1.0).holds;
        assert_eq!([0.7, 1.1, 1.3].map(at_least), [Some(false), None, Some(true)]);
        let exact = measured("x", estimate(1.0, 0.0)).at_most("", 1.0);
        assert_eq!(exact.holds, Some(true), "a value without spread at the bound");
    }

    #[test]
    fn two_sided_claims_are_open_at_either_bound() {
        let near = |value| measured("x", estimate(value, 0.01)).near(1.0, 0.1).holds;
        let verdicts = [Some(false), None, Some(true), None, Some(false)];
        assert_eq!([0.8, 0.9, 1.0, 1.1, 1.2].map(near), verdicts);
        let between = |value: f64| measured("x", value).between("", [0.5, 2.0]).holds.unwrap();
        assert_eq!([0.4, 0.5, 2.1, f64::NAN].map(between), [false, true, false, false]);
    }

    #[test]
    fn nan_does_not_hold_and_values_without_draws_are_decided() {
        assert_eq!(measured("x", f64::NAN).at_most("", 1.0).holds, Some(false));
        assert_eq!(measured("x", f64::NAN).near(1.0, 1.0).holds, Some(false));
        let plain = measured("x", 1.0 - 1e-9).at_most("", 1.0);
        let expected = (Some(true), None, "1");
        assert_eq!((plain.holds, plain.standard_error, plain.measured.as_str()), expected);
        assert_eq!(plain.kind, Kind::Ours, "a claim is a paper's only if it says so");
        assert_eq!(measured("x", estimate(0.5, 0.01)).at_most("", 1.0).measured, "0.5 ± 0.01");
    }
}
