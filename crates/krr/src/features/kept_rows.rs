//! Rows of K_nm that are kept between passes, as far as memory allows.

use crate::data::TILE_ROWS;
use crate::features::{KernelRows, Source};
use faer::{ColMut, Mat, MatMut};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::Scalar;
use nystrom_sketch::ProductBuffer;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// k_Z(x_i), copied for the first rows and evaluated for the others: the same numbers either way.
pub(crate) struct KeptRows<'a, T, K> {
    source: KernelRows<'a, T, K>,
    /// The columns k_Z(x_i) of whole tiles from the first on, m × at most n.
    kept: Mat<T>,
    /// The number of kernel values evaluated.
    entries: AtomicU64,
}

impl<'a, T: Scalar, K: Kernel<T>> KeptRows<'a, T, K> {
    /// Keeps as many tiles of the rows `x` as `memory` bytes hold: none for `None`.
    pub fn new(source: KernelRows<'a, T, K>, x: Points<'_, T>, memory: Option<u64>) -> Self {
        let m = source.features();
        let bytes = (m.max(1) * size_of::<T>() * TILE_ROWS) as u64;
        let tiles = usize::try_from(memory.unwrap_or(0) / bytes).unwrap_or(usize::MAX);
        let rows = tiles.saturating_mul(TILE_ROWS);
        // the last tile has fewer rows
        let rows = if rows >= x.len() { x.len() } else { rows };
        let mut all = KeptRows { source, kept: Mat::new(), entries: AtomicU64::new(0) };
        let mut kept = Mat::zeros(m, rows);
        for start in (0..rows).step_by(TILE_ROWS) {
            let tile = start..rows.min(start + TILE_ROWS);
            let out = kept.as_mut().subcols_mut(start, tile.len());
            all.fill(out, x.slice(tile.clone()), tile, &mut None);
        }
        all.kept = kept;
        all
    }

    pub fn source(&self) -> &KernelRows<'a, T, K> {
        &self.source
    }

    /// The number of kernel values evaluated so far.
    pub fn entries(&self) -> u64 {
        self.entries.load(Relaxed)
    }
}

impl<T: Scalar, K: Kernel<T>> Source<T> for KeptRows<'_, T, K> {
    fn features(&self) -> usize {
        self.source.features()
    }

    fn fill(
        &self,
        mut out: MatMut<'_, T>,
        x: Points<'_, T>,
        rows: Range<usize>,
        buffer: &mut Option<ProductBuffer<T>>,
    ) {
        if rows.end <= self.kept.ncols() {
            out.copy_from(self.kept.as_ref().subcols(rows.start, rows.len()));
            return;
        }
        self.entries.fetch_add((self.features() * rows.len()) as u64, Relaxed);
        self.source.fill(out, x, rows, buffer);
    }

    fn diagonal(&self, out: ColMut<'_, T>, x: Points<'_, T>) {
        self.source.diagonal(out, x);
    }
}
