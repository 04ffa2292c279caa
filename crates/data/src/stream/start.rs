//! The start of reading a file, and the consumer of its pieces.

use std::ops::ControlFlow;

use crate::bad_cells::Survey;
use crate::doubts::Doubts;
use crate::error::Result;
use crate::lines::Spot;
use crate::table::Table;

/// Where reading begins, and how values are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Start {
    /// Rows of the file before the start, which is the end of a piece.
    pub row: u64,
    /// The place of the start in the file; `None` if it cannot be read from there.
    pub spot: Option<Spot>,
    /// The most rows of a piece.
    pub rows: usize,
    /// Whether NaN is a missing value, in formats that have NaN.
    pub nan_is_missing: bool,
    /// Whether columns are read as they are found; infinities are then missing values, and counted.
    pub found: bool,
}

impl Start {
    /// The table of a survey. NaN and ∞ are missing values or an error, as these options say.
    pub fn checked(self, mut survey: Survey) -> Result<Table> {
        if self.nan_is_missing {
            survey.doubts.iter_mut().for_each(Doubts::forget_nan);
        }
        if !self.found {
            return survey.finite();
        }
        let notes = survey.table.notes().to_vec();
        let strays = survey.doubts.into_iter().enumerate();
        Ok(survey.table.noted(notes, strays.filter(|(_, doubts)| doubts.cells > 0).collect()))
    }
}

/// Takes the rows of a piece and the start of the next one. Returns whether more are wanted.
pub(super) type Each<'a> = dyn FnMut(Table, Option<Spot>) -> Result<ControlFlow<()>> + 'a;
