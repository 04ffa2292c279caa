//! How far predictions are from what they should be. Sums are taken in `f64`, over all entries of n
//! × t matrices.

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
    validate::same_size("rows of predicted against actual", actual.nrows(), predicted.nrows())?;
    validate::same_size("columns of predicted against actual", actual.ncols(), predicted.ncols())?;
    let count = actual.nrows() * actual.ncols();
    validate::not_empty("values to compare", count)?;
    Ok(sum(actual, |i, j| (predicted[(i, j)].f64() - actual[(i, j)].f64()).powi(2)) / count as f64)
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
    mse(predicted, actual)?; // its checks
    let (unit, count) = (unit(predicted, actual), actual.nrows() * actual.ncols());
    let error = |i, j| predicted[(i, j)].f64() / unit - actual[(i, j)].f64() / unit;
    Ok(unit * (sum(actual, |i, j| error(i, j).powi(2)) / count as f64).sqrt())
}

/// 1 − Σ(f − y)²/Σ(y − ȳ)², ȳ the mean of each column: 1 is perfect, 0 as good as the mean.
///
/// # Errors
/// As [`mse`]; [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) if `actual` is
/// constant.
pub fn r2<T: Scalar>(predicted: MatRef<'_, T>, actual: MatRef<'_, T>) -> Result<f64> {
    mse(predicted, actual)?; // its checks
    let (n, count) = (actual.nrows() as f64, (actual.nrows() * actual.ncols()) as f64);
    let unit = unit(predicted, actual);
    let (f, y) = (|i, j| predicted[(i, j)].f64() / unit, |i, j| actual[(i, j)].f64() / unit);
    let error = sum(actual, |i, j| (f(i, j) - y(i, j)).powi(2)) / count;
    let mean: Vec<f64> = (0..actual.ncols())
        .map(|j| (0..actual.nrows()).map(|i| y(i, j)).sum::<f64>() / n)
        .collect();
    let spread = sum(actual, |i, j| (y(i, j) - mean[j]).powi(2)) / count;
    validate::require(
        spread > 0.0,
        "variance of the actual values",
        spread,
        "positive; use rmse for a constant target",
    )?;
    Ok(1.0 - error / spread)
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

fn sum<T: Scalar>(a: MatRef<'_, T>, term: impl Fn(usize, usize) -> f64) -> f64 {
    (0..a.ncols()).map(|j| (0..a.nrows()).map(|i| term(i, j)).sum::<f64>()).sum()
}
