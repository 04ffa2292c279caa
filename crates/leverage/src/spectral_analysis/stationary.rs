//! The interface of stationary kernels for spectral analysis.

use nystrom_kernels::{
    Ard, Exponential, InversePower, Isotropic, MaternFiveHalves, MaternNu, MaternThreeHalves,
    RadialSpectralDensity, Scaled, SpectralProfile, SquaredExponential, Sum,
};
use nystrom_linalg_core::{Result, validate};
use std::fmt;
use std::sync::Arc;

/// The families for which K̃_λ has a closed form.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum StationaryFamily {
    /// Matérn with smoothness ν and inverse length scale a: 2^{1−ν}/Γ(ν) (ar)^ν K_ν(ar), up to a
    /// constant factor.
    Matern {
        /// ν, the smoothness.
        nu: f64,
        /// a, the factor of the distance r.
        a: f64,
    },
    /// Gaussian: exp(−‖u‖²/(2σ²)), up to a constant factor.
    Gaussian {
        /// σ, the length scale.
        sigma: f64,
    },
    /// Any other kernel: K̃_λ is computed by quadrature.
    Other,
}

/// A stationary kernel k(x − y) whose spectral density depends only on the norm of the frequency,
/// in coordinates that may first be divided by a length scale each.
///
/// Implemented for the Matérn, Gaussian and rational quadratic kernels of `nystrom-kernels`,
/// isotropic or with one length scale per coordinate, their sums and multiples. For other spectral
/// densities see [`FromSpectralDensity`]. Other kernels do not compile:
///
/// ```compile_fail,E0277
/// use nystrom_kernels::{Linear, Points};
/// use nystrom_linalg_core::Ridge;
/// nystrom_leverage::SpectralAnalysis::default().scores(&Linear::<f64>::new(),
///     Points::from_slice(&[0.1, 0.2]), Ridge::PerSample(0.1));
/// ```
pub trait Stationary: Sync {
    /// ln m(s) on ℝ^d at ‖s‖ = `norm` in ordinary frequency, k(u) = ∫ m(s) e^{2πi u·s} ds; in the
    /// divided coordinates if there are [`length_scales`](Self::length_scales).
    fn ln_density(&self, norm: f64, d: usize) -> f64;

    /// k(0) = ∫ m(s) ds.
    fn variance(&self) -> f64 {
        1.0
    }

    /// The family, if K̃_λ has a closed form. If there are [`length_scales`](Self::length_scales),
    /// its parameters are for the divided coordinates.
    fn family(&self) -> StationaryFamily {
        StationaryFamily::Other
    }

    /// The length scales by which the coordinates are divided first, one per coordinate; `None` if
    /// coordinates are not divided.
    fn length_scales(&self) -> Option<&[f64]> {
        None
    }
}

/// References, boxes and `Arc`s of stationary kernels are stationary kernels: every call is
/// forwarded.
macro_rules! forward {
    ($($pointer:ty $(: $bound:ident)?),*) => {$(
        impl<S: Stationary $(+ $bound)? + ?Sized> Stationary for $pointer {
            fn ln_density(&self, norm: f64, d: usize) -> f64 {
                (**self).ln_density(norm, d)
            }
            fn variance(&self) -> f64 {
                (**self).variance()
            }
            fn family(&self) -> StationaryFamily {
                (**self).family()
            }
            fn length_scales(&self) -> Option<&[f64]> {
                (**self).length_scales()
            }
        }
    )*};
}
forward!(&S, Box<S>, Arc<S>: Send);

impl fmt::Debug for dyn Stationary + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stationary")
    }
}

/// The family of a profile κ(‖u‖²), at length scale 1.
pub trait ProfileFamily: SpectralProfile {
    /// The family; [`StationaryFamily::Other`] unless overridden.
    fn family(&self) -> StationaryFamily {
        StationaryFamily::Other
    }
}

fn matern(nu: f64) -> StationaryFamily {
    StationaryFamily::Matern { nu, a: (2.0 * nu).sqrt() }
}

impl ProfileFamily for Exponential {
    fn family(&self) -> StationaryFamily {
        matern(0.5)
    }
}

impl ProfileFamily for MaternThreeHalves {
    fn family(&self) -> StationaryFamily {
        matern(1.5)
    }
}

