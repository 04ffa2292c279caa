//! Instants as texts, which do not depend on the unit in which a file counts time.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;
/// Nanoseconds in a day.
const DAY: i128 = 86_400 * SECOND;

/// The date and time `since` nanoseconds after the beginning of 1970; `None` outside the years
/// −9999 to 9999. With `utc`, for sources that state UTC, the text ends in `Z`.
pub(crate) fn of_nanoseconds(since: i128, utc: bool) -> Option<String> {
    let days = since.div_euclid(DAY);
    let rest = since.rem_euclid(DAY);
    let days = SignedDuration::from_secs(i64::try_from(days).ok()?.checked_mul(86_400)?);
    let date = epoch().checked_add(days);
    let clock = SignedDuration::new((rest / SECOND) as i64, (rest % SECOND) as i32);
    let at: DateTime = date.ok()?.to_datetime(Time::midnight()).checked_add(clock).ok()?;
    Some(format!("{at}{}", if utc { "Z" } else { "" }))
}

/// The date this number of days after the beginning of 1970.
pub(crate) fn of_days(days: i64) -> Option<String> {
    let since = SignedDuration::from_secs(days.checked_mul(86_400)?);
    epoch().checked_add(since).ok().map(|date| date.to_string())
}

/// A time of day, or a duration, of this number of nanoseconds.
#[cfg(any(test, feature = "parquet"))]
pub(crate) fn clock(nanoseconds: i128) -> String {
    let (sign, of) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    let (seconds, rest) = (of / SECOND as u128, of % SECOND as u128);
    let fraction = format!(".{rest:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{sign}{hours:02}:{minutes:02}:{:02}{fraction}", seconds % 60)
}

fn epoch() -> Date {
    Date::constant(1970, 1, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_iso_texts() {
        assert_eq!(of_nanoseconds(0, false).unwrap(), "1970-01-01T00:00:00");
        let second = 1_614_558_300 * SECOND;
        assert_eq!(of_nanoseconds(second, true).unwrap(), "2021-03-01T00:25:00Z");
        assert_eq!(of_nanoseconds(second + 500, false).unwrap(), "2021-03-01T00:25:00.0000005");
        assert_eq!(of_nanoseconds(-1, false).unwrap(), "1969-12-31T23:59:59.999999999");
        assert_eq!(of_nanoseconds(i128::from(i64::MAX) * SECOND, false), None);
        assert_eq!(of_nanoseconds(i128::from(i64::MAX) * DAY, false), None);
        assert_eq!(of_days(18_687).unwrap(), "2021-03-01");
        assert_eq!(of_days(-1).unwrap(), "1969-12-31");
        assert_eq!(of_days(i64::MAX), None);
        assert_eq!(clock(14_700 * SECOND), "04:05:00");
        assert_eq!(clock(-90 * SECOND - SECOND / 2), "-00:01:30.5");
        assert_eq!(clock(100 * 3600 * SECOND), "100:00:00");
    }
}
