//! An intermediate sample, its elementary symmetric polynomial, and the draw from it.

use super::weighted::Weighted;
use crate::{ElementarySymmetric, LEnsemble};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Accum, Col, Mat, MatRef, Par};
use nystrom_linalg_core::{Cholesky, Dense, Error, PsdMatrix, Result, Scalar, ops, work};
use rand::Rng;

/// A sum of independent Bernoulli variables takes any value with probability at most this divided
/// by its standard deviation: the maximum over v of √v e^{−v} I_0(v).
pub(super) const MODE: f64 = 0.469;

/// A_σ = (c/t) Σ_s φ_sφ_sᵀ/g_s for t draws σ, as the matrix of its d distinct items.
pub(super) struct Trial {
    items: Vec<usize>,
    A: Mat<f64>,
}

/// The distinct items of `draws` with weights √(c·multiplicity/(t·g·unit)), in increasing order.
pub(super) fn weighted<'a, T: Scalar>(
    k: &'a dyn PsdMatrix<T>,
    mut draws: Vec<(usize, f64)>,
    c: usize,
    diagonal: &[f64],
    unit: f64,
) -> Weighted<'a, T> {
    let t = draws.len() as f64;
    draws.sort_unstable_by_key(|&(j, _)| j);
    let alike: Vec<&[(usize, f64)]> = draws.chunk_by(|a, b| a.0 == b.0).collect();
    let items: Vec<usize> = alike.iter().map(|same| same[0].0).collect();
    let squares: Vec<f64> =
        alike.iter().map(|same| c as f64 * same.len() as f64 / (t * same[0].1)).collect();
    Weighted {
        k,
        weights: squares.iter().map(|square| square.sqrt() / unit.sqrt()).collect(),
        diagonal: items.iter().zip(&squares).map(|(&j, square)| square * diagonal[j]).collect(),
        items,
    }
}

impl Trial {
    /// The matrix of a sample: d² entries.
    ///
    /// # Errors
    /// [`NonFinite`](Error::NonFinite) with the entry of K.
    pub fn new<T: Scalar>(sample: Weighted<'_, T>) -> Result<Self> {
        Ok(Trial { A: sample.stored()?, items: sample.items })
    }

    /// ln e_c(A_σ), −∞ if the sample has no c independent items. 4d³/3 flops, on this thread.
    ///
    /// # Errors
    /// [`EigenFailure`](Error::EigenFailure).
    pub fn log_e(&self, c: usize) -> Result<f64> {
        let values = eigenvalues(self.A.as_ref())?;
        let largest = values.iter().copied().fold(0.0, f64::max);
        let cutoff = values.len() as f64 * f64::EPSILON * largest;
        let counting: Vec<f64> = values.into_iter().filter(|&value| value > cutoff).collect();
        match ElementarySymmetric::new(&counting, c) {
            Ok(e) => Ok(e.log_e(c)),
            Err(Error::RankDeficient { .. }) => Ok(f64::NEG_INFINITY),
            Err(error) => Err(error),
        }
    }

    /// False only if ln e_c(A_σ) < `least`. The test refuses most failing trials at a fraction of
    /// the cost of their eigenvalues.
    ///
    /// For every positive α, e_c(A) = α^{−c}·det(I + αA)·Pr(N = c), where N is the number of items
    /// of the DPP of αA. Omitting the last factor gives a first bound. N is a sum of independent
    /// Bernoulli variables with probabilities p_i, and its variance is v = Σ p_i(1 − p_i) =
    /// tr X − tr X² with X = (I + αA)⁻¹. Since |1 − p + pe^{iθ}|² = 1 − 2p(1 − p)(1 − cos θ), the
    /// Fourier integral for Pr(N = c) is at most
    ///
    /// (1/2π) ∫ exp(−v(1 − cos θ)) dθ = e^{−v} I_0(v) ≤ **0.469/√v**,
    ///
    /// for every c. If α makes c the expected value of N, Pr(N = c) is about 0.4/√v, so that the
    /// bound is nearly sharp. d³/3 flops, and 2d³ more if the first bound does not refuse the
    /// trial.
    pub fn may_reach(&self, least: f64, c: usize, log_alpha: f64) -> bool {
        let (d, alpha) = (self.items.len(), log_alpha.exp());
        let A = &self.A;
        let S = Mat::from_fn(d, d, |i, j| alpha * A[(i, j)] + if i == j { 1.0 } else { 0.0 });
        let trace: f64 = (0..d).map(|i| S[(i, i)]).sum();
        let Ok(factor) = Cholesky::new(S.as_ref()) else { return true };
        drop(S);
        // rounding changes S by at most (d + 1)ε|L||Lᵀ|, and ln det S by at most its trace
        let rounding = (d + 1) as f64 * f64::EPSILON * trace;
        let most = factor.log_det() - c as f64 * log_alpha + rounding;
        if !(most >= least) {
            return false;
        }
        let mut X = Mat::<f64>::identity(d, d);
        factor.forward_in_place(X.as_mut());
        let trace = X.squared_norm_l2();
        let mut square = Mat::zeros(d, d);
        ops::gram_lower(square.as_mut(), Accum::Replace, X.as_ref(), 1.0);
        let lower = (0..d).flat_map(|j| (j..d).map(move |i| (i, j)));
        let trace_of_square: f64 =
            lower.map(|(i, j)| square[(i, j)].powi(2) * if i == j { 1.0 } else { 2.0 }).sum();
        let deviation = (trace - trace_of_square).max(0.0).sqrt();
        most + (MODE / deviation).ln().min(0.0) >= least
    }

    /// A draw from the k-DPP of A_σ: c items. 9d³ flops.
    ///
    /// # Randomness
    /// That of [`ExactKDpp::sample`](crate::ExactKDpp::sample).
    ///
    /// # Errors
    /// [`EigenFailure`](Error::EigenFailure).
    pub fn sample(&self, c: usize, rng: &mut dyn Rng) -> Result<Vec<usize>> {
        let ensemble = LEnsemble::new(&Dense::new(self.A.as_ref())?)?;
        let places = ensemble.k_dpp(c)?.sample(rng);
        Ok(places.indices().iter().map(|&s| self.items[s]).collect())
    }

    /// d², the number of entries of K in A_σ.
    pub fn entries(&self) -> usize {
        self.items.len() * self.items.len()
    }
}

/// The eigenvalues of a symmetric matrix, read from its lower triangle, on this thread.
fn eigenvalues(a: MatRef<'_, f64>) -> Result<Vec<f64>> {
    let d = a.nrows();
    let (par, params) = (Par::Seq, Default::default());
    let mut values = Col::<f64>::zeros(d);
    let mut memory =
        MemBuffer::new(self_adjoint_evd_scratch::<f64>(d, ComputeEigenvectors::No, par, params));
    work::flops(4 * d * d * d / 3);
    let diagonal = values.as_mut().as_diagonal_mut();
    self_adjoint_evd(a, diagonal, None, par, MemStack::new(&mut memory), params)
        .map_err(|_| Error::EigenFailure { order: d })?;
    Ok(values.iter().copied().collect())
}
