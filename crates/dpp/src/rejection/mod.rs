//! Exact draws of a fixed size by rejection from an intermediate sample: no n × n matrix.

mod guide;
mod how;
mod proposal;
#[cfg(test)]
mod tests;
mod trial;
mod weighted;

use crate::start::independent;
use guide::Guide;
pub use how::Rejection;
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, validate};
use nystrom_sketch::Landmarks;
use proposal::Proposal;
use rand::{Rng, RngExt};
use rayon::prelude::*;
use trial::{Trial, weighted};
use weighted::Weighted;

/// Trials looked at together: at most.
const AT_ONCE: f64 = 8.0;
/// Items of an intermediate sample below which waking other threads costs more than they save.
const WORTH_A_THREAD: usize = 64;
/// An intermediate sample this many times c² is accepted nearly always.
const LARGEST: f64 = 8.0;
/// What a flop of an eigendecomposition costs in those of a product. Most trials are refused
/// without one; reckoned with so, failures stay few where the guide is poor.
const PENALTY: f64 = 8.0;

/// What the draws of a [`RejectionKDpp`] took until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Effort {
    /// Draws made.
    pub draws: u64,
    /// Trials of all draws: intermediate samples accepted or not.
    pub trials: u64,
    /// Kernel values in blocks, preparation included.
    pub values: u64,
}

/// The k-DPP Pr(C) = det K_CC / e_c(K), |C| = c, **exactly** and without an n × n matrix. It takes
/// any K whose blocks can be evaluated, millions of rows, any c up to its rank.
///
/// A matrix B of low rank that resembles K is made once. Then, for every trial:
///
/// 1. draw t items σ, independently and with Pr(j) ∝ g_j = ⟨∇ ln e_c(B), φ_jφ_jᵀ⟩;
/// 2. let A_σ = (c/t) Σ_{j ∈ σ} φ_jφ_jᵀ/g_j, and accept σ with probability e_c(A_σ)/e_c(B);
/// 3. if it is accepted, draw C from the k-DPP of A_σ, a t × t matrix.
///
/// *The probability is one.* e_c^{1/c} is concave on psd matrices and homogeneous, so
/// e_c(A) ≤ e_c(B)·(⟨∇ ln e_c(B), A⟩/c)^c, and ⟨∇ ln e_c(B), A_σ⟩ = c by the choice of the weights.
///
/// *The probabilities are exact.* A set C is drawn from σ with probability det (A_σ)_CC / e_c(A_σ).
/// Multiply by the probabilities of σ and of its acceptance, and sum over the places of C in σ.
/// That gives a multiple of det K_CC that is the same for all C. B changes only how many trials
/// fail.
///
/// *Trials.* One is accepted with probability
///
/// t!/((t − c)! tᶜ) · e_c(K)/(e_c(B) (G/c)ᶜ), G = Σ_j g_j.
///
/// The second factor is 1 for B = K; it differs from 1 in the second order of K − B. The first is
/// about exp(−c²/2t). t is a compromise between trials and their size: often near c²/5.
///
/// # Cost
/// n entries of the diagonal; m entries of K and 2m² flops for each item scored, few of the n. A
/// score is found for a candidate only, and kept: w_0 K_jj bounds it. A trial takes t² entries and
/// t³/3 to 7t³/3 flops, by which nearly all that fail are refused. A draw takes 31t³/3 more, for
/// the eigenvalues of one or two trials and the vectors of one. Memory: 4n numbers, and (rows of
/// the sample)·m. [`effort`](Self::effort) counts.
///
/// # Source
/// D. Calandriello, M. Dereziński & M. Valko, *Sampling from a k-DPP without looking at all items*,
/// NeurIPS 2020 (arXiv:2006.16947); M. Dereziński, D. Calandriello & M. Valko, *Exact sampling of
/// determinantal point processes with sublinear time preprocessing*, NeurIPS 2019
/// (arXiv:1905.13476). Concavity: L. Gårding, *An inequality for hyperbolic polynomials*, J. Math.
/// Mech. 8 (1959).
///
/// # Departures
/// Theirs accepts by det(I + αA_σ), draws a set of random size and starts again unless that is c.
/// It finds α by bisection so that c is a likely size. Here e_c takes the place of the determinant.
/// So t is a number and not a Poisson variable, and no set is lost for its size. There is no α, and
/// c is not bounded by an effective dimension. Their dictionary is one of BLESS for a ridge 1/α;
/// here the rounds of BLESS are made with the scores g.
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

