//! The result of an audit.

use super::iterate::Bound;
use nystrom_linalg_core::{Error, Result, Scalar, validate};

/// Exact scores of some rows as intervals, with diagnostics of their computation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AuditReference {
    /// The rows, in the order of drawing.
    pub rows: Vec<usize>,
    /// u_i: the upper end of the interval that holds l_i.
    pub scores: Vec<f64>,
    /// δ_i: l_i ≥ u_i − δ_i. Rounding error, of order ε·K_ii/μ, is not included.
    pub errors: Vec<f64>,
    /// ‖e_i − (K + μI)z‖₂ for the system of every row (e_i is a unit vector), from the residuals
    /// that the iteration updates.
    pub residuals: Vec<f64>,
    /// μ, the absolute ridge.
    pub mu: f64,
    /// m, the landmarks of the preconditioner.
    pub landmarks: usize,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    accuracy: f64,
}

impl AuditReference {
    pub(super) fn new(
        rows: Vec<usize>,
        bounds: &[Bound],
        mu: f64,
        landmarks: usize,
        iterations: usize,
        accuracy: f64,
    ) -> Result<Self> {
        if let Some(t) = bounds.iter().position(|bound| !bound.residual.is_finite()) {
            let (what, value) = ("solution of (K + mu I)z = e_i", bounds[t].residual);
            return Err(Error::NonFinite { what, row: rows[t], col: t, value });
        }
        Ok(AuditReference {
            scores: bounds.iter().map(|bound| bound.upper.clamp(0.0, 1.0)).collect(),
            errors: bounds.iter().map(|bound| bound.error.max(0.0)).collect(),
            residuals: bounds.iter().map(|bound| bound.residual).collect(),
            rows,
            mu,
            landmarks,
            iterations,
            accuracy,
        })
    }

    /// max δ_i/u_i: a bound of the relative error of `scores`. Rows with u_i = 0 count as 0.
    pub fn largest_relative_error(&self) -> f64 {
        let relative = |(e, u): (&f64, &f64)| if *u > 0.0 { e / u } else { 0.0 };
        self.errors.iter().zip(&self.scores).map(relative).fold(0.0, f64::max)
    }

    /// The largest of `residuals`.
    pub fn largest_residual(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }

    /// Checks that every exact score is known to the requested accuracy.
    ///
    /// # Errors
    /// [`Error::NotConverged`] with the largest relative error of the scores.
    pub fn check(&self) -> Result<()> {
        let (residual, tolerance) = (self.largest_relative_error(), self.accuracy);
        if residual <= tolerance {
            Ok(())
        } else {
            Err(Error::NotConverged { iterations: self.iterations, residual, tolerance })
        }
    }

    /// Compares estimated scores with the exact ones. `scores` are those of all n rows of the same
    /// matrix at the same ridge.
    ///
    /// # Errors
    /// [`Error::InvalidWeight`] for a score that is negative or not finite,
    /// [`Error::IndexOutOfRange`] if there are fewer scores than rows.
    pub fn compare<T: Scalar>(&self, scores: &[T]) -> Result<AuditReport> {
        check_scores(scores.len(), scores)?;
        nystrom_linalg_core::Indices::from(&self.rows)
            .check(scores.len(), "audited rows among the scores")?;
        let estimates = self.rows.iter().map(|&i| scores[i].f64()).collect();
        Ok(AuditReport { estimates, reference: self.clone() })
    }
}

/// Estimated and exact scores of the audited rows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AuditReport {
    /// l̃_i of the audited rows.
    pub estimates: Vec<f64>,
    /// The exact scores of these rows.
    pub reference: AuditReference,
}

impl AuditReport {
    /// l̃_i/u_i, in the order of `reference.rows`: 1 if both are 0, ∞ if only u_i is 0.
    pub fn ratios(&self) -> Vec<f64> {
        self.estimates
            .iter()
            .zip(&self.reference.scores)
            .map(|(&a, &b)| if a == b { 1.0 } else { a / b })
            .collect()
    }

    /// The row of the largest ratio l̃_i/l_i, and this ratio, which is below 1 if every estimate is
    /// too small.
    pub fn largest_overestimate(&self) -> (usize, f64) {
        self.extreme(|ratio| ratio)
    }

    /// The row of the largest ratio l_i/l̃_i, and this ratio, which is below 1 if every estimate is
    /// too large and ∞ if a positive score was estimated as 0.
    pub fn largest_underestimate(&self) -> (usize, f64) {
        self.extreme(|ratio| 1.0 / ratio)
    }

    fn extreme(&self, size: impl Fn(f64) -> f64) -> (usize, f64) {
        let rows = self.reference.rows.iter().copied();
        let all = rows.zip(self.ratios()).map(|(i, ratio)| (i, size(ratio)));
        all.fold(
            (usize::MAX, f64::NEG_INFINITY),
            |best, this| if this.1 > best.1 { this } else { best },
        )
    }

    /// The mean of l̃_i/l_i.
    pub fn mean_ratio(&self) -> f64 {
        self.ratios().iter().sum::<f64>() / self.estimates.len() as f64
    }

    /// The p-quantile of l̃_i/l_i, linearly interpolated between order statistics (numpy's
    /// default).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for p outside \[0, 1\], [`Error::Empty`] without rows.
    pub fn quantile(&self, p: f64) -> Result<f64> {
        validate::require((0.0..=1.0).contains(&p), "p", p, "between 0 and 1")?;
        let mut sorted = self.ratios();
        validate::not_empty("ratios of the audit", sorted.len())?;
        sorted.sort_by(f64::total_cmp);
        let at = p * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        Ok(if low == high { low } else { low + (high - low) * at.fract() })
    }

    /// An estimate of d_eff from the exact scores alone: n times their mean over the audited rows.
    pub fn d_eff_estimate(&self, n: usize) -> f64 {
        n as f64 * self.reference.scores.iter().sum::<f64>() / self.reference.scores.len() as f64
    }

    /// 1 − (1 − confidence)^(1/rows): with the given confidence, at most this fraction of all rows
    /// is over-estimated by a larger factor than
    /// [`largest_overestimate`](Self::largest_overestimate); the same holds for under-estimates.
    /// (The audited rows are a uniform sample. If a fraction f of all rows had a larger factor, the
    /// sample would contain none of them with probability at most (1 − f)^rows.)
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a confidence outside (0, 1).
    pub fn unseen_fraction(&self, confidence: f64) -> Result<f64> {
        validate::require(
            confidence > 0.0 && confidence < 1.0,
            "confidence",
            confidence,
            "strictly between 0 and 1",
        )?;
        Ok(1.0 - (1.0 - confidence).powf(1.0 / self.estimates.len() as f64))
    }
}

/// Checks that there are n scores, finite and not negative.
pub(super) fn check_scores<T: Scalar>(n: usize, scores: &[T]) -> Result<()> {
    validate::same_size("scores against rows of the matrix", n, scores.len())?;
    validate::all_nonnegative("scores", scores)
}
