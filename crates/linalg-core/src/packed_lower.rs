//! The lower triangle of a square matrix in half its memory.

use crate::Scalar;
use crate::ops::{self, LowerBlock};
use faer::{Mat, MatMut};
use rayon::prelude::*;
use std::ops::{AddAssign, Range};

/// Columns in a panel.
pub(crate) const PANEL: usize = 256;

/// The lower triangle of a p × p matrix, stored as panels of 256 columns that reach from the
/// panel's first diagonal entry down to the last row: p²/2 + 128p numbers.
///
/// ```
/// use nystrom_linalg_core::PackedLower;
/// let a = PackedLower::from_fn(300, |i, j| (i * j) as f64);
/// assert_eq!((a.order(), a.get(299, 256)), (300, 299.0 * 256.0));
/// assert_eq!(a.col(298), &[88804.0, 89102.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PackedLower<T> {
    order: usize,
    pub(crate) panels: Vec<Mat<T>>,
}

impl<T: Scalar> PackedLower<T> {
    /// The zero matrix, p × p for p = `order`.
    pub fn zeros(order: usize) -> Self {
        Self::from_fill(order, |_, _, _| ())
    }

    /// The matrix whose entry (i, j) is `entry(i, j)`. `entry` is called for i ≥ j only, column by
    /// column.
    pub fn from_fn(order: usize, mut entry: impl FnMut(usize, usize) -> T) -> Self {
        Self::from_fill(order, |mut out, rows, cols| {
            for (j, col) in cols.enumerate() {
                rows.clone().enumerate().skip(j).for_each(|(i, row)| out[(i, j)] = entry(row, col));
            }
        })
    }

    /// `fill(out, rows, cols)` writes the panels one after another. `out` is 0 before the call;
    /// entries above the diagonal are never read.
    pub(crate) fn from_fill(
        order: usize,
        fill: impl FnMut(MatMut<'_, T>, Range<usize>, Range<usize>),
    ) -> Self {
        let panel = |start: usize| Mat::zeros(order - start, PANEL.min(order - start));
        let mut a = PackedLower { order, panels: (0..order).step_by(PANEL).map(panel).collect() };
        a.fill(fill);
        a
    }

    /// Overwrites the panels by `fill(out, rows, cols)`, one after another.
    pub(crate) fn fill(&mut self, mut fill: impl FnMut(MatMut<'_, T>, Range<usize>, Range<usize>)) {
        for (p, panel) in self.panels.iter_mut().enumerate() {
            let (start, width) = (p * PANEL, panel.ncols());
            fill(panel.as_mut(), start..self.order, start..start + width);
        }
    }

    pub(crate) fn add_to_diagonal(&mut self, mu: T) {
        for panel in &mut self.panels {
            (0..panel.ncols()).for_each(|i| panel[(i, i)] += mu);
        }
    }

    /// How many numbers a matrix of order p stores.
    pub fn len(order: usize) -> u64 {
        (0..order).step_by(PANEL).map(|s| (order - s) as u64 * PANEL.min(order - s) as u64).sum()
    }

    /// p, the order of the matrix.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Entry (i, j), i ≥ j.
    ///
    /// # Panics
    /// If i ≥ p.
    pub fn get(&self, i: usize, j: usize) -> T {
        self.panels[j / PANEL][(i - j / PANEL * PANEL, j % PANEL)]
    }

    /// The entries (j, j), …, (p − 1, j) of column j.
    ///
    /// # Panics
    /// If j ≥ p.
    pub fn col(&self, j: usize) -> &[T] {
        &self.panels[j / PANEL].col_as_slice(j % PANEL)[j % PANEL..]
    }

    /// The triangle cut into blocks of at most `side` × `side`, one per task of a parallel loop;
    /// `side` divides 256.
    pub fn blocks(&mut self, side: usize) -> Vec<LowerBlock<'_, T>> {
        blocks_of(self.panels.iter_mut().map(Mat::as_mut), side)
    }

    /// The p × p matrix, with zeros above the diagonal.
    pub fn to_square(&self) -> Mat<T> {
        let mut out = Mat::zeros(self.order, self.order);
        for j in 0..self.order {
            out.col_as_slice_mut(j)[j..].copy_from_slice(self.col(j));
        }
        out
    }
}

impl<T: Scalar> AddAssign<&PackedLower<T>> for PackedLower<T> {
    /// # Panics
    /// If the orders differ.
    fn add_assign(&mut self, other: &PackedLower<T>) {
        assert_eq!(self.order, other.order, "triangles of one order");
        self.panels.par_iter_mut().zip(&other.panels).for_each(|(a, b)| *a += b);
    }
}

/// Cuts the lower triangle stored in `panels` (256 columns each, from the diagonal down) into
/// blocks of at most `side` × `side`.
pub(crate) fn blocks_of<'a, T: 'a>(
    panels: impl Iterator<Item = MatMut<'a, T>>,
    side: usize,
) -> Vec<LowerBlock<'a, T>> {
    let blocks = panels.enumerate().flat_map(|(k, panel)| {
        let start = k * PANEL;
        ops::lower_blocks(panel, side).into_iter().map(move |LowerBlock { row, col, out }| {
            LowerBlock { row: row + start, col: col + start, out }
        })
    });
    blocks.collect()
}
