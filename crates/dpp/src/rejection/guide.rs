//! The guide B: a matrix of low rank that replaces K in proposals, and the scores that it gives.

use super::weighted::Weighted;
use crate::ElementarySymmetric;
use crate::start::rounding;
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{
    Indices, PivotedCholesky, PsdMatrix, Result, Scalar, SymmetricEigen, ops, random, validate,
};
use rand::Rng;
use rayon::prelude::*;

/// Number of rows scored per parallel task.
const ROWS: usize = 256;

/// B = Σ_i b_i u_i u_iᵀ in the feature space of K, with orthonormal u_i in the span of the
/// dictionary D. B has a tail too: infinitely many infinitely small eigenvalues, in directions
/// orthogonal to all items. Their sum is the trace τ that the dictionary does not explain. With q
/// eigenvalues τ/q instead, a trial would be accepted about exp(−k²/2q) times as often, where k is
/// the expected number of items of a draw that the tail accounts for.
///
/// Its scores are g_j = ⟨∇ ln e_c(B), φ_jφ_jᵀ⟩. With the derivatives w_i = e_{c−1}(b without
/// i)/e_c(b) along u_i, and w_0 = e_{c−1}(b)/e_c(b) along other directions, w_0 − w_i =
/// b_i·e_{c−2}(b without i)/e_c(b), so that
///
/// g_j = w_0 K_jj − Σ_i (w_0 − w_i)(u_iᵀφ_j)² = w_0 K_jj − ‖R K_{D,j}‖².
///
/// Draws are exact for any b and any dictionary; with good ones, trials are accepted more often.
#[derive(Debug, Clone)]
pub(super) struct Guide {
    items: Vec<usize>, // D
    R: Mat<f64>,       // m × m
    w_0: f64,
    log_e: f64,    // ln e_c(B)
    log_tilt: f64, // ln α for which the DPP of αB has about c items on average
    slack: f64,    // bound of the rounding error of ‖R K_{D,j}‖²/(w_0 K_jj)
}

impl Guide {
    /// The initial guide, whose scores are g_j = K_jj.
    pub fn diagonal() -> Self {
        Guide { items: vec![], R: Mat::new(), w_0: 1.0, log_e: 0.0, log_tilt: 0.0, slack: 0.0 }
    }

    /// B = PΣP, where Σ = Σ_s v_s² φ_sφ_sᵀ is the covariance of a sample, and P projects on the
    /// span of at most m of its items. These items are randomly chosen pivots of a Cholesky
    /// factorisation FFᵀ, and b are the eigenvalues of FᵀF.
    ///
    /// m·|sample| entries, O(m²·|sample| + m³) flops. `unit` is the scale of K: scores are those of
    /// K/unit.
    ///
    /// # Randomness
    /// One uniform for every pivot.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite);
    /// [`RankDeficient`](nystrom_linalg_core::Error::RankDeficient) if the sample has rank below c.
    pub fn of<T: Scalar>(
        sample: &Weighted<'_, T>,
        c: usize,
        m: usize,
        unit: f64,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let (F, tau) = pivots(sample, c, m, rng)?;
        let (pivots, m) = (F.pivots(), F.rank());
        let mut S = Mat::zeros(m, m);
        ops::gram_lower(S.as_mut(), Accum::Replace, F.factor(), 1.0); //        FᵀF = Y diag(b) Yᵀ
        let eigen = SymmetricEigen::new(S.as_ref())?;
        let (b, Y) = (&eigen.values()[..eigen.rank()], eigen.vectors());
        let e = ElementarySymmetric::with_tail(b, tau, c)?;
        let (w_0, curvature) = e.slopes();
        // u_iᵀφ_j = y_iᵀ L⁻¹ V K_{D,j}, with L the rows of F of the pivots, V their weights
        let L = Mat::from_fn(m, m, |s, t| if s < t { 0.0 } else { F.factor()[(pivots[s], t)] });
        let mut M =
            Mat::from_fn(
                m,
                m,
                |s, t| {
                    if s == t { sample.weights[pivots[s]] / unit.sqrt() } else { 0.0 }
                },
            );
        ops::solve_lower(L.as_ref(), M.as_mut());
        let scaled = Mat::from_fn(b.len(), m, |i, t| (b[i] * curvature[i]).sqrt() * Y[(t, i)]);
        let R = ops::times(scaled.as_ref(), M.as_ref());
        let least = pivots.iter().enumerate().map(|(t, &p)| L[(t, t)] / F.diagonal()[p].sqrt());
        let conditioning = least.fold(1.0, f64::min);
        Ok(Guide {
            items: pivots.iter().map(|&p| sample.items[p]).collect(),
            R,
            w_0,
            log_e: e.log_e(c),
            log_tilt: e.log_tilt(),
            slack: 4.0 * (m as f64).sqrt() * T::EPS / conditioning,
        })
    }

