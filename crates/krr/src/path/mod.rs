//! Choosing λ: leave-one-out and generalised cross-validation errors along a whole path, from one
//! eigendecomposition.

mod exact;
pub(crate) mod family;
pub(crate) mod features;
mod leave_one_out;
mod nystrom;
mod posterior;
mod sketched;

pub(crate) use family::Family;

use crate::KrrModel;
use faer::Mat;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, validate};
use std::sync::Arc;

/// The fit at one ridge of a [`LambdaPath`]. Errors are means of squares over targets and
/// (weighted) samples.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PathPoint<T> {
    /// The ridge of the caller, for [`LambdaPath::model_at`].
    pub ridge: Ridge<T>,
    /// nλ as solved with: that of the caller, or the rounding level of the decomposition if that is
    /// larger.
    pub mu: f64,
    /// Mean square of the leave-one-out residuals y_i − f₋ᵢ(x_i), f₋ᵢ the fit to all samples but
    /// the i-th with the same nλ.
    pub loo: f64,
    /// Generalised cross-validation, (1/n) Σ (y_i − f(x_i))²/(1 − d_eff/n)²: leave-one-out with
    /// every h_i replaced by their mean.
    pub gcv: f64,
    /// d_eff = tr H = Σ h_i, the constant (if one is fitted) counted as 1.
    pub d_eff: f64,
    /// Mean square of the residuals y_i − f(x_i).
    pub training: f64,
    /// [`loo`](Self::loo) of every target.
    pub loo_by_target: Vec<f64>,
}

/// Leave-one-out error, generalised cross-validation, d_eff and training error for every λ of a
/// grid, and the model at any λ.
///
/// From [`NystromKrr::path`](crate::NystromKrr::path) (landmarks fixed),
/// [`SketchedKrr::path`](crate::SketchedKrr::path) (sketch fixed) or
/// [`ExactKrr::path`](crate::ExactKrr::path). With the hat matrix f = Hy at nλ and its diagonal
/// h_i, by the formula of Sherman and Morrison and without any approximation,
///
/// ```text
/// y_i − f₋ᵢ(x_i) = (y_i − f(x_i))/(1 − h_i),
/// ```
///
/// where f₋ᵢ is fitted to the other n − 1 samples with the same *absolute* ridge nλ (of n samples,
/// not n − 1) and, if an intercept is fitted, with its own constant. One eigendecomposition serves
/// all λ, because all H have the same eigenvectors.
///
/// Landmarks are held fixed: a left-out sample that is a landmark remains a centre, without its
/// target. If landmarks were chosen by the targets, the choice is not repeated and the error is too
/// optimistic. [`CrossValidation`](crate::CrossValidation) then validates the whole procedure.
/// [`leave_one_out`](Self::leave_one_out) has the residual of each sample.
///
/// # Source
/// G. Golub, M. Heath, G. Wahba, *Generalized cross-validation as a method for choosing a good
/// ridge parameter*, Technometrics 21, 1979.
///
/// # Departures
/// With weights the errors are weighted means, and n in 1 − d_eff/n is the number of samples of
/// positive weight.
///
/// A [`StatePath`](crate::StatePath), made from sums alone, has other points P.
#[derive(Debug)]
#[must_use]
pub struct LambdaPath<K, T, P = PathPoint<T>> {
    /// At least one.
    pub(crate) points: Vec<P>,
    pub(crate) family: Arc<Family<K, T>>,
}

