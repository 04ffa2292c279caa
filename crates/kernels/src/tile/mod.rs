//! Blocks of kernels of the form f(Σ_k m(x_k, y_k)).

mod direct;
mod expanded;
mod gradient;
mod grid;
mod lanes;
mod pack;
mod scales;
mod sparse;
mod sums;
pub(crate) use gradient::{gradient_into, sums as gradient_sums};
pub(crate) use grid::{ROWS, for_each_lower_tile, for_each_tile};
pub(crate) use scales::Scales;

use crate::chain_rule::Chain;
use crate::dual_numbers::derivative;
use crate::metric::Metric;
use crate::{Lane, Plain, Points};
use direct::{Diagonal, Fill};
use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{Result, Scalar, WrittenColumns, dispatch, validate, work};

/// A kernel k(x, y) = f(Σ_k m(c(x_k), c(y_k))): a formula f of a sum over coordinates, which is
/// taken in units of length scales.
pub(crate) trait Formula: Send + Sync {
    /// The function m of one coordinate, summed over coordinates.
    type Metric: Metric + Chain;
    /// Whether the sum has units; if not, [`scales`](Formula::scales) is not called.
    const SCALED: bool = false;
    /// Whether every coordinate always has a weight, and the sum no factor.
    const WEIGHTED: bool = false;
    /// The units of the sum for points in `d` dimensions; by default one unit for all coordinates.
    fn scales<T: Scalar>(&self, d: usize) -> Scales<T> {
        Scales::common(self.length_scale(0), d, Self::Metric::POWER as i32)
    }
    /// f(sum), the kernel's value.
    fn at<V: Lane>(&self, sum: V) -> V;
    /// f′(sum); any value that is not finite where f has no derivative.
    #[inline(always)]
    fn slope<V: Lane>(&self, sum: V) -> V {
        derivative(sum, |sum| self.at(sum))
    }
    /// The unit of coordinate `k` in the sum.
    fn length_scale(&self, k: usize) -> f64 {
        let _ = k;
        1.0
    }
    /// c(value), which maps a coordinate before it enters the sum; c(0) = 0.
    fn coordinate<T: Scalar>(value: T) -> T {
        value
    }
    /// As [`Kernel::check_dim`](crate::Kernel::check_dim).
    fn check_dim(&self, d: usize) -> Result<()> {
        validate::not_empty("coordinates of a point (d)", d)
    }
    /// Checks, in addition to those of [`Kernel::check_points`](crate::Kernel::check_points), that
    /// parameters and values on these points are representable in the precision `T`.
    fn check_values<T: Scalar>(&self, x: Points<'_, T>) -> Result<()> {
        let _ = x;
        Ok(())
    }
}

/// Implements `Kernel<T>` and `DifferentiableKernel<T>` for a [`Formula`].
macro_rules! formula_kernel {
    ([$($generics:tt)*] $kernel:ty) => {
        impl<T: nystrom_linalg_core::Scalar, $($generics)*> $crate::Kernel<T> for $kernel {
            fn eval_into(&self, out: faer::MatMut<'_, T>, x: $crate::Points<'_, T>,
                y: $crate::Points<'_, T>) {
                $crate::tile::eval_into(self, out, x, y);
            }
            fn diag_into(&self, out: faer::ColMut<'_, T>, x: $crate::Points<'_, T>) {
                $crate::tile::diag_into(self, out, x);
            }
            fn check_dim(&self, d: usize) -> nystrom_linalg_core::Result<()> {
                $crate::tile::Formula::check_dim(self, d)
            }
            fn check_points(&self, x: $crate::Points<'_, T>) -> nystrom_linalg_core::Result<()> {
                x.check()?;
                $crate::tile::Formula::check_dim(self, x.dim())?;
                $crate::tile::Formula::check_values(self, x)
            }
            fn gram_into(&self, out: faer::MatMut<'_, T>, x: $crate::Points<'_, T>) {
                $crate::tile::gram_into(self, out, x);
            }
        }

        impl<T: nystrom_linalg_core::Scalar, $($generics)*> $crate::DifferentiableKernel<T>
            for $kernel
        {
            fn gradient_into(&self, out: faer::MatMut<'_, T>, x: $crate::Points<'_, T>,
                z: $crate::Points<'_, T>, weights: faer::MatRef<'_, T>) {
                $crate::tile::gradient_into(self, out, x, z, weights);
            }
        }
    };
}
pub(crate) use formula_kernel;

