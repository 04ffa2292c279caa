//! A ≈ FFᵀ by a partial Cholesky factorisation, pivot by pivot; the caller decides when to stop.

use crate::{Dense, PsdMatrix, Result, Scalar, ops, psd_by_factor, validate};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Rows of a task that updates the residual diagonal.
const RESIDUAL_ROWS: usize = 4096;

/// Â = FFᵀ ⪯ A, F n × k, from a Cholesky factorisation of A stopped after k pivots, with the
/// residual diagonal diag(A − Â). Â is the Nyström approximation with landmarks s_1, …, s_k, the
/// pivots.
///
/// The rows s_1, …, s_k of F are lower triangular, so the first j columns are the factorisation
/// stopped after j pivots: one run gives a nested sequence of approximations. Â is itself a
/// [`PsdMatrix`].
///
/// [`new`](Self::new) factors a stored matrix, always with the largest residual as next pivot. For
/// other rules, [`start`](Self::start) without pivots, then [`take`](Self::take) one pivot at a
/// time or [`append`](Self::append) the columns of several.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::{Dense, PivotedCholesky};
/// let a = mat![[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]]; // rank 2
/// let f = PivotedCholesky::new(a.as_ref(), 1e-12)?;
/// assert_eq!((f.rank(), f.pivots()), (2, &[2, 0][..]));
/// // tr(A − Â) after 0, 1 and 2 pivots
/// assert_eq!(f.traces(), [6.0, 2.0, 0.0]);
/// assert_eq!(f.factor() * f.factor().transpose(), a);
///
/// let mut f = PivotedCholesky::start(vec![1.0, 1.0, 4.0], 2);
/// assert!(f.take(&Dense::new(a.as_ref())?, 1)?);
/// assert_eq!(f.residual(), [0.0, 0.0, 4.0]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct PivotedCholesky<T> {
    F: Mat<T>,
    capacity: usize, // columns of F for which memory is allocated
    pivots: Vec<usize>,
    a_ii: Vec<f64>,
    d: Vec<f64>,
    traces: Vec<f64>,
}

impl<T: Scalar> PivotedCholesky<T> {
    /// Factors the stored n × n matrix `a`. The next pivot is always the row with the largest
    /// residual, until this residual is at most `relative_tolerance`·max_i A_ii. Only the lower
    /// triangle is read.
    ///
    /// tr(A − Â) ≤ n·relative_tolerance·max_i A_ii, up to rounding. O(n·r²) flops for rank r. The
    /// factor has n·r numbers, in memory for at most twice as many; while F is reallocated, for at
    /// most 3n·max(r, 8).
    ///
    /// # Errors
    /// [`Shape`](crate::Error::Shape) if `a` is not square, [`NonFinite`](crate::Error::NonFinite);
    /// [`InvalidParameter`](crate::Error::InvalidParameter) for a tolerance that is negative or not
    /// finite.
    pub fn new(a: MatRef<'_, T>, relative_tolerance: f64) -> Result<Self> {
        let n = a.nrows();
        validate::same_size("columns of a square matrix", n, a.ncols())?;
        validate::finite_lower("matrix to factor", a)?;
        validate::require(
            relative_tolerance >= 0.0 && relative_tolerance.is_finite(),
            "relative tolerance",
            relative_tolerance,
            "finite and at least 0",
        )?;
        let a = Dense::of_lower(a);
        let mut f = Self::start(a.diag().into_iter().map(T::f64).collect(), 0);
        let stop = relative_tolerance * f.d.iter().copied().fold(0.0, f64::max);
        while let Some(s) = f.largest().filter(|&s| f.d[s] > stop) {
            f.take(&a, s)?;
        }
        Ok(f)
    }

    /// No pivots yet, for an n × n matrix with this diagonal (n numbers). Memory for `capacity`
    /// columns of F is allocated now; if F grows beyond that, its memory doubles.
    pub fn start(diagonal: Vec<f64>, capacity: usize) -> Self {
        let n = diagonal.len();
        let mut F = Mat::with_capacity(n, capacity);
        F.resize_with(n, 0, |_, _| T::zero());
        let traces = vec![diagonal.iter().sum()];
        let d = diagonal.clone();
        PivotedCholesky { F, capacity, pivots: Vec::new(), a_ii: diagonal, d, traces }
    }

    /// Takes row `s` of `A` as a pivot: g = A(:, s) − F F(s, :)ᵀ, F ← \[F, g/√g_s\]. If g_s is
    /// within [rounding error](Self::floor), F is unchanged, the residual of row s is set to 0,
    /// and the result is false.
    ///
    /// Evaluates n entries of A; 2nk flops.
    ///
    /// # Errors
    /// [`NonFinite`](crate::Error::NonFinite) naming an entry of A.
    ///
    /// # Panics
    /// If A is not n × n, or s ≥ n.
    pub fn take(&mut self, A: &dyn PsdMatrix<T>, s: usize) -> Result<bool> {
        let (n, i, floor) = (self.d.len(), self.rank(), self.floor(s));
        self.grow(1);
        let (F, mut g) = self.F.as_mut().split_at_col_mut(i);
        let f_s = F.rb().subrows(s, 1).transpose().to_owned();
        A.block_into(g.rb_mut(), (0..n).into(), (&[s]).into());
        validate::finite_block(g.rb(), 0..n, &[s])?;
        // g = A(:, s) − F F(s, :)ᵀ
        ops::matmul(g.rb_mut(), Accum::Add, F.rb(), f_s.as_ref(), -T::one());
        let g_s = g[(s, 0)];
        if !(g_s.f64() > floor) {
            self.F.truncate(n, i);
            self.discard(s);
            return Ok(false);
        }
        let root = num_traits::Float::sqrt(g_s);
        g.col_mut(0).iter_mut().for_each(|g| *g /= root); //                F(:, i) = g/√g_s
        self.accept(&[s]); //                                               d = max(d − F(:, i)², 0)
        Ok(true)
    }

