//! Swap chains: one item at a time is exchanged for one outside.

mod batch;
mod double;
mod factor;
mod inverse;
mod outside;
mod principal;
mod rule;
mod triangle;
mod volume;
mod wide;

pub use rule::SwapRule;

use crate::start::{independent, rounding};
use batch::{BATCH, Batch, Proposal};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, random};
use nystrom_sketch::{LandmarkSelector, Landmarks};
use outside::Outside;
use rand::{Rng, RngExt};
use volume::{Exchange, Volume};

/// A Markov chain on the subsets Y of size c whose stationary law is the k-DPP Pr(Y) = det K_YY /
/// e_c(K).
///
/// A step proposes to exchange v ∈ Y for u ∉ Y, both uniform, and does so with a probability that
/// depends on ρ = det K_{Y−v+u}/det K_YY alone ([`SwapRule`]). Each proposal evaluates the c
/// entries K\[Y, u\] and K_uu. The time of a step does not depend on n. Memory O(c²).
/// [`run`](Self::run) evaluates the entries of 16 proposals together, and once one of them is
/// accepted those between the items that wait, at most 16².
///
/// While K_YY is well-conditioned the state holds its inverse M: a proposal is one product, c²
/// multiply-adds, and an accepted one an update of rank two, 2c² more. A bound of the condition,
/// c·Σ K_ii M_ii, is checked at every exchange. Beyond it the state holds the Cholesky factor
/// K_YY = LLᵀ: 2c²/3 multiply-adds a proposal and c² an exchange on average, one after another.
/// The ratio from it is accurate to about cond(K_YY)·ε, where the inverse loses cond(K_YY)²·ε. The
/// factor follows an exchange by plane rotations, in `f64` or, where a pivot is thin, to 32 digits:
/// after 10⁵ exchanges K_YY⁻¹ from it is within 1e-14 of the truth at a condition of 1e11, where a
/// factorisation in `f64` is 5e-8 off. Either is computed afresh (from stored entries) after every
/// 2c accepted exchanges, and at once when it is seen to have drifted. Apart from that, and from
/// what K does, a step allocates nothing.
///
/// # Source
/// Algorithm 1 of C. Li, S. Jegelka & S. Sra, *Fast DPP sampling for Nyström with application to
/// kernel methods*, ICML 2016.
///
/// # Departures
/// The O(c²) step; the repaired start. Of what looks like a residual of at most 4cε·K_uu, nothing
/// is believed: it counts as 0.
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::{SwapChain, SwapRule};
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::Uniform;
/// use rand::SeedableRng;
/// let k = Mat::from_fn(200, 200, |i, j| (-((i as f64 - j as f64) / 8.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let mut chain = SwapChain::start(&k, 10, &Uniform::default(), SwapRule::LazyGibbs, rng)?;
/// let before = chain.log_det();
/// chain.run(3000, rng)?;
/// assert!(chain.log_det() > before && chain.items().len() == 10);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub struct SwapChain<'a, T: Scalar> {
    k: &'a dyn PsdMatrix<T>,
    rule: SwapRule,
    items: Vec<usize>,   // Y by position
    members: Vec<usize>, // Y increasing
    outside: Outside,
    volume: Volume,
    batch: Batch<T>,
    k_u: Vec<f64>,
    steps: u64,
    accepted: u64,
    replaced: usize,
}

impl<'a, T: Scalar> SwapChain<'a, T> {
    /// The chain from what `selector` chooses: uniform items, `KMeansPlusPlus` seeds, `RpCholesky`
    /// pivots, …
    ///
    /// Items without volume (duplicates, say) are replaced by those of the largest residual, and so
    /// are missing ones if the selector returns fewer than c. Without repairs, c² entries beside
    /// those of the selector; n·c more where there are some.
    ///
    /// # Randomness
    /// That of the selector.
    ///
    /// # Errors
    /// [`Error::Empty`] if c = 0, [`Error::TooMany`] if c > n, [`Error::RankDeficient`] with the
    /// numerical rank if no c items are independent, [`Error::NonFinite`], and those of the
    /// selector.
    pub fn start(
        k: &'a dyn PsdMatrix<T>,
        c: usize,
        selector: &dyn LandmarkSelector<T>,
        rule: SwapRule,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let chosen = selector.select(k, c, rng)?;
        Self::with_size(k, &chosen, c, rule)
    }

