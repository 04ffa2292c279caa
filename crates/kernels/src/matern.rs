//! The Matérn family of kernels, with the exponential kernel at ν = 1/2 and the Gaussian kernel as
//! the limit ν → ∞.

use crate::isotropic::scale_from;
use crate::load::checked_on_load;
use crate::{Isotropic, Lane, Profile, bessel};
use nystrom_linalg_core::{Result, validate};

/// The Matérn profile with ν = 1/2: κ(s) = exp(−√s).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Exponential;

/// The Matérn profile with ν = 3/2: κ(s) = (1 + t) e^{−t}, t = √(3s).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MaternThreeHalves;

/// The Matérn profile with ν = 5/2: κ(s) = (1 + t + t²/3) e^{−t}, t = √(5s).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MaternFiveHalves;

/// The Matérn profile with any 0 < ν ≤ 100: κ(s) = 2^{1−ν}/Γ(ν) t^ν K_ν(t), t = √(2νs).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "StoredNu"))]
pub struct MaternNu {
    nu: f64,
}

checked_on_load! { StoredNu => MaternNu { nu: f64 }, |s| MaternNu::new(s.nu) }

/// The names of the profiles in files.
#[cfg(feature = "serde")]
mod saved {
    use super::*;
    use crate::SavedProfile;

    impl SavedProfile for Exponential {
        const NAME: &'static str = "matern-1/2";
    }
    impl SavedProfile for MaternThreeHalves {
        const NAME: &'static str = "matern-3/2";
    }
    impl SavedProfile for MaternFiveHalves {
        const NAME: &'static str = "matern-5/2";
    }
    impl SavedProfile for MaternNu {
        const NAME: &'static str = "matern";
    }
}

/// Upper limit of t²: e^{−t} is 0 there in `f64`, and t² is finite in `f32`. The limit avoids ∞·0
/// when a squared distance overflows.
const MOST_T_SQUARED: f64 = 1e6;

impl Profile for Exponential {
    #[inline(always)]
    fn at<V: Lane>(&self, s: V) -> V {
        s.sqrt().exp_neg()
    }

    /// −e^{−r}/(2r), r = √s; −∞ at 0.
    #[inline(always)]
    fn slope<V: Lane>(&self, s: V) -> V {
        let r = s.sqrt();
        r.exp_neg() * -0.5 / r
    }
}

impl Profile for MaternThreeHalves {
    #[inline(always)]
    fn at<V: Lane>(&self, s: V) -> V {
        let t = (s * 3.0).at_most(MOST_T_SQUARED).sqrt();
        (t + 1.0) * t.exp_neg()
    }

    /// −(3/2) e^{−t}
    #[inline(always)]
    fn slope<V: Lane>(&self, s: V) -> V {
        (s * 3.0).sqrt().exp_neg() * -1.5
    }
}

impl Profile for MaternFiveHalves {
    #[inline(always)]
    fn at<V: Lane>(&self, s: V) -> V {
        let t = (s * 5.0).at_most(MOST_T_SQUARED).sqrt();
        (t * (t * (1.0 / 3.0) + 1.0) + 1.0) * t.exp_neg()
    }

    /// −(5/6)(1 + t) e^{−t}
    #[inline(always)]
    fn slope<V: Lane>(&self, s: V) -> V {
        let t = (s * 5.0).at_most(MOST_T_SQUARED).sqrt();
        (t + 1.0) * t.exp_neg() * (-5.0 / 6.0)
    }
}

impl MaternNu {
    fn new(nu: f64) -> Result<Self> {
        validate::positive("nu", nu)?;
        validate::require(
            nu <= 100.0,
            "nu",
            nu,
            "at most 100; use the Gaussian kernel, the limit of large nu",
        )?;
        Ok(MaternNu { nu })
    }

    /// The smoothness ν.
    pub fn nu(&self) -> f64 {
        self.nu
    }
}

impl Profile for MaternNu {
    #[inline(always)]
    fn at<V: Lane>(&self, s: V) -> V {
        if self.nu == 0.5 {
            Exponential.at(s)
        } else if self.nu == 1.5 {
            MaternThreeHalves.at(s)
        } else if self.nu == 2.5 {
            MaternFiveHalves.at(s)
        } else {
            s.map(|s| bessel::matern(self.nu, (2.0 * self.nu).sqrt() * s.sqrt()))
        }
    }

