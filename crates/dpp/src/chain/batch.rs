//! Proposals of a swap chain that are drawn and evaluated together.

use super::outside::Outside;
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{PsdMatrix, Scalar};

/// Proposals drawn and evaluated together: a kernel block of c × 16 entries takes a fraction of the
/// time of 16 blocks of c × 1. With 32, where two in three are accepted, bringing those
/// that wait up to date costs more than is won (3.0 µs a step for 2.1 at c = 50).
pub const BATCH: usize = 16;

/// A step that has been drawn: whether to exchange the item at position v of Y for that of number u
/// outside is up to the coin.
#[derive(Clone, Copy)]
pub struct Proposal {
    pub v: usize,
    pub u: usize,
    pub coin: f64,
}

/// Proposals that wait, and the kernel entries of their items.
pub struct Batch<T> {
    pub proposals: Vec<Proposal>,
    pub items: Vec<usize>, // u of each
    columns: Vec<T>,       // K[Y, u] of each, c numbers
    pub diagonal: Vec<T>,  // K_uu of each
}

impl<T: Scalar> Batch<T> {
    pub fn new(c: usize) -> Self {
        Batch {
            proposals: Vec::with_capacity(BATCH),
            items: Vec::with_capacity(BATCH),
            columns: vec![T::zero(); c * BATCH],
            diagonal: vec![T::zero(); BATCH],
        }
    }

    /// The entries of all proposals.
    pub fn evaluate(&mut self, k: &dyn PsdMatrix<T>, subset: &[usize], outside: &Outside) {
        let items: [usize; BATCH] =
            std::array::from_fn(|j| self.proposals.get(j).map_or(0, |p| outside.item(p.u)));
        self.evaluate_items(k, subset, items.into_iter().take(self.proposals.len()));
    }

    pub fn evaluate_items(
        &mut self,
        k: &dyn PsdMatrix<T>,
        subset: &[usize],
        items: impl Iterator<Item = usize>,
    ) {
        self.items.clear();
        self.items.extend(items);
        let (c, width) = (subset.len(), self.items.len());
        let columns = MatMut::from_column_major_slice_mut(&mut self.columns[..c * width], c, width);
        k.block_into(columns, subset.into(), (&self.items).into());
        k.diag_into(ColMut::from_slice_mut(&mut self.diagonal[..width]), (&self.items).into());
    }

    pub fn column(&self, j: usize) -> &[T] {
        let c = self.columns.len() / BATCH;
        &self.columns[j * c..(j + 1) * c]
    }

    /// Proposals `from` and on after an exchange: the item at position v has left Y, `subset` is
    /// what it is now, its last item new.
    pub fn follow(
        &mut self,
        k: &dyn PsdMatrix<T>,
        subset: &[usize],
        outside: &Outside,
        from: usize,
        v: usize,
        renumbered: [usize; 2],
    ) {
        let (c, newest) = (subset.len(), subset[subset.len() - 1]);
        let waiting = &mut self.items[from..];
        if waiting.is_empty() {
            return;
        }
        let mut row = vec![T::zero(); waiting.len()]; // K[u, newest]
        k.block_into(
            MatMut::from_column_major_slice_mut(&mut row, waiting.len(), 1),
            (&*waiting).into(),
            (&[newest]).into(),
        );
        let columns = self.columns[from * c..].chunks_exact_mut(c);
        for (((column, item), proposal), entry) in
            columns.zip(waiting).zip(&self.proposals[from..]).zip(row)
        {
            column.copy_within(v + 1.., v);
            column[c - 1] = entry;
            if renumbered.contains(&proposal.u) {
                *item = outside.item(proposal.u);
                k.block_into(
                    MatMut::from_column_major_slice_mut(column, c, 1),
                    subset.into(),
                    (&[*item]).into(),
                );
            }
        }
        let diagonal = ColMut::from_slice_mut(&mut self.diagonal[from..self.items.len()]);
        if self.proposals[from..].iter().any(|p| renumbered.contains(&p.u)) {
            k.diag_into(diagonal, (&self.items[from..]).into());
        }
    }
}
