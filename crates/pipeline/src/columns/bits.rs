//! The features of a column of fingerprints: their bits, packed into numbers for the kernel
//! Tanimoto.

use super::Why;
use crate::error::{Error, Result, place};
use nystrom::faer::MatMut;
use nystrom::prelude::*;
use nystrom_data::{Categories, Table, Values};
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
        if first.len() % 2 == 1 && first.is_ascii() {
            let problem = format!(
                "{} hexadecimal digits are no whole number of bytes; write two digits for each \
                 byte",
                first.len()
            );
            return Err(unread((name, table), row, problem));
        }
        let code = |i: usize| text.codes[rows.map_or(i, |rows| rows[i])];
        let n = rows.map_or(text.codes.len(), <[usize]>::len);
        if (1..n).all(|i| code(i) == code(0)) && code(0).is_some() {
            let shown: String = first.chars().take(SHOWN).collect();
            let more = if first.chars().count() > SHOWN { "…" } else { "" };
            return Ok(Err(Why::Constant(shown + more)));
        }
        Ok(Ok(BitFeatures { bits: 4 * first.len() }))
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
        let of_row = |row: usize| {
            text.get(row).ok_or_else(|| {
                let what = format!("misses its value in {}", place(table, row));
                Error::values(name, what, "fill it in, or leave out the row (--drop-missing)")
            })
        };
        let texts = (0..out.nrows()).map(of_row).collect::<Result<Vec<&str>>>()?;
        if texts.is_empty() {
            return Ok(());
        }
        let bits = Bits::<f64>::from_hex(texts, self.bits).map_err(|error| match error {
            nystrom::Error::Bits { row, problem } => unread((name, table), row, problem),
            error => error.into(),
        })?;
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

/// The error of a row whose text is no fingerprint.
fn unread((name, table): (&str, &Table), row: usize, problem: String) -> Error {
    Error::Fingerprint { column: name.to_owned(), place: place(table, row), problem }
}
