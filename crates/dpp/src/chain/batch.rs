//! Proposals of a swap chain that are drawn, evaluated and judged together.

use faer::{ColMut, MatMut};
use nystrom_linalg_core::{PsdMatrix, Scalar};

/// Proposals that wait, and the kernel entries of their items.
#[derive(Debug, Clone)]
pub(super) struct Batch<T> {
    pub positions: Vec<usize>, // v of each
    pub items: Vec<usize>,     // u of each
    c: usize,
    columns: Vec<T>,  // K[Y, u] of each
    diagonal: Vec<T>, // K_uu of each
    between: Vec<T>,  // K between them
}

impl<T: Scalar> Batch<T> {
    /// Room for `most` proposals.
    pub fn with_room(c: usize, most: usize) -> Self {
        Batch {
            positions: Vec::with_capacity(most),
            items: Vec::with_capacity(most),
            c,
            columns: vec![T::zero(); c * most],
            diagonal: vec![T::zero(); most],
            between: vec![T::zero(); most * most],
        }
    }

    /// These exchanges, of positions for items.
    pub fn propose(&mut self, exchanges: impl Iterator<Item = (usize, usize)>) {
        self.positions.clear();
        self.items.clear();
        for (v, u) in exchanges {
            self.positions.push(v);
            self.items.push(u);
        }
    }

    /// The entries of all proposals, beside those of `subset`.
    pub fn evaluate(&mut self, k: &dyn PsdMatrix<T>, subset: &[usize]) {
        let (c, q) = (self.c, self.items.len());
        let columns = MatMut::from_column_major_slice_mut(&mut self.columns[..c * q], c, q);
        k.block_into(columns, subset.into(), (&self.items).into());
        if q > 1 {
            let between = MatMut::from_column_major_slice_mut(&mut self.between[..q * q], q, q);
            k.block_into(between, (&self.items).into(), (&self.items).into());
        }
        k.diag_into(ColMut::from_slice_mut(&mut self.diagonal[..q]), (&self.items).into());
    }

    /// Proposal j is another one now.
    pub fn replace(
        &mut self,
        k: &dyn PsdMatrix<T>,
        subset: &[usize],
        j: usize,
        (v, u): (usize, usize),
    ) {
        self.positions[j] = v;
        if self.items[j] == u {
            return;
        }
        self.items[j] = u;
        let (c, q, item) = (self.c, self.items.len(), &[u]);
        let column = &mut self.columns[j * c..][..c];
        let column = MatMut::from_column_major_slice_mut(column, c, 1);
        k.block_into(column, subset.into(), item.into());
        let column = &mut self.between[j * q..][..q];
        let column = MatMut::from_column_major_slice_mut(column, q, 1);
        k.block_into(column, (&self.items).into(), item.into());
        (0..q).for_each(|i| self.between[i * q + j] = self.between[j * q + i]);
        let own = ColMut::from_slice_mut(&mut self.diagonal[j..j + 1]);
        k.diag_into(own, item.into());
    }

    /// K[Y, u] of proposal j.
    pub fn column(&self, j: usize) -> &[T] {
        &self.columns[j * self.c..][..self.c]
    }

    /// K_uu of proposal j.
    pub fn diagonal(&self, j: usize) -> f64 {
        self.diagonal[j].f64()
    }

    /// K between the items of proposals i and j.
    pub fn between(&self, i: usize, j: usize) -> T {
        if i == j { self.diagonal[i] } else { self.between[j * self.items.len() + i] }
    }

    /// Proposal j was carried out: its item is beside those that wait now.
    pub fn follow(&mut self, j: usize) {
        for i in j + 1..self.items.len() {
            self.columns[i * self.c + self.positions[j]] = self.between(j, i);
        }
    }
}

/// Proposals that are evaluated and judged together. Of a step, a Q-th of a factorisation, c³/3Q
/// flops, falls as their number Q grows, and what P takes, some 4Qc, rises.
pub(crate) fn together(c: usize) -> usize {
    (c / 4).next_multiple_of(8).clamp(16, 64)
}
