//! Rows with their features, targets and weights, as a regression takes them.

use crate::error::Result;
use crate::features::Features;
pub(crate) use crate::features::gather;
use crate::kernel::AnyKernel;
use nystrom::faer::Mat;
use nystrom::krr::{LambdaPath, Problem, lambda_grid};
use nystrom::prelude::*;
use std::ops::Range;

/// n rows with mapped features, targets in standard units (n × t) and weights.
pub(crate) struct Examples {
    pub x: Features,
    pub y: Mat<f64>,
    pub weights: Option<Vec<f64>>,
}

impl Examples {
    pub fn points(&self) -> Points<'_, f64> {
        self.x.points()
    }

    pub fn problem(&self) -> Problem<'_, f64> {
        self.part(0..self.y.nrows())
    }

    /// The problem of some of the rows.
    pub fn part(&self, rows: Range<usize>) -> Problem<'_, f64> {
        Problem {
            x: self.points().slice(rows.clone()),
            y: self.y.as_ref().subrows(rows.start, rows.len()),
            weights: self.weights.as_ref().map(|w| &w[rows]),
        }
    }

    /// A copy of these rows.
    pub fn select(&self, rows: &[usize]) -> Examples {
        let weights = self.weights.as_ref();
        Examples {
            x: self.x.select(rows),
            y: gather(self.y.as_ref(), rows),
            weights: weights.map(|w| rows.iter().map(|&row| w[row]).collect()),
        }
    }

    /// The mean square of f − y by weight, over rows and targets, for the predictions f of a model.
    pub fn mean_square(&self, model: &KrrModel<AnyKernel, f64>) -> Result<f64> {
        let f = model.predict(self.points())?;
        let (n, t) = self.y.shape();
        let weight = |i: usize| self.weights.as_ref().map_or(1.0, |w| w[i]);
        let residual = |i: usize, j: usize| f[(i, j)] - self.y[(i, j)];
        let square = |i| weight(i) * (0..t).map(|j| residual(i, j).powi(2)).sum::<f64>();
        let total: f64 = (0..n).map(weight).sum();
        Ok((0..n).map(square).sum::<f64>() / (t as f64 * total))
    }
}

/// Fits with landmarks at 28 values of λ from 0.1 to 1e-10.
pub(crate) fn landmark_path(
    kernel: AnyKernel,
    problem: Problem<'_, f64>,
    landmarks: &Landmarks,
) -> Result<LambdaPath<AnyKernel, f64>> {
    let ridges = lambda_grid(1e-1, 1e-10, 28)?;
    Ok(NystromKrr::without_ridge(kernel).path(problem, landmarks, &ridges)?)
}
