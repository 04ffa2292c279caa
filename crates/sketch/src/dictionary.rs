//! A weighted dictionary: a sampling matrix S with E\[SSᵀ\] = I.

use crate::landmarks::check_draws;
use crate::{Draw, Landmarks};
use nystrom_linalg_core::{Error, Indices, Result, Scalar, random, validate};
use rand::Rng;
use std::collections::HashMap;

/// Distinct rows i_1, …, i_m of an n × n matrix with positive weights w_1, …, w_m. They define the
/// n × m sampling matrix S with columns S e_j = √w_j e_{i_j}.
///
/// The random constructors choose the weights such that E\[SSᵀ\] = I. This means that every row has
/// expected weight 1 (weight 0 if it is not sampled), and Σw ≈ n:
///
/// | sampling | weight of a sampled row i | constructor |
/// |---|---|---|
/// | m independent draws with probabilities p | count_i / (m p_i), repetitions merged | [`with_replacement`](Self::with_replacement) |
/// | each row independently with probability p_i | 1 / p_i | [`bernoulli`](Self::bernoulli) |
/// | m distinct rows, all subsets equally likely | n / m | [`uniform`](Self::uniform) |
///
/// Sampling without replacement in proportion to unequal weights is not offered, because its
/// inclusion probabilities have no closed form. An empty dictionary is valid, as the start of a
/// recursion; methods that need at least one row return [`Error::Empty`].
///
/// ```
/// use nystrom_sketch::Dictionary;
/// // Three independent draws 4, 0, 4 with p = (1/2, 0, 0, 0, 1/2):
/// let d = Dictionary::from_draws(&[4, 0, 4], &[1.0_f64, 0.0, 0.0, 0.0, 1.0])?;
/// assert_eq!(d.indices(), [4, 0]);
/// assert!(
///     (d.weights()[0] - 4.0 / 3.0).abs() < 1e-15 && (d.weights()[1] - 2.0 / 3.0).abs() < 1e-15
/// );
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "Stored<T>",
        bound(
            serialize = "T: serde::Serialize",
            deserialize = "T: Scalar + serde::Deserialize<'de>"
        )
    )
)]
#[must_use]
pub struct Dictionary<T> {
    n: usize,
    indices: Vec<usize>,
    weights: Vec<T>,
}

impl<T: Scalar> Dictionary<T> {
    /// The given rows with the given weights, among `n` rows.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0, [`Error::Shape`] if the two lists differ in length,
    /// [`Error::IndexOutOfRange`], [`Error::DuplicateIndex`], [`Error::InvalidParameter`] for a
    /// weight that is not positive and finite.
    pub fn new(n: usize, indices: Vec<usize>, weights: Vec<T>) -> Result<Self, Error> {
        validate::not_empty("rows of the dictionary's matrix (n)", n)?;
        validate::same_size(
            "weights against indices of a dictionary",
            indices.len(),
            weights.len(),
        )?;
        Indices::from(&indices).check_distinct(n, "dictionary")?;
        for w in &weights {
            validate::positive("dictionary weight", w.f64())?;
        }
        Ok(Dictionary { n, indices, weights })
    }

    /// The dictionary without rows.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0.
    pub fn empty(n: usize) -> Result<Self> {
        Dictionary::new(n, vec![], vec![])
    }

    /// Every row with weight 1, S = I.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0.
    pub fn full(n: usize) -> Result<Self> {
        Dictionary::new(n, (0..n).collect(), vec![T::one(); n])
    }

    /// The dictionary of m given independent draws (repetitions allowed) that were made with the
    /// probabilities p_i = probabilities\[i\] / Σ_j probabilities\[j\]. The weights are
    /// w_i = count_i / (m p_i); rows are in the order of first occurrence.
    ///
    /// # Errors
    /// [`Error::InvalidWeight`], [`Error::IndexOutOfRange`], and [`Error::InvalidParameter`] for a
    /// draw of probability 0.
    pub fn from_draws(draws: &[usize], probabilities: &[T]) -> Result<Self> {
        let (n, m) = (probabilities.len(), draws.len() as f64);
        let total = validate::weights("sampling probabilities", probabilities)?;
        Indices::from(draws).check(n, "draws")?;
        let (mut indices, mut counts, mut slot_of) =
            (Vec::new(), Vec::new(), HashMap::with_capacity(draws.len()));
        for &i in draws {
            let slot = *slot_of.entry(i).or_insert(indices.len());
            if slot == indices.len() {
                indices.push(i);
                counts.push(0.0_f64);
            }
            counts[slot] += 1.0;
        }
        let weight =
            |(&i, count): (&usize, f64)| T::lit(count * total / (m * probabilities[i].f64()));
        let weights = indices.iter().zip(counts).map(weight).collect();
        Dictionary::new(n, indices, weights)
    }

