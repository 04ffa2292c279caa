//! Dense products and triangular solves whose bits do not depend on the number of threads.
//!
//! faer's matrix-matrix product gives the same bits at every degree of parallelism (tested in
//! `tests/it/threads.rs`), so its degree is the size of the caller's rayon pool. The bits of faer's
//! matrix-vector product do depend on the degree (it sums one partial result per thread), and so do
//! those of the triangular solves that use it. These operations are cut into fixed pieces here, and
//! each piece runs on one thread. Gram matrices are cut into pieces too: on an idle machine that is
//! as fast as one parallel product, on a busy one nearly twice as fast, because threads that share
//! a product wait for each other and threads with a piece each do not. The degree of the symmetric
//! eigendecomposition is fixed in [`SymmetricEigen`](crate::SymmetricEigen).

pub use crate::dot::{dot, dot_in, dots};
use crate::pieces::solve_columns;
pub use crate::pieces::{LowerBlock, gram_side, lower_blocks};
use crate::{Scalar, dispatch, work};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef, Par, unzip, zip};
use rayon::prelude::*;

/// Rows of a matrix-vector product done by one thread.
const VECTOR_ROWS: usize = 1024;
/// Unknowns solved for at once in a triangular solve; a matrix product subtracts their contribution
/// from the other equations.
const SOLVE_ROWS: usize = 128;
/// Rows that one thread transposes, [`CACHE_LINE`] at a time.
const TRANSPOSED_ROWS: usize = 128;
/// Numbers of type `f64` in a cache line.
const CACHE_LINE: usize = 8;
/// Columns that one thread converts to `f64`.
const WIDENED_COLUMNS: usize = 64;

/// Parallelism of the size of the current rayon pool, for faer.
pub fn par() -> Par {
    match rayon::current_num_threads() {
        1 => Par::Seq,
        n => Par::rayon(n),
    }
}

/// `out = alpha·a·b` (`Accum::Replace`) or `out += alpha·a·b` (`Accum::Add`); `out` is m × n,
/// `a` m × k, `b` k × n.
///
/// # Panics
/// If the shapes do not fit.
pub fn matmul<T: Scalar>(
    out: MatMut<'_, T>,
    accum: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
) {
    match (out.nrows(), out.ncols()) {
        (_, 1) => matvec(out, accum, a, b, alpha),
        (1, _) => matvec(out.transpose_mut(), accum, b.transpose(), a.transpose(), alpha),
        _ => product(out, accum, a, b, alpha, par()),
    }
}

/// a·b, m × n, by [`matmul`].
///
/// # Panics
/// If the shapes do not fit.
pub fn times<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, T::one());
    out
}

/// [`matmul`] on the calling thread, for callers that are already parallel.
///
/// # Panics
/// If the shapes do not fit.
pub fn matmul_here<T: Scalar>(
    out: MatMut<'_, T>,
    accum: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
) {
    product(out, accum, a, b, alpha, Par::Seq);
}

#[expect(clippy::disallowed_methods, reason = "the place for products")]
fn product<T: Scalar>(
    out: MatMut<'_, T>,
    accum: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
    par: Par,
) {
    work::product(out.nrows(), out.ncols(), a.ncols());
    faer::linalg::matmul::matmul(out, accum, a, b, alpha, par);
}

/// `out (+)= alpha·a·x` for one column x, in parallel over fixed pieces of `out`.
fn matvec<T: Scalar>(
    out: MatMut<'_, T>,
    accum: Accum,
    a: MatRef<'_, T>,
    x: MatRef<'_, T>,
    alpha: T,
) {
    assert!(out.nrows() == a.nrows() && a.ncols() == x.nrows(), "the shapes of a product");
    if a.nrows() == 0 {
        return;
    }
    work::side_by_side(|pieces| {
        out.par_row_chunks_mut(VECTOR_ROWS)
            .zip(a.par_row_chunks(VECTOR_ROWS))
            .for_each(|(out, a)| pieces.piece(|| matmul_here(out, accum, a, x, alpha)));
    });
}

/// b ← L⁻¹b for a lower triangular L (n × n) and b (n × t), in parallel over fixed groups of
/// columns.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve_lower<T: Scalar>(L: MatRef<'_, T>, b: MatMut<'_, T>) {
    assert!(L.nrows() == L.ncols() && L.nrows() == b.nrows(), "the shapes of a triangular solve");
    by_columns(b, |mut x| {
        for start in (0..L.nrows()).step_by(SOLVE_ROWS) {
            let size = SOLVE_ROWS.min(L.nrows() - start);
            let (known, rest) = x.rb_mut().split_at_row_mut(start);
            let mut block = rest.subrows_mut(0, size); // x_k = L_kk⁻¹(b_k − Σ_{j<k} L_kj x_j)
            subtract_product(block.rb_mut(), L.submatrix(start, 0, size, start), known.rb());
            work::triangular_solve(size, block.ncols());
            solve_lower_triangular_in_place(L.submatrix(start, start, size, size), block, Par::Seq);
        }
    });
}

