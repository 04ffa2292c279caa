//! The rational quadratic kernel.

use crate::load::checked_on_load;
use crate::{Isotropic, Lane, Profile};
use nystrom_linalg_core::{Result, validate};

/// The profile κ(s) = (1 + s/(2α))^{−α}, α > 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "StoredPower"))]
pub struct InversePower {
    alpha: f64,
}

checked_on_load! { StoredPower => InversePower { alpha: f64 }, |s| InversePower::new(s.alpha) }

impl InversePower {
    fn new(alpha: f64) -> Result<Self> {
        validate::positive("alpha", alpha)?;
        Ok(InversePower { alpha })
    }

    /// The shape α.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl Profile for InversePower {
    #[inline(always)]
    fn at<V: Lane>(&self, s: V) -> V {
        if self.alpha == 1.0 {
            return s.lit(1.0) / (s * 0.5 + 1.0);
        }
        let per_s = (0.5 / self.alpha).min(f64::MAX); // finite, so that per_s·0 = 0 for tiny α
        s.map(|s| (-self.alpha * (per_s * s).ln_1p()).exp())
    }

    /// −½ (1 + s/(2α))^{−α−1}
    #[inline(always)]
    fn slope<V: Lane>(&self, s: V) -> V {
        if self.alpha == 1.0 {
            let k = self.at(s);
            return k * k * -0.5;
        }
        let per_s = (0.5 / self.alpha).min(f64::MAX);
        s.map(|s| -0.5 * (-(self.alpha + 1.0) * (per_s * s).ln_1p()).exp())
    }
}

#[cfg(feature = "serde")]
impl crate::SavedProfile for InversePower {
    const NAME: &'static str = "rational-quadratic";
}

/// The rational quadratic kernel (1 + ‖x − y‖²/(2αℓ²))^{−α}, a mixture of Gaussian kernels over all
/// length scales.
///
/// ```
/// use nystrom_kernels::{Kernel, Points, RationalQuadratic};
/// let k = RationalQuadratic::new(2.0, 1.0)?.gram(Points::from_slice(&[0.0, 2.0_f64]));
/// assert!((k[(0, 1)] - 0.25).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type RationalQuadratic = Isotropic<InversePower>;

impl RationalQuadratic {
    /// The kernel with shape α (heavy tails if small, nearly Gaussian if large) and length scale ℓ.
    ///
    /// # Errors
    /// `InvalidParameter` unless both are positive and finite.
    pub fn new(alpha: f64, length_scale: f64) -> Result<Self> {
        Self::with_profile(InversePower::new(alpha)?, length_scale)
    }
}
