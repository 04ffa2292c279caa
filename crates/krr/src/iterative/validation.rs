//! Validation points, at which the fits of a path have errors.

use crate::metrics::weighted_mse;
use crate::model::Targets;
use crate::{Device, FitReport, KrrModel, Problem, SolvedBy};
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{ConjugateGradients, Result, Scalar, ops};
use rayon::prelude::*;

/// Rows that are evaluated at a time.
const TILE_ROWS: usize = 256;

/// The points and targets of a validation sample, with their kernel values if memory holds them.
pub(crate) struct Validation<'a, K, T> {
    kernel: &'a K,
    device: Option<&'a dyn Device<K, T>>,
    /// The targets of the fits.
    pub targets: &'a Targets<'a, T, f64>,
    valid: Problem<'a, T>,
    /// k(x_i, z_j) for validation points x_i, a tile of rows each, and training points z_j.
    kept: Option<Vec<Mat<T>>>,
}

impl<'a, T: Scalar, K: Kernel<T> + Clone> Validation<'a, K, T> {
    /// With all kernel values stored, if they take at most `bytes` and there is no device.
    pub fn new(
        (kernel, device): (&'a K, Option<&'a dyn Device<K, T>>),
        targets: &'a Targets<'a, T, f64>,
        valid: Problem<'a, T>,
        bytes: u64,
    ) -> Self {
        let (x, v) = (targets.samples.x, valid.x.len());
        let needed = (v as u64 * x.len() as u64).checked_mul(size_of::<T>() as u64);
        let evaluated = |block: usize| {
            let start = block * TILE_ROWS;
            kernel.eval(valid.x.slice(start..v.min(start + TILE_ROWS)), x)
        };
        let kept = needed
            .is_some_and(|needed| needed <= bytes && device.is_none())
            .then(|| (0..v.div_ceil(TILE_ROWS)).into_par_iter().map(evaluated).collect());
        Validation { kernel, device, targets, valid, kept }
    }

    /// Bytes of kernel values that are kept.
    pub fn kept_bytes(&self) -> u64 {
        let entries = self.kept.iter().flatten().map(|block| block.nrows() * block.ncols());
        (entries.sum::<usize>() * size_of::<T>()) as u64
    }

    /// Kα + 1bᵀ at the validation points.
    fn predicted(&self, alpha: MatRef<'_, f64>, b: &[f64]) -> Result<Mat<T>> {
        let Some(K) = &self.kept else {
            let samples = self.targets.samples;
            let report = FitReport::of_all(SolvedBy::FullConjugateGradients, samples);
            let model =
                KrrModel::from_parts(self.kernel.clone(), samples.x, alpha, Some(b), report)?;
            return match self.device {
                Some(device) => model.predict_on(device, self.valid.x),
                None => model.predict(self.valid.x),
            };
        };
        let alpha = Mat::from_fn(alpha.nrows(), alpha.ncols(), |i, j| T::lit(alpha[(i, j)]));
        let mut f = Mat::from_fn(self.valid.x.len(), b.len(), |_, j| T::lit(b[j]));
        f.as_mut().par_row_chunks_mut(TILE_ROWS).zip(K).for_each(|(f, K)| {
            ops::matmul_here(f, Accum::Add, K.as_ref(), alpha.as_ref(), T::one());
        });
        Ok(f)
    }

    /// The root mean squared validation error of every ridge.
    pub fn errors(&self, gamma: MatRef<'_, f64>) -> Result<Vec<f64>> {
        let (t, ridges) = (self.valid.y.ncols(), gamma.ncols() / self.targets.width());
        let (mut alpha, mut b) = (Mat::zeros(gamma.nrows(), t * ridges), Vec::new());
        for r in 0..ridges {
            let of_ridge = self.targets.of_ridge(r, gamma);
            let (one, constants) = self.targets.coefficients(of_ridge, ops::dot);
            alpha.as_mut().subcols_mut(r * t, t).copy_from(one);
            b.extend(constants);
        }
        // the targets of all ridges side by side: one pass over the validation points
        let (f, valid) = (self.predicted(alpha.as_ref(), &b)?, self.valid);
        let error = |r: usize| {
            let mse = weighted_mse(f.subcols(r * t, t), valid.y, valid.weights)?;
            Ok(if mse.is_nan() { f64::INFINITY } else { mse.sqrt() })
        };
        (0..ridges).map(error).collect()
    }

    /// The relative residual of each ridge, the largest over the targets.
    pub fn residuals(&self, cg: &ConjugateGradients) -> Vec<f64> {
        let of_ridge = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
        cg.residuals().chunks(self.targets.width()).map(of_ridge).collect()
    }
}
