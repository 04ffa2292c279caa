//! In proportion to the diagonal.

use crate::{Draw, LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar};
use rand::Rng;

/// Landmarks drawn with p_i = K_ii / tr K. For a kernel with constant diagonal this is uniform.
///
/// The probabilities of Theorem 4 of Alaoui & Mahoney (NIPS 2015). They over-sample a row by at
/// most the factor tr K / (nλ d_eff), because l_i ≤ K_ii/(nλ).
///
/// A zero or non-finite diagonal is [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight).
///
/// # Cost
/// n diagonal entries, O(n) time and memory.
///
/// # Source
/// Alaoui & Mahoney, NIPS 2015, Theorem 4, where these probabilities serve approximate scores.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{Diagonal, LandmarkSelector};
/// use rand::SeedableRng;
/// let k = mat![[0.0, 0.0], [0.0, 3.0]];
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
/// assert_eq!(Diagonal::default().select(&Dense::new(k.as_ref())?, 1, &mut rng)?.indices(), [1]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Diagonal {
    /// With or without replacement (the default).
    pub draw: Draw,
}

impl<T: Scalar> LandmarkSelector<T> for Diagonal {
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        Landmarks::draw(&k.diag(), m, self.draw, rng)
    }
}
