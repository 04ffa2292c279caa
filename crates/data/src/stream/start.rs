//! Where the reading of a file begins, and what takes its pieces.

use std::ops::ControlFlow;

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
}

impl Start {
    /// A table read from numbers that may be NaN; ∞ is always an error.
    pub fn checked(self, mut survey: Survey) -> Result<Table> {
        if self.nan_is_missing {
            for doubts in &mut survey.doubts {
                doubts.texts.retain(|doubt| doubt.text != "NaN");
            }
        }
        survey.finite()
    }
}

/// Takes the rows of a piece and where the next one starts, and says whether more are wanted.
pub(super) type Each<'a> = dyn FnMut(Table, Option<Spot>) -> Result<ControlFlow<()>> + 'a;
