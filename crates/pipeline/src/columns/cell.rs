//! A cell that holds one number: its sign, its digits, and the texts before and after them.

use serde::{Deserialize, Serialize};

/// Where the decimal mark and the separators of thousands are in the digits of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DigitStyle {
    /// `1234.5`, `1.5e3`, `1.5D+03`.
    Plain,
    /// `1,234.5`, and `12,34,567` as in India.
    CommaGroups,
    /// `1.234,5` and `1,5`.
    PointGroups,
    /// `1 234.5` and `1'234.5`.
    SpaceGroups,
    /// `1 234,5` and `1'234,5`.
    SpaceGroupsComma,
    /// `4:05:00` and `4:05`, in hours or minutes, minutes and seconds; read as seconds.
    Clock,
    /// `14h 38m`, `1 days 06:26:19`, `PT3H2M` and `2:30 PM`; read as seconds. Such cells have
    /// several numbers.
    Duration,
}

impl DigitStyle {
    /// All styles of digits, in the order in which they are tried.
    pub const ALL: [DigitStyle; 6] = [
        DigitStyle::Plain,
        DigitStyle::CommaGroups,
        DigitStyle::PointGroups,
        DigitStyle::SpaceGroups,
        DigitStyle::SpaceGroupsComma,
        DigitStyle::Clock,
    ];
}

/// The parts of a cell with one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NumberCell<'a> {
    pub negative: bool,
    /// A currency, a bound or a word.
    pub before: &'a str,
    /// Digits with their marks.
    pub digits: &'a str,
    /// A unit, a currency or a per cent sign.
    pub after: &'a str,
    /// The factor of the digits, as in `1.2K`, and the fraction added to them, as in `17½`.
    factor: f64,
    fraction: f64,
}

/// The marks right after digits that multiply them, with their factors.
const MAGNITUDES: [(&str, f64); 7] =
    [("K", 1e3), ("k", 1e3), ("M", 1e6), ("B", 1e9), ("bn", 1e9), ("Bn", 1e9), ("T", 1e12)];
const FRACTIONS: [(char, f64); 3] = [('¼', 0.25), ('½', 0.5), ('¾', 0.75)];

/// Whether a character separates thousands like a blank.
fn is_gap(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '\u{2019}')
}

fn is_minus(c: char) -> bool {
    matches!(c, '-' | '\u{2212}' | '\u{2013}')
}

/// A text without the blanks and quotes around it. Spreadsheets quote numbers that must stay texts
/// as `="1.38"` and `'1.38`.
pub(super) fn bare(text: &str) -> &str {
    const QUOTES: [(char, char); 5] =
        [('\'', '\''), ('"', '"'), ('`', '`'), ('\u{201c}', '\u{201d}'), ('\u{2018}', '\u{2019}')];
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let inside =
        |(open, close): (char, char)| text.strip_prefix(open)?.strip_suffix(close).map(str::trim);
    if let Some(found) = QUOTES.into_iter().find_map(inside) {
        return found;
    }
    let formula = || text.strip_prefix("=\"")?.strip_suffix('"');
    let number = || text.strip_prefix('\'').filter(|rest| rest.starts_with(is_number));
    formula().or_else(number).unwrap_or(text)
}

fn is_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | '+') || is_minus(c)
}

