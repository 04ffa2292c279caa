//! The readings of all columns of a table, and the columns that name or number the rows.

use super::options::{ColumnOptions, column_of};
use super::reading::{Marks, Reading};
use super::sparse::refuse_sparse;
use super::sums::{ColumnSums, MANY, NumberSums};
use super::{Kind, Why};
use crate::copied_rows::are_copies;
use crate::counts::counted;
use crate::error::{Error, Result};
use nystrom_data::{Column, Table, Values};

/// The columns that may be features, with their readings by all rows of a table.
#[derive(Debug, Clone)]
pub(crate) struct Looked {
    pub columns: Vec<LookedColumn>,
    pub marks: Marks,
    /// Notes about columns whose reading is not obvious.
    pub notes: Vec<String>,
}

/// A column that may be a feature.
#[derive(Debug, Clone)]
pub(crate) struct LookedColumn {
    pub name: String,
    /// Its position in the table.
    pub place: usize,
    pub reading: Reading,
    /// Whether the column names or numbers the rows.
    pub names_rows: Option<Why>,
    /// Whether the column must not be a feature even if it reduces the error: an index without a
    /// name, or one that distinguishes copies of rows.
    pub never: bool,
}

impl Looked {
    /// The readings of the columns of `table` that are not `taken` for another use. `exact` has the
    /// sums of a column over all rows if the table is a sample.
    ///
    /// # Errors
    /// Those of [`Columns::fit`](super::Columns::fit) about names of columns.
    pub fn at<'a, S: AsRef<str>>(
        table: &Table,
        options: &ColumnOptions,
        taken: &[S],
        exact: &dyn Fn(&str) -> Option<&'a ColumnSums>,
    ) -> Result<Looked> {
        let candidates = options.candidates(table, taken)?;
        let (mut columns, mut notes) = (Vec::new(), Vec::new());
        for &place in &candidates {
            let column = &table.columns()[place];
            let levels = exact(&column.name).and_then(ColumnSums::levels).map(|(counts, _)| counts);
            let (reading, note) = Reading::of_all(&column.name, &column.values, levels, options);
            // a column that was asked for, or that stands alone, may number the rows
            let wanted = candidates.len() == 1 || options.features.contains(&column.name);
            let names_rows = (!wanted)
                .then(|| names_rows((column, place), &reading, exact(&column.name), options))
                .flatten();
            if names_rows != Some(Why::Identifier) {
                notes.extend(note);
            }
            let never = names_rows.is_some() && is_unnamed(&column.name);
            let name = column.name.clone();
            columns.push(LookedColumn { name, place, reading, names_rows, never });
        }
        let is_sparse = |column: &&LookedColumn| column.reading.kind == Kind::Sparse;
        let sparse = columns.iter().find(is_sparse).map(|column| &column.name);
        let only = match &options.fingerprint {
            Some(name) => Some((name, "bits")),
            None => sparse.map(|name| (name, "numbers")),
        };
        if let Some((name, what)) = only {
            let used = |other: &str| {
                let taken = taken.iter().any(|taken| taken.as_ref() == other);
                taken || other == name || options.drop.iter().any(|drop| drop == other)
            };
            if table.names().any(|other| !used(other)) {
                notes.push(format!("the {what} of {name:?} are the only feature, no other column"));
            }
        }
        Ok(Looked { columns, marks: Marks::of(options), notes })
    }

    /// The columns in which rows must agree to be copies: all features, and `others`. A column that
    /// numbers the rows is one of them, unless rows are copies of others with another number.
    pub fn compared(&mut self, table: &Table, others: &[&str]) -> Result<Vec<String>> {
        let features = self.columns.iter().filter(|column| column.names_rows.is_none());
        let names = features.map(|column| column.name.as_str()).chain(others.iter().copied());
        let mut compared: Vec<String> = names.map(str::to_owned).collect();
        let numbers =
            |column: &LookedColumn| column.names_rows == Some(Why::Index) && !column.never;
        if self.columns.iter().any(numbers) {
            let telling: Vec<&str> = compared.iter().map(String::as_str).collect();
            let copied = are_copies(table, &telling)?;
            for column in self.columns.iter_mut().filter(|column| numbers(column)) {
                column.never = copied;
                compared.extend((!copied).then(|| column.name.clone()));
            }
        }
        Ok(compared)
    }
}

