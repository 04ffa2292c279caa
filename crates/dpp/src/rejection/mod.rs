//! Exact draws of a fixed size by rejection from an intermediate sample, without an n × n matrix.

mod guide;
mod params;
mod proposal;
#[cfg(test)]
mod tests;
mod trial;
mod weighted;

use crate::start::independent;
use guide::Guide;
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, validate};
use nystrom_sketch::Landmarks;
pub use params::Rejection;
use proposal::Proposal;
use rand::{Rng, RngExt};
use rayon::prelude::*;
use trial::{Trial, weighted};
use weighted::Weighted;

/// Most trials evaluated together.
const AT_ONCE: f64 = 8.0;
/// Size of an intermediate sample below which one thread is faster than several.
const WORTH_A_THREAD: usize = 64;
/// The largest intermediate sample considered, as a multiple of c². With the best guide, a sample
/// of this size is nearly always accepted.
const LARGEST: f64 = 8.0;
/// Assumed cost of a flop of an eigendecomposition, in flops of a matrix product. Most trials are
/// refused without an eigendecomposition, so that this over-estimates the cost of a trial and
/// favours smaller intermediate samples.
const PENALTY: f64 = 8.0;

/// The work of a [`RejectionKDpp`] so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Effort {
    /// Number of draws.
    pub draws: u64,
    /// Number of trials of all draws: intermediate samples, accepted or not.
    pub trials: u64,
    /// Number of entries of K evaluated in blocks, including the preparation.
    pub values: u64,
}

/// Draws from the k-DPP Pr(C) = det K_CC / e_c(K), |C| = c, **exactly** and without an n × n
/// matrix. It works for any K whose blocks can be evaluated, also with millions of rows, and for
/// any c up to the rank of K.
///
/// A matrix B of low rank that approximates K (the guide) is computed once. Then, for every trial:
///
/// 1. draw t items σ independently, with Pr(j) ∝ g_j = ⟨∇ ln e_c(B), φ_jφ_jᵀ⟩;
/// 2. let A_σ = (c/t) Σ_{j ∈ σ} φ_jφ_jᵀ/g_j, and accept σ with probability e_c(A_σ)/e_c(B);
/// 3. if σ is accepted, draw C from the k-DPP of A_σ, a t × t matrix.
///
/// *The acceptance probability is at most 1.* e_c^{1/c} is concave on psd matrices and homogeneous,
/// so e_c(A) ≤ e_c(B)·(⟨∇ ln e_c(B), A⟩/c)^c, and ⟨∇ ln e_c(B), A_σ⟩ = c by the choice of the
/// weights.
///
/// *The draws are exact.* A set C is drawn from σ with probability det (A_σ)_CC / e_c(A_σ).
/// Multiplying by the probabilities of σ and of its acceptance, and summing over σ and the places
/// of C in σ, gives det K_CC times a factor that is the same for all C. B affects only the number
/// of failed trials.
///
/// *Number of trials.* A trial is accepted with probability
///
/// t!/((t − c)! tᶜ) · e_c(K)/(e_c(B) (G/c)ᶜ), G = Σ_j g_j.
///
/// The second factor is 1 for B = K, and 1 − O(‖K − B‖²) otherwise. The first is about exp(−c²/2t).
/// A larger t means fewer but larger trials; the default is often near c²/5.
///
/// # Cost
/// n diagonal entries, and m entries of K and 2m² flops for each scored item, where m is the size
/// of the dictionary. Few of the n items are scored: items are proposed by the bound w_0 K_jj of
/// the score, and only proposed items need their score, which is then stored. A trial takes t²
/// entries and t³/3 to 7t³/3 flops, which suffice to refuse nearly all trials that fail. A draw
/// takes about 31t³/3 flops more, for the eigenvalues of one or two trials and the eigenvectors of
/// one. Memory: 4n numbers, and (rows of the sample)·m. [`effort`](Self::effort) counts trials and
/// entries.
///
/// # Source
/// D. Calandriello, M. Dereziński & M. Valko, *Sampling from a k-DPP without looking at all items*,
/// NeurIPS 2020 (arXiv:2006.16947); M. Dereziński, D. Calandriello & M. Valko, *Exact sampling of
/// determinantal point processes with sublinear time preprocessing*, NeurIPS 2019
/// (arXiv:1905.13476). Concavity: L. Gårding, *An inequality for hyperbolic polynomials*, J. Math.
/// Mech. 8 (1959).
///
/// # Departures
/// The published sampler accepts σ by det(I + αA_σ), draws a set of random size and starts again
/// unless the size is c; it finds α by bisection, so that c is a likely size. Here e_c replaces the
/// determinant. So t is a number in place of a Poisson variable, no set is rejected for its size,
/// there is no α, and c is not limited by an effective dimension. The published dictionary is that
/// of BLESS for a ridge 1/α; here the rounds of BLESS use the scores g.
///
/// ```
/// use nystrom_dpp::{Rejection, RejectionKDpp};
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..100_000).map(|i| f64::from(i) / 1e5).collect();
/// let k = KernelMatrix::new(Gaussian::new(0.05)?, Points::from_slice(&x))?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let mut k_dpp = RejectionKDpp::new(&k, 5, Rejection::of_size(5), rng)?;
/// for _ in 0..3 {
///     assert_eq!(k_dpp.sample(rng)?.len(), 5);
/// }
/// assert!(k_dpp.effort().values < 10_000_000); // of 10,000,000,000
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[must_use]
pub struct RejectionKDpp<'a, T: Scalar> {
    k: &'a dyn PsdMatrix<T>,
    prepared: PreparedRejection,
    effort: Effort,
}

