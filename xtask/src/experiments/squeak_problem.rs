//! The regression problem of the SQUEAK experiments: points that crowd a square, and a few far from
//! everything.
//!
//! The crowd can be described by few points; each of the others only by itself. So d_eff stays
//! small while the largest score, and with it d_mof = n·max l, is near its limit n/(1 + γ). In this
//! case uniform columns fail and leverage scores pay.

use nystrom::prelude::*;

/// Points far from everything.
pub const ISOLATED: usize = 40;
/// γ = μ: the ridge of the scores and of the regression, absolute. Theorem 1 asks for γ > 1.
pub const GAMMA: f64 = 1.25;
/// Variance of the noise.
pub const NOISE: f64 = 0.25;

/// Points (n × 2) in random order, and f*.
pub struct SqueakProblem {
    /// n × 2.
    pub x: Mat<f64>,
    /// f*(x_i).
    pub f_star: Vec<f64>,
}

impl SqueakProblem {
    /// n points.
    pub fn new(n: usize, rng: &mut dyn Rng) -> Self {
        let far = ISOLATED.min(n / 2);
        let mut rows: Vec<[f64; 2]> = (0..n)
            .map(|i| {
                let (u, v): (f64, f64) = (rng.random(), rng.random());
                if i < far { [2.0 + 40.0 * u, 2.0 + 40.0 * v] } else { [u, v] }
            })
            .collect();
        for i in (1..n).rev() {
            rows.swap(i, rng.random_range(0..=i)); // Fisher–Yates
        }
        let f_star = rows.iter().map(|[u, v]| (5.0 * u).sin() + (3.0 * v).cos()).collect();
        SqueakProblem { x: Mat::from_fn(n, 2, |i, j| rows[i][j]), f_star }
    }

    /// f* with noise, n × 1.
    pub fn y(&self, rng: &mut dyn Rng) -> Mat<f64> {
        let noise = nystrom::linalg_core::random::standard_normal::<f64>(self.f_star.len(), 1, rng);
        Mat::from_fn(self.f_star.len(), 1, |i, _| self.f_star[i] + NOISE.sqrt() * noise[(i, 0)])
    }

    /// The first t points.
    pub fn first(&self, t: usize) -> Points<'_, f64> {
        Points::from_rows(self.x.as_ref().subrows(0, t))
    }

    /// The kernel matrix of the first t points.
    pub fn matrix(&self, t: usize) -> anyhow::Result<KernelMatrix<'_, f64, Gaussian>> {
        Ok(KernelMatrix::new(kernel()?, self.first(t))?)
    }
}

/// exp(−r²/(2·0.3²)).
pub fn kernel() -> anyhow::Result<Gaussian> {
    Ok(Gaussian::new(0.3)?)
}

/// γ.
pub const fn ridge() -> Ridge<f64> {
    Ridge::Absolute(GAMMA)
}
