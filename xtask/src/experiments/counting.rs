//! A kernel that counts the values it was asked for: the currency of the complexity claims.

use std::sync::atomic::{AtomicU64, Ordering};

use nystrom::faer::{ColMut, MatMut};
use nystrom::kernels::{Kernel, Points};

/// A kernel with a count of its values in blocks; those of the diagonal, which cost nothing for
/// most kernels, are left out.
pub struct Counting<K> {
    kernel: K,
    values: AtomicU64,
}

impl<K> Counting<K> {
    /// Wraps a kernel.
    pub fn new(kernel: K) -> Self {
        Counting { kernel, values: AtomicU64::new(0) }
    }

    /// Values computed since the last call.
    pub fn take(&self) -> u64 {
        self.values.swap(0, Ordering::Relaxed)
    }

    fn add(&self, rows: usize, columns: usize) {
        self.values.fetch_add(rows as u64 * columns as u64, Ordering::Relaxed);
    }
}

impl<K: Kernel<f64>> Kernel<f64> for Counting<K> {
    fn eval_into(&self, out: MatMut<'_, f64>, x: Points<'_, f64>, y: Points<'_, f64>) {
        self.add(x.len(), y.len());
        self.kernel.eval_into(out, x, y);
    }

    fn diag_into(&self, out: ColMut<'_, f64>, x: Points<'_, f64>) {
        self.kernel.diag_into(out, x);
    }

    fn gram_into(&self, out: MatMut<'_, f64>, x: Points<'_, f64>) {
        self.add(x.len(), x.len());
        self.kernel.gram_into(out, x);
    }
}
