//! The kernel density estimate by summing over all pairs, tile by tile.

use super::{Standardised, Sums};
use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, KernelMatrix, Points};
use nystrom_linalg_core::{PsdMatrix, Result};
use rayon::prelude::*;

/// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i, itself included: n² kernel values in tiles of 256 × n, O(256·n) memory.
pub(crate) fn sums(x: &Standardised, h: f64) -> Result<Sums> {
    let points = Points::from_cols(MatRef::from_column_major_slice(&x.coords, x.dim(), x.n));
    let kernel = KernelMatrix::new(Gaussian::new(h)?, points)?;
    let ones = Mat::from_fn(x.n, 1, |_, _| 1.0);
    let mut sums = Mat::zeros(x.n, 1);
    kernel.mul_into(sums.as_mut(), ones.as_ref());
    Ok(Sums { values: sums.col_as_slice(0).to_vec(), operations: (x.n as u64).pow(2) })
}

/// The same sum for the points `queries` only, without tiles: queries·n kernel values.
pub(crate) fn sums_at(x: &Standardised, h: f64, queries: &[usize]) -> Vec<f64> {
    let scale = -0.5 / (h * h);
    let squared = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let at = |&i: &usize| (0..x.n).map(|j| (scale * squared(x.point(i), x.point(j))).exp()).sum();
    queries.par_iter().map(at).collect()
}
