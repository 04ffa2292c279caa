//! The small sequential part of the accelerated form: which of b proposals are accepted.

use faer::{Mat, MatRef};
use nystrom_linalg_core::{Scalar, ops, random, work};
use rand::Rng;

/// Which proposals were accepted, in the order of proposal, and the factor of their block of the
/// residual.
pub(super) struct Accepted {
    /// Positions among the proposals.
    pub positions: Vec<usize>,
    /// H\[accepted, accepted\] = LLᵀ, lower triangular.
    pub L: Mat<f64>,
    /// Positions whose residual turned out to be rounding error before any acceptance of this
    /// round.
    pub void: Vec<usize>,
}

/// Rejection-sampling Cholesky: position j is accepted with probability r_j/u_j. Here r_j is what
/// is left of H_jj after the accepted ones before it, and u_j the weight it was proposed with. So
/// the accepted ones follow the sequential distribution exactly.
///
/// `H` is b × b, lower triangle read; at most `most` are accepted; r_j ≤ floor_j counts as 0.
/// O(b·a²) flops for a accepted ones.
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
    let (mut positions, mut void) = (Vec::new(), Vec::new());
    let mut L: Vec<Vec<f64>> = Vec::new(); // rows of the factor
    for j in 0..H.nrows() {
        if positions.len() == most {
            break;
        }
        let mut row: Vec<f64> = positions.iter().map(|&i| H[(j, i)].f64()).collect();
        forward(&L, &mut row); //                                  L⁻¹H[accepted, j]
        let r = H[(j, j)].f64() - ops::dot(&row, &row); //              what is left of H_jj
        let accept = random::coin(r / u[j], rng);
        if r <= floor[j] {
            if positions.is_empty() {
                void.push(j);
            }
        } else if accept {
            row.push(r.sqrt());
            L.push(row);
            positions.push(j);
        }
    }
    let a = positions.len();
    Accepted { positions, L: Mat::from_fn(a, a, |s, t| if t <= s { L[s][t] } else { 0.0 }), void }
}

/// x ← L⁻¹x for the rows of a lower triangular L.
fn forward(L: &[Vec<f64>], x: &mut [f64]) {
    work::triangular_solve(L.len(), 1);
    for (t, row) in L.iter().enumerate() {
        let (done, rest) = x.split_at_mut(t);
        rest[0] = (rest[0] - ops::dot(&row[..t], done)) / row[t];
    }
}
