//! The interface to a positive semi-definite matrix that is never stored whole.

use crate::{Indices, RowTree, Scalar, ops};
use faer::{Accum, ColMut, Mat, MatMut, MatRef};
use std::fmt;
use std::sync::Arc;

/// Rows of a tile in the provided products. A tile of 256 × n numbers fits the last-level cache for
/// n in the tens of thousands.
const TILE_ROWS: usize = 256;

/// An n × n symmetric positive semi-definite matrix A, given by its blocks.
///
/// An implementation provides the dimension, the diagonal and blocks; the provided products hold no
/// more than a tile of A in memory. An implementation must be deterministic and symmetric:
/// `block(I, J)` is the transpose of `block(J, I)` up to rounding, and `block(I, I)` is symmetric
/// bit for bit. `testing::check_psd_matrix` (feature `testing`) tests this of any implementation.
///
/// [`Dense`](crate::Dense) implements the trait for a stored matrix, `KernelMatrix` of
/// `nystrom-kernels` for a kernel on points.
///
/// ```
/// use faer::{ColMut, MatMut};
/// use nystrom_linalg_core::{Indices, PsdMatrix};
/// /// min(s, t): the covariance of Brownian motion at times 1, 2, …, n.
/// struct Brownian(usize);
/// impl PsdMatrix<f64> for Brownian {
///     fn dim(&self) -> usize { self.0 }
///     fn diag_into(&self, mut out: ColMut<'_, f64>, idx: Indices<'_>) {
///         for (t, i) in idx.iter().enumerate() { out[t] = (i + 1) as f64; }
///     }
///     fn block_into(&self, mut out: MatMut<'_, f64>, rows: Indices<'_>, cols: Indices<'_>) {
///         for (t, j) in cols.iter().enumerate() {
///             for (s, i) in rows.iter().enumerate() { out[(s, t)] = (i.min(j) + 1) as f64; }
///         }
///     }
/// }
/// assert_eq!(Brownian(4).trace(), 10.0);
/// assert_eq!(Brownian(4).columns((&[2]).into())[(3, 0)], 3.0);
/// ```
pub trait PsdMatrix<T: Scalar>: Sync {
    /// n: the number of rows and of columns.
    fn dim(&self) -> usize;

    /// Writes `out[t] = A[i_t, i_t]`; `out` has one entry per index.
    fn diag_into(&self, out: ColMut<'_, T>, idx: Indices<'_>);

    /// Writes `out[(s, t)] = A[rows_s, cols_t]`; `out` is rows.len() × cols.len().
    fn block_into(&self, out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>);

    /// The whole diagonal, n entries.
    fn diag(&self) -> Vec<T> {
        let mut out = vec![T::zero(); self.dim()];
        self.diag_into(ColMut::from_slice_mut(&mut out), (0..self.dim()).into());
        out
    }

    /// A\[rows, cols\] as a new matrix, `rows.len()` × `cols.len()`.
    fn block(&self, rows: Indices<'_>, cols: Indices<'_>) -> Mat<T> {
        let mut out = Mat::zeros(rows.len(), cols.len());
        self.block_into(out.as_mut(), rows, cols);
        out
    }

    /// A\[:, cols\] as a new matrix, n × cols.len(): n·cols.len() entries of memory.
    fn columns(&self, cols: Indices<'_>) -> Mat<T> {
        self.block((0..self.dim()).into(), cols)
    }

    /// tr A, summed in `f64`.
    fn trace(&self) -> f64 {
        self.diag().into_iter().map(T::f64).sum()
    }

    /// out = A·x for x n × t, tile by tile: n² entries evaluated, O(256·n) memory.
    ///
    /// # Panics
    /// If `x` or `out` does not have n rows, or their numbers of columns differ.
    fn mul_into(&self, mut out: MatMut<'_, T>, x: MatRef<'_, T>) {
        let n = self.dim();
        assert!(
            x.nrows() == n && out.nrows() == n && x.ncols() == out.ncols(),
            "A·x: A is {n} x {n}"
        );
        let mut tile = Mat::zeros(TILE_ROWS.min(n), n);
        for rows in RowTree::tiles(0..n, TILE_ROWS) {
            let mut a = tile.as_mut().subrows_mut(0, rows.len());
            self.block_into(a.rb_mut(), rows.clone().into(), (0..n).into());
            ops::matmul(
                out.rb_mut().subrows_mut(rows.start, rows.len()),
                Accum::Replace,
                a.rb(),
                x,
                T::one(),
            );
        }
    }
}

use faer::reborrow::*;

/// Lets types that hold a `dyn PsdMatrix` derive `Debug`; entries are not printed.
impl<T> fmt::Debug for dyn PsdMatrix<T> + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PsdMatrix")
    }
}

/// Implements the trait for pointers by forwarding to the matrix.
macro_rules! forward {
    ($($pointer:ty $(: $bound:ident)?),*) => {$(
        impl<T: Scalar, A: PsdMatrix<T> $(+ $bound)? + ?Sized> PsdMatrix<T> for $pointer {
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn diag_into(&self, out: ColMut<'_, T>, idx: Indices<'_>) {
                (**self).diag_into(out, idx);
            }
            fn block_into(&self, out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>) {
                (**self).block_into(out, rows, cols);
            }
            fn diag(&self) -> Vec<T> {
                (**self).diag()
            }
            fn block(&self, rows: Indices<'_>, cols: Indices<'_>) -> Mat<T> {
                (**self).block(rows, cols)
            }
            fn columns(&self, cols: Indices<'_>) -> Mat<T> {
                (**self).columns(cols)
            }
            fn trace(&self) -> f64 {
                (**self).trace()
            }
            fn mul_into(&self, out: MatMut<'_, T>, x: MatRef<'_, T>) {
                (**self).mul_into(out, x);
            }
        }
    )*};
}
forward!(&A, Box<A>, Arc<A>: Send);
