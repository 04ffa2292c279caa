//! Centres, and how many points each represents.

use crate::Problem;
use nystrom_kernels::{Kernel, PointSet, Points};
use nystrom_linalg_core::{Indices, Result, Scalar, validate};
use nystrom_sketch::{Dictionary, Landmarks};

/// The centres z_1, …, z_m of f = Σ_j θ_j k(·, z_j), and how many points each represents.
///
/// `into()` makes them from
/// * `&Landmarks`: rows of the data;
/// * [`Points`]: any points. They need not be rows of the data, and there may be more of them than
///   rows. Repeated points add nothing;
/// * `&Dictionary`: rows with their sampling weights;
/// * `(Points, &[T])`: points with weights, such as the dictionary of a stream. A `&Vec<T>` or
///   `&[T; m]` is also accepted.
///
/// Centre j represents ω_j of the n points: Σ_j ω_j k_Z(z_j)k_Z(z_j)ᵀ estimates
/// Σ_i k_Z(x_i)k_Z(x_i)ᵀ. Without weights ω_j = n/m, the value for uniform sampling. Only
/// [`Falkon`](crate::Falkon) and [`DictionaryKrr`](crate::DictionaryKrr) use ω; the other fits
/// depend only on the span of the centres.
///
/// ```
/// use nystrom_krr::Centers;
/// use nystrom_sketch::{Dictionary, Landmarks};
/// let dictionary = Dictionary::new(10, vec![7, 2], vec![4.0, 6.0_f64])?;
/// assert!(matches!(Centers::from(&dictionary), Centers::Rows { weights: Some([4.0, 6.0]), .. }));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Centers<'a, T> {
    /// Rows among the data.
    Rows {
        /// n, the number of rows that the centres were chosen from.
        n: usize,
        /// The rows.
        indices: &'a [usize],
        /// ω, one per row; n/m each if `None`.
        weights: Option<&'a [T]>,
    },
    /// Any points.
    Points {
        /// The points.
        points: Points<'a, T>,
        /// ω, one per point; n/m each if `None`.
        weights: Option<&'a [T]>,
    },
}

impl<'a, T> From<&'a Landmarks> for Centers<'a, T> {
    fn from(landmarks: &'a Landmarks) -> Self {
        Centers::Rows { n: landmarks.n(), indices: landmarks.indices(), weights: None }
    }
}

impl<'a, T: Scalar> From<&'a Dictionary<T>> for Centers<'a, T> {
    fn from(dictionary: &'a Dictionary<T>) -> Self {
        Centers::Rows {
            n: dictionary.n(),
            indices: dictionary.indices(),
            weights: Some(dictionary.weights()),
        }
    }
}

impl<'a, T> From<Points<'a, T>> for Centers<'a, T> {
    fn from(points: Points<'a, T>) -> Self {
        Centers::Points { points, weights: None }
    }
}

impl<'a, T, W: AsRef<[T]> + ?Sized> From<(Points<'a, T>, &'a W)> for Centers<'a, T> {
    fn from((points, weights): (Points<'a, T>, &'a W)) -> Self {
        Centers::Points { points, weights: Some(weights.as_ref()) }
    }
}

impl<T: Scalar> Centers<'_, T> {
    /// m.
    pub fn len(&self) -> usize {
        match self {
            Centers::Rows { indices, .. } => indices.len(),
            Centers::Points { points, .. } => points.len(),
        }
    }

    /// Whether there are no centres.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the caller gave weights.
    pub fn weighted(&self) -> bool {
        matches!(
            self,
            Centers::Rows { weights: Some(_), .. } | Centers::Points { weights: Some(_), .. }
        )
    }

    /// The centres, copied.
    ///
    /// # Errors
    /// `Empty` without centres; typed errors for centres that the points or the kernel exclude.
    pub(crate) fn points(&self, x: Points<'_, T>, kernel: &impl Kernel<T>) -> Result<PointSet<T>> {
        validate::not_empty("centres (m)", self.len())?;
        match *self {
            Centers::Rows { n, indices, .. } => {
                validate::same_size("points the centres were chosen among", x.len(), n)?;
                Indices::from(indices).check(n, "centres")?;
                Ok(x.gather(indices.into()))
            }
            Centers::Points { points, .. } => {
                x.check_same_dim(points)?;
                points.check_finite("centres")?;
                kernel.check_points(points)?;
                Ok(points.to_owned())
            }
        }
    }

    /// ω for centres chosen among n points.
    ///
    /// # Errors
    /// Unless there is one for each centre, positive and finite.
    pub(crate) fn weights(&self, n: usize) -> Result<Vec<f64>> {
        let (Centers::Rows { weights, .. } | Centers::Points { weights, .. }) = *self;
        let m = self.len();
        let Some(weights) = weights else { return Ok(vec![n as f64 / m as f64; m]) };
        validate::same_size("weights against number of centres", m, weights.len())?;
        weights.iter().try_for_each(|w| validate::positive("weight of a centre", w.f64()))?;
        Ok(weights.iter().map(|w| w.f64()).collect())
    }

    /// The part of the weighted problem that each centre represents: ω_j times the sample weight of
    /// its row, or times the mean sample weight for a centre that is not a row.
    pub(crate) fn weights_in(&self, problem: Problem<'_, T>) -> Result<Vec<f64>> {
        let n = problem.x.len();
        let mut omega = self.weights(n)?;
        match self {
            Centers::Rows { indices, .. } => {
                omega.iter_mut().zip(*indices).for_each(|(omega, &i)| *omega *= problem.weight(i));
            }
            Centers::Points { .. } => {
                let mean = problem.mean_weight();
                omega.iter_mut().for_each(|omega| *omega *= mean);
            }
        }
        Ok(omega)
    }
}

/// Returns a typed error for points at which a model of these centres cannot be evaluated.
pub(crate) fn check_points<T: Scalar>(
    kernel: &impl Kernel<T>,
    centers: Points<'_, T>,
    x: Points<'_, T>,
) -> Result<()> {
    x.check()?; // first, as no points have no dimension to compare
    centers.check_same_dim(x)?;
    kernel.check_points(x)
}
