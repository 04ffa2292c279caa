//! Exact scores, and helpers of all estimators: the range of a score, and sums of scores.

use faer::{ColMut, ColRef, MatRef};
use nystrom_linalg_core::{Indices, PsdMatrix, Result, RowTree, Scalar, validate};

/// Scores l_1, …, l_n, exact up to rounding, with the route of their computation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ExactScores<T> {
    /// l_1, …, l_n, each in \[0, K_ii/(K_ii + μ)\].
    pub scores: Vec<T>,
    /// μ = nλ, the absolute ridge.
    pub mu: T,
    /// How the scores were computed.
    pub route: ExactRoute,
}

/// How exact scores were computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ExactRoute {
    /// One Cholesky factorisation of K + μI.
    Cholesky,
    /// Eigendecomposition of K with negative eigenvalues set to 0.
    Spectrum,
}

impl<T: Scalar> ExactScores<T> {
    /// d_eff = Σ l_i = tr K(K + μI)⁻¹, summed in `f64`.
    pub fn d_eff(&self) -> f64 {
        d_eff(&self.scores)
    }

    /// d_mof = n·max_i l_i, the maximal degrees of freedom: the number of uniform samples needed
    /// grows with d_mof, that of samples by leverage with d_eff (Bach 2013).
    pub fn d_mof(&self) -> f64 {
        d_mof(&self.scores)
    }
}

/// `score` clamped to [0, K_ii/(K_ii + μ)].
///
/// No score exceeds the upper end: row i alone has the score K_ii/(K_ii + μ), and further rows can
/// only lower it. NaN stays NaN.
pub(crate) fn clamp<T: Scalar>(score: T, k_ii: T, mu: T) -> T {
    let highest = k_ii / (k_ii + mu);
    if score < T::zero() || k_ii <= T::zero() {
        T::zero()
    } else if score > highest {
        highest
    } else {
        score
    }
}

/// Σ l_i in `f64`, summed along the row tree.
pub(crate) fn d_eff<T: Scalar>(scores: &[T]) -> f64 {
    let leaf = |rows: std::ops::Range<usize>| scores[rows].iter().map(|l| l.f64()).sum::<f64>();
    RowTree::new(scores.len()).reduce(leaf, |a, b| a + b).unwrap_or(0.0)
}

/// n·max l_i.
pub(crate) fn d_mof<T: Scalar>(scores: &[T]) -> f64 {
    scores.len() as f64 * scores.iter().map(|l| l.f64()).fold(0.0, f64::max)
}

/// K_ii for the given rows; `NonFinite` with the first that is not finite.
pub(crate) fn finite_diagonal<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    rows: Indices<'_>,
) -> Result<Vec<T>> {
    let mut k_ii = vec![T::zero(); rows.len()];
    k.diag_into(ColMut::from_slice_mut(&mut k_ii), rows.clone());
    validate::finite("kernel matrix", ColRef::from_slice(&k_ii).as_mat())
        .map_err(|error| error.placed(|t, _| (rows.get(t), rows.get(t))))?;
    Ok(k_ii)
}

/// `out[t]` = the squared norm of column t.
pub(crate) fn squared_norms<T: Scalar>(out: &mut [T], columns: MatRef<'_, T>) {
    for (out, column) in out.iter_mut().zip(columns.col_iter()) {
        *out = column.squared_norm_l2();
    }
}
