//! Errors of predictions. Sums are in `f64`, over all entries of n × t matrices.

use faer::MatRef;
use nystrom_linalg_core::{Result, Scalar, validate};

/// (1/nt) Σ (f_ij − y_ij)².
///
/// # Errors
/// [`Shape`](nystrom_linalg_core::Error::Shape) if the sizes differ,
/// [`Empty`](nystrom_linalg_core::Error::Empty) without entries.
///
/// ```
/// use faer::mat;
/// use nystrom_krr::metrics::mse;
/// assert_eq!(mse(mat![[1.0], [2.0]].as_ref(), mat![[1.0], [4.0]].as_ref())?, 2.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn mse<T: Scalar>(predicted: MatRef<'_, T>, actual: MatRef<'_, T>) -> Result<f64> {
    weighted_mse(predicted, actual, None)
}

/// √mse.
///
/// # Errors
/// As [`mse`].
///
/// ```
/// use faer::mat;
/// use nystrom_krr::metrics::rmse;
/// let (f, y) = (mat![[1e-300], [2e-300]], mat![[1e-300], [4e-300]]);
/// assert!((rmse(f.as_ref(), y.as_ref())? / 2.0_f64.sqrt() - 1e-300).abs() < 1e-312);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn rmse<T: Scalar>(predicted: MatRef<'_, T>, actual: MatRef<'_, T>) -> Result<f64> {
    weighted_rmse(predicted, actual, None)
}

/// 1 − Σ(f − y)²/Σ(y − ȳ)² with ȳ the mean of each column: 1 for exact predictions, 0 for those of
/// the mean.
///
/// # Errors
/// As [`mse`]; [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) if `actual` is
/// constant.
pub fn r2<T: Scalar>(predicted: MatRef<'_, T>, actual: MatRef<'_, T>) -> Result<f64> {
    weighted_r2(predicted, actual, None)
}

/// Σ w_i (f_ij − y_ij)² / (t Σ w_i), with one weight per row: [`mse`] without weights.
///
/// # Errors
/// As [`mse`]; those of weights that are negative, not finite or all 0.
///
/// ```
/// use faer::mat;
/// use nystrom_krr::metrics::weighted_mse;
/// let (f, y) = (mat![[1.0], [2.0]], mat![[1.0], [4.0]]);
/// assert_eq!(weighted_mse(f.as_ref(), y.as_ref(), Some(&[3.0, 1.0]))?, 1.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn weighted_mse<T: Scalar>(
    predicted: MatRef<'_, T>,
    actual: MatRef<'_, T>,
    weights: Option<&[T]>,
) -> Result<f64> {
    let mean = Mean::new(predicted, actual, weights)?;
    Ok(mean.of(|i, j| (predicted[(i, j)].f64() - actual[(i, j)].f64()).powi(2)))
}

/// The root of [`weighted_mse`].
///
/// # Errors
/// As [`weighted_mse`].
pub fn weighted_rmse<T: Scalar>(
    predicted: MatRef<'_, T>,
    actual: MatRef<'_, T>,
    weights: Option<&[T]>,
) -> Result<f64> {
    let (mean, unit) = (Mean::new(predicted, actual, weights)?, unit(predicted, actual));
    let error = |i, j| predicted[(i, j)].f64() / unit - actual[(i, j)].f64() / unit;
    Ok(unit * mean.of(|i, j| error(i, j).powi(2)).sqrt())
}

/// [`r2`] with weighted sums and means.
///
/// # Errors
/// As [`r2`] and [`weighted_mse`].
pub fn weighted_r2<T: Scalar>(
    predicted: MatRef<'_, T>,
    actual: MatRef<'_, T>,
    weights: Option<&[T]>,
) -> Result<f64> {
    let (mean, unit) = (Mean::new(predicted, actual, weights)?, unit(predicted, actual));
    let (f, y) = (|i, j| predicted[(i, j)].f64() / unit, |i, j| actual[(i, j)].f64() / unit);
    let error = mean.of(|i, j| (f(i, j) - y(i, j)).powi(2));
    let centers: Vec<f64> = (0..actual.ncols()).map(|j| mean.of_column(j, &y)).collect();
    let spread = mean.of(|i, j| (y(i, j) - centers[j]).powi(2));
    validate::require(
        spread > 0.0,
        "variance of the actual values",
        spread,
        "positive; use rmse for a constant target",
    )?;
    Ok(1.0 - error / spread)
}

/// Means over the entries of an n × t matrix, with a weight a row.
struct Mean<'a, T> {
    weights: Option<&'a [T]>,
    /// Σ w_i.
    total: f64,
    shape: (usize, usize),
}

impl<'a, T: Scalar> Mean<'a, T> {
    /// # Errors
    /// `Shape`, `Empty`, and those of weights.
    fn new(
        predicted: MatRef<'_, T>,
        actual: MatRef<'_, T>,
        weights: Option<&'a [T]>,
    ) -> Result<Self> {
        let (n, t) = actual.shape();
        validate::same_size("rows of predicted against actual", n, predicted.nrows())?;
        validate::same_size("columns of predicted against actual", t, predicted.ncols())?;
        validate::not_empty("values to compare", n * t)?;
        let total = match weights {
            Some(weights) => {
                validate::same_size("weights against rows", n, weights.len())?;
                validate::weights("weights", weights)?
            }
            None => n as f64,
        };
        Ok(Mean { weights, total, shape: (n, t) })
    }

    fn sum(&self, j: usize, term: &impl Fn(usize, usize) -> f64) -> f64 {
        let rows = 0..self.shape.0;
        match self.weights {
            Some(weights) => rows.map(|i| weights[i].f64() * term(i, j)).sum(),
            None => rows.map(|i| term(i, j)).sum(),
        }
    }

    fn of(&self, term: impl Fn(usize, usize) -> f64) -> f64 {
        let t = self.shape.1;
        (0..t).map(|j| self.sum(j, &term)).sum::<f64>() / (self.total * t as f64)
    }

    fn of_column(&self, j: usize, term: &impl Fn(usize, usize) -> f64) -> f64 {
        self.sum(j, term) / self.total
    }
}

/// A power of two near the largest number, or 1 while no square of it overflows or underflows:
/// dividing by it rounds nothing that matters.
fn unit<T: Scalar>(predicted: MatRef<'_, T>, actual: MatRef<'_, T>) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let largest =
        [predicted, actual].into_iter().flat_map(|a| a.col_iter().map(|col| col.norm_max().f64()));
    match largest.fold(0.0, f64::max) {
        0.0 | 1e-100..=1e100 | f64::INFINITY => 1.0,
        largest => f64::from_bits(largest.to_bits() & EXPONENT).max(f64::MIN_POSITIVE),
    }
}
