//! Products of K_nM with vectors, as sums over rows.

use super::RowSums;
use super::bytes::{Hash, Reader, Writer, wrong};
use super::fingerprint::instruction_set;
use super::waiting::Waiting;
use crate::Problem;
use faer::reborrow::*;
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, Points, kernel_probe};
use nystrom_linalg_core::{Result, Scalar, ops, validate};
use rayon::prelude::*;
use std::sync::Arc;

/// Which sums these are, in a file.
const KIND: u8 = 3;

/// Rows that one thread takes at once: their kernel values stay in its cache.
const CHUNK: usize = 64;

/// What an iteration of [`Falkon`](crate::Falkon) takes from the rows: K_nMᵀDK_nM u for a given u,
/// or K_nMᵀD\[y 1\] before there is one. D holds the sample weights.
///
/// [`Falkon::fit_passes`](crate::Falkon::fit_passes) makes and reads them; who runs passes needs
/// [`RowSums`] alone. Nothing but the sum is held, M × t numbers, and 64·M for each thread.
#[derive(Debug, Clone)]
pub struct CenterProducts<K, T> {
    shared: Arc<Shared<K, T>>,
    /// M × t, or M × (t + 1).
    out: Mat<f64>,
    sums: Sums,
    waiting: Waiting<T>,
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
        let hash = Hash::new().bytes(T::NAME.as_bytes()).bytes(instruction_set().as_bytes());
        let hash = [centers.dim(), centers.len(), targets]
            .iter()
            .fold(hash, |hash, &size| hash.integer(size as u64));
        let probe = kernel_probe(kernel, centers);
        let hash = probe.col_iter().flat_map(|col| col.iter()).fold(hash, |h, k| h.number(k.f64()));
        let u = direction.iter().flat_map(|u| u.col_iter()).flat_map(|col| col.iter());
        let fingerprint = u.fold(hash, |hash, u| hash.number(*u)).value();
        let (kernel, centers) = (kernel.clone(), centers.as_cols().to_owned());
        Self::over_no_rows(Arc::new(Shared { kernel, centers, direction, targets, fingerprint }))
    }

    fn over_no_rows(shared: Arc<Shared<K, T>>) -> Self {
        let (m, t) = (shared.centers.ncols(), shared.targets);
        let columns = shared.direction.as_ref().map_or(t + 1, Mat::ncols);
        let waiting = Waiting::new(shared.centers.nrows(), t);
        let sums = Sums { rows: 0, weight: 0.0, targets: vec![0.0; t] };
        CenterProducts { out: Mat::zeros(m, columns), sums, waiting, shared }
    }

    /// The sums, once all rows are in them.
    pub(crate) fn finish(mut self) -> (Mat<f64>, Sums) {
        self.take_waiting();
        (self.out, self.sums)
    }

    /// Adds the rows that wait for a whole tile.
    fn take_waiting(&mut self) {
        let taken = self.waiting.len();
        if taken == 0 {
            return;
        }
        let tile = self.waiting.first(taken);
        let (shared, m) = (&*self.shared, self.out.nrows());
        let starts: Vec<usize> = (0..taken).step_by(CHUNK).collect();
        let parts = starts.into_par_iter().map_init(
            || Mat::zeros(m, CHUNK),
            |room, start| shared.product(tile.slice(start..taken.min(start + CHUNK)), room),
        );
        let parts: Vec<Mat<f64>> = parts.collect();
        parts.into_iter().for_each(|part| self.out += part);
        let w = |i: usize| tile.weight(i);
        self.sums.rows += taken as u64;
        self.sums.weight += (0..taken).map(w).sum::<f64>();
        for (j, sum) in self.sums.targets.iter_mut().enumerate() {
            *sum += (0..taken).map(|i| w(i) * tile.y[(i, j)].f64()).sum::<f64>();
        }
        self.waiting.drop_first(taken);
    }

    fn check_fingerprint(&self, other: u64) -> Result<()> {
        if other == self.shared.fingerprint {
            return Ok(());
        }
        Err(wrong("they are products with another vector, kernel or other centres".into()))
    }

    /// How many numbers there are in a file.
    fn numbers(&self) -> usize {
        3 + self.shared.targets + self.out.nrows() * self.out.ncols()
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

impl<T: Scalar, K: Kernel<T> + Clone> RowSums<T> for CenterProducts<K, T> {
    fn empty(&self) -> Self {
        Self::over_no_rows(self.shared.clone())
    }

    fn rows(&self) -> u64 {
        self.sums.rows + self.waiting.len() as u64
    }

    fn accumulate(&mut self, block: Problem<'_, T>) -> Result<()> {
        let shared = self.shared.clone();
        block.check_block(&shared.kernel)?;
        Points::from_cols(shared.centers.as_ref()).check_same_dim(block.x)?;
        let what = "targets of the block against those of the fit";
        validate::same_size(what, shared.targets, block.y.ncols())?;
        for i in 0..block.x.len() {
            self.waiting.push(block, i);
            if self.waiting.is_full() {
                self.take_waiting();
            }
        }
        Ok(())
    }

    fn merge(&mut self, mut later: Self) -> Result<()> {
        self.check_fingerprint(later.shared.fingerprint)?;
        self.take_waiting();
        later.take_waiting();
        self.out += later.out;
        self.sums.rows += later.sums.rows;
        self.sums.weight += later.sums.weight;
        self.sums.targets.iter_mut().zip(&later.sums.targets).for_each(|(a, b)| *a += b);
        Ok(())
    }

    fn to_bytes(&mut self) -> Result<Vec<u8>> {
        self.take_waiting();
        let mut out = Writer::new(KIND, self.numbers());
        out.integer(self.shared.fingerprint);
        out.integer(self.sums.rows);
        out.number(self.sums.weight);
        out.numbers(&self.sums.targets);
        self.out.col_iter().for_each(|col| col.iter().for_each(|x| out.number(*x)));
        Ok(out.finish())
    }

    fn read(&self, bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes, KIND, self.numbers())?;
        self.check_fingerprint(reader.integer())?;
        let mut new = self.empty();
        new.sums.rows = reader.integer();
        new.sums.weight = reader.number();
        new.sums.targets = reader.numbers(self.shared.targets);
        new.out = Mat::from_fn(self.out.nrows(), self.out.ncols(), |_, _| reader.number());
        Ok(new)
    }
}
