//! The stored entries of K_YY.

use faer::MatRef;
use nystrom_linalg_core::Scalar;

/// K_YY, c × c, in the order of positions; the factor is computed from it.
#[derive(Debug, Clone)]
pub(super) struct Principal {
    c: usize,
    entries: Vec<f64>,
}

impl Principal {
    /// K_YY from its columns, one after another.
    pub fn new(entries: Vec<f64>, c: usize) -> Self {
        assert_eq!(entries.len(), c * c, "c columns of c entries");
        Principal { c, entries }
    }

    /// c, the order of the matrix.
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

    /// Replaces the item at position v: `k` are the entries of the new item u with the items at all
    /// positions (k_v is ignored), `kappa` is K_uu.
    pub fn exchange<T: Scalar>(&mut self, v: usize, k: &[T], kappa: f64) {
        let c = self.c;
        for (i, k) in k.iter().enumerate() {
            self.entries[v * c + i] = k.f64();
            self.entries[i * c + v] = k.f64();
        }
        self.entries[v * c + v] = kappa;
    }
}