/// The state of a [`RejectionKDpp`] without K: the guide and the scores computed so far. It does
/// not borrow K. 4n numbers, and m² for m items of the dictionary.
#[derive(Debug, Clone)]
pub struct PreparedRejection {
    c: usize,
    proposal: Proposal,
    unit: f64, // the largest K_jj
    t: usize,
    trials: usize,
}

impl<'a, T: Scalar> RejectionKDpp<'a, T> {
    /// Prepares draws of `c` items.
    ///
    /// # Randomness
    /// For every round, two uniforms for each candidate of the sample and one uniform for each item
    /// of the dictionary.
    ///
    /// # Errors
    /// [`Error::Empty`] if c, n or a number in `how` is 0, [`Error::TooMany`] if c > n,
    /// [`Error::InvalidParameter`] if `how.intermediate` is below c. [`Error::RankDeficient`], with
    /// the numerical rank, if c exceeds it, [`Error::NonFinite`], [`Error::InvalidWeight`] for a
    /// negative diagonal entry.
    pub fn new(
        k: &'a dyn PsdMatrix<T>,
        c: usize,
        how: Rejection,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        validate::not_empty("matrix", k.dim())?;
        validate::at_most("items (c)", c, k.dim())?;
        how.check(c)?;
        let (diagonal, unit) = diagonal(k, c)?;
        let (proposal, trials) = (Proposal::new(diagonal), how.trials);
        let prepared = PreparedRejection { c, proposal, unit, t: c, trials };
        let mut k_dpp = RejectionKDpp { k, prepared, effort: Effort::default() };
        let everything = k.dim() <= how.sample;
        for _ in 0..if everything { 1 } else { how.rounds } {
            let sample = if everything {
                k_dpp.weigh_all()
            } else {
                k_dpp.draw_weighted(how.sample, rng)?
            };
            let guide = k_dpp.guide(sample, how.dictionary, rng)?;
            k_dpp.prepared.proposal.follow(guide);
        }
        if everything {
            k_dpp.prepared.proposal.score_all(k)?;
        } else {
            k_dpp.prepared.proposal.draw(k, c, rng)?; // measures the candidates per item
        }
        k_dpp.prepared.t = how.intermediate.unwrap_or_else(|| k_dpp.cheapest_size());
        Ok(k_dpp)
    }

