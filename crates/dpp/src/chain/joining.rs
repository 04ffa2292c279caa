//! Single steps: adds a proposal to a window in which exchanges were made.
//!
//! Let S be the rows on which P was swept since the factor was computed, with σ_s = 1 for an item
//! that entered and σ_s = −1 for an item that left. A new row n is P⁰_n = K_n − w_nᵀW before these
//! sweeps, and after them
//!
//! P_nr = P⁰_nr − Σ_s σ_s P⁰_ns P_sr for r ∉ S,   P_nr = −Σ_s σ_s P⁰_ns P_sr for r ∈ S.

use super::batch::Batch;
use super::factor::Factor;
use super::rows::{Rows, solve_one, subtract_multiple};
use super::window::{Joining, NOWHERE, Window};
use nystrom_linalg_core::{Scalar, dispatch, ops, work};
use pulp::{Simd, WithSimd};

/// Q, the most pending exchanges of single steps before the factor is recomputed. A step takes
/// c³/3Q flops for the factor, and about 8Qc + 8Q² for the pending updates.
pub(super) fn most_pending(c: usize) -> usize {
    (c / 8).next_multiple_of(4).clamp(4, 32)
}

impl Window {
    /// Starts an empty window, for at most `q` proposals that are added one by one.
    pub fn begin_joining(&mut self, q: usize) {
        self.begin(0, q);
        let Joining { W, N, A } = &mut self.joining;
        W.reset(2 * q, self.at.len());
        N.reset(2, 2 * q);
        A.reset(2, 2 * q);
    }

    /// Whether there is room for proposal number `j` of the batch.
    pub fn has_room(&self, j: usize) -> bool {
        j < self.q
    }

    /// Adds the last proposal of the batch, whose column is for the Y of `factor`. 2c² + 8qc flops,
    /// and 16q² more after exchanges.
    pub fn join<T: Scalar>(&mut self, factor: &Factor, batch: &Batch<T>) {
        let (c, q, j) = (self.at.len(), self.q, batch.items.len() - 1);
        let (v, new) = (batch.positions[j], [j, q + j]);
        let Window { P, at, signs, joining: Joining { W, N, A }, .. } = self;
        W.row_mut(j)[..c].iter_mut().zip(batch.column(j)).for_each(|(w, k)| *w = k.f64());
        W.row_mut(q + j).fill(0.0);
        let position = (at[v] == NOWHERE).then_some(v);
        if position.is_some() {
            (W.row_mut(q + j)[v], at[v]) = (-1.0, q + j);
        }
        (0..2).for_each(|n| N.row_mut(n).fill(0.0));
        (0..=j).for_each(|i| N.row_mut(0)[i] = batch.between(i, j).f64());
        dispatch(Join { factor, position, new, signs, P, W, N, A });
        for (n, &row) in new.iter().enumerate() {
            P.row_mut(row).copy_from_slice(N.row(n));
            (0..2 * q).for_each(|r| P.row_mut(r)[row] = N.at(n, r));
        }
    }

    /// Frees the rows of proposal number `j` of the batch, for position v, which was refused.
    pub fn leave(&mut self, j: usize, v: usize) {
        if self.at[v] == self.q + j {
            self.at[v] = NOWHERE;
        }
    }
}

/// Computes N and W in place: N is K_n before and P_n after, and the new rows w of W become L⁻¹w.
struct Join<'a> {
    factor: &'a Factor,
    position: Option<usize>, // the position v of −E_v in W, if it has a new row
    new: [usize; 2],
    signs: &'a [f64],
    P: &'a Rows,
    W: &'a mut Rows,
    N: &'a mut Rows,
    A: &'a mut Rows,
}

impl WithSimd for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Join { factor, position, new: [u, e], signs, P, W, N, A } = self;
        let (Lt, inverse) = factor.parts();
        solve_one(Lt, inverse, W.row_mut(u), 0);
        if let Some(v) = position {
            solve_one(Lt, inverse, W.row_mut(e), v);
        }
        let q = e - u;
        for r in (0..=u).chain(q..=e) {
            for (n, row) in [u, e].into_iter().enumerate() {
                N.row_mut(n)[r] -= ops::dot_in(simd, W.row(row), W.row(r)); // P⁰_n
            }
        }
        work::product(2, 2 * (u + 1), W.width);

        let own = [0, 1].map(|n| [u, e].map(|r| N.at(n, r)));
        let swept = || (0..2 * q).filter(|s| signs[*s] != 0.0);
        for n in 0..2 {
            swept().for_each(|s| A.row_mut(n)[s] = signs[s] * N.at(n, s));
            swept().for_each(|s| N.row_mut(n)[s] = 0.0);
            for s in swept() {
                subtract_multiple(N.row_mut(n), A.at(n, s), P.row(s));
                work::flops(2 * P.width);
            }
        }
        for (n, own) in own.into_iter().enumerate() {
            for (r, column) in [u, e].into_iter().enumerate() {
                let since: f64 = swept().map(|s| A.at(n, s) * N.at(r, s)).sum();
                N.row_mut(n)[column] = own[r] - since;
            }
        }
    }
}
