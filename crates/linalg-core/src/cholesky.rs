//! Cholesky factorisation, with a jitter ladder that reports what it did, and the rank-revealing
//! pivoted form.

use crate::{Error, Result, Scalar, ops, validate, work};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns solved at once in [`Cholesky::inverse_diagonal`].
const INVERSE_BLOCK: usize = 128;
/// Columns factored before the rest of the matrix is brought up to date.
const PANEL: usize = 256;

/// Which multiples of the identity to try when a matrix is not numerically positive definite.
///
/// Rung s adds δ_s = first·growth^s·ε·tr(A), with ε of the scalar type, after an attempt with δ = 0
/// if `start_at_zero`. A shift of size ε·tr(A) is of the order of the rounding errors in A itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JitterLadder {
    /// δ of the first rung in units of ε·tr(A).
    pub first: f64,
    /// Ratio of one rung to the one before.
    pub growth: f64,
    /// Number of rungs with δ > 0.
    pub steps: usize,
    /// Whether to try δ = 0 first.
    pub start_at_zero: bool,
}

impl Default for JitterLadder {
    /// δ = 0, then 10ε·tr(A), 100ε·tr(A), … over eight rungs.
    fn default() -> Self {
        JitterLadder { first: 10.0, growth: 10.0, steps: 8, start_at_zero: true }
    }
}

impl JitterLadder {
    /// The ladder that begins at 10ε·tr(W): the choice for W = K_mm, where C(W + δI)⁻¹Cᵀ ⪯ CW⁺Cᵀ ⪯
    /// K holds for any δ > 0 and an unshifted factor of a nearly singular W would amplify rounding
    /// errors.
    pub fn shifted() -> Self {
        JitterLadder { start_at_zero: false, ..JitterLadder::default() }
    }

    /// The δ to try. A rung that is no higher than the one before, or infinite, is the end of any
    /// ladder.
    fn rungs(self, eps_trace: f64) -> impl Iterator<Item = f64> {
        let shift = move |s: usize| self.first * self.growth.powi(s as i32) * eps_trace;
        let higher = move |&s: &usize| shift(s).is_finite() && (s == 0 || shift(s) > shift(s - 1));
        let shifted = (0..self.steps).take_while(higher).map(shift);
        self.start_at_zero.then_some(0.0).into_iter().chain(shifted)
    }
}

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
pub struct Cholesky<T> {
    lower: Mat<T>, // strict upper triangle zero
    jitter: f64,
    attempts: usize,
}

impl<T: Scalar> Cholesky<T> {
    /// Factors A as it is; only the lower triangle is read. n³/3 flops, n² memory for the factor.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] with the pivot that failed, [`Error::Shape`] if A is not
    /// square, [`Error::NonFinite`].
    pub fn new(a: MatRef<'_, T>) -> Result<Self> {
        Self::with_jitter(a, JitterLadder { steps: 0, ..JitterLadder::default() })
    }

    /// Factors A + δI for the first δ of the ladder that succeeds; [`jitter`](Self::jitter) tells
    /// which.
    ///
    /// # Errors
    /// As [`new`](Self::new), if no rung succeeds.
    pub fn with_jitter(a: MatRef<'_, T>, ladder: JitterLadder) -> Result<Self> {
        validate::same_size("columns of a square matrix", a.nrows(), a.ncols())?;
        Self::from_fill(a.nrows(), |mut out| out.copy_from_triangular_lower(a), ladder)
    }

    /// As [`with_jitter`](Self::with_jitter) for an n × n matrix so large that a second one would
    /// not fit: `fill` writes A (at least its lower triangle) into the buffer that becomes the
    /// factor, once for every attempt.
    pub fn from_fill(
        n: usize,
        mut fill: impl FnMut(MatMut<'_, T>),
        ladder: JitterLadder,
    ) -> Result<Self> {
        let mut a = Mat::zeros(n, n);
        fill(a.as_mut());
        validate::finite_lower("matrix to factor", a.as_ref())?;
        // of a trace that may overflow
        let eps_trace = (0..n).map(|i| T::EPS * a[(i, i)].f64()).sum::<f64>();
        let mut failure = Error::NotPositiveDefinite { order: n, pivot: 0, jitter: 0.0 };
        for (attempt, jitter) in ladder.rungs(eps_trace).enumerate() {
            if attempt > 0 {
                fill(a.as_mut()); // the failed attempt overwrote it
            }
            ops::add_to_diagonal(a.as_mut(), T::lit(jitter));
            match factor_in_place(a.as_mut()) {
                Ok(()) => {
                    zero_upper(a.as_mut());
                    return Ok(Cholesky { lower: a, jitter, attempts: attempt + 1 });
                }
                Err(pivot) => failure = Error::NotPositiveDefinite { order: n, pivot, jitter },
            }
        }
        Err(failure)
    }

    /// L, n × n lower triangular with zeros above the diagonal.
    pub fn lower(&self) -> MatRef<'_, T> {
        self.lower.as_ref()
    }

