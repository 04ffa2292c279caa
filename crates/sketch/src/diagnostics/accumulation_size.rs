//! The number of columns and of summands that an accumulation needs.

use super::SketchDiagnostics;
use crate::{Accumulation, check_failure_probability};
use nystrom_linalg_core::{Result, Streams, validate};
use rand::Rng;

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

/// Parameters of [`SketchDiagnostics::measured_size`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SizeSearch {
    /// The level δ of K-satisfiability.
    pub delta: f64,
    /// d, the number of columns.
    pub d: usize,
    /// The constant c of K-satisfiability.
    pub c: f64,
    /// The largest m to try.
    pub largest_m: usize,
    /// The number of sketches drawn for each m.
    pub trials: usize,
    /// ρ, the share of the sketches that may fail to be K-satisfiable.
    pub rho: f64,
}

impl SizeSearch {
    /// A search for `d` columns at the level δ, with c = 2, m up to 1024, and at most 1 failure in
    /// 20 draws.
    pub fn new(delta: f64, d: usize) -> Self {
        SizeSearch { delta, d, c: 2.0, largest_m: 1024, trials: 20, rho: 0.05 }
    }
}

/// The result of [`SketchDiagnostics::measured_size`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasuredSizes {
    /// For m = 1, 2, 4, …, m and the share of the drawn sketches that were K-satisfiable.
    pub shares: Vec<(usize, f64)>,
    /// The first m whose share is at least 1 − ρ. `None` if no m up to the largest has that share;
    /// then a larger d is needed.
    pub m: Option<usize>,
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

    /// The smallest m in 1, 2, 4, … for which a share of at least 1 − ρ of drawn accumulations with
    /// d columns is K-satisfiable for this K. This m depends on no constant of a theorem. 2n²d
    /// flops per trial.
    ///
    /// # Errors
    /// Those of [`Accumulation::sample`] and [`satisfiability`](Self::satisfiability).
    /// `InvalidParameter` unless ρ is in (0, 1) and c is positive. `Empty` if the number of trials
    /// or the largest m is 0.
    ///
    /// # Randomness
    /// One key; draw r for m is from stream r of child m.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_linalg_core::Dense;
    /// use nystrom_sketch::{SizeSearch, SketchDiagnostics};
    /// use rand::SeedableRng;
    /// // 150 points close together and 10 far away: uniform sampling of single rows is weak.
    /// let x = |i: usize| if i % 16 == 0 { 9.0 + i as f64 / 160.0 } else { i as f64 / 160.0 };
    /// let k = Mat::from_fn(160, 160, |i, j| (-(x(i) - x(j)).powi(2)).exp());
    /// let diagnostics = SketchDiagnostics::new(&Dense::new(k.as_ref())?)?;
    /// let found = diagnostics.measured_size(
    ///     &SizeSearch::new(1e-2, 130),
    ///     None,
    ///     &mut rand_pcg::Pcg64::seed_from_u64(0),
    /// )?;
    /// assert!(matches!(found.m, Some(2 | 4 | 8)), "{found:?}");
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn measured_size(
        &self,
        search: &SizeSearch,
        probabilities: Option<&[f64]>,
        rng: &mut dyn Rng,
    ) -> Result<MeasuredSizes> {
        let SizeSearch { delta, d, c, largest_m, trials, rho } = *search;
        check_failure_probability(rho)?;
        validate::positive("constant c of K-satisfiability", c)?;
        validate::not_empty("trials", trials)?;
        validate::not_empty("accumulated matrices (largest m)", largest_m)?;
        let streams = Streams::from_rng(rng);
        let mut found = MeasuredSizes { shares: vec![], m: None };
        let mut m = 1;
        while m <= largest_m && found.m.is_none() {
            let law = Accumulation { m, probabilities: probabilities.map(<[f64]>::to_vec) };
            let mut good = 0;
            for r in 0..trials {
                let sketch =
                    law.sample::<f64>(self.n(), d, &mut streams.child(m as u64).stream(r as u64))?;
                good += usize::from(self.satisfiability(&sketch, delta)?.holds(c));
            }
            let share = good as f64 / trials as f64;
            found.shares.push((m, share));
            found.m = (share >= 1.0 - rho).then_some(m);
            m *= 2;
        }
        Ok(found)
    }
}
