//! The stream of feature tiles that both solvers read.

use crate::Problem;
use crate::whitener::Whitener;
use crate::{FitReport, SolvedBy};
use faer::{ColMut, Mat, MatMut, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{RowTree, Scalar, ops};
use nystrom_sketch::ProductBuffer;
use std::ops::Range;

/// Rows of a tile; the leaves of [`RowTree`] are multiples of it.
pub(crate) const TILE_ROWS: usize = 1024;

/// Where the m features of a row come from before whitening: g(x_i) is k_Z(x_i) for centres Z, or
/// row i of KS for a sketch S.
pub(crate) trait Source<T>: Sync {
    /// m.
    fn features(&self) -> usize;
    /// out = [g(x_i)] for i in `rows`, m × rows.len(); `buffer` is room to work in, passed along
    /// from call to call.
    fn fill(&self, out: MatMut<'_, T>, rows: Range<usize>, buffer: &mut Option<ProductBuffer<T>>);
    /// out = [k(x_i, x_i)] for i in `rows`.
    fn diagonal(&self, out: ColMut<'_, T>, rows: Range<usize>);
}

/// g(x_i) = k_Z(x_i).
pub(crate) struct KernelRows<'a, T, K> {
    pub kernel: &'a K,
    pub centers: Points<'a, T>,
    pub x: Points<'a, T>,
}

impl<T: Scalar, K: Kernel<T>> Source<T> for KernelRows<'_, T, K> {
    fn features(&self) -> usize {
        self.centers.len()
    }

    fn fill(&self, out: MatMut<'_, T>, rows: Range<usize>, _: &mut Option<ProductBuffer<T>>) {
        self.kernel.eval_into(out, self.centers, self.x.slice(rows));
    }

    fn diagonal(&self, out: ColMut<'_, T>, rows: Range<usize>) {
        self.kernel.diag_into(out, self.x.slice(rows));
    }
}

/// The weighted features and targets of a sample, computed tile by tile: row i of Z is √w_i [φ(x_i)
/// 1] (the 1 only with an intercept), row i of Y is √w_i (y_i − shift).
pub(crate) struct FeatureRows<'a, T> {
    pub source: &'a dyn Source<T>,
    pub whitener: &'a Whitener<T>,
    /// Whether tiles hold φ(x_i) or, for whitening later, g(x_i).
    pub whiten_tiles: bool,
    pub samples: Problem<'a, T>,
    /// The weighted mean of y if there is an intercept.
    pub shift: Option<Vec<f64>>,
}

/// One tile: rows of Z (at most 1024 × p) and of Y (at most 1024 × t).
///
/// What lies side by side in memory is a row of Z where tiles are whitened, because triangular
/// solves are up to twice as fast so, and a column of Z where they are not, because ZᵀZ is computed
/// a fifth faster so.
pub(crate) struct Tile<T> {
    storage: Mat<T>,
    side_by_side: SideBySide,
    Y: Mat<T>,
    rows: usize,
    buffer: Option<ProductBuffer<T>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SideBySide {
    Row,
    Column,
}

impl<T: Scalar> Tile<T> {
    /// Rows of the tile.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Z, rows × p.
    pub fn Z(&self) -> MatRef<'_, T> {
        match self.side_by_side {
            SideBySide::Row => self.storage.as_ref().subcols(0, self.rows).transpose(),
            SideBySide::Column => self.storage.as_ref().subrows(0, self.rows),
        }
    }

    fn Z_mut(&mut self) -> MatMut<'_, T> {
        match self.side_by_side {
            SideBySide::Row => self.storage.as_mut().subcols_mut(0, self.rows).transpose_mut(),
            SideBySide::Column => self.storage.as_mut().subrows_mut(0, self.rows),
        }
    }

    /// Z in `f64`: itself, or a copy in `scratch`.
    pub fn wide_Z<'a>(&'a self, scratch: &'a mut Mat<f64>) -> MatRef<'a, f64> {
        match self.side_by_side {
            SideBySide::Row => {
                ops::widened(self.storage.as_ref().subcols(0, self.rows), scratch).transpose()
            }
            SideBySide::Column => {
                ops::widened(self.storage.as_ref().subrows(0, self.rows), scratch)
            }
        }
    }

    /// Y, rows × t.
    pub fn Y(&self) -> MatRef<'_, T> {
        self.Y.as_ref().subrows(0, self.rows)
    }
}

