//! How products and solves are cut into pieces of one thread each.

use crate::work;
use faer::MatMut;

/// Right-hand sides of a triangular solve done by one thread.
const SOLVE_COLUMNS: usize = 128;
/// Rows and columns of a piece of a large Gram matrix: its factors stay in a core's own cache.
const GRAM_SIDE: usize = 256;
/// The least of both for many threads, where a flop takes up to a third longer.
const LEAST_COLUMNS: usize = 16;
const LEAST_SIDE: usize = 32;
/// No narrower rest is left by pieces for many threads.
const NARROW: usize = 8;

/// The side of pieces of something of this size: `side`, a power of two, or where more pieces are
/// [wanted](work::pieces_wanted) a smaller one. No bit changes: one row or column alone has other
/// rounding errors than several, so that no cut may leave a narrower rest.
fn finer(size: usize, mut side: usize, least: usize, pieces: impl Fn(usize) -> usize) -> usize {
    let narrower = |side: usize| size % (side / 2) != size % side && size % (side / 2) < NARROW;
    while side > least && pieces(side) < work::pieces_wanted() && !narrower(side) {
        side /= 2;
    }
    side
}

/// Right-hand sides, of t, that one thread solves for: 128, or less for more than 8 threads.
pub(crate) fn solve_columns(t: usize) -> usize {
    finer(t, SOLVE_COLUMNS, LEAST_COLUMNS, |width| t.div_ceil(width))
}

/// The side of the blocks that a Gram matrix of order m is computed in. It is 64, 128 or 256, about
/// a quarter of m, or less for more than 8 threads.
pub fn gram_side(m: usize) -> usize {
    let side = (m / 4).next_power_of_two().clamp(64, GRAM_SIDE);
    finer(m, side, LEAST_SIDE, |side| m.div_ceil(side) * (m.div_ceil(side) + 1) / 2)
}

/// A block of a lower triangle: its first row and column, and its entries.
#[derive(Debug)]
pub struct LowerBlock<'a, T> {
    /// The first row of the matrix that the block holds.
    pub row: usize,
    /// The first column; equal to `row` for a square block on the diagonal, of which only the lower
    /// triangle belongs to the matrix.
    pub col: usize,
    /// The entries.
    pub out: MatMut<'a, T>,
}

/// The lower trapezoid of `out` (h × w, h ≥ w) cut into blocks of at most `side` × `side`.
///
/// # Panics
/// If h < w or `side` is 0.
pub fn lower_blocks<T>(out: MatMut<'_, T>, side: usize) -> Vec<LowerBlock<'_, T>> {
    assert!(side > 0 && out.nrows() >= out.ncols(), "a lower trapezoid");
    let (mut blocks, mut rest, mut col) = (Vec::new(), out, 0);
    while rest.ncols() > 0 {
        let width = side.min(rest.ncols());
        let (panel, right) = rest.split_at_col_mut(width);
        let (mut below, mut row) = (panel.split_at_row_mut(col).1, col);
        while below.nrows() > 0 {
            let height = if row == col { width } else { side.min(below.nrows()) };
            let (block, others) = below.split_at_row_mut(height);
            blocks.push(LowerBlock { row, col, out: block });
            (below, row) = (others, row + height);
        }
        (rest, col) = (right, col + width);
    }
    blocks
}
