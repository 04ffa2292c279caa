//! Ridge leverage scores from the spectral density of a stationary kernel, without a kernel matrix.
//!
//! Near an interior point x of a cloud of points with density p, a Fourier transform diagonalises
//! kernel ridge regression. The solution operator has the symbol 1/(p(x) + λ/m(s)), where m is the
//! spectral density of the kernel. The integral of the symbol approximates the rescaled score,
//!
//! n·l_i ≈ **K̃_λ(x_i, x_i) = ∫_{ℝ^d} ds / (p(x_i) + λ/m(s))**,
//!
//! a function of the density alone ([`LocalScore`]). For n scores the method thus needs a density
//! estimate and n evaluations of a polynomial.
//!
//! # Limitations
//!
//! **The boundary of the support.** The integral depends on the density at a point, not on the
//! distance to the boundary. At a flat boundary, where the density jumps to 0, the rescaled score
//! in the same limit is
//!
//! (1/p) ∫ ln(1 + p m(s)/λ) ds = (1/p) ∫_0^p K̃_λ(q) dq   ([`LocalScore::flat_boundary`]),
//!
//! which for Matérn kernels at small λ is 2α/d = (2ν + d)/d times K̃, with α = ν + d/2. This factor
//! is 2 for ν = 1/2 on the line, 4 for ν = 3/2 on the line, and 4/3 for ν = 1/2 in three
//! dimensions. In corners the factor is larger.
//!
//! *Derivation.* Write σ = 1 + p m/λ. The score is (1/p)(I − (I + (p/λ)K)⁻¹)(x, x) on the half
//! space x_1 > 0. For each tangential frequency, I + (p/λ)K is a Wiener–Hopf operator in x_1. With
//! σ = σ_+σ_− and 1/σ_+ = 1 + γ̂, the diagonal of its inverse is the identity plus γ(0+) +
//! ∫_0^{x_1} γ². At x_1 = 0 this sum is γ(0+) = −∫ ln σ ds_1, since the transform of ln σ_+ is that
//! of ln σ restricted to one side of 0. Integration over the tangential frequencies gives the
//! formula.
//!
//! The relative error of the method at the boundary therefore does not vanish as n grows. The share
//! of points affected does vanish, since the boundary layer is as thin as the equivalent kernel,
//! h = (λ'/p)^{1/(2α)} with λ' = λ/(C a^{2ν}), C = 2^d π^{d/2} Γ(α)/Γ(ν) and a the inverse length
//! scale of the Matérn kernel ([`StationaryFamily::Matern`]). The figure
//! `docs/figures/chen-yang-boundary.svg` in the repository shows the layer for ν = 1/2 and 3/2 on
//! the line, where it is about 2h wide.
//!
//! The method does not correct this error fully. A correction would need the distance of a point to
//! the boundary, in units of h, and the density on the inner side. But a density estimate at the
//! boundary is itself halved, and the local mass cannot distinguish a boundary from a slope of the
//! density. [`Guard::LocalAverage`] for all points is a partial correction: at the boundary it
//! averages over half the mass and gives K̃(p/2), for ν = 1/2 on the line a factor √2 of the
//! missing 2. [`LocalScore::flat_boundary`] bounds the remaining error: 2α/d times as many
//! landmarks drawn by the scores compensate for it.
//!
//! **Sparse regions.** The method assumes a continuum of points, which fails where only a few
//! points or none lie within h; see [`Guard`].
//!
//! **Many dimensions.** Density estimation needs n exponential in d. [`DensityMethod::Auto`]
//! detects a meaningless estimate and returns an error, or uniform scores if the caller chose
//! [`Density::EstimatedOrUniform`]. If an estimate is meaningful but all pairs of points cost too
//! much, [`SampledDensity`] sums over a random sample. (Random Fourier features would need 2^{d/2}
//! times as many cosines as the sample has points, for the same variance at a point of average
//! density: there Var k(x, X) ≈ 2^{−d/2} E k, while a feature has variance E k/2.)
//!
//! # Source
//! Chen & Yang, "Fast statistical leverage score approximation in kernel ridge regression", AISTATS
//! 2021.

mod estimator;
mod gaussian;
mod guard;
mod local_score;
mod matern;
mod point_density;
mod quadrature;
mod report;
mod stationary;
mod table;

pub use estimator::SpectralLeverage;
pub use guard::Guard;
pub use local_score::LocalScore;
pub use point_density::{
    Bandwidth, Density, DensityMethod, KernelDensity, Refusal, SampledDensity, SampledEstimate,
};
pub use report::{SpectralReport, SpectralScores};
pub use stationary::{FromSpectralDensity, ProfileFamily, Stationary, StationaryFamily};

use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use point_density::Estimate;
use rayon::prelude::*;

/// For at most this many points K̃ is computed at every point; for more, it is interpolated from a
/// table.
const DIRECT_UP_TO: usize = 64;

