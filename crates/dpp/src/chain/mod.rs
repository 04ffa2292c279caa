//! Swap chains: each step exchanges at most one item of Y for an item outside Y.

mod batch;
mod candidates;
mod double;
mod factor;
mod joining;
mod outside;
mod principal;
mod quotas;
mod rows;
mod rule;
mod single;
mod wide;
mod window;

pub use rule::SwapRule;

use crate::start::{independent, rounding};
use batch::Batch;
pub(crate) use batch::batch_size;
use candidates::Candidates;
use factor::Factor;
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, random};
use nystrom_sketch::{LandmarkSelector, Landmarks};
use principal::Principal;
use rand::{Rng, RngExt};
use std::borrow::Cow;
use window::Window;

/// A Markov chain on the subsets Y of size c whose stationary distribution is the k-DPP Pr(Y) = det
/// K_YY / e_c(K).
///
/// A step proposes to exchange v ∈ Y for u ∉ Y, both uniform, and accepts with a probability that
/// depends only on ρ = det K_{Y−v+u}/det K_YY ([`SwapRule`]). Each proposal evaluates the c entries
/// K\[Y, u\] and K_uu. The time of a step does not depend on n. Memory O(c²).
///
/// [`run`](Self::run) draws a window of Q proposals together (about c/4, at least 16 and at
/// most 64) and evaluates the Q² entries between their items. The ratios of all proposals are
/// computed from one Cholesky factor K_YY = LLᵀ; each needs a row and a column of K_YY⁻¹. An
/// exchange applies the block-inverse update of the paper to these rows. After the window, L is
/// recomputed from stored entries of K, so that rounding errors do not accumulate. If det K_YY
/// grows by more than 10⁶ within a window, the remaining proposals are evaluated from a new factor.
/// A step takes c² + 2Qc + c³/6Q multiply-adds, and 8Q² more for an exchange: O(c²), all in matrix
/// products.
///
/// The relative error of a ratio is about cond(K_YY)·ε; with repeated updates of a stored inverse
/// it would be cond(K_YY)²·ε. If a pivot is small relative to K_jj, L is computed to 32 digits and
/// rounded, and the error is cond(K_YY)^½·ε. A step allocates no memory, except in that
/// factorisation and inside K.
///
/// # Source
/// Algorithm 1 of C. Li, S. Jegelka & S. Sra, *Fast DPP sampling for Nyström with application to
/// kernel methods*, ICML 2016.
///
/// # Departures
/// Updates are delayed and made together, and the start is repaired if K_YY is singular. A residual
/// of at most 4cε·K_uu counts as 0.
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
    items: Vec<usize>,      // Y by position
    candidates: Candidates, // the items outside Y
    K: Principal,           // K_YY
    factor: Factor,
    batch: Batch<T>,
    window: Window,
    base: Vec<usize>, // Y of the factor, while exchanges of single steps are pending
    drawn: Vec<Drawn>,
    waiting: usize, // exchanges since the factor was computed
    steps: u64,
    accepted: u64,
    replaced: usize,
    refreshes: usize,
}

/// A drawn step: a proposal to exchange the item at position v of Y for the item outside Y with the
/// given number ([`Outside`]). The uniform number `coin` decides the acceptance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    pub v: usize,
    pub number: usize,
    pub coin: f64,
}

impl<'a, T: Scalar> SwapChain<'a, T> {
    /// The chain from the set that `selector` chooses: uniform items, `KMeansPlusPlus` seeds,
    /// `RpCholesky` pivots, …
    ///
    /// Items that depend on the others (for example duplicates) are replaced by items with the
    /// largest residuals; missing items, if the selector returns fewer than c, are added in the
    /// same way. Evaluates 2c² entries besides those of the selector, and n·c more if a repair is
    /// needed.
    ///
    /// # Randomness
    /// That of the selector.
    ///
    /// # Errors
    /// [`Error::Empty`] if c = 0, [`Error::TooMany`] if c > n, [`Error::RankDeficient`], with the
    /// numerical rank, if no c items are independent, [`Error::NonFinite`], and those of the
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

