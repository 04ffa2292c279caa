//! The kernel density estimate by sums over all pairs, tile by tile.

use super::{Standardised, Sums};
use faer::Mat;
use faer::reborrow::*;
use nystrom_kernels::{Gaussian, Kernel, KernelMatrix};
use nystrom_linalg_core::{PsdMatrix, Result, RowTree};
use std::ops::Range;

/// Points in a tile of [`sums_at`].
const TILE: usize = 1024;

/// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i, including j = i: n² kernel values in tiles of 256 × n,
/// O(256·n) memory.
pub(crate) fn sums(x: &Standardised, h: f64) -> Result<Sums> {
    let kernel = KernelMatrix::new(Gaussian::new(h)?, x.points())?;
    let ones = Mat::from_fn(x.n, 1, |_, _| 1.0);
    let mut sums = Mat::zeros(x.n, 1);
    kernel.mul_into(sums.as_mut(), ones.as_ref());
    Ok(Sums { values: sums.col_as_slice(0).to_vec(), operations: (x.n as u64).pow(2) })
}

/// The same sums for the points `queries` only: queries·n kernel values, in tiles of queries
/// × 1024.
pub(crate) fn sums_at(x: &Standardised, h: f64, queries: &[usize]) -> Result<Vec<f64>> {
    let (kernel, points) = (Gaussian::new(h)?, x.points());
    let at = points.gather(queries.into());
    let at = at.points();
    let leaf = |rows: Range<usize>| {
        let mut sums = vec![0.0; queries.len()];
        let mut tile = Mat::zeros(queries.len(), TILE);
        for rows in RowTree::tiles(rows, TILE) {
            let mut tile = tile.as_mut().subcols_mut(0, rows.len());
            kernel.eval_into(tile.rb_mut(), at, points.slice(rows));
            for column in tile.rb().col_iter() {
                sums.iter_mut().zip(column.iter()).for_each(|(sum, k)| *sum += k);
            }
        }
        sums
    };
    let plus = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
    Ok(RowTree::new(x.n).reduce(leaf, plus).unwrap_or_else(|| vec![0.0; queries.len()]))
}
