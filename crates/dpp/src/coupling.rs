//! Coupled swap chains: an estimate of the distance from the stationary distribution, without draws
//! from it.

use crate::chain::{Drawn, batch_size};
use crate::{SwapChain, SwapRule};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, Streams, validate};
use nystrom_sketch::LandmarkSelector;
use rand::Rng;
use rayon::prelude::*;

/// The meeting times of pairs of chains, the second of which starts `lag` steps after the first.
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
    /// L, the number of steps by which the first chain leads.
    pub lag: usize,
    /// τ for every pair: the first step of the leading chain at which X_τ = Y_{τ−L}; `None` if the
    /// pair had not met after `limit` steps.
    pub times: Vec<Option<usize>>,
    /// The number of steps of the leading chain after which a pair was stopped.
    pub limit: usize,
}

impl Meetings {
    /// Estimates an upper bound of the distance in total variation between the chain after `steps`
    /// steps and the k-DPP. The estimate is the mean of max(0, ⌈(τ − L − steps)/L⌉), at most 1.
    /// `None` (no valid estimate) if a pair did not meet, if there are no pairs, or if L = 0.
    ///
    /// The mean of a few draws is no proof: rare pairs that meet late may be missing among them.
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

/// Runs `pairs` pairs of swap chains of size c from independent draws of `start` and returns their
/// meeting times. The second chain starts `lag` steps after the first, which makes at most `limit`
/// steps.
///
/// The chains are coupled as in the proof of Theorem 5 of Li, Jegelka & Sra (2016): both make the
/// same moves if possible. Every item of the first chain is matched with an item of the second, a
/// common item with itself. A step proposes that matched items leave, and that the same item enters
/// both chains, or if it is in the second, the item of the first that is matched with it. One
/// uniform number u decides for both chains. If r → t is proposed to one chain and t → r to the
/// other, u decides for the first and 1 − u for the second (case C1 of the proof: with Gibbs rules
/// exactly one of the two exchanges). The expected distance of two states that differ in one item
/// contracts with the factor of [`PathCoupling`](crate::PathCoupling) or faster. Each chain by
/// itself is a [`SwapChain`] with the given rule. A step takes O(c²) flops for each of the two
/// chains; pairs run in parallel.
///
/// # Randomness
/// One 64-bit key is drawn; pair i draws from stream i of [`Streams`] under that key.
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
    let time = |i: usize| -> Result<Option<usize>> {
        let rng = &mut streams.stream(i as u64);
        let mut x = SwapChain::start(k, c, start, rule, rng)?;
        let y = SwapChain::start(k, c, start, rule, rng)?;
        x.run(lag, rng)?;
        if limit < lag {
            return Ok(None);
        }
        let steps = Pair::new(x, y).meet(limit - lag, rng)?;
        Ok(steps.map(|steps| lag + steps))
    };
    let times: Vec<Result<_>> = (0..pairs).into_par_iter().map(time).collect();
    // in order, so that the first error is returned
    Ok(Meetings { lag, times: times.into_iter().collect::<Result<_>>()?, limit })
}

/// Two coupled chains x and y. Every position of x is matched with a position of y; a common item
/// is matched with itself.
pub(crate) struct Pair<'a, T: Scalar> {
    x: SwapChain<'a, T>,
    y: SwapChain<'a, T>,
    matched: Vec<usize>,
}

impl<'a, T: Scalar> Pair<'a, T> {
    /// Couples two chains. Items that are in one chain only are matched in increasing order.
    pub fn new(x: SwapChain<'a, T>, y: SwapChain<'a, T>) -> Self {
        let place = |items: &[usize], item| items.iter().position(|&i| i == item);
        let [mut only_x, mut only_y] = [(&x, &y), (&y, &x)].map(|(one, other)| {
            let alone = one.items().iter().filter(|item| place(other.items(), **item).is_none());
            alone.copied().collect::<Vec<usize>>()
        });
        only_x.sort_unstable();
        only_y.sort_unstable();
        let partner = |item: &usize| match only_x.binary_search(item) {
            Ok(rank) => only_y[rank],
            Err(_) => *item,
        };
        let in_y = |item| place(y.items(), item).expect("an item of y");
        let matched = x.items().iter().map(|item| in_y(partner(item))).collect();
        Pair { x, y, matched }
    }

