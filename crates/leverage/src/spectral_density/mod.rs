//! Ridge leverage scores from the spectral density of a stationary kernel: no kernel matrix at all.
//!
//! Ridge regression on a cloud of points of density p solves, near an interior point x, a problem
//! that a Fourier transform diagonalises. The symbol of its solution operator is 1/(p(x) + λ/m(s)).
//! Its value at the origin approximates the rescaled score,
//!
//! n·l_i ≈ **K̃_λ(x_i, x_i) = ∫_{ℝ^d} ds / (p(x_i) + λ/m(s))**,
//!
//! a function of the density alone ([`LocalScore`]). So n scores cost a density estimate and n
//! evaluations of a polynomial.
//!
//! # What it does not see
//!
//! **The boundary of the support.** The integral knows the density at a point, not that it ends
//! nearby. Where the density jumps to 0 along a flat boundary, the score of the same limit is
//!
//! (1/p) ∫ ln(1 + p m(s)/λ) ds = (1/p) ∫_0^p K̃_λ(q) dq   ([`LocalScore::flat_boundary`]),
//!
//! which is 2α/d = (2ν + d)/d times K̃ for Matérn kernels at small λ. It is 2 for ν = 1/2 on the
//! line, 4 for ν = 3/2, 4/3 for ν = 1/2 in three dimensions. In corners it is more. *Derivation.*
//! Write σ = 1 + p m/λ. The score is (1/p)(I − (I + (p/λ)K)⁻¹)(x, x) on the half space x_1 > 0, for
//! each tangential frequency a Wiener–Hopf operator in x_1. With σ = σ_+σ_− and 1/σ_+ = 1 + γ̂ its
//! inverse has the diagonal γ(0+) + ∫_0^{x_1} γ² besides the identity. At x_1 = 0 that is γ(0+) =
//! −∫ ln σ ds_1, since the transform of ln σ_+ is that of ln σ cut at 0; integrate over the
//! tangential
//! frequencies. The relative error of the method therefore does not vanish there as n grows. Only
//! the share of points concerned does, since the layer is as thin as the equivalent kernel, h =
//! (λ'/p)^{1/(2α)}. In the repository `docs/figures/chen-yang-boundary.svg` shows it for ν = 1/2
//! and 3/2 on the line, where it is some two h wide.
//!
//! There is no full correction here. To correct a point one needs its distance to the boundary at
//! the scale h and the density on its own side. But the density estimate is itself halved there,
//! and a local mass fraction cannot tell a boundary from a slope. [`Guard::LocalAverage`] on all
//! points corrects a part. It sees half the mass, and so gives K̃(p/2): for ν = 1/2 on the line √2
//! of the factor 2. [`LocalScore::flat_boundary`] bounds what remains: landmarks drawn from the
//! scores make up for it if there are 2α/d times as many.
//!
//! **Sparse regions.** Where fewer than a few points lie within h, the cloud is no continuum; see
//! [`Guard`].
//!
//! **Many dimensions.** Density estimation needs n exponential in d; [`DensityMethod::Auto`]
//! refuses when it has become meaningless: an error, or uniform scores for who asks for them
//! ([`Density::EstimatedOrUniform`]). Where it has meaning but all pairs cost too much,
//! [`SampledDensity`] takes a random sample. (Random Fourier features would take 2^{d/2} times as
//! many cosines for the same variance at a point of average density. Var k(x, X) ≈ 2^{−d/2} E k
//! there, while a feature has variance E k/2.)
//!
//! # Source
//! Chen & Yang, "Fast statistical leverage score approximation in kernel ridge regression", AISTATS
//! 2021.

mod density;
mod estimator;
mod gaussian;
mod guard;
mod local_score;
mod matern;
mod quadrature;
mod report;
mod stationary;
mod table;

pub use density::{
    Bandwidth, Density, DensityMethod, KernelDensity, Refusal, SampledDensity, SampledEstimate,
};
pub use estimator::SpectralLeverage;
pub use guard::Guard;
pub use local_score::LocalScore;
pub use report::{SpectralReport, SpectralScores};
pub use stationary::{Family, FromSpectralDensity, ProfileFamily, Stationary};

use density::Estimate;
use nystrom_kernels::Points;
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use rayon::prelude::*;

/// Up to this many points K̃ is computed for each; beyond, from a table.
const DIRECT_UP_TO: usize = 64;

/// The spectral-analysis (SA) estimator of ridge leverage scores; deterministic.
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
    /// Where the density comes from.
    pub density: Density<'a, T>,
    /// What to do where it is low.
    pub guard: Guard,
}

impl<T> Default for SpectralAnalysis<'_, T> {
    /// The default [`KernelDensity`], no guard beyond the clip.
    fn default() -> Self {
        SpectralAnalysis {
            density: Density::Estimated(KernelDensity::default()),
            guard: Guard::None,
        }
    }
}

impl<T: Scalar> SpectralAnalysis<'_, T> {
    /// Approximate ridge leverage scores of `kernel` on `points`, without a single kernel
    /// evaluation.
    ///
    /// # Cost
    /// The density estimate (see [`DensityMethod`]; nothing if it is given), one or two hundred
    /// one-dimensional integrals, and O(n) arithmetic. O(n) memory apart from the density
    /// estimate's.
    ///
    /// # Source
    /// Chen & Yang, AISTATS 2021, Algorithm 1.
    ///
    /// # Departures
    /// Scores are clipped at k(0)/(k(0) + nλ) instead of 1: K_ii/(K_ii + nλ) bounds every ridge
    /// leverage score. Coordinates that are constant do not count as dimensions of an estimated
    /// density.
    ///
    /// # Errors
    /// Those of [`Points::check`], [`Ridge::absolute`], [`KernelDensity::density`], [`LocalScore`]
    /// and [`Guard`]. For a given density `Shape` if it does not have one value per point,
    /// `NotPositive` naming the first value that is not positive and finite.
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

/// n and λ, after the checks that need no work.
fn checked<T: Scalar>(
    kernel: &dyn Stationary,
    points: Points<'_, T>,
    ridge: Ridge<T>,
) -> Result<(usize, f64)> {
    points.check()?;
    let n = points.len();
    let lambda = ridge.per_sample(n)?.f64();
    validate::positive("variance k(0)", kernel.variance())?;
    LocalScore::new(kernel, points.dim(), lambda)?;
    Ok((n, lambda))
}

fn range(p: &[f64]) -> (f64, f64) {
    p.iter().fold((f64::INFINITY, 0.0), |(low, high), &p| (low.min(p), high.max(p)))
}

/// ln K̃ at every density, and the number of integrals that took.
fn evaluate(K: &LocalScore<'_>, p: &[f64]) -> Result<(Vec<f64>, usize)> {
    if p.len() <= DIRECT_UP_TO {
        return Ok((p.iter().map(|p| K.ln_at(p.ln())).collect::<Result<_>>()?, p.len()));
    }
    let (low, high) = range(p);
    let table = K.tabulate(low..=high)?;
    Ok((p.par_iter().map(|p| table.at(p.ln())).collect(), table.nodes()))
}
