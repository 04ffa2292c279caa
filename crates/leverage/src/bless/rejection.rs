//! BLESS-R: rows kept independently, by rejection.

use super::{BlessLevel, BlessPath, Setting, check_oversampling, check_step};
use crate::Projector;
use crate::recursive::check_size;
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, random::coin};
use nystrom_sketch::Dictionary;
use rand::Rng;

/// A level below this many expected rows is left out (but for the last).
const FEWEST_EXPECTED: f64 = 16.0;

/// Ridge leverage scores and a dictionary by bottom-up sampling with rejection (BLESS-R). It goes
/// along λ_0 > λ_1 > … > λ_H = λ. At each level every row is a candidate with probability β_i =
/// min(1, q2·K_ii/(K_ii + nλ_h)). It is kept with the *marginal* probability p_i = min(1, q2·l̃_i),
/// and its weight is 1/p_i. Here l̃_i is measured against the previous level's dictionary.
///
/// # Cost
/// At level h about |U_h|·|J_{h−1}| + |J_{h−1}|² entries are evaluated, E|U_h| = Σβ_i ≤
/// q2·min(κ²/λ_h, n), so O(min(1/λ, n)·d_eff) in all; n uniforms a level, O(d_eff² + 1024·d_eff +
/// n) memory.
///
/// # Source
/// Rudi, Calandriello, Carratino & Rosasco, NeurIPS 2018, Algorithm 2 (arXiv:1810.13258).
///
/// # Departures
/// Steps are slightly shorter than q so that the last is the ridge asked for. β_i follows
/// K_ii/(K_ii + nλ_h), the ceiling of scores, in place of κ²/(nλ_h); p_i ≤ β_i then holds by
/// itself. Levels at the start that would hold fewer than 16 rows on average are left out (DPPy:
/// 10). So with constant K_ii an empty first level has probability e⁻¹⁶ or less. A level that
/// comes out empty all the same is no error on the way: the next is measured against the empty
/// dictionary, which over-estimates. For the last level it is
/// [`EmptySample`](nystrom_linalg_core::Error::EmptySample), in
/// [`dictionary`](crate::RidgeLeverage::dictionary) but not in
/// [`scores`](crate::RidgeLeverage::scores).
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{BlessR, RidgeLeverage};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(1000, 1000, |i, j| (-((i as f64 - j as f64) / 100.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let dictionary = BlessR::default().dictionary(&k, Ridge::PerSample(1e-3), &mut rng)?;
/// assert!((dictionary.total_weight() / 1000.0 - 1.0).abs() < 0.3); // Σw ≈ n
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BlessR {
    /// q > 1: how far the ridge falls from level to level.
    pub step: f64,
    /// q2 > 0: expected rows per d_eff.
    pub oversampling: f64,
    /// Most rows that a level may be expected to hold.
    pub max_size: usize,
}

impl Default for BlessR {
    /// q = 2, q2 = 5, at most 20,000 rows.
    fn default() -> Self {
        BlessR { step: 2.0, oversampling: 5.0, max_size: 20_000 }
    }
}

impl BlessR {
    /// Every level.
    ///
    /// # Randomness
    /// Per level n uniforms, and one per candidate.
    ///
    /// # Errors
    /// As [`Bless::path`](crate::Bless::path).
    pub fn path<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<BlessPath<T>> {
        check_step(self.step)?;
        check_oversampling("oversampling (q2)", self.oversampling)?;
        let setting = Setting::new(k, ridge)?;
        let mut ridges = setting.ridges(self.step)?;
        let too_high =
            |mu: &&T| self.candidate_law(&setting, **mu).iter().sum::<f64>() < FEWEST_EXPECTED;
        let skipped = ridges[..ridges.len() - 1].iter().take_while(too_high).count();
        setting.walk(ridges.split_off(skipped), |mu, J| self.level(&setting, mu, J, rng))
    }

    /// β_i = min(1, q2·K_ii/(K_ii + μ)).
    fn candidate_law<T: Scalar>(&self, setting: &Setting<'_, T>, mu: T) -> Vec<f64> {
        let mu = mu.f64();
        let beta = |k_ii: &T| {
            (self.oversampling * k_ii.f64().max(0.0) / (k_ii.f64().max(0.0) + mu)).min(1.0)
        };
        setting.k_ii.iter().map(beta).collect()
    }

    fn level<T: Scalar>(
        &self,
        setting: &Setting<'_, T>,
        mu: T,
        J: &Dictionary<T>,
        rng: &mut dyn Rng,
    ) -> Result<BlessLevel<T>> {
        let n = setting.n();
        let beta = self.candidate_law(setting, mu);
        // i in U_h with probability β_i
        let U: Vec<usize> = (0..n).filter(|&i| coin(beta[i], rng)).collect();
        let tau =
            Projector::new(setting.k, J, Ridge::Absolute(mu))?.scores(setting.k, (&U).into())?;
        // unbiased for Σ l̃_i
        let d_eff = U.iter().zip(&tau).map(|(&i, tau)| tau.f64() / beta[i]).sum();
        let p: Vec<f64> = // the probability that i is kept, candidate or not
            U.iter().zip(&tau).map(|(&i,
                tau)| (self.oversampling * tau.f64()).min(beta[i])).collect();
        let expected: f64 = U.iter().zip(&p).map(|(&i, p)| p / beta[i]).sum();
        check_size(expected, mu, self.max_size)?;
        let kept: Vec<usize> = (0..U.len()).filter(|&t| coin(p[t] / beta[U[t]], rng)).collect();
        let weights = kept.iter().map(|&t| T::lit(1.0 / p[t])).collect();
        let dictionary = Dictionary::new(n, kept.iter().map(|&t| U[t]).collect(), weights)?;
        Ok(BlessLevel { ridge: mu, dictionary, d_eff, candidates: U.len() })
    }
}
