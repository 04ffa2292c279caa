//! BLESS: draws with replacement.

use super::{BlessLevel, BlessPath, Setting, check_oversampling, check_step};
use crate::Projector;
use crate::recursive::check_size;
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, random};
use nystrom_sketch::Dictionary;
use rand::{Rng, RngExt};

/// Ridge leverage scores and a dictionary by bottom-up sampling (BLESS), along a path of ridges
/// λ_0 > λ_1 > … > λ_H = λ. At each level, uniform candidates are scored with respect to the
/// dictionary of the previous level, and the new dictionary is drawn from the candidates with
/// replacement.
///
/// Convention: κ² = max K_ii, λ_0 = κ² (absolute: nκ²), λ_h = λ_{h−1}/q. |J_h| ≤ ⌈q2·d_h⌉ with d_h
/// ≈ d_eff(λ_h).
///
/// # Cost
/// At level h, at most min(R_h, n)·|J_{h−1}| + |J_{h−1}|² entries are evaluated, with R_h =
/// q1·min(κ²/λ_h, n). In all O(min(κ²/λ, n)·d_eff) entries; R_h + M_h uniforms per level, M_h =
/// q2·d_h; O(d_eff² + 1024·d_eff + n) memory.
///
/// # Source
/// Rudi, Calandriello, Carratino & Rosasco, *On fast leverage score sampling and optimal learning*,
/// NeurIPS 2018, Algorithm 1 (arXiv:1810.13258).
///
/// # Departures
/// The steps are slightly shorter than q, so that the path ends at the requested ridge. A row that
/// is drawn more than once, as a candidate or for the dictionary, is scored and stored once, and
/// its count enters the weight; the probabilities are unchanged. The weights are w_j =
/// count·n/(R·M·p_j), those of unconditional probabilities, with E\[SSᵀ\] = I on the rows of
/// positive score. (Public reference code of the rejection form uses weights given the candidates,
/// which inflates d_eff up to twofold.) A level is empty only if every candidate has the score 0.
/// An empty level before the last is no error: the scores of the next level are with respect to the
/// empty dictionary, and over-estimate. An empty last level is
/// [`EmptySample`](nystrom_linalg_core::Error::EmptySample) in
/// [`dictionary`](crate::RidgeLeverage::dictionary) but not in
/// [`scores`](crate::RidgeLeverage::scores).
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{Bless, RidgeLeverage, exact_scores};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(1000, 1000, |i, j| (-((i as f64 - j as f64) / 100.0).powi(2)).exp());
/// let (k, ridge) = (Dense::new(k.as_ref())?, Ridge::PerSample(1e-3));
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let path = Bless::default().path(&k, ridge, &mut rng)?;
/// assert!(path.outcome.is_ok() && path.levels.len() == 10); // 1 → 1e-3 in steps of at most 2
/// let d_eff = exact_scores(&k, ridge)?.d_eff();
/// assert!((path.levels[9].d_eff / d_eff - 1.0).abs() < 0.5);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bless {
    /// q > 1: the ridge is divided by at most q from level to level.
    pub step: f64,
    /// q1 > 0: level h draws R_h = q1·min(κ²/λ_h, n) candidates.
    pub candidates: f64,
    /// q2 > 0: level h draws q2 times its estimate of d_eff(λ_h).
    pub oversampling: f64,
    /// Cap on the distinct rows of a level.
    pub max_size: usize,
}

impl Default for Bless {
    /// q = 2, q1 = q2 = 5, at most 20,000 rows.
    fn default() -> Self {
        Bless { step: 2.0, candidates: 5.0, oversampling: 5.0, max_size: 20_000 }
    }
}

impl Bless {
    /// All levels of the path.
    ///
    /// # Randomness
    /// Per level: the candidates, drawn uniformly with replacement, then the draws among the
    /// candidates, also with replacement.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n = 0,
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) unless q > 1 and q1, q2
    /// in (0, 10⁵], those of [`Ridge::absolute`] and [`Projector`]. A level above the cap is no
    /// error here: it ends the path, whose `outcome` says so.
    pub fn path<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<BlessPath<T>> {
        check_step(self.step)?;
        check_oversampling("candidates (q1)", self.candidates)?;
        check_oversampling("oversampling (q2)", self.oversampling)?;
        let setting = Setting::new(k, ridge)?;
        setting.path(setting.ridges(self.step)?, |mu, J| self.level(&setting, mu, J, rng))
    }

    fn level<T: Scalar>(
        &self,
        setting: &Setting<'_, T>,
        mu: T,
        J: &Dictionary<T>,
        rng: &mut dyn Rng,
    ) -> Result<BlessLevel<T>> {
        let n = setting.n();
        let wanted = self.candidates * (n as f64 * setting.kappa_squared / mu.f64()).min(n as f64);
        let R = wanted.ceil().max(1.0); // R_h = q1·min(κ²/λ_h, n)
        // U_h: R_h uniform draws, row U_t drawn c_t times
        let (U, c) = uniform_counts(n, R as u64, rng);
        let tau =
            Projector::new(setting.k, J, Ridge::Absolute(mu))?.scores(setting.k, (&U).into())?;
        let mass: Vec<f64> = c.iter().zip(&tau).map(|(c, tau)| c * tau.f64()).collect();
        let total: f64 = mass.iter().sum();
        let d_eff = n as f64 / R * total; // d_h = (n/R_h)·Σ_{U_h} l̃
        let (ridge, candidates) = (mu, U.len());
        if total <= 0.0 {
            return Ok(BlessLevel { ridge, dictionary: Dictionary::empty(n)?, d_eff, candidates });
        }
        let M = (self.oversampling * d_eff).ceil(); // M_h = q2·d_h
        check_size(M.min(candidates as f64), mu, self.max_size)?;
        // J_h: M_h draws from U_h by P_h
        let (drawn, count) = categorical_counts(&mass, M as u64, rng)?;
        // count·n/(R·M·p), p = l̃/Σl̃
        let weight = |(&t, count): (&usize, f64)| T::lit(count * d_eff / (M * tau[t].f64()));
        let weights = drawn.iter().zip(count).map(weight).collect();
        let dictionary = Dictionary::new(n, drawn.iter().map(|&t| U[t]).collect(), weights)?;
        Ok(BlessLevel { ridge, dictionary, d_eff, candidates })
    }
}

/// The distinct rows of `draws` uniform draws from 0..n, increasing, with their counts.
fn uniform_counts(n: usize, draws: u64, rng: &mut dyn Rng) -> (Vec<usize>, Vec<f64>) {
    let mut count = vec![0.0; n];
    (0..draws).for_each(|_| count[rng.random_range(0..n)] += 1.0);
    occurring(&count)
}

/// The distinct positions of `draws` draws in proportion to `mass`, increasing, with their counts.
fn categorical_counts(
    mass: &[f64],
    draws: u64,
    rng: &mut dyn Rng,
) -> Result<(Vec<usize>, Vec<f64>)> {
    let mut count = vec![0.0; mass.len()];
    random::with_replacement(mass, draws as usize, rng)?.into_iter().for_each(|t| count[t] += 1.0);
    Ok(occurring(&count))
}

/// The positions of positive counts, increasing, with the counts.
fn occurring(count: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let rows: Vec<usize> = (0..count.len()).filter(|&i| count[i] > 0.0).collect();
    let counts = rows.iter().map(|&i| count[i]).collect();
    (rows, counts)
}
