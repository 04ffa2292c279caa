//! K_nm (or KS) by tiles: evaluated anew in every pass, or kept as far as the memory goes.

use super::MemoryPlan;
use super::device_rows::DeviceProduct;
use super::system::{Moments, RowProducts};
use crate::Problem;
use crate::algebra::{embed, empty_embedding};
use crate::data::TILE_ROWS;
use crate::features::Source;
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{Error, Result, RowTree, Scalar, Streams, ops};
use nystrom_sketch::ProductBuffer;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The n × m matrix K_nm with entries k(x_i, z_j), or KS for a sketch S: the rows that a [`Source`]
/// computes.
pub(crate) struct KernelTiles<'a, T> {
    source: &'a dyn Source<T>,
    samples: Problem<'a, T>,
    tile_rows: usize,
    /// Its first rows, transposed: m × kept.
    kept: Mat<T>,
    /// Kernel values that one row takes.
    row_entries: u64,
    /// Kernel values evaluated so far.
    entries: &'a AtomicU64,
    /// Computes products that need not be exact.
    device: Option<DeviceProduct<'a>>,
    notice: Option<String>,
}

/// Memory for tiles, one per leaf of the row tree.
struct Buffer<T> {
    tile: Mat<T>,
    wide: Mat<f64>,
    product: Option<ProductBuffer<T>>,
}

impl<'a, T: Scalar> KernelTiles<'a, T> {
    /// Evaluates the rows that are kept, unless `stored` holds them all (m × n). A row takes
    /// `row_entries` kernel values.
    pub fn new(
        source: &'a dyn Source<T>,
        samples: Problem<'a, T>,
        plan: &MemoryPlan,
        stored: Option<Mat<T>>,
        (row_entries, entries): (usize, &'a AtomicU64),
    ) -> Self {
        let row_entries = row_entries as u64;
        let kept = stored.unwrap_or_else(|| {
            let mut kept = Mat::zeros(source.features(), plan.kept_rows);
            let mut product = None;
            for rows in RowTree::tiles(0..plan.kept_rows, TILE_ROWS) {
                let out = kept.as_mut().subcols_mut(rows.start, rows.len());
                source.fill(out, samples.x.slice(rows.clone()), rows, &mut product);
            }
            entries.fetch_add(plan.kept_rows as u64 * row_entries, Relaxed);
            kept
        });
        let (tile_rows, device, notice) = (plan.tile_rows, None, None);
        KernelTiles { source, samples, tile_rows, kept, row_entries, entries, device, notice }
    }

    /// With products by a device, if there is one. Exact products, which measure residuals, and
    /// KRILL's embedding are the CPU's.
    pub fn on(self, device: Option<DeviceProduct<'a>>) -> Self {
        KernelTiles { device, ..self }
    }

    /// m.
    fn order(&self) -> usize {
        self.source.features()
    }

    /// n.
    fn len(&self) -> usize {
        self.samples.x.len()
    }

    /// K_nmᵀD[y − ȳ, 1], m × t or m × (t + 1): ȳ is the weighted mean and the 1 there with an
    /// intercept only. y is centred before the product: no digits of a large mean go through it.
    pub fn moments(&self, intercept: bool) -> Moments {
        let (samples, t) = (self.samples, self.samples.y.ncols());
        let (mean, columns) = (samples.mean_target(intercept), t + usize::from(intercept));
        let entry = |i: usize, j: usize| {
            samples.weight(i) * if j < t { samples.y[(i, j)].f64() - mean[j] } else { 1.0 }
        };
        let sums = self.pass(columns, |_, rows| {
            Mat::from_fn(rows.len(), columns, |s, j| entry(rows.start + s, j))
        });
        let weight = (0..self.len()).map(|i| samples.weight(i)).sum();
        Moments { n: self.len(), weight, sums, mean, centred: true }
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
    fn count_pass(&self) {
        let rows = (self.len() - self.kept.ncols()) as u64;
        self.entries.fetch_add(rows * self.row_entries, Relaxed);
    }

    /// Memory for a tile of `rows` rows.
    fn buffer(&self, rows: usize) -> Buffer<T> {
        let width = if self.kept.ncols() == self.len() { 0 } else { rows.min(self.len()) };
        Buffer { tile: Mat::zeros(self.order(), width), wide: Mat::new(), product: None }
    }

    /// K_bᵀ in `f64`, m × rows.len(), kept or evaluated into `buffer`.
    fn tile<'t>(&'t self, buffer: &'t mut Buffer<T>, rows: Range<usize>) -> MatRef<'t, f64> {
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

impl<T: Scalar> RowProducts for KernelTiles<'_, T> {
    fn embedding(&mut self, streams: Streams) -> Result<Mat<f64>> {
        let mut St = empty_embedding(self.order());
        let mut buffer = self.buffer(TILE_ROWS);
        self.count_pass();
        for (b, rows) in RowTree::tiles(0..self.len(), TILE_ROWS).enumerate() {
            let samples = self.samples.slice(rows.clone());
            let Kt = self.tile(&mut buffer, rows);
            embed(St.as_mut(), Kt, samples, &mut streams.stream(b as u64));
        }
        Ok(St)
    }

    /// Each entry of K_nm serves both products. A device that returns an error is given up, and the
    /// CPU goes on.
    fn normal(&mut self, u: MatRef<'_, f64>, exact: bool) -> Result<Mat<f64>> {
        if let Some(device) = self.device.as_ref().filter(|_| !exact) {
            match device(u) {
                Err(Error::Device { problem }) => {
                    let went_on = "the CPU went on from the last iterate";
                    self.notice = Some(format!("a device failed: {problem}; {went_on}"));
                    self.device = None;
                }
                product => return product,
            }
        }
        let samples = self.samples;
        Ok(self.pass(u.ncols(), |K, rows| {
            let mut w = Mat::zeros(rows.len(), u.ncols());
            add_product(&mut w, K, u); //                           w = K_b u
            if samples.weights.is_some() {
                for j in 0..w.ncols() {
                    rows.clone().enumerate().for_each(|(s, i)| w[(s, j)] *= samples.weight(i));
                }
            }
            w
        }))
    }

    fn give_up_rounding(&mut self) -> bool {
        let rounded = self.device.take().is_some();
        if rounded {
            let why = "its precision does not reach the tolerance";
            self.notice = Some(format!("the CPU replaced the device: {why}"));
        }
        rounded
    }

    fn notice(&self) -> Option<String> {
        self.notice.clone()
    }
}

/// out += a·x on this thread: the tiles are what runs in parallel.
fn add_product(out: &mut Mat<f64>, a: MatRef<'_, f64>, x: MatRef<'_, f64>) {
    ops::matmul_here(out.as_mut(), Accum::Add, a, x, 1.0);
}

use faer::reborrow::*;
