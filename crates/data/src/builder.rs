//! Columns that are built while rows are read.

use std::collections::{BTreeMap, HashMap};

use crate::column::{Categories, Column, Values};
use crate::doubts::Doubts;
use crate::error::{Problem, place};
use crate::markers::{is_marker, is_number_marker, taken_for_missing};
use crate::number::{is_beyond_exact, number, number_with_comma};

/// A column that grows cell by cell.
pub(crate) struct ColumnBuilder {
    pub name: String,
    kind: Kind,
    decimal_comma: bool,
    /// Cells that are not numbers in a column of numbers.
    pub doubts: Doubts,
    /// In a column read as it is found: the missing-value markers among its numbers, with the
    /// number of each.
    marked: BTreeMap<String, usize>,
    /// Whether the column has to be read again, as text.
    pub read_again: bool,
}

enum Kind {
    Numbers(Vec<f64>),
    Text(TextBuilder),
    /// Only missing values so far, and their number; the first value decides the kind.
    Undecided(usize),
    /// Values that are not parsed, and their number.
    Skipped(usize),
}

#[derive(Default)]
struct TextBuilder {
    text: Categories,
    known: HashMap<String, u32>,
    /// Number of declared levels, whose order is kept; `None` if none are declared.
    declared: Option<usize>,
}

impl ColumnBuilder {
    fn new(name: String, kind: Kind) -> Self {
        let (marked, read_again) = (BTreeMap::new(), false);
        ColumnBuilder {
            name,
            kind,
            decimal_comma: false,
            doubts: Doubts::default(),
            marked,
            read_again,
        }
    }

    pub fn numbers(name: String) -> Self {
        ColumnBuilder::new(name, Kind::Numbers(Vec::new()))
    }

    pub fn text(name: String) -> Self {
        ColumnBuilder::new(name, Kind::Text(TextBuilder::default()))
    }

    /// A column of numbers if the first value that is not missing is a number, of text otherwise.
    pub fn inferred(name: String) -> Self {
        ColumnBuilder::new(name, Kind::Undecided(0))
    }

    /// A column of text with these declared values. Other values are appended to them.
    pub fn declared(name: String, levels: Vec<String>) -> Self {
        let known =
            levels.iter().enumerate().map(|(code, level)| (level.clone(), code as u32)).collect();
        let declared = Some(levels.len());
        let text = Categories { levels, codes: Vec::new() };
        ColumnBuilder::new(name, Kind::Text(TextBuilder { text, known, declared }))
    }

    /// Whether numbers are written with a decimal comma.
    pub fn decimal_comma(self, decimal_comma: bool) -> Self {
        ColumnBuilder { decimal_comma, ..self }
    }

    /// Like [`push`](ColumnBuilder::push), but a field that is not a finite number is missing and
    /// added to `doubts`.
    pub fn survey(&mut self, field: Option<&str>, line: u64) -> std::result::Result<(), Problem> {
        match (self.push(field), field) {
            (Err(Problem::NotANumber { .. } | Problem::NotFinite { .. }), Some(text)) => {
                self.doubts.add(text, line);
                self.push(None)
            }
            (result, _) => result,
        }
    }

    /// A column whose values are not parsed.
    pub fn skipped(name: String) -> Self {
        ColumnBuilder::new(name, Kind::Skipped(0))
    }

    /// Whether the column is text, as far as it was read.
    pub fn is_text(&self) -> bool {
        self.read_again || matches!(self.kind, Kind::Text(_))
    }

    /// Whether the values of the column are not parsed.
    pub fn is_skipped(&self) -> bool {
        matches!(self.kind, Kind::Skipped(_))
    }