    /// Takes the rows `S` as pivots, with columns of F computed by the caller: `fill(F, new)`
    /// writes the columns for S to `new` (n × |S|, initially 0). They must be the columns that the
    /// factorisation would have; the residual diagonal is updated from them.
    ///
    /// # Errors
    /// Those of `fill`; F is then unchanged.
    pub fn append(
        &mut self,
        S: &[usize],
        fill: impl FnOnce(MatRef<'_, T>, MatMut<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let (n, i) = (self.d.len(), self.rank());
        self.grow(S.len());
        let (F, new) = self.F.as_mut().split_at_col_mut(i);
        if let Err(error) = fill(F.rb(), new) {
            self.F.truncate(n, i);
            return Err(error);
        }
        self.accept(S);
        Ok(())
    }

    /// Sets the residual of row `s` to 0, because it is rounding error.
    pub fn discard(&mut self, s: usize) {
        self.d[s] = 0.0;
    }

    /// A bound on the rounding error of the residual A_jj − ‖F(j, :)‖²: (i + 10)·ε·A_jj after i
    /// pivots.
    pub fn floor(&self, j: usize) -> f64 {
        (self.rank() + 10) as f64 * T::EPS * self.a_ii[j]
    }

    /// The row with the largest residual, the first such row if several are equal; `None` if all
    /// residuals are 0.
    pub fn largest(&self) -> Option<usize> {
        let larger = |best: Option<usize>, j: usize| match best {
            Some(b) if self.d[b] >= self.d[j] => best,
            _ => Some(j),
        };
        (0..self.d.len()).fold(None, larger).filter(|&j| self.d[j] > 0.0)
    }

    /// diag A, n numbers.
    pub fn diagonal(&self) -> &[f64] {
        &self.a_ii
    }

    /// F, n × k.
    pub fn factor(&self) -> MatRef<'_, T> {
        self.F.as_ref()
    }

    /// F, n × k, by value.
    pub fn into_factor(self) -> Mat<T> {
        self.F
    }

    /// The pivots s_1, …, s_k, in the order taken.
    pub fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// k: the number of pivots, at most the numerical rank of A.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// diag(A − Â), n numbers, each at least 0. Pivots, and rows whose residual is within rounding
    /// error, have exactly 0.
    pub fn residual(&self) -> &[f64] {
        &self.d
    }

    /// tr(A − Â) after 0, 1, …, k pivots: k + 1 numbers in nonincreasing order, each with a
    /// rounding error of about ε·tr A.
    pub fn traces(&self) -> &[f64] {
        &self.traces
    }

    /// tr(A − Â), summed in `f64`: the nuclear-norm error.
    pub fn trace_error(&self) -> f64 {
        self.d.iter().sum()
    }

    /// ln det A_SS for the pivots S: Σ_i 2 ln F(s_i, i); 0 without pivots. O(k).
    pub fn log_det(&self) -> f64 {
        let diagonal = self.pivots.iter().enumerate().map(|(i, &s)| self.F[(s, i)].f64());
        diagonal.map(|root| 2.0 * root.ln()).sum()
    }

    /// Adds `more` columns of zeros to F.
    fn grow(&mut self, more: usize) {
        let (n, i) = (self.d.len(), self.rank());
        if i + more > self.capacity {
            self.capacity = n.min((2 * i).max(8)).max(i + more);
            self.F.reserve(n, self.capacity);
        }
        self.F.resize_with(n, i + more, |_, _| T::zero());
    }

    /// Records the pivots `taken`, whose columns are the last of F, and updates d and the traces.
    fn accept(&mut self, taken: &[usize]) {
        let i = self.rank();
        let F = &self.F;
        let leaf = |(c, d): (usize, &mut [f64])| -> Vec<f64> {
            let rows = c * RESIDUAL_ROWS..c * RESIDUAL_ROWS + d.len();
            (i..i + taken.len())
                .map(|t| subtract_squares(d, &F.col_as_slice(t)[rows.clone()]))
                .collect()
        };
        let norms: Vec<Vec<f64>> = if self.d.len() <= RESIDUAL_ROWS {
            vec![leaf((0, &mut self.d))] // not worth waking a thread
        } else {
            self.d.par_chunks_mut(RESIDUAL_ROWS).enumerate().map(leaf).collect()
        };
        for (t, &s) in taken.iter().enumerate() {
            let norm: f64 = norms.iter().map(|norms| norms[t]).sum(); //    ‖F(:, i + t)‖²
            self.traces.push((self.traces[i + t] - norm).max(0.0));
            self.pivots.push(s);
        }
        for j in 0..self.d.len() {
            if self.d[j] <= self.floor(j) {
                self.d[j] = 0.0;
            }
        }
        self.pivots[i..].iter().for_each(|&s| self.d[s] = 0.0); //          no pivot is taken twice
    }
}

psd_by_factor!(PivotedCholesky);

/// d −= f² entry by entry; returns Σ f².
fn subtract_squares<T: Scalar>(d: &mut [f64], f: &[T]) -> f64 {
    let mut norm = 0.0;
    for (d, f) in d.iter_mut().zip(f) {
        let square = f.f64().powi(2);
        norm += square;
        *d -= square;
    }
    norm
}