/// The spectral-analysis (SA) estimator of ridge leverage scores. It is deterministic.
///
/// ```
/// use nystrom_kernels::{Matern32, Points};
/// use nystrom_leverage::SpectralAnalysis;
/// use nystrom_linalg_core::Ridge;
/// // 5000 points, dense on the left, sparse on the right
/// let x: Vec<f64> = (0..5000).map(|i| ((i as f64 + 0.5) / 5000.0).powi(3)).collect();
/// let kernel = Matern32::new(0.2)?;
/// let found = SpectralAnalysis::default().scores(
///     &kernel,
///     Points::from_slice(&x),
///     Ridge::PerSample(1e-5),
/// )?;
/// assert!(found.scores[500] < 0.2 * found.scores[4500]); // sparse points matter more
/// let q = found.sampling_probabilities();
/// assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpectralAnalysis<'a, T> {
    /// The density of the points, or the method to estimate it.
    pub density: Density<'a, T>,
    /// The treatment of points of low density.
    pub guard: Guard,
}

impl<T> Default for SpectralAnalysis<'_, T> {
    /// The density estimated by the default [`KernelDensity`], and no guard.
    fn default() -> Self {
        SpectralAnalysis {
            density: Density::Estimated(KernelDensity::default()),
            guard: Guard::None,
        }
    }
}

impl<T: Scalar> SpectralAnalysis<'_, T> {
    /// Approximate ridge leverage scores of `kernel` on `points`, without kernel evaluations.
    ///
    /// # Cost
    /// The density estimate (see [`DensityMethod`]; none if the density is given), one or two
    /// hundred one-dimensional integrals, and O(n) arithmetic. O(n) memory besides that of the
    /// density estimate.
    ///
    /// # Source
    /// Chen & Yang, AISTATS 2021, Algorithm 1.
    ///
    /// # Departures
    /// Scores are clipped at k(0)/(k(0) + nλ) instead of 1: K_ii/(K_ii + nλ) bounds every ridge
    /// leverage score. An estimated density is on the coordinates that vary; constant coordinates
    /// do not count as dimensions.
    ///
    /// # Errors
    /// Those of [`Points::check`], [`Ridge::absolute`], [`KernelDensity::density`], [`LocalScore`]
    /// and [`Guard`]. For a given density, `Shape` if it does not have one value per point, and
    /// `NotPositive` with the first value that is not positive and finite.
    pub fn scores(
        &self,
        kernel: &dyn Stationary,
        points: Points<'_, T>,
        ridge: Ridge<T>,
    ) -> Result<SpectralScores<T>> {
        let (n, lambda) = checked(kernel, points, ridge)?;
        let bound = kernel.variance() / (kernel.variance() + n as f64 * lambda);
        let Estimate { values: mut p, kept, method, bandwidth, operations } = match self
            .density
            .at(points)?
        {
            Ok(estimate) => estimate, // p̂(x_i)
            Err(refusal) => {
                return Ok(SpectralScores::uniform(n, bound, kernel.variance() / lambda, refusal));
            }
        };
        let K = LocalScore::on_coordinates(kernel, &kept, lambda)?;
        let (min_density, max_density) = range(&p);
        let guarded = self.guard.apply(&mut p, &K, points, &kept)?; // low-density modification
        let (ln_rescaled, integrals) = evaluate(&K, &p)?; // K̃_i = ∫ ds/(p_i + λ/m(s))
        let score = |ln_k: &f64| (ln_k.exp() / n as f64).min(bound); // l̃_i = K̃_i/n, clipped
        let scores: Vec<f64> = ln_rescaled.iter().map(score).collect();
        let clipped = scores.iter().filter(|&&l| l == bound).count();
        let (guarded, threshold) = (guarded.replaced, guarded.threshold);
        let dimension = kept.len();
        #[rustfmt::skip]
        let report = SpectralReport {
            refusal: None, method, bandwidth, dimension, min_density, max_density, guarded,
                threshold, clipped, integrals, operations,
        };
        let rescaled = ln_rescaled.iter().map(|ln_k| T::lit(ln_k.exp())).collect();
        Ok(SpectralScores { scores: scores.into_iter().map(T::lit).collect(), rescaled, report })
    }
}

/// Makes the checks that take no computation, and returns n and λ.
fn checked<T: Scalar>(
    kernel: &dyn Stationary,
    points: Points<'_, T>,
    ridge: Ridge<T>,
) -> Result<(usize, f64)> {
    points.check_dense()?;
    let n = points.len();
    let lambda = ridge.per_sample(n)?.f64();
    validate::positive("variance k(0)", kernel.variance())?;
    LocalScore::new(kernel, points.dim(), lambda)?;
    Ok((n, lambda))
}

fn range(p: &[f64]) -> (f64, f64) {
    p.iter().fold((f64::INFINITY, 0.0), |(low, high), &p| (low.min(p), high.max(p)))
}

/// ln K̃ at every density, and the number of integrals computed.
fn evaluate(K: &LocalScore<'_>, p: &[f64]) -> Result<(Vec<f64>, usize)> {
    if p.len() <= DIRECT_UP_TO {
        return Ok((p.iter().map(|p| K.ln_at(p.ln())).collect::<Result<_>>()?, p.len()));
    }
    let (low, high) = range(p);
    let table = K.tabulate(low..=high)?;
    Ok((p.par_iter().map(|p| table.at(p.ln())).collect(), table.nodes()))
}
