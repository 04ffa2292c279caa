//! K_nM by tiles: evaluated anew in every pass, or kept as far as the memory goes.

use crate::input::Samples;
use crate::iterative::MemoryPlan;
use faer::{Accum, Mat, MatRef, Par};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{RowTree, Scalar, ops};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The n × M matrix K_nM with entries k(x_i, z_j).
pub(crate) struct KernelTiles<'a, T, K> {
    kernel: &'a K,
    centers: Points<'a, T>,
    pub samples: Samples<'a, T>,
    tile_rows: usize,
    /// The first rows of K_nM, transposed: M × kept.
    kept: Mat<T>,
    count: &'a Count,
}

/// What has been done so far.
#[derive(Default)]
pub(crate) struct Count {
    entries: AtomicU64,
    passes: AtomicUsize,
}

impl Count {
    /// Entries evaluated.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Passes over K_nM.
    pub fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }
}

impl<'a, T: Scalar, K: Kernel<T>> KernelTiles<'a, T, K> {
    /// Evaluates the rows that are kept.
    pub fn new(
        kernel: &'a K,
        centers: Points<'a, T>,
        samples: Samples<'a, T>,
        plan: &MemoryPlan,
        count: &'a Count,
    ) -> Self {
        let mut kept = Mat::zeros(centers.len(), plan.kept_rows);
        if plan.kept_rows > 0 {
            kernel.eval_into(kept.as_mut(), centers, samples.x.slice(0..plan.kept_rows));
        }
        count.entries.fetch_add(kept.nrows() as u64 * kept.ncols() as u64, Ordering::Relaxed);
        KernelTiles { kernel, centers, samples, tile_rows: plan.tile_rows, kept, count }
    }

    /// M.
    pub fn order(&self) -> usize {
        self.centers.len()
    }

    /// n.
    pub fn len(&self) -> usize {
        self.samples.x.len()
    }

    /// K_nMᵀ D K_nM u for u M × t and D the sample weights: one pass, in which each entry serves both products.
    pub fn normal(&self, u: MatRef<'_, f64>) -> Mat<f64> {
        let samples = self.samples;
        self.pass(u.ncols(), |K, rows| {
            let mut w = Mat::zeros(rows.len(), u.ncols());
            add_product(&mut w, K, u); //                           w = K_b u
            if samples.weights.is_some() {
                for j in 0..w.ncols() {
                    rows.clone().enumerate().for_each(|(s, i)| w[(s, j)] *= samples.weight(i));
                }
            }
            w
        })
    }

    /// K_nMᵀ D g for an n × t matrix g given by its entries: one pass.
    pub fn moment(&self, t: usize, g: impl Fn(usize, usize) -> f64 + Sync) -> Mat<f64> {
        let samples = self.samples;
        self.pass(t, |_, rows| {
            Mat::from_fn(rows.len(), t, |s, j| samples.weight(rows.start + s) * g(rows.start + s, j))
        })
    }

    /// Σ_b K_bᵀ w_b over the tiles b, with w_b (rows of the tile × t) what `w` makes of K_b; summed along the row tree.
    fn pass(&self, t: usize, w: impl Fn(MatRef<'_, f64>, Range<usize>) -> Mat<f64> + Sync) -> Mat<f64> {
        self.count_pass();
        let leaf = |rows| {
            let mut sum = Mat::zeros(self.order(), t);
            let (mut tile, mut wide) = (self.buffer(self.tile_rows), Mat::new());
            for rows in RowTree::tiles(rows, self.tile_rows) {
                let Kt = ops::widened(self.tile(&mut tile, rows.clone()), &mut wide);
                let w = w(Kt.transpose(), rows);
                add_product(&mut sum, Kt, w.as_ref());
            }
            sum
        };
        RowTree::new(self.len()).reduce(leaf, |a, b| a + b).unwrap_or_else(|| Mat::zeros(self.order(), t))
    }

    /// To be called once for every pass that goes through [`tile`](Self::tile).
    pub fn count_pass(&self) {
        let recomputed = (self.len() - self.kept.ncols()) as u64 * self.order() as u64;
        self.count.passes.fetch_add(1, Ordering::Relaxed);
        self.count.entries.fetch_add(recomputed, Ordering::Relaxed);
    }

    /// Room for a tile of `rows` rows that is not kept.
    pub fn buffer(&self, rows: usize) -> Mat<T> {
        let room = if self.kept.ncols() == self.len() { 0 } else { rows.min(self.len()) };
        Mat::zeros(self.order(), room)
    }

    /// K_bᵀ, M × rows.len(), kept or evaluated into `buffer`.
    pub fn tile<'t>(&'t self, buffer: &'t mut Mat<T>, rows: Range<usize>) -> MatRef<'t, T> {
        if rows.end <= self.kept.ncols() {
            return self.kept.as_ref().subcols(rows.start, rows.len());
        }
        let mut tile = buffer.as_mut().subcols_mut(0, rows.len());
        self.kernel.eval_into(tile.rb_mut(), self.centers, self.samples.x.slice(rows));
        tile.into_const()
    }
}

/// out += a·x on this thread: the tiles are what runs in parallel.
fn add_product(out: &mut Mat<f64>, a: MatRef<'_, f64>, x: MatRef<'_, f64>) {
    faer::linalg::matmul::matmul(out.as_mut(), Accum::Add, a, x, 1.0, Par::Seq);
}

use faer::reborrow::*;
