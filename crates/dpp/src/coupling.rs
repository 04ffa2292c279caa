//! Two swap chains that try to meet: an estimate of the distance from the stationary law that needs
//! no knowledge of it.

use crate::{SwapChain, SwapRule};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, Streams, random, validate};
use nystrom_sketch::LandmarkSelector;
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// When pairs of chains met, the second started `lag` steps behind the first.
///
/// ```
/// use nystrom_dpp::Meetings;
/// let meetings = Meetings { lag: 10, times: vec![Some(12), Some(35)], limit: 100 };
/// // mean of ⌈2/10⌉ and ⌈25/10⌉, a distance of at most 1
/// assert_eq!(meetings.total_variation(0), Some(1.0));
/// assert_eq!(meetings.total_variation(20), Some(0.5)); // of 0 and ⌈5/10⌉
/// let apart = Meetings { lag: 10, times: vec![Some(12), None], limit: 100 };
/// assert_eq!(apart.total_variation(20), None); // not certified
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meetings {
    /// L.
    pub lag: usize,
    /// τ for every pair: the first step of the leading chain at which X_τ = Y_{τ−L}; `None` if that
    /// had not happened after `limit` steps.
    pub times: Vec<Option<usize>>,
    /// Steps of the leading chain after which a pair was given up.
    pub limit: usize,
}

impl Meetings {
    /// The estimate of an upper bound of the distance in total variation between the law after
    /// `steps` steps and the k-DPP: the mean of max(0, ⌈(τ − L − steps)/L⌉), at most 1. `None`,
    /// that is not certified, if any pair did not meet, and for L = 0.
    ///
    /// It is a mean of a few draws, not a proof: pairs that would meet late are missed if they are
    /// rare.
    ///
    /// # Source
    /// N. Biswas, P. E. Jacob & P. Vanetti, *Estimating convergence of Markov chains with L-lag
    /// couplings*, NeurIPS 2019 (arXiv:1905.09971); the formula is that of the authors' code,
    /// `tv_upper_bound_estimates` in niloyb/LlagCouplings.
    pub fn total_variation(&self, steps: usize) -> Option<f64> {
        if self.lag == 0 {
            return None;
        }
        let from = self.lag.saturating_add(steps);
        let late = |time: &Option<usize>| {
            time.map(|tau| tau.saturating_sub(from).div_ceil(self.lag) as f64)
        };
        let sum: f64 = self.times.iter().map(late).sum::<Option<f64>>()?;
        (!self.times.is_empty()).then(|| (sum / self.times.len() as f64).min(1.0))
    }
}

/// Runs `pairs` pairs of swap chains of size c from independent draws of `start`, the second `lag`
/// steps behind, for at most `limit` steps of the first, and notes when they meet.
///
/// Both chains make the same moves as far as they can, as in the proof of Theorem 5 of Li, Jegelka
/// & Sra (2016): common items leave together, the others in a fixed pairing; the same item enters,
/// or the partners of the pairing cross over; one coin decides for both. Each chain by itself is a
/// [`SwapChain`] with the given rule. O(c²) a step for each of the two, pairs in parallel.
///
/// # Randomness
/// One key; pair i draws from stream i of [`Streams`].
///
/// # Errors
/// [`Error::Empty`](nystrom_linalg_core::Error::Empty) if `pairs` or `lag` is 0, and those of
/// [`SwapChain::start`] and [`SwapChain::step`].
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::{SwapRule, coupled_meetings};
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::Uniform;
/// use rand::SeedableRng;
/// let k = Mat::from_fn(40, 40, |i, j| (-(i as f64 - j as f64).abs()).exp());
/// let k = Dense::new(k.as_ref())?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let meetings =
///     coupled_meetings(&k, 4, &Uniform::default(), SwapRule::Metropolis, 20, 500, 20_000, rng)?;
/// assert!(meetings.total_variation(2000).unwrap() < 0.05);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn coupled_meetings<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    c: usize,
    start: &dyn LandmarkSelector<T>,
    rule: SwapRule,
    pairs: usize,
    lag: usize,
    limit: usize,
    rng: &mut dyn Rng,
) -> Result<Meetings> {
    validate::not_empty("pairs of chains", pairs)?;
    validate::not_empty("lag", lag)?;
    let streams = Streams::from_rng(rng);
    let times = (0..pairs).into_par_iter().map(|i| {
        let rng = &mut streams.stream(i as u64);
        let mut x = SwapChain::start(k, c, start, rule, rng)?;
        let mut y = SwapChain::start(k, c, start, rule, rng)?;
        x.run(lag, rng)?;
        for tau in lag..=limit {
            if x.members() == y.members() {
                return Ok(Some(tau));
            }
            step_together(&mut x, &mut y, k.dim(), rule, rng)?;
        }
        Ok(None)
    });
    Ok(Meetings { lag, times: times.collect::<Result<_>>()?, limit })
}

/// One step of both, coupled. The items of X \ Y and those of Y \ X, both increasing, are paired.
pub(crate) fn step_together<T: Scalar>(
    x: &mut SwapChain<'_, T>,
    y: &mut SwapChain<'_, T>,
    n: usize,
    rule: SwapRule,
    rng: &mut dyn Rng,
) -> Result<()> {
    let c = x.members().len();
    if c == n || (rule.is_lazy() && random::coin(0.5, rng)) {
        return Ok(());
    }
    let only = |a: &[usize], b: &[usize]| -> Vec<usize> {
        a.iter().copied().filter(|i| !b.contains(i)).collect()
    };
    let (only_x, only_y) = (only(x.members(), y.members()), only(y.members(), x.members()));
    // v: an item of X, and itself or its partner in Y
    let v_x = x.members()[rng.random_range(0..c)];
    let v_y = partner(v_x, &only_x, &only_y);
    // u: an item outside X, and itself or, being in Y, its partner in X
    let u_x = x.outsider(rng.random_range(0..n - c));
    let u_y = partner(u_x, &only_y, &only_x);
    let coin = rng.random::<f64>();
    x.exchange_if(v_x, u_x, coin)?;
    y.exchange_if(v_y, u_y, coin)
}

/// The partner of `i` in `to` if it is in `from`, else `i` itself.
fn partner(i: usize, from: &[usize], to: &[usize]) -> usize {
    from.iter().position(|&f| f == i).map_or(i, |p| to[p])
}
