//! Seeds that are far from one another in feature space.

use faer::{ColMut, Mat};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, random, validate};
use nystrom_sketch::{LandmarkSelector, Landmarks};
use rand::{Rng, RngExt};

/// k-means++ seeding in feature space: the first item uniform, each next one with probability proportional to the squared distance
/// to the nearest before it, min_j (K_ii + K_jj − 2K_ij).
///
/// Fewer than m landmarks only if the items chosen are at distance 0 from all others, which then are their duplicates.
/// n·(m − 1) entries and n diagonal ones, O(n) memory.
///
/// # Source
/// D. Arthur & S. Vassilvitskii, *k-means++: the advantages of careful seeding*, SODA 2007; Li, Jegelka & Sra (2016), section 6, start their
/// chain from it.
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::KMeansPlusPlus;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::LandmarkSelector;
/// use rand::SeedableRng;
/// // three groups of identical items
/// let k = Mat::from_fn(30, 30, |i, j| if i % 3 == j % 3 { 1.0 } else { 0.2 });
/// let seeds = KMeansPlusPlus.select(&Dense::new(k.as_ref())?, 3, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// let mut groups: Vec<usize> = seeds.indices().iter().map(|i| i % 3).collect();
/// groups.sort_unstable();
/// assert_eq!(groups, [0, 1, 2]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KMeansPlusPlus;

impl<T: Scalar> LandmarkSelector<T> for KMeansPlusPlus {
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        let n = k.dim();
        validate::not_empty("matrix", n)?;
        validate::at_most("landmarks", m, n)?;
        let mut diagonal = vec![T::zero(); n];
        k.diag_into(ColMut::from_slice_mut(&mut diagonal), (0..n).into());
        let mut nearest = vec![f64::INFINITY; n];
        let mut column = Mat::zeros(n, 1);
        let mut seeds = vec![rng.random_range(0..n)];
        while seeds.len() < m {
            let j = seeds[seeds.len() - 1];
            k.block_into(column.as_mut(), (0..n).into(), (&[j]).into());
            for (i, d) in nearest.iter_mut().enumerate() {
                let distance = squared_distance(diagonal[i].f64(), diagonal[j].f64(), column[(i, 0)].f64(), i, j)?;
                *d = d.min(if i == j { 0.0 } else { distance });
            }
            match random::categorical(&nearest, rng) {
                Some(next) => seeds.push(next),
                None => break, // all that are left duplicate a seed
            }
        }
        Landmarks::new(n, seeds)
    }
}

/// K_ii + K_jj − 2K_ij, without what may be rounding error.
fn squared_distance(k_ii: f64, k_jj: f64, k_ij: f64, row: usize, col: usize) -> Result<f64> {
    let (sum, value) = (k_ii + k_jj, k_ii + k_jj - 2.0 * k_ij);
    if !value.is_finite() {
        let (col, value) = if k_ii.is_finite() { (col, k_ij) } else { (row, k_ii) };
        return Err(Error::NonFinite { what: "matrix", row, col, value });
    }
    Ok(if value > 4.0 * f64::EPSILON * sum { value } else { 0.0 })
}
