//! Are two samples of the same distribution? The distance of their means in feature space (MMD) by
//! Nyström features, with a p-value by permutations of bins.

mod bins;

pub use bins::TwoSampleSums;

use crate::whiten::for_each_kernel_tile;
use crate::{FeatureMap, Landmarks, Whitening};
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, RowTree, Scalar, ops, validate};
use rand::Rng;
use rand::seq::SliceRandom;

/// Permutations whose signs are in memory at a time.
const TILE_PERMUTATIONS: usize = 256;
/// The smaller sample is to fill at least this many bins.
const LEAST_BINS: u64 = 64;

/// A test of the hypothesis that the first n₁ rows of K (the sample x) and the other n₂ (y) have
/// the same distribution.
///
/// The statistic is the distance ‖μ̂_x − μ̂_y‖ of the means of the Nyström features φ (the maximum
/// mean discrepancy of the kernel of L ⪯ K). Rows are put at random into bins of b rows of the same
/// sample each, and whole bins are exchanged between the samples: a permutation costs the same for
/// any number of rows. Every run of as many consecutive rows as a sample has bins gives one
/// row to each bin, so that the bins are alike even if the rows are ordered.
///
/// **The p-value is exact**: if the rows of both samples are independent and of one distribution,
/// P(p ≤ α) ≤ α for every α, n₁ and n₂, whatever the kernel. This needs landmarks and kernel that
/// were chosen from all rows alike, without regard to the sample that a row is from, such as
/// [`Uniform`](crate::Uniform) landmarks and a bandwidth from all rows.
///
/// (n₁ + n₂)·m entries of K are evaluated, and added by bin: the features of a bin are the whitened
/// sum, so that only bins are whitened. O(m² + s·m + s² + 1024·m) memory for s bins, s²
/// flops a permutation. [`TwoSampleSums`] takes rows that come in tiles.
///
/// # Source
/// Bins: Domingo-Enrich, Dwivedi & Mackey, *Cheap permutation testing*, 2025 (arXiv:2502.13570).
/// Nyström features of the test: Chatalic, Schreuder, Rudi & Rosasco, *Nyström kernel mean
/// embeddings*, ICML 2022 (arXiv:2201.13055).
///
/// ```
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_linalg_core::random;
/// use nystrom_sketch::{LandmarkSelector, TwoSample, Uniform};
/// use rand::SeedableRng;
///
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let mut x = random::standard_normal::<f64>(900, 2, rng);
/// (400..900).for_each(|i| x[(i, 0)] *= 1.5); // the second sample is wider
/// let k = KernelMatrix::new(Gaussian::new(1.0)?, Points::from_rows(x.as_ref()))?;
/// let landmarks = Uniform::default().select(&k, 60, rng)?; // from all rows
/// let found = TwoSample::default().test(&k, &landmarks, 400, rng)?;
/// assert!(found.p_value <= 0.01 && found.mmd > 0.05);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoSample {
    /// The number of random permutations. The smallest p-value is 1/(1 + permutations).
    pub permutations: usize,
    /// The number of bins of both samples together, if both are large. More bins give more power,
    /// up to that of single rows.
    pub bins: usize,
}

/// 999 permutations of 512 bins.
impl Default for TwoSample {
    fn default() -> Self {
        TwoSample { permutations: 999, bins: 512 }
    }
}

/// The outcome of a [`TwoSample`] test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TwoSampleTest {
    /// ‖μ̂_x − μ̂_y‖ of the rows in bins.
    pub mmd: f64,
    /// The share of permutations, this one counted, whose statistic is at least as large.
    pub p_value: f64,
    /// The number of bins of each sample.
    pub bins: [usize; 2],
    /// b, the number of rows of a bin.
    pub rows_of_bin: usize,
    /// Rows of each sample that fill no bin and are left out.
    pub left_out: [usize; 2],
}

