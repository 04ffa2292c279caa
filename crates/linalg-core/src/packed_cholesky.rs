//! Cholesky factorisation in half the memory: only the panels on and below the diagonal are held.

use crate::cholesky::{Scratch, factor_panel};
use crate::ops::{self, LowerBlock};
use crate::{Error, Result, Scalar, validate};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut};
use rayon::prelude::*;
use std::ops::Range;

/// Columns of a panel.
const PANEL: usize = 256;
/// Columns of L⁻¹ computed at once by one thread.
const INVERSE_BLOCK: usize = 128;

/// The factor L of A = LLᵀ, A n × n symmetric positive definite, in n(n + 256)/2 numbers: what
/// [`Cholesky`](crate::Cholesky) does for matrices so large that the half above the diagonal
/// matters.
///
/// Column panel p holds columns 256p, 256p + 1, … from the diagonal block down.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::PackedCholesky;
/// let a = mat![[4.0, 2.0], [2.0, 3.0_f64]];
/// let factor = PackedCholesky::from_fill(2, |mut out, rows, cols| {
///     out.copy_from(a.submatrix(rows.start, cols.start, rows.len(), cols.len()));
/// })?;
/// let mut x = mat![[8.0], [7.0]];
/// factor.solve_in_place(x.as_mut());
/// assert!((x[(0, 0)] - 1.25).abs() < 1e-15 && (x[(1, 0)] - 1.5).abs() < 1e-15);
/// assert!((factor.inverse_diagonal()[0] - 0.375).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PackedCholesky<T> {
    order: usize,
    panels: Vec<Mat<T>>,
}

