//! Products A·x that evaluate only one triangle of A.

use crate::rounding::{Bound, Rounding};
use crate::symmetric_block::{Block, SIDE};
use crate::{PsdMatrix, Scalar};
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// out = A·x for A (n × n) and x (n × t). Each entry of one triangle is evaluated once and used for
/// both: n²/2 + 128n entries, where [`PsdMatrix::mul_into`] evaluates n².
///
/// The same as a [`KeptTriangle`] that keeps nothing.
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
    out: MatMut<'_, f64>,
    x: MatRef<'_, f64>,
) {
    KeptTriangle::none(A).mul_into(out, x);
}

/// An n × n matrix A for many products A·x. As much of one triangle as fits a budget of bytes is
/// kept in `f32`; the rest is evaluated in every product.
///
/// Products and sums are in `f64`, whatever the precision of the entries. A product reads or
/// evaluates each entry of the triangle once and uses it for both of its places. It multiplies by
/// Â = A + E, where E is the rounding of kept entries to `f32` (E = 0 if the entries are `f32`).
/// [`error`](Self::error) bounds ‖E‖₂, computed from the entries of E. If this bound is too large,
/// [`keep_exactly`](Self::keep_exactly) keeps entries in the precision of A, as far as memory
/// allows.
///
/// The matrix is cut into blocks of 256 × 256. A piece of work is a pair of blocks (I, J) and
/// (J, I), which adds to the rows I and J of the result. The pieces are ordered in the rounds of a
/// tournament, in which every block of rows meets every other once. The pieces of one round add to
/// different rows and run in parallel. The rounds are split into four groups with separate sums, so
/// that threads need not wait for each other after every round. Every row is added to in a fixed
/// order, so the bits do not depend on the number of threads.
///
/// # Cost
/// To keep the whole triangle takes n²/2 + 128n entries of 4 bytes. A product reads the kept
/// entries, evaluates the others, and takes 2n²t flops; its memory is 5n·t numbers and one block
/// per thread.
///
/// ```
/// use faer::{Mat, mat};
/// use nystrom_linalg_core::{Counted, Dense, KeptTriangle};
/// let a = mat![[2.0, 1.0], [1.0, 3.0_f64]];
/// let counted = Counted::new(Dense::new(a.as_ref())?);
/// let kept = KeptTriangle::new(&counted, KeptTriangle::<f64>::bytes(2));
/// let mut out = Mat::zeros(2, 1);
/// for _ in 0..10 {
///     kept.mul_into(out.as_mut(), mat![[1.0], [10.0]].as_ref());
/// }
/// assert_eq!(out, mat![[12.0], [31.0]]);
/// // every entry was evaluated once, and none was rounded
/// assert_eq!((counted.entries(), kept.error()), (4, 0.0));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug)]
pub struct KeptTriangle<'a, T> {
    A: &'a dyn PsdMatrix<T>,
    /// For each of the first rounds, its blocks one after another in the order of `pairs`, rounded
    /// to `f32`.
    rounds: Vec<Vec<f32>>,
    /// The blocks of the first rounds without rounding; if not empty, `rounds` is empty.
    exact: Vec<Vec<T>>,
    /// A bound on ‖E‖₂.
    error: f64,
}

/// Groups of rounds that have a separate sum.
const TEAMS: usize = 4;
/// The share of the rounds after which the error of all rounds is extrapolated.
const SAMPLE: f64 = 1.0 / 16.0;

impl<'a, T: Scalar> KeptTriangle<'a, T> {
    /// Keeps nothing: every product evaluates all entries.
    pub fn none(A: &'a dyn PsdMatrix<T>) -> Self {
        KeptTriangle { A, rounds: vec![], exact: vec![], error: 0.0 }
    }

    /// Keeps, in `f32`, as many whole rounds of blocks as fit `bytes`.
    pub fn new(A: &'a dyn PsdMatrix<T>, bytes: u64) -> Self {
        Self::within(A, bytes, f64::INFINITY)
    }