    /// The number of steps until the two are equal; `None` if more than `most` would be needed.
    ///
    /// # Randomness
    /// That of [`SwapChain::step`] for one chain. `rng` may be up to 63 steps ahead of the steps
    /// taken.
    pub fn meet(&mut self, most: usize, rng: &mut dyn Rng) -> Result<Option<usize>> {
        let mut steps = 0;
        while !self.have_met() {
            if steps == most {
                return Ok(None);
            }
            steps += self.advance(batch_size(self.matched.len()).min(most - steps), rng)?;
        }
        Ok(Some(steps))
    }

    fn have_met(&self) -> bool {
        self.x.items().iter().zip(&self.matched).all(|(x, &q)| *x == self.y.items()[q])
    }

    /// Takes up to `most` steps, until the chains meet; returns their number.
    fn advance(&mut self, most: usize, rng: &mut dyn Rng) -> Result<usize> {
        let step = |t| self.x.draw(rng).map(|drawn| (t, drawn));
        let drawn: Vec<(usize, Drawn)> = (0..most).filter_map(step).collect();
        Ok(self.follow(&drawn)?.map_or(most, |t| t + 1))
    }

    /// Carries out the drawn steps, each with its time, until the chains meet; returns the time of
    /// the meeting.
    fn follow(&mut self, drawn: &[(usize, Drawn)]) -> Result<Option<usize>> {
        let proposed: Vec<_> = drawn.iter().map(|(_, drawn)| self.coupled(drawn)).collect();
        self.x.propose(proposed.iter().map(|of| of[0]))?;
        self.y.propose(proposed.iter().map(|of| of[1]))?;
        for (j, (t, drawn)) in drawn.iter().enumerate() {
            // exchanges since the proposal may have changed the coupled pair
            let [(v_x, u_x), (v_y, u_y)] = self.coupled(drawn);
            let cross = u_x == self.y.items()[v_y] && u_y == self.x.items()[v_x]; // case C1
            let coin_y = if cross { 1.0 - drawn.coin } else { drawn.coin };
            let x_moves = self.x.decide(j, v_x, u_x, drawn.coin)?;
            let y_moves = self.y.decide(j, v_y, u_y, coin_y)?;
            if x_moves || y_moves {
                self.match_again(v_x, v_y);
                if self.have_met() {
                    return Ok(Some(*t));
                }
            }
        }
        self.x.settle()?;
        self.y.settle()?;
        Ok(None)
    }

    /// The position that leaves and the item that enters, for x and for y. Matched positions leave.
    /// The same item enters, or if it is in y, the item of x that is matched with it.
    fn coupled(&self, drawn: &Drawn) -> [(usize, usize); 2] {
        let u = self.x.outsider(drawn.number);
        let u_y = match self.y.items().iter().position(|&y| y == u) {
            Some(q) => self.x.items()[self.place_of(q)],
            None => u,
        };
        [(drawn.v, u), (self.matched[drawn.v], u_y)]
    }

    /// The position of x that is matched with position q of y.
    fn place_of(&self, q: usize) -> usize {
        self.matched.iter().position(|&m| m == q).expect("every position is matched")
    }

