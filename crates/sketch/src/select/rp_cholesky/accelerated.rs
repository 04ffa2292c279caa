//! Randomly pivoted Cholesky in rounds of proposals. The pivots have the distribution of the simple
//! form; most of the work is in matrix products.

use super::RpCholesky;
use super::rejection::{Accepted, reject_cholesky};
use crate::select::partial_cholesky::Pivots;
use faer::reborrow::*;
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{
    PivotedCholesky, PsdMatrix, Result, RowTree, Scalar, ops, random, validate,
};
use rand::Rng;

/// Rows of F that are extended at a time. A tile of new columns stays in cache from evaluation
/// through product and solve.
const TILE_ROWS: usize = 1024;
/// Accepted pivots per round with which the products run at full speed.
const PIVOTS_PER_ROUND: f64 = 128.0;
/// Largest number of proposals per round on matrices of at most this order. Larger ones allow n.
const LARGEST_ROUND: usize = 1024;

/// The accelerated form of randomly pivoted Cholesky.
pub(super) fn accelerated<T: Scalar>(
    A: &dyn PsdMatrix<T>,
    k: usize,
    &RpCholesky { proposals, tolerance }: &RpCholesky,
    enough: &mut dyn FnMut(&[f64]) -> bool,
    rng: &mut dyn Rng,
) -> Result<PivotedCholesky<T>> {
    let mut state = Pivots::start(A, k, tolerance)?; //                       F = 0, d = diag A
    // a round stores b² numbers
    let proposals = proposals.map(|b| b.min(A.dim().max(LARGEST_ROUND)));
    // acceptance rate, a running mean over the rounds
    let mut rate = 1.0;
    let mut b = proposals.unwrap_or(first_round(A.dim(), k));
    while state.needs_pivot() && state.f.residual().iter().any(|&d| d > 0.0) {
        // s'_1, …, s'_b ~ d/Σd, independent
        let P = random::with_replacement(state.f.residual(), b, rng)?;
        let H = residual_block(A, state.f.factor(), &P)?;
        let (u, floor): (Vec<f64>, Vec<f64>) =
            P.iter().map(|&p| (state.f.residual()[p], state.f.floor(p))).unzip();
        let Accepted { positions, L, negligible } =
            reject_cholesky(H.as_ref(), &u, &floor, state.wanted(), rng);
        negligible.iter().for_each(|&j| state.f.discard(P[j]));
        let accepted: Vec<usize> = positions.iter().map(|&j| P[j]).collect();
        // F ← [F, G],   G = (A(:, S') − F F(S', :)ᵀ)L⁻ᵀ,   d ← max(d − squared row norms of G, 0)
        state.f.append(&accepted, |F, new| columns_into(new, A, F, &accepted, L.as_ref()))?;
        if enough(state.f.traces()) {
            break;
        }
        rate = 0.5 * (rate + accepted.len() as f64 / b as f64);
        b = proposals.unwrap_or(next_round(A.dim(), state.wanted(), rate, b));
    }
    state.finish()
}

/// The lower triangle of H = A\[P, P\] − F(P, :)F(P, :)ᵀ, b × b: b² entries, b²i flops.
fn residual_block<T: Scalar>(
    A: &dyn PsdMatrix<T>,
    F: MatRef<'_, T>,
    P: &[usize],
) -> Result<Mat<T>> {
    let mut H = A.block(P.into(), P.into());
    validate::finite_block(H.as_ref(), P, P)?;
    let f_p = Mat::from_fn(F.ncols(), P.len(), |j, s| F[(P[s], j)]);
    ops::gram_lower(H.as_mut(), Accum::Add, f_p.as_ref(), -T::one());
    Ok(H)
}

/// out = (A(:, S') − F F(S', :)ᵀ)L⁻ᵀ, tile by tile: n·a entries, na(2i + a) flops.
fn columns_into<T: Scalar>(
    mut out: MatMut<'_, T>,
    A: &dyn PsdMatrix<T>,
    F: MatRef<'_, T>,
    S: &[usize],
    L: MatRef<'_, f64>,
) -> Result<()> {
    let (i, a) = (F.ncols(), S.len());
    let f_s = Mat::from_fn(i, a, |j, t| F[(S[t], j)]);
    let L = Mat::from_fn(a, a, |s, t| T::lit(L[(s, t)]));
    for rows in RowTree::tiles(0..A.dim(), TILE_ROWS) {
        let mut G = out.rb_mut().subrows_mut(rows.start, rows.len());
        let F = F.subrows(rows.start, rows.len());
        A.block_into(G.rb_mut(), rows.clone().into(), S.into());
        validate::finite_block(G.rb(), rows, S)?;
        ops::matmul(G.rb_mut(), Accum::Add, F, f_s.as_ref(), -T::one());
        ops::solve_lower(L.as_ref(), G.transpose_mut());
    }
    Ok(())
}

/// b for the first round: enough for products at full speed, but at most n/8, so that b² entries
/// are few compared with n·b.
fn first_round(n: usize, k: usize) -> usize {
    k.min(PIVOTS_PER_ROUND as usize).min(n / 8).max(1)
}

/// b for the next round. At the given rate of acceptance, it is enough for the remaining pivots, or
/// for products at full speed if that is less. It is at most twice the previous b. The proposals
/// evaluate b² entries and take b²·2i flops, at most a quarter of those for the accepted pivots.
fn next_round(n: usize, wanted: usize, rate: f64, b: usize) -> usize {
    let rate = rate.max(1e-3);
    let useful = PIVOTS_PER_ROUND.min(wanted as f64) / rate;
    let affordable = 0.25 * n as f64 * rate;
    useful.min(affordable).min(2.0 * b as f64).ceil().max(1.0) as usize
}
