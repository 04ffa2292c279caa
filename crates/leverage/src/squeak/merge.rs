//! DICT-MERGE: merges the dictionaries of two disjoint sets of points.

use super::measure::Measure;
use super::shrink::shrink;
use super::{Squeak, SqueakParams, StreamDictionary, incompatible};
use nystrom_kernels::{Kernel, kernel_probe};
use nystrom_linalg_core::{Error, Result, Scalar};
use rand::Rng;
use std::collections::HashSet;

impl<T: Scalar, K: Kernel<T>> Squeak<K, T> {
    /// DICT-MERGE: adds the points of another stream to this one, given only the other dictionary.
    ///
    /// If both dictionaries are (ε, γ)-accurate, the scores that shrink their union satisfy τ/α ≤
    /// τ̃ ≤ τ, α = (1 + 3ε)/(1 − ε) ([`ScoreRule::Provable`](super::ScoreRule)). Later points are
    /// numbered after the last position of both streams. Cap, chunk and floor of this stream are
    /// kept. `a.merge(b)` and `b.merge(a)` give different bits with the same distribution.
    ///
    /// # Cost
    /// (m_A + m_B)² + 16(m_A + m_B) kernel values, 2(m_A + m_B)³/3 flops.
    ///
    /// # Source
    /// As [`Squeak`]. [`ScoreRule`](super::ScoreRule) chooses between two sets of constants.
    ///
    /// # Randomness
    /// One Binomial(q_i, p̃_new/p̃_old) for each member whose p̃ fell, members of this stream
    /// first.
    ///
    /// # Errors
    /// After an error this state is unchanged. [`Error::Incompatible`] if the other state has
    /// another dimension, γ, ε, q̄, score rule or kernel (kernels are compared by their values near
    /// the kept points). [`Error::SamePosition`] if a position is in both dictionaries: number the
    /// points of shards with [`starting_at`](Self::starting_at). [`Error::DictionaryFull`] if the
    /// result exceeds the cap; those of the factorisation.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, Points};
    /// use nystrom_leverage::{Squeak, SqueakParams};
    /// use rand::SeedableRng;
    /// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
    /// let x: Vec<f64> = (0..2000).map(|i| (i as f64 * 0.618).fract()).collect();
    /// let empty = Squeak::new(Gaussian::new(0.2)?, 1, 1.0, SqueakParams::new(10))?;
    /// let (mut here, mut there) = (empty.clone(), empty.starting_at(1000));
    /// here.push(Points::from_slice(&x[..1000]), &mut rng)?;
    /// there.push(Points::from_slice(&x[1000..]), &mut rng)?;
    /// here.merge(&there, &mut rng)?;
    /// assert!(here.n_seen() == 2000 && here.dictionary().len() < 200);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self, rng: &mut dyn Rng) -> Result<()> {
        self.check_parameters(other)?;
        let union = concatenate(&self.dictionary, &other.dictionary)?;
        self.check_kernel(other, &union)?;
        self.take_union(union, other, rng)
    }

    /// As [`merge`](Self::merge), without the check that both states have the same parameters and
    /// kernel.
    pub(super) fn absorb(&mut self, other: &Self, rng: &mut dyn Rng) -> Result<()> {
        let union = concatenate(&self.dictionary, &other.dictionary)?;
        self.take_union(union, other, rng)
    }

    fn take_union(
        &mut self,
        mut I: StreamDictionary<T>, // I_A ∪ I_B
        other: &Self,
        rng: &mut dyn Rng,
    ) -> Result<()> {
        if !I.is_empty() {
            let (factor, mu) = self.params.merging(self.gamma.f64());
            // τ̃
            let tau: Vec<f64> =
                Measure::new(&self.kernel, &I, mu)?.members().iter().map(|r| factor * r).collect();
            // p̃ ← min(τ̃, p̃), Q ~ B(Q, p̃/p̃_old)
            shrink(&mut I, &tau, 0.0, 0, rng);
        }
        self.params.check_cap(I.len(), I.seen)?;
        (self.dictionary, self.pending) = (I, 0);
        (self.first, self.next) = (self.first.min(other.first), self.next.max(other.next));
        Ok(())
    }

    /// The parameters that two states must share, with their names for messages.
    fn shared_parameters(&self) -> [(&'static str, String); 5] {
        let SqueakParams { copies, epsilon, scores, .. } = self.params;
        [
            ("dimension", self.dictionary.dim.to_string()),
            ("gamma", self.gamma.f64().to_string()),
            ("epsilon", epsilon.to_string()),
            ("copies per point (q)", copies.to_string()),
            ("score rule", format!("{scores:?}")),
        ]
    }

    fn check_parameters(&self, other: &Self) -> Result<()> {
        for ((what, ours), (_, theirs)) in
            self.shared_parameters().into_iter().zip(other.shared_parameters())
        {
            if ours != theirs {
                return Err(incompatible(format!(
                    "its {what} is {theirs}, that of the other stream is {ours}; create both \
                     streams with the same {what}"
                )));
            }
        }
        Ok(())
    }

    fn check_kernel(&self, other: &Self, I: &StreamDictionary<T>) -> Result<()> {
        let bits = |kernel: &K| -> Vec<u64> {
            let values = kernel_probe(kernel, I.points());
            values.col_iter().flat_map(|col| col.iter()).map(|k| k.f64().to_bits()).collect()
        };
        if I.is_empty() || bits(&self.kernel) == bits(&other.kernel) {
            return Ok(());
        }
        let problem = "its kernel has other values than that of the other stream; create both \
                       streams with the same kernel";
        Err(incompatible(problem.into()))
    }
}

/// I_A ∪ I_B, the members of `a` first.
pub(super) fn concatenate<T: Scalar>(
    a: &StreamDictionary<T>,
    b: &StreamDictionary<T>,
) -> Result<StreamDictionary<T>> {
    let in_a: HashSet<u64> = a.positions.iter().copied().collect();
    if let Some(&position) = b.positions.iter().find(|position| in_a.contains(position)) {
        return Err(Error::SamePosition { position });
    }
    let mut both = a.clone();
    both.seen = both.seen.saturating_add(b.seen);
    both.coordinates.extend_from_slice(&b.coordinates);
    both.positions.extend_from_slice(&b.positions);
    both.p.extend_from_slice(&b.p);
    both.q.extend_from_slice(&b.q);
    Ok(both)
}
