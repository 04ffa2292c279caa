//! Passes over the rows and kernel values, counted while a fit goes on.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a fit has taken from the rows so far.
pub(crate) struct Count {
    passes: AtomicU64,
    entries: AtomicU64,
}

impl Count {
    /// From these numbers on.
    pub fn after(passes: u64, entries: u64) -> Self {
        Count { passes: AtomicU64::new(passes), entries: AtomicU64::new(entries) }
    }

    pub fn add(&self, passes: u64, entries: u64) {
        self.passes.fetch_add(passes, Ordering::Relaxed);
        self.entries.fetch_add(entries, Ordering::Relaxed);
    }

    /// Passes over the kernel matrix.
    pub fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed) as usize
    }

    /// Kernel values evaluated.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }
}
