//! Numbers with a unit: memory as `2GB`, `512MiB`, `100000`; time as `90`, `90s`, `5min`, `1h`.

use super::lambda::positive;

/// An amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// Reads the value of --memory.
pub fn bytes(text: &str) -> Result<Bytes, String> {
    let unit = |name: &str| match name {
        "" | "b" => Some(1.0),
        "k" | "kb" => Some(1e3),
        "m" | "mb" => Some(1e6),
        "g" | "gb" => Some(1e9),
        "t" | "tb" => Some(1e12),
        "kib" => Some(1024.0),
        "mib" => Some(1024.0 * 1024.0),
        "gib" => Some(1024.0 * 1024.0 * 1024.0),
        _ => None,
    };
    let text = text.to_ascii_lowercase();
    let bytes = number(&text, unit, "unit of memory; write 2GB, 512MB or 1.5GiB")?;
    let expected = "expected a positive amount such as 2GB, 512MB or 1.5GiB";
    bytes.map(|bytes| Bytes(bytes as u64)).ok_or_else(|| expected.into())
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    let unit = |name: &str| match name {
        "" | "s" | "sec" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = number(text, unit, "unit of time; write 90s, 5min or 1h")?;
    seconds.ok_or_else(|| format!("{text:?} is not a time, such as 90s, 5min or 1h"))
}

/// A number times its unit; none unless the number is positive. `expected` completes the error of
/// an unknown unit.
fn number(
    text: &str,
    unit: impl Fn(&str) -> Option<f64>,
    expected: &str,
) -> Result<Option<f64>, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, name) = (text[..split].trim(), text[split..].trim());
    let unit = unit(name).ok_or_else(|| format!("{name:?} is no {expected}"))?;
    Ok(positive(number).ok().map(|number| number * unit))
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_have_units() {
        assert_eq!(
            (seconds("90"), seconds("1.5min"), seconds("1h")),
            (Ok(90.0), Ok(90.0), Ok(3600.0))
        );
        assert!(seconds("5 years").is_err() && seconds("-1s").is_err() && seconds("").is_err());
    }
}
