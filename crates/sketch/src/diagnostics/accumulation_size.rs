//! The number of columns and of summands that an accumulation needs.

use super::SketchDiagnostics;
use crate::check_failure_probability;
use nystrom_linalg_core::{Result, validate};

/// The constants c₁ and c₂ of Theorem 3.6: d ≥ c₁ d_δ ln²(n/ρ) and md ≥ c₂ M ln³(n/ρ).
///
/// The paper proves that such constants exist but does not give them. The default, c₁ = 1/2 and
/// c₂ = 1/16, is our choice: in the tests of this crate, K-satisfiability with c = 2 then holds
/// more often than the required 1 − ρ. c₁ cannot be much smaller even for a Gaussian sketch, whose
/// `head` is about 2√(d_δ/d) + d_δ/d and below ½ only for d ≥ 20 d_δ.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SizeConstants {
    /// c₁, the constant in the bound on d.
    pub c1: f64,
    /// c₂, the constant in the bound on md.
    pub c2: f64,
}

impl Default for SizeConstants {
    /// c₁ = 1/2, c₂ = 1/16.
    fn default() -> Self {
        SizeConstants { c1: 0.5, c2: 1.0 / 16.0 }
    }
}

/// The d and m of Theorem 3.6, with the d_δ and M from which they are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AccumulationSize {
    /// The number of columns ⌈c₁ d_δ ln²(n/ρ)⌉, at least 1. It may exceed n; then the theorem
    /// guarantees nothing for fewer than n columns.
    pub d: usize,
    /// The number of summands ⌈c₂ M ln³(n/ρ)/d⌉, at least 1.
    pub m: usize,
    /// d_δ, the number of eigenvalues of K/n above δ.
    pub d_delta: usize,
    /// The incoherence M.
    pub incoherence: f64,
}

impl SketchDiagnostics {
    /// The d and m of Theorem 3.6 for this K, the level δ and the sampling probabilities (`None`:
    /// uniform). With these d and m, an accumulation is K-satisfiable with probability at least
    /// 1 − ρ if the constants are large enough.
    ///
    /// # Errors
    /// Those of [`incoherence`](Self::incoherence), and `InvalidParameter` unless ρ is in (0, 1)
    /// and the constants are positive.
    pub fn accumulation_size(
        &self,
        delta: f64,
        probabilities: Option<&[f64]>,
        rho: f64,
        constants: SizeConstants,
    ) -> Result<AccumulationSize> {
        check_failure_probability(rho)?;
        validate::positive("c1", constants.c1)?;
        validate::positive("c2", constants.c2)?;
        let log = (self.n() as f64 / rho).ln();
        let (d_delta, incoherence) =
            (self.d_delta(delta)?, self.incoherence(delta, probabilities)?);
        let d = (constants.c1 * d_delta as f64 * log.powi(2)).ceil().max(1.0);
        let m = (constants.c2 * incoherence * log.powi(3) / d).ceil().max(1.0);
        Ok(AccumulationSize { d: d as usize, m: m as usize, d_delta, incoherence })
    }
}
