//! A wrapper that counts evaluated entries, the cost measure of the theory.

use crate::{Indices, PsdMatrix, Scalar};
use faer::{ColMut, MatMut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Any [`PsdMatrix`], with a count of its evaluated entries.
///
/// Entries of blocks and of the diagonal are counted separately: for most kernels the diagonal is
/// free.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{Counted, Dense, PsdMatrix};
/// let k = Mat::<f64>::identity(10, 10);
/// let k = Counted::new(Dense::new(k.as_ref())?);
/// k.columns((&[1, 4]).into());
/// assert_eq!((k.entries(), k.diagonal_entries()), (20, 0));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Counted<A> {
    inner: A,
    entries: AtomicU64,
    diagonal: AtomicU64,
}

impl<A> Counted<A> {
    /// Wraps `inner`, with both counts at 0.
    pub fn new(inner: A) -> Self {
        Counted { inner, entries: AtomicU64::new(0), diagonal: AtomicU64::new(0) }
    }

    /// Entries evaluated as parts of blocks since the last reset.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Entries of the diagonal evaluated on their own since the last reset.
    pub fn diagonal_entries(&self) -> u64 {
        self.diagonal.load(Ordering::Relaxed)
    }

    /// Sets both counts to 0.
    pub fn reset(&self) {
        self.entries.store(0, Ordering::Relaxed);
        self.diagonal.store(0, Ordering::Relaxed);
    }

    /// The wrapped matrix.
    pub fn into_inner(self) -> A {
        self.inner
    }
}

impl<T: Scalar, A: PsdMatrix<T>> PsdMatrix<T> for Counted<A> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn diag_into(&self, out: ColMut<'_, T>, idx: Indices<'_>) {
        self.diagonal.fetch_add(idx.len() as u64, Ordering::Relaxed);
        self.inner.diag_into(out, idx);
    }

    fn block_into(&self, out: MatMut<'_, T>, rows: Indices<'_>, cols: Indices<'_>) {
        self.entries.fetch_add(rows.len() as u64 * cols.len() as u64, Ordering::Relaxed);
        self.inner.block_into(out, rows, cols);
    }
}
