//! Blocks, diagonal and products of L = FFᵀ, from the n × r factor F.

use crate::{Indices, RowTree, Scalar, ops};
use faer::reborrow::*;
use faer::{Accum, ColMut, Mat, MatMut, MatRef};

/// Implements [`PsdMatrix`](crate::PsdMatrix) for a type that represents L = FFᵀ and whose
/// `factor()` returns F (n × r).
#[macro_export]
macro_rules! psd_by_factor {
    ($name:ident) => {
        impl<T: $crate::Scalar> $crate::PsdMatrix<T> for $name<T> {
            fn dim(&self) -> usize {
                self.factor().nrows()
            }
            fn diag_into(&self, out: $crate::faer::ColMut<'_, T>, idx: $crate::Indices<'_>) {
                $crate::psd_factor::diag_into(self.factor(), out, idx);
            }
            fn block_into(
                &self,
                out: $crate::faer::MatMut<'_, T>,
                rows: $crate::Indices<'_>,
                cols: $crate::Indices<'_>,
            ) {
                $crate::psd_factor::block_into(self.factor(), out, rows, cols);
            }
            fn mul_into(&self, out: $crate::faer::MatMut<'_, T>, x: $crate::faer::MatRef<'_, T>) {
                $crate::psd_factor::mul_into(self.factor(), out, x);
            }
        }
    };
}

/// `out[t]` = ‖F(i_t, :)‖².
pub fn diag_into<T: Scalar>(F: MatRef<'_, T>, mut out: ColMut<'_, T>, idx: Indices<'_>) {
    for (t, i) in idx.iter().enumerate() {
        out[t] = F.row(i).squared_norm_l2();
    }
}

/// out = F\[rows, :\]·F\[cols, :\]ᵀ. If rows = cols, the block is symmetric bit for bit and its
/// diagonal has the bits of [`diag_into`].
pub fn block_into<T: Scalar>(
    F: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    rows: Indices<'_>,
    cols: Indices<'_>,
) {
    with_rows(F, &rows, |f_rows| {
        if rows != cols {
            return with_rows(F, &cols, |f_cols| {
                ops::matmul(out.rb_mut(), Accum::Replace, f_rows, f_cols.transpose(), T::one());
            });
        }
        ops::gram_lower(out.rb_mut(), Accum::Replace, f_rows.transpose(), T::one());
        ops::mirror_lower(out.rb_mut());
        for (s, i) in rows.iter().enumerate() {
            out[(s, s)] = F.row(i).squared_norm_l2();
        }
    });
}

/// out = F(Fᵀx) for x (n × t): 4nrt flops, the inner product summed along the row tree.
pub fn mul_into<T: Scalar>(F: MatRef<'_, T>, out: MatMut<'_, T>, x: MatRef<'_, T>) {
    ops::matmul(out, Accum::Replace, F, transpose_times(F, x).as_ref(), T::one());
}

/// Fᵀx, r × t, summed along the row tree.
pub fn transpose_times<T: Scalar>(F: MatRef<'_, T>, x: MatRef<'_, T>) -> Mat<T> {
    let (r, t) = (F.ncols(), x.ncols());
    let leaf = |rows: std::ops::Range<usize>| {
        let (f, x) = (F.subrows(rows.start, rows.len()), x.subrows(rows.start, rows.len()));
        ops::times(f.transpose(), x)
    };
    RowTree::new(F.nrows()).reduce_in_order(leaf, |a, b| a + b).unwrap_or_else(|| Mat::zeros(r, t))
}

/// Calls `f` with F\[rows, :\]: a view if `rows` is a range, a copy if it is a list.
fn with_rows<T: Scalar, R>(
    F: MatRef<'_, T>,
    rows: &Indices<'_>,
    f: impl FnOnce(MatRef<'_, T>) -> R,
) -> R {
    match rows {
        Indices::Range(range) => f(F.subrows(range.start, range.len())),
        Indices::List(list) => {
            f(Mat::from_fn(list.len(), F.ncols(), |s, j| F[(list[s], j)]).as_ref())
        }
    }
}