/// b ← U⁻¹b for an upper triangular U (n × n) and b (n × t); for U = Lᵀ pass `L.transpose()`.
///
/// # Panics
/// If the shapes do not fit.
pub fn solve_upper<T: Scalar>(U: MatRef<'_, T>, b: MatMut<'_, T>) {
    assert!(U.nrows() == U.ncols() && U.nrows() == b.nrows(), "the shapes of a triangular solve");
    let n = U.nrows();
    by_columns(b, |mut x| {
        for start in (0..n).step_by(SOLVE_ROWS).rev() {
            let end = n.min(start + SOLVE_ROWS);
            let (rest, known) = x.rb_mut().split_at_row_mut(end);
            // x_k = U_kk⁻¹(b_k − Σ_{j>k} U_kj x_j)
            let mut block = rest.subrows_mut(start, end - start);
            subtract_product(
                block.rb_mut(),
                U.submatrix(start, end, end - start, n - end),
                known.rb(),
            );
            work::triangular_solve(end - start, block.ncols());
            solve_upper_triangular_in_place(
                U.submatrix(start, start, end - start, end - start),
                block,
                Par::Seq,
            );
        }
    });
}

/// Runs `solve` on fixed groups of columns of `b`, in parallel if there are several groups.
pub(crate) fn by_columns<T: Scalar>(
    mut b: MatMut<'_, T>,
    solve: impl Fn(MatMut<'_, T>) + Send + Sync,
) {
    let t = b.ncols();
    let width = solve_columns(t);
    if t <= width {
        return solve(b.rb_mut());
    }
    work::side_by_side(|pieces| {
        b.par_col_chunks_mut(width).for_each(|b| pieces.piece(|| solve(b)));
    });
}

/// `out −= a·x`, on the calling thread.
pub(crate) fn subtract_product<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, x: MatRef<'_, T>) {
    if a.ncols() > 0 {
        matmul_here(out, Accum::Add, a, x, -T::one());
    }
}

/// `out = alpha·aᵀ·a` or `out += alpha·aᵀ·a` on and below the diagonal; `a` is k × m, `out` m × m.
///
/// Half the flops of [`matmul`]. The strict upper triangle of `out` is neither read nor written.
///
/// # Panics
/// If `out` is not a.ncols() × a.ncols().
pub fn gram_lower<T: Scalar>(out: MatMut<'_, T>, accum: Accum, a: MatRef<'_, T>, alpha: T) {
    let m = a.ncols();
    assert!(out.nrows() == m && out.ncols() == m, "the shape of a Gram matrix");
    let side = gram_side(m);
    let blocks = lower_blocks(out, side).into_par_iter();
    work::side_by_side(|pieces| {
        blocks.for_each(|block| pieces.piece(|| gram_block(block, accum, a, alpha)));
    });
}

/// One block of [`gram_lower`], on the calling thread.
///
/// # Panics
/// If `a` has fewer columns than the block reaches.
pub fn gram_block<T: Scalar>(block: LowerBlock<'_, T>, accum: Accum, a: MatRef<'_, T>, alpha: T) {
    block_of_product(block, accum, a, a, alpha);
}

/// Sets the block to its part of `alpha·aᵀ·b`, or adds that part, on the calling thread; in a
/// diagonal block only the lower triangle.
///
/// # Panics
/// If `a` or `b` has fewer columns than the block reaches.
#[expect(clippy::disallowed_methods, reason = "the place for products")]
pub(crate) fn block_of_product<T: Scalar>(
    block: LowerBlock<'_, T>,
    accum: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
) {
    let LowerBlock { row, col, out } = block;
    let (left, right) = (a.subcols(row, out.nrows()).transpose(), b.subcols(col, out.ncols()));
    if row == col {
        use BlockStructure::{Rectangular, TriangularLower};
        work::triangle_of_product(out.nrows(), left.ncols());
        triangular::matmul(
            out,
            TriangularLower,
            accum,
            left,
            Rectangular,
            right,
            Rectangular,
            alpha,
            Par::Seq,
        );
    } else {
        matmul_here(out, accum, left, right, alpha);
    }
}

