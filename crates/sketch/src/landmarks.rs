//! A set of landmarks: distinct rows of an n × n matrix, in a given order.

use nystrom_linalg_core::{Error, Indices, PivotedCholesky, Result, Scalar, random, validate};
use rand::{Rng, RngExt};
use std::collections::HashSet;

/// Most independent draws: they are listed before they are merged, at eight bytes each, 2 GiB in
/// all.
const MOST_DRAWS: usize = 1 << 28;

/// Whether a row may be drawn more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Draw {
    /// m independent draws, as the theorems assume. Repeated rows are merged, so that at most m
    /// landmarks remain.
    WithReplacement,
    /// Exactly m distinct landmarks; in practice never worse than with replacement.
    #[default]
    WithoutReplacement,
}

impl Draw {
    /// Checks that `m` of `n` rows can be drawn.
    ///
    /// # Errors
    /// [`Error::Empty`] if m = 0. [`Error::TooMany`] if m > n without replacement, or m > 2²⁸ with
    /// replacement.
    pub fn check(self, m: usize, n: usize) -> Result<()> {
        validate::not_empty("landmarks (m)", m)?;
        match self {
            Draw::WithReplacement => check_draws(m),
            Draw::WithoutReplacement => validate::at_most("landmarks", m, n),
        }
    }
}

/// The rows J chosen as landmarks: an ordered list of at least one index, all distinct and below n.
///
/// A Nyström approximation C W⁺ Cᵀ depends only on the span of the columns C. Repeated draws are
/// therefore merged here; otherwise they would make W exactly singular.
///
/// ```
/// use nystrom_linalg_core::Error;
/// use nystrom_sketch::Landmarks;
/// let landmarks = Landmarks::new(10, vec![7, 2, 4])?;
/// assert_eq!((landmarks.n(), landmarks.len(), landmarks.indices()), (10, 3, &[7, 2, 4][..]));
/// assert!(matches!(
///     Landmarks::new(10, vec![7, 2, 7]),
///     Err(Error::DuplicateIndex { index: 7, first: 0, second: 2, .. })
/// ));
/// assert_eq!(Landmarks::from_draws(10, &[7, 2, 7])?.indices(), [7, 2]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Stored"))]
#[must_use]
pub struct Landmarks {
    n: usize,
    indices: Vec<usize>,
}

impl Landmarks {
    /// The given indices in the given order, among `n` rows.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are none, [`Error::IndexOutOfRange`], [`Error::DuplicateIndex`]
    /// with both positions.
    pub fn new(n: usize, indices: Vec<usize>) -> Result<Self, Error> {
        validate::not_empty("landmarks", indices.len())?;
        Indices::from(&indices).check_distinct(n, "landmarks")?;
        Ok(Landmarks { n, indices })
    }

    /// The distinct indices among `draws`, in the order of their first occurrence.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are none, [`Error::IndexOutOfRange`].
    pub fn from_draws(n: usize, draws: &[usize]) -> Result<Self> {
        validate::not_empty("landmarks", draws.len())?;
        Indices::from(draws).check(n, "landmarks")?;
        let mut seen = HashSet::with_capacity(draws.len());
        Ok(Landmarks { n, indices: draws.iter().copied().filter(|&i| seen.insert(i)).collect() })
    }

    /// The pivots of a factorisation, in the order taken.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are none.
    pub fn from_pivots<T: Scalar>(factorisation: &PivotedCholesky<T>) -> Result<Self> {
        Landmarks::new(factorisation.residual().len(), factorisation.pivots().to_vec())
    }

    /// All rows 0, 1, …, n − 1, for which the approximation is exact.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0.
    pub fn all(n: usize) -> Result<Self> {
        Landmarks::new(n, (0..n).collect())
    }

    /// `m` draws with all `n` rows equally likely. O(m) without replacement, for any n.
    ///
    /// # Randomness
    /// m bounded integers.
    ///
    /// # Errors
    /// [`Error::Empty`] if m = 0 or n = 0. [`Error::TooMany`] if m > n without replacement, or
    /// m > 2²⁸ with replacement.
    pub fn uniform(n: usize, m: usize, draw: Draw, rng: &mut dyn Rng) -> Result<Self> {
        validate::not_empty("matrix", n)?;
        draw.check(m, n)?;
        match draw {
            Draw::WithoutReplacement => Landmarks::new(n, random::uniform_subset(n, m, rng)?),
            Draw::WithReplacement => {
                let draws: Vec<usize> = (0..m).map(|_| rng.random_range(0..n)).collect();
                Landmarks::from_draws(n, &draws)
            }
        }
    }

    /// `m` draws with probability proportional to `weights` (one per row).
    ///
    /// With replacement the draws are independent, and the result has at most `m` distinct
    /// landmarks. Without replacement the result has exactly `m` landmarks; each is drawn from the
    /// remaining rows in proportion to their weights.
    ///
    /// # Randomness
    /// With replacement m uniforms; without, one uniform per positive weight.
    ///
    /// # Errors
    /// [`Error::Empty`] if m = 0, [`Error::InvalidWeight`]. [`Error::TooMany`] if m exceeds the
    /// number of positive weights without replacement, or 2²⁸ with replacement.
    pub fn draw<T: Scalar>(weights: &[T], m: usize, draw: Draw, rng: &mut dyn Rng) -> Result<Self> {
        let n = weights.len();
        validate::weights("sampling weights", weights)?;
        draw.check(m, n)?;
        match draw {
            Draw::WithoutReplacement => {
                Landmarks::new(n, random::without_replacement(weights, m, rng)?)
            }
            Draw::WithReplacement => {
                Landmarks::from_draws(n, &random::with_replacement(weights, m, rng)?)
            }
        }
    }

    /// n, the order of the matrix to which the landmarks belong.
    pub fn n(&self) -> usize {
        self.n
    }

    /// m, the number of landmarks, at least 1.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// The indices, in order.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The indices in order, by value.
    pub fn into_indices(self) -> Vec<usize> {
        self.indices
    }

    /// Checks that the landmarks belong to a matrix of order `n`.
    ///
    /// # Errors
    /// [`Error::Shape`] if they belong to a matrix of another order.
    pub fn check(&self, n: usize) -> Result<()> {
        validate::same_size("order of the matrix against the n of the landmarks", self.n, n)
    }
}

/// Checks that m independent draws fit into memory, m ≤ 2²⁸.
pub(crate) fn check_draws(m: usize) -> Result<()> {
    validate::at_most("draws with replacement", m, MOST_DRAWS)
}

#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Stored {
    n: usize,
    indices: Vec<usize>,
}

#[cfg(feature = "serde")]
impl TryFrom<Stored> for Landmarks {
    type Error = Error;
    fn try_from(stored: Stored) -> Result<Self> {
        Landmarks::new(stored.n, stored.indices)
    }
}
