//! BLESS-R: row i is a candidate with probability β_i, and a candidate is kept with probability
//! p_i/β_i.

use super::{BlessLevel, BlessPath, Setting, check_oversampling, check_step};
use crate::Projector;
use crate::recursive::check_size;
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, random::coin};
use nystrom_sketch::Dictionary;
use rand::Rng;

/// The first levels are skipped, except the last of the path, while they have fewer expected
/// candidates than this.
const FEWEST_EXPECTED: f64 = 16.0;

/// Ridge leverage scores and a dictionary by bottom-up sampling with rejection (BLESS-R), along a
/// path of ridges λ_0 > λ_1 > … > λ_H = λ. At level h every row is a candidate with probability
/// β_i = min(1, q2·K_ii/(K_ii + nλ_h)). It is kept with the *marginal* probability p_i = min(1,
/// q2·l̃_i), and its weight is then 1/p_i. The score l̃_i is with respect to the dictionary of the
/// previous level.
///
/// # Cost
/// At level h, |U_h|·|J_{h−1}| + |J_{h−1}|² entries are evaluated, with E|U_h| = Σβ_i ≤
/// q2·min(κ²/λ_h, n). In all O(min(κ²/λ, n)·d_eff) entries; n + |U_h| uniforms per level;
/// O(d_eff² + 1024·d_eff + n) memory.
///
/// # Source
/// Rudi, Calandriello, Carratino & Rosasco, NeurIPS 2018, Algorithm 2 (arXiv:1810.13258).
///
/// # Departures
/// The steps are slightly shorter than q, so that the path ends at the requested ridge. β_i uses
/// the upper bound K_ii/(K_ii + nλ_h) of the score in place of κ²/(nλ_h), so that p_i ≤ β_i always.
/// Levels at the start of the path that would hold fewer than 16 rows on average are skipped (DPPy:
/// 10); with constant K_ii a first level that follows skipped ones is thus empty with probability
/// at most e⁻¹⁶. An empty level before the last is no error: the scores of the next level are with
/// respect to the empty dictionary, and over-estimate. An empty last level is
/// [`EmptySample`](nystrom_linalg_core::Error::EmptySample) in
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
    /// q > 1: the ridge is divided by at most q from level to level.
    pub step: f64,
    /// q2 > 0: expected rows per d_eff.
    pub oversampling: f64,
    /// Cap on the expected number of rows of a level.
    pub max_size: usize,
}

impl Default for BlessR {
    /// q = 2, q2 = 5, at most 20,000 rows.
    fn default() -> Self {
        BlessR { step: 2.0, oversampling: 5.0, max_size: 20_000 }
    }
}

impl BlessR {
    /// All levels of the path.
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
        let too_high = |mu: &&T| {
            self.candidate_probabilities(&setting, **mu).iter().sum::<f64>() < FEWEST_EXPECTED
        };
        let skipped = ridges[..ridges.len() - 1].iter().take_while(too_high).count();
        setting.path(ridges.split_off(skipped), |mu, J| self.level(&setting, mu, J, rng))
    }

    /// β_i = min(1, q2·K_ii/(K_ii + μ)).
    fn candidate_probabilities<T: Scalar>(&self, setting: &Setting<'_, T>, mu: T) -> Vec<f64> {
        let mu = mu.f64();
        let beta = |k_ii: &T| {
            (self.oversampling * k_ii.f64().max(0.0) / (k_ii.f64().max(0.0) + mu)).min(1.0)
        };
        setting.k_ii.iter().map(beta).collect()
    }

    /// One level of the path: row i is a candidate with probability β_i, and a candidate is kept
    /// with probability p_i/β_i.
    fn level<T: Scalar>(
        &self,
        setting: &Setting<'_, T>,
        mu: T,
        J: &Dictionary<T>,
        rng: &mut dyn Rng,
    ) -> Result<BlessLevel<T>> {
        let n = setting.n();
        let beta = self.candidate_probabilities(setting, mu);
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
