//! The jitter that is added to a matrix that is not numerically positive definite.

use crate::{Error, Result};

/// The multiples δI of the identity to try, one after another, until A + δI has a Cholesky factor.
///
/// Rung s = 0, 1, …, `steps` − 1 has δ_s = first·growth^s·ε·tr(A), with ε of the scalar type. If
/// `start_at_zero`, δ = 0 is tried before rung 0. A shift of ε·tr(A) is of the order of the
/// rounding errors in A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JitterLadder {
    /// δ of rung 0 in units of ε·tr(A).
    pub first: f64,
    /// Ratio of one rung to the one before.
    pub growth: f64,
    /// Number of rungs with δ > 0.
    pub steps: usize,
    /// Whether to try δ = 0 first.
    pub start_at_zero: bool,
}

impl Default for JitterLadder {
    /// δ = 0, then 10ε·tr(A), 100ε·tr(A), … over eight rungs.
    fn default() -> Self {
        JitterLadder { first: 10.0, growth: 10.0, steps: 8, start_at_zero: true }
    }
}

impl JitterLadder {
    /// Only δ = 0: the matrix is factored without jitter, or the factorisation fails.
    pub fn none() -> Self {
        JitterLadder { steps: 0, ..JitterLadder::default() }
    }

    /// The default ladder without δ = 0: it starts at 10ε·tr(W). Meant for W = K_mm, the landmark
    /// block, and C = K_nm: there C(W + δI)⁻¹Cᵀ ⪯ CW⁺Cᵀ ⪯ K for any δ > 0, and an unshifted factor
    /// of a nearly singular W would amplify rounding errors.
    pub fn shifted() -> Self {
        JitterLadder { start_at_zero: false, ..JitterLadder::default() }
    }

    /// The δ to try. The ladder ends before a rung that is infinite or not above the rung before
    /// it.
    fn rungs(self, eps_trace: f64) -> impl Iterator<Item = f64> {
        let shift = move |s: usize| self.first * self.growth.powi(s as i32) * eps_trace;
        let higher = move |&s: &usize| shift(s).is_finite() && (s == 0 || shift(s) > shift(s - 1));
        let shifted = (0..self.steps).take_while(higher).map(shift);
        self.start_at_zero.then_some(0.0).into_iter().chain(shifted)
    }

    /// The first δ for which `attempt(failed, δ)` succeeds. `failed` is the number of failed
    /// attempts before this one; a failed attempt returns its pivot. `order` is the order of the
    /// matrix A, `eps_trace` = ε·tr(A).
    pub(crate) fn climb(
        self,
        order: usize,
        eps_trace: f64,
        mut attempt: impl FnMut(usize, f64) -> std::result::Result<(), usize>,
    ) -> Result<f64> {
        let mut failure = Error::NotPositiveDefinite { order, pivot: 0, jitter: 0.0 };
        for (failed, jitter) in self.rungs(eps_trace).enumerate() {
            match attempt(failed, jitter) {
                Ok(()) => return Ok(jitter),
                Err(pivot) => failure = Error::NotPositiveDefinite { order, pivot, jitter },
            }
        }
        Err(failure)
    }
}