impl<T: Scalar, K: Kernel<T>> KernelRows<'_, T, K> {
    /// Sizes and cost of a fit that goes over the rows `passes` times; how it was solved is for the
    /// caller to add.
    pub fn report(&self, rows: &FeatureRows<'_, T>, passes: usize) -> FitReport {
        let (n, m) = (self.x.len(), self.centers.len());
        FitReport {
            n,
            m,
            d: self.x.dim(),
            t: rows.targets(),
            ridge: 0.0,
            jitter: rows.whitener.jitter,
            solver: SolvedBy::NormalEquations,
            reason: String::new(),
            condition: 1.0,
            kernel_entries: (passes * n + m) as u64 * m as u64,
        }
    }
}

impl<'a, T: Scalar> FeatureRows<'a, T> {
    /// Whitened rows, less the mean target if there is an intercept.
    pub fn new(
        source: &'a dyn Source<T>,
        whitener: &'a Whitener<T>,
        samples: Problem<'a, T>,
        intercept: bool,
    ) -> Self {
        FeatureRows {
            source,
            whitener,
            whiten_tiles: true,
            samples,
            shift: intercept.then(|| samples.mean_target()),
        }
    }

    /// n.
    pub fn len(&self) -> usize {
        self.samples.x.len()
    }

    /// t.
    pub fn targets(&self) -> usize {
        self.samples.y.ncols()
    }

    /// p = m, or m + 1 with an intercept.
    pub fn features(&self) -> usize {
        self.source.features() + usize::from(self.shift.is_some())
    }

    /// One constant per target: the one of the shifted problem plus the shift, or 0 without an
    /// intercept.
    pub fn intercepts(&self, b: Option<Vec<f64>>) -> Vec<f64> {
        match (&self.shift, b) {
            (Some(shift), Some(b)) => shift.iter().zip(&b).map(|(shift, b)| shift + b).collect(),
            _ => vec![0.0; self.targets()],
        }
    }

    /// Σ w_i k(x_i, x_i): an upper bound on tr ΦᵀΦ. O(n) kernel values.
    pub fn trace(&self) -> f64 {
        let leaf = |rows: Range<usize>| {
            let mut diagonal = vec![T::zero(); rows.len()];
            self.source.diagonal(ColMut::from_slice_mut(&mut diagonal), rows.clone());
            rows.zip(&diagonal).map(|(i, k_ii)| self.samples.weight(i) * k_ii.f64()).sum::<f64>()
        };
        RowTree::new(self.len()).reduce(leaf, |a, b| a + b).unwrap_or(0.0)
    }

    /// Σ w_i.
    pub fn total_weight(&self) -> f64 {
        let leaf = |rows: Range<usize>| rows.map(|i| self.samples.weight(i)).sum::<f64>();
        RowTree::new(self.len()).reduce(leaf, |a, b| a + b).unwrap_or(0.0)
    }

    /// A buffer for [`fill`](Self::fill): (p + t)·1024 numbers.
    pub fn tile(&self) -> Tile<T> {
        let (rows, p) = (TILE_ROWS.min(self.len()), self.features());
        let (storage, side_by_side) = match self.whiten_tiles {
            true => (Mat::zeros(p, rows), SideBySide::Row),
            false => (Mat::zeros(rows, p), SideBySide::Column),
        };
        Tile { storage, side_by_side, Y: Mat::zeros(rows, self.targets()), rows, buffer: None }
    }

    /// Computes the tile of `rows`, at most 1024 of them.
    pub fn fill(&self, tile: &mut Tile<T>, rows: Range<usize>) {
        let m = self.source.features();
        tile.rows = rows.len();
        let mut buffer = tile.buffer.take();
        let mut phi = tile.Z_mut().subcols_mut(0, m).transpose_mut();
        self.source.fill(phi.rb_mut(), rows.clone(), &mut buffer); // g(x_i)
        if self.whiten_tiles {
            self.whitener.whiten(phi); // φ(x_i) = R⁻¹g(x_i)
        }
        tile.buffer = buffer;
        for (s, i) in rows.enumerate() {
            let root_w = self.samples.root_weight(i);
            if self.samples.weights.is_some() {
                let mut Z = tile.Z_mut();
                (0..m).for_each(|j| Z[(s, j)] *= root_w);
            }
            for j in 0..self.targets() {
                let shift = self.shift.as_ref().map_or(0.0, |mean| mean[j]);
                tile.Y[(s, j)] = root_w * T::lit(self.samples.y[(i, j)].f64() - shift);
            }
            if self.shift.is_some() {
                tile.Z_mut()[(s, m)] = root_w;
            }
        }
    }
}

use faer::reborrow::*;
