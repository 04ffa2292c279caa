//! The rows that a metric is learned from.

use super::LearnedMetric;
use crate::Problem;
use faer::Mat;
use nystrom_linalg_core::{Indices, Result, Scalar, random, validate};
use rand::Rng;
use std::ops::Range;

/// Rows drawn from the data, in `f64`, in random order, so that any few of them are a sample too.
pub(super) struct Sample {
    /// d × n.
    pub x: Mat<f64>,
    /// n × t: targets of mean 0 and standard deviation 1; constant ones are 0.
    pub y: Mat<f64>,
    /// n, all positive.
    pub weights: Vec<f64>,
}

impl Sample {
    /// At most `fit_rows` rows of positive weight to learn from, and others, at most a fifth of
    /// all, to take errors at.
    ///
    /// # Randomness
    /// A uniform subset of the rows.
    ///
    /// # Errors
    /// `InvalidParameter` if every target is constant, as those of a single row are.
    pub fn draw<T: Scalar>(
        data: Problem<'_, T>,
        settings: &LearnedMetric,
        rng: &mut dyn Rng,
    ) -> Result<[Self; 2]> {
        let all: Vec<usize> = (0..data.x.len()).filter(|&i| data.weight(i) > 0.0).collect();
        let held = settings.held_rows.min(all.len() / 5).max(1);
        let size = settings.fit_rows.saturating_add(held).min(all.len());
        let drawn = random::uniform_subset(all.len(), size, rng)?;
        let rows: Vec<usize> = drawn.into_iter().map(|s| all[s]).collect();
        let weights: Vec<f64> = rows.iter().map(|&i| data.weight(i)).collect();
        let narrow = data.x.gather(Indices::from(&rows[..]));
        let x = Mat::from_fn(narrow.nrows(), narrow.ncols(), |k, i| narrow[(k, i)].f64());
        let y = standardised(
            Mat::from_fn(rows.len(), data.y.ncols(), |s, j| data.y[(rows[s], j)].f64()),
            &weights,
        )?;
        let part = |rows: Range<usize>| Sample {
            x: x.as_ref().subcols(rows.start, rows.len()).to_owned(),
            y: y.as_ref().subrows(rows.start, rows.len()).to_owned(),
            weights: weights[rows].to_vec(),
        };
        Ok([part(0..size - held), part(size - held..size)])
    }

    /// n.
    pub fn len(&self) -> usize {
        self.weights.len()
    }
}

/// Each column less its weighted mean, over its standard deviation if that is no rounding error.
fn standardised(y: Mat<f64>, weights: &[f64]) -> Result<Mat<f64>> {
    let total: f64 = weights.iter().sum();
    let mean = |f: &dyn Fn(usize) -> f64| -> f64 {
        weights.iter().enumerate().map(|(i, w)| w / total * f(i)).sum()
    };
    let (mut units, mut largest) = (vec![], 0.0_f64);
    for y in y.col_iter() {
        let center = mean(&|i| y[i]);
        let sd = mean(&|i| (y[i] - center).powi(2)).sqrt();
        let size = y.iter().fold(0.0, |size: f64, y| size.max(y.abs()));
        let varies = sd > 1e-12 * size;
        units.push((center, if varies { 1.0 / sd } else { 0.0 }));
        largest = largest.max(if varies { sd } else { 0.0 });
    }
    validate::require(
        largest > 0.0 && largest.is_finite(),
        "standard deviation of the targets",
        largest,
        "positive and finite: a target that does not vary has no metric",
    )?;
    Ok(Mat::from_fn(y.nrows(), y.ncols(), |i, j| (y[(i, j)] - units[j].0) * units[j].1))
}
