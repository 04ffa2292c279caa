//! Amounts of memory: `2GB`, `512MiB`, `100000`.

use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = (text[..split].trim(), text[split..].to_ascii_lowercase());
        let unit: f64 = match unit.as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => 1024.0,
            "mib" => 1024.0 * 1024.0,
            "gib" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(format!("{unit:?} is no unit of memory; write 2GB, 512MB or 1.5GiB")),
        };
        match number.parse::<f64>() {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(Bytes((number * unit) as u64)),
            _ => Err("expected a positive amount such as 2GB, 512MB or 1.5GiB".into()),
        }
    }
}
