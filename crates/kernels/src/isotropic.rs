//! Isotropic kernels k(x, y) = κ(‖x − y‖²/ℓ²), given by their profile κ.

use crate::dual_numbers::derivative;
use crate::load::saved_kernel;
use crate::metric::SquaredDistance;
use crate::tile::{Formula, Scales, formula_kernel};
use crate::{Lane, Points};
use nystrom_linalg_core::{Result, Scalar, validate};

/// The function κ of an isotropic kernel κ(‖x − y‖²/ℓ²), which must be positive semi-definite in
/// every dimension, with κ(0) = 1.
///
/// The formula is written in terms of [`Lane`] and compiled into the loop that computes distances
/// in registers. Its derivative, for gradients of models, is derived from the same formula.
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Isotropic, Kernel, Lane, Points, Profile};
///
/// /// The inverse multiquadric 1/√(1 + r²/ℓ²).
/// struct InverseMultiquadric;
/// impl Profile for InverseMultiquadric {
///     fn at<V: Lane>(&self, s: V) -> V {
///         s.lit(1.0) / (s + 1.0).sqrt()
///     }
/// }
///
/// let kernel = Isotropic::with_profile(InverseMultiquadric, 2.0)?;
/// let x = mat![[0.0], [2.0_f64]];
/// let k = kernel.gram(Points::from_rows(x.as_ref()));
/// assert_eq!(k[(0, 0)], 1.0);
/// assert!((k[(0, 1)] - 0.5_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub trait Profile: Send + Sync {
    /// κ(s), where s = ‖x − y‖²/ℓ² ≥ 0.
    fn at<V: Lane>(&self, s: V) -> V;

    /// κ′(s), the derivative by s. Where κ has no derivative (at s = 0 for rough kernels), any
    /// value that is not finite; gradients count it as 0.
    ///
    /// The default differentiates [`at`](Profile::at) exactly, operation by operation, except
    /// [`Lane::map`], which is differentiated by central differences, to about ten digits. An
    /// implementation by a closed form is faster.
    #[inline(always)]
    fn slope<V: Lane>(&self, s: V) -> V {
        derivative(s, |s| self.at(s))
    }
}

/// A profile whose isotropic kernels can be saved.
///
/// ```
/// use nystrom_kernels::{Isotropic, Lane, Profile, SavedProfile};
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Cauchy;
/// impl Profile for Cauchy {
///     fn at<V: Lane>(&self, s: V) -> V {
///         s.lit(1.0) / (s + 1.0)
///     }
/// }
/// impl SavedProfile for Cauchy {
///     const NAME: &'static str = "cauchy";
/// }
/// let text = serde_json::to_string(&Isotropic::with_profile(Cauchy, 2.0)?).unwrap();
/// assert_eq!(text, r#"{"cauchy":{"profile":null,"length_scale":2.0}}"#);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[cfg(feature = "serde")]
#[diagnostic::on_unimplemented(
    message = "kernels of the profile `{Self}` cannot be saved or loaded",
    label = "has no name in files",
    note = "derive `Serialize` and `Deserialize` for the profile and implement `SavedProfile`"
)]
pub trait SavedProfile: Profile + serde::Serialize + serde::de::DeserializeOwned {
    /// The name of the isotropic kernel in files; `-ard` is appended for a kernel with one length
    /// scale per coordinate.
    const NAME: &'static str;
}

/// The kernel κ(‖x − y‖²/ℓ²) with [`Profile`] κ and length scale ℓ > 0, on ℝ^d for every d ≥ 1.
///
/// Parameters are `f64`; the same kernel evaluates points of either precision. k(x, x) = κ(0) = 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Isotropic<P> {
    profile: P,
    length_scale: f64,
}

saved_kernel! {
    [P: (crate::SavedProfile)] Isotropic<P> = P::NAME.into(),
    { profile: P, length_scale: f64 } of {}, |s| Isotropic::with_profile(s.profile, s.length_scale)
}

impl<P> Isotropic<P> {
    /// The kernel with this profile and length scale.
    ///
    /// # Errors
    /// `InvalidParameter` unless `length_scale` is positive and finite.
    pub fn with_profile(profile: P, length_scale: f64) -> Result<Self> {
        validate::positive("length scale", length_scale)?;
        Ok(Isotropic { profile, length_scale })
    }

    /// The length scale ℓ.
    pub fn length_scale(&self) -> f64 {
        self.length_scale
    }

