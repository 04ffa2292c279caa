//! Right-hand sides and coefficients of regression on all the data.

use crate::{FitReport, Problem, SolvedBy};
use faer::{Mat, MatRef};
use nystrom_linalg_core::{Scalar, ops};

/// √D[y − ȳ, 1], the 1 only with an intercept, and the way back from M⁻¹ times it.
pub(crate) struct Targets<'a> {
    b: Mat<f64>,
    root: &'a [f64],
    mean: Vec<f64>,
    intercept: bool,
}

impl<'a> Targets<'a> {
    pub fn new<T: Scalar>(samples: Problem<'_, T>, root: &'a [f64], intercept: bool) -> Self {
        let t = samples.y.ncols();
        let mean = if intercept { samples.mean_target() } else { vec![0.0; t] };
        let b = Mat::from_fn(root.len(), t + usize::from(intercept), |i, j| {
            root[i] * if j < t { samples.y[(i, j)].f64() - mean[j] } else { 1.0 }
        });
        Targets { b, root, mean, intercept }
    }

    /// Columns for one ridge.
    pub fn width(&self) -> usize {
        self.b.ncols()
    }

    /// The same columns for each of so many ridges.
    pub fn right_hand_side(&self, ridges: usize) -> Mat<f64> {
        let width = self.width();
        Mat::from_fn(self.b.nrows(), ridges * width, |i, j| self.b[(i, j % width)])
    }

    /// α = √D M⁻¹√D(y − b) and b from γ = M⁻¹√D[y − ȳ, 1].
    pub fn coefficients(&self, gamma: MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>) {
        let (root, t) = (self.root, self.mean.len());
        let b: Vec<f64> =
            (0..t).map(|j| if self.intercept { ratio(root, gamma, j) } else { 0.0 }).collect();
        let alpha = Mat::from_fn(gamma.nrows(), t, |i, j| {
            root[i] * (gamma[(i, j)] - if self.intercept { b[j] * gamma[(i, t)] } else { 0.0 })
        });
        (alpha, b.iter().zip(&self.mean).map(|(b, mean)| b + mean).collect())
    }
}

/// (uᵀM⁻¹√Dy)/(uᵀM⁻¹u), u = √D1: the constant in column j of M⁻¹√D[y, 1].
fn ratio(root: &[f64], gamma: MatRef<'_, f64>, j: usize) -> f64 {
    let column = |j: usize| gamma.col(j).try_as_col_major().expect("columns lie in one piece");
    let against = |j: usize| ops::dot(root, column(j).as_slice());
    let whole = against(gamma.ncols() - 1);
    if whole > 0.0 { against(j) / whole } else { 0.0 } // 0 before the first iteration
}

/// Sizes and cost; how it went is for the caller to add.
pub(crate) fn report<T: Scalar>(
    samples: Problem<'_, T>,
    ridge: f64,
    kernel_entries: u64,
) -> FitReport {
    FitReport {
        n: samples.x.len(),
        m: samples.x.len(),
        d: samples.x.dim(),
        t: samples.y.ncols(),
        ridge,
        jitter: 0.0,
        solver: SolvedBy::FullConjugateGradients,
        reason: String::new(),
        condition: 1.0,
        kernel_entries,
    }
}
