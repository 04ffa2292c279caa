//! A confidence bound of the distance of a swap chain from its stationary distribution, by coupling
//! with stationary chains.

use crate::coupling::Pair;
use crate::{SwapChain, SwapRule};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, Streams, validate};
use nystrom_sketch::{LandmarkSelector, Landmarks};
use rand::Rng;
use rayon::prelude::*;

/// Number of bisections for a proportion.
const HALVINGS: usize = 60;

/// The meeting times of chains with chains that start from exact draws.
///
/// ```
/// use nystrom_dpp::StationaryMeetings;
/// let meetings = StationaryMeetings { times: vec![Some(30); 300], limit: 100 };
/// // all of 300 pairs met: at most 1 − 0.05^(1/300) with a confidence of 95 %
/// let bound = meetings.distance(30, 0.05)?;
/// assert!((bound - 0.00994).abs() < 1e-5);
/// assert_eq!(meetings.distance(29, 0.05)?, 1.0); // no pair had met
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StationaryMeetings {
    /// For every pair the number of steps until the two were equal; `None` if they were not after
    /// `limit` steps.
    pub times: Vec<Option<usize>>,
    /// The number of steps after which a pair was stopped.
    pub limit: usize,
}

impl StationaryMeetings {
    /// A confidence bound of the distance in total variation between the chain after `steps` steps
    /// and the k-DPP. The distance is at most this with probability at least 1 − δ over the pairs.
    ///
    /// The distance is at most the probability that a pair has not met after `steps` steps. The
    /// bound of this probability is that of Clopper and Pearson, which needs no assumptions: the p
    /// for which the observed number of unmet pairs, or fewer, has probability δ. Choose `steps`
    /// before looking at the times, or divide δ by the number of values of `steps` considered.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) without pairs,
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) unless 0 < δ < 1.
    pub fn distance(&self, steps: usize, delta: f64) -> Result<f64> {
        validate::not_empty("pairs of chains", self.times.len())?;
        validate::require(delta > 0.0 && delta < 1.0, "delta", delta, "between 0 and 1")?;
        let met = |time: &&Option<usize>| time.is_some_and(|time| time <= steps);
        let apart = self.times.len() - self.times.iter().filter(met).count();
        Ok(largest_proportion(apart, self.times.len(), delta))
    }
}

/// For each of the `exact` draws, runs a [`SwapChain`] from that draw and another from a draw of
/// `start`, and returns the meeting times of these pairs. The pairs are coupled as in
/// [`coupled_meetings`](crate::coupled_meetings) and run for at most `limit` steps.
///
/// `exact` must be independent draws of the k-DPP, for example from
/// [`RejectionKDpp`](crate::RejectionKDpp) or [`ExactKDpp`](crate::ExactKDpp); the chains that
/// start from them are stationary. If all of N pairs meet, the 95 % bound of the distance is about
/// 3/N. A step takes O(c²) flops for each of the two chains; pairs run in parallel.
///
/// # Randomness
/// One 64-bit key is drawn; pair i draws from stream i of [`Streams`] under that key.
///
/// # Source
/// The coupling inequality; C. J. Clopper & E. S. Pearson, Biometrika 26 (1934), for the bound.
///
/// # Errors
/// [`Empty`](nystrom_linalg_core::Error::Empty) without exact draws,
/// [`Shape`](nystrom_linalg_core::Error::Shape) if a draw has not c items, and those of
/// [`SwapChain::start`] and [`SwapChain::step`].
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::{LEnsemble, SwapRule, stationary_meetings};
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::Uniform;
/// use rand::SeedableRng;
/// let k = Mat::from_fn(40, 40, |i, j| (-(i as f64 - j as f64).abs()).exp());
/// let k = Dense::new(k.as_ref())?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let ensemble = LEnsemble::new(&k)?;
/// let k_dpp = ensemble.k_dpp(4)?;
/// let exact: Vec<_> = (0..100).map(|_| k_dpp.sample(rng)).collect();
/// let (start, rule) = (Uniform::default(), SwapRule::Metropolis);
/// let meetings = stationary_meetings(&k, 4, &start, rule, &exact, 5000, rng)?;
/// assert!(meetings.distance(5000, 0.05)? < 0.05);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn stationary_meetings<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    c: usize,
    start: &dyn LandmarkSelector<T>,
    rule: SwapRule,
    exact: &[Landmarks],
    limit: usize,
    rng: &mut dyn Rng,
) -> Result<StationaryMeetings> {
    validate::not_empty("exact draws", exact.len())?;
    let streams = Streams::from_rng(rng);
    let time = |(i, exact): (usize, &Landmarks)| -> Result<Option<usize>> {
        validate::same_size("items of an exact draw", c, exact.len())?;
        let rng = &mut streams.stream(i as u64);
        let x = SwapChain::start(k, c, start, rule, rng)?;
        let y = SwapChain::new(k, exact, rule)?;
        Pair::new(x, y).meet(limit, rng)
    };
    let times: Vec<Result<_>> = exact.par_iter().enumerate().map(time).collect();
    // in order, so that the first error is returned
    Ok(StationaryMeetings { times: times.into_iter().collect::<Result<_>>()?, limit })
}

/// The p with Pr(at most `few` of `many` | p) = δ; 1 if few = many.
fn largest_proportion(few: usize, many: usize, delta: f64) -> f64 {
    if few == many {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let p = 0.5 * (low + high);
        if log_at_most(few, many, p) > delta.ln() {
            low = p;
        } else {
            high = p;
        }
    }
    high
}

/// ln Pr(at most `few` of `many` independent events of probability p), 0 < p < 1.
fn log_at_most(few: usize, many: usize, p: f64) -> f64 {
    let mut term = many as f64 * (-p).ln_1p(); // ln Pr(none)
    let (mut largest, mut sum) = (term, 1.0);
    for i in 1..=few {
        term += ((many - i + 1) as f64 / i as f64).ln() + p.ln() - (-p).ln_1p();
        if term > largest {
            sum = sum * (largest - term).exp() + 1.0;
            largest = term;
        } else {
            sum += (term - largest).exp();
        }
    }
    largest + f64::ln(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Beta, ContinuousCDF};

    /// The bound equals a quantile of a beta distribution.
    #[test]
    fn proportions_are_quantiles() {
        for (few, many) in [(0, 1), (0, 300), (1, 500), (7, 40), (250, 300), (999, 1000)] {
            for delta in [0.5, 0.05, 1e-6] {
                let beta = Beta::new(few as f64 + 1.0, (many - few) as f64).unwrap();
                let p = largest_proportion(few, many, delta);
                let above = beta.sf(p);
                assert!((above / delta - 1.0).abs() < 1e-6, "{few} of {many}, {delta}: {above}");
            }
        }
        assert_eq!(largest_proportion(5, 5, 0.1), 1.0);
    }
}
