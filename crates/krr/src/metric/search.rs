//! One fit of the sample in a given metric: exact kernel ridge regression at the best of a grid of
//! ridges.

use super::sample::Sample;
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Mat, MatMut};
use nystrom_kernels::{DifferentiableKernel, Points};
use nystrom_linalg_core::{Error, JitterLadder, PackedCholesky, Result};
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
    /// Leave-one-out RMSE.
    pub error: f64,
}

/// The fit to `sample` with its points at `x` (d × n): from the step `start` downhill on the grid
/// of ridges, by the leave-one-out error.
///
/// n² kernel values once, and 2n³/3 flops for each ridge.
///
/// # Errors
/// Those of [`Kernel::check_points`](nystrom_kernels::Kernel::check_points), and
/// `NotPositiveDefinite` if no ridge tried is above the rounding errors of K.
pub(super) fn fit<K: DifferentiableKernel<f64>>(
    kernel: K,
    sample: &Sample,
    x: Points<'_, f64>,
    start: i32,
) -> Result<Fit<K>> {
    kernel.check_points(x)?;
    let K = kernel.gram(x);
    let (step, error, theta) = downhill(start, |k| leave_one_out(&K, sample, ridge(k)))?;
    let (n, t) = sample.y.shape();
    let report = FitReport {
        n,
        m: n,
        d: x.dim(),
        t,
        ridge: ridge(step),
        jitter: 0.0,
        solver: SolvedBy::ExactCholesky,
        reason: "the smallest leave-one-out error".into(),
        condition: f64::NAN,
        kernel_entries: (n * n) as u64,
    };
    let model = KrrModel::from_parts(kernel, x, theta.as_ref(), &vec![0.0; t], report)?;
    Ok(Fit { model, step, error })
}

/// The leave-one-out RMSE at nλ = `mu`, and θ = (K + μD⁻¹)⁻¹y.
///
/// y_i − f₋ᵢ(x_i) = θ_i/((K + μD⁻¹)⁻¹)_ii.
fn leave_one_out(K: &Mat<f64>, sample: &Sample, mu: f64) -> Result<(f64, Mat<f64>)> {
    let fill = |mut out: MatMut<'_, f64>, rows: Range<usize>, cols: Range<usize>| {
        out.copy_from(K.as_ref().submatrix(rows.start, cols.start, rows.len(), cols.len()));
        for (s, i) in cols.enumerate() {
            out[(s, s)] += mu / sample.weights[i];
        }
    };
    let factor = PackedCholesky::from_fill(sample.len(), fill, JitterLadder::none())?;
    let mut theta = sample.y.clone();
    factor.solve_in_place(theta.as_mut());
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, inverse) in factor.inverse_diagonal().into_iter().enumerate() {
        let squares: f64 = theta.row(i).iter().map(|theta| (theta / inverse).powi(2)).sum();
        sum += sample.weights[i] * squares;
        total += sample.weights[i];
    }
    Ok(((sum / total).sqrt(), theta))
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
