//! The used rows of a source: their positions among all rows, and passes over them.

use super::source::TableSource;
use crate::error::{Error, Result};
use nystrom::linalg_core::RowTree;
use nystrom_data::Table;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The error of a source with another number of rows than in the first pass.
fn other_rows(expected: usize, got: usize) -> Error {
    let what = "rows of the source when read again";
    nystrom::Error::Shape { what, expected, got }.into()
}

/// More rows than any source has: counts below it do not overflow.
const MOST_ROWS: u64 = 1 << 40;

/// The starts and ends of blocks with rows that are left out: the number of rows of the source, and
/// of used rows, before each. Between these blocks every row is used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Places(Vec<(u64, u64)>);

impl Places {
    /// Adds a block that begins at row `row` after `used` used rows, and has `rows` rows, of which
    /// `of_them` are used.
    pub fn add(&mut self, (row, used): (u64, u64), (rows, of_them): (usize, usize)) {
        if rows == of_them {
            return;
        }
        if self.0.last() != Some(&(row, used)) {
            self.0.push((row, used));
        }
        self.0.push((row + rows as u64, used + of_them as u64));
    }

    /// Adds the positions in the rows after these; `used` is the number of used rows before them.
    pub fn merge(&mut self, later: Places, used: u64) {
        for (row, of_them) in later.0 {
            let place = (row, used + of_them);
            if self.0.last() != Some(&place) {
                self.0.push(place);
            }
        }
    }

    /// The position of used row `used`: a row of the source, and the number of used rows to skip
    /// from there.
    pub fn find(&self, used: u64) -> (u64, u64) {
        let next = self.0.partition_point(|(_, before)| *before <= used);
        let (row, before) = next.checked_sub(1).map_or((0, 0), |last| self.0[last]);
        let is_whole = |end: &(u64, u64)| end.0 - row == end.1 - before;
        if self.0.get(next).is_none_or(is_whole) {
            return (row + used - before, 0);
        }
        (row, used - before)
    }

    /// The number of used rows before row `row` of the source, the first of a block.
    pub fn used_before(&self, row: u64) -> u64 {
        let next = self.0.partition_point(|(start, _)| *start <= row);
        let (start, used) = next.checked_sub(1).map_or((0, 0), |last| self.0[last]);
        let most = self.0.get(next).map_or(u64::MAX, |(_, used)| *used);
        (used + (row - start)).min(most)
    }

    /// Whether a source with `rows` used rows can have these positions.
    pub fn is_sound(&self, rows: u64) -> bool {
        let (mut row, mut used) = (0, 0);
        for &(next, used_there) in &self.0 {
            // of the rows in between some are used
            let (Some(of), Some(taken)) = (next.checked_sub(row), used_there.checked_sub(used))
            else {
                return false;
            };
            if taken > of {
                return false;
            }
            (row, used) = (next, used_there);
        }
        used <= rows && rows <= MOST_ROWS && row <= MOST_ROWS
    }
}

/// The used rows of a source, and the tree along which passes over them are merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct UsedRows {
    /// The number of used rows.
    pub rows: u64,
    pub places: Places,
    /// The largest number of leaves of the tree.
    pub leaves: usize,
}

impl UsedRows {
    pub fn tree(&self) -> Result<RowTree> {
        let rows = usize::try_from(self.rows).map_err(|_| Error::TooFewRows { rows: 0 })?;
        Ok(RowTree::with_leaves(rows, self.leaves))
    }

    /// Whether a survey can have found these rows.
    pub fn is_sound(&self) -> bool {
        self.rows > 0 && self.leaves > 0 && self.places.is_sound(self.rows)
    }

    /// Reads the used rows with numbers in `range`, block by block. `prepare` returns the used rows
    /// of a block, and what it made of them. `take` receives both, the row of the source with
    /// which the block begins, and the range of the used rows of the block that are in `range`.
    /// While `take` runs, another thread prepares the next block.
    ///
    /// # Errors
    /// Those of the source, of `prepare` and of `take`; an error if the source has other rows than
    /// in the first pass.
    pub fn read<B: Send, E: From<Error>>(
        &self,
        source: &mut dyn TableSource,
        range: Range<u64>,
        prepare: impl Fn(&Table) -> Result<(Vec<usize>, B)> + Sync,
        mut take: impl FnMut(&Table, (&[usize], B), (u64, Range<usize>)) -> Result<(), E>,
    ) -> Result<(), E> {
        if range.is_empty() {
            return Ok(());
        }
        let (mut row, skip) = self.places.find(range.start);
        let (mut skip, mut left) = (skip as usize, (range.end - range.start) as usize);
        let (all, to_end) = (range.end as usize, range.end == self.rows);
        let prepared = |block: nystrom_data::Result<Option<Table>>| -> Option<Result<_>> {
            let block = block.map_err(Error::from).transpose()?;
            Some(block.and_then(|block| Ok((prepare(&block)?, block))))
        };
        source.start(row).map_err(Error::from)?;
        let mut next = prepared(source.next_block());
        // after the last row, check that the source has no more rows
        while left > 0 || to_end {
            let Some(found) = next else { break };
            let (((used, of_block), block), later) = (found?, source.next_block());
            let first = skip.min(used.len());
            let end = used.len().min(first.saturating_add(left));
            next = None;
            rayon::in_place_scope(|scope| {
                // an error of the next block is returned in its turn
                scope.spawn(|_| next = prepared(later));
                take(&block, (&used, of_block), (row, first..end))
            })?;
            (skip, left) = (skip - first, left - (end - first));
            if to_end && end < used.len() {
                return Err(other_rows(all, all + 1).into());
            }
            row += block.rows() as u64;
        }
        if left == 0 { Ok(()) } else { Err(other_rows(all, all - left).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 60 rows in blocks of 6, of which some are left out, by one reader and by two.
    #[test]
    fn every_row_is_found() {
        let is_used = |row: u64| !(matches!(row, 13 | 20..32 | 59) || row == 6);
        let read = |rows: std::ops::Range<u64>| {
            let (mut places, mut used, mut row) = (Places::default(), 0, rows.start);
            while row < rows.end {
                let count = 6.min(rows.end - row);
                let of_them = (row..row + count).filter(|row| is_used(*row)).count();
                places.add((row, used), (count as usize, of_them));
                (row, used) = (row + count, used + of_them as u64);
            }
            (places, used)
        };
        assert!(!Places(vec![(9, 5), (7, 6)]).is_sound(60));
        assert!(!Places(vec![(3, 4)]).is_sound(60));
        for cut in 0..60 {
            let ((mut places, used), (later, _)) = (read(0..cut), read(cut..60));
            places.merge(later, used);
            let all = (0..60).filter(|row| is_used(*row)).count() as u64;
            assert!(places.is_sound(all) && !places.is_sound(all - 1));
            assert_eq!([places.used_before(cut), places.used_before(0)], [used, 0]);
            for (number, row) in (0..60).filter(|row| is_used(*row)).enumerate() {
                let (from, skip) = places.find(number as u64);
                let found = (from..).filter(|row| is_used(*row)).nth(skip as usize);
                assert_eq!(found, Some(row), "cut at {cut}: {places:?}");
                assert!(row - from <= 12, "{from} is far from {row}");
            }
        }
    }
}
