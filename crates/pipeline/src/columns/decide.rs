//! Decides from all cells of a column how each cell is read.

use super::dress::{Dress, is_beyond_exact};
use super::options::ColumnOptions;
use super::reading::{Kind, Marks, Reading};
use super::time::{TimeFormat, of_digits};
use crate::counts::counted;
use nystrom_data::Values;

/// A column of numbers and texts with at most this many different cells, each twice on average,
/// holds categories.
const FEW: usize = 20;
/// In a column of numbers and texts, numbers are read if at least one cell in this many is a
/// number.
const SOME: usize = 10;
/// A column of whole numbers such as 20190131 holds dates if it has at least this many different
/// ones.
const DATES: usize = 10;

impl Reading {
    /// The reading of these cells, with a note for the user if it is not obvious.
    pub fn of(name: &str, values: &Values, options: &ColumnOptions) -> (Reading, Option<String>) {
        Reading::of_all(name, values, None, options)
    }

    /// Like [`of`](Self::of), for a sample of a column: `levels` are all texts of the column, each
    /// with the number of its cells.
    pub fn of_all(
        name: &str,
        values: &Values,
        levels: Option<Vec<(usize, &str)>>,
        options: &ColumnOptions,
    ) -> (Reading, Option<String>) {
        let is = |list: &[String]| list.iter().any(|other| other == name);
        if is(&options.categorical) || options.fingerprint.as_deref() == Some(name) {
            return (Reading::LEVEL, None);
        }
        match values {
            Values::Numbers(values) if is(&options.numeric) || !are_dates(values) => {
                (Reading::PLAIN, None)
            }
            Values::Numbers(_) => {
                (Reading { kind: Kind::Digits, rest: false }, Some(digits_note(name)))
            }
            Values::Sparse(_) => (Reading { kind: Kind::Sparse, rest: false }, None),
            Values::Categories(text) => {
                let counts = levels.unwrap_or_else(|| counted(text, None));
                of_texts(name, counts, options, is(&options.numeric))
            }
        }
    }
}

fn digits_note(name: &str) -> String {
    format!("{name:?} holds dates such as 20190131 (--numeric {name:?} takes them for numbers)")
}

/// Whether these are whole numbers that are dates.
fn are_dates(values: &[f64]) -> bool {
    let mut first: Vec<f64> = Vec::new();
    for &value in values.iter().filter(|value| !value.is_nan()) {
        if of_digits(value).is_none() {
            return false;
        }
        if first.len() < DATES && !first.contains(&value) {
            first.push(value);
        }
    }
    first.len() == DATES
}

/// The reading of a column of these texts. `numeric`: an option declares it as numbers.
fn of_texts(
    name: &str,
    counts: Vec<(usize, &str)>,
    options: &ColumnOptions,
    numeric: bool,
) -> (Reading, Option<String>) {
    let marks = Marks::of(options);
    let counts = marks.values(counts, false);
    let levels = marks.values(counts.clone(), true);
    if levels.is_empty() {
        return (Reading::LEVEL, None);
    }
    let said = |what: String, option: &str| {
        Some(format!("{name:?} holds {what} ({option} {name:?} takes them for categories)"))
    };
    let categorical = "--categorical";
    if let Some(dress) = Dress::of_all(&levels) {
        let values: Vec<f64> = match dress.is_plain() {
            true => levels.iter().filter_map(|(_, level)| dress.number(level)).collect(),
            false => Vec::new(),
        };
        if !numeric && are_dates(&values) {
            return (Reading { kind: Kind::Digits, rest: false }, Some(digits_note(name)));
        }
        let beyond = |(_, level): &(usize, &str)| is_beyond_exact(level);
        if !numeric && dress.is_plain() && levels.iter().any(beyond) {
            let note = format!(
                "{name:?} holds whole numbers beyond 2⁵³, which are taken for categories by their \
                 digits (--numeric {name:?} rounds them)"
            );
            return (Reading::LEVEL, Some(note));
        }
        // every dress allows quotes, parentheses and Fortran's exponents
        let other = levels.iter().find(|(_, level)| level.parse::<f64>().is_err());
        let note = other.and_then(|(_, text)| said(dress.describe(text), categorical));
        return (Reading { kind: Kind::Number(dress), rest: false }, note);
    }
    let texts = levels.iter().map(|(_, level)| *level);
    if let Some(format) = TimeFormat::of_all(texts, options.day_first).filter(|_| !numeric) {
        let other = if options.day_first { "without --day-first" } else { "with --day-first" };
        let open = match format.ambiguous {
            true => format!(", where {:?} could also be another day: {other} it is", levels[0].1),
            false => String::new(),
        };
        let what = format!("dates, read as {}{open}", format.describe());
        return (Reading { kind: Kind::Time(format), rest: false }, said(what, categorical));
    }
    mixed(name, &levels, &counts, options, numeric)
}