    /// Restores a sampler from its [prepared](Self::into_prepared) state, for the same K.
    ///
    /// # Errors
    /// [`Error::Shape`] if K has another order. Another K of the same order is not detected and
    /// gives wrong draws.
    ///
    /// ```
    /// use nystrom_dpp::{Rejection, RejectionKDpp};
    /// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
    /// use rand::SeedableRng;
    /// let x: Vec<f64> = (0..10_000).map(|i| f64::from(i) / 1e4).collect();
    /// let k = KernelMatrix::new(Gaussian::new(0.05)?, Points::from_slice(&x))?;
    /// let rng = || rand_pcg::Pcg64::seed_from_u64(0);
    /// let how = Rejection::of_size(5);
    /// let prepared = RejectionKDpp::new(&k, 5, how, &mut rng())?.into_prepared();
    /// let draw = |prepared| RejectionKDpp::from_prepared(&k, prepared)?.sample(&mut rng());
    /// assert_eq!(draw(prepared.clone())?, draw(prepared)?);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn from_prepared(k: &'a dyn PsdMatrix<T>, prepared: PreparedRejection) -> Result<Self> {
        let (what, n) = ("rows of the matrix that draws were prepared for", k.dim());
        validate::same_size(what, prepared.proposal.diagonal().len(), n)?;
        Ok(RejectionKDpp { k, prepared, effort: Effort::default() })
    }

    /// The state for further draws, without K.
    pub fn into_prepared(self) -> PreparedRejection {
        self.prepared
    }

    /// Draws C: c distinct items.
    ///
    /// # Randomness
    /// Two uniforms for every candidate and one for every trial, up to eight trials at a time; then
    /// those of [`ExactKDpp::sample`](crate::ExactKDpp::sample).
    ///
    /// # Errors
    /// [`Error::NotAccepted`] after `trials` trials; [`Error::NonFinite`];
    /// [`Error::NotPositiveDefinite`] if a trial shows that K is not psd.
    pub fn sample(&mut self, rng: &mut dyn Rng) -> Result<Landmarks> {
        let at_once =
            AT_ONCE.min((-log_all_differ(self.prepared.c, self.prepared.t)).exp().ceil()) as usize;
        let mut left = self.prepared.trials;
        while left > 0 {
            let trials = (0..at_once.min(left))
                .map(|_| Ok((self.trial(rng)?, (1.0 - rng.random::<f64>()).ln())))
                .collect::<Result<Vec<_>>>()?;
            let outcome = |(i, (trial, coin)): (usize, &(Trial, f64))| {
                if !self.may_pass(trial, *coin) {
                    return None;
                }
                match self.log_probability(trial) {
                    Ok(probability) => (*coin < probability).then_some(Ok(i)),
                    Err(error) => Some(Err(error)),
                }
            };
            let accepted: Option<Result<usize>> = if self.prepared.t < WORTH_A_THREAD {
                trials.iter().enumerate().find_map(outcome)
            } else {
                trials.par_iter().enumerate().find_map_first(outcome)
            };
            if let Some(i) = accepted.transpose()? {
                self.effort.trials += i as u64 + 1;
                self.effort.draws += 1;
                return Landmarks::new(self.k.dim(), trials[i].0.sample(self.prepared.c, rng)?);
            }
            self.effort.trials += trials.len() as u64;
            left -= trials.len();
        }
        Err(Error::NotAccepted { trials: self.prepared.trials })
    }

    /// The numbers of draws, trials and kernel values so far.
    pub fn effort(&self) -> Effort {
        Effort { values: self.effort.values + self.prepared.proposal.values(), ..self.effort }
    }

    /// t, the number of items of an intermediate sample.
    pub fn intermediate(&self) -> usize {
        self.prepared.t
    }

    /// ln of the largest acceptance rate that a guide B can give: Σ_{i<c} ln(1 − i/t).
    pub fn log_best_rate(&self) -> f64 {
        log_all_differ(self.prepared.c, self.prepared.t)
    }

    /// Draws an intermediate sample and evaluates its entries.
    fn trial(&mut self, rng: &mut dyn Rng) -> Result<Trial> {
        let sample = self.draw_weighted(self.prepared.t, rng)?;
        let trial = Trial::new(sample)?;
        self.effort.values += trial.entries() as u64;
        Ok(trial)
    }

    /// False only if the trial is refused for this `coin`, the logarithm of a uniform number.
    fn may_pass(&self, trial: &Trial, coin: f64) -> bool {
        let guide = self.prepared.proposal.guide();
        trial.may_reach(coin + guide.log_e(), self.prepared.c, guide.log_tilt())
    }

    /// ln (e_c(A_σ)/e_c(B)), the log of the acceptance probability; at most 0 up to rounding.
    fn log_probability(&self, trial: &Trial) -> Result<f64> {
        let log = trial.log_e(self.prepared.c)? - self.prepared.proposal.guide().log_e();
        if log > 64.0 * T::EPS.sqrt() {
            return Err(Error::NotPositiveDefinite {
                order: self.prepared.t,
                pivot: 0,
                jitter: 0.0,
            });
        }
        Ok(log)
    }

    /// `count` draws in proportion to the scores, with the weights of an intermediate sample.
    fn draw_weighted(&mut self, count: usize, rng: &mut dyn Rng) -> Result<Weighted<'a, T>> {
        let draws = self.prepared.proposal.draw(self.k, count, rng)?;
        Ok(self.weighted(draws))
    }

    /// All rows, equally weighted: a sample whose covariance is that of K, scaled to a trace of c.
    fn weigh_all(&self) -> Weighted<'a, T> {
        let trace: f64 = self.prepared.proposal.diagonal().iter().sum();
        let draws = (0..self.k.dim()).map(|j| (j, trace / self.k.dim() as f64)).collect();
        self.weighted(draws)
    }

    fn weighted(&self, draws: Vec<(usize, f64)>) -> Weighted<'a, T> {
        let PreparedRejection { c, ref proposal, unit, .. } = self.prepared;
        weighted(self.k, draws, c, proposal.diagonal(), unit)
    }

    /// The guide of a sample. If the sample has rank below c, independent items from all rows are
    /// added, at n·c entries.
    fn guide(&mut self, sample: Weighted<'a, T>, m: usize, rng: &mut dyn Rng) -> Result<Guide> {
        let m = m.min(self.k.dim());
        let mut count = |sample: &Weighted<'a, T>| {
            self.effort.values += (sample.items.len() * m) as u64;
        };
        count(&sample);
        let missing = match Guide::of(&sample, self.prepared.c, m, self.prepared.unit, rng) {
            Err(Error::RankDeficient { .. }) => {
                independent(self.k, &sample.items, self.prepared.c)?
            }
            guide => return guide,
        };
        let mut more = sample;
        for j in missing {
            if more.items.contains(&j) {
                continue;
            }
            let K_jj = self.prepared.proposal.diagonal()[j];
            more.items.push(j);
            more.diagonal.push(1.0);
            more.weights.push((K_jj * self.prepared.unit).sqrt().recip());
        }
        count(&more);
        Guide::of(&more, self.prepared.c, m, self.prepared.unit, rng)
    }

    /// The t that minimises the work of a trial divided by its acceptance probability. The factor
    /// of this probability that depends on B does not depend on t.
    fn cheapest_size(&self) -> usize {
        let (n, c) = (self.k.dim() as f64, self.prepared.c as f64);
        let m = self.prepared.proposal.guide().items().len() as f64;
        let per_item = if self.prepared.proposal.by_scores() {
            0.0
        } else {
            self.prepared.proposal.candidates_per_item() * (2.0 * m * m + 32.0 * m)
        };
        let work = |t: usize| {
            let distinct = n * -(-(t as f64) / n).exp_m1();
            let decompose = PENALTY * 4.0 / 3.0 * distinct.powi(3);
            let trials = (-log_all_differ(self.prepared.c, t)).exp();
            trials * (t as f64 * (per_item + 64.0) + decompose)
        };
        let mut sizes = vec![self.prepared.c];
        while let Some(&t) = sizes.last().filter(|&&t| (t as f64) < LARGEST * c * c) {
            sizes.push(t + (t / 16).max(1));
        }
        sizes.into_iter().min_by(|&s, &t| work(s).total_cmp(&work(t))).unwrap_or(self.prepared.c)
    }
}

/// ln of t!/((t − c)! tᶜ): the probability that c independent draws from t equally likely values
/// all differ.
fn log_all_differ(c: usize, t: usize) -> f64 {
    (0..c).map(|i| (-(i as f64) / t as f64).ln_1p()).sum()
}

/// K_jj/unit for all j, and unit = max K_jj.
fn diagonal<T: Scalar>(k: &dyn PsdMatrix<T>, c: usize) -> Result<(Vec<f64>, f64)> {
    let mut diagonal = crate::start::diagonal(k, "kernel matrix")?;
    let unit = diagonal.iter().copied().fold(0.0, f64::max);
    if unit == 0.0 {
        return Err(Error::RankDeficient { requested: c, rank: 0 });
    }
    diagonal.iter_mut().for_each(|d| *d /= unit);
    Ok((diagonal, unit))
}
