//! Sums over rows, tile by tile: what they all have in common.

use super::bytes::{Reader, Writer, wrong};
use super::{Asked, RowSums};
use crate::Problem;
use crate::problem::TILE_ROWS;
use crate::waiting::Waiting;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar, validate};
use std::borrow::Cow;

/// Numbers of a file before its rows: the fingerprint, and how many rows wait.
const HEAD: usize = 2;

/// What whole tiles of rows add up to.
pub(crate) trait TileSums<T: Scalar>: Clone {
    /// Which sums these are, in a file.
    const KIND: u8;
    /// What sums with another fingerprint were made with.
    const OTHERWISE: &'static str;
    /// What a tile is worked on in, which later tiles of the same block use again.
    type Room: Default;

    /// The sums over no rows, with `before` rows in front of them.
    fn empty_at(&self, before: u64) -> Self;
    /// What they depend on beside kernel, centres and targets.
    fn asked(&self) -> Asked<'_> {
        Asked::Nothing
    }
    /// The kernel, which says what points it takes.
    fn kernel(&self) -> &impl Kernel<T>;
    /// Rows in the sums.
    fn rows(&self) -> u64;
    /// Adds a tile, of 1024 rows or the last.
    fn add(&mut self, tile: Problem<'_, T>, room: &mut Self::Room) -> Result<()>;
    /// Adds sums with the same fingerprint.
    fn plus(&mut self, later: Self);
    /// How many numbers they are in a file.
    fn numbers(&self) -> usize;
    /// How many they are in a file of so many, if it is whole: what grows with the rows is as much.
    fn numbers_of(&self, _in_file: usize) -> usize {
        self.numbers()
    }
    fn write(&self, out: &mut Writer);
    /// The sums that [`write`](Self::write) wrote.
    fn read(&self, reader: &mut Reader<'_>) -> Result<Self>;
}

/// Sums over rows, and the rows that wait until their tile is whole. [`RowSums`] says what can be
/// done with them; [`FitState`](crate::FitState), [`PathErrors`](crate::PathErrors) and
/// [`CenterProducts`](crate::CenterProducts) are what is summed.
#[derive(Debug, Clone)]
#[must_use]
pub struct Tiled<S, T> {
    pub(super) sums: S,
    pub(super) waiting: Waiting<T>,
    /// Of all that the numbers depend on beside the rows.
    pub(super) fingerprint: u64,
}

#[expect(private_bounds, reason = "sealed: what is summed is known to this crate")]
impl<T: Scalar, S: TileSums<T>> Tiled<S, T> {
    /// Of sums over no rows, with so many coordinates and targets a row.
    pub(super) fn over_no_rows(sums: S, [d, t]: [usize; 2], fingerprint: u64) -> Self {
        Tiled { sums, waiting: Waiting::new(d, t), fingerprint }
    }

    /// Other sums with the same fingerprint.
    fn with(&self, sums: S) -> Self {
        Self::over_no_rows(sums, self.waiting.sizes(), self.fingerprint)
    }

    /// Adds the rows that wait for a whole tile.
    pub(super) fn flush(&mut self, room: &mut S::Room) -> Result<()> {
        let rows = self.waiting.len();
        if rows > 0 {
            self.sums.add(self.waiting.first(rows), room)?;
            self.waiting.drop_first(rows);
        }
        Ok(())
    }

    /// The sums of all rows. Rows that wait for a whole tile are added to a copy: if a getter cut
    /// their tile, it would change the bits of later sums.
    pub(super) fn whole(&self) -> Result<Cow<'_, S>> {
        if self.waiting.len() == 0 {
            return Ok(Cow::Borrowed(&self.sums));
        }
        Ok(Cow::Owned(self.clone().finish()?))
    }

    /// The sums of all rows.
    pub(crate) fn finish(mut self) -> Result<S> {
        self.close()?;
        Ok(self.sums)
    }

    fn check_fingerprint(&self, other: u64) -> Result<()> {
        let ours = self.fingerprint;
        if other == ours {
            return Ok(());
        }
        Err(wrong(format!(
            "its fingerprint is {other:016x}, not {ours:016x}: it was made with {}; make both from \
             the same",
            S::OTHERWISE,
        )))
    }
}

impl<T: Scalar, S: TileSums<T>> RowSums<T> for Tiled<S, T> {
    fn empty(&self) -> Self {
        self.empty_at(0)
    }

    fn empty_at(&self, before: u64) -> Self {
        self.with(self.sums.empty_at(before))
    }

    fn asked(&self) -> Asked<'_> {
        self.sums.asked()
    }

    fn rows(&self) -> u64 {
        self.sums.rows() + self.waiting.len() as u64
    }

    fn accumulate<'a>(&mut self, block: impl Into<Problem<'a, T>>) -> Result<()>
    where
        T: 'a,
    {
        let block = block.into();
        block.check_block(self.sums.kernel())?;
        let [d, t] = self.waiting.sizes();
        validate::same_size(
            "coordinates of the block against those of the centres",
            d,
            block.x.dim(),
        )?;
        validate::same_size("targets of the block against those before", t, block.y.ncols())?;
        let mut room = S::Room::default();
        for i in 0..block.x.len() {
            self.waiting.push(block, i);
            if self.waiting.is_full() {
                self.flush(&mut room)?;
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.flush(&mut S::Room::default())
    }

    fn merge(&mut self, later: Self) -> Result<()> {
        self.check_fingerprint(later.fingerprint)?;
        if later.rows() > 0 {
            self.close()?;
            self.sums.plus(later.finish()?);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let (waiting, sums) = (&self.waiting, &self.sums);
        let rows = waiting.to_numbers();
        let mut out = Writer::new(S::KIND, HEAD + rows.len() + sums.numbers());
        out.integer(self.fingerprint);
        out.integer(waiting.len() as u64);
        out.numbers(&rows);
        sums.write(&mut out);
        out.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<Self> {
        let (empty, numbers) = (&self.waiting, Reader::numbers_in(bytes));
        // a file whose number of rows is nonsense is not as long as that number says
        let rows = Reader::number_at(bytes, 1).filter(|rows| *rows < TILE_ROWS as u64).unwrap_or(0);
        let of_rows = empty.numbers_of(rows as usize);
        let of_sums = self.sums.numbers_of(numbers.saturating_sub(HEAD + of_rows));
        let mut reader = Reader::new(bytes, S::KIND, HEAD + of_rows + of_sums)?;
        self.check_fingerprint(reader.integer())?;
        if reader.integer() != rows {
            return Err(wrong(format!("more rows wait in it than a tile has, {TILE_ROWS}")));
        }
        let waiting = empty.of_numbers(rows as usize, &reader.numbers(of_rows));
        if rows > 0 {
            waiting.first(rows as usize).check_block(self.sums.kernel())?;
        }
        Ok(Tiled { waiting, ..self.with(self.sums.read(&mut reader)?) })
    }
}