/// Whether a column names or numbers the rows of a table.
fn names_rows(
    (column, place): (&Column, usize),
    reading: &Reading,
    exact: Option<&ColumnSums>,
    options: &ColumnOptions,
) -> Option<Why> {
    match (&column.values, &reading.kind) {
        (cells, Kind::Number(_)) if !reading.rest => {
            let series = reading.read(cells, &Marks::of(options));
            let values = series.numbers.as_deref().unwrap_or_default();
            let in_turn = |values: &mut dyn Iterator<Item = f64>| {
                let mut sums = NumberSums::default();
                values.for_each(|value| sums.add(value));
                sums.numbers_rows()
            };
            let exact_levels = || exact.and_then(ColumnSums::levels);
            let in_order = match (exact.and_then(ColumnSums::numbers), exact_levels()) {
                (Some(sums), _) => sums.numbers_rows(),
                // texts of all rows, whose order is not known
                (None, Some((counts, _))) => {
                    let mut all: Vec<f64> =
                        counts.iter().filter_map(|(_, text)| reading.number(text)).collect();
                    all.sort_by(f64::total_cmp);
                    let once = counts.iter().all(|(count, _)| *count == 1);
                    once && all.len() == counts.len() && in_turn(&mut all.into_iter())
                }
                (None, None) => in_turn(&mut values.iter().copied()),
            };
            (in_order || numbers_rows(&column.name, place, values)).then_some(Why::Index)
        }
        (Values::Categories(text), Kind::Level) => {
            let levels = exact.and_then(ColumnSums::levels).map(|(counts, _)| counts);
            let of_table = || Marks::of(options).values(counted(text, None), false);
            let levels = levels.unwrap_or_else(of_table);
            let known: usize = levels.iter().map(|(count, _)| count).sum();
            (known >= MANY && levels.len() == known).then_some(Why::Identifier)
        }
        _ => None,
    }
}

/// Whether a column of whole numbers numbers the rows: it is the index that pandas writes (the
/// first column, without a name, perhaps of several frames), or its numbers differ and it has the
/// name of an identifier.
fn numbers_rows(name: &str, place: usize, values: &[f64]) -> bool {
    if values.len() < MANY || !values.iter().all(|value| value.fract() == 0.0) {
        return false;
    }
    if place == 0 && is_unnamed(name) && values.iter().all(|value| *value >= 0.0) {
        return true;
    }
    let last = name.rsplit(['_', ' ', '.', '-']).next().unwrap_or_default();
    let is = |word: &str| name.eq_ignore_ascii_case(word) || last.eq_ignore_ascii_case(word);
    let named = ["id", "index", "row", "rowid", "rownames", "no", "nr", "#"].into_iter().any(is)
        || name.ends_with("Id")
        || name.ends_with("ID")
        || is_unnamed(name);
    let mut sorted = if named { values.to_vec() } else { return false };
    sorted.sort_by(f64::total_cmp);
    sorted.windows(2).all(|pair| pair[0] < pair[1])
}

/// Whether a file gave a column no name.
fn is_unnamed(name: &str) -> bool {
    name.is_empty() || name.to_ascii_lowercase().starts_with("unnamed")
}

/// The values of a column that orders rows, numbers in any dress or instants, with a note about the
/// reading if it is not obvious.
///
/// # Errors
/// [`Error::NoColumn`]; [`Error::Values`] for a missing value, and for texts that have no order.
pub(crate) fn ordered(
    table: &Table,
    name: &str,
    options: &ColumnOptions,
) -> Result<(Vec<f64>, Option<String>)> {
    let column = column_of(table, name)?;
    if let Values::Categories(text) = &column.values
        && let Some(values) = above_least(text)
    {
        return Ok((values, None));
    }
    refuse_sparse(name, &column.values)?;
    let reading = Reading::of(name, &column.values, options).0;
    let reading = match (&column.values, reading) {
        (Values::Categories(text), reading) if reading.kind == Kind::Level || reading.rest => {
            let levels: Vec<(usize, &str)> = text.levels.iter().map(|l| (1, l.as_str())).collect();
            let (dress, read) = super::dress::Dress::of_some(&levels, true);
            match levels.iter().find(|(_, level)| dress.number(level).is_none()) {
                None if read > 0 => Reading { kind: Kind::Number(dress), rest: false },
                found => {
                    let example = found.map_or("", |(_, text)| text);
                    let what = format!("holds {example:?}, which is neither a number nor a date");
                    return Err(Error::values(name, what, ORDER));
                }
            }
        }
        (_, reading) => reading,
    };
    let series = reading.read(&column.values, &Marks::of(options));
    let values = series.numbers.map(|numbers| numbers.into_owned()).unwrap_or_default();
    match values.iter().position(|value| value.is_nan()) {
        Some(row) => Err(Error::misses_split(table, name, row)),
        None => Ok((values, time_note(name, &reading, options))),
    }
}

/// The note about the reading of a time column, unless it holds numbers.
fn time_note(name: &str, reading: &Reading, options: &ColumnOptions) -> Option<String> {
    let Kind::Time(format) = &reading.kind else { return None };
    let open = match (format.ambiguous, options.day_first) {
        (false, _) => "",
        (true, false) => "; --day-first puts the day before the month",
        (true, true) => "; without --day-first the month comes before the day",
    };
    Some(format!("{name:?} holds times, read as {}{open}", format.describe()))
}

/// Whole numbers minus the smallest one, which are exact even beyond 2⁵³.
fn above_least(text: &nystrom_data::Categories) -> Option<Vec<f64>> {
    let levels: Option<Vec<i128>> = text.levels.iter().map(|level| level.parse().ok()).collect();
    let levels = levels?;
    let least = *levels.iter().min()?;
    let value = |code: &Option<u32>| code.map(|code| (levels[code as usize] - least) as f64);
    text.codes.iter().map(value).collect()
}

const ORDER: &str = "write times as 2019-12-31 or 2019-12-31T10:00:00, or as numbers";
