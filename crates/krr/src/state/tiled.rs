//! Sums over rows, tile by tile: what they all have in common.

use super::bytes::{Reader, Writer, wrong};
use super::{Asked, RowSums};
use crate::Problem;
use crate::waiting::Waiting;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar, validate};

/// What whole tiles of rows add up to.
pub(crate) trait TileSums<T: Scalar>: Sized {
    /// Which sums these are, in a file.
    const KIND: u8;
    /// What sums with another fingerprint were made with.
    const OTHERWISE: &'static str;
    /// What a tile is worked on in, which later tiles of the same block use again.
    type Room: Default;

    /// The sums over no rows, behind so many others if that matters.
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

    /// The sums, once all rows are in them.
    pub(super) fn whole(&mut self) -> Result<&mut S> {
        self.flush(&mut S::Room::default())?;
        Ok(&mut self.sums)
    }

    /// The sums, once all rows are in them.
    pub(crate) fn finish(mut self) -> Result<S> {
        self.whole()?;
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

    fn merge(&mut self, mut later: Self) -> Result<()> {
        self.check_fingerprint(later.fingerprint)?;
        later.whole()?;
        self.whole()?.plus(later.sums);
        Ok(())
    }

    fn to_bytes(&mut self) -> Result<Vec<u8>> {
        let (fingerprint, sums) = (self.fingerprint, self.whole()?);
        let mut out = Writer::new(S::KIND, 1 + sums.numbers());
        out.integer(fingerprint);
        sums.write(&mut out);
        Ok(out.finish())
    }

    fn read(&self, bytes: &[u8]) -> Result<Self> {
        let numbers = self.sums.numbers_of(Reader::numbers_in(bytes).saturating_sub(1));
        let mut reader = Reader::new(bytes, S::KIND, 1 + numbers)?;
        self.check_fingerprint(reader.integer())?;
        Ok(self.with(self.sums.read(&mut reader)?))
    }
}
