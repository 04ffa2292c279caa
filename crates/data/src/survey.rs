//! Tables read in spite of cells that are no numbers, for programs that want to say all that is
//! wrong at once.

use crate::error::{DataError, Place, Problem, place::excerpt};
use crate::number::has_decimal_comma;
use crate::table::Table;

/// A table of numbers, and what stands in its cells that are none.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Survey {
    /// The table; cells that are no finite numbers are missing in it.
    pub table: Table,
    /// For each column of the table the cells that are neither numbers nor declared missing.
    pub doubts: Vec<Doubts>,
}

/// Cells of a column that are neither numbers nor declared missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Doubts {
    /// How many they are.
    pub cells: usize,
    /// How many of them would be numbers with a point for their comma.
    pub decimal_commas: usize,
    /// What stands in them, the first eight different texts; of those with a decimal comma the
    /// first only.
    pub texts: Vec<Doubt>,
}

/// A text where a number should be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Doubt {
    /// The text, shortened with `…` beyond 40 characters.
    pub text: String,
    /// How many cells it stands in.
    pub cells: usize,
    /// The line of the first of them, from 1; the row from 1 in formats without lines.
    pub line: u64,
}

/// The most texts that a column keeps.
const TEXTS: usize = 8;

impl Doubts {
    /// Adds those of later cells of the same column.
    pub(crate) fn merge(&mut self, later: Doubts) {
        self.cells += later.cells;
        self.decimal_commas += later.decimal_commas;
        for doubt in later.texts {
            let place = self.texts.iter().position(|known| known.text == doubt.text);
            match place {
                Some(place) => self.texts[place].cells += doubt.cells,
                None if self.texts.len() < 8 => self.texts.push(doubt),
                None => {}
            }
        }
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

    /// Whether there are any, and all of them stand on this line.
    pub fn all_on(&self, line: Option<u64>) -> bool {
        self.cells > 0
            && self.cells == self.texts.len()
            && self.texts.iter().all(|doubt| Some(doubt.line) == line)
    }

    /// The number if it is finite, else a missing one and a note.
    pub(crate) fn finite(&mut self, value: f64, line: u64) -> f64 {
        if value.is_finite() {
            return value;
        }
        self.add(&value.to_string(), line);
        f64::NAN
    }
}

impl Survey {
    /// A table without doubts.
    pub fn certain(table: Table) -> Survey {
        Survey { doubts: vec![Doubts::default(); table.columns().len()], table }
    }

    /// The table if there is no doubt, else the first doubt of the first column that has any: a
    /// number that is not finite.
    pub(crate) fn finite(self) -> Result<Table, DataError> {
        let first =
            self.doubts.iter().enumerate().find_map(|(j, doubts)| Some((j, doubts.texts.first()?)));
        let Some((j, Doubt { text, line, .. })) = first else { return Ok(self.table) };
        let place = Place::new(self.table.source())
            .line(*line)
            .field(j + 1)
            .column(&self.table.columns()[j].name);
        Err(Problem::NotFinite { text: text.clone() }.at(place))
    }
}
