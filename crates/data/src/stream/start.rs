//! Where the reading of a file begins, and what takes its pieces.

use std::ops::ControlFlow;

use crate::doubts::Doubts;
use crate::error::Result;
use crate::lines::Spot;
use crate::survey::Survey;
use crate::table::Table;

/// Where to begin, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Start {
    /// Rows of the file before it; the end of a piece.
    pub row: u64,
    /// Where it is in a text that can be entered there.
    pub spot: Option<Spot>,
    /// Rows of a piece.
    pub rows: usize,
    /// Whether NaN is a missing value in formats that can hold it.
    pub nan_is_missing: bool,
    /// Whether columns are as they are found, and infinities missing values that are counted.
    pub found: bool,
}

impl Start {
    /// A table read from numbers that may be NaN or ∞.
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

/// Takes the rows of a piece and where the next one starts, and says whether more are wanted.
pub(super) type Each<'a> = dyn FnMut(Table, Option<Spot>) -> Result<ControlFlow<()>> + 'a;
