//! Products of K_nM with vectors, as sums over rows.

use super::bytes::{Hash, Reader, Writer};
use super::fingerprint::instruction_set;
use super::tiled::{TileSums, Tiled};
use crate::Problem;
use faer::reborrow::*;
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, Points, kernel_probe};
use nystrom_linalg_core::{Result, Scalar, ops};
use rayon::prelude::*;
use std::sync::Arc;

/// Rows that one thread takes at once: their kernel values stay in its cache.
const CHUNK: usize = 64;

/// What an iteration of [`Falkon`](crate::Falkon) takes from the rows: K_nMᵀDK_nM u for a given u,
/// or K_nMᵀD\[y 1\] before there is one. D holds the sample weights.
///
/// [`Falkon::fit_passes`](crate::Falkon::fit_passes) makes and reads them; who runs passes needs
/// [`RowSums`](crate::RowSums) alone. Nothing but the sum is held, M × t numbers, and 64·M for each
/// thread.
pub type CenterProducts<K, T> = Tiled<ProductSums<K, T>, T>;

/// What [`CenterProducts`] adds up.
#[derive(Debug, Clone)]
pub struct ProductSums<K, T> {
    shared: Arc<Shared<K, T>>,
    /// M × t, or M × (t + 1).
    out: Mat<f64>,
    sums: Sums,
}

#[derive(Debug)]
struct Shared<K, T> {
    kernel: K,
    /// d × M.
    centers: Mat<T>,
    /// u.
    direction: Option<Mat<f64>>,
    /// t.
    targets: usize,
    fingerprint: u64,
}

/// The sums that are no vectors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sums {
    pub rows: u64,
    /// Σ w.
    pub weight: f64,
    /// Σ w y.
    pub targets: Vec<f64>,
}

impl<T: Scalar, K: Kernel<T> + Clone> CenterProducts<K, T> {
    /// K_nMᵀD\[y 1\], for t targets.
    pub(crate) fn moments(kernel: &K, centers: Points<'_, T>, targets: usize) -> Self {
        Self::of(kernel, centers, targets, None)
    }

    /// K_nMᵀDK_nM u.
    pub(crate) fn normal(
        kernel: &K,
        centers: Points<'_, T>,
        targets: usize,
        u: MatRef<'_, f64>,
    ) -> Self {
        Self::of(kernel, centers, targets, Some(u.to_owned()))
    }

    fn of(kernel: &K, centers: Points<'_, T>, targets: usize, direction: Option<Mat<f64>>) -> Self {
        let hash = fingerprint(kernel, centers, targets);
        let u = direction.iter().flat_map(|u| u.col_iter()).flat_map(|col| col.iter());
        let fingerprint = u.fold(hash, |hash, u| hash.number(*u)).value();
        let (kernel, centers) = (kernel.clone(), centers.as_cols().to_owned());
        let shared = Shared { kernel, centers, direction, targets, fingerprint };
        Tiled::over_no_rows(ProductSums::over_no_rows(Arc::new(shared)))
    }

    /// The sums, once all rows are in them.
    pub(crate) fn finish(mut self) -> Result<(Mat<f64>, Sums)> {
        self.whole()?;
        Ok((self.sums.out, self.sums.sums))
    }
}

/// Of kernel, centres, scalar type and instruction set.
pub(super) fn fingerprint<T: Scalar>(
    kernel: &impl Kernel<T>,
    centers: Points<'_, T>,
    targets: usize,
) -> Hash {
    let hash = Hash::new().bytes(T::NAME.as_bytes()).bytes(instruction_set().as_bytes());
    let sizes = [centers.dim(), centers.len(), targets];
    let hash = sizes.iter().fold(hash, |hash, &size| hash.integer(size as u64));
    let probe = kernel_probe(kernel, centers);
    probe.col_iter().flat_map(|col| col.iter()).fold(hash, |h, k| h.number(k.f64()))
}

impl<T: Scalar, K> ProductSums<K, T> {
    fn over_no_rows(shared: Arc<Shared<K, T>>) -> Self {
        let (m, t) = (shared.centers.ncols(), shared.targets);
        let columns = shared.direction.as_ref().map_or(t + 1, Mat::ncols);
        let sums = Sums { rows: 0, weight: 0.0, targets: vec![0.0; t] };
        ProductSums { out: Mat::zeros(m, columns), sums, shared }
    }
}

