//! The density p(x_i) that spectral analysis needs, given or estimated.

mod binned;
mod blocks;
mod exact;
mod refusal;
mod sampled;
mod standardised;
mod tree;
mod tree_sum;

use binned::Grid;
use nystrom_kernels::Points;
use nystrom_linalg_core::{Error, Result, Scalar, validate};
use rayon::prelude::*;
pub use refusal::Refusal;
pub use sampled::{SampledDensity, SampledEstimate};
pub(crate) use standardised::Standardised;
use std::f64::consts::PI;
pub(crate) use tree::Tree;
pub(crate) use tree_sum::{ExponentialProfile, Frontier, GaussianProfile};

/// The density of the points, or the method to estimate it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Density<'a, T> {
    /// p(x_i) for every i (n numbers), with respect to the volume of ℝ^d, where d is the number of
    /// coordinates of the points.
    Given(&'a [T]),
    /// Estimated from the points. If [`DensityMethod::Auto`] finds the estimate meaningless, the
    /// result is an error.
    Estimated(KernelDensity),
    /// Estimated from the points. If [`DensityMethod::Auto`] finds the estimate meaningless, all
    /// scores are k(0)/(k(0) + nλ), which bounds every ridge leverage score and is the limit of the
    /// method as p → 0. Landmarks drawn by these scores are uniform, their sum does not estimate
    /// d_eff, and [`SpectralReport::refusal`](crate::SpectralReport::refusal) gives the reason.
    EstimatedOrUniform(KernelDensity),
}

/// A Gaussian kernel density estimate p̂(x_i) = (1/n) Σ_j Π_k N(x_ik − x_jk; (h σ_k)²) on
/// standardised features: σ_k is the standard deviation of coordinate k.
///
/// The sum includes the point itself, so that p̂ is never below the contribution of one point to
/// its own density, also at isolated points. Constant coordinates are left out: p̂ is a density on
/// the other coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelDensity {
    /// The bandwidth h, or the rule for it.
    pub bandwidth: Bandwidth,
    /// The method to compute the sums.
    pub method: DensityMethod,
}

impl Default for KernelDensity {
    /// h = 0.5·n^{−1/(d+4)}, [`DensityMethod::Auto`].
    fn default() -> Self {
        KernelDensity { bandwidth: Bandwidth::Rule(0.5), method: DensityMethod::Auto }
    }
}

/// The bandwidth h, in standard deviations of the features.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Bandwidth {
    /// h = c·n^{−1/(d+4)} for this c. The exponent minimises the mean squared error. The bandwidths
    /// of the paper (exponent and constant) are missing in the copy available to us; c = 0.5 is our
    /// choice, and 0.4 to 0.9 fit real data best.
    Rule(f64),
    /// The bandwidth h.
    Fixed(f64),
}

/// The method to compute the sums of a kernel density estimate. If n is too large for all of them,
/// see [`SampledDensity`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DensityMethod {
    /// [`Exact`](Self::Exact) if n ≤ 8192 or in more than six dimensions. Otherwise
    /// [`Binned`](Self::Binned) if its grid has at most three dimensions and 1024 nodes per point,
    /// else [`Tree`](Self::Tree) with tolerance 0.05. Detects a meaningless estimate, see the
    /// errors of [`KernelDensity::density`].
    Auto,
    /// Sums over all pairs: n² kernel values in tiles.
    Exact,
    /// Sums with a k-d tree; every density is within this relative tolerance of the exact estimate.
    /// In d dimensions about n^{4/(d+4)} points lie within a bandwidth of order n^{−1/(d+4)} of a
    /// point. The tree visits a slowly falling share of these points, about n^{1.4} visits in
    /// total.
    Tree {
        /// Relative tolerance, in (0, 1).
        tolerance: f64,
    },
    /// Cubic splines on a grid with spacing δ = h/4 (h/3 in three dimensions), stored only near
    /// points. At most three dimensions and 2²⁷ nodes in memory (1 GiB). The number of nodes is
    /// proportional to the volume of the cloud in units of h^d, at most of order n^{d/(d+4)}, so
    /// the cost is linear in n. The relative error of the contribution of a point at a distance of
    /// z bandwidths is at most (1 + z⁴)(δ/h)⁴/100 per dimension. The relative error of a density is
    /// thus below 0.001 in the bulk, and a few percent where points five bandwidths away dominate.
    Binned,
}

