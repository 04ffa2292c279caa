//! Sums over rows, tile by tile.

use super::{PassInput, RowSums};
use crate::Problem;
use crate::data::{TILE_ROWS, Waiting};
use crate::sums::{Reader, Sums, to_bytes, wrong};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar, validate};
use std::borrow::Cow;
use std::sync::Arc;

/// More rows than any pass has. Smaller numbers of rows and of their kernel values do not overflow.
const MOST_ROWS: u64 = 1 << 40;

/// The term of a tile of rows in a sum, with everything but the rows that the term depends on.
pub(crate) trait TileTerm<T: Scalar> {
    /// Which sums these are, in a file.
    const KIND: u8;
    /// The input of sums with another fingerprint, for an error.
    const MISMATCH: &'static str;
    type Sums: Sums;
    /// Memory that a tile is evaluated in; later tiles of the same block use it again.
    type Scratch: Default;

    /// What it depends on except kernel, centres and the number of targets.
    fn input(&self) -> &PassInput {
        &PassInput::Nothing
    }
    /// The kernel, by which points are checked.
    fn kernel(&self) -> &impl Kernel<T>;
    /// The sums over no rows.
    fn zeros(&self) -> Self::Sums;
    /// Adds a tile of 1024 rows, or fewer at the end; `first` is the number of its first row.
    fn add(
        &self,
        sums: &mut Self::Sums,
        tile: Problem<'_, T>,
        first: u64,
        scratch: &mut Self::Scratch,
    ) -> Result<()>;
}

/// Sums over rows, and the rows of an incomplete tile. Its methods are those of [`RowSums`].
/// Examples are [`FitState`](crate::FitState), [`PathErrors`](crate::PathErrors) and
/// [`CenterProducts`](crate::CenterProducts).
#[derive(Debug, Clone)]
#[must_use]
#[expect(private_bounds, reason = "sealed: what is summed is known to this crate")]
pub struct Tiled<S: TileTerm<T>, T: Scalar> {
    pub(super) term: Arc<S>,
    /// Rows before these.
    first: u64,
    /// Rows in the sums.
    pub(super) rows: u64,
    pub(super) sums: S::Sums,
    pub(super) waiting: Waiting<T>,
    /// A hash of everything but the rows that the sums depend on.
    pub(super) fingerprint: u64,
}

#[expect(private_bounds, reason = "sealed: what is summed is known to this crate")]
impl<T: Scalar, S: TileTerm<T>> Tiled<S, T> {
    /// Over no rows, with d coordinates and t targets each.
    pub(super) fn over_no_rows(
        term: impl Into<Arc<S>>,
        [d, t]: [usize; 2],
        fingerprint: u64,
    ) -> Self {
        let term = term.into();
        let (sums, waiting) = (term.zeros(), Waiting::new(d, t));
        Tiled { term, first: 0, rows: 0, sums, waiting, fingerprint }
    }

    /// The sums over all rows. The rows of an incomplete tile are added to a copy: to close the
    /// tile here would change the bits of later sums.
    pub(super) fn whole(&self) -> Result<Cow<'_, S::Sums>> {
        if self.waiting.len() == 0 {
            return Ok(Cow::Borrowed(&self.sums));
        }
        let (term, sums) = (self.term.clone(), self.sums.clone());
        Ok(Cow::Owned(Tiled { term, sums, waiting: self.waiting.clone(), ..*self }.finish()?))
    }

    /// The sums over all rows.
    pub(crate) fn finish(mut self) -> Result<S::Sums> {
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
            S::MISMATCH,
        )))
    }
}

impl<T: Scalar, S: TileTerm<T>> RowSums<T> for Tiled<S, T> {
    fn empty_at(&self, before: u64) -> Self {
        let sizes = self.waiting.sizes();
        let empty = Self::over_no_rows(self.term.clone(), sizes, self.fingerprint);
        Tiled { first: before, ..empty }
    }

    fn input(&self) -> &PassInput {
        self.term.input()
    }

    fn rows(&self) -> u64 {
        self.rows + self.waiting.len() as u64
    }

    fn accumulate<'a>(&mut self, block: impl Into<Problem<'a, T>>) -> Result<()>
    where
        T: 'a,
    {
        let block = block.into();
        block.check_block(self.term.kernel())?;
        let [d, t] = self.waiting.sizes();
        validate::same_size(
            "coordinates of the block against those of the centres",
            d,
            block.x.dim(),
        )?;
        validate::same_size("targets of the block against those before", t, block.y.ncols())?;
        let Tiled { term, first, rows, sums, waiting, .. } = self;
        let mut scratch = S::Scratch::default();
        waiting.take(block, |tile| {
            term.add(sums, tile, *first + *rows, &mut scratch)?;
            *rows += TILE_ROWS as u64;
            Ok(())
        })
    }

    fn close(&mut self) -> Result<()> {
        let Tiled { term, first, rows, sums, waiting, .. } = self;
        waiting.flush(|tile| {
            term.add(sums, tile, *first + *rows, &mut S::Scratch::default())?;
            *rows += tile.x.len() as u64;
            Ok(())
        })
    }

    fn merge(&mut self, mut later: Self) -> Result<()> {
        self.check_fingerprint(later.fingerprint)?;
        if later.rows() > 0 {
            self.close()?;
            later.close()?;
            self.rows += later.rows;
            self.sums.merge(later.sums);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        to_bytes(S::KIND, |out| {
            let waiting = self.waiting.len() as u64;
            [self.fingerprint, waiting, self.first, self.rows].into_iter().for_each(&mut *out);
            self.waiting.numbers().for_each(|x| out(x.to_bits()));
            self.sums.write(out);
        })
    }

    fn read(&self, bytes: &[u8]) -> Result<Self> {
        let reader = &mut Reader::new(bytes, S::KIND)?;
        let [fingerprint, waiting, first, rows] = [(); 4].map(|()| reader.integer());
        // an impossible number of rows is an error, but damaged bytes are reported first
        let held = if waiting < TILE_ROWS as u64 { waiting } else { 0 };
        let tile = self.waiting.read(held as usize, || reader.number());
        let sums = self.sums.read(reader);
        reader.finish()?;
        self.check_fingerprint(fingerprint)?;
        if held != waiting {
            return Err(wrong(format!("more rows wait in it than a tile has, {TILE_ROWS}")));
        }
        if let Some(rows) = [first, rows].into_iter().find(|rows| *rows > MOST_ROWS) {
            return Err(wrong(format!("{rows} rows, more than any pass sees")));
        }
        if !sums.is_sound(rows) {
            return Err(wrong("its numbers are the sums of no rows".into()));
        }
        if held > 0 {
            tile.rows().check_block(self.term.kernel())?;
        }
        let term = self.term.clone();
        Ok(Tiled { term, first, rows, sums, waiting: tile, fingerprint })
    }
}
