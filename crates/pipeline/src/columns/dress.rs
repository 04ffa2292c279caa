//! The dress of a column of numbers: the style of its digits and the texts around them.

use super::cell::{DigitStyle, NumberCell, bare};
use super::clock::{duration, is_compound};
use serde::{Deserialize, Serialize};

/// How the cells of a column are read as numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dress {
    pub style: DigitStyle,
    /// The text before the digits of some cells: a currency, or a word such as `week`.
    pub before: String,
    /// The text after the digits of some cells: a currency, a per cent sign or a unit.
    pub after: String,
    /// Whether cells are read one by one as far as they can be: ranges as their midpoint, bounds
    /// as their number, and decimal commas beside points.
    pub loose: bool,
}

/// Different texts of a column, each with the number of its cells.
pub(super) type Levels<'a> = [(usize, &'a str)];

/// 2⁵³: all whole numbers up to this one differ as `f64`.
const EXACT: &str = "9007199254740992";
/// Marks of a bound or of an approximate number.
const BOUNDS: [&str; 11] =
    ["<", ">", "<=", ">=", "\u{2264}", "\u{2265}", "~", "\u{2248}", "=", "ca.", "about"];
/// The texts between the two ends of a range.
const BETWEEN: [&str; 8] =
    [" - ", " \u{2013} ", " \u{2014} ", "\u{2013}", "\u{2014}", " to ", "..", "-"];

impl Dress {
    /// Numbers as they are.
    pub const PLAIN: Dress = Dress {
        style: DigitStyle::Plain,
        before: String::new(),
        after: String::new(),
        loose: false,
    };

    /// The dress in which all of these texts are numbers.
    pub fn of_all(levels: &Levels<'_>) -> Option<Dress> {
        let units = || {
            let mut texts = levels.iter().map(|(_, text)| bare(text));
            let some = texts.clone().any(is_compound);
            (some && texts.all(|text| duration(text).is_some()))
                .then_some(Dress { style: DigitStyle::Duration, ..Dress::PLAIN })
        };
        Dress::of_digits(levels).or_else(units)
    }

    /// The dress of texts that have digits in one place each.
    fn of_digits(levels: &Levels<'_>) -> Option<Dress> {
        let cells: Vec<NumberCell<'_>> =
            levels.iter().map(|(_, text)| NumberCell::of(text)).collect::<Option<_>>()?;
        let before = only(cells.iter().map(|cell| cell.before))?;
        let after = only(cells.iter().map(|cell| cell.after))?;
        let sound = |text: &str| text.is_empty() || is_currency(text);
        if !sound(before) || !(sound(after) || is_per_cent(after)) {
            return None;
        }
        let fits = |style: &DigitStyle| cells.iter().all(|cell| cell.number(*style).is_some());
        let style = DigitStyle::ALL.into_iter().find(fits)?;
        let (before, after) = (before.to_owned(), after.to_owned());
        Some(Dress { style, before, after, loose: false })
    }

    /// The loose dress that reads the most cells, and the number of these cells. `words`: whether
    /// a word such as `week` is allowed before the digits.
    pub fn of_some<'a>(levels: &Levels<'a>, words: bool) -> (Dress, usize) {
        let cells = || {
            let of = |(count, text): &(usize, &'a str)| {
                let cells: Vec<NumberCell<'a>> = match NumberCell::of(text) {
                    Some(cell) => vec![cell],
                    None => ends(text).map_or(Vec::new(), |ends| {
                        ends.into_iter().filter_map(NumberCell::of).collect()
                    }),
                };
                let count = *count;
                cells.into_iter().map(move |cell| (count, cell)).collect::<Vec<_>>()
            };
            levels.iter().flat_map(of)
        };
        let allowed = |text: &&str| words || is_currency(text);
        let before = cells().map(|(count, cell)| (count, cell.before));
        let before = commonest(before.filter(|(_, text)| allowed(text)));
        let after = commonest(cells().map(|(count, cell)| (count, cell.after)));
        let of = |style| {
            let (before, after) = (before.to_owned(), after.to_owned());
            let dress = Dress { style, before, after, loose: true };
            let read = levels.iter().filter(|(_, text)| dress.number(text).is_some());
            let read = read.map(|(count, _)| count).sum::<usize>();
            (dress, read)
        };
        let better = |best: (Dress, usize), other: (Dress, usize)| match other.1 > best.1 {
            true => other,
            false => best,
        };
        DigitStyle::ALL.into_iter().skip(1).map(of).fold(of(DigitStyle::Plain), better)
    }

    /// Whether every reader of files reads these numbers.
    pub fn is_plain(&self) -> bool {
        *self == Dress::PLAIN
    }

    /// The number that a text is in this dress.
    pub fn number(&self, text: &str) -> Option<f64> {
        match self.alone(text) {
            None if self.loose => self.range(text),
            found => found,
        }
    }

    /// The number of a text that holds one number.
    fn alone(&self, text: &str) -> Option<f64> {
        if self.style == DigitStyle::Duration {
            return duration(bare(text));
        }
        let cell = NumberCell::of(text)?;
        let bound = self.loose && BOUNDS.contains(&cell.before);
        if !(cell.before.is_empty() || cell.before == self.before || bound) {
            return None;
        }
        let open = self.loose && cell.after == "+";
        if !(cell.after.is_empty() || cell.after == self.after || open) {
            return None;
        }
        match cell.number(self.style) {
            // another decimal mark, where it can be no separator of thousands
            None if self.loose && cell.number(DigitStyle::CommaGroups).is_none() => {
                [DigitStyle::Plain, DigitStyle::PointGroups]
                    .into_iter()
                    .find_map(|style| cell.number(style))
            }
            found => found,
        }
    }

    /// The midpoint of a range.
    fn range(&self, text: &str) -> Option<f64> {
        let [low, high] = ends(text)?;
        let (low, high) = (self.alone(low)?, self.alone(high)?);
        (0.0 <= low && low <= high).then(|| low.midpoint(high))
    }

    /// A description of the numbers, with one of the texts as an example.
    pub fn describe(&self, example: &str) -> String {
        let mut words = match self.style {
            DigitStyle::Clock | DigitStyle::Duration => {
                format!("durations such as {example:?}, read as seconds")
            }
            _ => format!("numbers such as {example:?}"),
        };
        let parts = [&self.before, &self.after].into_iter().filter(|part| !part.is_empty());
        let parts: Vec<String> = parts.map(|part| format!("{part:?}")).collect();
        if !parts.is_empty() {
            words = format!("{words} with {}", parts.join(" and "));
        }
        words
    }
}

