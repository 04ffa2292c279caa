//! Swap chains within quotas: an exchange brings in an item of the group of the item that leaves.

use super::candidates::Candidates;
use super::{SwapChain, SwapRule};
use crate::start::independent;
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar};
use nystrom_sketch::{GreedyByGroup, Quotas};

impl<'a, T: Scalar> SwapChain<'a, T> {
    /// The chain on the sets with k_g items of each group g, with the stationary distribution Pr(Y)
    /// ∝ det K_YY over these sets: the k-DPP conditioned on the [`Quotas`]. It starts from the
    /// greedy choice [`GreedyByGroup`].
    ///
    /// A step draws v ∈ Y uniformly, then u uniformly among the items outside Y of v's group; if
    /// there are none, it stays. The n_g items and the quota k_g of a group are fixed, so that the
    /// proposal, with probability 1/(c(n_g − k_g)), is as probable as its reverse, and every
    /// [`SwapRule`] keeps the distribution.
    ///
    /// *Draws are approximate*, as those of every chain, and no theorem here bounds the number of
    /// steps; `coupled_meetings` and `stationary_meetings` are for chains without quotas. If K is
    /// positive definite, every set with the right counts is reached. If it is singular, exchanges
    /// within groups may not lead from every set of positive volume to every other; then the
    /// distribution is that of the sets that are reached from the start. There is no exact sampler
    /// for quotas here.
    ///
    /// # Cost
    /// That of `GreedyByGroup` (c·n entries) to start; steps as without quotas. 3n numbers of
    /// memory besides O(c²).
    ///
    /// # Errors
    /// Those of [`GreedyByGroup::factor`], [`Error::RankDeficient`] if the set that it chooses is
    /// singular up to rounding.
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_dpp::{SwapChain, SwapRule};
    /// use nystrom_linalg_core::Dense;
    /// use nystrom_sketch::Quotas;
    /// use rand::SeedableRng;
    /// let k = Mat::from_fn(200, 200, |i, j| (-((i as f64 - j as f64) / 8.0).powi(2)).exp());
    /// let k = Dense::new(k.as_ref())?;
    /// // 9 even items and 1 odd item
    /// let quotas = Quotas::new((0..200).map(|i| i % 2).collect(), vec![9, 1])?;
    /// let mut chain = SwapChain::with_quotas(&k, &quotas, SwapRule::Metropolis)?;
    /// chain.run(3000, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
    /// assert_eq!(chain.items().iter().filter(|&&i| i % 2 == 1).count(), 1);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn with_quotas(k: &'a dyn PsdMatrix<T>, quotas: &Quotas, rule: SwapRule) -> Result<Self> {
        let f = GreedyByGroup { quotas: quotas.clone() }.factor(k)?;
        let (chosen, requested) = (f.pivots(), quotas.size());
        let items = independent(k, chosen, requested)?;
        let kept = items.iter().filter(|i| chosen.contains(i)).count();
        if kept < requested {
            return Err(Error::RankDeficient { requested, rank: kept });
        }
        let candidates = Candidates::by_group(quotas, &items);
        Self::at(k, items, candidates, rule)
    }
}
