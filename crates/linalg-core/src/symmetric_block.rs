//! Products of a block of a symmetric matrix, and of its transpose, with vectors.

use crate::{PsdMatrix, Scalar, Vectorised, dispatch, ops, work};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Rows and columns of a block. In `f64` a block takes half a mebibyte, which fits the private
/// cache of a core.
pub(crate) const SIDE: usize = 256;
/// Columns that are converted to `f64` and multiplied together.
const GROUP: usize = 4;
/// For this many vectors or more, faer's matrix products are faster than the loops below.
const VECTORS_FOR_GEMM: usize = 8;

/// The buffers of a thread: the entries of a block, and its columns in `f64`.
pub(crate) struct Block<T> {
    entries: Mat<T>,
    wide: Mat<f64>,
}

impl<T: Scalar> Block<T> {
    pub fn new() -> Self {
        Block { entries: Mat::new(), wide: Mat::zeros(SIDE, GROUP) }
    }

    /// Evaluates A\[rows, cols\] and calls `f` with it.
    pub fn evaluated<R>(
        &mut self,
        A: &dyn PsdMatrix<T>,
        rows: Range<usize>,
        cols: Range<usize>,
        f: impl FnOnce(&mut Self, MatRef<'_, T>) -> R,
    ) -> R {
        let mut entries = std::mem::replace(&mut self.entries, Mat::new());
        if entries.ncols() == 0 {
            entries = Mat::zeros(SIDE, SIDE);
        }
        let mut a = entries.as_mut().submatrix_mut(0, 0, rows.len(), cols.len());
        A.block_into(a.rb_mut(), rows.into(), cols.into());
        let result = f(self, a.into_const());
        self.entries = entries;
        result
    }

    /// out_i += a·x_j and out_j += aᵀ·x_i, for each output that is given. Every column of `a` is
    /// contiguous. The vectors and outputs have 256 rows, 0 below the rows of the block.
    pub fn add_products<A: Scalar>(
        &mut self,
        a: MatRef<'_, A>,
        [x_i, x_j]: [MatRef<'_, f64>; 2],
        [out_i, out_j]: [Option<MatMut<'_, f64>>; 2],
    ) {
        let (h, w) = a.shape();
        let t = out_i.as_ref().or(out_j.as_ref()).map_or(0, |out| out.ncols());
        if t < VECTORS_FOR_GEMM {
            work::flops(
                2 * h * w * t * (usize::from(out_i.is_some()) + usize::from(out_j.is_some())),
            );
            let columns = &mut self.wide;
            return dispatch(Both { a, x_i, x_j, out_i, out_j, columns });
        }
        let a = ops::widened(a, &mut self.wide);
        if let Some(out_i) = out_i {
            let (out_i, x_j) = (out_i.subrows_mut(0, h), x_j.subrows(0, w));
            ops::matmul_here(out_i, Accum::Add, a, x_j, 1.0);
        }
        if let Some(out_j) = out_j {
            let (out_j, x_i) = (out_j.subrows_mut(0, w), x_i.subrows(0, h));
            ops::matmul_here(out_j, Accum::Add, a.transpose(), x_i, 1.0);
        }
    }
}

struct Both<'a, A> {
    a: MatRef<'a, A>,
    x_i: MatRef<'a, f64>,
    x_j: MatRef<'a, f64>,
    out_i: Option<MatMut<'a, f64>>,
    out_j: Option<MatMut<'a, f64>>,
    columns: &'a mut Mat<f64>,
}

impl<A: Scalar> WithSimd for Both<'_, A> {
    type Output = ();

    /// Converts four columns at a time to `f64`, which then stay in the L1 cache and are read once
    /// for both products.
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (h, w) = self.a.shape();
        let registers = h.div_ceil(f64::v_lanes::<S>());
        for start in (0..w).step_by(GROUP) {
            for c in 0..GROUP {
                let column = self.columns.col_as_slice_mut(c);
                column[h..SIDE].fill(0.0);
                if start + c < w {
                    let from = column_of(self.a, start + c);
                    column.iter_mut().zip(from).for_each(|(to, a)| *to = a.f64());
                } else {
                    column.fill(0.0);
                }
            }
            let a: [&[S::f64s]; GROUP] =
                std::array::from_fn(|c| &split::<S>(self.columns.col_as_slice(c))[..registers]);
            for k in 0..self.x_i.ncols() {
                let x_i = &split::<S>(column_of(self.x_i, k))[..registers];
                let x_j = &column_of(self.x_j, k)[start..start + GROUP];
                let x_j: [f64; GROUP] = std::array::from_fn(|c| x_j[c]);
                let out_i = self.out_i.as_mut().map(|out| {
                    let out = slice_mut(out.rb_mut(), k);
                    &mut f64::v_split_mut::<S>(out).0[..registers]
                });
                let sums = match (out_i, &self.out_j) {
                    (Some(out), None) => {
                        add_columns(simd, a, x_j, out);
                        continue;
                    }
                    (Some(out), Some(_)) => both(simd, a, x_j, out, x_i),
                    (None, _) => inner_products(simd, a, x_i),
                };
                if let Some(out) = &mut self.out_j {
                    let out = &mut slice_mut(out.rb_mut(), k)[start..start + GROUP];
                    out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
                }
            }
        }
    }
}

