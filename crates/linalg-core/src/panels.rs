//! The Cholesky factorisation of a lower triangle that is held in panels of columns.

use crate::packed_lower::{PANEL, blocks_of};
use crate::{Scalar, ops, work};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns of L⁻¹ computed at once by one thread.
const INVERSE_BLOCK: usize = 128;

/// The lower triangle of a square matrix as panels of 256 columns, each from the diagonal down.
pub(crate) fn panels_of<T>(a: MatMut<'_, T>) -> Vec<MatMut<'_, T>> {
    let (mut panels, mut rest) = (Vec::new(), a);
    while rest.ncols() > 0 {
        let (above, width) = (rest.nrows() - rest.ncols(), PANEL.min(rest.ncols()));
        let (panel, right) = rest.split_at_col_mut(width);
        panels.push(panel.split_at_row_mut(above).1);
        rest = right;
    }
    panels
}

/// A ← L, or the index of the failed pivot; what stands above the diagonal is left with work
/// values.
///
/// Right-looking, a panel at a time; nearly all of the flops are in the last line. The
/// factorisation of faer updates with panels of 128 and shares every product between the threads.
/// The times of both are in `docs/performance.md`.
pub(crate) fn factor_panels<T: Scalar>(
    mut panels: Vec<MatMut<'_, T>>,
) -> std::result::Result<(), usize> {
    let mut scratch = Scratch(Mat::new());
    for p in 0..panels.len() {
        let (done, later) = panels.split_at_mut(p + 1);
        let panel = done[p].rb_mut();
        let width = panel.ncols();
        let (mut A11, A21) = panel.split_at_row_mut(width);
        factor_panel(A11.rb_mut()).map_err(|pivot| p * PANEL + pivot)?; // A₁₁ = L₁₁L₁₁ᵀ
        let side = ops::gram_side(A21.nrows());
        let L21t = scratch.solve_transposed(A11.rb(), A21); //             L₂₁ = A₂₁L₁₁⁻ᵀ
        let A22 = blocks_of(later.iter_mut().map(|panel| panel.rb_mut()), side).into_par_iter();
        let subtract = |A22| ops::gram_block(A22, Accum::Add, L21t, -T::one()); // A₂₂ −= L₂₁L₂₁ᵀ
        work::side_by_side(|pieces| A22.for_each(|A22| pieces.piece(|| subtract(A22))));
    }
    Ok(())
}

/// Room for L₂₁ᵀ, at most 256 × n: the triangular solve and the product after it are a fifth faster
/// column by column than on rows.
struct Scratch<T>(Mat<T>);

impl<T: Scalar> Scratch<T> {
    /// A₂₁ ← L₂₁ = A₂₁L₁₁⁻ᵀ, and L₂₁ᵀ. m·w² flops for an m × w matrix A₂₁.
    fn solve_transposed(&mut self, L11: MatRef<'_, T>, A21: MatMut<'_, T>) -> MatRef<'_, T> {
        let (m, width) = A21.shape();
        let mut L21t = ops::room(&mut self.0, width, m);
        ops::transpose_into(L21t.rb_mut(), A21.rb());
        ops::solve_lower(L11, L21t.rb_mut());
        ops::transpose_into(A21, L21t.rb());
        L21t.into_const()
    }
}

/// A ← L of a small matrix, by faer on this thread, or the index of the failed pivot.
fn factor_panel<T: Scalar>(mut a: MatMut<'_, T>) -> std::result::Result<(), usize> {
    let n = a.nrows();
    let mut memory =
        MemBuffer::new(cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut memory);
    work::cholesky(n);
    match cholesky_in_place(a.rb_mut(), Default::default(), Par::Seq, stack, Default::default()) {
        Err(LltError::NonPositivePivot { index }) => Err(index),
        Ok(_) => match (0..n).find(|&i| !num_traits::Float::is_finite(a[(i, i)])) {
            Some(index) => Err(index),
            None => Ok(()),
        },
    }
}

/// ‖L⁻¹e_i‖² for every i < n, in parallel over groups of columns. A group that begins at column
/// `start` is solved by `forward(above, ·)`, which sees the rows from `above = first(start)` on.
pub(crate) fn squared_columns<T: Scalar>(
    n: usize,
    first: impl Fn(usize) -> usize + Sync,
    forward: impl Fn(usize, MatMut<'_, T>) + Sync,
) -> Vec<T> {
    let starts: Vec<usize> = (0..n).step_by(INVERSE_BLOCK).collect();
    let group = |start: usize| {
        let (above, width) = (first(start), INVERSE_BLOCK.min(n - start));
        let identity = |i, j| if above + i == start + j { T::one() } else { T::zero() };
        let mut e = Mat::from_fn(n - above, width, identity);
        forward(above, e.as_mut());
        (0..width).map(|j| e.col(j).squared_norm_l2()).collect::<Vec<T>>()
    };
    let group = |pieces: &work::Pieces, start| pieces.piece(|| group(start));
    work::side_by_side(|pieces| {
        let groups = starts.into_par_iter().map(|start| group(pieces, start));
        groups.collect::<Vec<_>>().concat()
    })
}