    /// The dictionary of the rows `indices`, where row `indices[j]` was included with probability
    /// p_j = `probabilities[j]` in (0, 1]. The weights are w_j = 1 / p_j.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a probability outside (0, 1]; otherwise as
    /// [`new`](Self::new).
    pub fn from_inclusion(n: usize, indices: Vec<usize>, probabilities: &[T]) -> Result<Self> {
        for p in probabilities {
            check_probability(p.f64(), *p > T::zero())?;
        }
        Dictionary::new(n, indices, probabilities.iter().map(|p| T::one() / *p).collect())
    }

    /// `m` independent draws with probability proportional to `probabilities` (one per row, not
    /// necessarily normalised), the sampling in the theorems of Alaoui & Mahoney (2015).
    ///
    /// E\[SSᵀ\] = I on the rows of positive probability. O(n + m log n).
    ///
    /// # Errors
    /// [`Error::InvalidWeight`], [`Error::Empty`] if m = 0 or there are no probabilities,
    /// [`Error::TooMany`] if m > 2²⁸.
    ///
    /// ```
    /// use nystrom_sketch::Dictionary;
    /// use rand::SeedableRng;
    /// let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
    /// let d = Dictionary::with_replacement(&[1.0_f64; 200], 50, &mut rng)?;
    /// // the total weight is exactly n for uniform draws
    /// assert!(d.len() <= 50 && (d.total_weight() - 200.0).abs() < 1e-9);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Randomness
    /// m uniforms.
    pub fn with_replacement(probabilities: &[T], m: usize, rng: &mut dyn Rng) -> Result<Self> {
        check_draws(m)?;
        Dictionary::from_draws(&random::with_replacement(probabilities, m, rng)?, probabilities)
    }

    /// Includes every row i independently with probability `probabilities[i]` in \[0, 1\]. The
    /// result may be empty.
    ///
    /// # Randomness
    /// One uniform per row.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a probability outside \[0, 1\], [`Error::Empty`] without
    /// probabilities.
    pub fn bernoulli(probabilities: &[T], rng: &mut dyn Rng) -> Result<Self> {
        for p in probabilities {
            check_probability(p.f64(), *p >= T::zero())?;
        }
        let indices: Vec<usize> = (0..probabilities.len())
            .filter(|&i| random::coin(probabilities[i].f64(), rng))
            .collect();
        let included: Vec<T> = indices.iter().map(|&i| probabilities[i]).collect();
        Dictionary::from_inclusion(probabilities.len(), indices, &included)
    }

    /// `m` draws with all `n` rows equally likely; each draw contributes the weight n/m to its row.
    ///
    /// # Randomness
    /// With replacement m uniforms; without, m bounded integers.
    ///
    /// # Errors
    /// [`Error::Empty`] if m = 0 or n = 0. [`Error::TooMany`] if m > n without replacement, or
    /// m > 2²⁸ with replacement.
    pub fn uniform(n: usize, m: usize, draw: Draw, rng: &mut dyn Rng) -> Result<Self> {
        match draw {
            Draw::WithReplacement => Dictionary::with_replacement(&vec![T::one(); n], m, rng),
            Draw::WithoutReplacement => {
                let landmarks = Landmarks::uniform(n, m, draw, rng)?;
                Dictionary::new(n, landmarks.into_indices(), vec![T::lit(n as f64 / m as f64); m])
            }
        }
    }

    /// n, the order of the matrix to which the rows belong.
    pub fn n(&self) -> usize {
        self.n
    }

    /// m, the number of distinct rows.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether the dictionary has no rows.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The rows i_1, …, i_m.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The weights w_1, …, w_m, which are the diagonal of SᵀS, and of SSᵀ at the rows i_1, …, i_m.
    pub fn weights(&self) -> &[T] {
        &self.weights
    }

    /// Σw, whose expectation is n for the random constructors.
    pub fn total_weight(&self) -> f64 {
        self.weights.iter().map(|w| w.f64()).sum()
    }

    /// The rows without their weights.
    ///
    /// # Errors
    /// [`Error::Empty`] for an empty dictionary.
    pub fn landmarks(&self) -> Result<Landmarks> {
        Landmarks::new(self.n, self.indices.clone())
    }

    /// Checks that the dictionary belongs to a matrix of order `n`.
    ///
    /// # Errors
    /// [`Error::Shape`] if it belongs to a matrix of another order.
    pub fn check(&self, n: usize) -> Result<()> {
        validate::same_size("order of the matrix against the n of the dictionary", self.n, n)
    }
}

fn check_probability(value: f64, above_lower_end: bool) -> Result<()> {
    let requirement = "at least 0 and at most 1, and positive for a row that was included; cap it \
                       at 1 before sampling";
    validate::require(above_lower_end && value <= 1.0, "inclusion probability", value, requirement)
}

#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Stored<T> {
    n: usize,
    indices: Vec<usize>,
    weights: Vec<T>,
}

#[cfg(feature = "serde")]
impl<T: Scalar> TryFrom<Stored<T>> for Dictionary<T> {
    type Error = Error;
    fn try_from(stored: Stored<T>) -> Result<Self> {
        Dictionary::new(stored.n, stored.indices, stored.weights)
    }
}
