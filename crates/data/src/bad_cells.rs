//! Reading tables in spite of cells that are not numbers, for programs that report all errors at
//! once.

use crate::doubts::{Doubt, Doubts};
use crate::error::{DataError, Place, Problem};
use crate::markers::taken_for_missing;
use crate::table::Table;

/// A table, and the cells of its number columns that are not numbers.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Survey {
    /// The table. In columns of numbers, cells that are not finite numbers are missing.
    pub table: Table,
    /// For each column of the table, the cells that are neither numbers nor declared missing.
    pub doubts: Vec<Doubts>,
}

impl Survey {
    /// A survey without doubts.
    pub fn certain(table: Table) -> Survey {
        Survey { doubts: vec![Doubts::default(); table.columns().len()], table }
    }

    /// The table, with a note for each column in which infinities or other cells became missing;
    /// NaN is not noted.
    pub(crate) fn found(mut self) -> Table {
        let mut notes = self.table.notes().to_vec();
        for (column, doubts) in self.table.columns().iter().zip(&mut self.doubts) {
            doubts.forget_nan();
            let texts = doubts.texts.iter().map(|doubt| (doubt.text.as_str(), doubt.cells));
            if doubts.cells > 0 {
                notes.push(taken_for_missing(&column.name, texts));
            }
        }
        self.table.noted(notes, Vec::new())
    }

    /// The table if there are no doubts. Otherwise an error for the first doubt of the first column
    /// that has one: a number that is not finite.
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
