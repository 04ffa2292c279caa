//! Swap chains: one item at a time is exchanged for one outside.

mod batch;
mod double;
mod factor;
mod outside;
mod principal;
mod rows;
mod rule;
mod wide;
mod window;

pub use rule::SwapRule;

use crate::start::{independent, rounding};
use batch::{Batch, Proposal, together};
use factor::Factor;
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, random};
use nystrom_sketch::{LandmarkSelector, Landmarks};
use outside::Outside;
use principal::Principal;
use rand::{Rng, RngExt};
use window::Window;

/// A Markov chain on the subsets Y of size c whose stationary law is the k-DPP Pr(Y) = det K_YY /
/// e_c(K).
///
/// A step proposes to exchange v ∈ Y for u ∉ Y, both uniform, and does so with a probability that
/// depends on ρ = det K_{Y−v+u}/det K_YY alone ([`SwapRule`]). Each proposal evaluates the c
/// entries K\[Y, u\] and K_uu. The time of a step does not depend on n. Memory O(c²).
///
/// [`run`](Self::run) draws Q proposals together, c/4 of them, but at least 16 and at most 64, and
/// evaluates the Q² entries between them. All are judged from one Cholesky factor K_YY = LLᵀ: of
/// K_YY⁻¹ a proposal takes a row and a column, and an exchange is the paper's block-inverse update
/// of these rows. Then L is computed afresh from stored entries, so that nothing drifts. In
/// multiply-adds a step is c² + 2Qc + c³/6Q, and 8Q² where it exchanges: O(c²), all in products of
/// matrices.
///
/// A ratio is accurate to about cond(K_YY)·ε, where an inverse that is kept loses cond(K_YY)²·ε.
/// Where a pivot is thin, L is computed to 32 digits and rounded: cond(K_YY)^½·ε. Apart from that,
/// and from what K does, a step allocates nothing.
///
/// # Source
/// Algorithm 1 of C. Li, S. Jegelka & S. Sra, *Fast DPP sampling for Nyström with application to
/// kernel methods*, ICML 2016.
///
/// # Departures
/// The updates that wait for one another; the repaired start. Of what looks like a residual of at most 4cε·K_uu, nothing
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
    K: Principal, // K_YY
    factor: Factor,
    batch: Batch<T>,
    window: Window,
    steps: u64,
    accepted: u64,
    replaced: usize,
    refreshes: usize,
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
        let K = Principal::new(entries, c);
        Ok(SwapChain {
            factor: Factor::new(&K)?,
            K,
            outside: Outside::new(k.dim(), &members),
            k,
            rule,
            items,
            members,
            batch: Batch::with_room(c, together(c)),
            window: Window::with_room(c),
            steps: 0,
            accepted: 0,
            replaced,
            refreshes: 1,
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
    /// As [`step`](Self::step); Y is then as the steps before left it, but `rng` is up to 63 steps
    /// ahead.
    pub fn run(&mut self, steps: usize, rng: &mut dyn Rng) -> Result<usize> {
        let (before, mut left) = (self.accepted, steps);
        while left > 0 && self.outside.len() > 0 {
            let some = left.min(together(self.items.len()));
            self.take_together(some, rng)?;
            left -= some;
        }
        self.steps += left as u64; // c = n: every step stays
        Ok((self.accepted - before) as usize)
    }

    /// At most Q steps.
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
        let before = self.accepted;
        let judged = self.judge_all();
        if self.accepted > before {
            self.refresh()?;
        }
        judged
    }

    /// Algorithm 1 on the proposals of the batch.
    fn judge_all(&mut self) -> Result<()> {
        let SwapChain { batch, items, outside, .. } = self;
        if batch.proposals.is_empty() {
            return Ok(());
        }
        batch.evaluate(self.k, items, |proposal| outside.item(proposal.u));
        self.window.open(&self.factor, &self.batch, 0);
        for j in 0..self.batch.proposals.len() {
            let Proposal { v, u, coin } = self.batch.proposals[j];
            let u = self.outside.item(u); // an exchange may have given its number to another
            let known = u == self.batch.items[j];
            if !known {
                self.batch.replace(self.k, &self.items, j, u);
            }
            if !known || !self.window.serves() {
                self.refresh()?;
                self.window.open(&self.factor, &self.batch, j);
            }
            let ratio = self.ratio_of(j)?;
            if coin < self.rule.acceptance(ratio) {
                self.exchange(j, v, u, ratio);
            }
        }
        Ok(())
    }

    /// L of what Y is now.
    fn refresh(&mut self) -> Result<()> {
        self.refreshes += 1;
        self.factor.update(&self.K)
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
        self.look_at(Proposal { v: position, u, coin: 0.0 })
    }

    /// ρ of one proposal, of item u itself.
    fn look_at(&mut self, proposal: Proposal) -> Result<f64> {
        self.batch.proposals.clear();
        self.batch.proposals.push(proposal);
        self.batch.evaluate(self.k, &self.items, |proposal| proposal.u);
        self.window.open(&self.factor, &self.batch, 0);
        self.ratio_of(0)
    }

    /// ρ of proposal `j` of the batch.
    fn ratio_of(&self, j: usize) -> Result<f64> {
        let rounding = rounding::<T>(self.items.len());
        let kappa = self.batch.diagonal(j);
        let ratio = self.window.ratio(j, self.batch.proposals[j].v, kappa, rounding);
        if ratio.is_finite() { Ok(ratio) } else { self.explain(j, ratio) }
    }

    /// A ratio that is not finite comes from an entry that is not, or from an overflow of finite
    /// ones, which says nothing of an exchange.
    fn explain(&self, j: usize, ratio: f64) -> Result<f64> {
        let (u, k_uu) = (self.batch.items[j], self.batch.diagonal(j));
        let entries = self.items.iter().copied().zip(self.batch.column(j).iter().map(|k| k.f64()));
        match entries.chain([(u, k_uu)]).find(|(_, value)| !value.is_finite()) {
            Some((row, value)) => Err(Error::NonFinite { what: "matrix", row, col: u, value }),
            None if ratio.is_nan() => Ok(0.0),
            None => Ok(ratio),
        }
    }

    /// Exchanges item v ∈ Y for u ∉ Y if `coin`, a uniform number, is below the probability.
    pub(crate) fn exchange_if(&mut self, v: usize, u: usize, coin: f64) -> Result<()> {
        let position = self.items.iter().position(|&y| y == v).expect("v is in Y");
        self.steps += 1;
        let ratio = self.look_at(Proposal { v: position, u, coin })?;
        if coin < self.rule.acceptance(ratio) {
            self.exchange(0, position, u, ratio);
            self.refresh()?;
        }
        Ok(())
    }

    /// Y, increasing.
    pub(crate) fn members(&self) -> &[usize] {
        &self.members
    }

    /// Carries out proposal `j` of the batch: u for the item at position v.
    fn exchange(&mut self, j: usize, v: usize, u: usize, ratio: f64) {
        let old = std::mem::replace(&mut self.items[v], u);
        let at = self.members.partition_point(|&y| y < old);
        self.members.remove(at);
        let at = self.members.partition_point(|&y| y < u);
        self.members.insert(at, u);
        self.accepted += 1;
        self.outside.exchange(old, u);
        self.window.exchange(j, v, ratio);
        self.K.exchange(v, self.batch.column(j), self.batch.diagonal(j));
        self.batch.follow(j, v);
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
        self.factor.log_det()
    }

    /// K_YY⁻¹, rows and columns in the order of [`items`](Self::items), from the factor. 2c³ flops.
    pub fn inverse(&self) -> faer::Mat<f64> {
        self.factor.inverse()
    }

    /// max |LLᵀ − K_YY|_ij/√(K_ii K_jj) of the factor. c³/3 flops, no entries.
    pub fn residual(&self) -> f64 {
        self.factor.residual(&self.K)
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

    /// How often the factor was computed, the first time included.
    pub fn refreshes(&self) -> usize {
        self.refreshes
    }
}