/// Blocks of this many bytes or more are written by stores that bypass the caches. Smaller blocks
/// are mostly buffers that are read next.
const STREAMED_BYTES: usize = 64 << 20;

/// out[(i, j)] = k(x_i, y_j).
pub(crate) fn eval_into<T: Scalar, F: Formula>(
    formula: &F,
    mut out: MatMut<'_, T>,
    x: Points<'_, T>,
    y: Points<'_, T>,
) {
    assert!(
        out.nrows() == x.len() && out.ncols() == y.len(),
        "a block has a row per x and a column per y"
    );
    assert_eq!(x.dim(), y.dim(), "points of one dimension");
    assert_eq!(x.is_sparse(), y.is_sparse(), "points of one form");
    if out.row_stride() != 1 && out.col_stride() == 1 {
        return eval_into(formula, out.transpose_mut(), y, x); // k(x, y) = k(y, x)
    }
    work::entries(x.len(), y.len());
    if x.dim() == 0 {
        return out.fill(without_coordinates(formula));
    }
    if let (Some(x), Some(y)) = (x.as_sparse(), y.as_sparse()) {
        return sparse::eval_into(formula, out, x, y);
    }
    let scales = &units(formula, x.dim());
    let streaming = size_of::<T>() * out.nrows() * out.ncols() >= STREAMED_BYTES;
    for_each_tile(out, |out, rows, cols| {
        written(out, streaming, |out| dispatch(Fill { formula, scales, out, x, rows, y, cols }));
    });
}

/// out[(i, j)] = k(x_i, x_j): one triangle evaluated and mirrored, with the diagonal of
/// [`diag_into`].
pub(crate) fn gram_into<T: Scalar, F: Formula>(
    formula: &F,
    mut out: MatMut<'_, T>,
    x: Points<'_, T>,
) {
    assert_eq!(out.nrows(), x.len(), "a Gram matrix has a row per point");
    work::entries(x.len(), x.len());
    if x.dim() == 0 {
        return out.fill(without_coordinates(formula));
    }
    if let Some(x) = x.as_sparse() {
        return sparse::gram_into(formula, out, x);
    }
    let scales = &units(formula, x.dim());
    for_each_lower_tile(out.rb_mut(), |out, rows, cols| {
        // stores do not bypass the caches: each tile is read again at once, for its mirror image
        written(out, false, |out| dispatch(Fill { formula, scales, out, x, rows, y: x, cols }));
    });
    dispatch(Diagonal { formula, out: out.diagonal_mut().column_vector_mut(), x });
}

/// out[i] = k(x_i, x_i).
pub(crate) fn diag_into<T: Scalar, F: Formula>(
    formula: &F,
    mut out: ColMut<'_, T>,
    x: Points<'_, T>,
) {
    assert_eq!(out.nrows(), x.len(), "a diagonal has an entry per point");
    work::diagonal_entries(x.len());
    if x.dim() == 0 {
        return out.fill(without_coordinates(formula));
    }
    match x.as_sparse() {
        Some(x) => sparse::diag_into(formula, out, x),
        None => dispatch(Diagonal { formula, out, x }),
    }
}

fn units<T: Scalar, F: Formula>(formula: &F, d: usize) -> Scales<T> {
    if F::SCALED { formula.scales(d) } else { Scales::none() }
}

/// f(0), the value for points without coordinates.
fn without_coordinates<T: Scalar, F: Formula>(formula: &F) -> T {
    T::lit(formula.at(Plain(0.0)).0)
}

/// Runs `fill` on the columns of `out`, or on those of a copy if the columns of `out` are not
/// contiguous.
fn written<T: Scalar>(
    mut out: MatMut<'_, T>,
    streaming: bool,
    fill: impl FnOnce(&mut WrittenColumns<'_, T>),
) {
    if let Some(out) = out.rb_mut().try_as_col_major_mut() {
        let columns = out.col_iter_mut().map(|column| column.as_slice_mut()).collect();
        return WrittenColumns::scope(columns, streaming, fill);
    }
    let mut copy = Mat::zeros(out.nrows(), out.ncols());
    written(copy.as_mut(), false, fill);
    out.copy_from(&copy);
}

use faer::reborrow::*;
