//! Theorem 3.4 of Chen & Yang 2021 (accumulations): how far f_S may be from exact kernel ridge
//! regression.
#![allow(non_snake_case)]

use crate::common::rng;
use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, Matern12, Matern32, Points};
use nystrom_krr::{ExactKrr, SketchedKrr};
use nystrom_linalg_core::{Ridge, random};
use nystrom_sketch::{
    Accumulation, GaussianSketch, Sketch, SketchDiagnostics, SketchDistribution, Subsampling,
    VerySparse,
};
use rand::RngExt;
use rand_pcg::Pcg64;

/// n points on the line, about n^0.6 of them in [2, 2.5] and the others in [0, 1].
fn two_clusters(n: usize, rng: &mut Pcg64) -> Vec<f64> {
    let share = 1.0 / (1.0 + (n as f64).powf(0.4));
    let point = |rng: &mut Pcg64| {
        let (far, u) = (rng.random::<f64>() < share, rng.random::<f64>());
        if far { 2.0 + 0.5 * u } else { u }
    };
    (0..n).map(|_| point(rng)).collect()
}

struct Problem<K> {
    x: Vec<f64>,
    y: Mat<f64>,
    kernel: K,
    lambda: f64,
    /// f_K at the points.
    exact: Mat<f64>,
    /// αᵀKα and ‖α‖², α = (K + nλI)⁻¹y.
    norms: (f64, f64),
    diagnostics: SketchDiagnostics,
}

impl<K: Kernel<f64> + Copy> Problem<K> {
    /// f* = k(·, ½) − k(·, 2.2)/2, noise N(0, ¼).
    fn new(n: usize, kernel: K, lambda: f64, seed: u64) -> Self {
        let rng = &mut rng(seed);
        let x = two_clusters(n, rng);
        let points = Points::from_slice(&x);
        let at = [0.5, 2.2];
        let k = kernel.eval(points, Points::from_slice(&at));
        let noise: Mat<f64> = random::standard_normal(n, 1, rng);
        let y = Mat::from_fn(n, 1, |i, _| k[(i, 0)] - 0.5 * k[(i, 1)] + 0.5 * noise[(i, 0)]);
        let model =
            ExactKrr::new(kernel, Ridge::PerSample(lambda)).fit((points, y.as_ref())).unwrap();
        let exact = model.predict(points).unwrap();
        let alpha = model.coefficients();
        let norms = ((alpha.transpose() * &exact)[(0, 0)], alpha.squared_norm_l2());
        let diagnostics =
            SketchDiagnostics::new(&KernelMatrix::new(kernel, points).unwrap()).unwrap();
        Problem { exact, norms, diagnostics, y, kernel, lambda, x }
    }

    /// (1/n)‖f_S − f_K‖².
    fn error(&self, sketch: &dyn Sketch<f64>) -> f64 {
        let points = Points::from_slice(&self.x);
        let model = SketchedKrr::new(self.kernel, Ridge::PerSample(self.lambda))
            .fit((points, self.y.as_ref()), sketch);
        let f = model.unwrap().predict(points).unwrap();
        (&f - &self.exact).squared_norm_l2() / self.x.len() as f64
    }
}

/// (1/n)‖f_S − f_K‖² ≤ min(E·αᵀKα, nE²‖α‖²) with E = δ(1 + tail/√(1 − head))², for whatever sketch
/// and whatever δ make it finite.
#[test]
fn the_approximation_error_obeys_its_bound_with_its_constant() {
    let n = 300;
    let laws: [&dyn SketchDistribution<f64>; 5] = [
        &Subsampling::default(),
        &Accumulation::uniform(4),
        &Accumulation::uniform(32),
        &GaussianSketch,
        &VerySparse::default(),
    ];
    let (mut checked, mut tightest) = (0, 0.0_f64);
    for seed in 0..4 {
        let lambda = 10.0_f64.powi(-(seed as i32) - 1);
        let smooth = Problem::new(n, Gaussian::new(0.3).unwrap(), lambda, seed);
        let rough = Problem::new(n, Matern32::new(0.5).unwrap(), lambda, seed);
        for (number, law) in laws.into_iter().enumerate() {
            for d in [5, 15, 50, 150] {
                let sketch = law.draw(n, d, &mut rng(seed)).unwrap();
                let mut check = |error: f64, diagnostics: &SketchDiagnostics, norms: (f64, f64)| {
                    for delta in [1e-1, 1e-2, 1e-3, 1e-4] {
                        let E = diagnostics.satisfiability(&*sketch, delta).unwrap().error();
                        if E.is_finite() {
                            let bound = (E * norms.0).min(n as f64 * E * E * norms.1);
                            assert!(
                                error <= bound,
                                "law {number}, d = {d}, δ = {delta}: {error:e} above {bound:e}"
                            );
                            checked += 1;
                            tightest = tightest.max(error / bound);
                        }
                    }
                };
                check(smooth.error(&*sketch), &smooth.diagnostics, smooth.norms);
                check(rough.error(&*sketch), &rough.diagnostics, rough.norms);
            }
        }
    }
    assert!(checked > 200 && tightest > 0.01, "{checked} checked, the tightest {tightest}");
}

/// The rate of Theorem 3.4: for d ≥ c·d_δ, δ < λ, the mean of (1/n)‖f_S − f_K‖² is of the order of
/// δ + d_δδ/(nλ). With c = 2, m = 32 and δ = λ/2 it is below a tenth of it (a sixtieth or less in
/// fact), at every n; with a third of d_δ columns it is not below it.
#[test]
fn the_approximation_error_has_the_rate_of_the_theorem() {
    let trials = 10;
    for n in [150, 300, 600] {
        let lambda = 0.5 * (n as f64).powf(-4.0 / 7.0);
        let delta = lambda / 2.0;
        let (mut wide, mut narrow) = (0.0, 0.0);
        for seed in 0..trials {
            let problem = Problem::new(n, Matern12::new(0.5).unwrap(), lambda, 100 + seed);
            let d_delta = problem.diagnostics.d_delta(delta).unwrap();
            let rate = delta + d_delta as f64 * delta / (n as f64 * lambda);
            let law = Accumulation::uniform(32);
            let sketch = |d: usize| law.sample::<f64>(n, d, &mut rng(seed)).unwrap();
            wide += problem.error(&sketch(2 * d_delta)) / rate / trials as f64;
            narrow += problem.error(&sketch(d_delta / 3)) / rate / trials as f64;
        }
        assert!(
            wide < 0.1 && narrow > 1.0,
            "n = {n}: error over rate {wide:.3} with 2 d_δ columns, {narrow:.3} with d_δ/3"
        );
    }
}
