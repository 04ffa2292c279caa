//! An intermediate sample, its polynomial, and the draw from it.

use super::weighted::Weighted;
use crate::{ElementarySymmetric, LEnsemble};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Col, Mat, MatRef, Par};
use nystrom_linalg_core::{Dense, Error, PsdMatrix, Result, Scalar, work};
use rand::Rng;

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
    /// d² entries.
    ///
    /// # Errors
    /// [`NonFinite`](Error::NonFinite) naming an entry of K.
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

    /// c items with probability in proportion to the volume of their rows in A_σ. 9d³ flops.
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

    /// d².
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
