//! Instants and durations in `.npy` files.

use jiff::civil::Date;

use crate::column::{Categories, Column, Values};
use crate::instant;

/// The meaning of the whole numbers of a `datetime64` or `timedelta64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Times {
    /// Dates, in steps of this number of days since the beginning of 1970.
    Days(i64),
    /// Dates, in steps of this number of months since the beginning of 1970.
    Months(i64),
    /// Instants, in steps of this number of nanoseconds since the beginning of 1970.
    Instants(i128),
    /// Durations, in steps of this number of seconds.
    Durations(f64),
}

impl Times {
    /// For a type such as `M8[ns]`: `kind` is `M`, or `m` for durations, and `unit` is `ns`, or
    /// `25ns`. `None` for other units.
    pub fn parse(kind: u8, unit: &str) -> Option<Times> {
        let unit_start = unit.find(|c: char| !c.is_ascii_digit())?;
        let (times, unit) = unit.split_at(unit_start);
        let times: i64 = if times.is_empty() { 1 } else { times.parse::<u32>().ok()?.into() };
        let nanoseconds: i128 = match unit {
            "Y" | "M" if kind == b'm' => return None, // months and years have no fixed length
            "Y" => return Some(Times::Months(12 * times)),
            "M" => return Some(Times::Months(times)),
            "W" if kind == b'M' => return Some(Times::Days(7 * times)),
            "D" if kind == b'M' => return Some(Times::Days(times)),
            "W" => 604_800_000_000_000,
            "D" => 86_400_000_000_000,
            "h" => 3_600_000_000_000,
            "m" => 60_000_000_000,
            "s" => 1_000_000_000,
            "ms" => 1_000_000,
            "us" => 1000,
            "ns" => 1,
            _ => return None,
        };
        let step = nanoseconds * i128::from(times);
        Some(if kind == b'M' { Times::Instants(step) } else { Times::Durations(step as f64 / 1e9) })
    }

    /// The column of these counts: dates and instants as text, durations as seconds. `None` and
    /// dates outside the years −9999 to 9999 are missing.
    pub fn column(self, name: String, counts: impl Iterator<Item = Option<i64>>) -> Column {
        if let Times::Durations(step) = self {
            let seconds = counts.map(|count| count.map_or(f64::NAN, |count| count as f64 * step));
            return Column::numbers(name, seconds.collect());
        }
        let texts = counts.map(|count| self.text(count?)).collect();
        Column { name, values: Values::Categories(Categories::of(texts)) }
    }

    fn text(self, count: i64) -> Option<String> {
        match self {
            Times::Days(step) => instant::of_days(count.checked_mul(step)?),
            Times::Months(step) => {
                let months = count.checked_mul(step)?;
                let year = i16::try_from(1970 + months.div_euclid(12)).ok()?;
                let date = Date::new(year, months.rem_euclid(12) as i8 + 1, 1).ok()?;
                Some(date.to_string())
            }
            Times::Instants(step) => {
                instant::of_nanoseconds(i128::from(count).checked_mul(step)?, false)
            }
            Times::Durations(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_texts() {
        let texts = |unit: &str, counts: [i64; 2]| {
            let times = Times::parse(b'M', unit).unwrap();
            counts.map(|count| times.text(count).unwrap_or_default())
        };
        let start = "1970-01-01T00:00:00".to_owned();
        let instant = |text: &str| [start.clone(), text.to_owned()];
        let second = 1_614_558_300;
        let fraction = "2021-03-01T00:25:00.0000005";
        assert_eq!(texts("ns", [0, 1_000_000_000 * second + 500]), instant(fraction));
        assert_eq!(texts("us", [0, 1_000_000 * second]), instant("2021-03-01T00:25:00"));
        assert_eq!(texts("s", [0, -1]), instant("1969-12-31T23:59:59"));
        assert_eq!(texts("15m", [0, 5]), instant("1970-01-01T01:15:00"));
        assert_eq!(texts("D", [0, 18_687]), ["1970-01-01", "2021-03-01"]);
        assert_eq!(texts("W", [1, -1]), ["1970-01-08", "1969-12-25"]);
        assert_eq!(texts("M", [14, -1]), ["1971-03-01", "1969-12-01"]);
        assert_eq!(texts("Y", [51, -1]), ["2021-01-01", "1969-01-01"]);
        for unit in ["Y", "M", "W", "D", "h", "s"] {
            for unit in [unit.to_owned(), format!("4294967295{unit}")] {
                assert_eq!(texts(&unit, [i64::MAX, i64::MIN]), ["", ""], "{unit}");
            }
        }
    }

    #[test]
    fn durations_are_seconds() {
        for (unit, second) in [("ms", 0.001), ("D", 86_400.0), ("2h", 7200.0), ("W", 604_800.0)] {
            let times = Times::parse(b'm', unit).unwrap();
            let column = times.column("c".into(), [Some(1), None, Some(-3)].into_iter());
            let Values::Numbers(numbers) = column.values else { panic!("{unit}") };
            assert!(numbers[0] == second && numbers[1].is_nan() && numbers[2] == -3.0 * second);
        }
        for (kind, unit) in [(b'm', "Y"), (b'm', "M"), (b'M', "as"), (b'M', ""), (b'M', "7")] {
            assert_eq!(Times::parse(kind, unit), None);
        }
    }
}
