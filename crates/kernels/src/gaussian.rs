//! The Gaussian kernel.

use crate::isotropic::scale_from;
use crate::{Isotropic, Lane, Profile};
use nystrom_linalg_core::{Result, validate};

/// The profile κ(s) = exp(−s/2).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SquaredExponential;

impl Profile for SquaredExponential {
    #[inline(always)]
    fn at<V: Lane>(&self, s: V) -> V {
        (s * 0.5).exp_neg()
    }

    /// −½ e^{−s/2}
    #[inline(always)]
    fn slope<V: Lane>(&self, s: V) -> V {
        (s * 0.5).exp_neg() * -0.5
    }
}

#[cfg(feature = "serde")]
impl crate::SavedProfile for SquaredExponential {
    const NAME: &'static str = "gaussian";
}

/// The Gaussian (squared exponential, RBF) kernel exp(−‖x − y‖²/(2ℓ²)).
///
/// Constructors for other parametrisations: [`from_gamma`](Gaussian::from_gamma) for
/// exp(−γ‖x − y‖²) and [`from_squared_bandwidth`](Gaussian::from_squared_bandwidth) for
/// exp(−‖x − y‖²/b).
///
/// ```
/// use nystrom_kernels::{Gaussian, Kernel, Points};
/// let x = [0.0, 1.0_f64];
/// let k = Gaussian::new(2.0)?.gram(Points::from_slice(&x));
/// assert!((k[(0, 1)] - (-1.0_f64 / 8.0).exp()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type Gaussian = Isotropic<SquaredExponential>;

impl Gaussian {
    /// exp(−‖x − y‖²/(2ℓ²)).
    ///
    /// # Errors
    /// `InvalidParameter` unless ℓ is positive and finite.
    pub fn new(length_scale: f64) -> Result<Self> {
        Self::with_profile(SquaredExponential, length_scale)
    }

    /// exp(−γ‖x − y‖²), as in scikit-learn's `rbf_kernel`: ℓ = 1/√(2γ).
    ///
    /// # Errors
    /// `InvalidParameter` unless γ is positive and finite.
    pub fn from_gamma(gamma: f64) -> Result<Self> {
        validate::positive("gamma", gamma)?;
        // 2γ may overflow
        let root = if gamma > 1.0 { 2.0 * (0.5 * gamma).sqrt() } else { (2.0 * gamma).sqrt() };
        Self::new(root.recip())
    }

    /// exp(−‖x − y‖²/b): ℓ = √(b/2).
    ///
    /// # Errors
    /// `InvalidParameter` unless b is positive and finite.
    pub fn from_squared_bandwidth(b: f64) -> Result<Self> {
        validate::positive("squared bandwidth", b)?;
        Self::new(scale_from("squared bandwidth", b, (0.5 * b).sqrt())?)
    }
}
