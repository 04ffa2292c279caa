//! φᵀ(ΦSSᵀΦᵀ + μI)⁻¹φ for a dictionary: for its members and for other points.

use super::StreamDictionary;
use faer::{ColMut, Mat, MatMut};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Cholesky, JitterLadder, Result, RowTree, Scalar, validate};

/// Number of points scored at a time.
const TILE: usize = 1024;

/// The factor of SKS + μI, (SKS)_ij = s_i k_ij s_j, in `f64`: 2m² numbers of memory during
/// construction, m² afterwards.
#[derive(Debug, Clone)]
pub(crate) struct Measure {
    factor: Cholesky<f64>,
    weights: Vec<f64>,
    /// μ plus the jitter of the factorisation; a larger ridge can only lower a score.
    mu: f64,
    /// k_ii of the members.
    diagonal: Vec<f64>,
    /// Σ_j s_j² k_ij² of the members.
    second: Vec<f64>,
}

impl Measure {
    /// m² kernel values (one Gram block), m³/3 flops.
    pub fn new<T: Scalar, K: Kernel<T>>(
        kernel: &K,
        I: &StreamDictionary<T>,
        mu: f64,
    ) -> Result<Self> {
        Measure::of(kernel, I.points(), I.weights(), mu)
    }

    /// As [`new`](Self::new), for given points with weights s².
    pub fn of<T: Scalar, K: Kernel<T>>(
        kernel: &K,
        points: Points<'_, T>,
        weights: Vec<f64>,
        mu: f64,
    ) -> Result<Self> {
        let m = points.len();
        let K = kernel.gram(points);
        let s: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let fill = |mut out: MatMut<'_, f64>| {
            for j in 0..m {
                for i in j..m {
                    out[(i, j)] = K[(i, j)].f64() * (s[i] * s[j]);
                }
                out[(j, j)] += mu;
            }
        };
        let factor = Cholesky::from_fill(m, fill, JitterLadder::default())?; // LLᵀ = SKS + μI
        let mu = mu + factor.jitter();
        let diagonal = (0..m).map(|i| K[(i, i)].f64()).collect();
        let second =
            (0..m).map(|i| (0..m).map(|j| weights[j] * K[(j, i)].f64().powi(2)).sum()).collect();
        Ok(Measure { factor, weights, mu, diagonal, second })
    }

    /// Scores of the members: (1 − μ[(SKS + μI)⁻¹]_ii)/s_i². m³/3 flops.
    pub fn members(&self) -> Vec<f64> {
        let score = |(i, inverse_ii): (usize, f64)| {
            let raw = (1.0 - self.mu * inverse_ii) / self.weights[i];
            bracket(
                raw,
                self.diagonal[i],
                self.weights[i] * self.diagonal[i],
                self.second[i],
                self.mu,
            )
        };
        self.factor.inverse_diagonal().into_iter().enumerate().map(score).collect()
    }

    /// Scores of any points: (k_xx − ‖L⁻¹S k_I(x)‖²)/μ. m kernel values and m² flops per point.
    /// `members` are the points of the dictionary. `own` is 1 if every x is a point that the
    /// dictionary represents, which bounds its score by k/(k + μ), and 0 if not.
    pub fn points<T: Scalar, K: Kernel<T>>(
        &self,
        kernel: &K,
        members: Points<'_, T>,
        (x, own): (Points<'_, T>, f64),
    ) -> Result<Vec<f64>> {
        let m = members.len();
        let mut scores = Vec::with_capacity(x.len());
        for rows in RowTree::tiles(0..x.len(), TILE) {
            let tile = x.slice(rows);
            let k_I = kernel.eval(members, tile); // m × tile
            validate::finite("kernel values", k_I.as_ref())?;
            let mut V =
                Mat::from_fn(m, tile.len(), |j, t| k_I[(j, t)].f64() * self.weights[j].sqrt());
            self.factor.forward_in_place(V.as_mut()); // L⁻¹S k_I(x)
            for (t, k_xx) in diagonal(kernel, tile)?.into_iter().enumerate() {
                let second = (0..m).map(|j| self.weights[j] * k_I[(j, t)].f64().powi(2)).sum();
                let raw = (k_xx - V.col(t).squared_norm_l2()) / self.mu;
                scores.push(bracket(raw, k_xx, own * k_xx, second, self.mu));
            }
        }
        Ok(scores)
    }
}

/// k(x, x) for every x; an error if a value is not finite.
pub(crate) fn diagonal<T: Scalar, K: Kernel<T>>(kernel: &K, x: Points<'_, T>) -> Result<Vec<f64>> {
    let mut k_xx = vec![T::zero(); x.len()];
    kernel.diag_into(ColMut::from_slice_mut(&mut k_xx), x);
    validate::finite("kernel values k(x, x)", ColMut::from_slice_mut(&mut k_xx).rb().as_mat())?;
    Ok(k_xx.into_iter().map(T::f64).collect())
}

/// Clamps a computed score to an interval that contains the exact value. With M = ΦSSᵀΦᵀ,
/// k²/(φᵀMφ + μk) ≤ φᵀ(M + μI)⁻¹φ ≤ k/(own + μ), where `own` = s²k comes from the point's own term
/// s²φφᵀ in M (0 if it has none).
///
/// The lower end (Cauchy–Schwarz) is positive whenever k is, so cancellation cannot turn a tiny
/// score into 0.
fn bracket(raw: f64, k: f64, own: f64, second: f64, mu: f64) -> f64 {
    if !(k > 0.0) {
        return 0.0;
    }
    raw.max(k / (second / k + mu)).min(k / (own + mu))
}

use faer::reborrow::*;
