//! Reads the cells of a column, once `decide.rs` has decided how: as numbers in some dress,
//! instants, categories, or two of these.

use super::dress::Dress;
use super::options::ColumnOptions;
use super::time::{TimeFormat, of_digits};
use crate::counts::counted;
use nystrom_data::{Categories, Values, is_marker, is_number_marker};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The seconds of a day.
const DAY: f64 = 86_400.0;

/// How the cells of a column are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub kind: Kind,
    /// Whether texts of another kind are categories; otherwise they count as missing.
    pub rest: bool,
}

/// The kind of most cells of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Categories, by their text.
    Level,
    /// Numbers.
    Number(Dress),
    /// Instants.
    Time(TimeFormat),
    /// Dates written as a whole number, such as 20190131.
    Digits,
    /// Sparse rows.
    Sparse,
}

/// The cells of a column as they were read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series<'a> {
    /// Numbers, and days since 1970 of instants; NaN where a value is missing or is a text.
    pub numbers: Option<Cow<'a, [f64]>>,
    /// The categories; in a column of numbers, the texts that are no numbers.
    pub texts: Option<Cow<'a, Categories>>,
    /// The number of rows with a text that should be a number and is none, and some of the texts.
    pub unread: (usize, Vec<String>),
    /// The days since the date of another column, by its name; [`read`](Reading::read) sets none.
    pub since: Vec<(String, Vec<f64>)>,
}

impl Series<'_> {
    /// Marks the rows that have neither a number nor a text. Of sparse rows, which are neither,
    /// none is missing.
    pub fn mark_gaps(&self, misses: &mut [bool]) {
        let numbers = self.numbers.as_deref();
        let texts = self.texts.as_ref();
        if numbers.is_none() && texts.is_none() {
            return;
        }
        for (row, misses) in misses.iter_mut().enumerate() {
            let number = numbers.is_some_and(|numbers| !numbers[row].is_nan());
            let text = texts.is_some_and(|text| text.codes[row].is_some());
            *misses |= !(number || text);
        }
    }
}

impl Reading {
    /// Numbers as they are.
    pub const PLAIN: Reading = Reading { kind: Kind::Number(Dress::PLAIN), rest: false };
    /// Categories by their text.
    pub const LEVEL: Reading = Reading { kind: Kind::Level, rest: false };

    /// Whether a reader of files must keep the cells as texts, because only this reading reads
    /// them.
    pub fn wants_text(&self) -> bool {
        match &self.kind {
            Kind::Number(dress) => self.rest || !dress.is_plain(),
            Kind::Level | Kind::Time(_) => true,
            Kind::Digits | Kind::Sparse => false,
        }
    }

    /// The number in a text; for an instant, the days since 1970.
    pub fn number(&self, text: &str) -> Option<f64> {
        match &self.kind {
            Kind::Level | Kind::Sparse => None,
            Kind::Number(dress) => dress.number(text),
            Kind::Time(format) => format.instant(text).map(|seconds| seconds / DAY),
            Kind::Digits => Dress::PLAIN.number(text).and_then(days_of_digits),
        }
    }

