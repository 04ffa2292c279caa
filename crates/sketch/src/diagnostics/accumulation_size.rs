//! How many columns, and how many summands, an accumulation needs.

use super::SketchDiagnostics;
use crate::{Accumulation, check_failure_probability};
use nystrom_linalg_core::{Result, Streams, validate};
use rand::Rng;

/// c₁ and c₂ of Theorem 3.6: d ≥ c₁ d_δ ln²(n/ρ) and md ≥ c₂ M ln³(n/ρ).
///
/// The paper proves that such constants exist and gives none. The default, c₁ = 1/2 and c₂ = 1/16,
/// is ours: in the tests of this crate K-satisfiability with c = 2 then holds more often than the 1
/// − ρ asked for. c₁ cannot be much smaller even for a Gaussian sketch, whose first norm is about
/// 2√(d_δ/d) + d_δ/d: below ½ from d = 20 d_δ on.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SizeConstants {
    /// c₁.
    pub c1: f64,
    /// c₂.
    pub c2: f64,
}

impl Default for SizeConstants {
    /// c₁ = 1/2, c₂ = 1/16.
    fn default() -> Self {
        SizeConstants { c1: 0.5, c2: 1.0 / 16.0 }
    }
}

/// The d and m of Theorem 3.6, and what they come from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AccumulationSize {
    /// ⌈c₁ d_δ ln²(n/ρ)⌉, at least 1. It may exceed n: then the theorem promises nothing below n
    /// columns.
    pub d: usize,
    /// ⌈c₂ M ln³(n/ρ)/d⌉, at least 1.
    pub m: usize,
    /// d_δ.
    pub d_delta: usize,
    /// M.
    pub incoherence: f64,
}

/// What [`SketchDiagnostics::measured_size`] looks for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SizeSearch {
    /// The level δ of K-satisfiability.
    pub delta: f64,
    /// d, the number of columns.
    pub d: usize,
    /// The constant c of K-satisfiability.
    pub c: f64,
    /// The last m tried is at most this.
    pub largest_m: usize,
    /// Sketches drawn for each m.
    pub trials: usize,
    /// Share of them that may fail.
    pub rho: f64,
}

impl SizeSearch {
    /// d columns at the level δ, with c = 2, m up to 1024, and at most 1 of 20 draws failing.
    pub fn new(delta: f64, d: usize) -> Self {
        SizeSearch { delta, d, c: 2.0, largest_m: 1024, trials: 20, rho: 0.05 }
    }
}

/// Which accumulations were good enough for a matrix, by trial.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasuredSizes {
    /// m = 1, 2, 4, … and the share of the sketches drawn that were K-satisfiable.
    pub shares: Vec<(usize, f64)>,
    /// The first m whose share reached 1 − ρ; none if even the last did not: then raise d.
    pub m: Option<usize>,
}

impl SketchDiagnostics {
    /// Theorem 3.6 for this K, level δ and sampling probabilities (`None`: uniform). With these d
    /// and m, an accumulation is K-satisfiable with probability at least 1 − ρ, if the constants
    /// are large enough.
    ///
    /// # Errors
    /// Those of [`incoherence`](Self::incoherence), and `InvalidParameter` unless ρ lies in (0, 1)
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

    /// The smallest m = 1, 2, 4, … for which an accumulation of d columns is good enough for this
    /// K. It is the m that the data ask for, without any constant of a theorem. 2n²d flops a trial.
    ///
    /// # Errors
    /// Those of [`Accumulation::sample`] and [`satisfiability`](Self::satisfiability).
    /// `InvalidParameter` unless ρ lies in (0, 1) and c is positive. `Empty` if there are no trials
    /// or the largest m is 0.
    ///
    /// # Randomness
    /// One key; draw r for m comes from stream r of its child m.
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
