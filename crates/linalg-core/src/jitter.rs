//! What to add to a matrix that is not numerically positive definite.

use crate::{Error, Result};

/// Which multiples of the identity to try when a matrix is not numerically positive definite.
///
/// Rung s adds δ_s = first·growth^s·ε·tr(A), with ε of the scalar type, after an attempt with δ = 0
/// if `start_at_zero`. A shift of size ε·tr(A) is of the order of the rounding errors in A itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JitterLadder {
    /// δ of the first rung in units of ε·tr(A).
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
    /// The matrix as it is, or not at all.
    pub fn none() -> Self {
        JitterLadder { steps: 0, ..JitterLadder::default() }
    }

    /// The ladder that begins at 10ε·tr(W): the choice for W = K_mm. There C(W + δI)⁻¹Cᵀ ⪯ CW⁺Cᵀ ⪯
    /// K holds for any δ > 0, and an unshifted factor of a nearly singular W would amplify rounding
    /// errors.
    pub fn shifted() -> Self {
        JitterLadder { start_at_zero: false, ..JitterLadder::default() }
    }

    /// The δ to try. A rung that is no higher than the one before, or infinite, is the end of any
    /// ladder.
    fn rungs(self, eps_trace: f64) -> impl Iterator<Item = f64> {
        let shift = move |s: usize| self.first * self.growth.powi(s as i32) * eps_trace;
        let higher = move |&s: &usize| shift(s).is_finite() && (s == 0 || shift(s) > shift(s - 1));
        let shifted = (0..self.steps).take_while(higher).map(shift);
        self.start_at_zero.then_some(0.0).into_iter().chain(shifted)
    }

    /// δ of the first rung on which `attempt(failed, δ)` succeeds, and the number of attempts; one
    /// that fails names its pivot. `order` is that of the matrix, `eps_trace` its ε·tr(A).
    pub(crate) fn climb(
        self,
        order: usize,
        eps_trace: f64,
        mut attempt: impl FnMut(usize, f64) -> std::result::Result<(), usize>,
    ) -> Result<(f64, usize)> {
        let mut failure = Error::NotPositiveDefinite { order, pivot: 0, jitter: 0.0 };
        for (attempts, jitter) in self.rungs(eps_trace).enumerate() {
            match attempt(attempts, jitter) {
                Ok(()) => return Ok((jitter, attempts + 1)),
                Err(pivot) => failure = Error::NotPositiveDefinite { order, pivot, jitter },
            }
        }
        Err(failure)
    }
}