    /// Like [`push`](ColumnBuilder::push), for a column that is read as it is found, with any
    /// content. The texts in `kept`, and declared values, are values even if they are missing-value
    /// markers.
    pub fn push_found(
        &mut self,
        field: Option<&str>,
        line: u64,
        kept: &[String],
    ) -> std::result::Result<(), Problem> {
        let read = if self.decimal_comma { number_with_comma } else { number };
        let number = |text: &str| read(text).ok().filter(|_| !is_beyond_exact(text));
        // the fast path: in a column of numbers nearly all cells are numbers, and no number is a
        // marker
        if let (Kind::Numbers(values), Some(text)) = (&mut self.kind, field)
            && !text.is_empty()
            && let Some(value) = number(text)
        {
            values.push(value);
            return Ok(());
        }
        let is_kept = |text: &str| kept.iter().any(|kept| kept == text) || self.declares(text);
        let Some(text) = field.filter(|text| !is_marker(text) || is_kept(text)) else {
            return self.push(None);
        };
        match self.kind {
            Kind::Skipped(_) => self.push(Some(text)),
            Kind::Text(_) => self.push(Some(text)),
            _ if number(text).is_some() => self.push(Some(text)),
            _ if is_number_marker(text) && !is_kept(text) => {
                *self.marked.entry(text.to_owned()).or_default() += 1;
                self.push(None)
            }
            Kind::Numbers(_) => {
                self.read_again = true;
                self.doubts.add(text, line);
                self.push(None)
            }
            Kind::Undecided(missing) => {
                // a column of text: markers such as `-` that were counted as missing are texts, so
                // that the column is read again
                self.read_again = !self.marked.is_empty();
                let codes = vec![None; missing];
                let text_so_far = Categories { levels: Vec::new(), codes };
                self.kind = Kind::Text(TextBuilder { text: text_so_far, ..TextBuilder::default() });
                self.push(Some(text))
            }
        }
    }

    fn declares(&self, text: &str) -> bool {
        let Kind::Text(TextBuilder { known, declared: Some(declared), .. }) = &self.kind else {
            return false;
        };
        known.get(text).is_some_and(|code| (*code as usize) < *declared)
    }

    /// The note on a column that was read as it was found.
    pub fn notes(&self) -> Option<String> {
        if let Kind::Text(TextBuilder { text, declared: Some(declared), .. }) = &self.kind
            && text.levels.len() > *declared
        {
            let others = place::list(&text.levels[*declared..]);
            return Some(format!(
                "{:?}: values that are not declared become categories: {others}",
                self.name
            ));
        }
        if self.marked.is_empty() || !matches!(self.kind, Kind::Numbers(_)) {
            return None;
        }
        let marked = self.marked.iter().map(|(text, cells)| (text.as_str(), *cells));
        Some(taken_for_missing(&self.name, marked))
    }

    /// Appends a cell; `None` is a missing value.
    pub fn push(&mut self, field: Option<&str>) -> std::result::Result<(), Problem> {
        let number = if self.decimal_comma { number_with_comma } else { number };
        if let Kind::Undecided(missing) = self.kind {
            let Some(text) = field else {
                self.kind = Kind::Undecided(missing + 1);
                return Ok(());
            };
            self.kind = match number(text) {
                Err(Problem::NotANumber { .. }) => Kind::Text(TextBuilder {
                    text: Categories { levels: Vec::new(), codes: vec![None; missing] },
                    ..TextBuilder::default()
                }),
                _ => Kind::Numbers(vec![f64::NAN; missing]),
            };
        }
        match &mut self.kind {
            Kind::Numbers(values) => values.push(field.map_or(Ok(f64::NAN), number)?),
            Kind::Text(builder) => builder.push(field),
            Kind::Skipped(count) => *count += 1,
            Kind::Undecided(_) => {}
        }
        Ok(())
    }

    pub fn finish(self) -> Column {
        let values = match self.kind {
            Kind::Numbers(values) => Values::Numbers(values),
            Kind::Text(builder) => Values::Categories(builder.finish()),
            Kind::Undecided(rows) | Kind::Skipped(rows) => Values::Numbers(vec![f64::NAN; rows]),
        };
        Column { name: self.name, values }
    }
}

impl TextBuilder {
    fn push(&mut self, field: Option<&str>) {
        let code = field.map(|text| {
            self.known.get(text).copied().unwrap_or_else(|| {
                let code = self.text.levels.len() as u32;
                self.text.levels.push(text.to_owned());
                self.known.insert(text.to_owned(), code);
                code
            })
        });
        self.text.codes.push(code);
    }

    /// Sorts the levels unless some are declared, so that they do not depend on the order of the
    /// rows.
    fn finish(self) -> Categories {
        let Categories { levels, codes } = self.text;
        if self.declared.is_some() {
            return Categories { levels, codes };
        }
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by(|&a, &b| levels[a].cmp(&levels[b]));
        let mut rank = vec![0; levels.len()];
        for (new, &old) in order.iter().enumerate() {
            rank[old] = new as u32;
        }
        let codes = codes.into_iter().map(|code| code.map(|code| rank[code as usize])).collect();
        Categories { levels: order.into_iter().map(|old| levels[old].clone()).collect(), codes }
    }
}
