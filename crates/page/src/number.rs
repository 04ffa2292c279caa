//! Numbers as text for readers, and JSON that keeps NaN and infinities.

/// A number as text. Integers below 10⁷ in magnitude have all their digits. Other numbers have four
/// significant digits from 0.001 to 100,000, and three with an exponent outside, as in `1.5e−7`.
/// Negative signs are true minus signs.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.into();
    }
    let magnitude = value.abs();
    let text = if value == value.trunc() && magnitude < 1e7 {
        format!("{}", magnitude)
    } else if (1e-3..1e5).contains(&magnitude) {
        fixed(magnitude)
    } else {
        scientific(magnitude)
    };
    if value < 0.0 { format!("−{text}") } else { text }
}

/// A value with its standard error, as in `1.019 ± 0.062`: the error has two significant digits,
/// and the value is rounded to the same decimal place.
pub fn with_error(value: f64, error: f64) -> String {
    let unit = 10_f64.powf(error.log10().floor() - 1.0);
    let rounded = |x: f64| {
        if unit.is_normal() && x.is_finite() {
            number((x / unit).round() * unit)
        } else {
            number(x)
        }
    };
    format!("{} ± {}", rounded(value), rounded(error))
}

/// Four significant digits, and all digits before the point, in fixed notation: 0.01234, 1.234,
/// 12345.
fn fixed(magnitude: f64) -> String {
    let exponent = magnitude.log10().floor() as i32;
    let decimals = (3 - exponent).clamp(0, 9) as usize;
    trim_zeros(&format!("{magnitude:.decimals$}")).to_owned()
}

/// Three significant digits and an exponent: 1.23e−7.
fn scientific(magnitude: f64) -> String {
    let text = format!("{magnitude:.2e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            format!("{}e{}", trim_zeros(mantissa), exponent.replace('-', "−"))
        }
        None => text,
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A duration as text: `0.42 s`, `37 s`, `4 min 05 s`, `2 h 03 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    if seconds < 10.0 {
        format!("{seconds:.2} s")
    } else if whole < 60 {
        format!("{whole} s")
    } else if whole < 3600 {
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        format!("{} h {:02} min", whole / 3600, whole % 3600 / 60)
    }
}

/// Serialises a float so that NaN and infinities, which JSON lacks, are strings, and every value is
/// read back unchanged. For `#[serde(with = "…")]`.
pub mod lossless {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Repr {
        Finite(f64),
        Word(String),
    }

    /// Serialises a float: a number if it is finite, otherwise a string.
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_str(&value.to_string())
        }
    }

    /// Deserialises a float from a number or a string.
    ///
    /// # Errors
    /// If the string is not a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Repr::deserialize(deserializer)? {
            Repr::Finite(value) => Ok(value),
            Repr::Word(word) => {
                word.parse().map_err(|_| D::Error::custom(format!("`{word}` is not a number")))
            }
        }
    }
}

/// As [`lossless`], for an optional float, which is null if absent.
pub mod lossless_option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Holder(#[serde(with = "super::lossless")] f64);

    /// Serialises an optional float: null, a number or a string.
    #[allow(clippy::ref_option)] // serde passes a reference
    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Holder).serialize(serializer)
    }

    /// Deserialises an optional float from null, a number or a string.
    ///
    /// # Errors
    /// If a string is not a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Holder>::deserialize(deserializer)?.map(|holder| holder.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_errors_have_two_digits() {
        let texts = [
            (1.0194, 0.06226),
            (0.5, 0.01),
            (41.41, 3.0),
            (1234.5, 56.7),
            (2.0, 0.0),
            (1e-7, 1.23e-9),
        ];
        let texts = texts.map(|(value, error)| with_error(value, error));
        assert_eq!(
            texts,
            ["1.019 ± 0.062", "0.5 ± 0.01", "41.4 ± 3", "1235 ± 57", "2 ± 0", "1e−7 ± 1.2e−9"]
        );
        assert_eq!(with_error(f64::NAN, f64::INFINITY), "NaN ± ∞");
    }

    #[test]
    fn numbers_are_readable() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-3.0, "−3"),
            (17898.0, "17898"),
            (0.1 + 0.2, "0.3"),
            (1.23456, "1.235"),
            (0.0012346, "0.001235"),
            (9.99996, "10"),
            (12345.678, "12346"),
            (1.5e-7, "1.5e−7"),
            (6.02214e23, "6.02e23"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "−∞"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value:e}");
        }
    }

    #[test]
    fn durations_are_readable() {
        assert_eq!(duration(0.416), "0.42 s");
        assert_eq!(duration(59.4), "59 s");
        assert_eq!(duration(59.6), "1 min 00 s");
        assert_eq!(duration(7385.0), "2 h 03 min");
    }

    #[test]
    fn floats_survive_json() {
        #[derive(serde::Serialize, serde::Deserialize)]
        struct Holder(#[serde(with = "lossless")] f64);
        for value in [
            0.1,
            -1e-310,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            3.0,
            2.225_073_858_507_201e-308,
        ] {
            let text = serde_json::to_string(&Holder(value)).unwrap();
            let back: Holder = serde_json::from_str(&text).unwrap();
            assert!(
                back.0.to_bits() == value.to_bits() || value.is_nan() && back.0.is_nan(),
                "{value:e} became {text}"
            );
        }
    }
}