impl<T: Scalar, K: Kernel<T> + Clone> LambdaPath<K, T> {
    /// # Errors
    /// `NonFinite` if targets or weights are so large that errors are not numbers.
    fn new(family: Family<K, T>, ridges: &[Ridge<T>], sums: &Mat<f64>) -> Result<Self> {
        let mus = family.spectrum.mus(ridges)?;
        let (t, weight) = (family.targets(), family.spectrum.total_weight);
        let point = |(l, (&ridge, &mu)): (usize, (&Ridge<T>, &f64))| {
            let of = |column: usize| &sums.col_as_slice(column)[l * t..][..t];
            let mean = |sums: &[f64]| sums.iter().sum::<f64>() / (t as f64 * weight);
            let (loo, training) = (of(0), mean(of(1)));
            PathPoint {
                ridge,
                mu,
                loo: mean(loo),
                gcv: family.gcv(training, mu),
                d_eff: family.d_eff(mu),
                training,
                loo_by_target: loo.iter().map(|sum| sum / weight).collect(),
            }
        };
        let points: Vec<PathPoint<T>> = ridges.iter().zip(&mus).enumerate().map(point).collect();
        for (row, point) in points.iter().enumerate() {
            let errors = [point.loo, point.training, point.d_eff].into_iter().enumerate();
            if let Some((col, value)) = errors.into_iter().find(|(_, error)| error.is_nan()) {
                let what = "path of errors (scale targets and weights)";
                return Err(Error::NonFinite { what, row, col, value });
            }
        }
        Ok(LambdaPath { points, family: Arc::new(family) })
    }

    /// The point with the smallest leave-one-out error (the first of equals).
    pub fn best_by_loo(&self) -> &PathPoint<T> {
        smallest(&self.points, |point| point.loo)
    }

    /// The point with the smallest generalised cross-validation error.
    pub fn best_by_gcv(&self) -> &PathPoint<T> {
        smallest(&self.points, |point| point.gcv)
    }

    /// Whether the point has the smallest or the largest ridge of the grid. If the best point does,
    /// the grid is too narrow.
    pub fn at_edge(&self, point: &PathPoint<T>) -> bool {
        self.points.iter().all(|other| other.mu >= point.mu)
            || self.points.iter().all(|other| other.mu <= point.mu)
    }
}

impl<T: Scalar, K: Kernel<T> + Clone, P> LambdaPath<K, T, P> {
    /// One point per ridge, in the order given.
    pub fn points(&self) -> &[P] {
        &self.points
    }

    /// The model at any ridge, on the grid or not: no pass over the data. m²t flops.
    ///
    /// A ridge below the rounding level of the decomposition is raised to that level. The model's
    /// report has the ridge solved with.
    ///
    /// # Errors
    /// Those of [`Ridge::absolute`]; [`Error::NonFinite`] if coefficients overflow.
    pub fn model_at(&self, ridge: Ridge<T>) -> Result<KrrModel<K, T>> {
        self.family.model_at(self.family.spectrum.mu(ridge)?)
    }
}

/// The point of a path with the smallest error, the first of equals.
pub(crate) fn smallest<P>(points: &[P], error: impl Fn(&P) -> f64) -> &P {
    let better = |a, b| if error(b) < error(a) { b } else { a };
    points.iter().reduce(better).expect("a path has at least one point")
}

/// `count` values of λ from `largest` down to `smallest`, equally spaced in ln λ, both included: a
/// grid for a path.
///
/// # Errors
/// [`Error::InvalidParameter`] unless largest > smallest > 0 and both are finite, [`Error::Empty`]
/// if count < 2.
///
/// ```
/// use nystrom_krr::lambda_grid;
/// use nystrom_linalg_core::Ridge;
/// assert_eq!(
///     lambda_grid(1.0, 0.25, 3)?,
///     [Ridge::PerSample(1.0), Ridge::PerSample(0.5), Ridge::PerSample(0.25)]
/// );
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn lambda_grid<T: Scalar>(largest: f64, smallest: f64, count: usize) -> Result<Vec<Ridge<T>>> {
    validate::positive("smallest lambda of the grid", smallest)?;
    validate::not_empty(
        "steps of the lambda grid (one less than its values)",
        count.saturating_sub(1),
    )?;
    validate::require(
        largest > smallest && largest.is_finite(),
        "largest lambda of the grid",
        largest,
        "finite and larger than the smallest",
    )?;
    let ratio = (smallest / largest).ln() / (count - 1) as f64;
    let lambda =
        |i: usize| if i + 1 == count { smallest } else { largest * (ratio * i as f64).exp() };
    Ok((0..count).map(|i| Ridge::PerSample(T::lit(lambda(i)))).collect())
}
