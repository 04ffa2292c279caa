//! The pending proposals of a swap chain with their kernel entries; `mod.rs` decides them together.

use faer::{ColMut, MatMut};
use nystrom_linalg_core::{PsdMatrix, Scalar};

/// The pending proposals, with the kernel entries of their items.
#[derive(Debug, Clone)]
pub(super) struct Batch<T> {
    pub positions: Vec<usize>, // position of v, for each proposal
    pub items: Vec<usize>,     // u, for each proposal
    c: usize,
    most: usize,
    columns: Vec<T>,    // K[Y, u], for each proposal
    diagonal: Vec<T>,   // K_uu, for each proposal
    between: Vec<T>,    // K for pairs of items u, most × most
    beside: Vec<usize>, // the base and the items of earlier proposals
    column: Vec<T>,     // K[beside, u] of the proposal that joins
}

impl<T: Scalar> Batch<T> {
    /// An empty batch with memory for `most` proposals.
    pub fn with_capacity(c: usize, most: usize) -> Self {
        Batch {
            positions: Vec::with_capacity(most),
            items: Vec::with_capacity(most),
            c,
            most,
            columns: vec![T::zero(); c * most],
            diagonal: vec![T::zero(); most],
            between: vec![T::zero(); most * most],
            beside: Vec::with_capacity(c + most),
            column: vec![T::zero(); c + most],
        }
    }

    /// Replaces all proposals by these, (position in Y, item).
    pub fn propose(&mut self, exchanges: impl Iterator<Item = (usize, usize)>) {
        self.positions.clear();
        self.items.clear();
        for (v, u) in exchanges {
            self.positions.push(v);
            self.items.push(u);
        }
    }

    /// Evaluates the entries of all proposals, with `subset` and with one another.
    pub fn evaluate(&mut self, k: &dyn PsdMatrix<T>, subset: &[usize]) {
        let (c, q) = (self.c, self.items.len());
        let columns = MatMut::from_column_major_slice_mut(&mut self.columns[..c * q], c, q);
        k.block_into(columns, subset.into(), (&self.items).into());
        if q > 1 {
            let between = &mut self.between[..];
            let between = MatMut::from_column_major_slice_with_stride_mut(between, q, q, self.most);
            k.block_into(between, (&self.items).into(), (&self.items).into());
        }
        k.diag_into(ColMut::from_slice_mut(&mut self.diagonal[..q]), (&self.items).into());
    }

    /// Adds the proposal (v, u), with the column K[base, u]. Evaluates c entries, one for each
    /// pending proposal, and one on the diagonal.
    pub fn join(&mut self, k: &dyn PsdMatrix<T>, base: &[usize], (v, u): (usize, usize)) {
        let (c, j, item) = (self.c, self.items.len(), &[u]);
        self.beside.clear();
        self.beside.extend(base.iter().chain(&self.items));
        let column = &mut self.column[..c + j];
        let entries = MatMut::from_column_major_slice_mut(column, c + j, 1);
        k.block_into(entries, (&self.beside).into(), item.into());
        k.diag_into(ColMut::from_slice_mut(&mut self.diagonal[j..j + 1]), item.into());
        self.columns[j * c..][..c].copy_from_slice(&self.column[..c]);
        self.between[j * self.most..][..j].copy_from_slice(&self.column[c..c + j]);
        self.positions.push(v);
        self.items.push(u);
    }

    /// Changes the column of the last proposal from K[base, u] to K[Y, u], where Y is `base` after
    /// all earlier proposals of the batch.
    pub fn catch_up(&mut self) {
        let j = self.items.len() - 1;
        for i in 0..j {
            self.columns[j * self.c + self.positions[i]] = self.between(i, j);
        }
    }

    /// Removes the last proposal, which was refused.
    pub fn leave(&mut self) {
        self.positions.pop();
        self.items.pop();
    }

    /// Replaces proposal j by (v, u) and evaluates its entries.
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
        let most = self.most;
        let column = &mut self.columns[j * c..][..c];
        let column = MatMut::from_column_major_slice_mut(column, c, 1);
        k.block_into(column, subset.into(), item.into());
        let column = &mut self.between[j * most..][..q];
        let column = MatMut::from_column_major_slice_mut(column, q, 1);
        k.block_into(column, (&self.items).into(), item.into());
        (0..q).for_each(|i| self.between[i * most + j] = self.between[j * most + i]);
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

    /// The entry of K for the items of proposals i and j.
    pub fn between(&self, i: usize, j: usize) -> T {
        if i == j { self.diagonal[i] } else { self.between[j * self.most + i] }
    }

    /// Updates the columns of the later proposals after proposal j was carried out, which put its
    /// item in Y.
    pub fn follow(&mut self, j: usize) {
        for i in j + 1..self.items.len() {
            self.columns[i * self.c + self.positions[j]] = self.between(j, i);
        }
    }
}

/// Q, the number of proposals evaluated together. Per step the factorisation takes c³/3Q flops,
/// which falls with Q, and P takes about 4Qc flops, which rises with Q.
pub(crate) fn batch_size(c: usize) -> usize {
    (c / 4).next_multiple_of(8).clamp(16, 64)
}
