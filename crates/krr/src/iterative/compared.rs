//! Validation points to which the fits of a path are compared.

use crate::{FitReport, KrrModel, Problem, SolvedBy};
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Scalar, ops};
use rayon::prelude::*;

/// Rows that are evaluated at a time.
const TILE_ROWS: usize = 256;

/// The points and targets of a validation sample, with their kernel values where there is room.
pub(crate) struct Compared<'a, K, T> {
    pub valid: Problem<'a, T>,
    kernel: &'a K,
    samples: Problem<'a, T>,
    /// k(x_i, z_j) for validation points x_i, a tile of rows each, and training points z_j.
    kept: Option<Vec<Mat<T>>>,
}

impl<'a, T: Scalar, K: Kernel<T> + Clone> Compared<'a, K, T> {
    /// With all kernel values, if they take at most `room` bytes.
    pub fn new(kernel: &'a K, samples: Problem<'a, T>, valid: Problem<'a, T>, room: u64) -> Self {
        let (v, n) = (valid.x.len(), samples.x.len());
        let fits = (v as u64 * n as u64).checked_mul(size_of::<T>() as u64);
        let evaluated = |block: usize| {
            let start = block * TILE_ROWS;
            kernel.eval(valid.x.slice(start..v.min(start + TILE_ROWS)), samples.x)
        };
        let kept = fits
            .is_some_and(|bytes| bytes <= room)
            .then(|| (0..v.div_ceil(TILE_ROWS)).into_par_iter().map(evaluated).collect());
        Compared { valid, kernel, samples, kept }
    }

    /// Bytes of kernel values that are kept.
    pub fn kept_bytes(&self) -> u64 {
        let entries = self.kept.iter().flatten().map(|block| block.nrows() * block.ncols());
        (entries.sum::<usize>() * size_of::<T>()) as u64
    }

    /// Kα + 1bᵀ at the validation points.
    pub fn predicted(&self, alpha: MatRef<'_, f64>, b: &[f64]) -> Result<Mat<T>> {
        let Some(K) = &self.kept else {
            let report = FitReport::of_all(SolvedBy::FullConjugateGradients, self.samples);
            let (kernel, x) = (self.kernel.clone(), self.samples.x);
            let model = KrrModel::from_parts(kernel, x, alpha, Some(b), report)?;
            return model.predict(self.valid.x);
        };
        let alpha = Mat::from_fn(alpha.nrows(), alpha.ncols(), |i, j| T::lit(alpha[(i, j)]));
        let mut f = Mat::from_fn(self.valid.x.len(), b.len(), |_, j| T::lit(b[j]));
        f.as_mut().par_row_chunks_mut(TILE_ROWS).zip(K).for_each(|(f, K)| {
            ops::matmul_here(f, Accum::Add, K.as_ref(), alpha.as_ref(), T::one());
        });
        Ok(f)
    }
}