    /// As [`new`](Self::new) if [`error`](Self::error) is then at most `most`. Otherwise nothing is
    /// kept, and `error` is infinite. The evaluation stops early if the error so far, extrapolated
    /// to all rounds after at least a sixteenth of them, exceeds `most`.
    ///
    /// The bound on ‖E‖₂ is ‖E‖_F. If that exceeds `most`, the entries are evaluated once more for
    /// the smaller bound (Σ ‖E_IJᵀE_IJ‖_F)^½ ≥ ‖E‖₂, a sum over all blocks E_IJ. For rounding
    /// errors the smaller bound is about a third of ‖E‖_F; it costs 512 flops per entry.
    pub fn within(A: &'a dyn PsdMatrix<T>, bytes: u64, most: f64) -> Self {
        let all = rounds_within::<f32>(A.dim(), bytes);
        let kept = |bound| {
            let (mut kept, mut square) = (Self::none(A), 0.0);
            for round in 0..all {
                let (entries, lost) = kept.evaluated(round, bound);
                kept.rounds.push(entries);
                square += lost;
                let share = (round + 1) as f64 / all as f64;
                let expected = if share >= SAMPLE { square / share } else { square };
                if expected > most * most {
                    return None;
                }
            }
            Some(KeptTriangle { error: square.sqrt(), ..kept })
        };
        kept(Bound::Frobenius)
            .or_else(|| kept(Bound::Schatten))
            .unwrap_or(KeptTriangle { error: f64::INFINITY, ..Self::none(A) })
    }

    /// Bytes of the whole triangle in `f32`, about 2n².
    pub fn bytes(n: usize) -> u64 {
        (0..rounds(n)).map(|round| round_bytes::<f32>(n, round)).sum()
    }

    /// Bytes that [`new`](Self::new) keeps for a budget of `budget` bytes.
    pub fn bytes_within(n: usize, budget: u64) -> u64 {
        (0..rounds_within::<f32>(n, budget)).map(|round| round_bytes::<f32>(n, round)).sum()
    }

    /// A bound on ‖E‖₂ = ‖Â − A‖₂, where E is the rounding of kept entries: ‖E‖_F, or the smaller
    /// bound of [`within`](Self::within). NaN or infinite if a kept entry is, or overflows `f32`.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Bytes of the kept entries.
    pub fn kept_bytes(&self) -> u64 {
        bytes_of(&self.rounds) + bytes_of(&self.exact)
    }

    /// n times the share of the triangle that is kept, rounded down.
    pub fn kept_rows(&self) -> usize {
        let n = self.A.dim();
        let all: u64 = (0..rounds(n)).map(|round| round_entries(n, round)).sum();
        let kept: usize = self.rounds.iter().map(Vec::len).sum();
        let kept = kept + self.exact.iter().map(Vec::len).sum::<usize>();
        (n as u128 * kept as u128 / u128::from(all.max(1))) as usize
    }

    /// Frees the kept blocks and keeps, in the precision of A, as many whole rounds of blocks as
    /// fit `bytes` (8 bytes per entry in `f64`).
    pub fn keep_exactly(&mut self, bytes: u64) {
        (self.rounds, self.exact, self.error) = (vec![], vec![], 0.0);
        let rounds = 0..rounds_within::<T>(self.A.dim(), bytes);
        self.exact = rounds.map(|round| self.evaluated(round, Bound::Frobenius).0).collect();
    }

    /// out = Â·x for x (n × t).
    ///
    /// # Panics
    /// If `x` or `out` does not have n rows, or their numbers of columns differ.
    pub fn mul_into(&self, out: MatMut<'_, f64>, x: MatRef<'_, f64>) {
        if self.exact.is_empty() {
            self.product(&self.rounds, out, x);
        } else {
            self.product(&self.exact, out, x);
        }
    }

    /// out = A·x for x (n × t); entries that are kept in rounded form are evaluated again.
    ///
    /// # Panics
    /// As [`mul_into`](Self::mul_into).
    pub fn exact_mul_into(&self, out: MatMut<'_, f64>, x: MatRef<'_, f64>) {
        self.product(&self.exact, out, x);
    }

