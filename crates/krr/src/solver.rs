//! Normal equations or QR: the choice, and the number it rests on.

use crate::SolvedBy;
use crate::normal_equations::{NormalEquations, Solution};
use crate::qr::Triangle;
use crate::rows::FeatureRows;
use nystrom_linalg_core::{Error, Result, Scalar};

/// Normal equations are taken while nλ ≥ `SAFETY`·ε·Σ w_i k(x_i, x_i).
const SAFETY: f64 = 10.0;

/// Whitening waits for the end of the pass while nλ ≥ `ONCE_SAFETY`·ε·tr CᵀC·tr (W + δI)⁻¹: the relative error of the fit is then below
/// 1/16 in the worst case; the largest seen at this boundary is 10⁻⁵ (W numerically singular), the usual 10⁻⁹ or less.
const ONCE_SAFETY: f64 = 4.0;

/// How [`NystromKrr`](crate::NystromKrr) solves min ‖√w(y − Φβ)‖² + nλ‖β‖², Φ = CR⁻ᵀ the n × m whitened features.
///
/// Rounding errors in a Gram matrix are as good (or bad) as a change of nλ by their norm:
///
/// * ΦᵀΦ from whitened tiles is wrong by at most c·ε·tr ΦᵀΦ, harmless while λ ≫ ε·k(x, x);
/// * CᵀC + nλRRᵀ, which is R times the whitened equations times Rᵀ, by what is in their terms at most c·ε·tr CᵀC·tr (W + δI)⁻¹, harmless
///   for well-separated centres at moderate λ; it saves half of the flops;
/// * a QR factorisation of Φ never squares Φ and is wrong by ε·‖Φ‖ only, harmless while √λ ≫ ε, hence for every λ anybody can mean; it
///   costs twice the flops of the first, on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Solver {
    /// The cheapest that is safe, ε being that of the scalar type: [`WhitenOnce`](Solver::WhitenOnce) if
    /// nλ ≥ 4·ε·tr CᵀC·tr (W + δI)⁻¹ (estimated from W before the pass, checked after it), else
    /// [`NormalEquations`](Solver::NormalEquations) if nλ ≥ 10·ε·Σ w_i k(x_i, x_i), else [`Qr`](Solver::Qr), also if a Cholesky
    /// factorisation breaks down. For k(x, x) = 1 the second boundary is λ = 2·10⁻¹⁵ in `f64` and 1.2·10⁻⁶ in `f32`. The report
    /// says which was taken and why.
    #[default]
    Auto,
    /// Normal equations of C, solved in the coordinates θ; whitening only names the result: nm² flops.
    WhitenOnce,
    /// Normal equations of the whitened features, products of a tile in the scalar type and their sums in `f64`: 2nm² flops.
    NormalEquations,
    /// Streamed Householder QR of the whitened features, in `f64` whatever the scalar type: about 4nm² flops.
    Qr,
}

/// The sizes that rounding errors are compared with.
pub(crate) struct Scales {
    /// nλ.
    pub mu: f64,
    /// Σ w_i k(x_i, x_i) ≥ tr ΦᵀΦ.
    pub trace: f64,
    /// tr CᵀC·tr (W + δI)⁻¹, or an estimate of it.
    pub once: f64,
}

impl Scales {
    /// Whether whitening after the pass is safe in the precision of T.
    pub fn once_is_safe<T: Scalar>(&self) -> bool {
        self.mu >= ONCE_SAFETY * T::EPS * self.once
    }

    /// The smallest nλ at which normal equations of whitened tiles are safe in the precision of T.
    pub fn safe<T: Scalar>(&self) -> f64 {
        SAFETY * T::EPS * self.trace
    }
}

impl Solver {
    /// The minimiser β of ‖√w(y − Φβ − b)‖² + nλ‖β‖², who found it and why; `row` is about ‖g(x)‖². Where `Auto` leaves the choice, what
    /// turns out not to be safe is done again more safely.
    pub(crate) fn solve<T: Scalar>(
        self,
        stream: &mut FeatureRows<'_, T>,
        mu: f64,
        row: f64,
    ) -> Result<(Solution, SolvedBy, String)> {
        let (whitener, intercept, auto) = (stream.whitener, stream.shift.is_some(), self == Solver::Auto);
        let once = stream.total_weight() * row * whitener.inverse_trace;
        let mut scales = Scales { mu, trace: stream.trace(), once };
        let (mut by, mut reason) = self.choose::<T>(&scales);
        if by == SolvedBy::WhitenOnce {
            stream.whiten_tiles = false;
            let sums = NormalEquations::accumulate(stream); //          CᵀC, Cᵀy
            stream.whiten_tiles = true;
            scales.once = sums.trace(whitener.order()) * whitener.inverse_trace;
            if !auto || scales.once_is_safe::<T>() {
                match sums.solve_unwhitened(mu, intercept, whitener) {
                    Err(Error::NotPositiveDefinite { .. }) if auto => {}
                    other => return other.map(|solution| (solution, by, reason)),
                }
            }
            by = SolvedBy::NormalEquations;
            reason = "whitening after the pass turned out not to be safe".into();
        }
        if by == SolvedBy::NormalEquations {
            match NormalEquations::accumulate(stream).solve(mu, intercept) {
                Err(Error::NotPositiveDefinite { .. }) if auto => {}
                other => return other.map(|solution| (solution, by, reason)),
            }
            reason = "the normal equations were not positive definite".into();
        }
        Ok((Triangle::accumulate(stream).solve(mu, intercept), SolvedBy::Qr, reason))
    }

    /// Which way to go, and why.
    pub(crate) fn choose<T: Scalar>(self, scales: &Scales) -> (SolvedBy, String) {
        let (mu, safe) = (scales.mu, scales.safe::<T>());
        match self {
            Solver::WhitenOnce => (SolvedBy::WhitenOnce, "asked for".into()),
            Solver::NormalEquations => (SolvedBy::NormalEquations, "asked for".into()),
            Solver::Qr => (SolvedBy::Qr, "asked for".into()),
            Solver::Auto if scales.once_is_safe::<T>() => {
                let bound = ONCE_SAFETY * T::EPS * scales.once;
                (SolvedBy::WhitenOnce, format!("n*lambda = {mu:.3e} is at least 4*eps*tr(C'C)*tr(inv W) = {bound:.3e}"))
            }
            Solver::Auto if mu >= safe => {
                (SolvedBy::NormalEquations, format!("n*lambda = {mu:.3e} is at least 10*eps*trace = {safe:.3e}"))
            }
            Solver::Auto => (SolvedBy::Qr, format!("n*lambda = {mu:.3e} is below 10*eps*trace = {safe:.3e}")),
        }
    }
}