impl TwoSample {
    /// Tests whether rows `0..first` of K and the rows from `first` on have the same distribution.
    ///
    /// Bins have b = ⌊(n₁ + n₂)/`bins`⌋ rows, or fewer if the smaller sample would not fill 64 of
    /// them. Of the larger sample, what does not fit into 16 times as many bins as the smaller has,
    /// nor into `bins` bins, is left out: random rows, evenly spread.
    ///
    /// # Errors
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for 0 permutations, fewer
    /// than 4 bins, or a sample of fewer than 2 rows.
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the landmarks belong to a matrix of another
    /// order, [`NonFinite`](nystrom_linalg_core::Error::NonFinite) for an entry of K, and those of
    /// [`FeatureMap::new`].
    ///
    /// # Randomness
    /// One key, from which the bins are derived, then a permutation of the bins for each
    /// permutation.
    pub fn test<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        landmarks: &Landmarks,
        first: usize,
        rng: &mut dyn Rng,
    ) -> Result<TwoSampleTest> {
        let sizes = [first, k.dim().saturating_sub(first)].map(|size| size as u64);
        let mut sums = TwoSampleSums::new(*self, landmarks.len(), sizes, rng)?;
        landmarks.check(k.dim())?;
        let J = landmarks.indices();
        let map = FeatureMap::new(k.block(J.into(), J.into()).as_ref(), Whitening::default())?;
        let rows = sums.rows_in_bins();
        for_each_kernel_tile(k, J, rows[..].into(), |at, k_j| {
            sums.add_rows(rows[at].iter().map(|&row| row as u64), k_j.rb())
        })?;
        sums.finish(&map, rng)
    }

    fn check(&self, sizes: [u64; 2]) -> Result<()> {
        let require = |holds, name, value: f64, requirement| {
            validate::require(holds, name, value, requirement)
        };
        let [permutations, bins] = [self.permutations, self.bins].map(|count| count as f64);
        require(self.permutations > 0, "permutations", permutations, "at least 1; take 999")?;
        require(self.bins >= 4, "bins", bins, "at least 4; take 512")?;
        for size in sizes {
            let rule = "at least 2; one row says nothing about its distribution";
            require(size >= 2, "rows of a sample", size as f64, rule)?;
        }
        Ok(())
    }

    /// The number of rows of a bin, and of bins of each sample.
    fn bins_of(&self, sizes: [u64; 2]) -> (u64, [usize; 2]) {
        let (small, bins) = (sizes[0].min(sizes[1]), self.bins as u64);
        let b = ((sizes[0] + sizes[1]) / bins).min(small / LEAST_BINS).max(1);
        let most = (16 * (small / b)).max(bins);
        (b, sizes.map(|size| (size / b).min(most) as usize))
    }

    /// The squared distance of the two sums per bin, and its p-value. `gram` has the inner
    /// products of the bins' features; the bins of the first sample come first. Statistics that
    /// differ by `rounding` count as equal.
    fn permute(
        &self,
        gram: MatRef<'_, f64>,
        rounding: f64,
        bins: [usize; 2],
        rng: &mut dyn Rng,
    ) -> (f64, f64) {
        let [s1, s2] = bins;
        let signs = [1.0 / s1 as f64, -1.0 / s2 as f64];
        // the weight of bin i in μ̂_x − μ̂_y, under each assignment of bins to samples
        let mut assigned: Vec<usize> = (0..s1 + s2).map(|i| usize::from(i >= s1)).collect();
        let mut weights = Mat::zeros(s1 + s2, TILE_PERMUTATIONS.min(1 + self.permutations));
        let (mut observed, mut larger) = (None, 0);
        for tile in RowTree::tiles(0..1 + self.permutations, TILE_PERMUTATIONS) {
            let mut a = weights.as_mut().subcols_mut(0, tile.len());
            for (t, column) in tile.zip(a.rb_mut().col_iter_mut()) {
                if t > 0 {
                    assigned.shuffle(rng);
                }
                assigned.iter().zip(column.iter_mut()).for_each(|(&x, w)| *w = signs[x]);
            }
            let statistics = quadratic_forms(gram, a.rb());
            let bar = *observed.get_or_insert(statistics[0]) * (1.0 - 1e-9) - rounding;
            larger += statistics.iter().filter(|&&other| other >= bar).count();
        }
        (observed.unwrap_or(0.0), larger as f64 / (1 + self.permutations) as f64)
    }
}

/// Inner products of the columns of Φ less their mean, which no difference of means depends on; and
/// the size of their rounding errors, generously.
fn centred_gram<T: Scalar>(phi: MatRef<'_, T>) -> (Mat<f64>, f64) {
    let mean = |i: usize| phi.row(i).iter().map(|x| x.f64()).sum::<f64>() / phi.ncols() as f64;
    let means: Vec<f64> = (0..phi.nrows()).map(mean).collect();
    let phi = Mat::from_fn(phi.nrows(), phi.ncols(), |i, j| phi[(i, j)].f64() - means[i]);
    let rounding = f64::EPSILON * means.iter().map(|mean| mean * mean).sum::<f64>();
    (ops::times(phi.transpose(), phi.as_ref()), rounding)
}

/// aᵀGa for each column a of A.
fn quadratic_forms(G: MatRef<'_, f64>, A: MatRef<'_, f64>) -> Vec<f64> {
    let GA = ops::times(G, A);
    let dot = |t: usize| GA.col(t).iter().zip(A.col(t).iter()).map(|(x, y)| x * y).sum();
    (0..A.ncols()).map(dot).collect()
}
