//! A block is cut into tiles that are filled in parallel. The bits of an entry do not depend on the
//! tiles.

use faer::MatMut;
use faer::reborrow::*;
use nystrom_linalg_core::{Scalar, work};
use rayon::prelude::*;
use std::ops::Range;

/// Most rows of a tile.
pub(crate) const ROWS: usize = 256;
/// Most columns of a tile; a tile of 256 × 128 `f64` takes 256 KiB.
pub(crate) const COLS: usize = 128;

/// Runs `fill(tile, rows, cols)` on every tile of `out` in parallel.
pub(crate) fn for_each_tile<T: Scalar>(
    out: MatMut<'_, T>,
    fill: impl Fn(MatMut<'_, T>, Range<usize>, Range<usize>) + Sync,
) {
    let (rows, cols) = sizes(out.nrows(), out.ncols());
    split(out, rows, cols).into_par_iter().for_each(|(tile, rows, cols)| fill(tile, rows, cols));
}

/// Rows and columns of a tile of a rows × cols block: smaller tiles if many threads need more of
/// them. An entry has the same bits in every tile.
fn sizes(rows: usize, cols: usize) -> (usize, usize) {
    let fits =
        |(r, c): &(usize, usize)| rows.div_ceil(*r) * cols.div_ceil(*c) >= work::pieces_wanted();
    let smaller = [(ROWS, COLS), (ROWS / 2, COLS), (ROWS / 2, COLS / 2), (ROWS / 4, COLS / 2)];
    smaller.into_iter().find(fits).unwrap_or((ROWS / 4, COLS / 4))
}

/// Runs `fill(tile, rows, cols)` in parallel on the square tiles of the lower triangle of `out` and
/// mirrors each tile, so that `out` becomes exactly symmetric. In a tile on the diagonal
/// (rows = cols), only the lower triangle is used.
///
/// # Panics
/// If `out` is not square.
pub(crate) fn for_each_lower_tile<T: Scalar>(
    out: MatMut<'_, T>,
    fill: impl Fn(MatMut<'_, T>, Range<usize>, Range<usize>) + Sync,
) {
    assert_eq!(out.nrows(), out.ncols(), "a Gram matrix is square");
    let side = out.nrows().div_ceil(COLS);
    let mut tiles: Vec<Option<Tile<'_, T>>> =
        split(out, COLS, COLS).into_iter().map(Some).collect();
    let mut pairs = Vec::with_capacity(side * (side + 1) / 2);
    for col in 0..side {
        for row in col..side {
            let lower = tiles[col * side + row].take().expect("each tile is used once");
            pairs.push((lower, tiles[row * side + col].take()));
        }
    }
    pairs.into_par_iter().for_each(|((mut lower, rows, cols), upper)| {
        fill(lower.rb_mut(), rows, cols);
        match upper {
            Some((upper, ..)) => copy_transposed(upper, lower.rb()),
            None => nystrom_linalg_core::ops::mirror_lower(lower),
        }
    });
}

type Tile<'a, T> = (MatMut<'a, T>, Range<usize>, Range<usize>);

/// The tiles of `out`, column of tiles by column of tiles.
fn split<T: Scalar>(out: MatMut<'_, T>, tile_rows: usize, tile_cols: usize) -> Vec<Tile<'_, T>> {
    let (mut tiles, mut right, mut col) = (Vec::new(), out, 0);
    while right.ncols() > 0 {
        let width = tile_cols.min(right.ncols());
        let (mut below, rest) = right.split_at_col_mut(width);
        let mut row = 0;
        while below.nrows() > 0 {
            let height = tile_rows.min(below.nrows());
            let (tile, rest) = below.split_at_row_mut(height);
            tiles.push((tile, row..row + height, col..col + width));
            (below, row) = (rest, row + height);
        }
        (right, col) = (rest, col + width);
    }
    tiles
}

/// out = aᵀ, in squares that fit the L1 cache.
fn copy_transposed<T: Scalar>(mut out: MatMut<'_, T>, a: faer::MatRef<'_, T>) {
    const SIDE: usize = 16;
    for col in (0..out.ncols()).step_by(SIDE) {
        for row in (0..out.nrows()).step_by(SIDE) {
            for j in col..out.ncols().min(col + SIDE) {
                for i in row..out.nrows().min(row + SIDE) {
                    out[(i, j)] = a[(j, i)];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_have_as_many_tiles() {
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let tiles = |threads: usize, rows: usize, cols: usize| {
            let (r, c) = pool(threads).install(|| sizes(rows, cols));
            rows.div_ceil(r) * cols.div_ceil(c)
        };
        assert_eq!((tiles(1, 512, 1024), tiles(8, 512, 1024)), (16, 16));
        assert_eq!((tiles(16, 512, 1024), tiles(32, 512, 1024)), (16, 32));
        assert_eq!((tiles(64, 512, 1024), tiles(64, 100, 1024)), (64, 64));
    }
}
