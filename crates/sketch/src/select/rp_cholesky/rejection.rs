//! The sequential part of the accelerated form: rejection sampling among b proposals.

use faer::{Mat, MatRef};
use nystrom_linalg_core::{Scalar, ops, random, work};
use rand::Rng;

/// The accepted proposals, in the order of proposal, and the Cholesky factor of their residual
/// block.
pub(super) struct Accepted {
    /// Positions among the proposals.
    pub positions: Vec<usize>,
    /// L, lower triangular, with LLᵀ = H\[accepted, accepted\].
    pub L: Mat<f64>,
    /// Positions whose residual is rounding error, found before the first acceptance of this round.
    pub negligible: Vec<usize>,
}

/// Rejection-sampling Cholesky: position j is accepted with probability r_j/u_j, where r_j is the
/// residual of H_jj after the positions accepted before j, and u_j is the weight with which j was
/// proposed. The accepted positions follow the sequential distribution exactly.
///
/// `H` is b × b, lower triangle read. At most `most` positions are accepted; r_j ≤ floor_j counts
/// as 0. O(b·a²) flops for a accepted positions.
///
/// # Source
/// Epperly, Tropp & Webber 2024, arXiv:2410.03969, the routine RejectCholesky.
pub(super) fn reject_cholesky<T: Scalar>(
    H: MatRef<'_, T>,
    u: &[f64],
    floor: &[f64],
    most: usize,
    rng: &mut dyn Rng,
) -> Accepted {
    let (mut positions, mut negligible) = (Vec::new(), Vec::new());
    let mut L: Vec<Vec<f64>> = Vec::new(); // rows of the factor
    for j in 0..H.nrows() {
        if positions.len() == most {
            break;
        }
        let mut row: Vec<f64> = positions.iter().map(|&i| H[(j, i)].f64()).collect();
        forward(&L, &mut row); //                                  L⁻¹H[accepted, j]
        let r = H[(j, j)].f64() - ops::dot(&row, &row); //              residual of H_jj
        let accept = random::coin(r / u[j], rng);
        if r <= floor[j] {
            if positions.is_empty() {
                negligible.push(j);
            }
        } else if accept {
            row.push(r.sqrt());
            L.push(row);
            positions.push(j);
        }
    }
    let a = positions.len();
    let L = Mat::from_fn(a, a, |s, t| if t <= s { L[s][t] } else { 0.0 });
    Accepted { positions, L, negligible }
}

/// x ← L⁻¹x for a lower triangular L, given by its rows.
fn forward(L: &[Vec<f64>], x: &mut [f64]) {
    work::triangular_solve(L.len(), 1);
    for (t, row) in L.iter().enumerate() {
        let (done, rest) = x.split_at_mut(t);
        rest[0] = (rest[0] - ops::dot(&row[..t], done)) / row[t];
    }
}
