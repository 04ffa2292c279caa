//! Steps one by one, and ratios: proposals that join those that were carried out since the last
//! factor.

use super::joining::waiting;
use super::{Drawn, SwapChain};
use nystrom_linalg_core::{Error, Indices, Result, Scalar};
use rand::Rng;

impl<T: Scalar> SwapChain<'_, T> {
    /// One step of Algorithm 1; true if Y changed. If c = n there is nothing to exchange.
    ///
    /// Up to 32 exchanges are pending until a factor is computed, and each takes an entry beside
    /// the c. That is O(c²) as in [`run`](Self::run), which takes half the time or less.
    ///
    /// # Randomness
    /// With a lazy rule one uniform that decides whether to stay. Then, unless Y stays, v and u by
    /// one bounded integer each and one uniform for the acceptance.
    ///
    /// # Errors
    /// [`Error::NonFinite`] if an entry of K\[Y, u\] is NaN or infinite; Y is then as before.
    pub fn step(&mut self, rng: &mut dyn Rng) -> Result<bool> {
        self.steps += 1;
        if self.outside.len() == 0 {
            return Ok(false);
        }
        let Some(Drawn { v, number, coin }) = self.draw(rng) else { return Ok(false) };
        let ratio = self.join(v, self.outside.item(number))?;
        let accepted = coin < self.rule.acceptance(ratio);
        if accepted {
            self.exchange(self.batch.items.len() - 1, ratio);
        } else {
            self.leave();
        }
        Ok(accepted)
    }

    /// ρ = det K_{Y−v+u}/det K_YY, v the item at `position` of [`items`](Self::items) and u ∉ Y. At
    /// the cost of a step.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`], [`Error::DuplicateIndex`] if u ∈ Y, [`Error::NonFinite`].
    pub fn ratio(&mut self, position: usize, u: usize) -> Result<f64> {
        let (c, n) = (self.items.len(), self.k.dim());
        Indices::from(&[position]).check(c, "positions in the subset")?;
        Indices::from(&[u]).check(n, "items")?;
        if let Some(first) = self.items.iter().position(|&y| y == u) {
            return Err(Error::DuplicateIndex {
                what: "subset after the exchange",
                index: u,
                first,
                second: position,
            });
        }
        let ratio = self.join(position, u)?;
        self.leave();
        Ok(ratio)
    }

    /// ρ of one proposal more, which joins those that were carried out since the last factor.
    fn join(&mut self, v: usize, u: usize) -> Result<f64> {
        let j = self.batch.items.len();
        if self.base.is_empty() || !self.window.has_room(j) || !self.window.serves() {
            self.settle()?;
            self.batch.propose([].into_iter());
            self.window.begin_joining(waiting(self.items.len()));
            self.base.extend_from_slice(&self.items);
        }
        self.batch.join(self.k, &self.base, (v, u));
        self.window.join(&self.factor, &self.batch);
        self.batch.catch_up();
        let ratio = self.ratio_of(self.batch.items.len() - 1);
        if ratio.is_err() {
            self.leave();
        }
        ratio
    }

    /// The last proposal is not carried out.
    fn leave(&mut self) {
        let j = self.batch.items.len() - 1;
        self.window.leave(j, self.batch.positions[j]);
        self.batch.leave();
    }
}
