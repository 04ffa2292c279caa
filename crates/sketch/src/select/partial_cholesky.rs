//! Start, stopping rule and end of a partial Cholesky factorisation, shared by several selectors.

use nystrom_linalg_core::{Error, PivotedCholesky, PsdMatrix, Result, Scalar, validate};

/// With a tolerance, memory for all k columns is allocated at once only if k ≤ n/4.
const PREALLOCATED_SHARE: usize = 4;

/// A partial factorisation that takes up to k pivots.
pub(crate) struct Pivots<T> {
    pub f: PivotedCholesky<T>,
    k: usize,
    stop: f64,
}

impl<T: Scalar> Pivots<T> {
    /// Starts without pivots; evaluates n diagonal entries. Memory for all k columns is allocated
    /// at once if the tolerance is 0, because then all are likely needed, or if k is small compared
    /// with n. Memory of columns that are not needed is never touched.
    pub fn start(A: &dyn PsdMatrix<T>, k: usize, tolerance: f64) -> Result<Self> {
        validate::not_empty("matrix", A.dim())?;
        validate::at_most("landmarks", k, A.dim())?;
        validate::require(
            (0.0..1.0).contains(&tolerance),
            "tolerance",
            tolerance,
            "in [0, 1): the remaining trace relative to that of the matrix",
        )?;
        let a_ii: Vec<f64> = A.diag().into_iter().map(T::f64).collect();
        let trace = validate::weights("diagonal of the matrix", &a_ii)?;
        let capacity = if tolerance > 0.0 && k > A.dim() / PREALLOCATED_SHARE { 0 } else { k };
        Ok(Pivots { f: PivotedCholesky::start(a_ii, capacity), k, stop: tolerance * trace })
    }

    /// k − i, the number of further pivots to take after i pivots.
    pub fn wanted(&self) -> usize {
        self.k - self.f.rank()
    }

    /// Whether fewer than k pivots were taken and the remaining trace is above the tolerance.
    pub fn needs_pivot(&self) -> bool {
        self.wanted() > 0 && self.f.traces()[self.f.rank()] > self.stop
    }

    /// The factorisation.
    ///
    /// # Errors
    /// [`Error::RankDeficient`] if no pivot was taken.
    pub fn finish(self) -> Result<PivotedCholesky<T>> {
        if self.f.rank() == 0 {
            return Err(Error::RankDeficient { requested: self.k, rank: 0 });
        }
        Ok(self.f)
    }
}

/// Partial Cholesky factorisation with pivots chosen one at a time. `choose` is called with the
/// factorisation so far, where d = diag(A − FFᵀ), and returns a row with d > 0, or `None` to stop.
///
/// Evaluates (k + 1)n entries, the diagonal and k columns; nk² flops.
pub(crate) fn pivoted_cholesky<T: Scalar>(
    A: &dyn PsdMatrix<T>,
    k: usize,
    tolerance: f64,
    mut choose: impl FnMut(&PivotedCholesky<T>) -> Option<usize>,
) -> Result<PivotedCholesky<T>> {
    let mut pivots = Pivots::start(A, k, tolerance)?; //                    F = 0, d = diag A
    while pivots.needs_pivot() {
        let Some(s) = choose(&pivots.f) else { break };
        // g = A(:, s) − F F(s, :)ᵀ,   append g/√g_s to F,   d = max(d − g²/g_s, 0)
        pivots.f.take(A, s)?;
    }
    pivots.finish()
}
