//! The rows that a metric is learned from.

use super::LearnedMetric;
use crate::Problem;
use crate::data::Part;
use faer::{Mat, MatRef};
use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, Scalar, random, validate};
use rand::Rng;

/// At most `fit_rows` rows of positive weight to learn from, and others, at most a fifth of all, to
/// take errors at. They are in random order, so that any few of them are a sample too. Targets are
/// those that vary, with mean 0 and standard deviation 1.
///
/// # Randomness
/// A uniform subset of the rows.
///
/// # Errors
/// `InvalidParameter` if every target is constant, as those of a single row are.
pub(super) fn draw<T: Scalar>(
    data: Problem<'_, T>,
    settings: &LearnedMetric,
    rng: &mut dyn Rng,
) -> Result<[Part<f64>; 2]> {
    let all: Vec<usize> = (0..data.x.len()).filter(|&i| data.weight(i) > 0.0).collect();
    let held = settings.held_rows.min(all.len() / 5).max(1);
    let size = settings.fit_rows.saturating_add(held).min(all.len());
    let drawn = random::uniform_subset(all.len(), size, rng)?;
    let rows: Vec<usize> = drawn.into_iter().map(|s| all[s]).collect();
    let weights: Vec<f64> = rows.iter().map(|&i| data.weight(i)).collect();
    let narrow = Part::new(data, &rows);
    let Problem { x, y, .. } = narrow.problem();
    let x = Mat::from_fn(x.dim(), x.len(), |k, i| x.coordinate(i, k).f64());
    let y = standardised(y, &weights)?;
    let whole = Problem::new(Points::from_cols(x.as_ref()), y.as_ref()).weighted(&weights);
    let part = |rows: std::ops::Range<usize>| Part::new(whole, &rows.collect::<Vec<_>>());
    Ok([part(0..size - held), part(size - held..size)])
}

/// The columns that vary by more than rounding, each less its weighted mean and over its standard
/// deviation.
fn standardised<T: Scalar>(y: MatRef<'_, T>, weights: &[f64]) -> Result<Mat<f64>> {
    let total: f64 = weights.iter().sum();
    let mean = |f: &dyn Fn(usize) -> f64| -> f64 {
        weights.iter().enumerate().map(|(i, w)| w / total * f(i)).sum()
    };
    let (mut varying, mut largest) = (vec![], 0.0_f64);
    for y in y.col_iter() {
        let center = mean(&|i| y[i].f64());
        let sd = mean(&|i| (y[i].f64() - center).powi(2)).sqrt();
        if sd > 1e-12 * y.norm_max().f64() {
            varying.push((y, center, 1.0 / sd));
            largest = largest.max(sd);
        }
    }
    validate::require(
        largest > 0.0 && largest.is_finite(),
        "standard deviation of the targets",
        largest,
        "positive and finite: a target that does not vary has no metric",
    )?;
    let standard = |i: usize, j: usize| {
        let (y, center, inverse_sd) = varying[j];
        (y[i].f64() - center) * inverse_sd
    };
    Ok(Mat::from_fn(y.nrows(), varying.len(), standard))
}