/// What [`RejectionKDpp`] needs beside K, and what it has found out about K until now: it can be
/// kept while K is not. 4n numbers, and m² for m items of the dictionary.
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
    /// For every round, two uniforms for each candidate of the sample and one for each item of the
    /// dictionary.
    ///
    /// # Errors
    /// [`Error::Empty`] if c, n or a number in `how` is 0, [`Error::TooMany`] if c > n,
    /// [`Error::InvalidParameter`] if `how.intermediate` is below c. [`Error::RankDeficient`] with
    /// the numerical rank if c exceeds it, [`Error::NonFinite`], [`Error::InvalidWeight`] for a
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
            let sample = if everything { k_dpp.all() } else { k_dpp.some(how.sample, rng)? };
            let guide = k_dpp.guide(sample, how.dictionary, rng)?;
            k_dpp.prepared.proposal.follow(guide);
        }
        if everything {
            k_dpp.prepared.proposal.score_all(k)?;
        } else {
            k_dpp.prepared.proposal.draw(k, c, rng)?; // tells how many candidates an item takes
        }
        k_dpp.prepared.t = how.intermediate.unwrap_or_else(|| k_dpp.cheapest());
        Ok(k_dpp)
    }

    /// Draws as prepared before, for the same K.
    ///
    /// # Errors
    /// [`Error::Shape`] if K is of another size. Of a K of the same size that is another one no
    /// draw can be relied upon.
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

    /// What further draws need beside K.
    pub fn into_prepared(self) -> PreparedRejection {
        self.prepared
    }

    /// C: c distinct items.
    ///
    /// # Randomness
    /// Two uniforms for every candidate and one for every trial, up to eight trials at a time; then
    /// those of [`ExactKDpp::sample`](crate::ExactKDpp::sample).
    ///
    /// # Errors
    /// [`Error::NotAccepted`] after `trials` trials; [`Error::NonFinite`];
    /// [`Error::NotPositiveDefinite`] if K is found not to be psd.
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

    /// Trials and kernel values until now.
    pub fn effort(&self) -> Effort {
        Effort { values: self.effort.values + self.prepared.proposal.values(), ..self.effort }
    }

    /// t: items of an intermediate sample.
    pub fn intermediate(&self) -> usize {
        self.prepared.t
    }

    /// ln of the largest acceptance rate that any B can give: Σ_{i<c} ln(1 − i/t).
    pub fn log_best_rate(&self) -> f64 {
        log_all_differ(self.prepared.c, self.prepared.t)
    }

    /// An intermediate sample.
    fn trial(&mut self, rng: &mut dyn Rng) -> Result<Trial> {
        let sample = self.some(self.prepared.t, rng)?;
        let trial = Trial::new(sample)?;
        self.effort.values += trial.entries() as u64;
        Ok(trial)
    }

    /// False only if the trial is refused by this uniform number.
    fn may_pass(&self, trial: &Trial, coin: f64) -> bool {
        let guide = self.prepared.proposal.guide();
        trial.may_reach(coin + guide.log_e(), self.prepared.c, guide.log_tilt())
    }

    /// ln (e_c(A_σ)/e_c(B)), at most 0 up to rounding.
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

    /// `count` draws by the scores, with the weights of an intermediate sample.
    fn some(&mut self, count: usize, rng: &mut dyn Rng) -> Result<Weighted<'a, T>> {
        let draws = self.prepared.proposal.draw(self.k, count, rng)?;
        Ok(self.weighted(draws))
    }

    /// All rows, equally weighted: a sample whose covariance is K's, scaled to a trace of c.
    fn all(&self) -> Weighted<'a, T> {
        let trace: f64 = self.prepared.proposal.diagonal().iter().sum();
        let draws = (0..self.k.dim()).map(|j| (j, trace / self.k.dim() as f64)).collect();
        self.weighted(draws)
    }

    fn weighted(&self, draws: Vec<(usize, f64)>) -> Weighted<'a, T> {
        let PreparedRejection { c, ref proposal, unit, .. } = self.prepared;
        weighted(self.k, draws, c, proposal.diagonal(), unit)
    }

    /// The guide of a sample. Where that has rank below c, independent items are looked for among
    /// all rows and added: n·c entries.
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

    /// The t at which the work of a trial over its probability is least. The part of B in that
    /// probability does not depend on t.
    fn cheapest(&self) -> usize {
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

/// ln of t!/((t − c)! tᶜ): the probability that c of t equally likely values all differ.
fn log_all_differ(c: usize, t: usize) -> f64 {
    (0..c).map(|i| (-(i as f64) / t as f64).ln_1p()).sum()
}

/// K_jj over the largest of them, and that.
fn diagonal<T: Scalar>(k: &dyn PsdMatrix<T>, c: usize) -> Result<(Vec<f64>, f64)> {
    let mut diagonal = crate::start::diagonal(k, "kernel matrix")?;
    let unit = diagonal.iter().copied().fold(0.0, f64::max);
    if unit == 0.0 {
        return Err(Error::RankDeficient { requested: c, rank: 0 });
    }
    diagonal.iter_mut().for_each(|d| *d /= unit);
    Ok((diagonal, unit))
}
