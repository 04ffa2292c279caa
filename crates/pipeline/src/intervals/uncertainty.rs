//! Standard deviations of a Gaussian process.

use crate::error::Result;
use crate::kernel::AnyKernel;
use nystrom::faer::Mat;
use nystrom::krr::Posterior;
use nystrom::prelude::*;

/// The posterior variance, and the size of the noise.
///
/// The noise is that under which the residuals on validation rows, which the trial was not fitted
/// to, are most likely: σ² = mean of r²/(1 + v/μ).
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// v, in units in which the noise has variance μ.
    pub(crate) posterior: Posterior<AnyKernel, f64>,
    /// σ² of each target, in its units.
    pub(crate) noise: Vec<f64>,
}

impl Uncertainty {
    /// σ² for residuals r (n × t) at points whose variance is v.
    pub(crate) fn noise(residuals: &Mat<f64>, variance: &[f64], mu: f64) -> Vec<f64> {
        let n = residuals.nrows().max(1) as f64;
        let of = |j: usize| {
            let share = |(i, v): (usize, &f64)| residuals[(i, j)].powi(2) / (1.0 + v / mu);
            variance.iter().enumerate().map(share).sum::<f64>() / n
        };
        (0..residuals.ncols()).map(of).collect()
    }

    /// What no fit would have made of d features and t targets, in words.
    pub(crate) fn problem(&self, d: usize, t: usize) -> Option<String> {
        let sound = self.posterior.centers().dim() == d
            && self.noise.len() == t
            && self.noise.iter().all(|noise| noise.is_finite() && *noise >= 0.0);
        (!sound).then(|| "its standard deviations do not fit its features".into())
    }

    /// σ√(v/μ) and σ√(1 + v/μ) at mapped features.
    pub(crate) fn at(&self, x: Points<'_, f64>) -> Result<[Mat<f64>; 2]> {
        let (v, mu) = (self.posterior.variance(x)?, self.posterior.mu());
        Ok([0.0, 1.0].map(|noise| {
            let entry = |i: usize, j: usize| (self.noise[j] * (noise + v[i] / mu)).sqrt();
            Mat::from_fn(v.len(), self.noise.len(), entry)
        }))
    }
}