/// out += Σ_c a_c·x_c; returns a_cᵀy for each c. Reads a once.
#[inline(always)]
fn both<S: Simd>(
    simd: S,
    a: [&[S::f64s]; GROUP],
    x: [f64; GROUP],
    out: &mut [S::f64s],
    y: &[S::f64s],
) -> [f64; GROUP] {
    let x = x.map(|x| simd.splat_f64s(x));
    let mut sums = [simd.splat_f64s(0.0); GROUP];
    let (a, y) = (a.map(|a| &a[..out.len()]), &y[..out.len()]);
    for (r, out) in out.iter_mut().enumerate() {
        let mut sum = *out;
        for c in 0..GROUP {
            sum = simd.mul_add_e_f64s(a[c][r], x[c], sum);
            sums[c] = simd.mul_add_e_f64s(a[c][r], y[r], sums[c]);
        }
        *out = sum;
    }
    sums.map(|sum| simd.reduce_sum_f64s(sum))
}

/// out += Σ_c a_c·x_c.
#[inline(always)]
fn add_columns<S: Simd>(simd: S, a: [&[S::f64s]; GROUP], x: [f64; GROUP], out: &mut [S::f64s]) {
    let x = x.map(|x| simd.splat_f64s(x));
    let a = a.map(|a| &a[..out.len()]);
    for (r, out) in out.iter_mut().enumerate() {
        let mut sum = *out;
        for c in 0..GROUP {
            sum = simd.mul_add_e_f64s(a[c][r], x[c], sum);
        }
        *out = sum;
    }
}

/// a_cᵀy for each c.
#[inline(always)]
fn inner_products<S: Simd>(simd: S, a: [&[S::f64s]; GROUP], y: &[S::f64s]) -> [f64; GROUP] {
    let mut sums = [simd.splat_f64s(0.0); GROUP];
    let a = a.map(|a| &a[..y.len()]);
    for (r, y) in y.iter().enumerate() {
        for c in 0..GROUP {
            sums[c] = simd.mul_add_e_f64s(a[c][r], *y, sums[c]);
        }
    }
    sums.map(|sum| simd.reduce_sum_f64s(sum))
}

#[inline(always)]
fn split<S: Simd>(x: &[f64]) -> &[S::f64s] {
    f64::v_split::<S>(x).0
}

#[inline(always)]
fn column_of<A: Scalar>(a: MatRef<'_, A>, j: usize) -> &[A] {
    a.col(j).try_as_col_major().expect("columns lie in one piece").as_slice()
}

#[inline(always)]
fn slice_mut(x: MatMut<'_, f64>, k: usize) -> &mut [f64] {
    x.col_mut(k).try_as_col_major_mut().expect("columns lie in one piece").as_slice_mut()
}
