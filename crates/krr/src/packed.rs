//! A lower triangle in half the memory of a square.

use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::Scalar;
use nystrom_linalg_core::ops::{self, LowerBlock};
use rayon::prelude::*;

/// Columns of a panel.
const PANEL: usize = 256;

/// The lower triangle of a p × p matrix of `f64`, as panels of 256 columns, each from its first
/// diagonal entry downwards: p²/2 + 128p numbers. A reduction along a large
/// [`RowTree`](nystrom_linalg_core::RowTree) holds four of these.
#[derive(Debug, Clone)]
pub(crate) struct PackedLower {
    order: usize,
    panels: Vec<Mat<f64>>,
}

impl PackedLower {
    pub fn zeros(order: usize) -> Self {
        Self::from_fn(order, |_, _| 0.0)
    }

    /// Entry (i, j) is `entry(i, j)`, called for i ≥ j (and a few others next to the diagonal that
    /// are never read).
    pub fn from_fn(order: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let panel = |start: usize| {
            Mat::from_fn(order - start, PANEL.min(order - start), |i, j| {
                if i >= j { entry(start + i, start + j) } else { 0.0 }
            })
        };
        PackedLower { order, panels: (0..order).step_by(PANEL).map(panel).collect() }
    }

    pub fn order(&self) -> usize {
        self.order
    }

    /// Entry (i, j), i ≥ j.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.panels[j / PANEL][(i - j / PANEL * PANEL, j % PANEL)]
    }

    /// self += ZᵀZ and, in the same blocks, B += ZᵀY for b rows of Z (b × p) and Y (b × t); B is p
    /// × t. p²b + 2ptb flops.
    ///
    /// Products are taken in the precision of Z. An `f32` product is finished in a block of its own
    /// and then added in `f64`, so that errors do not grow with the number of tiles. A block
    /// belongs to one thread.
    pub fn add_products<T: Scalar>(
        &mut self,
        B: MatMut<'_, f64>,
        Z: MatRef<'_, T>,
        Y: MatRef<'_, T>,
    ) {
        let side = ops::gram_side(self.order); // divides PANEL
        let mut moments = B.par_row_chunks_mut(side).collect::<Vec<_>>().into_iter();
        let mut work = Vec::new();
        for (k, panel) in self.panels.iter_mut().enumerate() {
            for block in ops::lower_blocks(panel.as_mut(), side) {
                let B = if block.row == block.col { moments.next() } else { None };
                work.push((
                    LowerBlock { row: block.row + k * PANEL, col: block.col + k * PANEL, ..block },
                    B,
                ));
            }
        }
        work.into_par_iter().for_each_init(Mat::new, |scratch, (block, B)| {
            if let Some(B) = B {
                add_moments(B, Z.subcols(block.row, block.out.nrows()), Y, scratch);
            }
            add_gram(block, Z, scratch);
        });
    }

    /// self + other.
    pub fn plus(mut self, other: &PackedLower) -> Self {
        self.panels.par_iter_mut().zip(&other.panels).for_each(|(a, b)| *a += b);
        self
    }
}

/// The block of a Gram matrix gains its part of ZᵀZ; `scratch` is room for it in the precision of
/// Z.
fn add_gram<T: Scalar>(block: LowerBlock<'_, f64>, Z: MatRef<'_, T>, scratch: &mut Mat<T>) {
    if let Some(Z) = T::as_f64(Z) {
        return ops::gram_block(block, Accum::Add, Z, 1.0);
    }
    let LowerBlock { row, col, out } = block;
    let mut product = room(scratch, out.nrows(), out.ncols());
    ops::gram_block(LowerBlock { row, col, out: product.rb_mut() }, Accum::Replace, Z, T::one());
    ops::add_widened(out, product.rb(), row == col);
}

/// B += ZᵀY, the product in the precision of Z.
fn add_moments<T: Scalar>(
    B: MatMut<'_, f64>,
    Z: MatRef<'_, T>,
    Y: MatRef<'_, T>,
    scratch: &mut Mat<T>,
) {
    let mut product = room(scratch, B.nrows(), B.ncols());
    ops::matmul_here(product.rb_mut(), Accum::Replace, Z.transpose(), Y, T::one());
    ops::add_widened(B, product.rb(), false);
}

/// A part of `scratch`, which grows if it must.
fn room<T: Scalar>(scratch: &mut Mat<T>, rows: usize, cols: usize) -> MatMut<'_, T> {
    if scratch.nrows() < rows || scratch.ncols() < cols {
        *scratch = Mat::zeros(rows.max(scratch.nrows()), cols.max(scratch.ncols()));
    }
    scratch.as_mut().submatrix_mut(0, 0, rows, cols)
}
