//! Reduction of a band matrix to tridiagonal form by bulge chasing, without accumulating the
//! transformations.

use super::Band;
use super::vectors::{add_in, add_two_in, reflection_in};
use crate::ops::dot_in;
use crate::{dispatch, work};
use pulp::{Simd, WithSimd};

/// Consecutive steps of a sweep in one piece of work.
const STEPS: usize = 2;
/// Pieces, each of another sweep, that one thread runs in a row.
const SWEEPS: usize = 4;

/// The diagonal (n numbers) of a tridiagonal matrix with the eigenvalues of the band matrix, and
/// the squares of its off-diagonal entries (n − 1).
///
/// Sweep s eliminates the entries of column s below the first subdiagonal and chases the fill-in
/// down the matrix, b rows per step, until it leaves at the end. A sweep starts when the one before
/// is far enough ahead that both touch different columns, so that sweeps can run in parallel.
///
/// 6n²b flops, 2nb numbers of memory.
///
/// # Source
/// H. Schwarz, *Tridiagonalization of a symmetric band matrix*, Numer. Math. 12 (1968), by
/// reflections in place of rotations: K. Murata & K. Horikoshi (1975).
pub(super) fn tridiagonal(band: &Band) -> (Vec<f64>, Vec<f64>) {
    let (n, b) = (band.n, band.b);
    let mut columns = vec![0.0; n * 2 * b];
    for (column, entries) in columns.chunks_mut(2 * b).zip(band.entries.chunks(b + 1)) {
        let size = entries.len().min(2 * b);
        column[..size].copy_from_slice(&entries[..size]);
    }
    work::flops(6 * n * n * b);
    Chase { n, b }.run(&mut columns);
    let diagonal = (0..n).map(|j| columns[j * 2 * b]).collect();
    let squares = (1..n).map(|j| columns[(j - 1) * 2 * b + 1].powi(2)).collect();
    (diagonal, squares)
}

#[derive(Clone, Copy)]
struct Chase {
    n: usize,
    b: usize,
}

/// The steps `from..to` of a sweep.
#[derive(Clone, Copy)]
struct Piece {
    sweep: usize,
    from: usize,
    to: usize,
}

impl Chase {
    /// The number of steps of sweep s: it ends when fewer than two rows are left.
    fn steps(&self, s: usize) -> usize {
        (self.n - 1).saturating_sub(s + 1).div_ceil(self.b)
    }

    /// The first column that a step touches.
    fn column(&self, sweep: usize, step: usize) -> usize {
        if step == 0 { sweep } else { sweep + 1 + (step - 1) * self.b }
    }

    fn run(self, columns: &mut [f64]) {
        if self.b < 2 || self.n < 3 {
            return;
        }
        let (lag, sweeps) = (STEPS + 2, self.n - 2);
        let rounds = (lag * (sweeps - 1) + self.steps(0)).div_ceil(STEPS) + 1;
        let mut pieces = Vec::new();
        for round in 0..rounds {
            pieces.clear();
            // in this round, sweep s makes STEPS steps from step round·STEPS − lag·s on
            let last = ((round + 1) * STEPS - 1) / lag;
            for s in (0..=last.min(sweeps - 1)).rev() {
                let to = ((round + 1) * STEPS - lag * s).min(self.steps(s));
                let from = (round * STEPS).saturating_sub(lag * s);
                if from < to {
                    pieces.push(Piece { sweep: s, from, to });
                } else if from >= self.steps(s) {
                    break;
                }
            }
            self.side_by_side(columns, 0, &pieces);
        }
    }

    /// Runs the pieces, given in the order of their columns, in parallel; `columns` starts with
    /// column `first`.
    fn side_by_side(&self, columns: &mut [f64], first: usize, pieces: &[Piece]) {
        if pieces.len() <= SWEEPS {
            for piece in pieces {
                dispatch(Steps { chase: *self, piece: *piece, columns, first });
            }
            return;
        }
        let (left, right) = pieces.split_at(pieces.len() / 2);
        let middle = self.column(right[0].sweep, right[0].from);
        let (low, high) = columns.split_at_mut((middle - first) * 2 * self.b);
        rayon::join(
            || self.side_by_side(low, first, left),
            || self.side_by_side(high, middle, right),
        );
    }
}