impl ProfileFamily for MaternFiveHalves {
    fn family(&self) -> StationaryFamily {
        matern(2.5)
    }
}

impl ProfileFamily for MaternNu {
    fn family(&self) -> StationaryFamily {
        matern(self.nu())
    }
}

impl ProfileFamily for SquaredExponential {
    fn family(&self) -> StationaryFamily {
        StationaryFamily::Gaussian { sigma: 1.0 }
    }
}

impl ProfileFamily for InversePower {}

impl<P: ProfileFamily> Stationary for Isotropic<P> {
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        self.ln_radial_spectral_density(norm, d)
    }

    fn family(&self) -> StationaryFamily {
        match self.profile().family() {
            StationaryFamily::Matern { nu, a } => {
                StationaryFamily::Matern { nu, a: a / self.length_scale() }
            }
            StationaryFamily::Gaussian { sigma } => {
                StationaryFamily::Gaussian { sigma: sigma * self.length_scale() }
            }
            StationaryFamily::Other => StationaryFamily::Other,
        }
    }
}

impl<P: ProfileFamily> Stationary for Ard<P> {
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        self.profile().ln_density(norm, d)
    }

    fn family(&self) -> StationaryFamily {
        self.profile().family()
    }

    fn length_scales(&self) -> Option<&[f64]> {
        Some(Ard::length_scales(self))
    }
}

impl<K: Stationary> Stationary for Scaled<K> {
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        self.factor().ln() + self.kernel().ln_density(norm, d)
    }

    fn variance(&self) -> f64 {
        self.factor() * self.kernel().variance()
    }

    fn family(&self) -> StationaryFamily {
        self.kernel().family()
    }

    fn length_scales(&self) -> Option<&[f64]> {
        self.kernel().length_scales()
    }
}

/// The sum of two kernels without length scales per coordinate.
impl<A: Stationary + RadialSpectralDensity, B: Stationary + RadialSpectralDensity> Stationary
    for Sum<A, B>
{
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        self.ln_radial_spectral_density(norm, d)
    }

    fn variance(&self) -> f64 {
        self.first().variance() + self.second().variance()
    }
}

/// A stationary kernel given by the logarithm of its radial spectral density.
///
/// ```
/// use nystrom_kernels::Points;
/// use nystrom_leverage::{Density, FromSpectralDensity, SpectralAnalysis};
/// use nystrom_linalg_core::Ridge;
/// // On the real line k(u) = sin(2πu)/(2πu) has density 1/2 for |s| < 1,
/// // nothing beyond: K̃ = 2/(p + 2λ).
/// let ln_density =
///     |norm: f64, _d: usize| if norm < 1.0 { 0.5_f64.ln() } else { f64::NEG_INFINITY };
/// let band_limited = FromSpectralDensity::new(1.0, ln_density)?;
/// let x = [0.0, 0.25, 0.5, 0.75];
/// let analysis =
///     SpectralAnalysis { density: Density::Given(&[1.0_f64; 4]), ..Default::default() };
/// let found = analysis.scores(&band_limited, Points::from_slice(&x), Ridge::PerSample(1.0))?;
/// assert!((found.rescaled[0] - 2.0 / 3.0).abs() < 1e-9);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FromSpectralDensity<F> {
    variance: f64,
    ln_density: F,
}

impl<F: Fn(f64, usize) -> f64 + Sync> FromSpectralDensity<F> {
    /// The kernel with k(0) = `variance` and ln m(s) = `ln_density(‖s‖, d)`, which is −∞ where
    /// m = 0.
    ///
    /// The caller must ensure ∫ m(s) ds = k(0).
    ///
    /// # Errors
    /// `InvalidParameter` unless `variance` is positive and finite.
    pub fn new(variance: f64, ln_density: F) -> Result<Self> {
        validate::positive("variance k(0)", variance)?;
        Ok(FromSpectralDensity { variance, ln_density })
    }
}

impl<F: Fn(f64, usize) -> f64 + Sync> Stationary for FromSpectralDensity<F> {
    fn ln_density(&self, norm: f64, d: usize) -> f64 {
        (self.ln_density)(norm, d)
    }

    fn variance(&self) -> f64 {
        self.variance
    }
}