    /// The chain from a given set, repaired where it has no volume; errors as
    /// [`start`](Self::start).
    pub fn new(k: &'a dyn PsdMatrix<T>, start: &Landmarks, rule: SwapRule) -> Result<Self> {
        Self::with_size(k, start, start.len(), rule)
    }

    fn with_size(
        k: &'a dyn PsdMatrix<T>,
        start: &Landmarks,
        c: usize,
        rule: SwapRule,
    ) -> Result<Self> {
        start.check(k.dim())?;
        nystrom_linalg_core::validate::at_most("items (c)", c, k.dim())?;
        let items = independent(k, start.indices(), c)?;
        let replaced = items.iter().filter(|i| !start.indices().contains(i)).count();
        let block = k.block((&items).into(), (&items).into());
        let entries = (0..c * c).map(|t| block[(t % c, t / c)].f64()).collect();
        let mut members = items.clone();
        members.sort_unstable();
        Ok(SwapChain {
            volume: Volume::new(entries, c, rounding::<T>(c))?,
            outside: Outside::new(k.dim(), &members),
            k,
            rule,
            items,
            members,
            batch: Batch::new(c),
            k_u: vec![0.0; c],
            steps: 0,
            accepted: 0,
            replaced,
        })
    }

    /// One step of Algorithm 1; true if Y changed. If c = n there is nothing to exchange.
    ///
    /// # Randomness
    /// With a lazy rule one uniform for the coin; then, unless it says stay, v and u by one bounded
    /// integer each and one uniform for the acceptance.
    ///
    /// # Errors
    /// [`Error::NonFinite`] if an entry of K\[Y, u\] is NaN or infinite; Y is then as before.
    pub fn step(&mut self, rng: &mut dyn Rng) -> Result<bool> {
        Ok(self.run(1, rng)? == 1)
    }

    /// That many steps, several times as fast as one by one; the number of accepted exchanges.
    ///
    /// # Randomness
    /// That of the steps, in their order.
    ///
    /// # Errors
    /// As [`step`](Self::step); Y is then as the steps before left it, but `rng` is up to 15 steps
    /// ahead.
    pub fn run(&mut self, steps: usize, rng: &mut dyn Rng) -> Result<usize> {
        let (before, mut left) = (self.accepted, steps);
        while left > 0 && self.outside.len() > 0 {
            let some = left.min(BATCH);
            self.take_together(some, rng)?;
            left -= some;
        }
        self.steps += left as u64; // c = n: every step stays
        Ok((self.accepted - before) as usize)
    }

    /// At most [`BATCH`] steps.
    fn take_together(&mut self, steps: usize, rng: &mut dyn Rng) -> Result<()> {
        self.batch.proposals.clear();
        for _ in 0..steps {
            if !(self.rule.is_lazy() && random::coin(0.5, rng)) {
                let (v, u) = (
                    rng.random_range(0..self.items.len()),
                    rng.random_range(0..self.outside.len()),
                );
                self.batch.proposals.push(Proposal { v, u, coin: rng.random() });
            }
        }
        self.steps += steps as u64;
        self.batch.evaluate(self.k, &self.items, &self.outside);
        for j in 0..self.batch.proposals.len() {
            let (Proposal { v, coin, .. }, u) = (self.batch.proposals[j], self.batch.items[j]);
            let exchange = self.look_at_waiting(j)?;
            if coin < self.rule.acceptance(exchange.ratio) {
                let renumbered = self.exchange(v, u, exchange);
                self.batch.follow(self.k, &self.items, &self.outside, j, v, renumbered);
            }
        }
        Ok(())
    }

