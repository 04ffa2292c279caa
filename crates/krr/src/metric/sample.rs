//! The rows that a metric is learned from.

use super::LearnedMetric;
use crate::input::Samples;
use faer::Mat;
use nystrom_linalg_core::{Error, Indices, Result, Scalar, random};
use rand::Rng;

/// Rows drawn from the data, in `f64`, in random order; so any first few of them are a sample too.
pub(super) struct Sample {
    /// d × n.
    pub x: Mat<f64>,
    /// n × t: targets of mean 0 and standard deviation 1; constant ones are 0.
    pub y: Mat<f64>,
    /// n.
    pub weights: Vec<f64>,
}

impl Sample {
    /// At most `rows` rows.
    ///
    /// # Errors
    /// `InvalidParameter` if every target is constant, `InvalidWeight` if all weights drawn are 0.
    pub fn draw<T: Scalar>(
        data: Samples<'_, T>,
        settings: &LearnedMetric,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let n = data.x.len();
        let rows = random::uniform_subset(n, settings.fit_rows.min(n), rng)?;
        let weights: Vec<f64> = rows.iter().map(|&i| data.weight(i)).collect();
        nystrom_linalg_core::validate::weights("sample weights of the rows drawn", &weights)?;
        let narrow = data.x.gather(Indices::from(&rows[..]));
        let x = Mat::from_fn(narrow.nrows(), narrow.ncols(), |k, i| narrow[(k, i)].f64());
        let y = standardised(
            Mat::from_fn(rows.len(), data.y.ncols(), |s, j| data.y[(rows[s], j)].f64()),
            &weights,
        )?;
        Ok(Sample { x, y, weights })
    }

    /// n.
    pub fn len(&self) -> usize {
        self.weights.len()
    }
}

/// Each column less its weighted mean, over its standard deviation if that is no rounding error.
fn standardised(mut y: Mat<f64>, weights: &[f64]) -> Result<Mat<f64>> {
    let total: f64 = weights.iter().sum();
    let mut largest: f64 = 0.0;
    for column in y.as_mut().col_iter_mut() {
        let mut column = column;
        let mean_of = |f: &dyn Fn(f64) -> f64| -> f64 {
            column.iter().zip(weights).map(|(y, w)| w / total * f(*y)).sum()
        };
        let size = column.iter().fold(0.0, |size: f64, y| size.max(y.abs()));
        let mean = mean_of(&|y| y);
        let sd = mean_of(&|y| (y - mean).powi(2)).sqrt();
        let varies = sd > 1e-12 * size;
        column.iter_mut().for_each(|y| *y = if varies { (*y - mean) / sd } else { 0.0 });
        largest = largest.max(if varies { sd } else { 0.0 });
    }
    if largest > 0.0 && largest.is_finite() {
        return Ok(y);
    }
    Err(Error::InvalidParameter {
        name: "standard deviation of the targets",
        value: largest,
        requirement: "positive and finite: a target that does not vary has no metric",
    })
}
