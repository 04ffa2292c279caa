//! Cholesky factorisation in half the memory: only panels on and below the diagonal are stored.

use crate::packed_lower::PANEL;
use crate::panels::{factor_panels, squared_columns};
use crate::{JitterLadder, PackedLower, Result, Scalar, ops, validate};
use faer::reborrow::*;
use faer::{Mat, MatMut};
use rayon::prelude::*;
use std::ops::Range;

/// The factor L of A + δI = LLᵀ, A n × n symmetric positive definite, stored in n(n + 256)/2
/// numbers: [`Cholesky`](crate::Cholesky) for matrices so large that n² numbers would not fit.
///
/// Panel p stores columns 256p, 256p + 1, …, 256p + 255 from the diagonal block down.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::{JitterLadder, PackedCholesky};
/// use std::ops::Range;
/// let a = mat![[4.0, 2.0], [2.0, 3.0_f64]];
/// let block = |mut out: faer::MatMut<f64>, rows: Range<usize>, cols: Range<usize>| {
///     out.copy_from(a.submatrix(rows.start, cols.start, rows.len(), cols.len()));
/// };
/// let factor = PackedCholesky::from_fill(2, block, JitterLadder::none())?;
/// let mut x = mat![[8.0], [7.0]];
/// factor.solve_in_place(x.as_mut());
/// assert!((x[(0, 0)] - 1.25).abs() < 1e-15 && (x[(1, 0)] - 1.5).abs() < 1e-15);
/// assert!((factor.inverse_diagonal()[0] - 0.375).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct PackedCholesky<T> {
    lower: PackedLower<T>,
    jitter: f64,
}

impl<T: Scalar> PackedCholesky<T> {
    /// Factors A + δI for the first δ of the ladder that succeeds. `fill(out, rows, cols)` writes
    /// the panels A\[rows, cols\] one after another, once for every attempt. n³/3 flops per
    /// attempt; memory for the factor and another 256n numbers.
    ///
    /// # Errors
    /// [`NonFinite`](crate::Error::NonFinite) naming the entry,
    /// [`NotPositiveDefinite`](crate::Error::NotPositiveDefinite) with the pivot that failed.
    pub fn from_fill(
        n: usize,
        mut fill: impl FnMut(MatMut<'_, T>, Range<usize>, Range<usize>),
        ladder: JitterLadder,
    ) -> Result<Self> {
        let mut a = PackedLower::from_fill(n, &mut fill);
        check_finite(&a)?;
        let eps_trace = (0..n).map(|i| T::EPS * a.get(i, i).f64()).sum::<f64>();
        let jitter = ladder.climb(n, eps_trace, |failed, jitter| {
            if failed > 0 {
                a.fill(&mut fill); // the failed attempt overwrote it
            }
            a.add_to_diagonal(T::lit(jitter));
            factor_panels(a.panels.iter_mut().map(Mat::as_mut).collect())
        })?;
        Ok(PackedCholesky { lower: a, jitter })
    }

    /// The number of entries of A that [`from_fill`](Self::from_fill) evaluates per attempt: n²/2
    /// and, in diagonal blocks, up to 128n more.
    pub fn entries(n: usize) -> u64 {
        PackedLower::<T>::len(n)
    }

    /// n, the order of A.
    pub fn order(&self) -> usize {
        self.lower.order()
    }

    /// δ, the jitter added to the diagonal (0 if the factorisation succeeded without).
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// L_ii.
    ///
    /// # Panics
    /// If `i` is not below the order.
    pub fn pivot(&self, i: usize) -> T {
        self.lower.get(i, i)
    }

    /// ln det(A + δI), summed in `f64`.
    pub fn log_det(&self) -> f64 {
        (0..self.order()).map(|i| 2.0 * self.pivot(i).f64().ln()).sum()
    }

    /// b ← (A + δI)⁻¹b for b (n × t). 2n²t flops.
    ///
    /// # Panics
    /// If b does not have n rows.
    pub fn solve_in_place(&self, b: MatMut<'_, T>) {
        assert_eq!(b.nrows(), self.order(), "the right-hand sides have as many rows as the matrix");
        ops::by_columns(b, |mut b| {
            self.forward_from(0, b.rb_mut());
            self.backward(b);
        });
    }

    /// The n diagonal entries of (A + δI)⁻¹, without the inverse: entry i is ‖L⁻¹e_i‖².
    /// n³/3 + 128n² flops, O(128·n) memory per thread.
    pub fn inverse_diagonal(&self) -> Vec<T> {
        let first = |start: usize| start / PANEL * PANEL;
        squared_columns(self.order(), first, |above, e| self.forward_from(above / PANEL, e))
    }

    /// b ← L⁻¹b on the calling thread. b holds the rows from panel `first` on; the rows above are
    /// zero.
    fn forward_from(&self, first: usize, mut b: MatMut<'_, T>) {
        for panel in &self.lower.panels[first..] {
            let (L11, L21) = panel.as_ref().split_at_row(panel.ncols());
            let (mut known, mut rest) = b.split_at_row_mut(panel.ncols());
            ops::solve_lower(L11, known.rb_mut()); //           x₁ = L₁₁⁻¹b₁
            ops::subtract_product(rest.rb_mut(), L21, known.rb()); // b₂ −= L₂₁x₁
            b = rest;
        }
    }

    /// b ← L⁻ᵀb on the calling thread.
    fn backward(&self, mut b: MatMut<'_, T>) {
        for (p, panel) in self.lower.panels.iter().enumerate().rev() {
            let (L11, L21) = panel.as_ref().split_at_row(panel.ncols());
            let (mut wanted, known) =
                b.rb_mut().subrows_mut(p * PANEL, panel.nrows()).split_at_row_mut(panel.ncols());
            ops::subtract_product(wanted.rb_mut(), L21.transpose(), known.rb()); // b₁ −= L₂₁ᵀx₂
            ops::solve_upper(L11.transpose(), wanted); //                           x₁ = L₁₁⁻ᵀb₁
        }
    }
}

/// Checks that every entry of the triangle is finite; the error names the first that is not.
fn check_finite<T: Scalar>(a: &PackedLower<T>) -> Result<()> {
    let checked = |(p, panel): (usize, &Mat<T>)| {
        let start = p * PANEL;
        validate::finite_lower("matrix to factor", panel.as_ref())
            .map_err(|error| error.placed(|row, col| (row + start, col + start)))
    };
    let checks = a.panels.par_iter().enumerate().map(checked).collect::<Vec<_>>();
    checks.into_iter().collect()
}
