//! The one place where cells are parsed as numbers.

use crate::error::{Problem, place::excerpt};

/// Parses `text` as a finite `f64`, correctly rounded. Surrounding white space is allowed.
pub(crate) fn number(text: &str) -> Result<f64, Problem> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(Problem::NotFinite { text: excerpt(text) }),
        Err(_) => Err(Problem::not_a_number(text)),
    }
}

/// Like [`number`], with a decimal comma. A point is an error: `1.500` may mean 1.5 or 1500.
pub(crate) fn number_with_comma(text: &str) -> Result<f64, Problem> {
    if text.contains('.') {
        let remedy = "numbers of this file have a decimal comma, so that the meaning of a \
                      point is unclear; remove the point";
        return Err(Problem::NotANumber { text: excerpt(text.trim()), remedy: remedy.to_owned() });
    }
    number(&text.replacen(',', ".", 1)).map_err(|problem| match problem {
        Problem::NotANumber { .. } => Problem::not_a_number(text.trim()),
        other => other,
    })
}

/// 2⁵³: whole numbers up to this one are different from each other as `f64`.
pub(crate) const LARGEST_EXACT: u64 = 1 << 53;
/// The digits of [`LARGEST_EXACT`].
const EXACT: &str = "9007199254740992";

/// Whether a text is a whole number beyond 2⁵³, written in digits, which `f64` may not tell from
/// others.
pub(crate) fn is_beyond_exact(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.len() < EXACT.len() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let digits = digits.trim_start_matches('0');
    (digits.len(), digits) > (EXACT.len(), EXACT)
}

/// Whether a text is not a number, but would be one if its comma were a point.
pub(crate) fn has_decimal_comma(text: &str) -> bool {
    text.contains(',') && !text.contains('.') && number(&text.replacen(',', ".", 1)).is_ok()
}

/// The half-precision float with these bits.
pub(crate) fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let value = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits & 0x8000 != 0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_two_bytes() {
        for (bits, value) in [
            (0x3c00_u16, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333251953125),
            (0x0001, 2f64.powi(-24)),
            (0x7bff, 65504.0),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7c00).is_infinite() && half(0x7c01).is_nan());
    }

    #[test]
    fn accepts_what_files_hold() {
        for (text, value) in
            [(" 1 ", 1.0), ("-.5", -0.5), ("+2e-3", 0.002), ("5.", 5.0), ("1E2", 100.0)]
        {
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
        assert_eq!((number_with_comma("-1,5e2"), number_with_comma("7")), (Ok(-150.0), Ok(7.0)));
        for text in ["1.5", "1.500,5", "1,5,2", "x", ""] {
            assert!(
                matches!(number_with_comma(text), Err(Problem::NotANumber { text: t,
                    .. }) if t == text),
                "{text}"
            );
        }
        assert!(matches!(number_with_comma("1e999"), Err(Problem::NotFinite { .. })));
    }
}
