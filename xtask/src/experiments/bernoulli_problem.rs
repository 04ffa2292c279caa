//! The synthetic problem of Alaoui & Mahoney 2015, section 4: Bernoulli kernel, asymmetric design,
//! n = 500.
//!
//! The paper prints n, λ = 1e-6, d_eff = 24 and d_mof = 500, but neither β, nor the law of the
//! design, nor f*, nor the noise. Ours:
//!
//! * β = 1, and λ = 1e-6 read as the absolute ridge, the reading that fits the linear rows of Table
//!   1;
//! * x at the quantiles of ½v²⁷⁰ and of 1 − ½v²⁷⁰, v uniform: dense at the borders, sparse at ½;
//! * f* = k(·, ¼) − k(·, ¾), scaled to maximum 1;
//! * noise of standard deviation 0.1.
//!
//! The exponent was chosen for d_eff = 24 alone; d_mof = 500 follows. With β = 2 no design of the
//! symmetric two-parameter family of quantiles ½(1 − (1 − v)^b)^a meets both: 24.3 goes with 488.

use nystrom::kernels::Bernoulli;
use nystrom::leverage::ExactScores;
use nystrom::linalg_core::random;
use nystrom::prelude::*;

use super::truth::Truth;

/// Exponent of the design: the larger, the denser the borders.
const EXPONENT: i32 = 270;
/// The kernel is k(x, y) = ½B₂({x − y}).
pub const BETA: u32 = 1;
/// Variance of the noise.
pub const NOISE: f64 = 0.01;
/// The ridge.
pub const RIDGE: Ridge<f64> = Ridge::Absolute(1e-6);

/// The problem.
pub struct BernoulliProblem {
    /// The design, sorted.
    pub x: Vec<f64>,
    /// f* at the design, and the risk of exact KRR.
    pub truth: Truth,
    /// Exact scores.
    pub leverage: ExactScores<f64>,
}

impl BernoulliProblem {
    /// The problem of n points.
    pub fn new(n: usize) -> anyhow::Result<Self> {
        let half = n / 2;
        let quantile = |i: usize, shift: f64, count: usize| {
            0.5 * ((i as f64 + shift) / count as f64).powi(EXPONENT)
        };
        let left = (0..half).map(|i| quantile(i, 0.25, half));
        let right =
            (0..n - half).map(|i| (1.0 - quantile(i, 0.75, n - half)).min(1.0 - f64::EPSILON));
        let mut x: Vec<f64> = left.chain(right).collect();
        x.sort_by(f64::total_cmp);
        let k = matrix(&x)?;
        let truth = Truth::known(&k, RIDGE, truth(&x)?, NOISE)?;
        let leverage = exact_scores(&k, RIDGE)?;
        Ok(BernoulliProblem { truth, leverage, x })
    }

    /// R(f̂_L)/R(f̂_K) of p columns drawn with replacement in proportion to the weights, and how many
    /// of these are distinct.
    ///
    /// # Randomness
    /// The draws.
    pub fn through(
        &self,
        weights: &[f64],
        p: usize,
        rng: &mut dyn Rng,
    ) -> anyhow::Result<(f64, usize)> {
        let drawn = random::with_replacement(weights, p, rng)?;
        let landmarks = Landmarks::from_draws(self.x.len(), &drawn)?;
        let nystrom = Nystrom::new(&self.matrix()?, &landmarks)?;
        Ok((self.truth.ratio(&nystrom, RIDGE)?, landmarks.len()))
    }

    /// The kernel matrix.
    pub fn matrix(&self) -> anyhow::Result<KernelMatrix<'_, f64, Bernoulli>> {
        matrix(&self.x)
    }
}

fn matrix(x: &[f64]) -> anyhow::Result<KernelMatrix<'_, f64, Bernoulli>> {
    Ok(KernelMatrix::new(Bernoulli::new(BETA)?, Points::from_slice(x))?)
}

/// f* at the points x, scaled by its maximum over a fine grid.
fn truth(x: &[f64]) -> anyhow::Result<Vec<f64>> {
    let kernel = Bernoulli::new(BETA)?;
    let difference = |x: &[f64]| -> Vec<f64> {
        let k = kernel.eval(Points::from_slice(x), Points::from_slice(&[0.25, 0.75]));
        (0..x.len()).map(|i| k[(i, 0)] - k[(i, 1)]).collect()
    };
    let grid: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
    let scale = difference(&grid).into_iter().map(f64::abs).fold(0.0, f64::max);
    Ok(difference(x).into_iter().map(|f| f / scale).collect())
}