impl<'a> NumberCell<'a> {
    /// The parts of a text with digits in one place; none for other texts.
    pub fn of(text: &'a str) -> Option<NumberCell<'a>> {
        let text = bare(text);
        let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let (text, mut negative) = (inside.unwrap_or(text).trim(), inside.is_some());
        let digit = text.find(|c: char| c.is_ascii_digit())?;
        // `.5` begins with its mark
        let start = digit - usize::from(text[..digit].ends_with(['.', ',']));
        let mut before = text[..start].trim();
        let is_sign = |c: char| is_minus(c) || c == '+';
        if let Some(rest) = before.strip_suffix(is_sign).or_else(|| before.strip_prefix(is_sign)) {
            negative ^= before.ends_with(is_minus)
                || !before.ends_with('+') && before.starts_with(is_minus);
            before = rest.trim();
        }
        let length = length(&text[start..]);
        let (digits, mut after) = (&text[start..start + length], text[start + length..].trim());
        if let Some(rest) = after.strip_suffix(is_minus) {
            (negative, after) = (!negative, rest.trim());
        }
        let (mut factor, mut fraction) = (1.0, 0.0);
        if let Some((sign, part)) = FRACTIONS.into_iter().find(|(sign, _)| after.starts_with(*sign))
        {
            (fraction, after) = (part, after[sign.len_utf8()..].trim());
        }
        let behind = |(mark, times): (&str, f64)| {
            let rest = after.strip_prefix(mark)?;
            let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
            ends.then(|| (times, rest.trim()))
        };
        if let Some((found, rest)) = MAGNITUDES.into_iter().find_map(behind) {
            (factor, after) = (found, rest);
        }
        let other_digits = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        let cell = NumberCell { negative, before, digits, after, factor, fraction };
        (!other_digits(after)).then_some(cell)
    }

    /// The number of the cell if its digits have this style.
    pub fn number(&self, style: DigitStyle) -> Option<f64> {
        let value = (number(self.digits, style)? + self.fraction) * self.factor;
        Some(if self.negative { -value } else { value })
    }
}

/// The number of bytes of the digits with which a text begins, marks and exponent included.
fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = 0;
    loop {
        at += digits(at);
        let Some(mark) = text[at..].chars().next() else { return at };
        let next = at + mark.len_utf8();
        let behind = if next <= text.len() { digits(next) } else { 0 };
        let part = match mark {
            '.' | ',' | ':' => behind > 0,
            _ => is_gap(mark) && behind == 3,
        };
        if part {
            at = next;
            continue;
        }
        if matches!(mark, 'e' | 'E' | 'd' | 'D') {
            let sign = usize::from(bytes.get(next).is_some_and(|b| b"+-".contains(b)));
            let exponent = digits((next + sign).min(bytes.len()));
            // `3d 5h` is three days and more
            let fortran = sign > 0 || text[..at].contains('.');
            if exponent > 0 && (fortran || !mark.eq_ignore_ascii_case(&'d')) {
                return next + sign + exponent;
            }
        }
        // `12.` is a number, too
        return if mark == '.' && !text[next..].starts_with('.') { next } else { at };
    }
}

fn number(digits: &str, style: DigitStyle) -> Option<f64> {
    let plain = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    match style {
        DigitStyle::Plain => {
            let sound = |b: u8| b.is_ascii_digit() || b".eEdD+-".contains(&b);
            if !digits.bytes().all(sound) {
                return None;
            }
            plain(&digits.replace(['d', 'D'], "e"))
        }
        DigitStyle::CommaGroups => grouped(digits, |c| c == ',', '.').and_then(|text| plain(&text)),
        DigitStyle::PointGroups => grouped(digits, |c| c == '.', ',').and_then(|text| plain(&text)),
        DigitStyle::SpaceGroups => grouped(digits, is_gap, '.').and_then(|text| plain(&text)),
        DigitStyle::SpaceGroupsComma => grouped(digits, is_gap, ',').and_then(|text| plain(&text)),
        DigitStyle::Clock => clock(digits),
        DigitStyle::Duration => None,
    }
}

/// The digits without separators of thousands and with a point as decimal mark; none if groups have
/// other lengths.
fn grouped(digits: &str, separates: impl Fn(char) -> bool, mark: char) -> Option<String> {
    let exponent = digits.find(['e', 'E']).unwrap_or(digits.len());
    let (mantissa, exponent) = digits.split_at(exponent);
    let (whole, fraction) = match mantissa.split_once(mark) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let groups: Vec<&str> = whole.split(separates).collect();
    let is_digits = |text: &&str| text.bytes().all(|b| b.is_ascii_digit());
    if !groups.iter().all(is_digits) || !fraction.iter().all(is_digits) {
        return None;
    }
    if let [first, middle @ .., last] = &groups[..] {
        let thousands = first.len() <= 3 && middle.iter().all(|group| group.len() == 3);
        let lakhs = first.len() <= 2 && middle.iter().all(|group| group.len() == 2);
        // `0,125` is no thousand
        if first.is_empty() || first.starts_with('0') || last.len() != 3 || !(thousands || lakhs) {
            return None;
        }
    }
    let exponent = exponent.to_ascii_lowercase();
    Some(format!("{}.{}{exponent}", groups.concat(), fraction.unwrap_or_default()))
        .map(|text| if text.starts_with('.') { format!("0{text}") } else { text })
}