const EXACT_UP_TO: usize = 8192;
/// A grid with more nodes per point than this is mostly empty, and the tree is as fast.
const NODES_PER_POINT: usize = 1024;
const TREE_DIMENSIONS: usize = 6;

/// A density at every point, on the coordinates `kept`.
pub(crate) struct Estimate {
    pub(crate) values: Vec<f64>,
    /// The coordinates of the density.
    pub(crate) kept: Vec<usize>,
    pub(crate) method: Option<DensityMethod>,
    pub(crate) bandwidth: Option<f64>,
    /// Number of kernel values, bounds and multiplications computed.
    pub(crate) operations: u64,
}

impl Estimate {
    /// An `Estimate` of densities that were not estimated.
    fn known(values: Vec<f64>, kept: Vec<usize>) -> Self {
        Estimate { values, kept, method: None, bandwidth: None, operations: 0 }
    }
}

/// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i, and the number of operations.
pub(crate) struct Sums {
    values: Vec<f64>,
    operations: u64,
}

impl<T: Scalar> Density<'_, T> {
    /// Checks or estimates p(x_i). The inner result is a refusal only for `EstimatedOrUniform`; for
    /// `Estimated` a refusal becomes an error.
    pub(crate) fn at(&self, points: Points<'_, T>) -> Result<Result<Estimate, Refusal>> {
        match self {
            Density::Given(values) => given(values, points).map(Ok),
            Density::Estimated(estimate) => Ok(Ok(estimate.at(&Standardised::new(points))??)),
            Density::EstimatedOrUniform(estimate) => estimate.at(&Standardised::new(points)),
        }
    }
}

fn given<T: Scalar>(values: &[T], points: Points<'_, T>) -> Result<Estimate> {
    validate::same_size("densities against number of points", points.len(), values.len())?;
    let values: Vec<f64> = values.iter().map(|p| p.f64()).collect();
    validate::all_positive("density", &values)?;
    Ok(Estimate::known(values, (0..points.dim()).collect()))
}

impl KernelDensity {
    /// p̂(x_i) for every i, with respect to the volume of the coordinates that vary.
    ///
    /// # Errors
    /// Those of [`Points::check`]. `InvalidParameter` for a bandwidth or tolerance out of range,
    /// and for [`DensityMethod::Binned`] on points that do not fit its grid. With
    /// [`DensityMethod::Auto`] also if the estimate is meaningless because the dimension is too
    /// large for n: at the median point, the point itself contributes more than half of its
    /// density.
    ///
    /// ```
    /// use nystrom_kernels::Points;
    /// use nystrom_leverage::{Bandwidth, DensityMethod, KernelDensity};
    /// // uniform on [0, 1]
    /// let x: Vec<f64> = (0..1000).map(|i| (i as f64 + 0.5) / 1000.0).collect();
    /// let estimate = KernelDensity {
    ///     bandwidth: Bandwidth::Rule(0.5),
    ///     method: DensityMethod::Tree { tolerance: 0.01 },
    /// };
    /// let density = estimate.density(Points::from_slice(&x))?;
    /// assert!((density[500] - 1.0).abs() < 0.01);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn density<T: Scalar>(&self, points: Points<'_, T>) -> Result<Vec<f64>> {
        points.check_dense()?;
        Ok(self.at(&Standardised::new(points))??.values)
    }

    fn at(&self, x: &Standardised) -> Result<Result<Estimate, Refusal>> {
        let h = self.bandwidth.resolve(x.n, x.dim())?;
        if x.dim() == 0 {
            // all points are equal: the mass at this point
            return Ok(Ok(Estimate::known(vec![1.0; x.n], vec![])));
        }
        if self.method == DensityMethod::Auto
            && let Some(refusal) = Refusal::of(x, h)?
        {
            return Ok(Err(refusal));
        }
        let (method, Sums { values: sums, operations }) = self.method.sums(x, h)?;
        let ln_front = self_contribution(x, h);
        let values = sums.into_iter().map(|sum| (ln_front + sum.ln()).exp()).collect();
        Ok(Ok(Estimate {
            values,
            kept: x.kept.clone(),
            method: Some(method),
            bandwidth: Some(h),
            operations,
        }))
    }
}

