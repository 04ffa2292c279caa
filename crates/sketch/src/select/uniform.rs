//! Uniform sampling of landmarks.

use crate::{Draw, LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar};
use rand::Rng;

/// Landmarks drawn with all rows equally likely.
///
/// Uniform sampling needs about d_mof = n·max_i l_i columns (Bach 2013), sampling in proportion to
/// leverage scores about d_eff. Both are close if the leverage scores are nearly equal.
///
/// # Cost
/// No entry of the matrix; O(n) time and memory.
///
/// # Source
/// Williams & Seeger, *Using the Nyström method to speed up kernel machines*, NIPS 2000; number of
/// columns: Bach, COLT 2013 (arXiv:1208.2015).
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{LandmarkSelector, Uniform};
/// use rand::SeedableRng;
/// let k = Mat::<f64>::identity(20, 20);
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
/// assert_eq!(Uniform::default().select(&Dense::new(k.as_ref())?, 5, &mut rng)?.len(), 5);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Uniform {
    /// With or without replacement (the default).
    pub draw: Draw,
}

impl<T: Scalar> LandmarkSelector<T> for Uniform {
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        Landmarks::uniform(k.dim(), m, self.draw, rng)
    }
}