/// Hours, minutes and seconds, or minutes and seconds, in seconds.
fn clock(digits: &str) -> Option<f64> {
    let parts: Vec<&str> = digits.split(':').collect();
    let (first, rest) = parts.split_first()?;
    if rest.is_empty() || rest.len() > 2 || first.is_empty() || first.len() > 6 {
        return None;
    }
    let below_sixty = |text: &&str| {
        let whole = text.split('.').next().unwrap_or_default();
        whole.len() == 2 && text.parse::<f64>().is_ok_and(|value| value < 60.0)
    };
    let sound = first.bytes().all(|b| b.is_ascii_digit()) && rest.iter().all(below_sixty);
    let seconds = |sum: f64, part: &&str| Some(60.0 * sum + part.parse::<f64>().ok()?);
    sound.then(|| parts.iter().try_fold(0.0, seconds)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, style: DigitStyle) -> Option<f64> {
        NumberCell::of(text).and_then(|cell| cell.number(style))
    }

    #[test]
    fn numbers_in_every_style() {
        use DigitStyle::*;
        for (text, style, expected) in [
            ("1234.5", Plain, 1234.5),
            ("-1.5e3", Plain, -1500.0),
            ("1.38D+00", Plain, 1.38),
            ("'1.38'", Plain, 1.38),
            ("'1.38", Plain, 1.38),
            ("=\"1.38\"", Plain, 1.38),
            (".5", Plain, 0.5),
            ("12.", Plain, 12.0),
            ("\u{2212}7", Plain, -7.0),
            ("43,897.35", CommaGroups, 43_897.35),
            ("12,34,567.8", CommaGroups, 1_234_567.8),
            ("($1,234.50)", CommaGroups, -1234.5),
            ("1.234.567,8", PointGroups, 1_234_567.8),
            ("0,5", PointGroups, 0.5),
            ("1,5E-3", PointGroups, 0.0015),
            ("1 234 567.5", SpaceGroups, 1_234_567.5),
            ("1'234.5", SpaceGroups, 1234.5),
            ("1\u{202f}234,5", SpaceGroupsComma, 1234.5),
            ("1.2K", Plain, 1200.0),
            ("$1.5M", Plain, 1.5e6),
            ("17½", Plain, 17.5),
            ("-2 ¼", Plain, -2.25),
            ("4:05:00", Clock, 14_700.0),
            ("4:05", Clock, 245.0),
            ("-0:00:01.5", Clock, -1.5),
        ] {
            assert_eq!(value(text, style), Some(expected), "{text} {style:?}");
        }
        for (text, style) in [
            ("1,5", CommaGroups),
            ("0,125", CommaGroups),
            ("1,2345", CommaGroups),
            ("1.5.2", PointGroups),
            ("1 23", SpaceGroups),
            ("4:75:00", Clock),
            ("192.168.0.1", Plain),
            ("12", Clock),
        ] {
            assert_eq!(value(text, style), None, "{text} {style:?}");
        }
    }

    #[test]
    fn parts_before_and_behind_the_digits() {
        let parts = |text| NumberCell::of(text).map(|cell| (cell.before, cell.digits, cell.after));
        assert_eq!(parts("$438.97"), Some(("$", "438.97", "")));
        assert_eq!(parts("-12 %"), Some(("", "12", "%")));
        assert_eq!(parts("week 9"), Some(("week", "9", "")));
        assert_eq!(parts("3d"), Some(("", "3", "d")));
        assert_eq!(parts("3 Mb"), Some(("", "3", "Mb")));
        assert_eq!(parts("3K"), Some(("", "3", "")));
        assert_eq!(parts("A/5 21171"), None);
        assert_eq!(parts("red"), None);
        assert_eq!(parts(""), None);
        assert!(NumberCell::of("EUR -5").is_some_and(|cell| cell.negative && cell.before == "EUR"));
        assert!(NumberCell::of("5-").is_some_and(|cell| cell.negative));
        assert_eq!(parts("1e"), Some(("", "1", "e")));
    }
}