    fn product<E: Scalar>(&self, kept: &[Vec<E>], out: MatMut<'_, f64>, x: MatRef<'_, f64>) {
        let (n, t) = (self.A.dim(), x.ncols());
        assert!(x.nrows() == n && out.nrows() == n && t == out.ncols(), "A·x: A is {n} x {n}");
        if n == 0 || t == 0 {
            return;
        }
        let (x, all) = (by_blocks(x), rounds(n));
        let teams = all.min(TEAMS);
        let sums_of = |team: usize| {
            let rounds = all * team / teams..all * (team + 1) / teams;
            self.rounds_product(kept, rounds, x.as_ref(), t)
        };
        let sums: Vec<Mat<f64>> = (0..teams).into_par_iter().map(sums_of).collect();
        let all = sums.into_iter().reduce(|mut sum, team| {
            sum += team;
            sum
        });
        from_blocks(out, all.expect("a round at least").as_ref());
    }

    /// The contribution of some rounds, one after the other, to Â·x (or A·x), in the layout of
    /// [`by_blocks`].
    fn rounds_product<E: Scalar>(
        &self,
        kept: &[Vec<E>],
        rounds: Range<usize>,
        x: MatRef<'_, f64>,
        t: usize,
    ) -> Mat<f64> {
        let n = self.A.dim();
        let mut sums = Mat::zeros(x.nrows(), x.ncols());
        let x_of = |i: usize| x.subcols(i * t, t);
        let mut parts: Vec<_> = sums.as_mut().par_col_chunks_mut(t).map(Some).collect();
        for round in rounds {
            let mut pieces = Vec::with_capacity(parts.len());
            let mut entries = kept.get(round).map(Vec::as_slice);
            for (i, j) in pairs(n, round) {
                let size = rows(n, i).len() * rows(n, j).len();
                let a = entries.map(|all| &all[..size]);
                entries = entries.map(|all| &all[size..]);
                // in a diagonal block i = j, and the second `take` gives None
                pieces.push((i, j, a, parts[i].take(), parts[j].take()));
            }
            pieces.par_iter_mut().for_each_init(Block::new, |block, (i, j, a, out_i, out_j)| {
                let outs = [out_i, out_j].map(|out| out.as_mut().map(|out| out.rb_mut()));
                let (I, J, x) = (rows(n, *i), rows(n, *j), [x_of(*i), x_of(*j)]);
                match a {
                    Some(a) => {
                        let a = MatRef::from_column_major_slice(a, I.len(), J.len());
                        block.add_products(a, x, outs);
                    }
                    None => {
                        block.evaluated(self.A, I, J, |block, a| block.add_products(a, x, outs))
                    }
                }
            });
            for (i, j, _, out_i, out_j) in pieces {
                parts[i] = out_i;
                if i != j {
                    parts[j] = out_j;
                }
            }
        }
        sums
    }

    /// The blocks of a round converted to numbers of type `E`, and their contribution to the
    /// squared bound on the rounding error.
    fn evaluated<E: Scalar>(&self, round: usize, bound: Bound) -> (Vec<E>, f64) {
        let n = self.A.dim();
        let mut entries = vec![E::lit(0.0); round_entries(n, round) as usize];
        let (mut pieces, mut rest) = (Vec::new(), entries.as_mut_slice());
        for (i, j) in pairs(n, round) {
            let (block, others) = rest.split_at_mut(rows(n, i).len() * rows(n, j).len());
            pieces.push((i, j, block));
            rest = others;
        }
        let narrow = |(block, rounding): &mut (Block<T>, Rounding), (i, j, out): Piece<'_, E>| {
            let (I, J) = (rows(n, i), rows(n, j));
            let square = block.evaluated(self.A, I, J, |_, a| rounding.narrow(out, a, bound));
            // a block off the diagonal is also its mirror image
            if i == j { square } else { 2.0 * square }
        };
        let threads = || (Block::new(), Rounding::new());
        let lost: Vec<f64> = pieces.into_par_iter().map_init(threads, narrow).collect();
        (entries, lost.iter().sum())
    }
}