/// ln of 1/(n (2πh²)^{d/2} Π_k σ_k), the contribution of a point to its own density.
fn self_contribution(x: &Standardised, h: f64) -> f64 {
    -(x.n as f64).ln() - 0.5 * x.dim() as f64 * (2.0 * PI * h * h).ln() - x.ln_volume
}

impl Bandwidth {
    fn resolve(self, n: usize, d: usize) -> Result<f64> {
        let (name, given, h) = match self {
            Bandwidth::Rule(c) => {
                ("factor of the bandwidth rule", c, c * (n as f64).powf(-1.0 / (d as f64 + 4.0)))
            }
            Bandwidth::Fixed(h) => ("bandwidth of the density", h, h),
        };
        validate::positive(name, given)?;
        validate::require(
            (1e-150..=1e150).contains(&h),
            name,
            given,
            "such that the bandwidth is between 1e-150 and 1e150 standard \
                               deviations",
        )?;
        Ok(h)
    }
}

impl DensityMethod {
    /// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i, and the method used, which differs from `self` for
    /// `Auto`.
    fn sums(self, x: &Standardised, h: f64) -> Result<(DensityMethod, Sums)> {
        let sums = match self {
            DensityMethod::Auto => return auto(x, h),
            DensityMethod::Exact => exact::sums(x, h),
            DensityMethod::Tree { tolerance } => tree_sums(x, h, tolerance),
            DensityMethod::Binned => {
                Grid::new(x, h).map(|grid| grid.sums()).ok_or(Error::InvalidParameter {
                    name: "bandwidth of the binned density",
                    value: h,
                    requirement: "large enough for a grid of at most 2^27 nodes with spacing h/3 \
                              or h/4, in at most 3 dimensions; use DensityMethod::Tree instead",
                })
            }
        };
        Ok((self, sums?))
    }
}

fn auto(x: &Standardised, h: f64) -> Result<(DensityMethod, Sums)> {
    if x.n <= EXACT_UP_TO || x.dim() > TREE_DIMENSIONS {
        return DensityMethod::Exact.sums(x, h);
    }
    match Grid::new(x, h).filter(|grid| grid.nodes() <= NODES_PER_POINT * x.n) {
        Some(grid) => Ok((DensityMethod::Binned, grid.sums())),
        None => DensityMethod::Tree { tolerance: 0.05 }.sums(x, h),
    }
}

fn tree_sums(x: &Standardised, h: f64, tolerance: f64) -> Result<Sums> {
    validate::require(
        tolerance > 0.0 && tolerance < 1.0,
        "tolerance of the tree density",
        tolerance,
        "strictly between 0 and 1; for exact sums use DensityMethod::Exact",
    )?;
    let tree = Tree::new(&x.coords, x.dim());
    let phi = GaussianProfile(h);
    // Queries in tree order, so that points close in memory are close in space.
    let in_tree_order: Vec<(f64, u64)> = (0..x.n)
        .into_par_iter()
        .map_init(Frontier::default, |open, t| tree.sum(tree.point(t), &phi, tolerance, open))
        .collect();
    let operations = in_tree_order.iter().map(|(_, operations)| operations).sum();
    let mut values = vec![0.0; x.n];
    tree.order().iter().zip(in_tree_order).for_each(|(&i, (sum, _))| values[i] = sum);
    Ok(Sums { values, operations })
}
