//! K_nM (or KS) by tiles: evaluated anew in every pass, or kept as far as the memory goes.

use crate::Problem;
use crate::iterative::MemoryPlan;
use crate::rows::Source;
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{RowTree, Scalar, ops};
use nystrom_sketch::ProductBuffer;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Rows that are evaluated at once to be kept.
const KEPT_TILE: usize = 1024;

/// The n × M matrix K_nM with entries k(x_i, z_j), or KS for a sketch S: the rows that a [`Source`]
/// computes.
pub(crate) struct Tiles<'a, T> {
    source: &'a dyn Source<T>,
    pub samples: Problem<'a, T>,
    tile_rows: usize,
    /// Its first rows, transposed: M × kept.
    kept: Mat<T>,
    count: &'a Count,
}

/// What has been done so far.
pub(crate) struct Count {
    /// Kernel values that one row takes.
    row: u64,
    entries: AtomicU64,
    passes: AtomicUsize,
}

/// Room for tiles, one per leaf of the row tree.
pub(crate) struct Buffer<T> {
    tile: Mat<T>,
    wide: Mat<f64>,
    product: Option<ProductBuffer<T>>,
}

impl Count {
    /// For rows of `row` kernel values each, `before` having been evaluated.
    pub fn new(row: usize, before: u64) -> Self {
        Count { row: row as u64, entries: AtomicU64::new(before), passes: AtomicUsize::new(0) }
    }

    fn add_rows(&self, rows: usize) {
        self.entries.fetch_add(rows as u64 * self.row, Ordering::Relaxed);
    }

    /// Entries evaluated.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Passes over K_nM.
    pub fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }
}

impl<'a, T: Scalar> Tiles<'a, T> {
    /// Evaluates the rows that are kept, unless `stored` holds them all (M × n).
    pub fn new(
        source: &'a dyn Source<T>,
        samples: Problem<'a, T>,
        plan: &MemoryPlan,
        stored: Option<Mat<T>>,
        count: &'a Count,
    ) -> Self {
        let kept = stored.unwrap_or_else(|| {
            let mut kept = Mat::zeros(source.features(), plan.kept_rows);
            let mut product = None;
            for rows in RowTree::tiles(0..plan.kept_rows, KEPT_TILE) {
                let (out, x) = (
                    kept.as_mut().subcols_mut(rows.start, rows.len()),
                    samples.x.slice(rows.clone()),
                );
                source.fill(out, x, rows, &mut product);
            }
            count.add_rows(plan.kept_rows);
            kept
        });
        Tiles { source, samples, tile_rows: plan.tile_rows, kept, count }
    }

    /// M.
    pub fn order(&self) -> usize {
        self.source.features()
    }

    /// n.
    pub fn len(&self) -> usize {
        self.samples.x.len()
    }

    /// K_nMᵀ D K_nM u for u M × t and D the sample weights: one pass, in which each entry serves
    /// both products.
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
            Mat::from_fn(rows.len(), t, |s, j| {
                samples.weight(rows.start + s) * g(rows.start + s, j)
            })
        })
    }

    /// Σ_b K_bᵀ w_b over the tiles b, with w_b (rows of the tile × t) what `w` makes of K_b; summed
    /// along the row tree.
    fn pass(
        &self,
        t: usize,
        w: impl Fn(MatRef<'_, f64>, Range<usize>) -> Mat<f64> + Sync,
    ) -> Mat<f64> {
        self.count_pass();
        let leaf = |rows| {
            let mut sum = Mat::zeros(self.order(), t);
            let mut buffer = self.buffer(self.tile_rows);
            for rows in RowTree::tiles(rows, self.tile_rows) {
                let Kt = self.tile(&mut buffer, rows.clone());
                let w = w(Kt.transpose(), rows);
                add_product(&mut sum, Kt, w.as_ref());
            }
            sum
        };
        RowTree::new(self.len())
            .reduce(leaf, |a, b| a + b)
            .unwrap_or_else(|| Mat::zeros(self.order(), t))
    }

    /// To be called once for every pass that goes through [`tile`](Self::tile).
    pub fn count_pass(&self) {
        self.count.passes.fetch_add(1, Ordering::Relaxed);
        self.count.add_rows(self.len() - self.kept.ncols());
    }

    /// Room for a tile of `rows` rows.
    pub fn buffer(&self, rows: usize) -> Buffer<T> {
        let room = if self.kept.ncols() == self.len() { 0 } else { rows.min(self.len()) };
        Buffer { tile: Mat::zeros(self.order(), room), wide: Mat::new(), product: None }
    }

    /// K_bᵀ in `f64`, M × rows.len(), kept or evaluated into `buffer`.
    pub fn tile<'t>(&'t self, buffer: &'t mut Buffer<T>, rows: Range<usize>) -> MatRef<'t, f64> {
        if rows.end <= self.kept.ncols() {
            return ops::widened(
                self.kept.as_ref().subcols(rows.start, rows.len()),
                &mut buffer.wide,
            );
        }
        let mut tile = buffer.tile.as_mut().subcols_mut(0, rows.len());
        let x = self.samples.x.slice(rows.clone());
        self.source.fill(tile.rb_mut(), x, rows, &mut buffer.product);
        ops::widened(tile.into_const(), &mut buffer.wide)
    }
}

/// out += a·x on this thread: the tiles are what runs in parallel.
fn add_product(out: &mut Mat<f64>, a: MatRef<'_, f64>, x: MatRef<'_, f64>) {
    ops::matmul_here(out.as_mut(), Accum::Add, a, x, 1.0);
}

use faer::reborrow::*;
