//! The synthetic problem of Alaoui & Mahoney 2015, section 4: Bernoulli kernel, asymmetric design, n = 500.
//!
//! The paper prints n, λ = 1e-6, d_eff = 24 and d_mof = 500, but neither β, nor the law of the design, nor f*, nor the noise.
//! Ours:
//!
//! * β = 2, and λ = 1e-6 read as the absolute ridge, the reading that fits the linear rows of Table 1;
//! * x = ½v²⁰ or 1 − ½v²⁰ with probability ½ each, v uniform: dense at the borders, sparse at ½; the exponent was chosen so that
//!   d_eff comes out near the printed 24;
//! * f* = Σ_j (−1)^j k(·, (2j + 1)/20) over ten points, scaled to mean square 1 on the design;
//! * noise variance such that bias² = variance for exact KRR: the ridge is then about the best one.

use nystrom::kernels::{Bernoulli, Kernel, KernelMatrix, Points};
use nystrom::krr::risk::{FixedDesign, Risk};
use nystrom::linalg_core::Ridge;
use rand::{Rng, RngExt};

/// Exponent of the design: the larger, the denser the borders.
const EXPONENT: i32 = 20;
/// The ridge.
pub const RIDGE: Ridge<f64> = Ridge::Absolute(1e-6);

/// What the experiments say about these choices.
pub const CHOICES: &str = "The paper leaves open β, the law of the design, f* and the noise. Here β = 2, the ridge 1e-6 is absolute, \
    x is ½v²⁰ or 1 − ½v²⁰ with v uniform, f* is an alternating sum of ten kernel functions with mean square 1, and the noise variance \
    makes bias² and variance of exact KRR equal.";

/// The problem, drawn.
pub struct BernoulliProblem {
    /// The design, sorted.
    pub x: Vec<f64>,
    /// f*(x_i).
    pub f_star: Vec<f64>,
    /// Variance of the noise.
    pub noise: f64,
    /// Risk of exact KRR.
    pub exact: Risk,
}

impl BernoulliProblem {
    /// Draws a problem of n points.
    pub fn draw(n: usize, rng: &mut dyn Rng) -> anyhow::Result<Self> {
        let mut x: Vec<f64> = (0..n)
            .map(|_| {
                let half = 0.5 * rng.random::<f64>().powi(EXPONENT);
                if rng.random::<bool>() { half } else { 1.0 - half }
            })
            .map(|x| x.min(1.0 - f64::EPSILON))
            .collect();
        x.sort_by(f64::total_cmp);
        let f_star = truth(&x)?;
        let design = FixedDesign::exact(&matrix(&x)?, &f_star)?;
        let unit = design.risk(RIDGE, 1.0)?;
        let noise = unit.bias_squared / unit.variance;
        Ok(BernoulliProblem { exact: design.risk(RIDGE, noise)?, x, f_star, noise })
    }

    /// The kernel matrix.
    pub fn matrix(&self) -> anyhow::Result<KernelMatrix<'_, f64, Bernoulli>> {
        matrix(&self.x)
    }
}

fn matrix(x: &[f64]) -> anyhow::Result<KernelMatrix<'_, f64, Bernoulli>> {
    Ok(KernelMatrix::new(Bernoulli::new(2)?, Points::from_slice(x))?)
}

fn truth(x: &[f64]) -> anyhow::Result<Vec<f64>> {
    let anchors: Vec<f64> = (0..10).map(|j| f64::from(2 * j + 1) / 20.0).collect();
    let k = Bernoulli::new(2)?.eval(Points::from_slice(x), Points::from_slice(&anchors));
    let f: Vec<f64> = (0..x.len()).map(|i| (0..10).map(|j| if j % 2 == 0 { k[(i, j)] } else { -k[(i, j)] }).sum()).collect();
    let scale = (f.iter().map(|f| f * f).sum::<f64>() / f.len() as f64).sqrt();
    Ok(f.into_iter().map(|f| f / scale).collect())
}