    /// The profile κ.
    pub fn profile(&self) -> &P {
        &self.profile
    }
}

impl<P: Profile> Formula for Isotropic<P> {
    type Metric = SquaredDistance;
    const SCALED: bool = true;

    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        self.profile.at(sum)
    }

    #[inline(always)]
    fn slope<V: Lane>(&self, sum: V) -> V {
        self.profile.slope(sum)
    }

    fn length_scale(&self, _: usize) -> f64 {
        self.length_scale
    }
}

formula_kernel!([P: Profile] Isotropic<P>);

/// Checks a length scale ℓ that was computed from the parameter `name` = `value`, and returns ℓ.
pub(crate) fn scale_from(name: &'static str, value: f64, length_scale: f64) -> Result<f64> {
    validate::require(
        length_scale > 0.0 && length_scale.is_finite(),
        name,
        value,
        "such that the length scale computed from it is positive and finite",
    )?;
    Ok(length_scale)
}

/// An isotropic kernel with a length scale ℓ_k for every coordinate (automatic relevance
/// determination): κ(Σ_k (x_k − y_k)²/ℓ_k²).
///
/// Differences are divided by ℓ_k after subtraction, so that points far from the origin keep their
/// digits. This takes one operation per coordinate more than [`Isotropic`].
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Gaussian, Kernel, Points};
/// let kernel = Gaussian::new(1.0)?.with_length_scales(&[1.0, 100.0])?;
/// let x = mat![[0.0, 0.0], [0.0, 1.0_f64]];
/// let k = kernel.gram(Points::from_rows(x.as_ref()));
/// assert!((k[(0, 1)] - (-0.5e-4_f64).exp()).abs() < 1e-15);
/// assert!(<_ as Kernel<f64>>::check_dim(&kernel, 3).is_err());
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ard<P> {
    profile: P,
    length_scales: Vec<f64>,
}

saved_kernel! {
    [P: (crate::SavedProfile)] Ard<P> = format!("{}-ard", P::NAME),
    { profile: P, length_scales: Vec<f64> } of {}, |s| Ard::with_profile(s.profile, s.length_scales)
}

impl<P: Profile> Isotropic<P> {
    /// The kernel with the same profile and with these length scales, one per coordinate, in place
    /// of ℓ.
    ///
    /// # Errors
    /// `Empty` without a length scale, `InvalidParameter` unless all are positive and finite.
    pub fn with_length_scales(self, length_scales: &[f64]) -> Result<Ard<P>> {
        Ard::with_profile(self.profile, length_scales.to_vec())
    }
}

impl<P> Ard<P> {
    fn with_profile(profile: P, length_scales: Vec<f64>) -> Result<Self> {
        validate::not_empty("length scales", length_scales.len())?;
        length_scales.iter().try_for_each(|&l| validate::positive("length scale", l))?;
        Ok(Ard { profile, length_scales })
    }

    /// The length scale ℓ_k of every coordinate k.
    pub fn length_scales(&self) -> &[f64] {
        &self.length_scales
    }

    /// The profile κ.
    pub fn profile(&self) -> &P {
        &self.profile
    }
}

impl<P: Profile> Formula for Ard<P> {
    type Metric = SquaredDistance;
    const SCALED: bool = true;
    const WEIGHTED: bool = true;

    fn scales<T: Scalar>(&self, d: usize) -> Scales<T> {
        assert_eq!(d, self.length_scales.len(), "a length scale for each coordinate");
        Scales::each(&self.length_scales)
    }

    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        self.profile.at(sum)
    }

    #[inline(always)]
    fn slope<V: Lane>(&self, sum: V) -> V {
        self.profile.slope(sum)
    }

    fn length_scale(&self, k: usize) -> f64 {
        self.length_scales[k]
    }

    fn check_values<T: Scalar>(&self, _: Points<'_, T>) -> Result<()> {
        let least = T::min_positive_value().f64();
        let requirement =
            "a normal number in the precision of the points; use f64, or a smaller unit of length";
        let check = |&l: &f64| validate::require(l >= least, "length scale", l, requirement);
        self.length_scales.iter().try_for_each(check)
    }

    fn check_dim(&self, d: usize) -> Result<()> {
        validate::same_size(
            "coordinates of a point (d) against length scales",
            self.length_scales.len(),
            d,
        )
    }
}

formula_kernel!([P: Profile] Ard<P>);
