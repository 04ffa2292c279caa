//! Scores by spectral analysis, with a report of their computation.

use super::{DensityMethod, Refusal};
use nystrom_linalg_core::Scalar;
use std::fmt;

/// Approximate scores, with a report of their computation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SpectralScores<T> {
    /// l̃_i = min(K̃_i/n, k(0)/(k(0) + nλ)), n numbers in (0, 1).
    pub scores: Vec<T>,
    /// K̃_i, the rescaled scores n·l̃_i before clipping.
    pub rescaled: Vec<T>,
    /// How the scores were computed.
    pub report: SpectralReport,
}

/// A report of one run of spectral analysis. It displays as one sentence, which begins with a
/// warning if the scores are uniform for want of a density estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SpectralReport {
    /// **Why all scores are the same upper bound**, if there was no density estimate and the caller
    /// asked for uniform scores in that case
    /// ([`Density::EstimatedOrUniform`](super::Density::EstimatedOrUniform)). Otherwise `None`.
    pub refusal: Option<Refusal>,
    /// The method of the density estimate; `None` if the density was given or all points are equal.
    pub method: Option<DensityMethod>,
    /// The bandwidth of the estimate, in standard deviations of the features.
    pub bandwidth: Option<f64>,
    /// Number of coordinates of the density: all if it was given, those that vary if it was
    /// estimated.
    pub dimension: usize,
    /// The smallest density, before the guard; 0 after a refusal.
    pub min_density: f64,
    /// The largest density, before the guard; 0 after a refusal.
    pub max_density: f64,
    /// Number of points whose density the guard replaced.
    pub guarded: usize,
    /// The density below which the guard replaced densities.
    pub threshold: Option<f64>,
    /// Number of scores clipped at k(0)/(k(0) + nλ).
    pub clipped: usize,
    /// Number of integrals K̃ computed. If there are fewer than points, the values K̃_i were
    /// interpolated with relative error below 1e-10.
    pub integrals: usize,
    /// Number of operations of the density estimate: kernel values for all pairs, nodes bounded
    /// plus points summed for the tree, or multiplications for the grid.
    pub operations: u64,
}

impl<T: Scalar> SpectralScores<T> {
    /// q_i = l̃_i/Σ_j l̃_j, the probabilities of drawing landmarks; the sum is in `f64`.
    pub fn sampling_probabilities(&self) -> Vec<T> {
        let sum = self.d_eff();
        self.scores.iter().map(|l| T::lit(l.f64() / sum)).collect()
    }

    /// Σ_i l̃_i, an estimate of the effective dimension d_eff.
    pub fn d_eff(&self) -> f64 {
        self.scores.iter().map(|l| l.f64()).sum()
    }

    /// The limit p → 0 at every point: K̃ = k(0)/λ, all scores clipped.
    pub(super) fn uniform(n: usize, bound: f64, limit: f64, refusal: Refusal) -> Self {
        let report = SpectralReport {
            refusal: Some(refusal),
            method: None,
            bandwidth: None,
            dimension: refusal.dimension,
            min_density: 0.0,
            max_density: 0.0,
            guarded: 0,
            threshold: None,
            clipped: n,
            integrals: 0,
            operations: 0,
        };
        SpectralScores { scores: vec![T::lit(bound); n], rescaled: vec![T::lit(limit); n], report }
    }
}

impl fmt::Display for SpectralReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(refusal) = &self.refusal {
            return write!(f, "UNIFORM SCORES, no estimate of leverage: {refusal}");
        }
        match (self.method, self.bandwidth) {
            (Some(method), Some(h)) => write!(f, "density by {method:?}, bandwidth {h:.3}, ")?,
            _ => write!(f, "density given, ")?,
        }
        let SpectralReport { dimension, min_density, max_density, guarded, clipped, .. } = self;
        write!(
            f,
            "{dimension} dimensions, from {min_density:.3e} to {max_density:.3e}; {guarded} \
             guarded, {clipped} clipped"
        )
    }
}