    /// −ν 2^{1−ν}/Γ(ν) t^{ν−1} K_{ν−1}(t); −∞ at 0 if ν ≤ 1.
    #[inline(always)]
    fn slope<V: Lane>(&self, s: V) -> V {
        if self.nu == 0.5 {
            Exponential.slope(s)
        } else if self.nu == 1.5 {
            MaternThreeHalves.slope(s)
        } else if self.nu == 2.5 {
            MaternFiveHalves.slope(s)
        } else {
            s.map(|s| -self.nu * bessel::matern_rate(self.nu, (2.0 * self.nu).sqrt() * s.sqrt()))
        }
    }
}

/// The exponential kernel exp(−‖x − y‖/ℓ) of the Euclidean distance, the Matérn kernel with
/// ν = 1/2.
///
/// scikit-learn's `laplacian_kernel` is another kernel, [`LaplacianL1`](crate::LaplacianL1).
///
/// ```
/// use nystrom_kernels::{Kernel, LaplacianEuclidean, Points};
/// let k = LaplacianEuclidean::new(2.0)?.gram(Points::from_slice(&[0.0, 1.0_f64]));
/// assert!((k[(0, 1)] - (-0.5_f64).exp()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type LaplacianEuclidean = Isotropic<Exponential>;
/// The Matérn kernel with ν = 1/2: another name of [`LaplacianEuclidean`].
pub type Matern12 = Isotropic<Exponential>;
/// The Matérn kernel with ν = 3/2: (1 + ar) e^{−ar} with r = ‖x − y‖ and a = √3/ℓ.
pub type Matern32 = Isotropic<MaternThreeHalves>;
/// The Matérn kernel with ν = 5/2: (1 + ar + (ar)²/3) e^{−ar} with r = ‖x − y‖ and a = √5/ℓ.
pub type Matern52 = Isotropic<MaternFiveHalves>;
/// The Matérn kernel 2^{1−ν}/Γ(ν) (ar)^ν K_ν(ar) with r = ‖x − y‖ and a = √(2ν)/ℓ, for any
/// smoothness 0 < ν ≤ 100.
///
/// For ν = 1/2, 3/2 and 5/2 the closed forms are used, at full speed. For any other ν a Bessel
/// function is evaluated per entry (relative error below 1e-12), about a hundred times slower.
///
/// ```
/// use nystrom_kernels::{Kernel, Matern, Matern32, Points};
/// let x = [0.0, 1.0_f64];
/// let general = Matern::new(1.5 + 1e-9, 0.7)?.gram(Points::from_slice(&x));
/// let closed = Matern32::new(0.7)?.gram(Points::from_slice(&x));
/// assert!((general[(0, 1)] - closed[(0, 1)]).abs() < 1e-8);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub type Matern = Isotropic<MaternNu>;

macro_rules! half_integer_constructors {
    ($kernel:ty, $profile:expr, $nu:expr) => {
        impl $kernel {
            /// The kernel with length scale ℓ, where a = √(2ν)/ℓ as in scikit-learn.
            ///
            /// # Errors
            /// `InvalidParameter` unless ℓ is positive and finite.
            pub fn new(length_scale: f64) -> Result<Self> {
                Self::with_profile($profile, length_scale)
            }

            /// The kernel with the factor `a` of the distance r: ℓ = √(2ν)/a.
            ///
            /// # Errors
            /// `InvalidParameter` unless `a` and ℓ are positive and finite.
            pub fn from_a(a: f64) -> Result<Self> {
                validate::positive("a", a)?;
                Self::new(scale_from("a", a, (2.0_f64 * $nu).sqrt() / a)?)
            }
        }
    };
}
half_integer_constructors!(LaplacianEuclidean, Exponential, 0.5);
half_integer_constructors!(Matern32, MaternThreeHalves, 1.5);
half_integer_constructors!(Matern52, MaternFiveHalves, 2.5);

impl Matern {
    /// The kernel with smoothness ν and length scale ℓ, where a = √(2ν)/ℓ as in scikit-learn.
    ///
    /// # Errors
    /// `InvalidParameter` unless both are positive and finite and ν ≤ 100 (for larger ν use the
    /// Gaussian kernel).
    pub fn new(nu: f64, length_scale: f64) -> Result<Self> {
        Self::with_profile(MaternNu::new(nu)?, length_scale)
    }

    /// The kernel with smoothness ν and the factor `a` of the distance r: ℓ = √(2ν)/a.
    ///
    /// # Errors
    /// `InvalidParameter` unless ν, `a` and ℓ are positive and finite and ν ≤ 100.
    pub fn from_a(nu: f64, a: f64) -> Result<Self> {
        validate::positive("a", a)?;
        let profile = MaternNu::new(nu)?;
        Self::with_profile(profile, scale_from("a", a, (2.0 * nu).sqrt() / a)?)
    }
}
