//! The kernels that a device evaluates, and their formulas.

use crate::symbol::{number, statements};
use crate::{GpuError, Result};
use nystrom_kernels::{
    Ard, Exponential, ExponentialPower, InversePower, Isotropic, Kernel, LaplacianL1,
    MaternFiveHalves, MaternNu, MaternThreeHalves, PowerExponentialL1, Profile, SquaredExponential,
};

/// The sum over coordinates that a formula is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Σ (x_k − z_k)².
    SquaredDistance,
    /// Σ |x_k − z_k|.
    Manhattan,
}

/// A kernel κ(Σ_k m(x_k/ℓ_k, z_k/ℓ_k)) as a device evaluates it. Made by
/// [`DeviceKernel::formula`].
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    pub(crate) metric: Metric,
    /// The statements of WGSL that return κ(s0).
    pub(crate) profile: String,
    /// ℓ for all coordinates, or one for each.
    pub(crate) length_scales: Vec<f64>,
}

/// A kernel that a device evaluates.
///
/// A kernel on linear images Ax of the points, such as one with a learned metric, is one of these
/// kernels on the points Ax: pass those.
pub trait DeviceKernel: Kernel<f64> {
    /// The formula.
    ///
    /// # Errors
    /// [`GpuError::Unsupported`] for kernels that are computed by special functions.
    fn formula(&self) -> Result<Formula>;
}

/// A profile κ that a device evaluates.
///
/// By default its WGSL is derived from the one definition of the formula, [`Profile::at`], unless
/// that calls [`Lane::map`](nystrom_kernels::Lane::map). So any profile of a user needs one line:
///
/// ```
/// use nystrom_gpu::{DeviceKernel, DeviceProfile};
/// use nystrom_kernels::{Isotropic, Lane, Profile};
/// /// The inverse multiquadric 1/√(1 + r²/ℓ²).
/// struct InverseMultiquadric;
/// impl Profile for InverseMultiquadric {
///     fn at<V: Lane>(&self, s: V) -> V {
///         s.lit(1.0) / (s + 1.0).sqrt()
///     }
/// }
/// impl DeviceProfile for InverseMultiquadric {}
/// assert!(Isotropic::with_profile(InverseMultiquadric, 2.0)?.formula().is_ok());
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub trait DeviceProfile: Profile + Sized {
    /// The statements of WGSL that return κ(s0) for `s0: vec4<f32>`; `None` if there are none.
    fn wgsl(&self) -> Option<String> {
        statements(self)
    }
}

impl DeviceProfile for SquaredExponential {}
impl DeviceProfile for Exponential {}
impl DeviceProfile for MaternThreeHalves {}
impl DeviceProfile for MaternFiveHalves {}
/// ν = 1/2, 3/2 and 5/2 only.
impl DeviceProfile for MaternNu {}
impl DeviceProfile for ExponentialPower {}
impl DeviceProfile for InversePower {
    /// (1 + s/(2α))^{−α} = exp(−α ln(1 + s/(2α))); for α ≠ 1 the CPU calls `ln_1p` of the standard
    /// library.
    fn wgsl(&self) -> Option<String> {
        let (alpha, per_s) = (number(-self.alpha()), number(0.5 / self.alpha()));
        let u = format!("min(s0 * {per_s}, vec4<f32>(3e38))");
        statements(self).or(Some(format!("    return exp({alpha} * ln_1p({u}));\n")))
    }
}

impl<P: DeviceProfile> DeviceKernel for Isotropic<P> {
    fn formula(&self) -> Result<Formula> {
        isotropic(self.profile(), vec![self.length_scale()])
    }
}

impl<P: DeviceProfile> DeviceKernel for Ard<P> {
    fn formula(&self) -> Result<Formula> {
        isotropic(self.profile(), self.length_scales().to_vec())
    }
}

impl DeviceKernel for LaplacianL1 {
    fn formula(&self) -> Result<Formula> {
        let profile = "    return exp(-s0);\n".into();
        Ok(Formula { metric: Metric::Manhattan, profile, length_scales: vec![self.length_scale()] })
    }
}

impl DeviceKernel for PowerExponentialL1 {
    fn formula(&self) -> Result<Formula> {
        let power = self.power().max(f64::from(f32::MIN_POSITIVE));
        let profile = format!("    return exp(-power(s0, {}));\n", number(power));
        Ok(Formula { metric: Metric::Manhattan, profile, length_scales: vec![self.length_scale()] })
    }
}

impl<K: DeviceKernel> DeviceKernel for &K {
    fn formula(&self) -> Result<Formula> {
        (**self).formula()
    }
}

fn isotropic(profile: &impl DeviceProfile, length_scales: Vec<f64>) -> Result<Formula> {
    let profile = profile.wgsl().ok_or(GpuError::Unsupported {
        what: "a kernel that is computed by a special function",
        remedy: "take nu = 0.5, 1.5 or 2.5, or compute on the CPU",
    })?;
    Ok(Formula { metric: Metric::SquaredDistance, profile, length_scales })
}

impl Formula {
    /// ℓ_k.
    pub(crate) fn length_scale(&self, k: usize) -> f64 {
        self.length_scales[k % self.length_scales.len()]
    }
}
