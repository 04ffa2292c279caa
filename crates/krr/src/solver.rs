//! Normal equations or QR: the choice, and the number it rests on.

use nystrom_linalg_core::Scalar;

/// Normal equations are taken while nλ ≥ `SAFETY`·ε·Σ w_i k(x_i, x_i).
const SAFETY: f64 = 10.0;

/// How [`NystromKrr`](crate::NystromKrr) solves min ‖√w(y − Φβ)‖² + nλ‖β‖², Φ the n × m whitened features.
///
/// Forming A = ΦᵀΦ in precision ε commits an error of at most c·ε·tr A, which is as good (or bad) as changing nλ by that much:
/// harmless while λ ≫ ε·k(x, x). A QR factorisation of Φ never squares Φ and commits ε·‖Φ‖ only, harmless while
/// √λ ≫ ε, hence for every λ anybody can mean; it costs about four times as much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Solver {
    /// Normal equations if nλ ≥ 10·ε·Σ w_i k(x_i, x_i), with ε of the scalar type, and QR below, or if the Cholesky factorisation
    /// breaks down. For k(x, x) = 1 the boundary is λ = 2·10⁻¹⁵ in `f64` and 1.2·10⁻⁶ in `f32`. The report says which.
    #[default]
    Auto,
    /// Whitened normal equations, products of a tile in the scalar type and their sums in `f64`.
    NormalEquations,
    /// Streamed Householder QR in `f64`, whatever the scalar type.
    Qr,
}

/// A choice, and why.
pub(crate) struct Choice {
    pub qr: bool,
    pub may_fall_back: bool,
    pub reason: String,
}

impl Solver {
    /// `trace` is Σ w_i k(x_i, x_i) ≥ tr A.
    pub(crate) fn choose<T: Scalar>(self, mu: f64, trace: f64) -> Choice {
        let safe = SAFETY * T::EPS * trace;
        match self {
            Solver::NormalEquations => Choice { qr: false, may_fall_back: false, reason: "asked for".into() },
            Solver::Qr => Choice { qr: true, may_fall_back: false, reason: "asked for".into() },
            Solver::Auto if mu >= safe => Choice {
                qr: false,
                may_fall_back: true,
                reason: format!("n*lambda = {mu:.3e} is at least 10*eps*trace = {safe:.3e} ({})", T::NAME),
            },
            Solver::Auto => Choice {
                qr: true,
                may_fall_back: false,
                reason: format!("n*lambda = {mu:.3e} is below 10*eps*trace = {safe:.3e} ({})", T::NAME),
            },
        }
    }
}
