//! Targets of regression on all the data: centred and weighted, and the way back.

use crate::Problem;
use faer::{Mat, MatRef};
use nystrom_linalg_core::Scalar;

/// √D[y − ȳ, 1], the 1 only with an intercept, and the way back from M⁻¹ times it, which is in V.
pub(crate) struct Targets<'a, T, V> {
    samples: Problem<'a, T>,
    /// √D.
    root: &'a [V],
    /// ȳ, or 0 without an intercept.
    mean: Vec<f64>,
    pub intercept: bool,
}

impl<'a, T: Scalar, V: Scalar> Targets<'a, T, V> {
    pub fn new(samples: Problem<'a, T>, root: &'a [V], intercept: bool) -> Self {
        Targets { samples, root, mean: samples.mean_target(intercept), intercept }
    }

    /// Columns for one ridge.
    pub fn width(&self) -> usize {
        self.mean.len() + usize::from(self.intercept)
    }

    /// The same columns for each of so many ridges.
    pub fn right_hand_side(&self, ridges: usize) -> Mat<V> {
        let (width, t) = (self.width(), self.mean.len());
        let y = |i: usize, j: usize| V::lit(self.samples.y[(i, j)].f64() - self.mean[j]);
        let entry = |i: usize, j: usize| self.root[i] * if j < t { y(i, j) } else { V::one() };
        Mat::from_fn(self.root.len(), ridges * width, |i, j| entry(i, j % width))
    }

    /// α = √D M⁻¹√D(y − b) and b from γ = M⁻¹√D[y − ȳ, 1]. `dot` takes inner products for b.
    pub fn coefficients(
        &self,
        gamma: MatRef<'_, V>,
        dot: impl Fn(&[V], &[V]) -> f64,
    ) -> (Mat<f64>, Vec<f64>) {
        let (root, t) = (self.root, self.mean.len());
        let against = |j: usize| {
            let column = gamma.col(j).try_as_col_major().expect("columns lie in one piece");
            dot(root, column.as_slice())
        };
        // (uᵀM⁻¹√Dy)/(uᵀM⁻¹u), u = √D1; 0 before the first iteration
        let whole = if self.intercept { against(t) } else { 0.0 };
        let b = |j: usize| if whole > 0.0 { against(j) / whole } else { 0.0 };
        let b: Vec<f64> = (0..t).map(b).collect();
        let alpha = Mat::from_fn(gamma.nrows(), t, |i, j| {
            let constant = if self.intercept { b[j] * gamma[(i, t)].f64() } else { 0.0 };
            root[i].f64() * (gamma[(i, j)].f64() - constant)
        });
        (alpha, b.iter().zip(&self.mean).map(|(b, mean)| b + mean).collect())
    }
}
