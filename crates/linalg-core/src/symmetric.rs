//! A·x from one triangle of A.

use crate::{PsdMatrix, Scalar, ops};
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// Rows and columns of a block: of `f64` it takes half a mebibyte, which stays in a core's own
/// cache between its two products.
const SIDE: usize = 256;

/// out = A·x for an n × n matrix and x n × t, each entry of one triangle evaluated once and used
/// for both: n²/2 + 128n entries, where [`PsdMatrix::mul_into`] takes n². Products and sums in
/// `f64` whatever the precision of the entries; O(n·t) memory and two blocks of 256 × 256 a thread.
///
/// Blocks (I, J) and (J, I) are one piece of work that adds to the rows I and J of `out`. The
/// pieces are taken in the rounds of a tournament in which every block of rows meets every other
/// once: the pieces of a round touch different rows, so they run in parallel, and the order in
/// which a row is added to is fixed, so the bits do not depend on the number of threads.
///
/// # Panics
/// If `x` or `out` does not have n rows, or their numbers of columns differ.
///
/// ```
/// use faer::{Mat, mat};
/// use nystrom_linalg_core::{Dense, symmetric_product};
/// let a = mat![[2.0, 1.0], [1.0, 3.0_f64]];
/// let mut out = Mat::zeros(2, 1);
/// symmetric_product(&Dense::new(a.as_ref())?, out.as_mut(), mat![[1.0], [10.0]].as_ref());
/// assert_eq!(out, mat![[12.0], [31.0]]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn symmetric_product<T: Scalar>(
    A: &dyn PsdMatrix<T>,
    mut out: MatMut<'_, f64>,
    x: MatRef<'_, f64>,
) {
    let n = A.dim();
    assert!(x.nrows() == n && out.nrows() == n && x.ncols() == out.ncols(), "A·x: A is {n} x {n}");
    out.fill(0.0);
    let mut parts: Vec<Option<MatMut<'_, f64>>> = row_blocks(out).into_iter().map(Some).collect();
    let rows = |i: usize| i * SIDE..((i + 1) * SIDE).min(n);
    parts.par_iter_mut().enumerate().for_each_init(Block::new, |block, (i, part)| {
        let (a, x_i) = (block.fill(A, rows(i), rows(i)), x.subrows(rows(i).start, rows(i).len()));
        add_product(part.as_mut().expect("taken in rounds only"), a, x_i);
    });
    for round in 0..rounds(parts.len()) {
        let mut pairs: Vec<_> = pairs(parts.len(), round)
            .map(|(i, j)| (i, parts[i].take(), j, parts[j].take()))
            .collect();
        pairs.par_iter_mut().for_each_init(Block::new, |block, (i, out_i, j, out_j)| {
            let (I, J) = (rows(*i), rows(*j));
            let a = block.fill(A, I.clone(), J.clone());
            add_product(out_i.as_mut().expect("once a round"), a, x.subrows(J.start, J.len()));
            add_product(
                out_j.as_mut().expect("once a round"),
                a.transpose(),
                x.subrows(I.start, I.len()),
            );
        });
        for (i, out_i, j, out_j) in pairs {
            (parts[i], parts[j]) = (out_i, out_j);
        }
    }
}

/// One block, as evaluated and in `f64`.
struct Block<T> {
    narrow: Mat<T>,
    wide: Mat<f64>,
}

impl<T: Scalar> Block<T> {
    fn new() -> Self {
        Block { narrow: Mat::zeros(SIDE, SIDE), wide: Mat::new() }
    }

    fn fill(
        &mut self,
        A: &dyn PsdMatrix<T>,
        rows: Range<usize>,
        cols: Range<usize>,
    ) -> MatRef<'_, f64> {
        let mut a = self.narrow.as_mut().submatrix_mut(0, 0, rows.len(), cols.len());
        A.block_into(a.rb_mut(), rows.into(), cols.into());
        ops::widened(a.into_const(), &mut self.wide)
    }
}

fn add_product(out: &mut MatMut<'_, f64>, a: MatRef<'_, f64>, x: MatRef<'_, f64>) {
    ops::matmul_here(out.rb_mut(), Accum::Add, a, x, 1.0);
}

fn row_blocks(out: MatMut<'_, f64>) -> Vec<MatMut<'_, f64>> {
    let (mut blocks, mut rest) = (Vec::new(), out);
    while rest.nrows() > 0 {
        let height = SIDE.min(rest.nrows());
        let (block, below) = rest.split_at_row_mut(height);
        blocks.push(block);
        rest = below;
    }
    blocks
}

/// Rounds in which each of `b` players meets every other once.
fn rounds(b: usize) -> usize {
    b.next_multiple_of(2).saturating_sub(1)
}

/// The pairs of a round (the circle method): the last player of an even number stays, the others
/// move round; who meets a player that is not there rests.
fn pairs(b: usize, round: usize) -> impl Iterator<Item = (usize, usize)> {
    let last = rounds(b);
    let others = (1..=last / 2).map(move |k| ((round + k) % last, (round + last - k) % last));
    std::iter::once((last, round)).chain(others).filter(move |(i, j)| *i.max(j) < b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn everybody_meets_everybody_once_and_plays_once_a_round() {
        for b in 1..20 {
            let mut met = HashSet::new();
            for round in 0..rounds(b) {
                let mut playing = HashSet::new();
                for (i, j) in pairs(b, round) {
                    assert!(i != j && met.insert((i.min(j), i.max(j))), "{b} {round}: {i} {j}");
                    assert!(playing.insert(i) && playing.insert(j), "{b} {round}: {i} {j}");
                }
            }
            assert_eq!(met.len(), b * (b - 1) / 2);
        }
    }
}