impl<T: Scalar> PackedCholesky<T> {
    /// Factors the n × n matrix of which `fill(out, rows, cols)` writes one block, panel after
    /// panel. n³/3 flops; beside the factor 256n numbers while it runs.
    ///
    /// # Errors
    /// [`Error::NonFinite`] naming the entry, [`Error::NotPositiveDefinite`] with the pivot that
    /// failed.
    pub fn from_fill(
        n: usize,
        mut fill: impl FnMut(MatMut<'_, T>, Range<usize>, Range<usize>),
    ) -> Result<Self> {
        let mut panels = Vec::with_capacity(n.div_ceil(PANEL));
        for start in (0..n).step_by(PANEL) {
            let (rows, cols) = (start..n, start..n.min(start + PANEL));
            let mut panel = Mat::zeros(rows.len(), cols.len());
            fill(panel.as_mut(), rows, cols);
            panels.push(panel);
        }
        let finite = |(p, panel): (usize, &Mat<T>)| {
            below(p * PANEL, validate::finite_lower("matrix to factor", panel.as_ref()))
        };
        panels
            .par_iter()
            .enumerate()
            .map(finite)
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<()>>()?;
        factor_in_place(&mut panels).map_err(|pivot| Error::NotPositiveDefinite {
            order: n,
            pivot,
            jitter: 0.0,
        })?;
        Ok(PackedCholesky { order: n, panels })
    }

    /// The number of entries that [`from_fill`](Self::from_fill) asks for: n²/2 and, for the
    /// diagonal blocks, up to 128n more.
    pub fn entries(n: usize) -> u64 {
        (0..n).step_by(PANEL).map(|start| (n - start) as u64 * PANEL.min(n - start) as u64).sum()
    }

    /// n.
    pub fn order(&self) -> usize {
        self.order
    }

    /// L_ii.
    ///
    /// # Panics
    /// If `i` is not below the order.
    pub fn pivot(&self, i: usize) -> T {
        self.panels[i / PANEL][(i % PANEL, i % PANEL)]
    }

    /// ln det A, summed in `f64`.
    pub fn log_det(&self) -> f64 {
        (0..self.order).map(|i| 2.0 * self.pivot(i).f64().ln()).sum()
    }

    /// b ← A⁻¹b for b n × t. 2n²t flops.
    ///
    /// # Panics
    /// If b does not have n rows.
    pub fn solve_in_place(&self, b: MatMut<'_, T>) {
        assert_eq!(b.nrows(), self.order, "the right-hand sides have as many rows as the matrix");
        ops::by_columns(b, |mut b| {
            self.forward_from(0, b.rb_mut());
            self.backward(b);
        });
    }

    /// The diagonal of A⁻¹ without the inverse: entry i is ‖L⁻¹e_i‖². n³/3 + 128n² flops, O(128·n)
    /// memory per thread.
    pub fn inverse_diagonal(&self) -> Vec<T> {
        let starts: Vec<usize> = (0..self.order).step_by(INVERSE_BLOCK).collect();
        let block = |start: usize| {
            let (first, width) = (start / PANEL, INVERSE_BLOCK.min(self.order - start));
            let above = first * PANEL; // rows of L⁻¹ that are zero in these columns
            let identity = |i, j| if above + i == start + j { T::one() } else { T::zero() };
            let mut e = Mat::from_fn(self.order - above, width, identity);
            self.forward_from(first, e.as_mut());
            (0..width).map(|j| e.col(j).squared_norm_l2()).collect::<Vec<T>>()
        };
        starts.into_par_iter().map(block).collect::<Vec<_>>().concat()
    }

    /// b ← L⁻¹b on this thread, where b holds the rows from panel `first` on and those above are
    /// zero.
    fn forward_from(&self, first: usize, mut b: MatMut<'_, T>) {
        for panel in &self.panels[first..] {
            let (L11, L21) = panel.as_ref().split_at_row(panel.ncols());
            let (mut known, mut rest) = b.split_at_row_mut(panel.ncols());
            ops::solve_lower(L11, known.rb_mut()); //           x₁ = L₁₁⁻¹b₁
            ops::subtract_product(rest.rb_mut(), L21, known.rb()); // b₂ −= L₂₁x₁
            b = rest;
        }
    }

    /// b ← L⁻ᵀb on this thread.
    fn backward(&self, mut b: MatMut<'_, T>) {
        for (p, panel) in self.panels.iter().enumerate().rev() {
            let (L11, L21) = panel.as_ref().split_at_row(panel.ncols());
            let (mut wanted, known) =
                b.rb_mut().subrows_mut(p * PANEL, panel.nrows()).split_at_row_mut(panel.ncols());
            ops::subtract_product(wanted.rb_mut(), L21.transpose(), known.rb()); // b₁ −= L₂₁ᵀx₂
            ops::solve_upper(L11.transpose(), wanted); //                           x₁ = L₁₁⁻ᵀb₁
        }
    }
}

/// A ← L, or the index of the failed pivot. Right-looking; nearly all of the flops are in the last
/// line.
fn factor_in_place<T: Scalar>(panels: &mut [Mat<T>]) -> std::result::Result<(), usize> {
    let mut scratch = Scratch::new();
    for p in 0..panels.len() {
        let (done, later) = panels.split_at_mut(p + 1);
        let panel = done[p].as_mut();
        let width = panel.ncols();
        let (mut A11, A21) = panel.split_at_row_mut(width);
        factor_panel(A11.rb_mut()).map_err(|pivot| p * PANEL + pivot)?; // A₁₁ = L₁₁L₁₁ᵀ
        let L21t = scratch.solve_transposed(A11.rb(), A21); //             L₂₁ = A₂₁L₁₁⁻ᵀ
        // A₂₂ −= L₂₁L₂₁ᵀ
        trailing_blocks(later)
            .into_par_iter()
            .for_each(|A22| ops::gram_block(A22, Accum::Add, L21t, -T::one()));
    }
    Ok(())
}

/// The lower triangle that `panels` hold, in blocks that are work for one thread each.
fn trailing_blocks<T: Scalar>(panels: &mut [Mat<T>]) -> Vec<LowerBlock<'_, T>> {
    let blocks = panels.iter_mut().enumerate().flat_map(|(q, panel)| {
        let moved = move |LowerBlock { row, col, out }| LowerBlock {
            row: row + q * PANEL,
            col: col + q * PANEL,
            out,
        };
        ops::lower_blocks(panel.as_mut(), PANEL).into_iter().map(moved)
    });
    blocks.collect()
}

/// The place of an entry that is not finite, `start` further down and to the right.
fn below(start: usize, checked: Result<()>) -> Result<()> {
    checked.map_err(|error| match error {
        Error::NonFinite { what, row, col, value } => {
            Error::NonFinite { what, row: row + start, col: col + start, value }
        }
        other => other,
    })
}