    /// Reads the cells of a column.
    pub fn read<'a>(&self, values: &'a Values, options: &Marks) -> Series<'a> {
        match (&self.kind, values) {
            (Kind::Level, Values::Categories(text)) => {
                Series { texts: Some(without_markers(text, options)), ..Series::default() }
            }
            (Kind::Level, Values::Numbers(values)) => {
                Series { texts: Some(Cow::Owned(categories(values))), ..Series::default() }
            }
            (Kind::Number(_), Values::Numbers(values)) => {
                let numbers = Some(Cow::Borrowed(&values[..]));
                Series { numbers, texts: self.no_texts(values.len()), ..Series::default() }
            }
            (Kind::Digits | Kind::Time(_), Values::Numbers(values)) => {
                let of = |value: &f64| days_of_digits(*value).unwrap_or(f64::NAN);
                let lost = || values.iter().filter(|v| !v.is_nan() && of_digits(**v).is_none());
                let numbers = Some(Cow::Owned(values.iter().map(of).collect()));
                let unread = (lost().count(), lost().take(1).map(f64::to_string).collect());
                Series { numbers, texts: self.no_texts(values.len()), unread, ..Series::default() }
            }
            (Kind::Sparse, _) | (_, Values::Sparse(_)) => Series::default(),
            (_, Values::Categories(text)) => self.texts(text, options),
        }
    }

    /// The reading of a column of dates of which none has the fitted format, if their own format is
    /// not ambiguous.
    fn for_other_dates(&self, text: &Categories, marks: &Marks) -> Option<Reading> {
        let Kind::Time(format) = &self.kind else { return None };
        let levels = marks.values(counted(text, None), true);
        let levels = levels.iter().map(|(_, level)| *level);
        if levels.clone().any(|level| format.instant(level).is_some()) {
            return None;
        }
        let own = TimeFormat::of_all(levels, false).filter(|own| !own.ambiguous)?;
        Some(Reading { kind: Kind::Time(own), rest: self.rest })
    }

    /// The categories of a column that holds only numbers.
    fn no_texts<'a>(&self, rows: usize) -> Option<Cow<'a, Categories>> {
        self.rest.then(|| Cow::Owned(Categories { levels: Vec::new(), codes: vec![None; rows] }))
    }

    /// Reads texts of which some or all are numbers or instants.
    fn texts<'a>(&self, text: &Categories, marks: &Marks) -> Series<'a> {
        let missing: Vec<bool> =
            text.levels.iter().map(|level| marks.is_missing(level, true)).collect();
        let own = self.for_other_dates(text, marks);
        let of = own.as_ref().unwrap_or(self);
        let numbers: Vec<Option<f64>> = text.levels.iter().map(|level| of.number(level)).collect();
        let code = |code: &Option<u32>| code.map(|code| code as usize);
        let number = |of: &Option<u32>| code(of).and_then(|code| numbers[code]).unwrap_or(f64::NAN);
        let other = |of: usize| numbers[of].is_none() && !missing[of];
        let values = text.codes.iter().map(number).collect();
        let (mut rows, mut examples) = (0, Vec::new());
        if !self.rest {
            for place in text.codes.iter().filter_map(code).filter(|place| other(*place)) {
                rows += 1;
                keep_example(&mut examples, &text.levels[place]);
            }
        }
        let texts = self.rest.then(|| {
            let codes = text.codes.iter().map(|of| of.filter(|of| other(*of as usize))).collect();
            Cow::Owned(Categories { levels: text.levels.clone(), codes })
        });
        Series {
            numbers: Some(Cow::Owned(values)),
            texts,
            unread: (rows, examples),
            ..Series::default()
        }
    }
}

/// The texts that mark a missing value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// Texts that are values, although they usually mark a missing value.
    pub kept: Vec<String>,
}

impl Marks {
    /// The marks by these options.
    pub fn of(options: &ColumnOptions) -> Marks {
        Marks { kept: options.not_missing.clone() }
    }

    /// The texts that are values, among numbers or elsewhere, each with the number of its cells.
    pub fn values<'a>(
        &self,
        mut counts: Vec<(usize, &'a str)>,
        among_numbers: bool,
    ) -> Vec<(usize, &'a str)> {
        counts.retain(|(_, text)| !self.is_missing(text, among_numbers));
        counts
    }

    /// Whether a text means a missing value, among numbers or elsewhere.
    pub fn is_missing(&self, text: &str, among_numbers: bool) -> bool {
        let marks = if among_numbers { is_number_marker(text) } else { is_marker(text) };
        marks && !self.kept.iter().any(|kept| kept == text)
    }
}

/// Adds a text to the examples, if there are fewer than three.
pub(super) fn keep_example(examples: &mut Vec<String>, text: &str) {
    let example = format!("{text:?}");
    if examples.len() < 3 && !examples.contains(&example) {
        examples.push(example);
    }
}

fn days_of_digits(value: f64) -> Option<f64> {
    of_digits(value).map(|seconds| seconds / DAY)
}

/// The texts without those that mark a missing value.
fn without_markers<'a>(text: &'a Categories, marks: &Marks) -> Cow<'a, Categories> {
    let missing: Vec<bool> = text.levels.iter().map(|l| marks.is_missing(l, false)).collect();
    if !missing.contains(&true) {
        return Cow::Borrowed(text);
    }
    let codes = text.codes.iter().map(|of| of.filter(|of| !missing[*of as usize])).collect();
    Cow::Owned(Categories { levels: text.levels.clone(), codes })
}

