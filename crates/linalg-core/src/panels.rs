//! Cholesky factorisation of a lower triangle that is stored in panels of columns.

use crate::packed_lower::{PANEL, blocks_of};
use crate::{Scalar, ops, work};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns of L⁻¹ that one thread computes together.
const INVERSE_BLOCK: usize = 128;

/// Splits a square matrix into panels of 256 columns, each from the diagonal down.
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

/// A ← L, or the index of the failed pivot. Entries above the diagonal hold intermediate values
/// afterwards.
///
/// Right-looking, panel by panel; nearly all flops are in the update A₂₂ −= L₂₁L₂₁ᵀ, in blocks of
/// one thread each. faer's factorisation updates by panels of 128 and shares every product between
/// the threads. `docs/performance.md` has the times of both.
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

/// Memory for L₂₁ᵀ, at most 256 × n. The triangular solve and the following product are a fifth
/// faster on the columns of L₂₁ᵀ than on the rows of L₂₁.
struct Scratch<T>(Mat<T>);

impl<T: Scalar> Scratch<T> {
    /// A₂₁ ← L₂₁ = A₂₁L₁₁⁻ᵀ; returns L₂₁ᵀ. m·w² flops for A₂₁ m × w.
    fn solve_transposed(&mut self, L11: MatRef<'_, T>, A21: MatMut<'_, T>) -> MatRef<'_, T> {
        let (m, width) = A21.shape();
        let mut L21t = ops::scratch_view(&mut self.0, width, m);
        ops::transpose_into(L21t.rb_mut(), A21.rb());
        ops::solve_lower(L11, L21t.rb_mut());
        ops::transpose_into(A21, L21t.rb());
        L21t.into_const()
    }
}

/// A ← L for a small matrix, by faer on the calling thread, or the index of the failed pivot.
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

/// ‖L⁻¹e_i‖² for every i < n, in parallel over groups of columns. For the group that begins at
/// column `start`, `forward(above, e)` solves e ← L⁻¹e, where e holds only the rows from
/// `above = first(start)` on.
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