/// i, j and the entries of block (i, j), column by column.
type Piece<'a, E> = (usize, usize, &'a mut [E]);

/// The number of blocks of rows of an n × n matrix.
fn blocks(n: usize) -> usize {
    n.div_ceil(SIDE)
}

fn rows(n: usize, i: usize) -> Range<usize> {
    i * SIDE..((i + 1) * SIDE).min(n)
}

/// x (n × t) reshaped to 256 rows: columns it, …, (i + 1)t − 1 are block i of 256 rows of x, the
/// last block padded with 0.
pub(crate) fn by_blocks(x: MatRef<'_, f64>) -> Mat<f64> {
    let (n, t) = (x.nrows(), x.ncols());
    let mut out = Mat::zeros(SIDE, blocks(n) * t);
    for i in 0..blocks(n) {
        let mut part = out.as_mut().submatrix_mut(0, i * t, rows(n, i).len(), t);
        part.copy_from(x.subrows(i * SIDE, rows(n, i).len()));
    }
    out
}

/// The inverse of [`by_blocks`].
pub(crate) fn from_blocks(mut out: MatMut<'_, f64>, sums: MatRef<'_, f64>) {
    let (n, t) = (out.nrows(), out.ncols());
    for i in 0..blocks(n) {
        let mut part = out.rb_mut().subrows_mut(i * SIDE, rows(n, i).len());
        part.copy_from(sums.submatrix(0, i * t, rows(n, i).len(), t));
    }
}

/// The number of rounds: one for the diagonal blocks, and those in which every block of rows meets
/// every other once.
fn rounds(n: usize) -> usize {
    if n == 0 { 0 } else { blocks(n).next_multiple_of(2) }
}

/// The pairs (i, j) of blocks of rows in a round: the diagonal in round 0, then a round-robin
/// tournament by the circle method. With an odd number of blocks a dummy is added, and a block that
/// is paired with the dummy has no pair in that round.
fn pairs(n: usize, round: usize) -> impl Iterator<Item = (usize, usize)> {
    let (b, last) = (blocks(n), rounds(n) - 1);
    let diagonal = (0..if round == 0 { b } else { 0 }).map(|i| (i, i));
    let turn = round.saturating_sub(1);
    let others = (1..=last / 2).map(move |k| ((turn + k) % last, (turn + last - k) % last));
    let meeting = std::iter::once((last, turn)).chain(others).filter(move |(i, j)| *i.max(j) < b);
    diagonal.chain(meeting.take(if round == 0 { 0 } else { b }))
}

fn round_entries(n: usize, round: usize) -> u64 {
    pairs(n, round).map(|(i, j)| rows(n, i).len() as u64 * rows(n, j).len() as u64).sum()
}

fn round_bytes<E>(n: usize, round: usize) -> u64 {
    round_entries(n, round) * size_of::<E>() as u64
}

fn rounds_within<E>(n: usize, budget: u64) -> usize {
    let after = (0..rounds(n)).scan(0, |sum, round| {
        *sum += round_bytes::<E>(n, round);
        Some(*sum)
    });
    after.take_while(|&sum| sum <= budget).count()
}

fn bytes_of<E>(rounds: &[Vec<E>]) -> u64 {
    rounds.iter().map(|round| size_of_val(&round[..]) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn everybody_meets_everybody_once_and_plays_once_a_round() {
        for b in 1..20 {
            let (n, mut met) = (b * SIDE - 1, HashSet::new());
            for round in 0..rounds(n) {
                let mut playing = HashSet::new();
                for (i, j) in pairs(n, round) {
                    assert!((i == j) == (round == 0) && met.insert((i.min(j), i.max(j))));
                    assert!(playing.insert(i) && (i == j || playing.insert(j)), "{b} {round}");
                }
            }
            assert_eq!(met.len(), b * (b + 1) / 2);
        }
    }
}
