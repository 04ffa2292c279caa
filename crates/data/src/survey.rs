//! Tables read in spite of cells that are no numbers, for programs that want to say all that is
//! wrong at once.

use crate::doubts::{Doubt, Doubts};
use crate::error::{DataError, Place, Problem};
use crate::markers::taken_for_missing;
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

impl Survey {
    /// A table without doubts.
    pub fn certain(table: Table) -> Survey {
        Survey { doubts: vec![Doubts::default(); table.columns().len()], table }
    }

    /// The table, in which numbers that are not finite are missing; its notes say so of infinities.
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