/// Numbers as categories, each with its shortest text.
pub(super) fn categories(values: &[f64]) -> Categories {
    let mut known: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    known.sort_by(f64::total_cmp);
    known.dedup();
    let code = |value: &f64| {
        (!value.is_nan()).then(|| known.partition_point(|k| k.total_cmp(value).is_lt()) as u32)
    };
    let codes = values.iter().map(code).collect();
    Categories { levels: known.iter().map(f64::to_string).collect(), codes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(cells: &[&str]) -> Values {
        let mut levels: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
        levels.sort();
        levels.dedup();
        let code = |cell: &&str| levels.iter().position(|level| level == cell).map(|c| c as u32);
        Values::Categories(Categories { codes: cells.iter().map(code).collect(), levels })
    }

    fn reading(cells: &[&str]) -> Reading {
        Reading::of("x", &texts(cells), &ColumnOptions::default()).0
    }

    fn many(of: impl Fn(usize) -> String) -> Vec<String> {
        (0..60).map(of).collect()
    }

    #[test]
    fn cells_are_numbers_dates_categories_or_both() {
        let kind =
            |cells: &[String]| reading(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(reading(&["1", "2.5", "?"]), Reading::PLAIN);
        let sizes = ["2", "3", "4", "5more"];
        assert_eq!(reading(&[sizes, sizes].concat()), Reading::LEVEL);
        assert_eq!(reading(&["red", "blue"]), Reading::LEVEL);
        assert!(matches!(reading(&["$1,000", "$2", "NA"]).kind, Kind::Number(_)));
        assert!(matches!(reading(&["2020-01-31", "", "-"]).kind, Kind::Time(_)));
        let both =
            kind(&many(|i| if i % 7 == 0 { format!("A/5 {i}") } else { format!("{}", 100 * i) }));
        assert!(both.rest && matches!(both.kind, Kind::Number(_)));
        let ranges =
            kind(&many(|i| if i % 9 == 0 { format!("{i} - {}", 2 * i) } else { format!("{i}") }));
        assert!(!ranges.rest && matches!(ranges.kind, Kind::Number(_)));
        let dates =
            kind(&many(
                |i| if i % 9 == 0 { "soon".into() } else { format!("{}.1.2020", i % 28 + 1) },
            ));
        assert!(dates.rest && matches!(dates.kind, Kind::Time(_)));
        let names = kind(&many(|i| if i == 3 { "7".into() } else { format!("name {i}x") }));
        assert_eq!(names, Reading::LEVEL);
        assert_eq!(reading(&["100000000000000001", "100000000000000002"]), Reading::LEVEL);
    }

    #[test]
    fn what_is_said_decides() {
        let options = |categorical: bool| ColumnOptions {
            categorical: if categorical { vec!["x".into()] } else { Vec::new() },
            numeric: if categorical { Vec::new() } else { vec!["x".into()] },
            ..ColumnOptions::default()
        };
        let of =
            |cells: &[&str], categorical| Reading::of("x", &texts(cells), &options(categorical)).0;
        assert_eq!(of(&["1", "2"], true), Reading::LEVEL);
        let numbers = of(&["2", "5more"], false);
        let cells = texts(&["2", "5more", "9"]);
        let series = numbers.read(&cells, &Marks::default()).numbers;
        assert_eq!(series.unwrap()[2], 9.0);
        assert_eq!(of(&["100000000000000001", "2"], false), Reading::PLAIN);
        let keep = ColumnOptions { not_missing: vec!["NA".into()], ..ColumnOptions::default() };
        let marks = Marks::of(&keep);
        assert!(!marks.is_missing("NA", false) && marks.is_missing("", false));
    }

    #[test]
    fn cells_are_read_as_all_of_them_said() {
        let all = many(|i| if i % 7 == 0 { format!("A/5 {i}") } else { format!("{}", 100 * i) });
        let cells: Vec<&str> = all.iter().map(String::as_str).collect();
        let reading = reading(&cells);
        let new = texts(&["A/5 0", "100", "", "PC 1"]);
        let series = reading.read(&new, &Marks::default());
        let (numbers, rest) = (series.numbers.unwrap(), series.texts.unwrap());
        assert!(numbers[0].is_nan() && numbers[1] == 100.0 && numbers[2].is_nan());
        assert_eq!(
            [0, 1, 2, 3].map(|row| rest.get(row)),
            [Some("A/5 0"), None, None, Some("PC 1")]
        );
        let lost = Reading::PLAIN.read(&new, &Marks::default());
        assert_eq!(lost.unread, (2, vec!["\"A/5 0\"".to_owned(), "\"PC 1\"".to_owned()]));
        let cells = Values::Numbers(vec![2.0, f64::NAN, 10.0]);
        let levels = Reading::LEVEL.read(&cells, &Marks::default());
        let levels = levels.texts.unwrap().into_owned();
        assert_eq!((levels.get(0), levels.get(1), levels.get(2)), (Some("2"), None, Some("10")));
    }

    #[test]
    fn whole_numbers_that_are_dates_are_told_from_others() {
        let of = |values: Vec<f64>| {
            Reading::of("x", &Values::Numbers(values), &ColumnOptions::default()).0
        };
        let dates: Vec<f64> = (1..=28).map(|day| 20_190_100.0 + f64::from(day)).collect();
        assert_eq!(of(dates.clone()).kind, Kind::Digits);
        assert_eq!(of([&dates[..], &[20_190_199.0]].concat()), Reading::PLAIN);
        assert_eq!(of(dates[..5].to_vec()), Reading::PLAIN);
    }
}
