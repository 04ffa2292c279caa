//! k(x, y) = κ(‖x − y‖²/ℓ²): a new kernel is a struct and one line.

use crate::dual::derivative;
use crate::load::saved_kernel;
use crate::metric::SquaredDistance;
use crate::tile::{Formula, Scales, formula_kernel};
use crate::{Lane, Points};
use nystrom_linalg_core::{Result, Scalar, validate};

/// The function κ of an isotropic kernel κ(‖x − y‖²/ℓ²), positive semi-definite in every dimension,
/// with κ(0) = 1.
///
/// Written once in terms of [`Lane`], it is fused into the register tile that computes the
/// distances. Its derivative, for gradients of models, comes from the same line of code.
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

    /// κ′(s), the derivative by s. Where there is none (at s = 0 of rough kernels), any value that
    /// is not finite: it counts 0 in gradients.
    ///
    /// The default differentiates [`at`](Profile::at) exactly, operation by operation; only
    /// [`Lane::map`] is differentiated by central differences, to ten digits or so. A closed form
    /// of your own is faster.
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
    note = "a profile of your own derives `Serialize` and `Deserialize` and implements \
            `SavedProfile`"
)]
pub trait SavedProfile: Profile + serde::Serialize + serde::de::DeserializeOwned {
    /// The name of the isotropic kernel; with one length scale per coordinate it is followed by
    /// `-ard`.
    const NAME: &'static str;

    /// Whether its fields alone say which profile it is: a file from before kernels had names
    /// then still loads.
    const KNOWN_BY_FIELDS: bool = false;
}

/// The kernel κ(‖x − y‖²/ℓ²) of a [`Profile`] κ and a length scale ℓ > 0, on ℝ^d for every d ≥ 1.
///
/// Parameters are `f64` and one kernel value serves points of both precisions. `diag` is κ(0) = 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Isotropic<P> {
    profile: P,
    length_scale: f64,
}

saved_kernel! {
    [P: (crate::SavedProfile)] Isotropic<P> = P::NAME.into(), known: P::KNOWN_BY_FIELDS,
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

    /// ℓ.
    pub fn length_scale(&self) -> f64 {
        self.length_scale
    }

    /// κ.
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

/// ℓ, computed from the parameter `name` = `value`, if it is a length scale.
pub(crate) fn scale_from(name: &'static str, value: f64, length_scale: f64) -> Result<f64> {
    validate::require(
        length_scale > 0.0 && length_scale.is_finite(),
        name,
        value,
        "such that the length scale is a positive number",
    )?;
    Ok(length_scale)
}

/// An isotropic kernel with a length scale ℓ_k for every coordinate (automatic relevance
/// determination): κ(Σ_k (x_k − y_k)²/ℓ_k²).
///
/// Differences are taken before they are divided, so that points far from the origin keep their
/// digits: one operation a coordinate more than [`Isotropic`].
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
    [P: (crate::SavedProfile)] Ard<P> = format!("{}-ard", P::NAME), known: P::KNOWN_BY_FIELDS,
    { profile: P, length_scales: Vec<f64> } of {}, |s| Ard::with_profile(s.profile, s.length_scales)
}

impl<P: Profile> Isotropic<P> {
    /// The same profile with the length scales `length_scales` instead, one per coordinate.
    ///
    /// # Errors
    /// `Empty` without any, `InvalidParameter` unless all are positive and finite.
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

    /// ℓ_k for every coordinate k.
    pub fn length_scales(&self) -> &[f64] {
        &self.length_scales
    }

    /// κ.
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
            "a normal number in the precision of the points; choose another unit of length";
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
