//! Measured numbers in documents, filled in from the reference run by `cargo xtask docs`.
//!
//! A number stands between `<!-- number: EXPERIMENT | WORDS | DIGITS -->` and `<!-- /number -->`.
//! WORDS are part of the text of exactly one claim of the experiment, whose measured value is
//! meant. DIGITS are significant ones, two if left out.

use std::path::Path;

use anyhow::Context;

use crate::check::{REFERENCE, Reference};

/// The documents with such numbers.
pub const DOCUMENTS: [&str; 2] = ["README.md", "docs/CHOOSING.md"];

const OPENS: &str = "<!-- number:";
const OPENED: &str = "-->";
const CLOSES: &str = "<!-- /number -->";

/// Fills the numbers of every document; does nothing while there is no reference.
///
/// # Errors
/// If a marker is not understood, or names no single claim.
pub fn fill_all(root: &Path) -> anyhow::Result<()> {
    if !root.join(REFERENCE).exists() {
        return Ok(());
    }
    let reference = Reference::read(&root.join(REFERENCE))?;
    for document in DOCUMENTS {
        let path = root.join(document);
        let old =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {document}"))?;
        let new = fill(&old, &reference).with_context(|| document.to_owned())?;
        if new != old {
            crate::atomic::write(&path, new.as_bytes())?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}

/// The text with its numbers as the reference has them.
///
/// # Errors
/// As [`fill_all`].
pub fn fill(text: &str, reference: &Reference) -> anyhow::Result<String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(OPENS) {
        let marker = &rest[at + OPENS.len()..];
        let end = marker.find(OPENED).with_context(|| format!("`{OPENS}` without `{OPENED}`"))?;
        let tail = &marker[end + OPENED.len()..];
        let close = tail
            .find(CLOSES)
            .with_context(|| format!("`{OPENS}{}` without `{CLOSES}`", &marker[..end]))?;
        filled += &rest[..at + OPENS.len() + end + OPENED.len()];
        filled += &number(&marker[..end], reference)?;
        filled += CLOSES;
        rest = &tail[close + CLOSES.len()..];
    }
    Ok(filled + rest)
}

/// The number that a marker asks for.
fn number(marker: &str, reference: &Reference) -> anyhow::Result<String> {
    let parts: Vec<&str> = marker.split('|').map(str::trim).collect();
    let (experiment, words, digits) = match parts[..] {
        [experiment, words] => (experiment, words, 2),
        [experiment, words, digits] => (experiment, words, digits.parse().context("DIGITS")?),
        _ => anyhow::bail!("`{marker}`: EXPERIMENT | WORDS or EXPERIMENT | WORDS | DIGITS"),
    };
    let value = reference.claim(experiment, words)?.value;
    Ok(significant(
        value.with_context(|| format!("the claim with `{words}` has no number"))?,
        digits,
    ))
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

    fn reference() -> Reference {
        let claim = r#"{"text": "d = 3: error of a over that of b ≤ 2", "paper": "", "measured": "1.4567 ± 0.1", "holds": true,
            "kind": "picture", "value": 1.4567, "standard_error": 0.1, "time": false}"#;
        let text = format!(
            r#"{{"scale": "default", "seed": 0, "experiments": [{{"name": "fig", "status": "done", "claims": [{claim}], "missing": []}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn numbers_are_filled_in_and_stay() {
        let text = "a <!-- number: fig | error of a -->?<!-- /number --> b <!-- number: fig | d = \
                    3 | 4 -->9<!-- /number -->.";
        let filled = fill(text, &reference()).unwrap();
        let expected = text.replace('?', "1.5").replace(">9<", ">1.457<");
        assert_eq!(filled, expected);
        assert_eq!(fill(&filled, &reference()).unwrap(), filled);
    }

    #[test]
    fn markers_that_name_nothing_are_refused() {
        for text in [
            "<!-- number: fig | x -->1<!-- /number -->",
            "<!-- number: other | d -->1<!-- /number -->",
        ] {
            assert!(fill(text, &reference()).is_err(), "{text}");
        }
        assert!(fill("<!-- number: fig | d = 3 -->1", &reference()).is_err(), "not closed");
        assert!(fill("<!-- number: fig -->1<!-- /number -->", &reference()).is_err());
    }

    #[test]
    fn digits_are_significant() {
        let cases = [
            (1.4567, 2, "1.5"),
            (0.06449, 2, "0.064"),
            (121.83, 2, "120"),
            (9.96, 2, "10.0"),
            (0.0, 2, "0.0"),
        ];
        for (value, digits, text) in cases {
            assert_eq!(significant(value, digits), text);
        }
    }
}