impl<T: Scalar, K: Kernel<T>> Shared<K, T> {
    /// Of a few rows, on this thread.
    fn product(&self, rows: Problem<'_, T>, room: &mut Mat<T>) -> Mat<f64> {
        let (count, centers) = (rows.x.len(), Points::from_cols(self.centers.as_ref()));
        let mut K = room.as_mut().subcols_mut(0, count); //                     M × rows
        self.kernel.eval_into(K.rb_mut(), centers, rows.x);
        let mut wide = Mat::new();
        let K = ops::widened(K.into_const(), &mut wide);
        let w = |i: usize| rows.weight(i);
        let right = match &self.direction {
            Some(u) => {
                let mut f = Mat::zeros(count, u.ncols());
                ops::matmul_here(f.as_mut(), Accum::Replace, K.transpose(), u.as_ref(), 1.0);
                Mat::from_fn(count, u.ncols(), |i, j| w(i) * f[(i, j)])
            }
            None => Mat::from_fn(count, self.targets + 1, |i, j| {
                w(i) * if j < self.targets { rows.y[(i, j)].f64() } else { 1.0 }
            }),
        };
        let mut out = Mat::zeros(K.nrows(), right.ncols());
        ops::matmul_here(out.as_mut(), Accum::Replace, K, right.as_ref(), 1.0);
        out
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> TileSums<T> for ProductSums<K, T> {
    const KIND: u8 = 3;
    type Room = ();

    fn empty(&self) -> Self {
        Self::over_no_rows(self.shared.clone())
    }

    fn kernel(&self) -> &impl Kernel<T> {
        &self.shared.kernel
    }

    fn sizes(&self) -> (usize, usize) {
        (self.shared.centers.nrows(), self.shared.targets)
    }

    fn rows(&self) -> u64 {
        self.sums.rows
    }

    fn fingerprint(&self) -> u64 {
        self.shared.fingerprint
    }

    fn otherwise(&self) -> &'static str {
        "another vector, kernel or other centres"
    }

    fn add(&mut self, tile: Problem<'_, T>, (): &mut ()) -> Result<()> {
        let (shared, m, rows) = (&*self.shared, self.out.nrows(), tile.x.len());
        let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
        let parts = starts.into_par_iter().map_init(
            || Mat::zeros(m, CHUNK),
            |room, start| shared.product(tile.slice(start..rows.min(start + CHUNK)), room),
        );
        let parts: Vec<Mat<f64>> = parts.collect();
        parts.into_iter().for_each(|part| self.out += part);
        let w = |i: usize| tile.weight(i);
        self.sums.rows += rows as u64;
        self.sums.weight += (0..rows).map(w).sum::<f64>();
        for (j, sum) in self.sums.targets.iter_mut().enumerate() {
            *sum += (0..rows).map(|i| w(i) * tile.y[(i, j)].f64()).sum::<f64>();
        }
        Ok(())
    }

    fn plus(&mut self, later: Self) {
        self.out += later.out;
        self.sums.rows += later.sums.rows;
        self.sums.weight += later.sums.weight;
        self.sums.targets.iter_mut().zip(&later.sums.targets).for_each(|(a, b)| *a += b);
    }

    fn numbers(&self) -> usize {
        2 + self.shared.targets + self.out.nrows() * self.out.ncols()
    }

    fn write(&self, out: &mut Writer) {
        out.integer(self.sums.rows);
        out.number(self.sums.weight);
        out.numbers(&self.sums.targets);
        self.out.col_iter().for_each(|col| col.iter().for_each(|x| out.number(*x)));
    }

    fn read(&self, reader: &mut Reader<'_>) -> Result<Self> {
        let (rows, weight) = (reader.integer(), reader.number());
        let sums = Sums { rows, weight, targets: reader.numbers(self.shared.targets) };
        let out = Mat::from_fn(self.out.nrows(), self.out.ncols(), |_, _| reader.number());
        Ok(ProductSums { out, sums, shared: self.shared.clone() })
    }
}
