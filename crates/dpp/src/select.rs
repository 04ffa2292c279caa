//! Landmarks drawn from a k-DPP.

use crate::{DownUpWalk, LEnsemble, Rejection, RejectionKDpp, SwapChain, SwapRule};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, validate};
use nystrom_sketch::{LandmarkSelector, Landmarks};
use rand::Rng;

/// Landmarks from the k-DPP Pr(C) = det K_CC / e_m(K), exactly.
///
/// Draws by rejection if [`Rejection::suits`] is true, otherwise from the spectrum of K or of a
/// matrix whose k-DPP is within 1e-9 of it in total variation ([`LEnsemble::draw_of_size`]). Every
/// call repeats the preparation; for several draws from one matrix use [`RejectionKDpp`] or
/// [`LEnsemble`].
///
/// # Cost
/// That of [`RejectionKDpp`], or of [`LEnsemble::draw_of_size`].
///
/// # Source
/// C. Li, S. Jegelka & S. Sra, *Fast DPP sampling for Nyström with application to kernel methods*,
/// ICML 2016; for the algorithm, those of [`RejectionKDpp`] and [`ExactKDpp`](crate::ExactKDpp).
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::KDpp;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{LandmarkSelector, Nystrom};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(100, 100, |i, j| (-((i as f64 - j as f64) / 30.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let landmarks = KDpp.select(&k, 10, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert!(Nystrom::new(&k, &landmarks)?.trace_error(&k)? < 5.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KDpp;

impl<T: Scalar> LandmarkSelector<T> for KDpp {
    /// Besides the common errors, [`RankDeficient`](nystrom_linalg_core::Error::RankDeficient) if m
    /// exceeds the numerical rank and [`NotAccepted`](nystrom_linalg_core::Error::NotAccepted).
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        validate::at_most("landmarks", m, k.dim())?;
        if Rejection::suits(k.dim(), m) {
            return RejectionKDpp::new(k, m, Rejection::of_size(m), rng)?.sample(rng);
        }
        LEnsemble::draw_of_size(k, m, rng)
    }
}

/// Landmarks from a [`SwapChain`] after a number of steps. A step takes about m entries of K and
/// O(m²) flops, for any n.
///
/// The more steps, the closer the distribution of the landmarks is to the k-DPP. The approximation
/// error falls within the first few hundred steps (Li, Jegelka & Sra 2016, section 6, who run 3000
/// steps from k-means++ seeds).
///
/// # Cost
/// That of the start; then about m entries of K and O(m²) flops per step, O(m²) memory.
///
/// # Source
/// C. Li, S. Jegelka & S. Sra, *Fast DPP sampling for Nyström with application to kernel methods*,
/// ICML 2016, Algorithm 1.
///
/// # Departures
/// The default rule is Metropolis at every step. Algorithm 1 is `rule: SwapRule::LazyGibbs` with
/// `start: Uniform`; the experiments of the paper start from k-means++ seeds. Theorem 5 is about
/// the lazy chain.
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::KDppChain;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{KMeansPlusPlus, LandmarkSelector};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(100, 100, |i, j| (-((i as f64 - j as f64) / 30.0).powi(2)).exp());
/// let selector = KDppChain::<KMeansPlusPlus>::default(); // 3000 steps
/// let landmarks =
///     selector.select(&Dense::new(k.as_ref())?, 10, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert_eq!(landmarks.len(), 10);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KDppChain<S> {
    /// The selector of the initial state.
    pub start: S,
    /// Number of steps, lazy ones included.
    pub steps: usize,
    /// The acceptance rule of proposed exchanges.
    pub rule: SwapRule,
}

impl<S: Default> Default for KDppChain<S> {
    /// 3000 steps of the default [`SwapRule`], from the default start.
    fn default() -> Self {
        KDppChain { start: S::default(), steps: 3000, rule: SwapRule::default() }
    }
}

impl<T: Scalar, S: LandmarkSelector<T>> LandmarkSelector<T> for KDppChain<S> {
    /// Besides the common errors, those of [`SwapChain::start`].
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        let mut chain = SwapChain::start(k, m, &self.start, self.rule, rng)?;
        chain.run(self.steps, rng)?;
        Ok(chain.landmarks())
    }
}

/// Landmarks from a [`DownUpWalk`] after a number of steps; about m ln m steps suffice.
///
/// # Cost
/// That of the start; then n entries of K and O(nm) flops per step, n·m numbers of memory.
///
/// # Source
/// That of [`DownUpWalk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KDppWalk<S> {
    /// The selector of the initial state.
    pub start: S,
    /// Number of steps.
    pub steps: usize,
}

impl<T: Scalar, S: LandmarkSelector<T>> LandmarkSelector<T> for KDppWalk<S> {
    /// Besides the common errors, those of [`DownUpWalk::start`].
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        let mut walk = DownUpWalk::start(k, m, &self.start, rng)?;
        walk.run(self.steps, rng)?;
        Ok(walk.landmarks())
    }
}
