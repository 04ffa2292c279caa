//! The power exponential kernel of the L1 distance.

use crate::Lane;
use crate::load::saved_kernel;
use crate::metric::Manhattan;
use crate::tile::{Formula, formula_kernel};
use nystrom_linalg_core::{Result, validate};

/// The kernel exp(−(‖x − y‖₁/ℓ)^q), 0 < q ≤ 1, for target functions with steps along single
/// features. The smaller q, the rougher the functions; q = 1 is
/// [`LaplacianL1`](crate::LaplacianL1).
///
/// The kernel is positive semi-definite in every dimension, because ‖x − y‖₁ and its powers up to 1
/// are conditionally negative definite (I. Schoenberg, *Metric spaces and positive definite
/// functions*, 1938).
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Kernel, Points, PowerExponentialL1};
/// let x = mat![[0.0, 0.0], [1.0, -3.0_f64]];
/// let k = PowerExponentialL1::new(0.5, 1.0)?.gram(Points::from_rows(x.as_ref()));
/// assert!((k[(0, 1)] - (-2.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerExponentialL1 {
    power: f64,
    length_scale: f64,
}

saved_kernel! {
    [] PowerExponentialL1 = "power-exponential-l1".into(),
    { power: f64, length_scale: f64 } of {},
    |s| PowerExponentialL1::new(s.power, s.length_scale)
}

impl PowerExponentialL1 {
    /// exp(−(‖x − y‖₁/ℓ)^q) with `power` q and length scale ℓ.
    ///
    /// # Errors
    /// `InvalidParameter` unless 0 < q ≤ 1, and ℓ is positive and finite.
    pub fn new(power: f64, length_scale: f64) -> Result<Self> {
        validate::positive("length scale", length_scale)?;
        validate::require(
            power > 0.0 && power <= 1.0,
            "power",
            power,
            "above 0 and at most 1, for the kernel to be psd",
        )?;
        Ok(PowerExponentialL1 { power, length_scale })
    }

    /// The power q.
    pub fn power(&self) -> f64 {
        self.power
    }

    /// The length scale ℓ.
    pub fn length_scale(&self) -> f64 {
        self.length_scale
    }
}

impl Formula for PowerExponentialL1 {
    type Metric = Manhattan;
    const SCALED: bool = true;

    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        if self.power == 1.0 {
            return sum.exp_neg();
        }
        // for q below the smallest normal `f32`, sum^q rounds to 1
        sum.powf(self.power.max(f64::from(f32::MIN_POSITIVE))).exp_neg()
    }

    fn length_scale(&self, _: usize) -> f64 {
        self.length_scale
    }
}

formula_kernel!([] PowerExponentialL1);