    /// D, the items of the dictionary.
    pub fn items(&self) -> &[usize] {
        &self.items
    }

    /// ln e_c(B).
    pub fn log_e(&self) -> f64 {
        self.log_e
    }

    /// ln α for which the DPP of αB has about c items on average.
    pub fn log_tilt(&self) -> f64 {
        self.log_tilt
    }

    /// w_0: no score exceeds w_0 K_jj.
    pub fn bound(&self) -> f64 {
        self.w_0
    }

    /// g_j for the given rows, with K_jj/unit from `diagonal`, as an upper bound that exceeds the
    /// exact g_j by rounding error only. |rows|·m entries, 2m² flops per row.
    ///
    /// # Errors
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with the entry of K.
    pub fn scores<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        rows: &[usize],
        diagonal: impl Fn(usize) -> f64 + Sync,
    ) -> Result<Vec<f64>> {
        let explained: Vec<Result<_>> =
            rows.par_chunks(ROWS).map(|rows| self.explained(k, rows)).collect();
        // in order, so that the first error is returned
        let explained: Vec<Vec<f64>> = explained.into_iter().collect::<Result<_>>()?;
        let score = |(&j, explained): (&usize, f64)| {
            let most = self.w_0 * diagonal(j);
            let left = most - explained + self.slack * most;
            if left.is_nan() { most } else { left.clamp(self.slack * most, most) }
        };
        Ok(rows.iter().zip(explained.into_iter().flatten()).map(score).collect())
    }

    /// ‖R K_{D,j}‖² for every j of `rows`.
    fn explained<T: Scalar>(&self, k: &dyn PsdMatrix<T>, rows: &[usize]) -> Result<Vec<f64>> {
        let K = k.block((&self.items).into(), Indices::from(rows));
        validate::finite_block(K.as_ref(), &self.items, rows)?;
        let mut wide = Mat::new();
        let K: MatRef<'_, f64> = ops::widened(K.as_ref(), &mut wide);
        let mut along = Mat::zeros(self.R.nrows(), rows.len());
        ops::matmul_here(along.as_mut(), Accum::Replace, self.R.as_ref(), K, 1.0);
        Ok(along.col_iter().map(|column| column.squared_norm_l2()).collect())
    }
}

/// F with FFᵀ ≈ A, from at most m pivots drawn in proportion to the residuals, and the trace of A −
/// FFᵀ. Residuals at rounding level count as 0.
fn pivots<T: Scalar>(
    A: &Weighted<'_, T>,
    c: usize,
    m: usize,
    rng: &mut dyn Rng,
) -> Result<(PivotedCholesky<f64>, f64)> {
    let mut F = PivotedCholesky::start(A.diagonal.clone(), m.min(A.dim()));
    let above = |F: &PivotedCholesky<f64>| -> Vec<f64> {
        let pairs = F.residual().iter().zip(F.diagonal());
        pairs.map(|(r, d)| if *r > rounding::<T>(c) * d { *r } else { 0.0 }).collect()
    };
    while F.rank() < m.min(A.dim()) {
        let Some(p) = random::categorical(&above(&F), rng) else { break };
        F.take(A, p).map_err(|error| error.placed(|i, j| (A.items[i], A.items[j])))?;
    }
    let tau = above(&F).iter().sum();
    Ok((F, tau))
}