/// The reading of a column in which at most some of the texts are numbers or dates.
fn mixed(
    name: &str,
    levels: &[(usize, &str)],
    all: &[(usize, &str)],
    options: &ColumnOptions,
    numeric: bool,
) -> (Reading, Option<String>) {
    let cells: usize = all.iter().map(|(count, _)| count).sum();
    let (dress, read) = Dress::of_some(levels, false);
    let loose = |rest| Reading { kind: Kind::Number(dress.clone()), rest };
    if numeric {
        return (loose(false), unread_note(name, levels, &dress));
    }
    let some = |read: usize| read * SOME >= cells && read > 0;
    if all.len() <= FEW && 2 * all.len() <= cells {
        let note = some(read).then(|| {
            format!(
                "{name:?} mixes numbers and texts, {} different values, and is taken for categories \
                 (--numeric {name:?} reads its numbers)",
                all.len()
            )
        });
        return (Reading::LEVEL, note);
    }
    if let Some((format, read)) = most_are_dates(levels, options).filter(|(_, read)| some(*read)) {
        let note = format!(
            "{name:?} holds dates, read as {}, and {} other texts, which are categories beside \
             them (--categorical {name:?} takes all for categories)",
            format.describe(),
            cells - read
        );
        return (Reading { kind: Kind::Time(format), rest: true }, Some(note));
    }
    if !some(read) {
        return (Reading::LEVEL, None);
    }
    let other = levels.iter().find(|(_, level)| dress.number(level).is_none());
    let note = match other {
        None => format!(
            "{name:?} holds {}, as far as they can be read one by one (--categorical {name:?} \
             takes them for categories)",
            dress.describe(levels[0].1)
        ),
        Some((_, example)) => format!(
            "{name:?} holds numbers and texts such as {example:?}: its numbers are read as \
             numbers, its texts as categories (change that by --categorical {name:?} or --numeric \
             {name:?})"
        ),
    };
    (loose(other.is_some()), Some(note))
}

/// The note about cells that are no numbers in a column that an option declares as numbers.
fn unread_note(name: &str, levels: &[(usize, &str)], dress: &Dress) -> Option<String> {
    let other = levels.iter().filter(|(_, level)| dress.number(level).is_none());
    let (cells, example) =
        (other.clone().map(|(count, _)| count).sum::<usize>(), other.clone().next()?.1);
    Some(format!(
        "{name:?}: {cells} cells, such as {example:?}, are no numbers and count as missing"
    ))
}

/// The format in which the most cells are dates, and the number of these cells.
fn most_are_dates(
    levels: &[(usize, &str)],
    options: &ColumnOptions,
) -> Option<(TimeFormat, usize)> {
    let formats = levels
        .iter()
        .filter_map(|(_, level)| TimeFormat::of_all([*level].into_iter(), options.day_first));
    let mut tried: Vec<TimeFormat> = Vec::new();
    for format in formats.map(|format| TimeFormat { ambiguous: false, ..format }) {
        if !tried.contains(&format) {
            tried.push(format);
        }
    }
    let cells = |format: &TimeFormat| -> usize {
        let dates = levels.iter().filter(|(_, level)| format.instant(level).is_some());
        dates.map(|(count, _)| count).sum()
    };
    let counted = tried.into_iter().map(|format| (cells(&format), format));
    let (read, format) = counted.max_by_key(|(read, _)| *read)?;
    Some((format, read))
}
