//! Dense products and triangular solves whose bits do not depend on the number of threads.
//!
//! faer's matrix-matrix product and Cholesky factor give the same bits at every degree of parallelism (held by
//! `tests/threads.rs`), so their degree follows the rayon pool the caller runs in. Its matrix-vector product does not (it sums
//! one partial result per thread), nor do the triangular solves that use it: these are cut into fixed pieces here and
//! each piece runs on one thread. The symmetric eigendecomposition is pinned in [`SymmetricEigen`](crate::SymmetricEigen).

use crate::Scalar;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef, Par, unzip, zip};
use rayon::prelude::*;

/// Rows of a matrix-vector product done by one thread.
const VECTOR_ROWS: usize = 1024;
/// Right-hand sides of a triangular solve done by one thread.
const SOLVE_COLUMNS: usize = 64;

/// As many threads as the current rayon pool has.
pub fn par() -> Par {
    match rayon::current_num_threads() {
        1 => Par::Seq,
        n => Par::rayon(n),
    }
}

/// `out = alpha·a·b` or `out += alpha·a·b`; `out` is m × n, `a` m × k, `b` k × n.
///
/// # Panics
/// If the shapes do not fit.
pub fn matmul<T: Scalar>(out: MatMut<'_, T>, accum: Accum, a: MatRef<'_, T>, b: MatRef<'_, T>, alpha: T) {
    match (out.nrows(), out.ncols()) {
        (_, 1) => matvec(out, accum, a, b, alpha),
        (1, _) => matvec(out.transpose_mut(), accum, b.transpose(), a.transpose(), alpha),
        _ => faer::linalg::matmul::matmul(out, accum, a, b, alpha, par()),
    }
}

/// `out (+)= alpha·a·x` for one column x, in parallel over fixed pieces of `out`.
fn matvec<T: Scalar>(out: MatMut<'_, T>, accum: Accum, a: MatRef<'_, T>, x: MatRef<'_, T>, alpha: T) {
    assert!(out.nrows() == a.nrows() && a.ncols() == x.nrows(), "the shapes of a product");
    if a.nrows() == 0 {
        return;
    }
    out.par_row_chunks_mut(VECTOR_ROWS)
        .zip(a.par_row_chunks(VECTOR_ROWS))
        .for_each(|(out, a)| faer::linalg::matmul::matmul(out, accum, a, x, alpha, Par::Seq));
}

/// b ← L⁻¹b for a lower triangular L (n × n) and b n × t, in parallel over fixed groups of columns.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve_lower<T: Scalar>(L: MatRef<'_, T>, b: MatMut<'_, T>) {
    by_columns(b, |piece| solve_lower_triangular_in_place(L, piece, Par::Seq));
}

/// b ← U⁻¹b for an upper triangular U (n × n) and b n × t; give Lᵀ as `L.transpose()`.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve_upper<T: Scalar>(U: MatRef<'_, T>, b: MatMut<'_, T>) {
    by_columns(b, |piece| solve_upper_triangular_in_place(U, piece, Par::Seq));
}

fn by_columns<T: Scalar>(mut b: MatMut<'_, T>, solve: impl Fn(MatMut<'_, T>) + Send + Sync) {
    match b.ncols() <= SOLVE_COLUMNS {
        true => solve(b.rb_mut()),
        false => b.par_col_chunks_mut(SOLVE_COLUMNS).for_each(solve),
    }
}

/// The lower triangle of `out` (with the diagonal) becomes, or gains, `alpha·aᵀ·a`; `a` is k × m, `out` m × m.
///
/// Half the work of [`matmul`]. The strict upper triangle of `out` is neither read nor written.
///
/// # Panics
/// If `out` is not a.ncols() × a.ncols().
pub fn gram_lower<T: Scalar>(out: MatMut<'_, T>, accum: Accum, a: MatRef<'_, T>, alpha: T) {
    triangular::matmul(
        out,
        BlockStructure::TriangularLower,
        accum,
        a.transpose(),
        BlockStructure::Rectangular,
        a,
        BlockStructure::Rectangular,
        alpha,
        par(),
    );
}

/// `a` in `f64`: itself, or a copy that takes the place of whatever `scratch` holds.
pub fn widened<'a, T: Scalar>(a: MatRef<'a, T>, scratch: &'a mut Mat<f64>) -> MatRef<'a, f64> {
    if let Some(a) = T::as_f64(a) {
        return a;
    }
    let (m, n) = a.shape();
    if scratch.nrows() < m || scratch.ncols() < n {
        *scratch = Mat::zeros(m.max(scratch.nrows()), n.max(scratch.ncols()));
    }
    let mut wide = scratch.as_mut().submatrix_mut(0, 0, m, n);
    match a.try_as_col_major() {
        Some(a) => pulp::Arch::new().dispatch(|| {
            for j in 0..n {
                let column = wide.rb_mut().try_as_col_major_mut().expect("a fresh matrix").col_mut(j);
                column.as_slice_mut().iter_mut().zip(a.col(j).as_slice()).for_each(|(wide, a)| *wide = a.f64());
            }
        }),
        None => zip!(&mut wide, a).for_each(|unzip!(wide, a)| *wide = a.f64()),
    }
    wide.into_const()
}

/// Copies the strict lower triangle onto the upper one.
///
/// # Panics
/// If `a` is not square.
pub fn mirror_lower<T: Scalar>(mut a: MatMut<'_, T>) {
    assert_eq!(a.nrows(), a.ncols(), "a square matrix");
    for col in 0..a.ncols() {
        for row in 0..col {
            a[(row, col)] = a[(col, row)];
        }
    }
}

/// Adds `mu` to the diagonal.
///
/// # Panics
/// If `a` is not square.
pub fn add_to_diagonal<T: Scalar>(mut a: MatMut<'_, T>, mu: T) {
    assert_eq!(a.nrows(), a.ncols(), "a square matrix");
    for i in 0..a.nrows() {
        a[(i, i)] += mu;
    }
}