/// The two ends of a range.
fn ends(text: &str) -> Option<[&str; 2]> {
    let text = bare(text);
    let number = |end: &str| end.contains(|c: char| c.is_ascii_digit());
    BETWEEN.into_iter().find_map(|between| {
        let (low, high) = text.split_once(between)?;
        (number(low) && number(high)).then_some([low, high])
    })
}

/// Whether a text is a whole number beyond 2⁵³, where different numbers are the same `f64`.
pub(super) fn is_beyond_exact(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).trim_start_matches('0');
    let whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    whole && (digits.len(), digits) > (EXACT.len(), EXACT)
}

/// The one text of these that is not empty, or an empty one if none is; none if they differ.
fn only<'a>(texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut found = "";
    for text in texts.filter(|text| !text.is_empty()) {
        if found.is_empty() {
            found = text;
        } else if found != text {
            return None;
        }
    }
    Some(found)
}

/// The text of these that is not empty and has the most cells.
fn commonest<'a>(texts: impl Iterator<Item = (usize, &'a str)>) -> &'a str {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let counted = texts.filter(|(_, text)| !text.is_empty() && !BOUNDS.contains(text));
    counted
        .filter(|(_, text)| *text != "+")
        .for_each(|(n, text)| *counts.entry(text).or_default() += n);
    counts
        .into_iter()
        .max_by_key(|(text, count)| (*count, std::cmp::Reverse(*text)))
        .map_or("", |(text, _)| text)
}

/// A symbol, a code of three letters, or both.
fn is_currency(text: &str) -> bool {
    const SYMBOLS: &str = "$€£¥₹₩₽₺₪₫₴₦฿¢₱₸₡₲₭₮";
    const CODES: &str = "USD EUR GBP JPY CNY INR CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF RON BGN \
                         TRY RUB UAH BRL MXN ARS CLP COP PEN ZAR NGN KES EGP ILS AED SAR QAR KWD \
                         THB VND IDR MYR SGD HKD TWD KRW PHP PKR BDT LKR Rs Rs. kr kr. zł Kč Ft";
    let code = |text: &str| CODES.split_whitespace().any(|code| code.eq_ignore_ascii_case(text));
    let symbol = |c: char| SYMBOLS.contains(c);
    let rest = text.trim_matches(|c: char| symbol(c) || c.is_whitespace());
    match rest {
        "" => !text.is_empty(),
        // `US$`, `R$`, `A$`
        _ if rest.len() < text.len() => {
            code(rest) || (rest.len() <= 2 && rest.chars().all(|c| c.is_ascii_uppercase()))
        }
        _ => code(rest),
    }
}

