//! Exact scores for many ridges, and rank-k scores, from one eigendecomposition of K.

use crate::score::clamp;
use crate::{ExactRoute, ExactScores};
use faer::MatRef;
use nystrom_linalg_core::{Error, PsdMatrix, Result, Ridge, Scalar, SymmetricEigen, validate};

/// Scores at every ridge and every rank, each in O(n²), from one eigendecomposition K = UΣUᵀ.
///
/// **Forms n × n matrices** (K, U and work space), as the exact scores must. Negative eigenvalues,
/// which rounding produces, count as 0.
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::ExactSpectrum;
/// use nystrom_linalg_core::{Dense, Ridge};
/// let k = Mat::from_fn(50, 50, |i, j| (-(i as f64 - j as f64).abs() / 10.0).exp());
/// let spectrum = ExactSpectrum::new(&Dense::new(k.as_ref())?)?;
/// let path = [1e-3, 1e-2, 1e-1].map(|lambda| spectrum.d_eff(Ridge::PerSample(lambda)));
/// assert!(path[0].clone()? > path[1].clone()? && path[1].clone()? > path[2].clone()?);
/// let leverage: f64 = spectrum.rank_k_scores(5)?.iter().sum();
/// assert!((leverage - 5.0).abs() < 1e-12);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExactSpectrum<T> {
    eigen: SymmetricEigen<T>,
    diagonal: Vec<T>,
}

impl<T: Scalar> ExactSpectrum<T> {
    /// Decomposes `k`: n² entries evaluated, about 9n³ flops, memory for about 4n² numbers during
    /// the decomposition and n² afterwards.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0, [`Error::NonFinite`], [`Error::EigenFailure`].
    pub fn new(k: &dyn PsdMatrix<T>) -> Result<Self> {
        let n = k.dim();
        validate::not_empty("matrix", n)?;
        let eigen = SymmetricEigen::new(k.block((0..n).into(), (0..n).into()).as_ref())?;
        Ok(ExactSpectrum { eigen, diagonal: k.diag() })
    }

    /// l_i(λ) = Σ_j σ_j/(σ_j + μ)·U_ij², summed in `f64`: O(n²) operations per ridge.
    ///
    /// # Errors
    /// Those of [`Ridge::absolute`].
    pub fn scores(&self, ridge: Ridge<T>) -> Result<ExactScores<T>> {
        let mu = ridge.absolute(self.diagonal.len())?;
        let filter = |sigma: f64| sigma / (sigma + mu.f64());
        let weights: Vec<f64> = self.values().map(filter).collect();
        let scores = self.weighted_row_norms(&weights);
        let scores = scores
            .into_iter()
            .zip(&self.diagonal)
            .map(|(l, &k_ii)| clamp(T::lit(l), k_ii, mu))
            .collect();
        Ok(ExactScores { scores, mu, route: ExactRoute::Spectrum })
    }

    /// d_eff(λ) = Σ_j σ_j/(σ_j + μ): O(n) operations per ridge. Errors as [`scores`](Self::scores).
    pub fn d_eff(&self, ridge: Ridge<T>) -> Result<f64> {
        let mu = ridge.absolute(self.diagonal.len())?.f64();
        Ok(self.values().map(|sigma| sigma / (sigma + mu)).sum())
    }

    /// The rank-k leverage scores Σ_{j ≤ k} U_ij², which sum to k.
    ///
    /// K determines them only if σ_k > σ_{k+1}. If σ_k = σ_{k+1}, the scores depend on which basis
    /// of the eigenspace was computed, and they change discontinuously where the gap σ_k − σ_{k+1}
    /// closes. Ridge leverage scores are continuous in K.
    ///
    /// # Errors
    /// [`Error::Empty`] if k = 0; [`Error::RankDeficient`], with the numerical rank, if k exceeds
    /// it, because the remaining eigenvectors are rounding noise.
    pub fn rank_k_scores(&self, k: usize) -> Result<Vec<T>> {
        validate::not_empty("rank (k)", k)?;
        if k > self.rank() {
            return Err(Error::RankDeficient { requested: k, rank: self.rank() });
        }
        Ok(self.weighted_row_norms(&vec![1.0; k]).into_iter().map(T::lit).collect())
    }

    /// The numerical rank: the number of eigenvalues above n·ε·σ_1.
    pub fn rank(&self) -> usize {
        self.eigen.rank()
    }

    /// The eigenvalues σ_1 ≥ … ≥ σ_n as computed, including tiny negative ones.
    pub fn eigenvalues(&self) -> &[T] {
        self.eigen.values()
    }

    pub(crate) fn vectors(&self) -> MatRef<'_, T> {
        self.eigen.vectors()
    }

    /// The eigenvalues σ_j, negative ones set to 0.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        self.eigen.values().iter().map(|sigma| sigma.f64().max(0.0))
    }

    /// Σ_j weights\[j\]·U_ij² for every i, over the first `weights.len()` eigenvectors.
    fn weighted_row_norms(&self, weights: &[f64]) -> Vec<f64> {
        let U = self.eigen.vectors();
        let mut sums = vec![0.0; U.nrows()];
        for (j, weight) in weights.iter().enumerate() {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += weight * U[(i, j)].f64().powi(2);
            }
        }
        sums
    }
}
