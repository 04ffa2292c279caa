//! A ≈ FFᵀ by Cholesky factorisation of A stopped after k pivots, column by column.

use crate::{Landmarks, low_rank};
use faer::reborrow::*;
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{Error, Indices, PsdMatrix, Result, Scalar, ops, validate};
use rayon::prelude::*;

/// Rows whose residual diagonal one thread updates at a time.
const ACCEPT_ROWS: usize = 4096;

/// Â = FFᵀ ⪯ A, F n × k, from a Cholesky factorisation of A stopped after k pivots: the Nyström
/// approximation of the pivots s_1, …, s_k, with what is left of the diagonal.
///
/// The rows s_1, …, s_k of F are lower triangular, so the first j columns are the factorisation
/// stopped after j pivots: one run gives a nested path of approximations. It is itself a
/// [`PsdMatrix`]. `n·k` entries are held.
///
/// Made by [`rp_cholesky`](crate::rp_cholesky()), [`RpCholesky::factor`](crate::RpCholesky::factor)
/// and [`Greedy::factor`](crate::Greedy::factor).
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::Greedy;
/// let a = mat![[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]; // rank 2
/// let f = Greedy::default().factor(&Dense::new(a.as_ref())?, 3)?;
/// assert_eq!(f.pivots(), [0, 2]); // stops at the rank
/// // tr A, and after each pivot
/// assert_eq!(f.traces(), [6.0, 1.0, 0.0]);
/// assert_eq!(f.factor() * f.factor().transpose(), a);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PartialCholesky<T> {
    factor: Mat<T>,
    pivots: Vec<usize>,
    residual: Vec<f64>,
    traces: Vec<f64>,
}

impl<T: Scalar> PartialCholesky<T> {
    /// F, n × k.
    pub fn factor(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }

    /// F, n × k.
    pub fn into_factor(self) -> Mat<T> {
        self.factor
    }

    /// s_1, …, s_k, in the order taken; at least one.
    pub fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// The pivots as landmarks, in the order taken.
    pub fn landmarks(&self) -> Result<Landmarks> {
        Landmarks::new(self.residual.len(), self.pivots.clone())
    }

    /// k: the number of pivots, at most the numerical rank of A.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// diag(A − Â), n numbers, each at least 0 and exactly 0 at the pivots and wherever only
    /// rounding error was left.
    pub fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// tr(A − Â) after 0, 1, …, k pivots: k + 1 numbers that never increase, each with an error of
    /// about ε·tr A.
    pub fn traces(&self) -> &[f64] {
        &self.traces
    }

    /// tr(A − Â), summed in `f64`: the nuclear-norm error.
    pub fn trace_error(&self) -> f64 {
        self.residual.iter().sum()
    }
}

low_rank::psd_by_factor!(PartialCholesky);

/// Cholesky with pivots chosen one at a time: `choose` sees d = diag(A − FFᵀ) and names a row with
/// d > 0, or none.
///
/// (k + 1)n entries: the diagonal and k columns. nk² flops.
pub(crate) fn pivoted_cholesky<T: Scalar>(
    A: &dyn PsdMatrix<T>,
    k: usize,
    tolerance: f64,
    mut choose: impl FnMut(&[f64]) -> Option<usize>,
) -> Result<PartialCholesky<T>> {
    let mut state = Growing::new(A, k, tolerance)?; //                      F = 0, d = diag A
    while state.goes_on() {
        let Some(s) = choose(&state.d) else { break };
        let (n, i, floor) = (A.dim(), state.rank(), state.floor(s));
        let (F, mut g) = state.F.as_mut().split_at_col_mut(i);
        let mut g = g.rb_mut().subcols_mut(0, 1);
        let f_s = F.rb().subrows(s, 1).transpose().to_owned();
        A.block_into(g.rb_mut(), (0..n).into(), (&[s]).into());
        finite_block(g.rb(), 0..n, &[s])?;
        // g = A(:, s) − F F(s, :)ᵀ
        ops::matmul(g.rb_mut(), Accum::Add, F.rb(), f_s.as_ref(), -T::one());
        let g_s = g[(s, 0)];
        if g_s.f64() <= floor {
            // rounding error alone: not a direction of A
            state.d[s] = 0.0;
            continue;
        }
        let root = num_traits::Float::sqrt(g_s);
        g.col_mut(0).iter_mut().for_each(|g| *g /= root); //                F(:, i) = g/√g_s
        state.accept(&[s]); //                                              d = max(d − F(:, i)², 0)
    }
    state.finish()
}

