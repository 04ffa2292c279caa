//! Spectral densities of stationary kernels, as functions of ordinary (not angular) frequency.
//!
//! By Bochner's theorem a continuous stationary kernel k(x, y) = κ(x − y) is positive semi-definite
//! exactly if κ(u) = ∫ e^{2πi u·s} dm(s) for a measure m ≥ 0. Here m has a density m(s) on ℝ^d,
//! with ∫ m(s) ds = κ(0). The functions return ln m(s), because m(s) soon overflows or underflows
//! `f64` as d or ‖s‖ grows.

use crate::{
    Ard, Exponential, InversePower, Isotropic, LaplacianL1, MaternFiveHalves, MaternNu,
    MaternThreeHalves, Profile, Scaled, SquaredExponential, Sum, bessel,
};
use libm::lgamma as ln_gamma;
use std::f64::consts::{LN_2, PI};

/// A stationary kernel with a spectral density on ℝ^d.
///
/// ```
/// use nystrom_kernels::{Gaussian, SpectralDensity};
/// // m(s) = √(2π) exp(−2π²s²) for d = 1, ℓ = 1
/// let at_zero = Gaussian::new(1.0)?.ln_spectral_density(&[0.0]);
/// assert!((at_zero - (2.0 * std::f64::consts::PI).sqrt().ln()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub trait SpectralDensity {
    /// ln m(s) at the frequency vector `s` (d entries); +∞ where the density has a pole.
    fn ln_spectral_density(&self, s: &[f64]) -> f64;
}

/// A stationary kernel whose spectral density depends only on ‖s‖.
pub trait RadialSpectralDensity: SpectralDensity {
    /// ln m(s) on ℝ^d at ‖s‖ = `norm`.
    fn ln_radial_spectral_density(&self, norm: f64, d: usize) -> f64;
}

/// A [`Profile`] κ for which the spectral density of the kernel κ(‖x − y‖²) is known.
pub trait SpectralProfile: Profile {
    /// ln m(s) on ℝ^d at ‖s‖ = `norm`, for length scale ℓ = 1.
    fn ln_density(&self, norm: f64, d: usize) -> f64;
}

impl SpectralProfile for SquaredExponential {
    /// m(s) = (2π)^{d/2} exp(−2π²‖s‖²).
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        0.5 * d as f64 * (2.0 * PI).ln() - 2.0 * (PI * norm).powi(2)
    }
}

/// ln m(s) of the Matérn kernel with ℓ = 1:
/// m(s) = 2^d π^{d/2} Γ(ν + d/2)/Γ(ν) a^{2ν} (a² + 4π²‖s‖²)^{−ν−d/2}, a = √(2ν).
fn ln_matern(nu: f64, norm: f64, d: usize) -> f64 {
    let (half_d, a) = (0.5 * d as f64, (2.0 * nu).sqrt());
    let alpha = nu + half_d;
    let angular = 2.0 * PI * norm / a;
    // a^{2ν} (a² + 4π²‖s‖²)^{−α} = a^{−d} (1 + (2π‖s‖/a)²)^{−α}, α = ν + d/2, does not overflow
    let ln_base = ln_one_plus_square(angular);
    2.0 * half_d * (LN_2 - a.ln()) + half_d * PI.ln() + ln_gamma(alpha)
        - ln_gamma(nu)
        - alpha * ln_base
}

/// ln(1 + x²) for any x ≥ 0, also where x² overflows.
fn ln_one_plus_square(x: f64) -> f64 {
    if x < 1e8 { (x * x).ln_1p() } else { 2.0 * x.ln() }
}

impl SpectralProfile for Exponential {
    /// Matérn with ν = 1/2.
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        ln_matern(0.5, norm, d)
    }
}

impl SpectralProfile for MaternThreeHalves {
    /// Matérn with ν = 3/2.
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        ln_matern(1.5, norm, d)
    }
}

impl SpectralProfile for MaternFiveHalves {
    /// Matérn with ν = 5/2.
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        ln_matern(2.5, norm, d)
    }
}

impl SpectralProfile for MaternNu {
    /// m(s) = 2^d π^{d/2} Γ(ν + d/2)/Γ(ν) a^{2ν} (a² + 4π²‖s‖²)^{−ν−d/2}, a = √(2ν).
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        ln_matern(self.nu(), norm, d)
    }
}

