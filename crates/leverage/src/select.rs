//! Landmarks drawn in proportion to ridge leverage scores.

use crate::RidgeLeverage;
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar};
use nystrom_sketch::{Draw, LandmarkSelector, Landmarks};
use rand::Rng;

/// Landmarks drawn in proportion to ridge leverage scores, exact or estimated, as in Theorem 3 of
/// Alaoui & Mahoney. About d_eff·ln n landmarks suffice, where uniform sampling needs about
/// d_mof·ln n.
///
/// # Cost
/// That of the estimator's scores, and O(n) for the draws.
///
/// # Source
/// Alaoui & Mahoney, *Fast randomized kernel ridge regression with statistical guarantees*, NIPS
/// 2015, Theorem 3.
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{Exact, LeverageProportional};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use nystrom_sketch::{Draw, LandmarkSelector};
/// use rand::SeedableRng;
/// // 60 copies of one direction and a single row of another:
/// let k = Mat::from_fn(61, 61, |i, j| if (i < 60) == (j < 60) { 1.0 } else { 0.0 });
/// let selector = LeverageProportional {
///     estimator: Exact, ridge: Ridge::Absolute(0.1), draw: Draw::WithoutReplacement,
/// };
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let landmarks = selector.select(&Dense::new(k.as_ref())?, 6, &mut rng)?;
/// assert!(landmarks.indices().contains(&60)); // its score is 0.91, the others' 0.017
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeverageProportional<E, T> {
    /// The estimator of the scores.
    pub estimator: E,
    /// The ridge of the scores.
    pub ridge: Ridge<T>,
    /// Draws with or without replacement.
    pub draw: Draw,
}

impl<T: Scalar, E: RidgeLeverage<T>> LandmarkSelector<T> for LeverageProportional<E, T> {
    /// Besides the common errors, those of the estimator.
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        self.draw.check(m, k.dim())?;
        let scores = self.estimator.scores(k, self.ridge, rng)?;
        Landmarks::draw(&scores, m, self.draw, rng)
    }
}