fn is_per_cent(text: &str) -> bool {
    ["%", "percent", "per cent", "pct", "\u{2030}"]
        .iter()
        .any(|other| other.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Option<(Dress, Vec<f64>)> {
        let levels: Vec<(usize, &str)> = texts.iter().map(|text| (1, *text)).collect();
        let dress = Dress::of_all(&levels)?;
        let values = texts.iter().map(|text| dress.number(text)).collect::<Option<_>>()?;
        Some((dress, values))
    }

    fn values(texts: &[&str]) -> Option<Vec<f64>> {
        read(texts).map(|(_, values)| values)
    }

    #[test]
    fn a_dress_is_that_of_all_cells() {
        assert_eq!(
            values(&["43,897.35", "979.64", "1,000"]),
            Some(vec![43_897.35, 979.64, 1000.0])
        );
        assert_eq!(values(&["$438.97", "$-2", "-$1,000"]), Some(vec![438.97, -2.0, -1000.0]));
        assert_eq!(values(&["12 %", "7.5%", "100 %"]), Some(vec![12.0, 7.5, 100.0]));
        assert_eq!(values(&["1.38D+00", "-2.5d-01"]), Some(vec![1.38, -0.25]));
        assert_eq!(values(&["'1.38'", "'2'"]), Some(vec![1.38, 2.0]));
        assert_eq!(values(&["1,5", "2", "1.234,25"]), Some(vec![1.5, 2.0, 1234.25]));
        assert_eq!(values(&["1.234.567", "1.000"]), Some(vec![1_234_567.0, 1000.0]));
        assert_eq!(values(&["4:05:00", "12:00:30"]), Some(vec![14_700.0, 43_230.0]));
        assert_eq!(values(&["1 000 \u{20ac}", "12,50 \u{20ac}"]), Some(vec![1000.0, 12.5]));
        assert_eq!(values(&["EUR 5", "7"]), Some(vec![5.0, 7.0]));
        assert_eq!(values(&["US$5", "US$7"]), Some(vec![5.0, 7.0]));
        assert_eq!(values(&["14h 38m", "2h", "50m"]), Some(vec![52_680.0, 7200.0, 3000.0]));
        assert_eq!(values(&["1 days 06:26:19", "0 days 00:00:01.5"]), Some(vec![109_579.0, 1.5]));
        assert_eq!(values(&["-1 days +23:00:00"]), Some(vec![-3600.0]));
        assert_eq!(values(&["PT3H2M", "P1DT1S"]), Some(vec![10_920.0, 86_401.0]));
        assert_eq!(values(&["2:30 PM", "12:05 am"]), Some(vec![52_200.0, 300.0]));
        // all of them may be thousands: they are
        assert_eq!(values(&["1,234", "5,678"]), Some(vec![1234.0, 5678.0]));
        assert!(read(&["1.5", "2"]).is_some_and(|(dress, _)| dress.is_plain()));
    }

    #[test]
    fn what_is_not_of_one_dress_has_none() {
        for texts in [
            &["1,5", "1.5"][..],
            &["$5", "\u{20ac}5"],
            &["5 kg", "7 kg"],
            &["5", "red"],
            &["2100 - 2850"],
            &["A/5 21171", "113803"],
            &["week 9"],
            &["3 h", "5 kg"],
            &["P", "PT"],
            &["1 month 2 days"],
        ] {
            assert_eq!(values(texts), None, "{texts:?}");
        }
    }

    #[test]
    fn loose_cells_are_read_one_by_one() {
        let read = |texts: &[&str]| {
            let levels: Vec<(usize, &str)> = texts.iter().map(|text| (1, *text)).collect();
            let (dress, count) = Dress::of_some(&levels, true);
            (texts.iter().map(|text| dress.number(text)).collect::<Vec<_>>(), count)
        };
        assert_eq!(
            read(&["1056", "2100 - 2850", "34.46Sq. Meter"]),
            (vec![Some(1056.0), Some(2475.0), Some(34.46)], 3)
        );
        assert_eq!(read(&["1,5", "1.5", "2"]), (vec![Some(1.5), Some(1.5), Some(2.0)], 3));
        assert_eq!(read(&["5 kg", "7 kg", "3 lb"]), (vec![Some(5.0), Some(7.0), None], 2));
        assert_eq!(read(&["<5", ">=10", "20+"]), (vec![Some(5.0), Some(10.0), Some(20.0)], 3));
        assert_eq!(read(&["week 9", "week 10"]), (vec![Some(9.0), Some(10.0)], 2));
        assert_eq!(read(&["A/5 21171", "113803"]), (vec![None, Some(113_803.0)], 1));
        assert_eq!(read(&["25-34", "35-44", "65+"]).0, [Some(29.5), Some(39.5), Some(65.0)]);
        assert_eq!(read(&["$50,000 - $74,999", "$75,000 - $99,999"]).0[0], Some(62_499.5));
        assert_eq!(read(&["10%-20%", "20%-40%"]).0, [Some(15.0), Some(30.0)]);
        assert_eq!(read(&["148\u{2014}188 mm", "188\u{2014}200 mm"]).0[0], Some(168.0));
        assert_eq!(read(&["red", "blue"]).1, 0);
    }

    #[test]
    fn whole_numbers_beyond_exact_ones_are_told() {
        assert!(is_beyond_exact("100000000000000001") && is_beyond_exact("-9007199254740993"));
        assert!(!is_beyond_exact("9007199254740992") && !is_beyond_exact("1e20"));
        assert!(!is_beyond_exact("123") && !is_beyond_exact("9007199254740993.5"));
    }
}
