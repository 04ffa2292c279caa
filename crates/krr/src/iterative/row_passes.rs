//! Rows that can be read more than once, and passes over them that are checked and counted.

use crate::data::RowSource;
use crate::state::RowSums;
use nystrom_linalg_core::{Result, Scalar, validate};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Rows over which any number of passes can be made: a source of blocks, files, the processes of a
/// job.
pub trait RowPasses<T> {
    /// The sums over all rows, added to `empty`. The order of the rows is the same in every pass.
    ///
    /// # Errors
    /// Of reading, and those of the sums.
    fn pass<S: RowSums<T>>(&mut self, empty: S) -> Result<S>;
}

impl<T: Scalar, R: RowSource<T>> RowPasses<T> for R {
    fn pass<S: RowSums<T>>(&mut self, mut empty: S) -> Result<S> {
        self.each_block(&mut |block| empty.accumulate(block))?;
        Ok(empty)
    }
}

/// The sums of a further pass, if it showed all n rows.
pub(crate) fn same_rows<T, S: RowSums<T>>(n: u64, sums: S) -> Result<S> {
    validate::same_size("rows of the source when read again", n as usize, sums.rows() as usize)?;
    Ok(sums)
}

/// Further passes, which must have the n rows of the first. Their kernel values are counted.
pub(super) struct CheckedPasses<'a, P> {
    pub rows: &'a mut P,
    pub n: usize,
    /// Kernel values of a row.
    pub row_entries: usize,
    /// Kernel values evaluated so far.
    pub entries: &'a AtomicU64,
}

impl<P> CheckedPasses<'_, P> {
    /// The sums of one more pass.
    pub fn pass<T, S: RowSums<T>>(&mut self, empty: S) -> Result<S>
    where
        P: RowPasses<T>,
    {
        let sums = same_rows(self.n as u64, self.rows.pass(empty)?)?;
        self.entries.fetch_add(self.n as u64 * self.row_entries as u64, Relaxed);
        Ok(sums)
    }
}
