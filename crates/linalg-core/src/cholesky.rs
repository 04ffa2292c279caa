//! Cholesky factorisation, with a jitter ladder for matrices that are not numerically positive
//! definite.

use crate::panels::{factor_panels, panels_of, squared_columns};
use crate::{JitterLadder, Result, Scalar, ops, validate};
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// The factor L of A + δI = LLᵀ, A n × n symmetric positive definite.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::Cholesky;
/// let a = mat![[4.0, 2.0], [2.0, 3.0_f64]];
/// let mut x = mat![[8.0], [7.0]];
/// let factor = Cholesky::new(a.as_ref())?;
/// factor.solve_in_place(x.as_mut());                    // x = A⁻¹b
/// assert!((x[(0, 0)] - 1.25).abs() < 1e-15 && (x[(1, 0)] - 1.5).abs() < 1e-15);
/// assert!((factor.log_det() - 8.0_f64.ln()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Cholesky<T> {
    lower: Mat<T>, // zero above the diagonal
    jitter: f64,
}

impl<T: Scalar> Cholesky<T> {
    /// Factors A without jitter; only the lower triangle is read. n³/3 flops, n² numbers of memory
    /// for the factor.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](crate::Error::NotPositiveDefinite) with the pivot that failed,
    /// [`Shape`](crate::Error::Shape) if A is not square,
    /// [`NonFinite`](crate::Error::NonFinite).
    pub fn new(a: MatRef<'_, T>) -> Result<Self> {
        Self::with_jitter(a, JitterLadder::none())
    }

    /// Factors A + δI for the first δ of the ladder that succeeds; [`jitter`](Self::jitter) returns
    /// that δ.
    ///
    /// # Errors
    /// As [`new`](Self::new), if no rung succeeds.
    pub fn with_jitter(a: MatRef<'_, T>, ladder: JitterLadder) -> Result<Self> {
        Self::with_diagonal(a, |_| T::zero(), ladder)
    }

    /// Factors A + diag(d) + δI in the precision of the factor, which may differ from the precision
    /// of A.
    ///
    /// The factor whitens: with A the Gram matrix of the centres and k the kernel values of a point
    /// with the centres, the features φ = L⁻¹k ([`forward_in_place`](Self::forward_in_place)) have
    /// the identity as penalty matrix.
    ///
    /// # Errors
    /// As [`with_jitter`](Self::with_jitter).
    ///
    /// ```
    /// use faer::mat;
    /// use nystrom_linalg_core::{Cholesky, JitterLadder};
    /// let a = mat![[3.0, 2.0], [2.0, 1.0_f32]]; // indefinite
    /// let factor = Cholesky::<f64>::with_diagonal(a.as_ref(), |_| 2.0, JitterLadder::none())?;
    /// assert!((factor.log_det() - 11.0_f64.ln()).abs() < 1e-15); // of [[5, 2], [2, 3]]
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn with_diagonal<V: Scalar>(
        a: MatRef<'_, V>,
        d: impl Fn(usize) -> T,
        ladder: JitterLadder,
    ) -> Result<Self> {
        let n = a.nrows();
        validate::same_size("columns of a square matrix", n, a.ncols())?;
        let fill = |mut out: MatMut<'_, T>| {
            for j in 0..n {
                (j..n).for_each(|i| out[(i, j)] = T::lit(a[(i, j)].f64()));
                out[(j, j)] += d(j);
            }
        };
        Self::from_fill(n, fill, ladder)
    }

    /// As [`with_jitter`](Self::with_jitter), but without a second n × n matrix in memory: `fill`
    /// writes A (at least its lower triangle) into the buffer that becomes the factor, once for
    /// every attempt.
    pub fn from_fill(
        n: usize,
        mut fill: impl FnMut(MatMut<'_, T>),
        ladder: JitterLadder,
    ) -> Result<Self> {
        let mut a = Mat::zeros(n, n);
        fill(a.as_mut());
        validate::finite_lower("matrix to factor", a.as_ref())?;
        // ε·tr A, summed as ε·A_ii because tr A may overflow
        let eps_trace = (0..n).map(|i| T::EPS * a[(i, i)].f64()).sum::<f64>();
        let jitter = ladder.climb(n, eps_trace, |failed, jitter| {
            if failed > 0 {
                fill(a.as_mut()); // the failed attempt overwrote it
            }
            ops::add_to_diagonal(a.as_mut(), T::lit(jitter));
            factor_panels(panels_of(a.as_mut()))
        })?;
        zero_upper(a.as_mut());
        Ok(Cholesky { lower: a, jitter })
    }

    /// L, n × n lower triangular with zeros above the diagonal.
    pub fn lower(&self) -> MatRef<'_, T> {
        self.lower.as_ref()
    }

    /// n, the order of A.
    pub fn order(&self) -> usize {
        self.lower.nrows()
    }

    /// δ, the jitter added to the diagonal (0 if the factorisation succeeded without).
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// b ← (A + δI)⁻¹b for b (n × t). 2n²t flops.
    ///
    /// # Panics
    /// If b does not have n rows.
    pub fn solve_in_place(&self, mut b: MatMut<'_, T>) {
        self.forward_in_place(b.rb_mut());
        self.backward_in_place(b);
    }

    /// b ← L⁻¹b for b (n × t). n²t flops.
    ///
    /// # Panics
    /// If b does not have n rows.
    pub fn forward_in_place(&self, b: MatMut<'_, T>) {
        ops::solve_lower(self.lower.as_ref(), b);
    }

    /// b ← L⁻ᵀb for b (n × t). n²t flops.
    ///
    /// # Panics
    /// If b does not have n rows.
    pub fn backward_in_place(&self, b: MatMut<'_, T>) {
        ops::solve_upper(self.lower.transpose(), b);
    }

    /// ln det(A + δI), summed in `f64`.
    pub fn log_det(&self) -> f64 {
        (0..self.order()).map(|i| 2.0 * self.lower[(i, i)].f64().ln()).sum()
    }

    /// The n diagonal entries of (A + δI)⁻¹, without the inverse: entry i is ‖L⁻¹e_i‖².
    /// n³/3 + 64n² flops, O(128·n) memory per thread.
    ///
    /// Column i of L⁻¹ is zero above row i, so that a block of columns needs only the trailing part
    /// of L.
    pub fn inverse_diagonal(&self) -> Vec<T> {
        let n = self.order();
        let forward = |start: usize, e: MatMut<'_, T>| {
            ops::solve_lower(self.lower.as_ref().submatrix(start, start, n - start, n - start), e);
        };
        squared_columns(n, |start| start, forward)
    }
}

fn zero_upper<T: Scalar>(a: MatMut<'_, T>) {
    a.par_col_iter_mut().enumerate().for_each(|(j, column)| column.get_mut(..j).fill(T::zero()));
}
