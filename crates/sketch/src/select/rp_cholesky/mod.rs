//! Randomly pivoted Cholesky: pivots drawn in proportion to the residual diagonal.

mod accelerated;
mod rejection;
mod simple;

pub use simple::rp_cholesky;

use crate::{LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PivotedCholesky, PsdMatrix, Result, Scalar, validate};
use rand::Rng;

/// Randomly pivoted Cholesky: s_1, s_2, … drawn one after another with probability proportional to
/// diag(A − Â), the diagonal that the pivots before leave unexplained.
///
/// The selector to try first: no ridge, no target rank, nothing n × n. One run gives the landmarks,
/// the factor, a nested path of approximations and their trace errors. E‖A − Â‖_* ≤ (1 +
/// ε)‖A − A_r‖_* after k ≥ r/ε + r ln(1/(εη)) pivots, η the relative trace of A − A_r (Theorem 5.1
/// of Chen et al.). The tests follow the recurrence from which the bound comes, a ← a − a²/(r(a +
/// b)).
///
/// Here in the accelerated form: b proposals are drawn at once, and accepted one after another. The
/// probability is the share that the pivots before have left of their residual. So the accepted
/// ones have exactly the distribution of [`rp_cholesky`]. The rest of the work is then matrix
/// products. Given the same seed the two forms take different pivots.
///
/// At most k landmarks, fewer only when those taken explain A to rounding error (the approximation
/// is then exact) or to the tolerance.
///
/// # Cost
/// About nk + Σb² entries and n diagonal ones, nk² + Σ2b²i flops (i pivots before the round), n·k
/// numbers of memory. b is chosen so that Σb² stays a fraction of nk.
///
/// # Source
/// Y. Chen, E. Epperly, J. Tropp, R. Webber, *Randomly pivoted Cholesky*, Communications on Pure
/// and Applied Mathematics 78, 2025 (arXiv:2207.06503); accelerated form: E. Epperly, J. Tropp, R.
/// Webber, *Embrace rejection: kernel matrix approximation by accelerated randomly pivoted
/// Cholesky*, arXiv:2410.03969, 2024.
///
/// # Departures
/// The number of proposals follows from counts (accepted pivots a round, and flops) instead of the
/// clock, so that a seed fixes the result. Residuals within (i + 10)·ε·A_jj of 0 are rounding error
/// and never proposed; the paper stops on the trace.
///
/// ```
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_sketch::{LandmarkSelector, RpCholesky};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..1000).map(|i| (i as f64 / 1000.0).powi(3)).collect();
/// let k = KernelMatrix::new(Gaussian::new(0.1)?, Points::from_slice(&x))?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let landmarks = RpCholesky::default().select(&k, 20, rng)?;
/// assert_eq!(landmarks.len(), 20);
/// // with F and the error on the way
/// let factorisation = RpCholesky::default().factor(&k, 20, rng)?;
/// assert!(factorisation.trace_error() < 1e-6 * 1000.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RpCholesky {
    /// b, the number of proposals a round; `None` (the default) lets it follow the work. The
    /// distribution does not depend on it.
    pub proposals: Option<usize>,
    /// Stop once tr(A − Â) ≤ tolerance·tr A; 0 by default.
    pub tolerance: f64,
}

impl RpCholesky {
    /// Up to `k` pivots of `A` with the factor they give.
    ///
    /// # Randomness
    /// b uniforms for the proposals of a round, and one for each of them that is considered.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n or k is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if k > n.
    /// [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) for a diagonal that is
    /// negative, not finite or all zero. [`NonFinite`](nystrom_linalg_core::Error::NonFinite)
    /// naming another entry of A,
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a tolerance outside
    /// [0, 1).
    pub fn factor<T: Scalar>(
        &self,
        A: &dyn PsdMatrix<T>,
        k: usize,
        rng: &mut dyn Rng,
    ) -> Result<PivotedCholesky<T>> {
        self.factor_until(A, k, &mut |_| false, rng)
    }

    /// As [`factor`](Self::factor), and after each round `enough` sees tr(A − Â) after 0, 1, …
    /// pivots: true ends the run.
    ///
    /// # Errors
    /// As [`factor`](Self::factor).
    ///
    /// # Randomness
    /// As [`factor`](Self::factor).
    pub fn factor_until<T: Scalar>(
        &self,
        A: &dyn PsdMatrix<T>,
        k: usize,
        enough: &mut dyn FnMut(&[f64]) -> bool,
        rng: &mut dyn Rng,
    ) -> Result<PivotedCholesky<T>> {
        if let Some(b) = self.proposals {
            validate::not_empty("proposals a round", b)?;
        }
        accelerated::accelerated(A, k, self, enough, rng)
    }
}

impl<T: Scalar> LandmarkSelector<T> for RpCholesky {
    /// Errors as [`factor`](RpCholesky::factor).
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        Landmarks::from_pivots(&self.factor(k, m, rng)?)
    }
}
