//! ln det K_YY of a given set.

use crate::start::rounding;
use faer::Mat;
use nystrom_linalg_core::{Error, Indices, PsdMatrix, Result, Scalar, validate, work};

/// ln det K_YY for the items Y of a psd matrix K; a k-DPP draws sets in proportion to det K_YY.
///
/// Computed by a pivoted Cholesky factorisation in `f64` of K_YY scaled to a unit diagonal, so that
/// nothing overflows or underflows. The result is −∞ if the determinant is numerically 0: if the
/// residual K_ii − K_iS K_SS⁻¹ K_Si of an item i, given other items S, is at most 4cε·K_ii, where ε
/// is the machine precision of the scalar type and c = |Y|. The result is 0 for the empty set,
/// whose determinant is 1.
///
/// The order of `items` does not matter, up to rounding.
///
/// # Cost
/// c² + c entries, 2c³/3 flops, c² numbers of memory.
///
/// # Errors
/// [`Error::IndexOutOfRange`], [`Error::DuplicateIndex`], [`Error::NonFinite`] with the entry of K,
/// and [`Error::NotPositiveDefinite`] if K_YY is not psd: a residual below −4cε·K_ii, or a negative
/// diagonal entry.
///
/// ```
/// use faer::mat;
/// use nystrom_dpp::log_det;
/// use nystrom_linalg_core::Dense;
/// let k = mat![[2.0, 1.0, 2.0], [1.0, 2.0, 1.0], [2.0, 1.0, 2.0]];
/// let k = Dense::new(k.as_ref())?;
/// assert!((log_det(&k, &[1, 0])? - 3.0_f64.ln()).abs() < 1e-14);
/// // rows 0 and 2 are equal: the determinant is 0
/// assert_eq!(log_det(&k, &[0, 2])?, f64::NEG_INFINITY);
/// assert_eq!(log_det(&k, &[])?, 0.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn log_det<T: Scalar>(k: &dyn PsdMatrix<T>, items: &[usize]) -> Result<f64> {
    if items.is_empty() {
        return Ok(0.0);
    }
    Indices::from(items).check_distinct(k.dim(), "landmarks")?;
    let c = items.len();
    let block = k.block(items.into(), items.into());
    validate::finite("matrix", block.as_ref())
        .map_err(|error| error.placed(|i, j| (items[i], items[j])))?;
    let indefinite = |pivot| Error::NotPositiveDefinite { order: c, pivot, jitter: 0.0 };
    let roots: Vec<f64> = (0..c).map(|i| block[(i, i)].f64().sqrt()).collect();
    if let Some(i) = roots.iter().position(|root| root.is_nan()) {
        return Err(indefinite(i));
    }
    if roots.contains(&0.0) {
        return Ok(f64::NEG_INFINITY);
    }
    // K_YY = DRD with D² the diagonal
    let R = Mat::from_fn(c, c, |i, j| block[(i.max(j), i.min(j))].f64() / roots[i] / roots[j]);
    let volume = log_det_of_correlations(R, rounding::<T>(c)).map_err(indefinite)?;
    Ok(volume + roots.iter().map(|root| 2.0 * root.ln()).sum::<f64>())
}

/// ln det R for R with a unit diagonal; −∞ if a residual is at most `rounding`. The error is the
/// position of an item whose residual is below −`rounding`.
fn log_det_of_correlations(mut R: Mat<f64>, rounding: f64) -> Result<f64, usize> {
    let c = R.nrows();
    let (mut sum, mut left): (f64, Vec<usize>) = (0.0, (0..c).collect());
    work::flops(2 * c * c * c / 3);
    while !left.is_empty() {
        if let Some(&i) = left.iter().find(|&&i| !(R[(i, i)] >= -rounding)) {
            return Err(i);
        }
        if left.iter().any(|&i| R[(i, i)] <= rounding) {
            return Ok(f64::NEG_INFINITY);
        }
        let largest = (0..left.len())
            .max_by(|&s, &t| R[(left[s], left[s])].total_cmp(&R[(left[t], left[t])]));
        let p = left.swap_remove(largest.expect("one is left"));
        let pivot = R[(p, p)];
        sum += pivot.ln();
        for &j in &left {
            let factor = R[(p, j)] / pivot;
            for &i in &left {
                R[(i, j)] -= R[(i, p)] * factor;
            }
        }
    }
    Ok(sum)
}
