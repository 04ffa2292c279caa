//! Swap chains: one item at a time is exchanged for one outside.

mod batch;
mod double;
mod factor;
mod joining;
mod outside;
mod principal;
mod rows;
mod rule;
mod single;
mod wide;
mod window;

pub use rule::SwapRule;

use crate::start::{independent, rounding};
use batch::Batch;
pub(crate) use batch::together;
use factor::Factor;
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, random};
use nystrom_sketch::{LandmarkSelector, Landmarks};
use outside::Outside;
use principal::Principal;
use rand::{Rng, RngExt};
use std::borrow::Cow;
use window::Window;

/// A Markov chain on the subsets Y of size c whose stationary distribution is the k-DPP Pr(Y) = det
/// K_YY / e_c(K).
///
/// A step proposes to exchange v ∈ Y for u ∉ Y, both uniform, and does so with a probability that
/// depends on ρ = det K_{Y−v+u}/det K_YY alone ([`SwapRule`]). Each proposal evaluates the c
/// entries K\[Y, u\] and K_uu. The time of a step does not depend on n. Memory O(c²).
///
/// [`run`](Self::run) draws Q proposals together, c/4 of them, but at least 16 and at most 64, and
/// evaluates the Q² entries between them. All are judged from one Cholesky factor K_YY = LLᵀ. A
/// proposal takes a row and a column of K_YY⁻¹. An exchange is the paper's block-inverse update of
/// these rows. Then L is computed afresh from stored entries, so that nothing drifts. What is
/// left of a window is judged anew where det K_YY has risen by more than 10⁶. In multiply-adds a
/// step is c² + 2Qc + c³/6Q, and 8Q² where it exchanges: O(c²), all in products of matrices.
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
/// Updates are delayed and then made together, and the start is repaired. A residual of at most
/// 4cε·K_uu counts as 0.
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
    items: Vec<usize>, // Y by position
    outside: Outside,
    K: Principal, // K_YY
    factor: Factor,
    batch: Batch<T>,
    window: Window,
    base: Vec<usize>, // what the factor knows, while single steps wait
    drawn: Vec<Drawn>,
    waiting: usize, // exchanges that the factor does not know of
    steps: u64,
    accepted: u64,
    replaced: usize,
    refreshes: usize,
}

/// A step that has been drawn. The uniform number `coin` decides whether to exchange the item at
/// position v for that of a number outside Y.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    pub v: usize,
    pub number: usize,
    pub coin: f64,
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
            batch: Batch::with_room(c, together(c)),
            window: Window::with_room(c),
            base: Vec::with_capacity(c),
            drawn: Vec::with_capacity(together(c)),
            waiting: 0,
            steps: 0,
            accepted: 0,
            replaced,
            refreshes: 1,
        })
    }

    /// That many steps; the number of accepted exchanges.
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
        self.steps += steps as u64;
        self.drawn.clear();
        for _ in 0..steps {
            let drawn = self.draw(rng);
            self.drawn.extend(drawn);
        }
        let SwapChain { batch, drawn, outside, .. } = self;
        batch.propose(drawn.iter().map(|d| (d.v, outside.item(d.number))));
        self.look_ahead()?;
        for j in 0..self.drawn.len() {
            let Drawn { v, number, coin } = self.drawn[j];
            // an exchange may have given the number to another item
            let judged = self.decide(j, v, self.outside.item(number), coin);
            if judged.is_err() {
                self.settle()?;
                judged?;
            }
        }
        self.settle()
    }

    /// One step of Algorithm 1 up to its acceptance; `None` if it stays.
    pub(crate) fn draw(&self, rng: &mut dyn Rng) -> Option<Drawn> {
        if self.rule.is_lazy() && random::coin(0.5, rng) {
            return None;
        }
        let v = rng.random_range(0..self.items.len());
        let number = rng.random_range(0..self.outside.len());
        Some(Drawn { v, number, coin: rng.random() })
    }

    /// Whatever these exchanges, of positions for items, will need.
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
    /// probability. Fastest if that is what was proposed under number `j`.
    pub(crate) fn decide(&mut self, j: usize, v: usize, u: usize, coin: f64) -> Result<bool> {
        let foreseen = (self.batch.positions[j], self.batch.items[j]) == (v, u);
        if !foreseen {
            self.batch.replace(self.k, &self.items, j, (v, u));
        }
        if !foreseen || !self.window.serves() {
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

    /// The factor of K_YY for the current Y.
    pub(crate) fn settle(&mut self) -> Result<()> {
        self.base.clear();
        if self.waiting > 0 {
            (self.waiting, self.refreshes) = (0, self.refreshes + 1);
            self.factor.update(&self.K)?;
        }
        Ok(())
    }

    /// The item outside Y that has this number, below n − c.
    pub(crate) fn outsider(&self, number: usize) -> usize {
        self.outside.item(number)
    }

    /// ρ of proposal `j` of the batch.
    fn ratio_of(&self, j: usize) -> Result<f64> {
        let rounding = rounding::<T>(self.items.len());
        let kappa = self.batch.diagonal(j);
        let ratio = self.window.ratio(j, self.batch.positions[j], kappa, rounding);
        if ratio.is_finite() { Ok(ratio) } else { self.explain(j, ratio) }
    }

    /// A ratio that is not finite comes from an entry that is not, or from an overflow of finite
    /// ones. An overflow says nothing of an exchange.
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
        self.outside.exchange(old, u);
        self.window.exchange(j, v, ratio);
        self.K.exchange(v, self.batch.column(j), self.batch.diagonal(j));
        self.batch.follow(j);
    }

    /// Y: an item that enters takes the place of the one that leaves.
    pub fn items(&self) -> &[usize] {
        &self.items
    }

    /// Y as landmarks, increasing. O(c ln c).
    pub fn landmarks(&self) -> Landmarks {
        let mut increasing = self.items.clone();
        increasing.sort_unstable();
        Landmarks::new(self.k.dim(), increasing).expect("distinct items, at least one")
    }

    /// ln det K_YY, of the factor and of the pending exchanges: after single steps as accurate as
    /// ratios are. O(c).
    pub fn log_det(&self) -> f64 {
        let since = if self.waiting > 0 { self.window.change().ln() } else { 0.0 };
        self.factor.log_det() + since
    }

    /// K_YY⁻¹, rows and columns in the order of [`items`](Self::items), from the factor. 2c³ flops.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] if rounding errors leave K_YY no factor.
    pub fn inverse(&self) -> Result<faer::Mat<f64>> {
        Ok(self.settled()?.inverse())
    }

    /// max |LLᵀ − K_YY|_ij/√(K_ii K_jj) of the factor. c³/3 flops, no entries.
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

    /// Items of the start that had no volume beside the others, or were missing, and were replaced.
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    /// How often the factor was computed, the first time included.
    pub fn refreshes(&self) -> usize {
        self.refreshes
    }
}