    /// ρ = det K_{Y−v+u}/det K_YY, v the item at `position` of [`items`](Self::items) and u ∉ Y. c
    /// entries and one diagonal one, O(c²).
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`], [`Error::DuplicateIndex`] if u ∈ Y, [`Error::NonFinite`].
    pub fn ratio(&mut self, position: usize, u: usize) -> Result<f64> {
        let (c, n) = (self.items.len(), self.k.dim());
        if position >= c {
            return Err(Error::IndexOutOfRange {
                what: "positions in the subset",
                position: 0,
                index: position,
                n: c,
            });
        }
        if u >= n {
            return Err(Error::IndexOutOfRange { what: "items", position: 0, index: u, n });
        }
        if let Some(first) = self.items.iter().position(|&y| y == u) {
            return Err(Error::DuplicateIndex {
                what: "subset after the exchange",
                index: u,
                first,
                second: position,
            });
        }
        Ok(self.look_at(position, u)?.ratio)
    }

    /// What exchanging the item at position v for u would do.
    fn look_at(&mut self, v: usize, u: usize) -> Result<Exchange> {
        self.batch.proposals.clear();
        self.batch.proposals.push(Proposal { v, u, coin: 0.0 });
        self.batch.evaluate_items(self.k, &self.items, [u].into_iter());
        self.look_at_waiting(0)
    }

    /// What proposal `j` of the batch would do.
    fn look_at_waiting(&mut self, j: usize) -> Result<Exchange> {
        let (v, u, k_uu) =
            (self.batch.proposals[j].v, self.batch.items[j], self.batch.diagonal[j].f64());
        self.k_u.iter_mut().zip(self.batch.column(j)).for_each(|(to, from)| *to = from.f64());
        let exchange = self.volume.exchange(v, &self.k_u, k_uu);
        if exchange.ratio.is_finite() { Ok(exchange) } else { self.explain(u, k_uu, exchange) }
    }

    /// A ratio that is not finite comes from an entry that is not, or from an overflow of finite
    /// ones.
    fn explain(&self, u: usize, k_uu: f64, exchange: Exchange) -> Result<Exchange> {
        let entries = self.items.iter().zip(&self.k_u).map(|(&row, &value)| (row, value));
        match entries.chain([(u, k_uu)]).find(|(_, value)| !value.is_finite()) {
            Some((row, value)) => Err(Error::NonFinite { what: "matrix", row, col: u, value }),
            None => Ok(exchange),
        }
    }

    /// Exchanges item v ∈ Y for u ∉ Y if `coin`, a uniform number, is below the probability.
    pub(crate) fn exchange_if(&mut self, v: usize, u: usize, coin: f64) -> Result<()> {
        let position = self.items.iter().position(|&y| y == v).expect("v is in Y");
        self.steps += 1;
        let exchange = self.look_at(position, u)?;
        if coin < self.rule.acceptance(exchange.ratio) {
            self.exchange(position, u, exchange);
        }
        Ok(())
    }

    /// Y, increasing.
    pub(crate) fn members(&self) -> &[usize] {
        &self.members
    }

    /// Carries out the exchange last looked at; the numbers outside that now stand for another
    /// item.
    fn exchange(&mut self, v: usize, u: usize, exchange: Exchange) -> [usize; 2] {
        let old = std::mem::replace(&mut self.items[v], u);
        let at = self.members.partition_point(|&y| y < old);
        self.members.remove(at);
        let at = self.members.partition_point(|&y| y < u);
        self.members.insert(at, u);
        self.accepted += 1;
        self.volume.carry_out(exchange, &self.k_u);
        self.outside.exchange(old, u)
    }

    /// The `r`-th item outside Y in increasing order: r + #{y ∈ Y below it}, by bisection.
    pub(crate) fn outsider(&self, r: usize) -> usize {
        let (mut low, mut high) = (0, self.members.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.members[middle] - middle <= r {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        r + low
    }

    /// Y: an item that enters takes the place of the one that leaves.
    pub fn items(&self) -> &[usize] {
        &self.items
    }

    /// Y as landmarks, increasing.
    pub fn landmarks(&self) -> Landmarks {
        Landmarks::new(self.k.dim(), self.members.clone()).expect("distinct items, at least one")
    }

    /// ln det K_YY. O(c).
    pub fn log_det(&self) -> f64 {
        self.volume.log_det()
    }

    /// K_YY⁻¹, rows and columns in the order of [`items`](Self::items): a copy of what is kept, or
    /// from the factor by 2c³ flops.
    pub fn inverse(&self) -> faer::Mat<f64> {
        self.volume.inverse()
    }

    /// The drift of what is kept since it was last computed afresh: with M = K_YY⁻¹ max |MK_YY −
    /// I|_ij·√(K_ii/K_jj), with a factor max |LLᵀ − K_YY|_ij/√(K_ii K_jj). At most 2c³ flops, no
    /// entries.
    pub fn residual(&self) -> f64 {
        self.volume.residual()
    }

    /// Steps taken, lazy ones included.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Exchanges carried out.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Items of the start that had no volume beside the others, or were missing, and were replaced.
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    /// How often the inverse or the factor was computed afresh, the first time included.
    pub fn refreshes(&self) -> usize {
        self.volume.refreshes()
    }
}