impl SpectralProfile for InversePower {
    /// m(s) = 2 (πc²)^{d/2}/Γ(α) (πc‖s‖)^{α−d/2} K_{α−d/2}(2πc‖s‖) with c² = 2α, a mixture of
    /// Gaussian densities. It is unbounded at s = 0 if α ≤ d/2.
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        let (half_d, alpha) = (0.5 * d as f64, self.alpha());
        // 2α may overflow
        let c = if alpha > 1.0 { 2.0 * (0.5 * alpha).sqrt() } else { (2.0 * alpha).sqrt() };
        let (order, z) = (alpha - half_d, 2.0 * PI * c * norm.abs());
        if z == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        if order > bessel::LARGE_ORDER {
            return ln_nearly_gaussian(alpha, half_d, z);
        }
        let front = half_d * (PI * c * c).ln() - ln_gamma(alpha);
        match (z == 0.0, order > 0.0) {
            (true, true) => front + ln_gamma(order),
            (true, false) => f64::INFINITY,
            _ => front + LN_2 + order * (0.5 * z).ln() + bessel::ln_scaled_k(order, z) - z,
        }
    }
}

/// ln m(s) of [`InversePower`] for an order ν = α − b above 100, with b = d/2 and z = 2πc‖s‖. Terms
/// of size α ln α are cancelled analytically.
///
/// With h = √(z² + ν²), K_ν(z) is ½ e^{ν asinh(ν/z) − h} times an integral of size √(2π/h)
/// ([`bessel::around_peak`]); ln Γ is taken from Stirling's series.
fn ln_nearly_gaussian(alpha: f64, b: f64, z: f64) -> f64 {
    let nu = alpha - b;
    let h = z.hypot(nu);
    let q = 0.5 * (z / nu) * (z / (h + nu)); // (h − ν)/(2ν)
    let stirling = 1.0 / (12.0 * alpha) - 1.0 / (360.0 * alpha.powi(3));
    let at_zero = b * (1.0 + (2.0 * PI).ln()) + (nu - 0.5) * (-b / alpha).ln_1p() - stirling;
    at_zero
        + nu * (q.ln_1p() - 2.0 * q)
        + 0.5 * (nu / (2.0 * PI)).ln()
        + bessel::around_peak(nu, h).ln()
}

impl<P: SpectralProfile> RadialSpectralDensity for Isotropic<P> {
    fn ln_radial_spectral_density(&self, norm: f64, d: usize) -> f64 {
        let length_scale = self.length_scale();
        d as f64 * length_scale.ln() + self.profile().ln_density(length_scale * norm, d)
    }
}

impl<P: SpectralProfile> SpectralDensity for Isotropic<P> {
    fn ln_spectral_density(&self, s: &[f64]) -> f64 {
        self.ln_radial_spectral_density(norm(s.iter().copied()), s.len())
    }
}

impl<P: SpectralProfile> SpectralDensity for Ard<P> {
    /// # Panics
    /// If `s` does not have one entry per length scale.
    fn ln_spectral_density(&self, s: &[f64]) -> f64 {
        assert_eq!(s.len(), self.length_scales().len(), "a frequency per length scale");
        let scaled = norm(s.iter().zip(self.length_scales()).map(|(s, l)| s * l));
        self.length_scales().iter().map(|l| l.ln()).sum::<f64>()
            + self.profile().ln_density(scaled, s.len())
    }
}

impl SpectralDensity for LaplacianL1 {
    /// m(s) is the product over coordinates of the Cauchy densities 2ℓ/(1 + (2πℓs_k)²).
    fn ln_spectral_density(&self, s: &[f64]) -> f64 {
        let length_scale = self.length_scale();
        let each = |s: &f64| {
            LN_2 + length_scale.ln() - ln_one_plus_square((2.0 * PI * (length_scale * s)).abs())
        };
        s.iter().map(each).sum()
    }
}

impl<K: SpectralDensity> SpectralDensity for Scaled<K> {
    fn ln_spectral_density(&self, s: &[f64]) -> f64 {
        self.factor().ln() + self.kernel().ln_spectral_density(s)
    }
}

impl<K: RadialSpectralDensity> RadialSpectralDensity for Scaled<K> {
    fn ln_radial_spectral_density(&self, norm: f64, d: usize) -> f64 {
        self.factor().ln() + self.kernel().ln_radial_spectral_density(norm, d)
    }
}

impl<A: SpectralDensity, B: SpectralDensity> SpectralDensity for Sum<A, B> {
    fn ln_spectral_density(&self, s: &[f64]) -> f64 {
        ln_add(self.first().ln_spectral_density(s), self.second().ln_spectral_density(s))
    }
}

impl<A: RadialSpectralDensity, B: RadialSpectralDensity> RadialSpectralDensity for Sum<A, B> {
    fn ln_radial_spectral_density(&self, norm: f64, d: usize) -> f64 {
        ln_add(
            self.first().ln_radial_spectral_density(norm, d),
            self.second().ln_radial_spectral_density(norm, d),
        )
    }
}

fn norm(entries: impl Iterator<Item = f64>) -> f64 {
    entries.fold(0.0, f64::hypot)
}

/// ln(e^a + e^b).
fn ln_add(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let (small, large) = (a.min(b), a.max(b));
    if large.is_infinite() { large } else { large + (small - large).exp().ln_1p() }
}