    /// Updates the matching after exchanges at positions p of x and q of y.
    fn match_again(&mut self, p: usize, q: usize) {
        let (a, b) = (self.x.items()[p], self.y.items()[q]);
        if let Some(in_y) = self.y.items().iter().position(|&y| y == a) {
            let other = self.place_of(in_y);
            self.matched.swap(p, other);
        }
        if let Some(in_x) = self.x.items().iter().position(|&x| x == b) {
            let other = self.place_of(q);
            self.matched.swap(in_x, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathCoupling;
    use faer::Mat;
    use nystrom_linalg_core::{Dense, testing::rng};
    use nystrom_sketch::{Landmarks, Uniform};

    /// E δ(X′, Y′) after a step that is not lazy, from δ = 1: the sum over all proposals, with an
    /// integral over the coin between the acceptance probabilities of both chains and their
    /// reflections.
    fn distance_after_a_step(k: &Dense<'_, f64>, rule: SwapRule, [x, y]: [&[usize]; 2]) -> f64 {
        let (n, c) = (k.dim(), x.len());
        let chain = |items: &[usize]| {
            SwapChain::new(k, &Landmarks::new(n, items.to_vec()).unwrap(), rule).unwrap()
        };
        let mut mean = 0.0;
        for (v, number) in (0..c).flat_map(|v| (0..n - c).map(move |number| (v, number))) {
            let drawn = |coin| Drawn { v, number, coin };
            let mut pair = Pair::new(chain(x), chain(y));
            let [(v_x, u_x), (v_y, u_y)] = pair.coupled(&drawn(0.5));
            let accepts = [pair.x.ratio(v_x, u_x), pair.y.ratio(v_y, u_y)]
                .map(|ratio| rule.acceptance(ratio.unwrap()));
            let mut ends = vec![0.0, 1.0];
            ends.extend(accepts.iter().flat_map(|q| [*q, 1.0 - q]));
            ends.sort_by(f64::total_cmp);
            for side in ends.windows(2).filter(|side| side[1] - side[0] > 1e-12) {
                let mut pair = Pair::new(chain(x), chain(y));
                pair.follow(&[(0, drawn(0.5 * (side[0] + side[1])))]).unwrap();
                let alone = pair.x.items().iter().filter(|i| !pair.y.items().contains(i)).count();
                mean += (side[1] - side[0]) * alone as f64 / (c * (n - c)) as f64;
            }
        }
        mean
    }

    /// The largest expected distance after a lazy step from neighbours is that of the proof of
    /// Theorem 5, 1 − (1 − α)/(2c(n − c)), with the α of all neighbours. If one u decided for both
    /// chains in case C1, it would be larger, by up to 1/(2c(n − c)).
    #[test]
    fn neighbours_come_together_at_the_rate_of_theorem_5() {
        let n = 6;
        for (width, c) in [(0.3, 1), (0.3, 3), (1.0, 2), (1.0, 4), (3.0, 3), (1.0, 5)] {
            let at = |i: usize| (i * i) as f64 / 5.0;
            let k = Mat::from_fn(n, n, |i, j| {
                (1.0 + 0.1 * i as f64).sqrt()
                    * (1.0 + 0.1 * j as f64).sqrt()
                    * (-(at(i) - at(j)).abs() / width).exp()
            });
            let k = Dense::new(k.as_ref()).unwrap();
            let sets = |mask: &u32| mask.count_ones() as usize == c;
            let items = |mask: u32| (0..n).filter(|i| mask >> i & 1 == 1).collect::<Vec<_>>();
            let states: Vec<Vec<usize>> = (0_u32..1 << n).filter(sets).map(items).collect();
            let mut largest = f64::NEG_INFINITY;
            for (x, y) in states.iter().flat_map(|x| states.iter().map(move |y| (x, y))) {
                if x.iter().filter(|i| !y.contains(i)).count() == 1 {
                    let moved = distance_after_a_step(&k, SwapRule::LazyGibbs, [x, y]);
                    largest = largest.max(0.5 + 0.5 * moved);
                }
            }
            let alpha = PathCoupling::exact(&k, c).unwrap().largest;
            let proved = 1.0 - (1.0 - alpha) / (2 * c * (n - c)) as f64;
            assert!((largest - proved).abs() < 1e-9, "c = {c}: {largest} and {proved}");
        }
    }

    /// Two independent items of equal norm: one chain moves to the state of the other at once. If
    /// the same u decided for both, they would exchange states for ever.
    #[test]
    fn two_states_meet() {
        let k = Mat::<f64>::identity(2, 2);
        let k = Dense::new(k.as_ref()).unwrap();
        let meetings = |rule| {
            let start = Uniform::default();
            coupled_meetings(&k, 1, &start, rule, 50, 1, 100, &mut rng(0)).unwrap()
        };
        assert!(meetings(SwapRule::Gibbs).times.iter().all(|time| time.is_some_and(|t| t <= 2)));
        assert!(meetings(SwapRule::LazyGibbs).times.iter().all(Option::is_some));
        // Metropolis alternates there
        assert!(meetings(SwapRule::Metropolis).times.contains(&None));
    }
}
