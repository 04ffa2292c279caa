//! SQUEAK, DISQUEAK and INK-Estimate: ridge leverage scores of a stream (Calandriello, Lazaric &
//! Valko).

mod dictionary;
mod estimator;
mod expand;
mod ink;
mod measure;
mod merge;
mod params;
mod points;
#[cfg(feature = "serde")]
mod saved;
#[cfg(feature = "serde")]
mod saved_tree;
mod shrink;
#[cfg(test)]
mod tests;
mod tree;

pub use dictionary::StreamDictionary;
pub use estimator::Disqueak;
pub use ink::Ink;
pub use params::{ScoreRule, SqueakParams};
pub use points::PointProjector;
#[cfg(feature = "serde")]
pub use saved::{FORMAT as SQUEAK_FORMAT, SavedSqueak, SqueakState};
#[cfg(feature = "serde")]
pub use saved_tree::MergeTreeState;
pub use tree::{MergeTree, TreeShape, even_chunks};

use expand::expand;
use measure::Measure;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, validate};
use rand::Rng;
use shrink::shrink;

/// SQUEAK: a dictionary of points of a stream, which represents all points of the stream at the
/// ridge γ. It takes one pass over the stream and memory that depends only on the size of the
/// dictionary.
///
/// γ is absolute (the number added to the diagonal of K). After any push,
/// [`dictionary`](Self::dictionary) returns the kept points and their weights, and
/// [`member_scores`](Self::member_scores) and [`scores`](Self::scores) return lower estimates τ̃ of
/// the ridge leverage scores τ: if the dictionary is ε-accurate, τ/α ≤ τ̃ ≤ τ with α = (1 + ε)/(1 −
/// ε).
///
/// New points are collected, and the dictionary is shrunk when a chunk of them is complete. Until
/// then they are members with weight 1, which loses nothing. The result therefore does not depend,
/// in any bit, on how the stream is cut into blocks. It does depend on the order of the points:
/// shuffle sorted data.
///
/// The state can be saved and resumed, and [merged](Self::merge) with the states of other points.
///
/// # Cost
/// With m points kept and chunks of b points, every chunk takes (m + b)² kernel values and 2(m +
/// b)³/3 + 64(m + b)² flops. Per point, that is 4.5m kernel values and 4.5m² + 288m flops with the
/// automatic b = m/2, and about m² kernel values and 2m³/3 flops with b = 1, the published
/// algorithm. Memory: 2(m + b)² numbers while a chunk is shrunk, (m + b)·d otherwise. Blocks may
/// have any size: they are processed chunk by chunk.
///
/// # Source
/// Calandriello, Lazaric & Valko, *Distributed adaptive sampling for kernel matrix approximation*,
/// AISTATS 2017 (arXiv:1803.10172).
///
/// # Departures
/// Points are added in chunks (the bounds of τ̃ above hold for any number of points added at once),
/// and the dictionary has a cap. Scores are clamped to an interval that contains them, so that
/// rounding never makes a score 0. The halving floor of the 2016 poster is off by default;
/// [`SqueakParams::halving_floor`] gives the reasons.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::{Squeak, SqueakParams};
/// use rand::SeedableRng;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let mut squeak = Squeak::new(Gaussian::new(0.5)?, 2, 1.0, SqueakParams::new(10))?;
/// for block in 0..20 {
///     // n × d
///     let x = Mat::from_fn(100, 2, |i, k| ((block * 100 + i) as f64 * [0.618, 0.414][k]).fract());
///     squeak.push(Points::from_rows(x.as_ref()), &mut rng)?;
/// }
/// squeak.settle(&mut rng)?;
/// let dictionary = squeak.dictionary();
/// assert!(squeak.n_seen() == 2000 && dictionary.len() < 200);
/// assert!((dictionary.total_weight() / 2000.0 - 1.0).abs() < 0.5); // Σ s² estimates n
/// let (landmarks, weights) = (dictionary.points(), dictionary.weights());
/// assert_eq!(landmarks.len(), weights.len());
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Squeak<K, T> {
    kernel: K,
    gamma: T,
    params: SqueakParams,
    first: u64,
    next: u64,      // the position of the next point
    pending: usize, // the last members, not yet shrunk
    dictionary: StreamDictionary<T>,
}

