//! Single steps, and ratios: a proposal is added to the pending exchanges since the last
//! factorisation.

use super::joining::most_pending;
use super::{Drawn, SwapChain};
use nystrom_linalg_core::{Error, Indices, Result, Scalar};
use rand::Rng;

impl<T: Scalar> SwapChain<'_, T> {
    /// One step of Algorithm 1; true if Y changed. If c = n no exchange is possible.
    ///
    /// About c/8 exchanges, at most 32, may be pending before the factor is recomputed; a proposal
    /// evaluates one entry for each of them besides c + 1 others. A step takes O(c²) flops, as in
    /// [`run`](Self::run), but at least twice the time.
    ///
    /// # Randomness
    /// With a lazy rule, one uniform decides whether to stay. Otherwise v and u take one bounded
    /// integer each, and the acceptance one uniform.
    ///
    /// # Errors
    /// [`Error::NonFinite`] if an entry of K\[Y, u\] is NaN or infinite; Y is then unchanged.
    pub fn step(&mut self, rng: &mut dyn Rng) -> Result<bool> {
        self.steps += 1;
        if self.candidates.len() == 0 {
            return Ok(false);
        }
        let Some(Drawn { v, number, coin }) = self.draw(rng) else { return Ok(false) };
        let ratio = self.join(v, self.candidates.item(number))?;
        let accepted = coin < self.rule.acceptance(ratio);
        if accepted {
            self.exchange(self.batch.items.len() - 1, ratio);
        } else {
            self.leave();
        }
        Ok(accepted)
    }

    /// ρ = det K_{Y−v+u}/det K_YY, where v is the item at `position` of [`items`](Self::items) and
    /// u ∉ Y. It costs as much as a step.
    ///
    /// Y does not change. But if exchanges are pending, the call may recompute the factor of K_YY
    /// earlier than [`step`](Self::step) would: the last bits of later ratios and of
    /// [`log_det`](Self::log_det) then differ from those without the call.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] for `position` or u, [`Error::DuplicateIndex`] if u ∈ Y,
    /// [`Error::NonFinite`].
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

    /// Adds a proposal to the pending exchanges and returns its ρ.
    fn join(&mut self, v: usize, u: usize) -> Result<f64> {
        let j = self.batch.items.len();
        if self.base.is_empty() || !self.window.has_room(j) || !self.window.is_accurate() {
            self.settle()?;
            self.batch.propose([].into_iter());
            self.window.begin_joining(most_pending(self.items.len()));
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

    /// Withdraws the last proposal.
    fn leave(&mut self) {
        let j = self.batch.items.len() - 1;
        self.window.leave(j, self.batch.positions[j]);
        self.batch.leave();
    }
}
