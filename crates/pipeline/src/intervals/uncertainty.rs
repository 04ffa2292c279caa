//! Standard deviations of a Gaussian process.
//!
//! # The model
//! In standard units (targets of variance 1) y = f + ε, where f is a Gaussian process of covariance
//! s²k and ε is noise of variance σ². Ridge regression at any μ then errs by s²b(x) + σ²c(x) in the
//! mean square ([`Posterior::parts`]). If σ² = s²μ this is the variance of the process given the
//! rows. But μ is chosen by prediction error, which hardly depends on μ where there is little
//! noise, so s² and σ² are estimated apart from μ. Far from the rows b(x) = k(x, x) and c(x) = 0:
//! the deviation of f is s.
//!
//! - **Total variance.** Over n rows the variance of y is on average s²κ + σ², where
//!   κ = mean k(xᵢ, xᵢ) − mean k(xᵢ, xⱼ). It is 1 in standard units, so s² = (1 − σ²)/κ. Both
//!   variances are known up to about √(2/n), and s²κ is at least this.
//! - **Residuals.** A validation row has y − f(x) of variance s²bᵢ + σ²(1 + cᵢ), where bᵢ and cᵢ
//!   are those of the fit to the training rows of its fold. σ² maximises the likelihood of the
//!   residuals. They also determine s² if bᵢ is an appreciable part of the prior variance
//!   ([`APPRECIABLE`]). If so, s² is the most likely one up to that of the total variance. If bᵢ is
//!   small everywhere, residuals say nothing of the deviation far from the data.
//!
//! Weights multiply the logarithms of densities.

use crate::error::Result;
use crate::kernel::AnyKernel;
use nystrom::faer::Mat;
use nystrom::krr::{Posterior, Problem};
use nystrom::prelude::*;

/// Residuals determine s² if b is on average at least this share of the prior variance.
const APPRECIABLE: f64 = 0.1;
/// The least κ: of a kernel that is nearly constant over the data, one slope would determine s².
const LEAST_SPREAD: f64 = 0.05;
/// Values of σ² that are compared: this many powers of [`STEP`], from twice the mean square of the
/// residuals downwards.
const NOISES: i32 = 200;
/// The ratio of one σ² to the next.
const STEP: f64 = 0.87;
/// Values of s² that are compared where residuals determine it, each half of the one before.
const AMPLITUDES: i32 = 10;
/// The largest number of landmarks of the posterior variance.
const LANDMARKS: usize = 1000;
/// The largest number of rows whose kernel values are averaged.
const SPREAD_ROWS: usize = 300;
/// The least σ² in standard units: the square of a rounding error.
const LEAST_NOISE: f64 = 1e-30;

/// The posterior variance of a Gaussian process, with the variances of function and noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// Computes b and c.
    pub(crate) posterior: Posterior<AnyKernel, f64>,
    pub(crate) variances: Variances,
}

/// Variances of each target, in its units.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Variances {
    /// s², the variance of the function.
    pub function: Vec<f64>,
    /// σ², the variance of the noise.
    pub noise: Vec<f64>,
}

/// The residuals of validation rows, from which variances are estimated.
pub(crate) struct Left<'a> {
    /// y − f, n × t, in standard units.
    pub residuals: &'a Mat<f64>,
    /// b and c of each row, of the fit to the training rows of its fold. k(x, x) is 1.
    pub parts: &'a [[f64; 2]],
    pub weights: &'a [f64],
    /// κ.
    pub spread: f64,
    /// The number of fitted rows.
    pub rows: usize,
}

impl Left<'_> {
    /// s² and σ² of a target, in standard units.
    pub fn variances(&self, target: usize) -> [f64; 2] {
        let total: f64 = self.weights.iter().sum();
        let mean = |of: &dyn Fn(usize) -> f64| {
            (0..self.weights.len()).map(|i| self.weights[i] * of(i)).sum::<f64>() / total
        };
        let square = mean(&|i| self.residuals[(i, target)].powi(2));
        let determined = mean(&|i| self.parts[i][0]) >= APPRECIABLE;
        let least = (2.0 / self.rows as f64).sqrt();
        let spread = self.spread.max(LEAST_SPREAD);
        let mut best = (f64::INFINITY, [1.0, LEAST_NOISE]);
        for step in 0..NOISES {
            let noise = (2.0 * square * STEP.powi(step)).max(LEAST_NOISE);
            let largest = (1.0 - noise).max(least) / spread;
            for halved in 0..if determined { AMPLITUDES } else { 1 } {
                let function = largest * 0.5_f64.powi(halved);
                let minus = mean(&|i| {
                    let [b, c] = self.parts[i];
                    let variance = function * b + noise * (1.0 + c);
                    variance.ln() + self.residuals[(i, target)].powi(2) / variance
                });
                if minus < best.0 {
                    best = (minus, [function, noise]);
                }
            }
            if noise <= LEAST_NOISE {
                break;
            }
        }
        best.1
    }
}

impl Uncertainty {
    /// A description of what is wrong, if no fit with d features and t targets makes these
    /// variances.
    pub(crate) fn problem(&self, d: usize, t: usize) -> Option<String> {
        let Variances { function, noise } = &self.variances;
        let positive = |all: &[f64]| all.iter().all(|v| v.is_finite() && *v >= 0.0);
        let sound = self.posterior.centers().dim() == d
            && (function.len(), noise.len()) == (t, t)
            && positive(function)
            && positive(noise);
        (!sound).then(|| "its standard deviations do not fit its features".into())
    }

