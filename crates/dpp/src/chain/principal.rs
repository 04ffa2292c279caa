//! K_YY as it is stored.

use faer::MatRef;
use nystrom_linalg_core::Scalar;

/// K_YY, c × c, by positions: what a factor is computed from.
#[derive(Debug, Clone)]
pub(super) struct Principal {
    c: usize,
    entries: Vec<f64>,
}

impl Principal {
    /// From its columns.
    pub fn new(entries: Vec<f64>, c: usize) -> Self {
        assert_eq!(entries.len(), c * c, "c columns of c entries");
        Principal { c, entries }
    }

    /// c.
    pub fn size(&self) -> usize {
        self.c
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[j * self.c + i]
    }

    pub fn column(&self, j: usize) -> &[f64] {
        &self.entries[j * self.c..][..self.c]
    }

    pub fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.entries, self.c, self.c)
    }

    /// The item at position v is another one now, with these entries beside the others, k_v of no
    /// account, and κ of its own.
    pub fn exchange<T: Scalar>(&mut self, v: usize, k: &[T], kappa: f64) {
        let c = self.c;
        for (i, k) in k.iter().enumerate() {
            self.entries[v * c + i] = k.f64();
            self.entries[i * c + v] = k.f64();
        }
        self.entries[v * c + v] = kappa;
    }
}
