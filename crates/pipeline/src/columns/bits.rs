//! The features of a column of fingerprints: their bits, packed into numbers for the kernel
//! Tanimoto.

use super::{Marks, Reading, Why};
use crate::error::{Error, Result, place};
use nystrom::faer::MatMut;
use nystrom::prelude::*;
use nystrom_data::{Categories, Column, Table, Values};
use serde::{Deserialize, Serialize};

/// The most characters of a fingerprint that a message shows.
const SHOWN: usize = 16;

/// Rows of bits, written in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BitFeatures {
    /// The number of bits of every row.
    pub bits: usize,
}

impl BitFeatures {
    /// The features of the texts of a column, or the reason why the fitted `rows` (`None`: all)
    /// have none. The first text determines the number of bits.
    pub fn of(
        (name, table): (&str, &Table),
        text: &Categories,
        rows: Option<&[usize]>,
    ) -> Result<Result<BitFeatures, Why>> {
        let first = (0..text.codes.len()).find_map(|row| Some((row, text.get(row)?)));
        let Some((row, first)) = first else { return Ok(Err(Why::Empty)) };
        let bits = width(first).map_err(|problem| unread(name, place(table, row), problem))?;
        let code = |i: usize| text.codes[rows.map_or(i, |rows| rows[i])];
        let n = rows.map_or(text.codes.len(), <[usize]>::len);
        if (1..n).all(|i| code(i) == code(0)) && code(0).is_some() {
            return Ok(Err(constant(first)));
        }
        Ok(Ok(BitFeatures { bits }))
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        Bits::<f64>::coordinates(self.bits)
    }

    /// Writes the features of the texts of a column to `out`.
    pub fn fill(
        &self,
        (name, table): (&str, &Table),
        text: &Categories,
        mut out: MatMut<'_, f64>,
    ) -> Result<()> {
        let rows: Vec<usize> = (0..out.nrows()).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let texts = texts(name, text, &rows, &|row| place(table, row))?;
        let bits = read(name, &texts, self.bits, &|i| place(table, rows[i]))?;
        let points = bits.points();
        for i in 0..out.nrows() {
            (0..out.ncols()).for_each(|k| out[(i, k)] = points.coordinate(i, k));
        }
        Ok(())
    }
}

/// An error if a column of fingerprints was read as numbers, which lose leading zeros.
pub(super) fn refuse_numbers(name: &str, values: &Values) -> Result<()> {
    match values {
        Values::Numbers(numbers) if numbers.iter().any(|value| !value.is_nan()) => {
            let what = "was read as numbers, which lose the leading zeros of fingerprints";
            Err(Error::values(name, what, "read the column as text"))
        }
        _ => Ok(()),
    }
}

/// What a pass over all rows finds out about a column of fingerprints; every text is read, so that
/// a later pass meets no error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BitSums {
    first: Option<FirstText>,
    /// The first text after `first` that has another number of bits.
    other: Option<FirstText>,
    /// Whether a text differs from the first.
    varies: bool,
}

/// The first fingerprint of some rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FirstText {
    text: String,
    /// The line or row of the text, and its file.
    place: String,
}

impl BitSums {
    /// Adds some rows of a block; `place` is the place of a row in words.
    ///
    /// # Errors
    /// Those of [`BitFeatures::fill`], with the place of the first row that has one.
    pub fn add(
        &mut self,
        column: &Column,
        marks: &Marks,
        rows: &[usize],
        place: &dyn Fn(usize) -> String,
    ) -> Result<()> {
        let name = &column.name;
        refuse_numbers(name, &column.values)?;
        let series = Reading::LEVEL.read(&column.values, marks);
        let (Some(text), Some(&row)) = (series.texts, rows.first()) else { return Ok(()) };
        let texts = texts(name, &text, rows, place)?;
        let new = || FirstText { text: texts[0].to_owned(), place: place(row) };
        let first = self.first.get_or_insert_with(new);
        let bits = width(&first.text).map_err(|problem| unread(name, place(row), problem))?;
        read(name, &texts, bits, &|i| place(rows[i]))?;
        self.varies |= texts.iter().any(|text| *text != first.text);
        Ok(())
    }

    /// Adds the sums over the rows after these.
    pub fn merge(&mut self, later: BitSums) {
        let Some(next) = later.first else { return };
        let Some(first) = &self.first else {
            *self = BitSums { first: Some(next), ..later };
            return;
        };
        self.varies |= later.varies || first.text != next.text;
        let differs = first.text.len() != next.text.len();
        self.other = self.other.take().or(if differs { Some(next) } else { later.other });
    }

    /// The features of the column, or the reason why it has none.
    ///
    /// # Errors
    /// [`Error::Fingerprint`] if another process found texts with another number of bits.
    pub fn features(&self, name: &str) -> Result<Result<BitFeatures, Why>> {
        let Some(FirstText { text, place }) = &self.first else { return Ok(Err(Why::Empty)) };
        let bits = width(text).map_err(|problem| unread(name, place.clone(), problem))?;
        if let Some(FirstText { text, place }) = &self.other {
            read(name, &[text], bits, &|_| place.clone())?;
        }
        Ok(if self.varies { Ok(BitFeatures { bits }) } else { Err(constant(text)) })
    }
}

/// The number of bits of a text, or what is wrong with it.
fn width(text: &str) -> Result<usize, String> {
    match text.len() {
        digits if digits % 2 == 1 && text.is_ascii() => Err(format!(
            "{digits} hexadecimal digits are no whole number of bytes; write two digits for each \
             byte"
        )),
        digits => Ok(4 * digits),
    }
}

/// The reason why a column that has this text in every row has no features.
fn constant(text: &str) -> Why {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if text.chars().count() > SHOWN { "…" } else { "" };
    Why::Constant(shown + more)
}

/// The texts of these rows of a column.
fn texts<'a>(
    name: &str,
    text: &'a Categories,
    rows: &[usize],
    place: &dyn Fn(usize) -> String,
) -> Result<Vec<&'a str>> {
    let of_row = |row: &usize| {
        text.get(*row).ok_or_else(|| {
            let what = format!("misses its value in {}", place(*row));
            Error::values(name, what, "fill it in, or leave out the row (--drop-missing)")
        })
    };
    rows.iter().map(of_row).collect()
}

/// The bits of at least one text; `place` is the place of a text in words.
fn read(
    name: &str,
    texts: &[impl AsRef<str>],
    bits: usize,
    place: &dyn Fn(usize) -> String,
) -> Result<Bits<f64>> {
    Bits::from_hex(texts, bits).map_err(|error| match error {
        nystrom::Error::Bits { row, problem } => unread(name, place(row), problem),
        error => error.into(),
    })
}

/// The error of a text that is no fingerprint.
fn unread(name: &str, place: String, problem: String) -> Error {
    Error::Fingerprint { column: name.to_owned(), place, problem }
}