impl<T: Scalar, K: Kernel<T>> Squeak<K, T> {
    /// An empty stream of points in ℝ^dim, at the absolute ridge γ = `gamma`. For a stream that
    /// will have n points, γ = nλ ([`Ridge::absolute`]). A ridge per sample ([`Ridge::PerSample`])
    /// is not accepted because the length of a stream is not known in advance.
    ///
    /// # Errors
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) if γ is not positive and
    /// finite or ε is outside (0, 1) (below 1/2 for [`ScoreRule::ReferenceCode`]).
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if dim, q̄, the cap or the chunk is 0. Those of
    /// the kernel for `dim`.
    pub fn new(kernel: K, dim: usize, gamma: T, params: SqueakParams) -> Result<Self> {
        params.check()?;
        validate::not_empty("coordinates of a point (d)", dim)?;
        kernel.check_dim(dim)?;
        let gamma = Ridge::Absolute(gamma).absolute(1)?;
        Ok(Squeak {
            kernel,
            gamma,
            params,
            first: 0,
            next: 0,
            pending: 0,
            dictionary: StreamDictionary::empty(dim, params.copies),
        })
    }

    /// Numbers the points of the stream from `first`, so that the dictionaries of several shards
    /// can be merged.
    pub fn starting_at(mut self, first: u64) -> Self {
        let shift = first.wrapping_sub(self.first);
        self.dictionary
            .positions
            .iter_mut()
            .for_each(|position| *position = position.wrapping_add(shift));
        (self.first, self.next) = (first, self.next.wrapping_add(shift));
        self
    }

    /// Adds a block of any number of points, also none.
    ///
    /// # Randomness
    /// Each shrinking draws one Binomial(q_i, p̃_new/p̃_old) per member whose p̃ fell, in the
    /// dictionary's order.
    ///
    /// # Errors
    /// Before any point is added: [`Shape`](nystrom_linalg_core::Error::Shape) for another
    /// dimension, [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for positions
    /// beyond 2⁶⁴ − 1, [`NonFinite`](nystrom_linalg_core::Error::NonFinite) for NaN or ∞ in a point
    /// or in k(x, x), and those of the kernel. Later,
    /// [`DictionaryFull`](nystrom_linalg_core::Error::DictionaryFull) if the dictionary is above
    /// its cap and points of the block remain, and those of the factorisation. The points before an
    /// error stay added ([`n_seen`](Self::n_seen) counts them); after
    /// [`set_max_dictionary`](Self::set_max_dictionary) the remaining points can be pushed.
    pub fn push(&mut self, block: Points<'_, T>, rng: &mut dyn Rng) -> Result<()> {
        validate::same_size("coordinates of a point (d)", self.dictionary.dim, block.dim())?;
        if block.is_empty() {
            return Ok(());
        }
        validate::require(
            self.next.checked_add(block.len() as u64).is_some(),
            "starting_at",
            self.next as f64,
            "such that the positions of the stream's points stay below 2^64",
        )?;
        block.check_dense()?;
        self.kernel.check_points(block)?;
        measure::diagonal(&self.kernel, block)?;
        let mut taken = 0;
        while taken < block.len() {
            let settled = self.dictionary.len() - self.pending;
            self.params.check_cap(settled, self.n_seen())?;
            let chunk = self.params.chunk_for(settled);
            if self.pending >= chunk {
                self.settle(rng)?; // an earlier chunk is complete, but its shrinking failed
                continue;
            }
            let piece = taken..block.len().min(taken + chunk - self.pending);
            expand(&mut self.dictionary, block.slice(piece.clone()), self.next); // EXPAND
            self.next += piece.len() as u64;
            (self.pending, taken) = (self.pending + piece.len(), piece.end);
            if self.pending == chunk {
                self.settle(rng)?;
            }
        }
        Ok(())
    }

    /// Shrinks the dictionary now, before the chunk is complete. Does nothing if no point was added
    /// since the last shrinking.
    ///
    /// # Randomness
    /// Each shrinking draws one Binomial(q_i, p̃_new/p̃_old) per member whose p̃ fell, in the
    /// dictionary's order.
    ///
    /// # Errors
    /// Those of the factorisation, which fails only if the kernel is not positive semidefinite; the
    /// state is then unchanged.
    pub fn settle(&mut self, rng: &mut dyn Rng) -> Result<()> {
        if self.pending > 0 {
            // τ̃_t,i for i ∈ I
            let tau = self.member_scores()?;
            let floor = self.params.floor(self.pending);
            shrink(&mut self.dictionary, &tau, floor, self.pending, rng); //             SHRINK
            self.pending = 0;
        }
        Ok(())
    }

    /// τ̃_i of the members of [`dictionary`](Self::dictionary), in the dictionary's order:
    /// estimates of their scores among all points seen. m² kernel values, 2m³/3 flops.
    ///
    /// # Errors
    /// Those of the factorisation.
    pub fn member_scores(&self) -> Result<Vec<f64>> {
        let (factor, gamma) = self.params.adding(self.gamma.f64());
        Ok(Measure::new(&self.kernel, &self.dictionary, gamma)?
            .members()
            .iter()
            .map(|r| factor * r)
            .collect())
    }

    /// τ̃ of points that were pushed before, whether kept or not. m² kernel values and m³/3 flops
    /// per call, m kernel values and m² flops per point.
    ///
    /// # Errors
    /// Those of the checks of [`push`](Self::push), and of the factorisation.
    pub fn scores(&self, x: Points<'_, T>) -> Result<Vec<f64>> {
        validate::same_size("coordinates of a point (d)", self.dictionary.dim, x.dim())?;
        x.check_dense()?;
        self.kernel.check_points(x)?;
        let (factor, gamma) = self.params.adding(self.gamma.f64());
        let scores = Measure::new(&self.kernel, &self.dictionary, gamma)?.points(
            &self.kernel,
            self.dictionary.points(),
            (x, 0.0),
        )?;
        Ok(scores.iter().map(|r| factor * r).collect())
    }

    /// τ̃ that each point would have as the next point of the stream. With r = φᵀ(M + γI)⁻¹φ as in
    /// [`scores`](Self::scores), adding φφᵀ to M gives r/(1 + r).
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    pub fn scores_of_new(&self, x: Points<'_, T>) -> Result<Vec<f64>> {
        let factor = self.params.adding(self.gamma.f64()).0;
        // r/(1 + r), r = τ̃/factor, for any r
        let added = |tau: f64| if tau > 0.0 { factor / (1.0 + factor / tau) } else { 0.0 };
        Ok(self.scores(x)?.into_iter().map(added).collect())
    }

    /// The current dictionary, valid after every push: first the members already shrunk, then those
    /// of the incomplete chunk, with p̃ = 1.
    pub fn dictionary(&self) -> &StreamDictionary<T> {
        &self.dictionary
    }

    /// [`settle`](Self::settle), then the dictionary.
    ///
    /// # Randomness
    /// As [`settle`](Self::settle).
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub fn into_dictionary(mut self, rng: &mut dyn Rng) -> Result<StreamDictionary<T>> {
        self.settle(rng)?;
        Ok(self.dictionary)
    }

    /// The number of points taken so far.
    pub fn n_seen(&self) -> u64 {
        self.dictionary.seen
    }

    /// The number of points of the incomplete chunk, which are the last of the dictionary.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// γ, the absolute ridge.
    pub fn gamma(&self) -> T {
        self.gamma
    }

    /// The parameters.
    pub fn params(&self) -> &SqueakParams {
        &self.params
    }

    /// Sets the cap on the dictionary, for example after
    /// [`DictionaryFull`](nystrom_linalg_core::Error::DictionaryFull).
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if it is 0.
    pub fn set_max_dictionary(&mut self, cap: usize) -> Result<()> {
        validate::not_empty("max_dictionary", cap)?;
        self.params.max_dictionary = cap;
        Ok(())
    }
}

fn incompatible(problem: String) -> Error {
    Error::Incompatible { what: "SQUEAK stream", problem }
}
