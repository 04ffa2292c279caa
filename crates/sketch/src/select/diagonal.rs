//! Sampling of landmarks in proportion to the diagonal.

use crate::{Draw, LandmarkSelector, Landmarks};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar};
use rand::Rng;

/// Landmarks drawn with p_i = K_ii / tr K. For a kernel with constant diagonal, sampling is
/// uniform.
///
/// These are the probabilities of Theorem 4 of Alaoui & Mahoney (NIPS 2015). Because
/// l_i ≤ K_ii/(nλ), the leverage-proportional probability l_i/d_eff is at most
/// tr K / (nλ d_eff) times p_i.
///
/// A diagonal that is zero or not finite is an error,
/// [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight).
///
/// # Cost
/// n diagonal entries, O(n) time and memory.
///
/// # Source
/// Alaoui & Mahoney, NIPS 2015, Theorem 4, which uses these probabilities to approximate leverage
/// scores.
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