    /// n.
    pub fn order(&self) -> usize {
        self.lower.nrows()
    }

    /// δ: what was added to the diagonal beyond A (0 unless the ladder was climbed).
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Number of factorisations tried, the successful one included.
    pub fn attempts(&self) -> usize {
        self.attempts
    }

    /// b ← (A + δI)⁻¹b for b n × t. 2n²t flops.
    ///
    /// # Panics
    /// If b does not have n rows; so do the two halves below.
    pub fn solve_in_place(&self, mut b: MatMut<'_, T>) {
        self.forward_in_place(b.rb_mut());
        self.backward_in_place(b);
    }

    /// b ← L⁻¹b for b n × t. n²t flops.
    pub fn forward_in_place(&self, b: MatMut<'_, T>) {
        ops::solve_lower(self.lower.as_ref(), b);
    }

    /// b ← L⁻ᵀb for b n × t. n²t flops.
    pub fn backward_in_place(&self, b: MatMut<'_, T>) {
        ops::solve_upper(self.lower.transpose(), b);
    }

    /// ln det(A + δI), summed in `f64`.
    pub fn log_det(&self) -> f64 {
        (0..self.order()).map(|i| 2.0 * self.lower[(i, i)].f64().ln()).sum()
    }

    /// The diagonal of (A + δI)⁻¹ without the inverse: entry i is ‖L⁻¹e_i‖². n³/3 + 64n² flops,
    /// O(128·n) memory per thread.
    ///
    /// Column i of L⁻¹ is zero above row i, so a block of columns needs only the trailing part of
    /// L.
    pub fn inverse_diagonal(&self) -> Vec<T> {
        let n = self.order();
        let starts: Vec<usize> = (0..n).step_by(INVERSE_BLOCK).collect();
        let blocks: Vec<Vec<T>> = starts
            .into_par_iter()
            .map(|start| {
                let (rows, width) = (n - start, INVERSE_BLOCK.min(n - start));
                let trailing = self.lower.as_ref().submatrix(start, start, rows, rows);
                let mut e =
                    Mat::from_fn(rows, width, |i, j| if i == j { T::one() } else { T::zero() });
                ops::solve_lower(trailing, e.as_mut());
                (0..width).map(|j| e.col(j).squared_norm_l2()).collect()
            })
            .collect();
        blocks.concat()
    }
}

/// A ← L in the lower triangle, or the index of the failed pivot; the upper triangle is left with
/// work values.
///
/// Right-looking, a panel at a time; nearly all of the flops are in the last line. faer's own
/// factorisation updates with panels of 128 and shares every product between the threads; the times
/// of both are in `docs/performance.md`.
fn factor_in_place<T: Scalar>(mut a: MatMut<'_, T>) -> std::result::Result<(), usize> {
    let (n, mut scratch) = (a.nrows(), Scratch::new());
    for start in (0..n).step_by(PANEL) {
        let size = PANEL.min(n - start);
        let trailing = a.rb_mut().submatrix_mut(start, start, n - start, n - start);
        let (mut A11, _, A21, A22) = trailing.split_at_mut(size, size);
        factor_panel(A11.rb_mut()).map_err(|pivot| start + pivot)?; //     A₁₁ = L₁₁L₁₁ᵀ
        let L21t = scratch.solve_transposed(A11.rb(), A21); //             L₂₁ = A₂₁L₁₁⁻ᵀ
        ops::gram_lower(A22, faer::Accum::Add, L21t, -T::one()); //        A₂₂ −= L₂₁L₂₁ᵀ
    }
    Ok(())
}

/// Room for L₂₁ᵀ, at most 256 × n: the triangular solve and the product after it are a fifth faster
/// column by column than on rows.
pub(crate) struct Scratch<T>(Mat<T>);

impl<T: Scalar> Scratch<T> {
    pub fn new() -> Self {
        Scratch(Mat::new())
    }

