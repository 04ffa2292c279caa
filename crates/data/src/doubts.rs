//! Cells that should be numbers and are not.

use crate::error::place::excerpt;
use crate::number::has_decimal_comma;

/// Cells of a column that are neither numbers nor declared missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Doubts {
    /// Number of such cells.
    pub cells: usize,
    /// Number of those that would be numbers if their comma were a point.
    pub decimal_commas: usize,
    /// The first eight different texts in such cells. Of the texts with a decimal comma, only the
    /// first is kept.
    pub texts: Vec<Doubt>,
}

/// A text where a number should be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Doubt {
    /// The text, shortened with `…` beyond 40 characters.
    pub text: String,
    /// Number of cells with this text.
    pub cells: usize,
    /// Line of the first such cell, from 1; in formats without lines its row, from 1.
    pub line: u64,
}

/// The most texts that are kept for a column.
const TEXTS: usize = 8;

impl Doubts {
    /// Adds the doubts about later cells of the same column.
    pub(crate) fn merge(&mut self, later: Doubts) {
        self.cells += later.cells;
        self.decimal_commas += later.decimal_commas;
        for doubt in later.texts {
            let place = self.texts.iter().position(|known| known.text == doubt.text);
            match place {
                Some(place) => self.texts[place].cells += doubt.cells,
                None if self.texts.len() < TEXTS => self.texts.push(doubt),
                None => {}
            }
        }
    }

    /// The largest of its counts.
    pub(crate) fn most(&self) -> usize {
        let of_texts = self.texts.iter().map(|doubt| doubt.cells);
        of_texts.chain([self.cells, self.decimal_commas]).max().unwrap_or(0)
    }

    pub(crate) fn add(&mut self, text: &str, line: u64) {
        self.cells += 1;
        if has_decimal_comma(text) {
            self.decimal_commas += 1;
            if self.decimal_commas > 1 {
                return; // one example is enough
            }
        }
        let text = excerpt(text);
        match self.texts.iter().position(|known| known.text == text) {
            Some(known) => self.texts[known].cells += 1,
            None if self.texts.len() < TEXTS => self.texts.push(Doubt { text, cells: 1, line }),
            None => {}
        }
    }

    /// Removes NaN from the doubts: it is a missing value.
    pub(crate) fn forget_nan(&mut self) {
        let nan = |doubt: &Doubt| doubt.text == "NaN";
        self.cells -= self.texts.iter().filter(|d| nan(d)).map(|d| d.cells).sum::<usize>();
        self.texts.retain(|doubt| !nan(doubt));
    }

    /// Whether there are any such cells, and all of them are on this line.
    pub fn all_on(&self, line: Option<u64>) -> bool {
        self.cells > 0
            && self.cells == self.texts.len()
            && self.texts.iter().all(|doubt| Some(doubt.line) == line)
    }

    /// `value` if it is finite. Otherwise adds it to the doubts and returns NaN.
    pub(crate) fn finite(&mut self, value: f64, line: u64) -> f64 {
        if value.is_finite() {
            return value;
        }
        self.add(&value.to_string(), line);
        f64::NAN
    }
}
