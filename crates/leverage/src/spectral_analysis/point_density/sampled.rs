//! The kernel density estimate from a random sample of the points, for any dimension and any n.

use super::tree::squared_distance;
use super::{Bandwidth, Standardised, self_contribution};
use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, random, validate};
use rand::Rng;
use rayon::prelude::*;

/// Number of points whose kernel values with the sample are in memory at a time, per thread.
const TILE: usize = 256;

/// The Gaussian density estimate of [`KernelDensity`](super::KernelDensity), with the sum over all
/// other points replaced by a sum over a random sample J of m points:
///
/// p̂(x_i) = c (1 + (n − 1)·mean_{j ∈ J∖i} exp(−‖x_i − x_j‖²/(2h²))), c = 1/(n(2πh²)^{d/2} Π σ_k).
///
/// At every point, p̂ is an unbiased estimate of the estimate from all pairs; it equals that
/// estimate for m = n and is never below c. Cost: n·m kernel values, O(nd) memory and O(256·m) per
/// thread. The relative variance is about 2^{−d/2}/(m·s), where s is the mean kernel value at the
/// point: the sample must contain several neighbours within a bandwidth. Use it if n is too large
/// for all pairs and the dimension too large for the tree, and pass the result as
/// [`Density::Given`](super::Density::Given).
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Matern32, Points};
/// use nystrom_leverage::{Bandwidth, Density, Guard, SampledDensity, SpectralAnalysis};
/// use nystrom_linalg_core::{Ridge, random};
/// use rand::SeedableRng;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let x: Mat<f64> = random::standard_normal(8, 3000, &mut rng);
/// let points = Points::from_cols(x.as_ref());
/// let estimate = SampledDensity { bandwidth: Bandwidth::Fixed(0.9), sample: 1000 }
///     .density(points, &mut rng)?;
/// assert!(estimate.relative_error < 0.2);
/// let analysis =
///     SpectralAnalysis { density: Density::Given(&estimate.values), guard: Guard::None };
/// assert_eq!(
///     analysis.scores(&Matern32::new(2.0)?, points, Ridge::PerSample(1e-2))?.scores.len(),
///     3000
/// );
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SampledDensity {
    /// The bandwidth h, or the rule for it.
    pub bandwidth: Bandwidth,
    /// m, at least 2; all points if n < m.
    pub sample: usize,
}

/// The result of [`SampledDensity::density`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SampledEstimate<T> {
    /// p̂(x_i), n numbers, with respect to the volume of all coordinates.
    pub values: Vec<T>,
    /// The relative standard error of p̂ due to sampling, estimated from the sample: the median
    /// over 32 points.
    pub relative_error: f64,
    /// h, in standard deviations of the features.
    pub bandwidth: f64,
}

impl SampledDensity {
    /// p̂(x_i) for every i, with an estimate of the sampling error.
    ///
    /// # Randomness
    /// m distinct points, all subsets equally likely.
    ///
    /// # Errors
    /// Those of [`Points::check`]. `Empty` if n = 1 or m < 2. `InvalidParameter` if the bandwidth
    /// is out of range, or if a coordinate is constant (there is no density with respect to the
    /// volume). Also if, at the median of 32 points, the sampled neighbours weigh less than the
    /// point itself: the sample is then too small, or the dimension too large.
    pub fn density<T: Scalar>(
        &self,
        points: Points<'_, T>,
        rng: &mut dyn Rng,
    ) -> Result<SampledEstimate<T>> {
        points.check_dense()?;
        validate::not_empty(
            "sample of the density besides one point",
            self.sample.saturating_sub(1),
        )?;
        validate::not_empty("other points", points.len() - 1)?;
        let x = Standardised::new(points);
        validate::require(
            x.dim() >= points.dim(),
            "constant coordinates",
            (points.dim() - x.dim()) as f64,
            "0: drop the coordinates that are the same for all points",
        )?;
        let h = self.bandwidth.resolve(x.n, x.dim())?;
        let J = random::uniform_subset(x.n, self.sample.min(x.n), rng)?;
        let relative_error = self.relative_error(&x, h, &J)?;
        let ln_c = self_contribution(&x, h);
        let value = |(own, sum): (usize, f64)| {
            let (others, mean) = ((x.n - 1) as f64, (sum - own as f64) / (J.len() - own) as f64);
            T::lit((ln_c + (others * mean.max(0.0)).ln_1p()).exp())
        };
        // 1 for points of the sample, whose sums contain their own kernel value
        let mut own = vec![0; x.n];
        J.iter().for_each(|&j| own[j] = 1);
        let values = own.into_iter().zip(sums(&x, h, &J)?).map(value).collect();
        Ok(SampledEstimate { values, relative_error, bandwidth: h })
    }

    /// The median of SE(p̂)/p̂ over the probes, from the variance of the sampled kernel values
    /// (sampling without replacement).
    fn relative_error(&self, x: &Standardised, h: f64, J: &[usize]) -> Result<f64> {
        let others = (x.n - 1) as f64;
        let at = |i: usize| {
            let kernel =
                |&j: &usize| (-0.5 * squared_distance(x.point(i), x.point(j)) / (h * h)).exp();
            let k: Vec<f64> = J.iter().filter(|&&j| j != i).map(kernel).collect();
            let m = k.len() as f64;
            let mean = k.iter().sum::<f64>() / m;
            let variance = k.iter().map(|k| (k - mean).powi(2)).sum::<f64>() / (m - 1.0).max(1.0);
            let neighbours = others * mean;
            (
                neighbours,
                others * ((1.0 - m / others).max(0.0) * variance / m).sqrt() / (1.0 + neighbours),
            )
        };
        let mut found: Vec<(f64, f64)> = x.probes().into_par_iter().map(at).collect();
        let middle = found.len() / 2;
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let neighbours = found[middle].0;
        validate::require(
            !(neighbours < 1.0),
            "weight of a point's sampled neighbours relative to its own",
            neighbours,
            "at least 1 at the median point; use a larger sample or bandwidth, \
                              or recursive or BLESS scores, which need no density",
        )?;
        found.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        Ok(found[middle].1)
    }
}

/// Σ_{j ∈ J} exp(−‖x_i − x_j‖²/(2h²)) for every i.
fn sums(x: &Standardised, h: f64, J: &[usize]) -> Result<Vec<f64>> {
    let kernel = Gaussian::new(h)?;
    let d = x.dim();
    let sample: Vec<f64> = J.iter().flat_map(|&j| x.point(j)).copied().collect();
    let mut out = vec![0.0; x.n];
    out.par_chunks_mut(TILE).zip(x.coords.par_chunks(TILE * d)).for_each(|(out, tile)| {
        let (rows, sample) = (Points::from_row_major(tile, d), Points::from_row_major(&sample, d));
        let mut block = Mat::zeros(J.len(), out.len());
        Kernel::<f64>::eval_into(&kernel, block.as_mut(), sample, rows);
        out.iter_mut().zip(block.col_iter()).for_each(|(sum, column)| *sum = column.iter().sum());
    });
    Ok(out)
}
