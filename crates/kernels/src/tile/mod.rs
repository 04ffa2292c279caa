//! Blocks of any kernel of the form f(Σ_k m(x_k, y_k)).

mod direct;
mod expanded;
mod grid;
mod lanes;
mod pack;
pub(crate) use grid::{for_each_lower_tile, for_each_tile};

use crate::metric::Metric;
use crate::{Lane, Points};
use direct::{Diagonal, Fill};
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{Result, Scalar, validate, work};
use pulp::WithSimd;

/// A kernel k(x, y) = f(Σ_k m(c_k(x), c_k(y))): a sum over coordinates, then a formula.
pub(crate) trait Formula: Send + Sync {
    /// m.
    type Metric: Metric;
    /// f: the kernel's value from the sum over coordinates.
    fn at<V: Lane>(&self, sum: V) -> V;
    /// c_k: coordinate `k` as it enters the sum. `origin` is coordinate `k` of a point common to the whole block.
    fn coordinate<T: Scalar>(&self, k: usize, origin: T) -> impl Fn(T) -> T {
        let _ = (k, origin);
        |value| value
    }
    /// As [`Kernel::check_dim`](crate::Kernel::check_dim).
    fn check_dim(&self, d: usize) -> Result<()> {
        validate::not_empty("coordinates of a point (d)", d)
    }
}

/// Implements `Kernel<T>` for a [`Formula`].
macro_rules! formula_kernel {
    ([$($generics:tt)*] $kernel:ty) => {
        impl<T: nystrom_linalg_core::Scalar, $($generics)*> $crate::Kernel<T> for $kernel {
            fn eval_into(&self, out: faer::MatMut<'_, T>, x: $crate::Points<'_, T>, y: $crate::Points<'_, T>) {
                $crate::tile::eval_into(self, out, x, y);
            }
            fn diag_into(&self, out: faer::ColMut<'_, T>, x: $crate::Points<'_, T>) {
                $crate::tile::diag_into(self, out, x);
            }
            fn check_dim(&self, d: usize) -> nystrom_linalg_core::Result<()> {
                $crate::tile::Formula::check_dim(self, d)
            }
            fn gram_into(&self, out: faer::MatMut<'_, T>, x: $crate::Points<'_, T>) {
                $crate::tile::gram_into(self, out, x);
            }
        }
    };
}
pub(crate) use formula_kernel;

/// Bytes from which a block is written past the caches. Smaller ones are mostly buffers that are read next.
const STREAMED_BYTES: usize = 64 << 20;

/// out[(i, j)] = k(x_i, y_j).
pub(crate) fn eval_into<T: Scalar, F: Formula>(formula: &F, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
    assert!(out.nrows() == x.len() && out.ncols() == y.len(), "a block has a row per x and a column per y");
    assert_eq!(x.dim(), y.dim(), "points of one dimension");
    if out.row_stride() != 1 && out.col_stride() == 1 {
        return eval_into(formula, out.transpose_mut(), y, x); // k(x, y) = k(y, x)
    }
    work::entries(x.len(), y.len());
    let streaming = size_of::<T>() * out.nrows() * out.ncols() >= STREAMED_BYTES;
    for_each_tile(out, |out, rows, cols| dispatch(Fill { formula, out, x, rows, y, cols, origin: y, streaming }));
}

/// out[(i, j)] = k(x_i, x_j): one triangle evaluated and mirrored, with the diagonal of [`diag_into`].
pub(crate) fn gram_into<T: Scalar, F: Formula>(formula: &F, mut out: MatMut<'_, T>, x: Points<'_, T>) {
    assert_eq!(out.nrows(), x.len(), "a Gram matrix has a row per point");
    work::entries(x.len(), x.len());
    for_each_lower_tile(out.rb_mut(), |out, rows, cols| {
        // not streamed: each tile is read again at once, for its mirror image
        dispatch(Fill { formula, out, x, rows, y: x, cols, origin: x, streaming: false });
    });
    dispatch(Diagonal { formula, out: out.diagonal_mut().column_vector_mut(), x });
}

/// out[i] = k(x_i, x_i).
pub(crate) fn diag_into<T: Scalar, F: Formula>(formula: &F, out: ColMut<'_, T>, x: Points<'_, T>) {
    assert_eq!(out.nrows(), x.len(), "a diagonal has an entry per point");
    work::diagonal_entries(x.len());
    dispatch(Diagonal { formula, out, x });
}

/// Runs `op` with the widest registers of this machine, found at run time.
fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    pulp::Arch::new().dispatch(op)
}

use faer::reborrow::*;
