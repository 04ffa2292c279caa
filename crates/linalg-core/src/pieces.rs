//! Sizes of the pieces into which products and solves are cut, each piece for one thread.

use crate::work;
use faer::MatMut;

/// Right-hand sides of a triangular solve in one piece.
const SOLVE_COLUMNS: usize = 128;
/// Rows and columns of a piece of a large Gram matrix. The factors of such a piece fit the private
/// cache of a core.
const GRAM_SIDE: usize = 256;
/// Least right-hand sides in a piece, for many threads; a flop then takes up to a third longer.
const LEAST_COLUMNS: usize = 16;
/// Least rows and columns of a piece of a Gram matrix, for many threads; a flop then takes up to a
/// third longer.
const LEAST_SIDE: usize = 32;
/// Least rows or columns that halving a piece may leave as a remainder.
const NARROW: usize = 8;

/// The side of the pieces into which `size` rows or columns are cut: `side`, a power of two, halved
/// (not below `least`) until there are as many `pieces` as [wanted](work::pieces_wanted). The bits
/// of the result do not change: halving stops where it would leave a new remainder under 8, for
/// which gemm takes another path and rounds differently.
fn halve_side_for_threads(
    size: usize,
    mut side: usize,
    least: usize,
    pieces: impl Fn(usize) -> usize,
) -> usize {
    let narrower = |side: usize| size % (side / 2) != size % side && size % (side / 2) < NARROW;
    while side > least && pieces(side) < work::pieces_wanted() && !narrower(side) {
        side /= 2;
    }
    side
}

/// Right-hand sides in one piece of a triangular solve with t: 128, or fewer for more than 8
/// threads.
pub(crate) fn solve_columns(t: usize) -> usize {
    halve_side_for_threads(t, SOLVE_COLUMNS, LEAST_COLUMNS, |width| t.div_ceil(width))
}

/// The side of the blocks in which a Gram matrix of order m is computed: about m/4, rounded to 64,
/// 128 or 256, and possibly smaller for more than 8 threads.
pub fn gram_side(m: usize) -> usize {
    let side = (m / 4).next_power_of_two().clamp(64, GRAM_SIDE);
    halve_side_for_threads(m, side, LEAST_SIDE, |side| {
        m.div_ceil(side) * (m.div_ceil(side) + 1) / 2
    })
}

/// A block of a lower triangle: its first row and column, and its entries.
#[derive(Debug)]
pub struct LowerBlock<'a, T> {
    /// The block's first row in the matrix.
    pub row: usize,
    /// The block's first column in the matrix. If it equals `row`, the block is square, on the
    /// diagonal, and only its lower triangle belongs to the matrix.
    pub col: usize,
    /// The entries of the block.
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
