//! The power exponential kernel.

use crate::load::checked_on_load;
use crate::{Exponential, Isotropic, Lane, Profile};
use nystrom_linalg_core::{Result, validate};

/// The profile κ(s) = exp(−s^{q/2}), 0 < q ≤ 2.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "StoredExponent"))]
pub struct ExponentialPower {
    power: f64,
}

checked_on_load! {
    StoredExponent => ExponentialPower { power: f64 }, |s| ExponentialPower::new(s.power)
}

impl ExponentialPower {
    fn new(power: f64) -> Result<Self> {
        validate::require(
            power > 0.0 && power <= 2.0,
            "power",
            power,
            "above 0 and at most 2, for the kernel to be psd",
        )?;
        Ok(ExponentialPower { power })
    }

    /// q/2, or the smallest normal `f32` if that is larger; s^{q/2} rounds to 1 for such small q.
    fn half(&self) -> f64 {
        (0.5 * self.power).max(f64::from(f32::MIN_POSITIVE))
    }

    /// The power q.
    pub fn power(&self) -> f64 {
        self.power
    }
}

impl Profile for ExponentialPower {
    #[inline(always)]
    fn at<V: Lane>(&self, s: V) -> V {
        if self.power == 1.0 {
            Exponential.at(s)
        } else if self.power == 2.0 {
            s.exp_neg()
        } else {
            s.powf(self.half()).exp_neg()
        }
    }

    /// −(q/2) s^{q/2 − 1} e^{−s^{q/2}}
    #[inline(always)]
    fn slope<V: Lane>(&self, s: V) -> V {
        if self.power == 1.0 {
            return Exponential.slope(s);
        } else if self.power == 2.0 {
            return -s.exp_neg();
        }
        let half = self.half();
        let ln = s.ln();
        (ln * (half - 1.0)).exp() * (ln * half).exp().exp_neg() * -half
    }
}

#[cfg(feature = "serde")]
impl crate::SavedProfile for ExponentialPower {
    const NAME: &'static str = "power-exponential";
}

/// The power exponential kernel exp(−(‖x − y‖/ℓ)^q), 0 < q ≤ 2. Small q is for very rough
/// functions; q = 1 is the exponential kernel, and q = 2 is exp(−‖x − y‖²/ℓ²).
///
/// The kernel is positive semi-definite in every dimension for exactly these q (I. Schoenberg,
/// *Metric spaces and positive definite functions*, 1938). For q < 2 its sample paths are nowhere
/// differentiable. A value costs two exponentials and a logarithm in vector registers, for q = 1
/// and q = 2 one exponential.
///
/// ```
/// use nystrom_kernels::{Kernel, Points, PowerExponential};
/// let k = PowerExponential::new(0.5, 4.0)?.gram(Points::from_slice(&[0.0, 1.0_f64]));
/// assert!((k[(0, 1)] - (-0.5_f64).exp()).abs() < 1e-15);
/// assert!(PowerExponential::new(2.5, 4.0).is_err());
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type PowerExponential = Isotropic<ExponentialPower>;

impl PowerExponential {
    /// exp(−(‖x − y‖/ℓ)^q) with `power` q and length scale ℓ.
    ///
    /// # Errors
    /// `InvalidParameter` unless 0 < q ≤ 2, and ℓ is positive and finite.
    pub fn new(power: f64, length_scale: f64) -> Result<Self> {
        Self::with_profile(ExponentialPower::new(power)?, length_scale)
    }
}