/// A factorisation on its way to k pivots.
pub(crate) struct Growing<T> {
    /// n × k; the first `S.len()` columns are done.
    pub F: Mat<T>,
    /// diag(A − FFᵀ), with rounding error set to 0.
    pub d: Vec<f64>,
    /// The pivots taken.
    pub S: Vec<usize>,
    a_ii: Vec<f64>,
    traces: Vec<f64>,
    stop: f64,
}

impl<T: Scalar> Growing<T> {
    /// n diagonal entries; n·k numbers of memory.
    pub fn new(A: &dyn PsdMatrix<T>, k: usize, tolerance: f64) -> Result<Self> {
        let n = A.dim();
        validate::not_empty("matrix", n)?;
        validate::at_most("landmarks", k, n)?;
        if !(0.0..1.0).contains(&tolerance) {
            let requirement = "in [0, 1): the trace to be left, relative to that of the matrix";
            return Err(Error::InvalidParameter {
                name: "tolerance",
                value: tolerance,
                requirement,
            });
        }
        let a_ii: Vec<f64> = A.diag().into_iter().map(T::f64).collect();
        let trace = validate::weights("diagonal of the matrix", &a_ii)?;
        let (d, S) = (a_ii.clone(), Vec::with_capacity(k));
        Ok(Growing {
            F: Mat::zeros(n, k),
            d,
            S,
            a_ii,
            traces: vec![trace],
            stop: tolerance * trace,
        })
    }

    /// i: the number of pivots taken.
    pub fn rank(&self) -> usize {
        self.S.len()
    }

    /// Whether fewer than k pivots are taken and more than the tolerance is left.
    pub fn goes_on(&self) -> bool {
        self.rank() < self.F.ncols() && self.traces[self.rank()] > self.stop
    }

    /// What of A_jj − ‖F(j, :)‖² may be rounding error: (i + 10)·ε·A_jj after i subtractions.
    pub fn floor(&self, j: usize) -> f64 {
        (self.rank() + 10) as f64 * T::EPS * self.a_ii[j]
    }

    /// d and the traces follow the columns i, i + 1, … of F, which are those of the pivots `taken`.
    pub fn accept(&mut self, taken: &[usize]) {
        let i = self.rank();
        let F = &self.F;
        let leaf = |(c, d): (usize, &mut [f64])| -> Vec<f64> {
            let rows = c * ACCEPT_ROWS..c * ACCEPT_ROWS + d.len();
            (i..i + taken.len())
                .map(|t| subtract_squares(d, &F.col_as_slice(t)[rows.clone()]))
                .collect()
        };
        let norms: Vec<Vec<f64>> = match self.d.len() <= ACCEPT_ROWS {
            // not worth waking a thread
            true => vec![leaf((0, &mut self.d))],
            false => self.d.par_chunks_mut(ACCEPT_ROWS).enumerate().map(leaf).collect(),
        };
        for (t, &s) in taken.iter().enumerate() {
            let norm: f64 = norms.iter().map(|norms| norms[t]).sum(); //    ‖F(:, i + t)‖²
            self.traces.push((self.traces[i + t] - norm).max(0.0));
            self.S.push(s);
        }
        for j in 0..self.d.len() {
            if self.d[j] <= self.floor(j) {
                self.d[j] = 0.0;
            }
        }
        self.S[i..].iter().for_each(|&s| self.d[s] = 0.0); //               never twice
    }

    /// The result, once there is a pivot.
    pub fn finish(mut self) -> Result<PartialCholesky<T>> {
        let n = self.d.len();
        if self.S.is_empty() {
            return Err(Error::RankDeficient { requested: self.F.ncols(), rank: 0 });
        }
        self.F.resize_with(n, self.S.len(), |_, _| T::zero());
        Ok(PartialCholesky {
            factor: self.F,
            pivots: self.S,
            residual: self.d,
            traces: self.traces,
        })
    }
}

/// d −= f², and Σ f².
fn subtract_squares<T: Scalar>(d: &mut [f64], f: &[T]) -> f64 {
    let mut norm = 0.0;
    for (d, f) in d.iter_mut().zip(f) {
        let square = f.f64().powi(2);
        norm += square;
        *d -= square;
    }
    norm
}

/// Entries of A\[rows, cols\] are finite; otherwise the place in A is named.
pub(crate) fn finite_block<'a, T: Scalar>(
    block: MatRef<'_, T>,
    rows: impl Into<Indices<'a>>,
    cols: &[usize],
) -> Result<()> {
    validate::finite("kernel matrix", block).map_err(|error| match error {
        Error::NonFinite { what, row, col, value } => {
            Error::NonFinite { what, row: rows.into().get(row), col: cols[col], value }
        }
        other => other,
    })
}
