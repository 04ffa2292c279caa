//! Scores with respect to a dictionary whose weights are set to 1.

use crate::{Projector, RidgeLeverage};
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar};
use nystrom_sketch::Dictionary;
use rand::Rng;

/// Any estimator, but with the weights of its dictionary set to 1 for the scores.
///
/// With unbiased weights the sum of the scores is about right, but if the dictionary holds fewer
/// rows than d_eff, its few large weights scatter the scores. Unit weights are better for such
/// small dictionaries where only proportions matter (sampling, plots of l̃/Σl̃). Scores with unit
/// weights are over-estimates, because smaller weights make SSᵀ smaller: τ̃_i(unit) ≥ l_i always,
/// and τ̃_i(unit) ≥ τ̃_i(w) if all w_j ≥ 1.
///
/// The dictionary itself is returned with its own weights, so that E\[SSᵀ\] = I still holds.
///
/// # Cost
/// That of the estimator's dictionary of m rows, then n·m + m² entries and O(nm²) flops.
///
/// # Source
/// Ours; the inequality is the monotonicity of (K + μW⁻¹)⁻¹ in W.
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{RecursiveRls, RidgeLeverage, UnitWeights, exact_scores};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(500, 500, |i, j| (-(i as f64 - j as f64).abs() / 20.0).exp());
/// let (k, ridge) = (Dense::new(k.as_ref())?, Ridge::Absolute(0.5));
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let over = UnitWeights(RecursiveRls::with_oversampling(0.5)).scores(&k, ridge, &mut rng)?;
/// assert!(
///     over.iter()
///         .zip(&exact_scores(&k, ridge)?.scores)
///         .all(|(over, exact)| *over > exact - 1e-12)
/// );
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UnitWeights<E>(
    /// The estimator of the dictionary.
    pub E,
);

impl<T: Scalar, E: RidgeLeverage<T>> RidgeLeverage<T> for UnitWeights<E> {
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>> {
        self.0.dictionary(k, ridge, rng)
    }

    /// The scores are those of unit weights; the dictionary keeps its own weights.
    fn scores_and_dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<(Vec<T>, Dictionary<T>)> {
        let drawn = self.0.dictionary(k, ridge, rng)?;
        let unit = Dictionary::new(k.dim(), drawn.indices().to_vec(), vec![T::one(); drawn.len()])?;
        Ok((Projector::new(k, &unit, ridge)?.scores(k, (0..k.dim()).into())?, drawn))
    }
}
