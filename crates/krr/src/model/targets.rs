//! Right-hand sides of regression on all the data, and the model of their solutions.

use crate::{FitReport, KrrModel, Problem};
use faer::{Mat, MatRef};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar};

/// The right-hand side √D[y − ȳ, 1], the 1 only with an intercept, for solutions γ in V.
pub(crate) struct Targets<'a, T, V> {
    pub samples: Problem<'a, T>,
    /// √D.
    pub root: Vec<V>,
    /// ȳ, or 0 without an intercept.
    mean: Vec<f64>,
    intercept: bool,
}

impl<'a, T: Scalar, V: Scalar> Targets<'a, T, V> {
    pub fn new(samples: Problem<'a, T>, intercept: bool) -> Self {
        let (root, mean) = (samples.root_weights(), samples.mean_target(intercept));
        Targets { samples, root, mean, intercept }
    }

    /// The number of columns for one ridge.
    pub fn width(&self) -> usize {
        self.mean.len() + usize::from(self.intercept)
    }

    /// The columns of ridge r.
    pub fn of_ridge<'g>(&self, r: usize, gamma: MatRef<'g, V>) -> MatRef<'g, V> {
        gamma.subcols(r * self.width(), self.width())
    }

    /// √D[y − ȳ, 1], repeated for each ridge.
    pub fn right_hand_side(&self, ridges: usize) -> Mat<V> {
        let (width, t) = (self.width(), self.mean.len());
        let y = |i: usize, j: usize| V::lit(self.samples.y[(i, j)].f64() - self.mean[j]);
        let entry = |i: usize, j: usize| self.root[i] * if j < t { y(i, j) } else { V::one() };
        Mat::from_fn(self.root.len(), ridges * width, |i, j| entry(i, j % width))
    }

    /// γ = D^(−1/2)α where there is weight, and 0 for the constant.
    pub fn start(&self, alpha: MatRef<'_, T>) -> Mat<V> {
        let (root, t) = (&self.root, self.mean.len());
        Mat::from_fn(root.len(), self.width(), |i, j| {
            if j < t && root[i] > V::zero() {
                V::lit(alpha[(i, j)].f64()) / root[i]
            } else {
                V::zero()
            }
        })
    }

    /// α = √D M⁻¹√D(y − b) and b from γ = M⁻¹√D[y − ȳ, 1]. `dot` takes inner products for b.
    pub fn coefficients(
        &self,
        gamma: MatRef<'_, V>,
        dot: impl Fn(&[V], &[V]) -> f64,
    ) -> (Mat<f64>, Vec<f64>) {
        let (root, t) = (&self.root, self.mean.len());
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

    /// The model of α and b as [`coefficients`](Self::coefficients) makes them.
    pub fn model<K: Kernel<T>>(
        &self,
        kernel: K,
        gamma: MatRef<'_, V>,
        dot: impl Fn(&[V], &[V]) -> f64,
        report: FitReport,
    ) -> Result<KrrModel<K, T>> {
        let (alpha, b) = self.coefficients(gamma, dot);
        let b = self.intercept.then_some(&b[..]);
        KrrModel::from_parts(kernel, self.samples.x, alpha.as_ref(), b, report)
    }
}