struct Steps<'a> {
    chase: Chase,
    piece: Piece,
    columns: &'a mut [f64],
    first: usize,
}

impl WithSimd for Steps<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Chase { n, b } = self.chase;
        let mut scratch = vec![0.0; 2 * b];
        let (v, w) = scratch.split_at_mut(b);
        for step in self.piece.from..self.piece.to {
            let row = self.piece.sweep + 1 + step * b;
            let size = b.min(n - row);
            let column = self.chase.column(self.piece.sweep, step);
            let (before, block) =
                self.columns[(column - self.first) * 2 * b..].split_at_mut((row - column) * 2 * b);
            let (v, at) = (&mut v[..size], row - column);
            v.copy_from_slice(&before[at..at + size]);
            let (beta, tau) = reflection_in(simd, v);
            if tau == 0.0 {
                continue;
            }
            before[at..at + size].fill(0.0);
            before[at] = beta;
            let H = Reflection { v, tau, width: 2 * b };
            H.on_the_left(simd, &mut before[2 * b..], at - 1);
            H.on_both_sides(simd, block, &mut w[..size]);
            H.on_the_right(simd, block, &mut w[..b.min(n - row - size)]);
        }
    }
}

/// The reflection I − τvvᵀ; column j of the band starts at index j·`width`.
struct Reflection<'a> {
    v: &'a [f64],
    tau: f64,
    width: usize,
}

impl Reflection<'_> {
    /// x ← x − τv(vᵀx) for every column x. The rows of v begin at entry `at` of the first column,
    /// and one entry earlier in each following column.
    #[inline(always)]
    fn on_the_left<S: Simd>(&self, simd: S, columns: &mut [f64], at: usize) {
        for (c, x) in columns.chunks_mut(self.width).enumerate() {
            let x = &mut x[at - c..][..self.v.len()];
            let along = dot_in(simd, self.v, x);
            add_in(simd, x, -self.tau * along, self.v);
        }
    }

    /// D ← D − vyᵀ − yvᵀ for the diagonal block D, with y = τ(Dv − ½τ(vᵀDv)v).
    #[inline(always)]
    fn on_both_sides<S: Simd>(&self, simd: S, block: &mut [f64], y: &mut [f64]) {
        let (v, tau, size) = (self.v, self.tau, self.v.len());
        y.fill(0.0);
        for (j, x) in block.chunks(self.width).take(size).enumerate() {
            let x = &x[..size - j];
            y[j] += dot_in(simd, &x[1..], &v[j + 1..]);
            add_in(simd, &mut y[j..], v[j], x);
        }
        let half = 0.5 * tau * dot_in(simd, v, y);
        y.iter_mut().zip(v).for_each(|(y, v)| *y = tau * (*y - half * v));
        for (j, x) in block.chunks_mut(self.width).take(size).enumerate() {
            add_two_in(simd, &mut x[..size - j], (-v[j], &y[j..]), (-y[j], &v[j..]));
        }
    }

    /// E ← E − τ(Ev)vᵀ for the block E below the diagonal block, with as many rows as `y`, which is
    /// overwritten by Ev.
    #[inline(always)]
    fn on_the_right<S: Simd>(&self, simd: S, block: &mut [f64], y: &mut [f64]) {
        let (v, size, below) = (self.v, self.v.len(), y.len());
        y.fill(0.0);
        for (j, x) in block.chunks(self.width).take(size).enumerate() {
            add_in(simd, y, v[j], &x[size - j..][..below]);
        }
        for (j, x) in block.chunks_mut(self.width).take(size).enumerate() {
            add_in(simd, &mut x[size - j..][..below], -self.tau * v[j], y);
        }
    }
}
