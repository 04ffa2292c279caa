//! What the selectors that build a Cholesky factorisation share: when it begins, goes on and ends.

use nystrom_linalg_core::{Error, PivotedCholesky, PsdMatrix, Result, Scalar, validate};

/// Columns are few if they are at most one in so many.
const FEW: usize = 4;

/// A factorisation on its way to k pivots.
pub(crate) struct Pivots<T> {
    pub f: PivotedCholesky<T>,
    k: usize,
    stop: f64,
}

impl<T: Scalar> Pivots<T> {
    /// n diagonal entries. Memory for all k columns is taken at once if they will be needed, as
    /// with a tolerance of 0, or are few beside n. What is not needed is never touched.
    pub fn start(A: &dyn PsdMatrix<T>, k: usize, tolerance: f64) -> Result<Self> {
        validate::not_empty("matrix", A.dim())?;
        validate::at_most("landmarks", k, A.dim())?;
        validate::require(
            (0.0..1.0).contains(&tolerance),
            "tolerance",
            tolerance,
            "in [0, 1): the trace to be left, relative to that of the matrix",
        )?;
        let a_ii: Vec<f64> = A.diag().into_iter().map(T::f64).collect();
        let trace = validate::weights("diagonal of the matrix", &a_ii)?;
        let room = if tolerance > 0.0 && k > A.dim() / FEW { 0 } else { k };
        Ok(Pivots { f: PivotedCholesky::start(a_ii, room), k, stop: tolerance * trace })
    }

    /// k − i: the pivots still wanted.
    pub fn wanted(&self) -> usize {
        self.k - self.f.rank()
    }

    /// Whether pivots are wanted and more than the tolerance is left.
    pub fn goes_on(&self) -> bool {
        self.wanted() > 0 && self.f.traces()[self.f.rank()] > self.stop
    }

    /// The result, once there is a pivot.
    pub fn finish(self) -> Result<PivotedCholesky<T>> {
        if self.f.rank() == 0 {
            return Err(Error::RankDeficient { requested: self.k, rank: 0 });
        }
        Ok(self.f)
    }
}

/// Cholesky with pivots chosen one at a time: `choose` sees the factorisation so far, with d =
/// diag(A − FFᵀ), and names a row with d > 0, or none.
///
/// (k + 1)n entries: the diagonal and k columns. nk² flops.
pub(crate) fn pivoted_cholesky<T: Scalar>(
    A: &dyn PsdMatrix<T>,
    k: usize,
    tolerance: f64,
    mut choose: impl FnMut(&PivotedCholesky<T>) -> Option<usize>,
) -> Result<PivotedCholesky<T>> {
    let mut pivots = Pivots::start(A, k, tolerance)?; //                    F = 0, d = diag A
    while pivots.goes_on() {
        let Some(s) = choose(&pivots.f) else { break };
        // g = A(:, s) − F F(s, :)ᵀ,   append g/√g_s to F,   d = max(d − g²/g_s, 0)
        pivots.f.take(A, s)?;
    }
    pivots.finish()
}
