//! One fit of the sample in a given metric: exact kernel ridge regression at the best of a grid of
//! ridges.

use super::sample::Sample;
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Accum, Mat, MatMut};
use nystrom_kernels::{DifferentiableKernel, Points};
use nystrom_linalg_core::{Error, JitterLadder, PackedCholesky, Result, ops};
use std::ops::Range;

/// nλ = 10^(k/2) for these k.
const HALF_DECADES: std::ops::RangeInclusive<i32> = -16..=6;

/// nλ of step k of the grid.
pub(super) fn ridge(k: i32) -> f64 {
    10_f64.powf(0.5 * f64::from(k))
}

/// A fit and its error.
pub(super) struct Fit<K> {
    pub model: KrrModel<K, f64>,
    /// The step of the grid of ridges.
    pub step: i32,
    /// RMSE at the rows held out.
    pub error: f64,
}

/// A sample with its points after a map, d × n.
pub(super) type Mapped<'a> = (&'a Sample, Points<'a, f64>);

/// The fit to the first sample: from the step `start` on the grid of ridges to where the error at
/// the second is least.
///
/// n² + hn kernel values once, and n³/3 flops for each ridge.
///
/// # Errors
/// Those of [`Kernel::check_points`](nystrom_kernels::Kernel::check_points), and
/// `NotPositiveDefinite` if no ridge tried is above the rounding errors of K.
pub(super) fn fit<K: DifferentiableKernel<f64>>(
    kernel: K,
    (sample, x): Mapped<'_>,
    (held, at): Mapped<'_>,
    start: i32,
) -> Result<Fit<K>> {
    kernel.check_points(x)?;
    kernel.check_points(at)?;
    let (K, C) = (kernel.gram(x), kernel.eval(at, x));
    let (step, error, theta) = downhill(start, |k| {
        let theta = coefficients(&K, sample, ridge(k))?;
        Ok((rmse(&C, &theta, held), theta))
    })?;
    let (n, t) = sample.y.shape();
    let report = FitReport {
        ridge: ridge(step),
        reason: "the smallest error at rows held out".into(),
        condition: f64::NAN,
        kernel_entries: ((n + at.len()) * n) as u64,
        ..FitReport::sized(SolvedBy::ExactCholesky, n, x, t)
    };
    let model = KrrModel::from_parts(kernel, x, theta.as_ref(), None, report)?;
    Ok(Fit { model, step, error })
}

/// θ = (K + μD⁻¹)⁻¹y at nλ = `mu`.
fn coefficients(K: &Mat<f64>, sample: &Sample, mu: f64) -> Result<Mat<f64>> {
    let fill = |mut out: MatMut<'_, f64>, rows: Range<usize>, cols: Range<usize>| {
        out.copy_from(K.as_ref().submatrix(rows.start, cols.start, rows.len(), cols.len()));
        for (s, i) in cols.enumerate() {
            out[(s, s)] += mu / sample.weights[i];
        }
    };
    let factor = PackedCholesky::from_fill(sample.len(), fill, JitterLadder::none())?;
    let mut theta = sample.y.clone();
    factor.solve_in_place(theta.as_mut());
    Ok(theta)
}

/// The weighted root mean square of y − Cθ at the rows held out.
fn rmse(C: &Mat<f64>, theta: &Mat<f64>, held: &Sample) -> f64 {
    let mut residuals = held.y.clone();
    ops::matmul(residuals.as_mut(), Accum::Add, C.as_ref(), theta.as_ref(), -1.0);
    let squares = |i: usize| residuals.row(i).iter().map(|r| r * r).sum::<f64>();
    let sum: f64 = held.weights.iter().enumerate().map(|(i, w)| w * squares(i)).sum();
    (sum / held.weights.iter().sum::<f64>()).sqrt()
}

/// The first minimum of `at` on the grid when walking from `start`, upwards first; a ridge below
/// the rounding errors of K ends the walk.
fn downhill(
    start: i32,
    at: impl Fn(i32) -> Result<(f64, Mat<f64>)>,
) -> Result<(i32, f64, Mat<f64>)> {
    let mut best: Option<(i32, f64, Mat<f64>)> = None;
    let mut failure = None;
    for step in [1, -1] {
        let mut k = best.as_ref().map_or(start, |best| best.0 + step);
        while HALF_DECADES.contains(&k) {
            match at(k) {
                Ok((error, theta)) => {
                    if best.as_ref().is_some_and(|best| error >= best.1) {
                        break;
                    }
                    best = Some((k, error, theta));
                }
                Err(error @ Error::NotPositiveDefinite { .. }) => {
                    failure = Some(error);
                    if step < 0 {
                        break;
                    }
                }
                Err(error) => return Err(error),
            }
            k += step;
        }
        if best.as_ref().is_some_and(|best| best.0 != start) {
            break;
        }
    }
    best.ok_or_else(|| failure.expect("the grid is not empty"))
}