    /// A₂₁ ← L₂₁ = A₂₁L₁₁⁻ᵀ, and L₂₁ᵀ. m·w² flops for an m × w matrix A₂₁.
    pub fn solve_transposed(&mut self, L11: MatRef<'_, T>, A21: MatMut<'_, T>) -> MatRef<'_, T> {
        let (m, width) = A21.shape();
        if self.0.nrows() < width || self.0.ncols() < m {
            self.0 = Mat::zeros(width, m);
        }
        let mut L21t = self.0.as_mut().submatrix_mut(0, 0, width, m);
        ops::transpose_into(L21t.rb_mut(), A21.rb());
        ops::solve_lower(L11, L21t.rb_mut());
        ops::transpose_into(A21, L21t.rb());
        L21t.into_const()
    }
}

/// The same of a small matrix, by faer on this thread.
pub(crate) fn factor_panel<T: Scalar>(mut a: MatMut<'_, T>) -> std::result::Result<(), usize> {
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

fn zero_upper<T: Scalar>(a: MatMut<'_, T>) {
    a.par_col_iter_mut().enumerate().for_each(|(j, column)| column.get_mut(..j).fill(T::zero()));
}

/// The rank-revealing factor of A ≈ FFᵀ, F n × r, by Cholesky with complete (diagonal) pivoting.
///
/// Pivots are the largest remaining diagonal entries; the factorisation stops when the largest
/// falls to `relative_tolerance`·max_i A_ii or below. The error A − FFᵀ is positive semi-definite
/// with trace at most n·relative_tolerance·max_i A_ii (up to rounding).
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::PivotedCholesky;
/// let a = mat![[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]];
/// let factor = PivotedCholesky::new(a.as_ref(), 1e-12)?;
/// assert_eq!((factor.rank(), factor.pivots()[0]), (2, 2));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PivotedCholesky<T> {
    factor: Mat<T>,
    pivots: Vec<usize>,
}

impl<T: Scalar> PivotedCholesky<T> {
    /// Factors the stored n × n matrix `a` in O(n·r²) flops for rank r; only the lower triangle is
    /// read. The factor holds n·r numbers, while it grows at most 3n·max(r, 8).
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` is not square, [`Error::NonFinite`]; [`Error::InvalidParameter`] for
    /// a tolerance that is negative or not finite.
    pub fn new(a: MatRef<'_, T>, relative_tolerance: f64) -> Result<Self> {
        let n = a.nrows();
        validate::same_size("columns of a square matrix", n, a.ncols())?;
        validate::finite_lower("matrix to factor", a)?;
        if !(relative_tolerance >= 0.0 && relative_tolerance.is_finite()) {
            let (name, value) = ("relative tolerance", relative_tolerance);
            return Err(Error::InvalidParameter {
                name,
                value,
                requirement: "finite and at least 0",
            });
        }
        let mut F = Mat::<T>::zeros(n, 0);
        let mut d: Vec<f64> = (0..n).map(|i| a[(i, i)].f64()).collect(); // d = diag(A − FFᵀ)
        let stop = relative_tolerance * d.iter().copied().fold(0.0, f64::max);
        let mut pivots = Vec::new();
        while let Some(s) = largest_above(&d, stop) {
            let i = pivots.len();
            if i == F.ncols() {
                F.resize_with(n, n.min(8.max(2 * i)), |_, _| T::zero());
            }
            let (done, mut rest) = F.as_mut().split_at_col_mut(i);
            let mut g = rest.rb_mut().subcols_mut(0, 1); // g = A(:,s) − F F(s,:)ᵀ
            for r in 0..n {
                g[(r, 0)] = a[(r.max(s), r.min(s))];
            }
            let f_s = done.rb().subrows(s, 1).transpose().to_owned();
            ops::matmul(g.rb_mut(), faer::Accum::Add, done.rb(), f_s.as_ref(), -T::one());
            let root = num_traits::Float::sqrt(g[(s, 0)]);
            if !(root > T::zero()) {
                d[s] = 0.0; // cancelled to nothing: not a direction of A
                continue;
            }
            pivots.push(s);
            for r in 0..n {
                g[(r, 0)] /= root;
                d[r] = (d[r] - g[(r, 0)].f64().powi(2)).max(0.0);
            }
            d[s] = 0.0;
        }
        let factor =
            if F.ncols() == pivots.len() { F } else { F.subcols(0, pivots.len()).to_owned() };
        Ok(PivotedCholesky { factor, pivots })
    }

    /// r, the number of pivots taken.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// The pivots in the order taken.
    pub fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// F, n × r, rows in the order of A.
    pub fn factor(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }
}

fn largest_above(d: &[f64], stop: f64) -> Option<usize> {
    let largest = |best: Option<usize>, i: usize| match best {
        Some(b) if d[b] >= d[i] => Some(b),
        _ => Some(i),
    };
    (0..d.len()).fold(None, largest).filter(|&i| d[i] > stop)
}
