//! The effective sample size of a correlated series.

use faer::ColRef;
use nystrom_linalg_core::{Result, ops, validate};

/// The integrated autocorrelation time and the effective sample size of a series, such as ln det
/// K_YY along a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EffectiveSize {
    /// τ = 1 + 2 Σ_t ρ_t, in steps.
    pub time: f64,
    /// length/τ, the effective sample size: the mean of the series has the variance of the mean of
    /// this many independent draws.
    pub size: f64,
    /// The lag at which the sum of autocorrelations was cut.
    pub cut: usize,
}

impl EffectiveSize {
    /// The effective size of a series from a reversible chain. Autocorrelations are summed in pairs
    /// of neighbouring lags, each pair limited to the one before it, up to the first pair that is
    /// not positive. O(length·cut) time.
    ///
    /// A short series overestimates the size, because it does not show the states that the chain
    /// has not visited. A constant series has no estimate; its size is set to 1.
    ///
    /// # Source
    /// The initial monotone sequence estimator of C. J. Geyer, *Practical Markov chain Monte
    /// Carlo*, Statistical Science 7 (1992).
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty),
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the position of the value.
    ///
    /// ```
    /// use nystrom_dpp::EffectiveSize;
    /// let alternating: Vec<f64> = (0..1000).map(|t| (t % 2) as f64).collect();
    /// assert!(EffectiveSize::of(&alternating)?.size > 900.0);
    /// let trend: Vec<f64> = (0..1000).map(|t| t as f64).collect();
    /// assert!(EffectiveSize::of(&trend)?.size < 5.0);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn of(series: &[f64]) -> Result<Self> {
        let n = series.len();
        validate::not_empty("series", n)?;
        validate::finite("series", ColRef::from_slice(series).as_mat())?;
        let mean = series.iter().sum::<f64>() / n as f64;
        let centred: Vec<f64> = series.iter().map(|x| x - mean).collect();
        let covariance = |lag: usize| ops::dot(&centred, &centred[lag..]) / n as f64;
        let variance = covariance(0);
        if !(variance > 0.0) {
            return Ok(EffectiveSize { time: n as f64, size: 1.0, cut: 0 });
        }
        let (mut sum, mut least, mut lag) = (0.0, f64::INFINITY, 0);
        while lag + 1 < n {
            let pair = covariance(lag) + covariance(lag + 1);
            if pair <= 0.0 {
                break;
            }
            least = pair.min(least);
            sum += least;
            lag += 2;
        }
        let time = (2.0 * sum / variance - 1.0).max(1.0);
        Ok(EffectiveSize { time, size: n as f64 / time, cut: lag })
    }
}
