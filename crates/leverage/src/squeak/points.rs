//! Scores of the points of a second pass, with respect to a dictionary of points.

use super::measure::{Measure, diagonal};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};

/// Ridge leverage scores of points with respect to a dictionary of points:
///
/// τ̃ = φᵀ(ΦSSᵀΦᵀ + μI)⁻¹φ = (k(x, x) − ‖L⁻¹S k_D(x)‖²)/μ, LLᵀ = SK_DDS + μI.
///
/// This is [`Projector`](crate::Projector) for points in place of matrix rows, to be scored block
/// by block. The points must be among those that the dictionary represents: scores are clamped to
/// at most k/(k + μ). If the dictionary is ε-accurate at μ, then τ/(1 + ε) ≤ τ̃ ≤ τ/(1 − ε). An
/// empty dictionary gives the upper bound k/(k + μ).
///
/// # Cost
/// With m members in d dimensions: m² kernel values and m³/3 flops for construction, m kernel
/// values and m² flops per scored point. Memory: 2m² numbers during construction, then m² + m·d,
/// and 2·1024·m for a tile of points.
///
/// # Source
/// As [`Projector`](crate::Projector).
///
/// ```
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::{PointProjector, Squeak, SqueakParams};
/// use rand::SeedableRng;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let x: Vec<f64> = (0..1000).map(|i| (i as f64 * 0.618).fract()).collect();
/// let (kernel, mu) = (Gaussian::new(0.2)?, 1.0);
/// let mut squeak = Squeak::new(kernel.clone(), 1, mu, SqueakParams::new(20))?;
/// squeak.push(Points::from_slice(&x), &mut rng)?;
/// let dictionary = squeak.into_dictionary(&mut rng)?;
/// let projector =
///     PointProjector::new(kernel, dictionary.points(), dictionary.weights(), mu)?;
/// let scores = projector.scores(Points::from_slice(&x))?;
/// let d_eff: f64 = scores.iter().sum();
/// assert!(d_eff > 4.0 && d_eff < 12.0, "{d_eff}");
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct PointProjector<K, T> {
    kernel: K,
    /// The points of the dictionary, d × m.
    members: Mat<T>,
    mu: f64,
    measure: Option<Measure>,
}

impl<T: Scalar, K: Kernel<T>> PointProjector<K, T> {
    /// The projector of the dictionary of these points with weights s², at the absolute ridge μ =
    /// `mu`.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the numbers of points and weights differ,
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) if a weight or μ is not
    /// positive and finite. Those of [`Kernel::check_points`] and of the factorisation.
    pub fn new(kernel: K, points: Points<'_, T>, weights: Vec<f64>, mu: f64) -> Result<Self> {
        let mu = Ridge::Absolute(mu).absolute(1)?;
        validate::same_size("weights of a dictionary", points.len(), weights.len())?;
        for &w in &weights {
            validate::require(w.is_finite() && w > 0.0, "weights", w, "positive and finite")?;
        }
        let members = Mat::from_fn(points.dim(), points.len(), |k, j| points.coordinate(j, k));
        let measure = if points.is_empty() {
            None
        } else {
            points.check_dense()?;
            kernel.check_points(points)?;
            Some(Measure::of(&kernel, points, weights, mu)?)
        };
        Ok(PointProjector { kernel, members, mu, measure })
    }

    /// m, the number of points of the dictionary.
    pub fn len(&self) -> usize {
        self.members.ncols()
    }

    /// Whether the dictionary is empty.
    pub fn is_empty(&self) -> bool {
        self.members.ncols() == 0
    }

    /// μ, the absolute ridge.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// τ̃ of the points `x`, in tiles of 1024: m kernel values and m² flops per point.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for another dimension,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) for kernel values, those of
    /// [`Kernel::check_points`].
    pub fn scores(&self, x: Points<'_, T>) -> Result<Vec<f64>> {
        validate::same_size("coordinates of a point (d)", self.members.nrows(), x.dim())?;
        if x.is_empty() {
            return Ok(Vec::new());
        }
        x.check_dense()?;
        self.kernel.check_points(x)?;
        match &self.measure {
            Some(measure) => {
                let members = Points::from_cols(self.members.as_ref());
                measure.points(&self.kernel, members, (x, 1.0))
            }
            None => {
                let bound = |k: f64| if k > 0.0 { k / (k + self.mu) } else { 0.0 };
                Ok(diagonal(&self.kernel, x)?.into_iter().map(bound).collect())
            }
        }
    }
}