    /// √(s²b + σ²c) and √(s²b + σ²c + σ²) at mapped features.
    pub(crate) fn at(&self, x: Points<'_, f64>) -> Result<[Mat<f64>; 2]> {
        let parts = self.posterior.parts(x)?;
        let Variances { function, noise } = &self.variances;
        Ok([0.0, 1.0].map(|with| {
            let entry = |i: usize, j: usize| {
                let [b, c] = parts[i];
                (function[j] * b + noise[j] * (c + with)).sqrt()
            };
            Mat::from_fn(parts.len(), noise.len(), entry)
        }))
    }
}

/// The posterior given all samples of a problem at a ridge μ, with the first 1000 of `order` as
/// landmarks.
pub(crate) fn posterior(
    kernel: &AnyKernel,
    problem: Problem<'_, f64>,
    order: &[usize],
    mu: f64,
) -> Result<Posterior<AnyKernel, f64>> {
    let some = order[..order.len().min(LANDMARKS)].to_vec();
    let landmarks = Landmarks::new(problem.x.len(), some)?;
    let ridge = Ridge::Absolute(mu);
    let path = NystromKrr::without_ridge(kernel.clone()).path(problem, &landmarks, &[ridge])?;
    Ok(path.posterior_at(ridge)?)
}

/// κ: the mean of k(x, x) less that of k(x, x′) over different rows in random order.
pub(crate) fn spread_of(kernel: &AnyKernel, x: Points<'_, f64>) -> f64 {
    let some = x.slice(0..x.len().min(SPREAD_ROWS));
    let (values, n) = (kernel.gram(some), some.len());
    let diagonal = (0..n).map(|i| values[(i, i)]).sum::<f64>();
    let all = values.col_iter().map(|col| col.sum()).sum::<f64>();
    diagonal / n as f64 - (all - diagonal) / (n * (n - 1).max(1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Family;
    use nystrom::faer::linalg::solvers::Solve;

    fn kernel() -> AnyKernel {
        Family::Gaussian.kernel(0.5, 1).unwrap()
    }

    fn points(rng: &mut Pcg64, n: usize, width: f64) -> Vec<f64> {
        (0..n).map(|_| width * rng.random::<f64>()).collect()
    }

    /// With A = (K + μI)⁻¹ and k = k(X, x), f̂(x) = kᵀAy errs by
    /// s²(k(x, x) − 2kᵀAk + kᵀAKAk) + σ²kᵀA²k.
    #[test]
    fn deviations_are_those_of_a_dense_gaussian_process() {
        let rng = &mut Pcg64::seed_from_u64(1);
        let (rows, new) = (points(rng, 40, 3.0), [0.1, 1.7, 3.4, 50.0]);
        let (kernel, mu) = (kernel(), 0.02);
        let (rows, new) = (Points::from_slice(&rows), Points::from_slice(&new));
        let (y, order) = (Mat::zeros(40, 1), (0..40).collect::<Vec<_>>());
        let posterior = posterior(&kernel, Problem::new(rows, y.as_ref()), &order, mu).unwrap();
        let (gram, cross) = (kernel.gram(rows), kernel.eval(rows, new));
        let mut covariance = gram.clone();
        (0..40).for_each(|i| covariance[(i, i)] += mu);
        let solved = covariance.partial_piv_lu().solve(&cross);
        let square = |a: &Mat<f64>, b: &Mat<f64>, i: usize| -> f64 {
            (0..40).map(|j| a[(j, i)] * b[(j, i)]).sum()
        };
        for (function, noise) in [(3.0, 0.06), (3.0, 1e-6), (0.1, 2.0)] {
            let variances = Variances { function: vec![function], noise: vec![noise] };
            let found = Uncertainty { posterior: posterior.clone(), variances }.at(new).unwrap();
            for i in 0..4 {
                let of_noise = square(&solved, &solved, i);
                let of_function =
                    1.0 - 2.0 * square(&cross, &solved, i) + square(&solved, &(&gram * &solved), i);
                let error = function * of_function + noise * of_noise;
                for (found, expected) in found.iter().zip([error, error + noise]) {
                    let found = found[(i, 0)].powi(2);
                    assert!(
                        (found - expected).abs() < 1e-7 * (1.0 + expected),
                        "{found} {expected}"
                    );
                }
                if noise == function * mu {
                    let process = function * (1.0 - square(&cross, &solved, i));
                    assert!((error - process).abs() < 1e-9);
                }
            }
        }
    }

    /// Residuals of variance s²v + σ² give σ², and s² where v is not small.
    #[test]
    fn residuals_determine_the_noise_and_a_large_function() {
        let rng = &mut Pcg64::seed_from_u64(2);
        let n = 4000;
        for (function, noise, largest, determined) in
            [(0.2, 0.04, 1.0, true), (0.96, 0.04, 0.01, false), (1.0, 1e-6, 1e-4, false)]
        {
            let parts: Vec<[f64; 2]> =
                (0..n).map(|_| [largest * rng.random::<f64>(), 0.1]).collect();
            let mut normal = || (0..12).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
            let residuals =
                Mat::from_fn(n, 1, |i, _| (function * parts[i][0] + 1.1 * noise).sqrt() * normal());
            let weights = vec![1.0; n];
            let left = Left {
                residuals: &residuals,
                parts: &parts,
                weights: &weights,
                spread: 1.0,
                rows: n,
            };
            let found = left.variances(0);
            // twofold steps of s²; σ² to five deviations of a mean of squares, and a step
            assert!(found[0] / function < 2.0 && function / found[0] < 2.0, "{found:?}");
            let tolerance = if determined || noise < 1e-3 { 0.5 } else { 0.2 };
            assert!((found[1] / noise - 1.0).abs() < tolerance, "{found:?} {noise}");
        }
    }
}
