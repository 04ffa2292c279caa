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

/// Where the density of the points comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Density<'a, T> {
    /// p(x_i) for every i, with respect to the volume of ℝ^d, d the number of coordinates of the
    /// points.
    Given(&'a [T]),
    /// Estimated from the points; an error where that means nothing.
    Estimated(KernelDensity),
    /// Estimated from the points. Where [`DensityMethod::Auto`] refuses, all scores are
    /// k(0)/(k(0) + nλ). No ridge leverage score exceeds this bound, and it is the limit of the
    /// method as p → 0. Landmarks drawn from them are uniform, their sum says nothing about
    /// d_eff, and [`SpectralReport::refusal`](crate::SpectralReport::refusal) says why.
    EstimatedOrUniform(KernelDensity),
}

/// A Gaussian kernel density estimate p̂(x_i) = (1/n) Σ_j Π_k N(x_ik − x_jk; (h σ_k)²) on
/// standardised features: σ_k is the standard deviation of coordinate k.
///
/// The point itself is left in the sum. So p̂ is at least the mass 1/n of one point spread over a
/// bandwidth, which guards isolated points. Coordinates that are constant are left out, and the
/// density is one on the others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelDensity {
    /// h.
    pub bandwidth: Bandwidth,
    /// How the sums are computed.
    pub method: DensityMethod,
}

impl Default for KernelDensity {
    /// h = 0.5·n^{−1/(d+4)}, method by size.
    fn default() -> Self {
        KernelDensity { bandwidth: Bandwidth::Rule(0.5), method: DensityMethod::Auto }
    }
}

/// The bandwidth h, in standard deviations of the features.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Bandwidth {
    /// h = c·n^{−1/(d+4)} for this c: the exponent of least mean squared error. The text of the
    /// paper that we have lacks its bandwidths, exponent and constant. c = 0.5 is our choice, 0.4
    /// to 0.9 fitting real data best.
    Rule(f64),
    /// h itself.
    Fixed(f64),
}

/// How the sums of a kernel density estimate are computed. For n beyond all of these see
/// [`SampledDensity`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DensityMethod {
    /// All pairs up to n = 8192 or in more than six dimensions. Otherwise the grid if it has at
    /// most 1024 nodes per point (and three dimensions), else the tree with tolerance 0.05.
    /// Refuses where a density means nothing: see [`KernelDensity`]'s `Errors`.
    Auto,
    /// All pairs, n² kernel values in tiles.
    Exact,
    /// A k-d tree; every density is within this relative tolerance of the exact estimate. In d
    /// dimensions a bandwidth of order n^{−1/(d+4)} has n^{4/(d+4)} points within it. The tree
    /// looks at a share of them that falls slowly, some n^{1.4} in all.
    Tree {
        /// Relative tolerance, in (0, 1).
        tolerance: f64,
    },
    /// Cubic splines on a grid with spacing δ = h/4, or h/3 in three dimensions, that exists only
    /// where points are. At most three dimensions, and 2²⁷ nodes in memory (1 GiB). The number of
    /// nodes grows like the number of bandwidths that the cloud fills, n^{d/(d+4)} at most, so the
    /// cost is linear in n. The contribution of a point at z bandwidths is off by at most (1 +
    /// z⁴)(δ/h)⁴/100 of it per dimension. That is below a thousandth in the bulk, a few percent
    /// where what is five bandwidths away dominates.
    Binned,
}

const EXACT_UP_TO: usize = 8192;
/// A grid with more nodes per point is mostly empty, and the tree as fast.
const NODES_PER_POINT: usize = 1024;
const TREE_DIMENSIONS: usize = 6;

/// A density at every point, on the coordinates that vary.
pub(crate) struct Estimate {
    pub(crate) values: Vec<f64>,
    /// The coordinates the density lives on.
    pub(crate) kept: Vec<usize>,
    pub(crate) method: Option<DensityMethod>,
    pub(crate) bandwidth: Option<f64>,
    /// Kernel values, bounds and multiplications that took.
    pub(crate) operations: u64,
}

impl Estimate {
    /// Of densities that took no estimate.
    fn known(values: Vec<f64>, kept: Vec<usize>) -> Self {
        Estimate { values, kept, method: None, bandwidth: None, operations: 0 }
    }
}

/// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i, and what they took.
pub(crate) struct Sums {
    values: Vec<f64>,
    operations: u64,
}

impl<T: Scalar> Density<'_, T> {
    /// Checks or estimates p(x_i); a refusal only if the caller knows what to do then.
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
    /// [`DensityMethod::Auto`] also if the point itself makes up more than half of the density at
    /// the median point. The dimension is then too large for n.
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
        points.check()?;
        Ok(self.at(&Standardised::new(points))??.values)
    }

    fn at(&self, x: &Standardised) -> Result<Result<Estimate, Refusal>> {
        let h = self.bandwidth.resolve(x.n, x.dim())?;
        if x.dim() == 0 {
            // all points in one place: the mass there
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

/// ln of 1/(n (2πh²)^{d/2} Π_k σ_k): what a point contributes to the density at itself.
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
            "such that the bandwidth lies between 1e-150 and 1e150 standard \
                               deviations: its square is needed",
        )?;
        Ok(h)
    }
}

impl DensityMethod {
    /// Σ_j exp(−‖x_i − x_j‖²/(2h²)) for every i, by this method or the one that it stands for.
    fn sums(self, x: &Standardised, h: f64) -> Result<(DensityMethod, Sums)> {
        let sums = match self {
            DensityMethod::Auto => return auto(x, h),
            DensityMethod::Exact => exact::sums(x, h),
            DensityMethod::Tree { tolerance } => tree_sums(x, h, tolerance),
            DensityMethod::Binned => {
                Grid::new(x, h).map(|grid| grid.sums()).ok_or(Error::InvalidParameter {
                    name: "bandwidth of the binned density",
                    value: h,
                    requirement: "large enough for a grid of 2^27 nodes with spacing h/3 or h/4 \
                              around the points, in at most 3 \
                              dimensions; use the tree instead",
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
    // Queries in tree order: neighbours in memory are neighbours in space.
    let in_tree_order: Vec<(f64, u64)> = (0..x.n)
        .into_par_iter()
        .map_init(Frontier::default, |open, t| tree.sum(tree.point(t), &phi, tolerance, open))
        .collect();
    let operations = in_tree_order.iter().map(|(_, operations)| operations).sum();
    let mut values = vec![0.0; x.n];
    tree.order().iter().zip(in_tree_order).for_each(|(&i, (sum, _))| values[i] = sum);
    Ok(Sums { values, operations })
}
