//! Randomly pivoted Cholesky: pivots drawn in proportion to the residual diagonal. `simple.rs`
//! draws one at a time; `accelerated.rs` proposes a block of them, of which `rejection.rs` accepts
//! some.

mod accelerated;
mod rejection;
mod simple;

pub use simple::rp_cholesky;

use crate::{LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PivotedCholesky, PsdMatrix, Result, Scalar, validate};
use rand::Rng;

/// Randomly pivoted Cholesky: pivots s_1, s_2, … are drawn one after another with probability
/// proportional to diag(A − Â), the residual diagonal after the previous pivots.
///
/// The selector to try first: it needs no ridge and no target rank, and stores no n × n matrix. One
/// run gives the landmarks, the factor, a nested sequence of approximations and their trace errors.
/// E‖A − Â‖_* ≤ (1 + ε)‖A − A_r‖_* after k ≥ r/ε + r ln(1/(εη)) pivots, where
/// η = tr(A − A_r)/tr A (Theorem 5.1 of Chen et al.). The tests check the recurrence
/// a ← a − a²/(r(a + b)) from which this bound is derived.
///
/// The implementation is the accelerated form. In a round, b proposals are drawn at once from the
/// residual diagonal and then considered one after another: a proposal is accepted with probability
/// equal to the share of its residual that remains after the pivots accepted before it. The
/// accepted proposals have exactly the distribution of [`rp_cholesky`], and most of the work is in
/// matrix products. With the same seed, the two forms take different pivots.
///
/// The result has k landmarks, or fewer if they determine A up to rounding error (the approximation
/// is then exact) or the tolerance.
///
/// # Cost
/// About nk + Σb² entries, summed over rounds, and n diagonal entries; nk² + Σ2b²i flops, where i
/// is the number of pivots before a round; n·k numbers of memory. b is chosen so that Σb² is a
/// fraction of nk.
///
/// # Source
/// Y. Chen, E. Epperly, J. Tropp, R. Webber, *Randomly pivoted Cholesky*, Communications on Pure
/// and Applied Mathematics 78, 2025 (arXiv:2207.06503); accelerated form: E. Epperly, J. Tropp, R.
/// Webber, *Embrace rejection: kernel matrix approximation by accelerated randomly pivoted
/// Cholesky*, arXiv:2410.03969, 2024.
///
/// # Departures
/// The number of proposals is computed from counts (accepted pivots per round, and flops), where
/// the paper uses the clock, so that the seed determines the result. After i pivots,
/// residuals up to (i + 10)·ε·A_jj are rounding error and are not proposed; the paper has a
/// stopping rule by the trace.
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
/// // the factor F and the trace errors as well
/// let factorisation = RpCholesky::default().factor(&k, 20, rng)?;
/// assert!(factorisation.trace_error() < 1e-6 * 1000.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RpCholesky {
    /// b, the number of proposals per round; with `None` (the default) it is adapted to the work.
    /// The distribution of the pivots does not depend on b. It is at most max(n, 1024).
    pub proposals: Option<usize>,
    /// The selection stops when tr(A − Â) ≤ tolerance·tr A; 0 by default.
    pub tolerance: f64,
}

impl RpCholesky {
    /// A partial Cholesky factorisation of `A` with up to `k` pivots.
    ///
    /// # Randomness
    /// In every round b uniforms for the proposals, and one for each proposal that is considered.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n or k is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if k > n.
    /// [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) for a diagonal with a negative
    /// or non-finite entry, or of zeros. [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with
    /// another entry of A, [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a
    /// tolerance outside [0, 1).
    pub fn factor<T: Scalar>(
        &self,
        A: &dyn PsdMatrix<T>,
        k: usize,
        rng: &mut dyn Rng,
    ) -> Result<PivotedCholesky<T>> {
        self.factor_until(A, k, &mut |_| false, rng)
    }

    /// As [`factor`](Self::factor) with a further stopping rule: after each round, `enough` is
    /// called with the values of tr(A − Â) after 0, 1, 2, … pivots, and the run ends if it returns
    /// true.
    ///
    /// # Errors
    /// Those of [`factor`](Self::factor).
    ///
    /// # Randomness
    /// That of [`factor`](Self::factor).
    pub fn factor_until<T: Scalar>(
        &self,
        A: &dyn PsdMatrix<T>,
        k: usize,
        enough: &mut dyn FnMut(&[f64]) -> bool,
        rng: &mut dyn Rng,
    ) -> Result<PivotedCholesky<T>> {
        if let Some(b) = self.proposals {
            validate::not_empty("proposals per round", b)?;
        }
        accelerated::accelerated(A, k, self, enough, rng)
    }
}

impl<T: Scalar> LandmarkSelector<T> for RpCholesky {
    /// # Errors
    /// Those of [`factor`](RpCholesky::factor).
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        Landmarks::from_pivots(&self.factor(k, m, rng)?)
    }
}