    /// The chain from a given set, repaired if K_YY is singular; errors as [`start`](Self::start).
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
        let mut members = items.clone();
        members.sort_unstable();
        let candidates = Candidates::all(k.dim(), &members);
        Ok(SwapChain { replaced, ..Self::at(k, items, candidates, rule)? })
    }

    /// The chain at independent items Y.
    fn at(
        k: &'a dyn PsdMatrix<T>,
        items: Vec<usize>,
        candidates: Candidates,
        rule: SwapRule,
    ) -> Result<Self> {
        let c = items.len();
        let block = k.block((&items).into(), (&items).into());
        let entries = (0..c * c).map(|t| block[(t % c, t / c)].f64()).collect();
        let K = Principal::new(entries, c);
        Ok(SwapChain {
            factor: Factor::new(&K)?,
            K,
            candidates,
            k,
            rule,
            items,
            batch: Batch::with_capacity(c, batch_size(c)),
            window: Window::for_size(c),
            base: Vec::with_capacity(c),
            drawn: Vec::with_capacity(batch_size(c)),
            waiting: 0,
            steps: 0,
            accepted: 0,
            replaced: 0,
            refreshes: 1,
        })
    }

    /// Takes `steps` steps and returns the number of accepted exchanges.
    ///
    /// # Randomness
    /// That of the steps, in their order.
    ///
    /// # Errors
    /// As [`step`](Self::step). After an error Y is as after the steps before it, but `rng` may be
    /// up to 63 steps ahead.
    pub fn run(&mut self, steps: usize, rng: &mut dyn Rng) -> Result<usize> {
        let (before, mut left) = (self.accepted, steps);
        while left > 0 && self.candidates.len() > 0 {
            let some = left.min(batch_size(self.items.len()));
            self.run_batch(some, rng)?;
            left -= some;
        }
        self.steps += left as u64; // c = n: every step stays
        Ok((self.accepted - before) as usize)
    }

    /// Takes at most Q steps, as one window.
    fn run_batch(&mut self, steps: usize, rng: &mut dyn Rng) -> Result<()> {
        self.steps += steps as u64;
        self.drawn.clear();
        for _ in 0..steps {
            let drawn = self.draw(rng);
            self.drawn.extend(drawn);
        }
        let SwapChain { batch, drawn, candidates, .. } = self;
        batch.propose(drawn.iter().map(|d| (d.v, candidates.item(d.number))));
        self.look_ahead()?;
        for j in 0..self.drawn.len() {
            let Drawn { v, number, coin } = self.drawn[j];
            // an exchange may have given the number to another item
            let judged = self.decide(j, v, self.candidates.item(number), coin);
            if judged.is_err() {
                self.settle()?;
                judged?;
            }
        }
        self.settle()
    }

    /// Draws one step of Algorithm 1, without deciding it; `None` if a lazy step stays, or if no
    /// item may replace the one that was drawn.
    pub(crate) fn draw(&self, rng: &mut dyn Rng) -> Option<Drawn> {
        if self.rule.is_lazy() && random::coin(0.5, rng) {
            return None;
        }
        let v = rng.random_range(0..self.items.len());
        let numbers = self.candidates.instead_of(self.items[v]);
        if numbers.is_empty() {
            return None;
        }
        let number = rng.random_range(numbers);
        Some(Drawn { v, number, coin: rng.random() })
    }

    /// Starts a window: evaluates the entries and ratios of these proposals, (position in Y, item).
    pub(crate) fn propose(
        &mut self,
        exchanges: impl Iterator<Item = (usize, usize)>,
    ) -> Result<()> {
        self.batch.propose(exchanges);
        self.look_ahead()
    }

    fn look_ahead(&mut self) -> Result<()> {
        self.settle()?;
        if !self.batch.items.is_empty() {
            self.batch.evaluate(self.k, &self.items);
            self.window.open(&self.factor, &self.batch, 0);
        }
        Ok(())
    }

    /// Exchanges the item at position v for u ∉ Y if `coin`, a uniform number, is below the
    /// acceptance probability. Fastest if (v, u) is proposal `j` of the window.
    pub(crate) fn decide(&mut self, j: usize, v: usize, u: usize, coin: f64) -> Result<bool> {
        let foreseen = (self.batch.positions[j], self.batch.items[j]) == (v, u);
        if !foreseen {
            self.batch.replace(self.k, &self.items, j, (v, u));
        }
        if !foreseen || !self.window.is_accurate() {
            self.settle()?;
            self.window.open(&self.factor, &self.batch, j);
        }
        let ratio = self.ratio_of(j)?;
        let accepted = coin < self.rule.acceptance(ratio);
        if accepted {
            self.exchange(j, ratio);
        }
        Ok(accepted)
    }

    /// Recomputes the factor for the current Y if exchanges are pending.
    pub(crate) fn settle(&mut self) -> Result<()> {
        self.base.clear();
        if self.waiting > 0 {
            (self.waiting, self.refreshes) = (0, self.refreshes + 1);
            self.factor.update(&self.K)?;
        }
        Ok(())
    }

    /// The item outside Y with this number, which is below n − c.
    pub(crate) fn outsider(&self, number: usize) -> usize {
        self.candidates.item(number)
    }

    /// ρ of proposal `j` of the batch.
    fn ratio_of(&self, j: usize) -> Result<f64> {
        let rounding = rounding::<T>(self.items.len());
        let kappa = self.batch.diagonal(j);
        let ratio = self.window.ratio(j, self.batch.positions[j], kappa, rounding);
        if ratio.is_finite() { Ok(ratio) } else { self.explain(j, ratio) }
    }

    /// The error or the value for a ratio that is not finite: an error if an entry of K is not
    /// finite. Otherwise finite entries overflowed, and NaN becomes 0, so that no exchange is made.
    fn explain(&self, j: usize, ratio: f64) -> Result<f64> {
        let (u, k_uu) = (self.batch.items[j], self.batch.diagonal(j));
        let entries = self.items.iter().copied().zip(self.batch.column(j).iter().map(|k| k.f64()));
        match entries.chain([(u, k_uu)]).find(|(_, value)| !value.is_finite()) {
            Some((row, value)) => Err(Error::NonFinite { what: "matrix", row, col: u, value }),
            None if ratio.is_nan() => Ok(0.0),
            None => Ok(ratio),
        }
    }

    /// Carries out proposal `j` of the batch, whose ratio is ρ.
    fn exchange(&mut self, j: usize, ratio: f64) {
        let (v, u) = (self.batch.positions[j], self.batch.items[j]);
        let old = std::mem::replace(&mut self.items[v], u);
        (self.accepted, self.waiting) = (self.accepted + 1, self.waiting + 1);
        self.candidates.exchange(old, u);
        self.window.exchange(j, v, ratio);
        self.K.exchange(v, self.batch.column(j), self.batch.diagonal(j));
        self.batch.follow(j);
    }

    /// Y, by position: an item that enters takes the position of the item that leaves.
    pub fn items(&self) -> &[usize] {
        &self.items
    }

    /// Y as landmarks, in increasing order. O(c ln c).
    pub fn landmarks(&self) -> Landmarks {
        let mut increasing = self.items.clone();
        increasing.sort_unstable();
        Landmarks::new(self.k.dim(), increasing).expect("distinct items, at least one")
    }

    /// ln det K_YY, from the factor and the ratios of pending exchanges (after
    /// [`step`](Self::step)), as accurate as these ratios. O(c).
    pub fn log_det(&self) -> f64 {
        let since = if self.waiting > 0 { self.window.change().ln() } else { 0.0 };
        self.factor.log_det() + since
    }

    /// K_YY⁻¹, rows and columns in the order of [`items`](Self::items), from the factor. 2c³ flops.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] if, because of rounding errors, K_YY has no Cholesky factor.
    pub fn inverse(&self) -> Result<faer::Mat<f64>> {
        Ok(self.settled()?.inverse())
    }

    /// max |LLᵀ − K_YY|_ij/√(K_ii K_jj) of the factor. c³/3 flops, no entries of K evaluated.
    ///
    /// # Errors
    /// Those of [`inverse`](Self::inverse).
    pub fn residual(&self) -> Result<f64> {
        Ok(self.settled()?.residual(&self.K))
    }

    /// The factor of K_YY for the current Y, also with exchanges pending.
    fn settled(&self) -> Result<Cow<'_, Factor>> {
        let mut factor = Cow::Borrowed(&self.factor);
        if self.waiting > 0 {
            factor.to_mut().update(&self.K)?;
        }
        Ok(factor)
    }

    /// Steps taken, lazy ones included.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Exchanges carried out.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// The number of items that the repair of the start replaced or added.
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    /// How often the factor was computed, including the first time.
    pub fn refreshes(&self) -> usize {
        self.refreshes
    }
}
