//! Error bounds of theorems about landmarks from a k-DPP.

use crate::ElementarySymmetric;
use nystrom_linalg_core::{Error, Result, Ridge, validate};

/// The right-hand sides of Theorems 1 and 3, Lemma 2 and Corollaries 7 and 8 for c landmarks, from
/// the eigenvalues of K. K_k is the best approximation of K of rank k ≤ c.
///
/// # Source
/// C. Li, S. Jegelka & S. Sra, *Fast DPP sampling for Nyström with application to kernel methods*,
/// ICML 2016: sections 3 and 4, and Appendix A for the corollaries.
///
/// ```
/// use nystrom_dpp::KDppBounds;
/// let bounds = KDppBounds::new(&[4.0, 1.0, 0.5, 0.25], 2)?;
/// assert!(bounds.expected_trace_error() <= 3.0 * bounds.ratio_bound(1)?);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct KDppBounds {
    values: Vec<f64>, // all n, largest first
    c: usize,
    ratio: f64,
}

impl KDppBounds {
    /// The bounds for c landmarks, from all n eigenvalues of K in any order. Eigenvalues up to
    /// n·ε·λ_max count as 0.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are no eigenvalues or c = 0, [`Error::InvalidWeight`] for an
    /// eigenvalue that is not finite, [`Error::RankDeficient`] if c exceeds the rank.
    pub fn new(eigenvalues: &[f64], c: usize) -> Result<Self> {
        validate::not_empty("eigenvalues", eigenvalues.len())?;
        if let Some(index) = eigenvalues.iter().position(|l| !l.is_finite()) {
            return Err(Error::InvalidWeight {
                what: "eigenvalues",
                index,
                value: eigenvalues[index],
            });
        }
        let mut values = eigenvalues.to_vec();
        values.sort_unstable_by(|a, b| b.total_cmp(a));
        let cutoff = values.len() as f64 * f64::EPSILON * values[0].max(0.0);
        let rank = values.iter().take_while(|l| **l > cutoff).count();
        values[rank..].fill(0.0);
        let ratio = ElementarySymmetric::new(&values[..rank], c)?.ratio();
        Ok(KDppBounds { values, c, ratio })
    }

    /// E tr(K − K̃_C) = (c + 1)·e_{c+1}/e_c: an identity, not a bound.
    pub fn expected_trace_error(&self) -> f64 {
        (self.c as f64 + 1.0) * self.ratio
    }

    /// Lemma 2: e_{c+1}/e_c ≤ Σ_{i>k} λ_i/(c + 1 − k), for k ≤ c.
    ///
    /// # Errors
    /// [`Error::TooMany`] if k > c.
    pub fn ratio_bound(&self, k: usize) -> Result<f64> {
        Ok(self.values[k.min(self.values.len())..].iter().sum::<f64>() / self.denominator(k)?)
    }

    /// Theorem 1: E‖K − K̃_C‖_F/‖K − K_k‖_F ≤ (c + 1)/(c + 1 − k)·√(n − k). 0 for k = c = n, where
    /// both errors are 0. Errors as [`ratio_bound`](Self::ratio_bound).
    pub fn frobenius(&self, k: usize) -> Result<f64> {
        Ok((self.c as f64 + 1.0) / self.denominator(k)? * self.n_minus_k(k).sqrt())
    }

    /// Theorem 1: E‖K − K̃_C‖₂/‖K − K_k‖₂ ≤ (c + 1)/(c + 1 − k)·(n − k). 0 for k = c = n, where
    /// both errors are 0. Errors as [`ratio_bound`](Self::ratio_bound).
    pub fn spectral(&self, k: usize) -> Result<f64> {
        Ok((self.c as f64 + 1.0) / self.denominator(k)? * self.n_minus_k(k))
    }

    /// Corollary 7, Frobenius norm: with probability at least 1 − δ the ratio of Theorem 1 exceeds
    /// its bound by at most √(8c ln(1/δ))·√(Σλ_i²/Σ_{i>k}λ_i²). The result is ∞ if K has rank k,
    /// where the corollary is empty.
    ///
    /// # Errors
    /// As [`ratio_bound`](Self::ratio_bound), and [`Error::InvalidParameter`] unless δ is in (0,
    /// 1).
    pub fn frobenius_with_probability(&self, k: usize, delta: f64) -> Result<f64> {
        let squares =
            |values: &[f64]| values.iter().fold(0.0, |sum, l| sum + (l / self.values[0]).powi(2));
        let tail = squares(&self.values[k.min(self.values.len())..]);
        Ok(self.frobenius(k)? + self.deviation(delta)? * (squares(&self.values) / tail).sqrt())
    }

    /// Corollary 7, spectral norm: with probability at least 1 − δ the ratio of Theorem 1 exceeds
    /// its bound by at most √(8c ln(1/δ))·λ_1/λ_{k+1}. Errors as
    /// [`frobenius_with_probability`](Self::frobenius_with_probability).
    pub fn spectral_with_probability(&self, k: usize, delta: f64) -> Result<f64> {
        let next = self.values.get(k).copied().unwrap_or(0.0);
        Ok(self.spectral(k)? + self.deviation(delta)? * (self.values[0] / next))
    }

    /// Theorem 3: E√(R(ẑ_K̃)/R(ẑ)) ≤ 1 + (c + 1)/(nλ)·e_{c+1}/e_c, where R is the risk of kernel
    /// ridge regression with K̃_C or K, at the ridge nλ = `ridge.absolute(n)`.
    ///
    /// # Errors
    /// Those of [`Ridge::absolute`].
    pub fn risk(&self, ridge: Ridge<f64>) -> Result<f64> {
        Ok(1.0 + self.expected_trace_error() / ridge.absolute(self.values.len())?)
    }

    /// Corollary 8: with probability at least 1 − δ, the ratio of Theorem 3 is at most the bound of
    /// Theorem 3 plus √(8c ln(1/δ))·tr K/(nλ). The corollary is stated for √(bias(K̃)/bias(K)). It
    /// also holds for the root of the ratio of the risks, since the variance with K̃ is at most
    /// that with K.
    ///
    /// # Errors
    /// Those of [`Ridge::absolute`], and [`Error::InvalidParameter`] unless δ is in (0, 1).
    pub fn risk_with_probability(&self, ridge: Ridge<f64>, delta: f64) -> Result<f64> {
        let trace: f64 = self.values.iter().sum();
        Ok(self.risk(ridge)?
            + self.deviation(delta)? * trace / ridge.absolute(self.values.len())?)
    }

    /// n − k.
    fn n_minus_k(&self, k: usize) -> f64 {
        self.values.len().saturating_sub(k) as f64
    }

    /// c + 1 − k.
    fn denominator(&self, k: usize) -> Result<f64> {
        if k > self.c {
            return Err(Error::TooMany {
                what: "directions of the best approximation (k)",
                requested: k,
                available: self.c,
            });
        }
        Ok((self.c + 1 - k) as f64)
    }

    /// √(8c ln(1/δ)).
    fn deviation(&self, delta: f64) -> Result<f64> {
        validate::require(
            delta > 0.0 && delta < 1.0,
            "delta",
            delta,
            "in (0, 1): the probability that a bound fails",
        )?;
        Ok((8.0 * self.c as f64 * -delta.ln()).sqrt())
    }
}
