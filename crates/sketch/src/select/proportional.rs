//! Sampling of landmarks in proportion to given scores.

use crate::{Draw, LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, validate};
use rand::Rng;

/// Landmarks drawn in proportion to given non-negative scores, one per row, such as leverage
/// scores.
///
/// # Cost
/// No entry of the matrix; O(n) time and memory.
///
/// # Source
/// The caller gives the probabilities. Without replacement, each row is drawn from the remaining
/// rows in proportion to their scores.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{Draw, LandmarkSelector, Proportional};
/// use rand::SeedableRng;
/// let k = Mat::<f64>::identity(4, 4);
/// let selector =
///     Proportional { scores: vec![0.0, 0.5, 0.0, 0.1], draw: Draw::WithoutReplacement };
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
/// let landmarks = selector.select(&Dense::new(k.as_ref())?, 2, &mut rng)?;
/// assert!(landmarks.indices().contains(&1) && landmarks.indices().contains(&3));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Proportional<T> {
    /// One score per row, finite and at least 0, with a positive sum. Only ratios matter.
    pub scores: Vec<T>,
    /// With or without replacement.
    pub draw: Draw,
}

impl<T: Scalar> LandmarkSelector<T> for Proportional<T> {
    /// # Errors
    /// In addition to those of the trait, [`Shape`](nystrom_linalg_core::Error::Shape) if there is
    /// not one score per row, and [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight).
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        validate::same_size("scores against rows of the matrix", k.dim(), self.scores.len())?;
        Landmarks::draw(&self.scores, m, self.draw, rng)
    }
}