/// A rows × cols view of `scratch`, which is enlarged if it is too small.
pub(crate) fn scratch_view<T: Scalar>(
    scratch: &mut Mat<T>,
    rows: usize,
    cols: usize,
) -> MatMut<'_, T> {
    if scratch.nrows() < rows || scratch.ncols() < cols {
        *scratch = Mat::zeros(rows.max(scratch.nrows()), cols.max(scratch.ncols()));
    }
    scratch.as_mut().submatrix_mut(0, 0, rows, cols)
}

/// `a` in `f64`: `a` itself if it is `f64`, or else a converted copy that overwrites `scratch`.
pub fn widened<'a, T: Scalar>(a: MatRef<'a, T>, scratch: &'a mut Mat<f64>) -> MatRef<'a, f64> {
    if let Some(a) = T::as_f64(a) {
        return a;
    }
    let mut wide = scratch_view(scratch, a.nrows(), a.ncols());
    wide.rb_mut()
        .par_col_chunks_mut(WIDENED_COLUMNS)
        .zip(a.par_col_chunks(WIDENED_COLUMNS))
        .for_each(|(wide, a)| widen(wide, a));
    wide.into_const()
}

/// wide ← a, on the calling thread.
fn widen<T: Scalar>(mut wide: MatMut<'_, f64>, a: MatRef<'_, T>) {
    match (wide.rb_mut().try_as_col_major_mut(), a.try_as_col_major()) {
        (Some(mut wide), Some(a)) => dispatch(|| {
            for j in 0..a.ncols() {
                let column = wide.rb_mut().col_mut(j).as_slice_mut();
                column.iter_mut().zip(a.col(j).as_slice()).for_each(|(wide, a)| *wide = a.f64());
            }
        }),
        _ => zip!(&mut wide, a).for_each(|unzip!(wide, a)| *wide = a.f64()),
    }
}

/// out += a, with `a` converted to `f64`; if `lower`, only on and below the diagonal.
///
/// # Panics
/// If the shapes differ.
pub fn add_widened<T: Scalar>(mut out: MatMut<'_, f64>, a: MatRef<'_, T>, lower: bool) {
    assert!(out.nrows() == a.nrows() && out.ncols() == a.ncols(), "the shapes of a sum");
    let first = |j: usize| if lower { j.min(a.nrows()) } else { 0 };
    match (out.rb_mut().try_as_col_major_mut(), a.try_as_col_major()) {
        (Some(mut out), Some(a)) => dispatch(|| {
            for j in 0..a.ncols() {
                let (to, from) = (out.rb_mut().col_mut(j).as_slice_mut(), a.col(j).as_slice());
                to[first(j)..]
                    .iter_mut()
                    .zip(&from[first(j)..])
                    .for_each(|(to, from)| *to += from.f64());
            }
        }),
        _ => {
            for j in 0..a.ncols() {
                for i in first(j)..a.nrows() {
                    out[(i, j)] += a[(i, j)].f64();
                }
            }
        }
    }
}

/// out ← aᵀ, in parallel over fixed pieces; fastest if both are column-major.
///
/// # Panics
/// If the shapes do not fit.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::ops::transpose_into;
/// // sizes that are multiples neither of a piece nor of a cache line
/// let a = Mat::from_fn(301, 7, |i, j| (10 * i + j) as f64);
/// let mut out = Mat::zeros(7, 301);
/// transpose_into(out.as_mut(), a.as_ref());
/// assert_eq!(out.transpose(), a);
/// ```
pub fn transpose_into<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>) {
    assert!(out.nrows() == a.ncols() && out.ncols() == a.nrows(), "the shapes of a transposition");
    if a.nrows() == 0 {
        return;
    }
    out.par_col_chunks_mut(TRANSPOSED_ROWS).zip(a.par_row_chunks(TRANSPOSED_ROWS)).for_each(
        |(mut out, a)| {
            for start in (0..a.nrows()).step_by(CACHE_LINE) {
                let rows = CACHE_LINE.min(a.nrows() - start);
                transpose_strip(out.rb_mut().subcols_mut(start, rows), a.subrows(start, rows));
            }
        },
    );
}

/// out ← aᵀ for a strip of at most [`CACHE_LINE`] rows of `a`: reads one cache line of every column
/// of `a` and writes along as many columns of `out`.
fn transpose_strip<T: Scalar>(mut out: MatMut<'_, T>, a: MatRef<'_, T>) {
    for (k, column) in a.col_iter().enumerate() {
        for (i, value) in column.iter().enumerate() {
            out[(k, i)] = *value;
        }
    }
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
