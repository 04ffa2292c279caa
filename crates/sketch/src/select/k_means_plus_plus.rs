//! The seeding of k-means++ in feature space.

use crate::{LandmarkSelector, Landmarks};
use faer::Mat;
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, random, validate};
use rand::{Rng, RngExt};

/// The seeding of k-means++ in feature space ("D² sampling"). The first landmark is uniform. Each
/// further landmark j is drawn with probability proportional to min_s (K_jj + K_ss − 2K_js), its
/// squared distance to the nearest landmark s so far.
///
/// The result has m landmarks, or fewer if in feature space every row equals a landmark up to
/// rounding error. [`RpCholesky`](crate::RpCholesky) evaluates as many entries and uses distances
/// to the span of the landmarks, in place of distances to landmarks.
///
/// # Cost
/// m·n entries and n diagonal entries; O(n) memory.
///
/// # Source
/// D. Arthur, S. Vassilvitskii, *k-means++: the advantages of careful seeding*, SODA 2007; in
/// feature space as the start of the k-DPP chain in C. Li, S. Jegelka, S. Sra, *Fast DPP sampling
/// for Nyström with application to kernel methods*, ICML 2016.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{KMeansPlusPlus, LandmarkSelector};
/// use rand::SeedableRng;
/// // Three groups of equal rows: one landmark of each.
/// let k = Mat::from_fn(30, 30, |i, j| if i % 3 == j % 3 { 1.0 } else { 0.0 });
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let mut groups: Vec<usize> = KMeansPlusPlus
///     .select(&Dense::new(k.as_ref())?, 3, rng)?
///     .indices()
///     .iter()
///     .map(|i| i % 3)
///     .collect();
/// groups.sort_unstable();
/// assert_eq!(groups, [0, 1, 2]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KMeansPlusPlus;

impl<T: Scalar> LandmarkSelector<T> for KMeansPlusPlus {
    /// # Errors
    /// In addition to those of the trait, [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with
    /// an entry of K, and [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) for a
    /// diagonal with a negative or non-finite entry, or of zeros.
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        let n = k.dim();
        validate::not_empty("matrix", n)?;
        validate::at_most("landmarks", m, n)?;
        let k_jj: Vec<f64> = k.diag().into_iter().map(T::f64).collect();
        validate::weights("diagonal of the matrix", &k_jj)?;
        let (mut d, mut J) = (vec![f64::INFINITY; n], vec![]);
        let mut next = Some(rng.random_range(0..n)); //                      uniform
        let mut k_s = Mat::zeros(n, 1);
        while let Some(s) = next {
            J.push(s);
            if J.len() == m {
                break;
            }
            k.block_into(k_s.as_mut(), (0..n).into(), (&[s]).into());
            validate::finite_block(k_s.as_ref(), 0..n, &[s])?;
            for (j, d_j) in d.iter_mut().enumerate() {
                let squared = k_jj[j] + k_jj[s] - 2.0 * k_s[(j, 0)].f64(); // ‖φ_j − φ_s‖²
                let rounding = 10.0 * T::EPS * (k_jj[j] + k_jj[s]);
                *d_j = d_j.min(if squared > rounding { squared } else { 0.0 });
            }
            d[s] = 0.0;
            next = random::categorical(&d, rng); //                          ~ min_s ‖φ_j − φ_s‖²
        }
        Landmarks::new(n, J)
    }
}
