//! The one place where text becomes a number.

use crate::error::{Problem, place::excerpt};

/// `text` as a finite `f64`, correctly rounded; surrounding white space is allowed.
pub(crate) fn number(text: &str) -> Result<f64, Problem> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(Problem::NotFinite { text: excerpt(text) }),
        Err(_) => Err(Problem::not_a_number(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_files_hold() {
        for (text, value) in [(" 1 ", 1.0), ("-.5", -0.5), ("+2e-3", 0.002), ("5.", 5.0), ("1E2", 100.0)] {
            assert_eq!(number(text), Ok(value));
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in ["nan", "NaN", "-inf", "Infinity", "1e999"] {
            assert!(matches!(number(text), Err(Problem::NotFinite { .. })), "{text}");
        }
        for text in ["", "NA", "1_000", "0x10", "1 2", "--1", "1,234.5"] {
            assert!(matches!(number(text), Err(Problem::NotANumber { .. })), "{text}");
        }
        assert!(number("1,5").unwrap_err().to_string().contains("decimal commas"));
    }
}
