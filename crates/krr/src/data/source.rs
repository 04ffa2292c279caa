//! Rows that are read block by block, as often as necessary.

use crate::Problem;
use crate::data::{TILE_ROWS, Waiting};
use faer::Mat;
use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, RowTree, Scalar, validate};
use std::cell::RefCell;

/// Rows of a problem in blocks of any size, which can be read repeatedly: a matrix in memory,
/// files, an iterator. The number of rows need not be known.
///
/// The bits of a fit depend on the rows and their order, never on the blocks.
pub trait RowSource<T> {
    /// Returns to the first row.
    ///
    /// # Errors
    /// Those of reading, as [`Incompatible`](nystrom_linalg_core::Error::Incompatible) or the
    /// variant that fits best.
    fn rewind(&mut self) -> Result<()>;

    /// The next block, at least one row; `None` after the last.
    ///
    /// # Errors
    /// As [`rewind`](Self::rewind).
    fn next_block(&mut self) -> Result<Option<Problem<'_, T>>>;
}

/// A pointer to a source is the source.
macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T, S: RowSource<T> + ?Sized> RowSource<T> for $pointer {
            fn rewind(&mut self) -> Result<()> {
                (**self).rewind()
            }
            fn next_block(&mut self) -> Result<Option<Problem<'_, T>>> {
                (**self).next_block()
            }
        }
    )*};
}
forward!(&mut S, Box<S>);

/// A problem in memory, in blocks of a given number of rows.
#[derive(Debug, Clone)]
pub struct Blocks<'a, T> {
    problem: Problem<'a, T>,
    rows: usize,
    at: usize,
}

impl<'a, T: Scalar> Blocks<'a, T> {
    /// Blocks of `rows` rows, the last one perhaps smaller.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) for 0 rows,
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if targets or weights are not as many as
    /// points.
    pub fn new(problem: impl Into<Problem<'a, T>>, rows: usize) -> Result<Self> {
        let problem = problem.into();
        validate::not_empty("rows of a block", rows)?;
        problem.check_sizes()?;
        Ok(Blocks { problem, rows, at: 0 })
    }
}

impl<T: Scalar> RowSource<T> for Blocks<'_, T> {
    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn next_block(&mut self) -> Result<Option<Problem<'_, T>>> {
        let start = self.at;
        self.at = self.problem.x.len().min(start.saturating_add(self.rows));
        Ok((start < self.at).then(|| self.problem.slice(start..self.at)))
    }
}

/// A block that owns its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<T> {
    /// The points, b × d.
    pub x: Mat<T>,
    /// The targets, b × t.
    pub y: Mat<T>,
    /// w, b weights; 1 each if `None`.
    pub weights: Option<Vec<T>>,
}

/// The rows of an iterator over blocks. A closure makes a new iterator for every pass.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{Block, NystromKrr, RowIter};
/// use nystrom_linalg_core::Ridge;
/// // 100 blocks of 50 rows, none of which is kept
/// let x = |i: usize| i as f64 / 1000.0;
/// let block = |b: usize| Block {
///     x: Mat::from_fn(50, 1, |i, _| x(50 * b + i)),
///     y: Mat::from_fn(50, 1, |i, _| x(50 * b + i).sin()),
///     weights: None,
/// };
/// let mut rows = RowIter::new(|| (0..100).map(|b| Ok(block(b))));
/// let centers: Vec<f64> = (0..20).map(|j| j as f64 / 4.0).collect();
/// let krr = NystromKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-8));
/// let model = krr.fit_source(&mut rows, Points::from_slice(&centers))?;
/// assert_eq!(model.report().n, 5000);
/// let f = model.predict(Points::from_slice(&[1.234]))?;
/// assert!((f[(0, 0)] - 1.234_f64.sin()).abs() < 1e-4);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub struct RowIter<F, I, T> {
    make: F,
    iterator: I,
    block: Option<Block<T>>,
}

impl<F, I, T> RowIter<F, I, T>
where
    F: FnMut() -> I,
    I: Iterator<Item = Result<Block<T>>>,
{
    /// Every iterator of `make` begins at the first row.
    pub fn new(mut make: F) -> Self {
        let iterator = make();
        RowIter { make, iterator, block: None }
    }
}

impl<F, I, T: std::fmt::Debug> std::fmt::Debug for RowIter<F, I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowIter").field("block", &self.block).finish_non_exhaustive()
    }
}

impl<T: Scalar, F, I> RowSource<T> for RowIter<F, I, T>
where
    F: FnMut() -> I,
    I: Iterator<Item = Result<Block<T>>>,
{
    fn rewind(&mut self) -> Result<()> {
        self.iterator = (self.make)();
        Ok(())
    }

    fn next_block(&mut self) -> Result<Option<Problem<'_, T>>> {
        self.block = self.iterator.next().transpose()?;
        Ok(self.block.as_ref().map(|Block { x, y, weights }| Problem {
            x: Points::from_rows(x.as_ref()),
            y: y.as_ref(),
            weights: weights.as_deref(),
        }))
    }
}

/// Rows in tiles of 1024, for any number of passes.
pub(crate) trait Tiles<T> {
    /// Shows every tile, from the first on.
    fn each(&self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()>;
    /// Whether the rows were checked before.
    fn are_checked(&self) -> bool;
}

impl<T: Scalar> Tiles<T> for Problem<'_, T> {
    fn each(&self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()> {
        RowTree::tiles(0..self.x.len(), TILE_ROWS).try_for_each(|rows| visit(self.slice(rows)))
    }

    fn are_checked(&self) -> bool {
        true
    }
}

/// The tiles of a source, which is borrowed while they are shown.
pub(crate) struct SourceTiles<'a, T>(pub RefCell<&'a mut dyn RowSource<T>>);

impl<T: Scalar> Tiles<T> for SourceTiles<'_, T> {
    fn each(&self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()> {
        let (mut source, mut waiting) = (self.0.borrow_mut(), None);
        source.rewind()?;
        while let Some(block) = source.next_block()? {
            block.check_sizes()?;
            block.check_form()?;
            let (d, t) = (block.x.dim(), block.y.ncols());
            let waiting = waiting.get_or_insert_with(|| Waiting::new(d, t));
            let [first_d, first_t] = waiting.sizes();
            validate::same_size("dimension of a block against that of the first", first_d, d)?;
            validate::same_size("targets of a block against those of the first", first_t, t)?;
            waiting.take(block, &mut *visit)?;
        }
        waiting.map_or(Ok(()), |mut waiting| waiting.flush(visit))
    }

    fn are_checked(&self) -> bool {
        false
    }
}
