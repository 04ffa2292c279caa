//! The sums of normal equations, ZᵀZ and ZᵀY, over blocks of rows.

use crate::ops::{self, LowerBlock};
use crate::{PackedLower, Result, RowTree, Scalar, work};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;
use std::ops::{AddAssign, Range};

/// ZᵀZ (p × p) and ZᵀY (p × t) in `f64`, summed over blocks of rows of Z (n × p) and Y (n × t), of
/// which only one block need be in memory. The sums take p²/2 + 128p + pt numbers.
///
/// [`add`](Self::add) adds a block of rows, `+=` adds sums over other rows, and
/// [`over_rows`](Self::over_rows) does both along the [`RowTree`] of n rows.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{GramSums, RowTree};
/// let (z, y) = (Mat::from_fn(5000, 2, |i, j| (i % (j + 2)) as f64), Mat::full(5000, 1, 1.0));
/// let sums = GramSums::over_rows(5000, 2, 1, |sums, rows| {
///     for rows in RowTree::tiles(rows, 1024) {
///         let (start, size) = (rows.start, rows.len());
///         sums.add(z.subrows(start, size), y.subrows(start, size));
///     }
///     Ok(())
/// })?;
/// assert_eq!((sums.gram.get(0, 0), sums.gram.get(1, 0)), (2500.0, 2500.0));
/// assert_eq!(sums.moments, z.transpose() * &y);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct GramSums {
    /// ZᵀZ.
    pub gram: PackedLower<f64>,
    /// ZᵀY.
    pub moments: Mat<f64>,
}

impl GramSums {
    /// The sums over no rows, for p features and t targets.
    pub fn zeros(p: usize, t: usize) -> Self {
        GramSums { gram: PackedLower::zeros(p), moments: Mat::zeros(p, t) }
    }

    /// The sums over n rows; `add(sums, rows)` adds the given range of rows. At most four
    /// `GramSums` are alive at a time. The bits do not depend on the number of threads.
    ///
    /// # Errors
    /// The first error of `add`.
    pub fn over_rows(
        n: usize,
        p: usize,
        t: usize,
        mut add: impl FnMut(&mut Self, Range<usize>) -> Result<()>,
    ) -> Result<Self> {
        let leaf = |rows| {
            let mut sums = Self::zeros(p, t);
            add(&mut sums, rows).map(|()| sums)
        };
        let plus = |mut a: Self, b: Self| {
            a += &b;
            a
        };
        let sums = RowTree::large(n).try_reduce_in_order(leaf, plus)?;
        Ok(sums.unwrap_or_else(|| Self::zeros(p, t)))
    }

    /// Adds the sums over b rows, Z (b × p) and Y (b × t). p²b + 2ptb flops.
    ///
    /// Products are computed in the precision of Z. An `f32` product of the b rows is computed
    /// separately and then added in `f64`, so that rounding errors do not grow with the number of
    /// calls. Fastest if the columns of Z are contiguous.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn add<T: Scalar>(&mut self, Z: MatRef<'_, T>, Y: MatRef<'_, T>) {
        let (p, t) = self.moments.shape();
        assert!(Z.ncols() == p && Y.ncols() == t && Z.nrows() == Y.nrows(), "shapes of Gram sums");
        if p == 0 {
            return;
        }
        let side = ops::gram_side(p); // divides the width of a panel
        let mut moments = self.moments.par_row_chunks_mut(side).collect::<Vec<_>>().into_iter();
        let mut all = Vec::new();
        for block in self.gram.blocks(side) {
            let moments = if block.row == block.col { moments.next() } else { None };
            all.push((block, moments));
        }
        let add = |scratch: &mut Mat<T>, (block, moments): (LowerBlock<'_, f64>, Option<_>)| {
            if let Some(out) = moments {
                add_moments(out, Z.subcols(block.row, block.out.nrows()), Y, scratch);
            }
            add_gram(block, Z, scratch);
        };
        work::side_by_side(|pieces| {
            let all = all.into_par_iter();
            all.for_each_init(Mat::new, |scratch, one| pieces.piece(|| add(scratch, one)));
        });
    }
}

impl AddAssign<&GramSums> for GramSums {
    /// # Panics
    /// If the shapes differ.
    fn add_assign(&mut self, other: &GramSums) {
        self.gram += &other.gram;
        self.moments += &other.moments;
    }
}

/// Adds to the block its part of ZᵀZ; `scratch` holds the product in the precision of Z.
fn add_gram<T: Scalar>(block: LowerBlock<'_, f64>, Z: MatRef<'_, T>, scratch: &mut Mat<T>) {
    if let Some(Z) = T::as_f64(Z) {
        return ops::gram_block(block, Accum::Add, Z, 1.0);
    }
    let LowerBlock { row, col, out } = block;
    let mut product = ops::scratch_view(scratch, out.nrows(), out.ncols());
    ops::gram_block(LowerBlock { row, col, out: product.rb_mut() }, Accum::Replace, Z, T::one());
    ops::add_widened(out, product.rb(), row == col);
}

/// out += ZᵀY, with the product in the precision of Z.
fn add_moments<T: Scalar>(
    out: MatMut<'_, f64>,
    Z: MatRef<'_, T>,
    Y: MatRef<'_, T>,
    scratch: &mut Mat<T>,
) {
    let mut product = ops::scratch_view(scratch, out.nrows(), out.ncols());
    ops::matmul_here(product.rb_mut(), Accum::Replace, Z.transpose(), Y, T::one());
    ops::add_widened(out, product.rb(), false);
}
