//! Proposals of a swap chain that are drawn and evaluated together.

use super::outside::Outside;
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{PsdMatrix, Scalar};

/// Proposals drawn and evaluated together: a kernel block of c × 16 entries takes a fraction of the
/// time of 16 blocks of c × 1.
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
    among: Vec<T>,         // K between the items from `first` on
    first: usize,          // BATCH: not evaluated
}

impl<T: Scalar> Batch<T> {
    pub fn new(c: usize) -> Self {
        Batch {
            proposals: Vec::with_capacity(BATCH),
            items: Vec::with_capacity(BATCH),
            columns: vec![T::zero(); c * BATCH],
            diagonal: vec![T::zero(); BATCH],
            among: vec![T::zero(); BATCH * BATCH],
            first: BATCH,
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
        self.first = BATCH;
        let (c, width) = (subset.len(), self.items.len());
        let columns = MatMut::from_column_major_slice_mut(&mut self.columns[..c * width], c, width);
        k.block_into(columns, subset.into(), (&self.items).into());
        k.diag_into(ColMut::from_slice_mut(&mut self.diagonal[..width]), (&self.items).into());
    }

    pub fn column(&self, j: usize) -> &[T] {
        let c = self.columns.len() / BATCH;
        &self.columns[j * c..(j + 1) * c]
    }

    /// Proposals after number j, which was carried out: its item is at position v of `subset` now.
    pub fn follow(
        &mut self,
        k: &dyn PsdMatrix<T>,
        subset: &[usize],
        outside: &Outside,
        j: usize,
        v: usize,
        renumbered: [usize; 2],
    ) {
        let (c, waiting) = (subset.len(), j + 1..self.items.len());
        if waiting.is_empty() {
            return;
        }
        if self.first > j {
            self.evaluate_among(k, j);
        }
        let width = self.items.len() - self.first;
        let row = &self.among[(j - self.first) * width..][..width];
        for i in waiting.clone() {
            self.columns[i * c + v] = row[i - self.first];
        }
        for i in waiting {
            if renumbered.contains(&self.proposals[i].u) {
                self.replace(k, subset, i, outside.item(self.proposals[i].u));
            }
        }
    }

    /// Entries between the items from number `first` on: the first exchange asks for them, all that
    /// follow in this batch have them.
    fn evaluate_among(&mut self, k: &dyn PsdMatrix<T>, first: usize) {
        self.first = first;
        let (items, width) = (&self.items[first..], self.items.len() - first);
        let among = &mut self.among[..width * width];
        let among = MatMut::from_column_major_slice_mut(among, width, width);
        k.block_into(among, items.into(), items.into());
    }

    /// Proposal i is of another item now.
    fn replace(&mut self, k: &dyn PsdMatrix<T>, subset: &[usize], i: usize, item: usize) {
        self.items[i] = item;
        self.first = BATCH;
        let column = &mut self.columns[i * subset.len()..][..subset.len()];
        let column = MatMut::from_column_major_slice_mut(column, subset.len(), 1);
        k.block_into(column, subset.into(), (&[item]).into());
        let own = ColMut::from_slice_mut(&mut self.diagonal[i..i + 1]);
        k.diag_into(own, (&[item]).into());
    }
}
