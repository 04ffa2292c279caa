//! Measured numbers in documents, filled in from the reference run by `cargo xtask docs`.
//!
//! A number stands between `<!-- number: EXPERIMENT | WORDS | DIGITS -->` and `<!-- /number -->`.
//! WORDS are part of the text of exactly one claim of the experiment, whose measured value is
//! meant; `full:EXPERIMENT` is that of the run at the papers' own sizes. DIGITS are significant
//! ones, two if left out.

use anyhow::{Context, bail};

use crate::record::Run;

/// The documents with such numbers.
pub const DOCUMENTS: [&str; 2] = ["README.md", "docs/CHOOSING.md"];

/// In front of an experiment of the run at the papers' own sizes.
const FULL: &str = "full:";
const OPENS: &str = "<!-- number:";
const CLOSES: &str = "<!-- /number -->";

/// The text with its numbers as the references have them: that of the default scale, and that at
/// the papers' own sizes.
///
/// # Errors
/// If a marker is not understood, or names no single claim.
pub fn fill(text: &str, references: &[Run; 2]) -> anyhow::Result<String> {
    replace(text, OPENS, CLOSES, |marker| number(marker, references))
}

/// The text with other content between every `{opens}MARKER-->` and `{closes}`.
///
/// # Errors
/// If one of these is missing; those of `content`, which is given the marker.
pub fn replace(
    text: &str,
    opens: &str,
    closes: &str,
    content: impl Fn(&str) -> anyhow::Result<String>,
) -> anyhow::Result<String> {
    let mut pieces = text.split(opens);
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let marked = piece.split_once("-->").with_context(|| format!("`{opens}` without `-->`"))?;
        let (marker, tail) = marked;
        let rest = tail.split_once(closes);
        let (_, rest) = rest.with_context(|| format!("`{opens}{marker}` without `{closes}`"))?;
        filled += &format!("{opens}{marker}-->{}{closes}{rest}", content(marker)?);
    }
    Ok(filled)
}

/// The number that a marker asks for.
fn number(marker: &str, [usual, full]: &[Run; 2]) -> anyhow::Result<String> {
    let parts: Vec<&str> = marker.split('|').map(str::trim).collect();
    let (experiment, words, digits) = match parts[..] {
        [experiment, words] => (experiment, words, 2),
        [experiment, words, digits] => (experiment, words, digits.parse().context("DIGITS")?),
        _ => bail!("`{marker}`: EXPERIMENT | WORDS or EXPERIMENT | WORDS | DIGITS"),
    };
    let (run, experiment) = match experiment.strip_prefix(FULL) {
        Some(name) => (full, name),
        None => (usual, experiment),
    };
    let value = run.claim(experiment, words)?.value;
    let value = value.with_context(|| format!("the claim with `{words}` has no number"))?;
    Ok(significant(value, digits))
}

/// So many significant digits, without an exponent.
fn significant(value: f64, digits: usize) -> String {
    let exponent = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = digits as i32 - 1 - exponent;
    let unit = 10_f64.powi(-decimals);
    let rounded = if decimals < 0 { (value / unit).round() * unit } else { value };
    format!("{rounded:.*}", decimals.max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Outcome, measured};
    use crate::record::Record;
    use crate::testing::{record, run_with};

    fn filled(text: &str) -> anyhow::Result<String> {
        let run = |value| {
            let claim = measured("d = 3: error of a over that of b", value).at_most("", 2.0);
            let outcome = Outcome { claims: vec![claim], ..Outcome::default() };
            run_with(Record { name: "fig".into(), outcome, ..record() })
        };
        fill(text, &[run(1.4567), run(3.21)])
    }

    #[test]
    fn numbers_are_filled_in_and_stay() {
        let text = "a <!-- number: fig | error of a -->?<!-- /number --> b <!-- number: fig | d = \
                    3 | 4 -->9<!-- /number -->, <!-- number: full:fig | error -->8<!-- /number -->.";
        let expected = text.replace('?', "1.5").replace(">9<", ">1.457<").replace(">8<", ">3.2<");
        assert_eq!(filled(text).unwrap(), expected);
        assert_eq!(filled(&expected).unwrap(), expected);
    }

    #[test]
    fn markers_that_name_nothing_are_refused() {
        for marker in
            [" fig | x -->", " other | d -->", " full:other | d -->", " fig -->", " fig | d"]
        {
            assert!(filled(&format!("{OPENS}{marker}1{CLOSES}")).is_err(), "{marker}");
        }
        assert!(filled("<!-- number: fig | d = 3 -->1").is_err(), "not closed");
    }

    #[test]
    fn digits_are_significant() {
        let values = [1.4567, 0.06449, 121.83, 9.96, 0.0].map(|value| significant(value, 2));
        assert_eq!(values, ["1.5", "0.064", "120", "10.0", "0.0"]);
    }
}
