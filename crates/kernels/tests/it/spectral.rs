//! Spectral densities: total mass κ(0), and the transform back gives the kernel.

use nystrom_kernels::*;
use std::f64::consts::PI;

/// ∫_0^∞ f(t) dt by the double-exponential rule t = exp(π/2 sinh u).
fn half_line(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1.0 / 256.0;
    (-1200..=1200)
        .map(|k| {
            let u = k as f64 * h;
            let t = (0.5 * PI * u.sinh()).exp();
            let value = f(t) * t * 0.5 * PI * u.cosh() * h;
            if value.is_finite() { value } else { 0.0 }
        })
        .sum()
}

/// ∫_{ℝ^d} m(s) ds with the area of the unit sphere 2π^{d/2}/Γ(d/2).
fn mass(kernel: &dyn RadialSpectralDensity, d: usize) -> f64 {
    let sphere = [2.0, 2.0 * PI, 4.0 * PI, 2.0 * PI * PI, 8.0 / 3.0 * PI * PI][d - 1];
    half_line(|r| {
        sphere * (kernel.ln_radial_spectral_density(r, d) + (d as f64 - 1.0) * r.ln()).exp()
    })
}

fn kernels() -> Vec<(&'static str, Box<dyn RadialSpectralDensity>)> {
    vec![
        ("gaussian", Box::new(Gaussian::new(0.7).unwrap())),
        ("matern 1/2", Box::new(Matern12::new(0.7).unwrap())),
        ("matern 3/2", Box::new(Matern32::new(2.0).unwrap())),
        ("matern 5/2", Box::new(Matern52::new(0.1).unwrap())),
        ("matern 0.8", Box::new(Matern::new(0.8, 0.7).unwrap())),
        ("rational quadratic 3", Box::new(RationalQuadratic::new(3.0, 0.7).unwrap())),
        ("rational quadratic 0.4", Box::new(RationalQuadratic::new(0.4, 0.7).unwrap())),
    ]
}

#[test]
fn the_mass_is_the_diagonal_in_every_dimension() {
    for (name, kernel) in kernels() {
        for d in 1..=5 {
            let mass = mass(&*kernel, d);
            assert!((mass - 1.0).abs() < 1e-8, "{name}, d = {d}: {mass}");
        }
    }
    let sum = Sum::new(
        Gaussian::new(1.0).unwrap(),
        Scaled::new(Matern32::new(0.3).unwrap(), 2.5).unwrap(),
    );
    assert!((mass(&sum, 3) - 3.5).abs() < 1e-8);
}

/// κ(r) = ∫ m(s) cos(2πrs) ds for d = 1, by the trapezoid rule on a grid fine enough for r and long
/// enough for the tail.
fn back_in_one_dimension(
    kernel: &dyn RadialSpectralDensity,
    r: f64,
    step: f64,
    last: usize,
) -> f64 {
    let at = |k: usize| {
        kernel.ln_radial_spectral_density(k as f64 * step, 1).exp()
            * (2.0 * PI * r * k as f64 * step).cos()
    };
    step * (at(0) + 2.0 * (1..=last).rev().map(at).sum::<f64>())
}

#[test]
fn transforming_back_gives_the_kernel() {
    fn check<K: RadialSpectralDensity + Kernel<f64>>(kernel: K, tolerance: f64) {
        for r in [0.0, 0.3, 1.0, 2.5] {
            let back = back_in_one_dimension(&kernel, r, 0.01, 400_000);
            let k = kernel.eval(Points::from_slice(&[0.0]), Points::from_slice(&[r]))[(0, 0)];
            assert!((back - k).abs() < tolerance, "r = {r}: {back} against {k}");
        }
    }
    check(Gaussian::new(0.7).unwrap(), 1e-13);
    check(Matern52::new(0.7).unwrap(), 1e-12);
    check(Matern32::new(0.7).unwrap(), 1e-10); // tail Σ s^{-4}
    check(Matern::new(2.2, 0.7).unwrap(), 1e-11);
    check(RationalQuadratic::new(6.0, 0.5).unwrap(), 1e-12);
}

#[test]
fn the_l1_laplacian_is_a_product_of_cauchy_densities() {
    let (l1, one) = (LaplacianL1::new(0.7).unwrap(), LaplacianEuclidean::new(0.7).unwrap());
    let (s, t) = (0.3, 1.9);
    let product = one.ln_spectral_density(&[s]) + one.ln_spectral_density(&[t]);
    assert!((l1.ln_spectral_density(&[s, t]) - product).abs() < 1e-14);
}

#[test]
fn length_scales_per_coordinate_rescale_the_density() {
    let kernel = Gaussian::new(1.0).unwrap().with_length_scales(&[0.5, 3.0]).unwrap();
    let product = Gaussian::new(0.5).unwrap().ln_spectral_density(&[0.4])
        + Gaussian::new(3.0).unwrap().ln_spectral_density(&[0.2]);
    assert!((kernel.ln_spectral_density(&[0.4, 0.2]) - product).abs() < 1e-13);
}

#[test]
fn matern_density_has_the_printed_constant() {
    // m(s) = C a^{2ν} (a² + 4π²s²)^{−ν−d/2} with C = 2^d π^{d/2} Γ(ν + d/2)/Γ(ν); ν = 1/2, d = 1,
    // a = 1: 2/(1 + 4π²s²)
    let m = Matern12::from_a(1.0).unwrap().ln_spectral_density(&[0.25]).exp();
    assert!((m - 2.0 / (1.0 + PI * PI / 4.0)).abs() < 1e-14);
    // ν = 3/2, d = 3, a = √3: 8π^{3/2}·2/(√π/2)·3√3 (3 + 4π²s²)^{−3} = 96√3 π (3 + 4π²s²)^{−3}
    let m = Matern32::new(1.0).unwrap().ln_radial_spectral_density(0.5, 3).exp();
    assert!((m / (96.0 * 3.0_f64.sqrt() * PI / (3.0 + PI * PI).powi(3)) - 1.0).abs() < 1e-13);
}

#[test]
fn extreme_arguments_stay_finite() {
    for (name, kernel) in kernels() {
        for d in [1, 10, 300] {
            for s in [1e-8, 1.0, 1e5] {
                assert!(
                    kernel.ln_radial_spectral_density(s, d).is_finite(),
                    "{name}, d = {d}, s = {s}"
                );
            }
        }
    }
    assert_eq!(
        RationalQuadratic::new(0.4, 1.0).unwrap().ln_spectral_density(&[0.0]),
        f64::INFINITY
    );
    let rq = RationalQuadratic::new(3.0, 1.0).unwrap();
    assert!((rq.ln_spectral_density(&[0.0]) - rq.ln_spectral_density(&[1e-6])).abs() < 1e-8);
}
