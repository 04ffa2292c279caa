//! A path of ridges from a state alone.

use crate::KrrModel;
use crate::path::{Family, smallest};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar};
use std::sync::Arc;

/// Errors below this multiple of ε are rounding.
pub(super) const SAFETY: f64 = 10.0;

/// What a state knows about the fit at one ridge. Errors are means of squares over samples
/// (weighted) and targets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StatePoint<T> {
    /// The ridge as it was given.
    pub ridge: Ridge<T>,
    /// nλ as solved with: the given one, or the smallest that rounding errors leave meaningful if
    /// that is larger.
    pub mu: f64,
    /// d_eff = tr H, the constant (if one is fitted) counted as 1.
    pub d_eff: f64,
    /// Mean square of the residuals y_i − f(x_i), a difference of sums.
    pub training: f64,
    /// The level below which `training` and `gcv` are rounding errors. There a second pass knows:
    /// [`StatePath::errors`].
    pub rounding: f64,
    /// Generalised cross-validation, training/(1 − d_eff/n)².
    pub gcv: f64,
}

/// The fits at every ridge from a state, without a second pass over the rows.
#[derive(Debug)]
#[must_use]
pub struct StatePath<K, T> {
    /// One point per ridge, in the order given.
    pub points: Vec<StatePoint<T>>,
    pub(super) family: Arc<Family<K, T>>,
    /// What was subtracted from the targets, if a constant is fitted.
    pub(super) shift: Option<Vec<f64>>,
    /// Of the state.
    pub(super) fingerprint: u64,
}

impl<T: Scalar, K: Kernel<T> + Clone> StatePath<K, T> {
    /// The point with the smallest generalised cross-validation error (the first of equals).
    #[must_use]
    pub fn best_by_gcv(&self) -> &StatePoint<T> {
        smallest(&self.points, |point| point.gcv)
    }

    /// The model at any ridge, on the path or not. m²t flops.
    ///
    /// # Errors
    /// Those of [`Ridge::absolute`];
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) if coefficients overflow.
    pub fn model_at(&self, ridge: Ridge<T>) -> Result<KrrModel<K, T>> {
        self.family.model_at(self.family.spectrum.mu(ridge)?)
    }
}

/// The residual sums of squares of all targets at μ, and their rounding level. `squares` are those
/// of the targets, centred if a constant is fitted, and `scale` before that.
///
/// With β = (S + μI)⁻¹g the sum is yᵀDy − gᵀβ − μ‖β‖². Products wrong by ε·tr ΦᵀΦ and ε·‖Φᵀy‖ make
/// an error of about ε(‖√wy‖ + √(tr ΦᵀΦ)‖β‖)².
pub(super) fn residuals<K, T>(
    family: &Family<K, T>,
    mu: f64,
    squares: &[f64],
    scale: &[f64],
) -> (f64, f64) {
    let (values, g) = (&family.spectrum.values, &family.spectrum.g);
    let trace: f64 = values.iter().sum();
    let (mut sum, mut level) = (0.0, 0.0);
    for (j, (square, scale)) in squares.iter().zip(scale).enumerate() {
        let of = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
            values.iter().enumerate().map(|(i, s)| term(*s, g[(i, j)].powi(2))).sum()
        };
        let norm2 = of(&|s, g2| g2 / (s + mu).powi(2)); //                        ‖β‖²
        sum += (square - of(&|s, g2| g2 * (s + 2.0 * mu) / (s + mu).powi(2))).max(0.0);
        level += SAFETY * f64::EPSILON * (scale.sqrt() + (trace * norm2).sqrt()).powi(2);
    }
    (sum, level)
}
