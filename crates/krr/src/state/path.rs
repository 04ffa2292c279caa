//! A path of ridges from the sums of a state.

use crate::path::{Family, smallest};
use crate::{LambdaPath, Problem};
use faer::Mat;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar};

/// Errors below this multiple of ε are rounding.
pub(super) const SAFETY: f64 = 10.0;

/// The fit at one ridge of a [`StatePath`]. Errors are means of squares over targets and (weighted)
/// samples.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StatePoint<T> {
    /// The ridge of the caller.
    pub ridge: Ridge<T>,
    /// nλ as solved with: that of the caller, or the rounding level of the sums if that is larger.
    pub mu: f64,
    /// d_eff = tr H, the constant (if one is fitted) counted as 1.
    pub d_eff: f64,
    /// Mean square of the residuals y_i − f(x_i), a difference of sums.
    pub training: f64,
    /// The level below which `training` and `gcv` are rounding errors. [`StatePath::errors`]
    /// computes them below that level, by another pass.
    pub rounding: f64,
    /// Generalised cross-validation, training/(1 − d_eff/n)².
    pub gcv: f64,
}

/// The fits at every ridge from a state, without a second pass over the rows.
pub type StatePath<K, T> = LambdaPath<K, T, StatePoint<T>>;

impl<T: Scalar, K: Kernel<T> + Clone> StatePath<K, T> {
    /// The point with the smallest generalised cross-validation error (the first of equals).
    pub fn best_by_gcv(&self) -> &StatePoint<T> {
        smallest(&self.points, |point| point.gcv)
    }

    /// The residuals y_i − f₋ᵢ(x_i) of some of the rows of the state, for every target (n × t):
    /// f₋ᵢ is the fit without row i. If the weight of a row counts equal rows, f₋ᵢ is the fit
    /// without all of them.
    ///
    /// # Cost
    /// m kernel values and 4m² flops a row.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for rows of other sizes than those of the
    /// state; those of [`Ridge::absolute`].
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_krr::{NormalEquations, RowSums};
    /// use nystrom_linalg_core::Ridge;
    /// let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 50.0).collect();
    /// let y = Mat::from_fn(200, 1, |i, _| x[i].sin() + f64::from(i as u8 % 5));
    /// let (points, centers) = (Points::from_slice(&x), Points::from_slice(&[0.0, 1.5, 3.0]));
    /// let fitted = |rows: std::ops::Range<usize>| {
    ///     let mut state = NormalEquations::new(Gaussian::new(1.0)?, centers, 1)?;
    ///     state.accumulate((points.slice(rows.clone()), y.subrows(rows.start, rows.len())))?;
    ///     state.path(&[Ridge::Absolute(0.1)])
    /// };
    /// let (all, without) = (fitted(0..200)?, fitted(0..199)?.model_at(Ridge::Absolute(0.1))?);
    /// let last = (points.slice(199..200), y.subrows(199, 1));
    /// let residual = all.leave_one_out(Ridge::Absolute(0.1), last)?[(0, 0)];
    /// let expected = y[(199, 0)] - without.predict(last.0)?[(0, 0)];
    /// assert!((residual - expected).abs() < 1e-9);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn leave_one_out<'a>(
        &self,
        ridge: Ridge<T>,
        rows: impl Into<Problem<'a, T>>,
    ) -> Result<Mat<T>> {
        self.family.leave_one_out(ridge, rows.into())
    }
}

/// The residual sums of squares of all targets at μ, and their rounding level. `squares` are those
/// of the targets, centred if a constant is fitted, and `scale` before that.
///
/// With β = (S + μI)⁻¹g the sum is yᵀDy − gᵀβ − μ‖β‖². Products wrong by ε·tr ΦᵀΦ and ε·‖Φᵀy‖ make
/// an error of about ε(‖√wy‖ + √(tr ΦᵀΦ)‖β‖)².
pub(super) fn residuals<K, T>(
    family: &Family<K, T>,
    mu: f64,
    squares: &[f64],
    scale: &[f64],
) -> (f64, f64) {
    let (values, g) = (&family.spectrum.values, &family.spectrum.g);
    let trace: f64 = values.iter().sum();
    let (mut sum, mut level) = (0.0, 0.0);
    for (j, (square, scale)) in squares.iter().zip(scale).enumerate() {
        let of = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
            values.iter().enumerate().map(|(i, s)| term(*s, g[(i, j)].powi(2))).sum()
        };
        let norm2 = of(&|s, g2| g2 / (s + mu).powi(2)); //                        ‖β‖²
        sum += (square - of(&|s, g2| g2 * (s + 2.0 * mu) / (s + mu).powi(2))).max(0.0);
        level += SAFETY * f64::EPSILON * (scale.sqrt() + (trace * norm2).sqrt()).powi(2);
    }
    (sum, level)
}
