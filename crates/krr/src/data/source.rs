//! Rows that are read block by block, as often as necessary.

use crate::Problem;
use crate::data::{TILE_ROWS, Waiting};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, RowTree, Scalar, validate};
use std::cell::RefCell;

/// Rows of a problem in blocks of any size, which can be read repeatedly: a [`Problem`] in memory,
/// files, an iterator. The number of rows need not be known.
///
/// The bits of a fit depend on the rows and their order, never on the blocks.
pub trait RowSource<T> {
    /// One pass: shows every block to `visit`, from the first row on.
    ///
    /// # Errors
    /// Those of reading, as [`Incompatible`](nystrom_linalg_core::Error::Incompatible) or the
    /// variant that fits best; those of `visit`, which end the pass.
    fn each_block(&mut self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()>;
}

impl<T, S: RowSource<T> + ?Sized> RowSource<T> for &mut S {
    fn each_block(&mut self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()> {
        (**self).each_block(visit)
    }
}

/// One block.
impl<T: Scalar> RowSource<T> for Problem<'_, T> {
    fn each_block(&mut self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()> {
        visit(*self)
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
pub struct RowIter<F>(F);

impl<F> std::fmt::Debug for RowIter<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowIter").finish_non_exhaustive()
    }
}

impl<F> RowIter<F> {
    /// Every iterator of `make` begins at the first row.
    pub fn new(make: F) -> Self {
        RowIter(make)
    }
}

impl<T: Scalar, F, I> RowSource<T> for RowIter<F>
where
    F: FnMut() -> I,
    I: Iterator<Item = Result<Block<T>>>,
{
    fn each_block(&mut self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()> {
        (self.0)().try_for_each(|block| {
            let Block { x, y, weights } = &block?;
            let x = Points::from_rows(x.as_ref());
            visit(Problem { x, y: y.as_ref(), weights: weights.as_deref() })
        })
    }
}

/// Rows in tiles of 1024, for any number of passes.
pub(crate) trait Tiles<T> {
    /// Shows every tile, from the first on.
    fn each(&self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()>;
    /// Checks a tile, unless all rows were checked before.
    fn check(&self, _: Problem<'_, T>) -> Result<()> {
        Ok(())
    }
}

impl<T: Scalar> Tiles<T> for Problem<'_, T> {
    fn each(&self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()> {
        RowTree::tiles(0..self.x.len(), TILE_ROWS).try_for_each(|rows| visit(self.slice(rows)))
    }
}

/// The tiles of a source, which is borrowed while they are shown, for a kernel and centres.
pub(crate) struct SourceTiles<'a, T, K> {
    source: RefCell<&'a mut dyn RowSource<T>>,
    kernel: &'a K,
    centers: Points<'a, T>,
}

impl<'a, T: Scalar, K: Kernel<T>> SourceTiles<'a, T, K> {
    /// Checks the centres.
    pub fn new(
        source: &'a mut dyn RowSource<T>,
        kernel: &'a K,
        centers: Points<'a, T>,
    ) -> Result<Self> {
        validate::not_empty("centres (m)", centers.len())?;
        centers.check()?;
        kernel.check_points(centers)?;
        Ok(SourceTiles { source: RefCell::new(source), kernel, centers })
    }
}

impl<T: Scalar, K: Kernel<T>> Tiles<T> for SourceTiles<'_, T, K> {
    fn each(&self, visit: &mut dyn FnMut(Problem<'_, T>) -> Result<()>) -> Result<()> {
        let mut waiting: Option<Waiting<T>> = None;
        self.source.borrow_mut().each_block(&mut |block| {
            block.check_sizes()?;
            block.check_form()?;
            let (d, t) = (block.x.dim(), block.y.ncols());
            let waiting = waiting.get_or_insert_with(|| Waiting::new(d, t));
            let [first_d, first_t] = waiting.sizes();
            validate::same_size("dimension of a block against that of the first", first_d, d)?;
            validate::same_size("targets of a block against those of the first", first_t, t)?;
            waiting.take(block, &mut *visit)
        })?;
        waiting.map_or(Ok(()), |mut waiting| waiting.flush(visit))
    }

    fn check(&self, tile: Problem<'_, T>) -> Result<()> {
        tile.check_block(self.kernel)?;
        self.centers.check_same_dim(tile.x)
    }
}
