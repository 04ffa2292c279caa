//! Density estimates: every method against plain sums, and what each refuses.

use faer::Mat;
use nystrom_kernels::Points;
use nystrom_leverage::{
    Bandwidth, Density, DensityMethod, Guard, KernelDensity, SampledDensity, SpectralAnalysis,
};
use nystrom_linalg_core::testing::same_at_any_thread_count;
use nystrom_linalg_core::{Error, Ridge};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// n × d points: some uniform, some in tight clusters, some repeated.
fn cloud(n: usize, d: usize, seed: u64) -> Mat<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut x: Mat<f64> = Mat::zeros(n, d);
    for i in 0..n {
        let kind = rng.random_range(0..3);
        for k in 0..d {
            let u: f64 = rng.random();
            x[(i, k)] = match kind {
                0 => 10.0 * u,
                1 => 3.0 + 0.01 * u,
                _ if i > 0 => x[(i / 2, k)],
                _ => u,
            };
        }
    }
    x
}

/// The definition: (1/n) Σ_j Π_k N(x_ik − x_jk; (hσ_k)²).
fn plain(x: &Mat<f64>, h: f64) -> Vec<f64> {
    let (n, d) = (x.nrows(), x.ncols());
    let deviation = |k: usize| {
        let mean = (0..n).map(|i| x[(i, k)]).sum::<f64>() / n as f64;
        ((0..n).map(|i| (x[(i, k)] - mean).powi(2)).sum::<f64>() / n as f64).sqrt()
    };
    let scales: Vec<f64> = (0..d).map(|k| h * deviation(k)).collect();
    let normal =
        |u: f64, s: f64| (-0.5 * (u / s).powi(2)).exp() / (s * (2.0 * std::f64::consts::PI).sqrt());
    let pair = |i: usize, j: usize| {
        (0..d).map(|k| normal(x[(i, k)] - x[(j, k)], scales[k])).product::<f64>()
    };
    (0..n).map(|i| (0..n).map(|j| pair(i, j)).sum::<f64>() / n as f64).collect()
}

fn estimate(x: &Mat<f64>, h: f64, method: DensityMethod) -> Vec<f64> {
    let estimate = KernelDensity { bandwidth: Bandwidth::Fixed(h), method };
    estimate.density(Points::from_rows(x.as_ref())).unwrap()
}

fn worst(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn exact_is_the_definition_and_the_tree_keeps_its_tolerance(
        n in 2..700_usize, d in 1..6_usize, h in 0.02..1.5_f64, digits in 1..9_i32,
        seed in any::<u64>(),
    ) {
        let x = cloud(n, d, seed);
        let truth = plain(&x, h);
        prop_assume!(truth.iter().all(|p| p.is_finite())); // all points may be equal
        prop_assert!(worst(&estimate(&x, h, DensityMethod::Exact), &truth) < 1e-10);
        let tolerance = 0.5 * 10.0_f64.powi(1 - digits);
        let error = worst(&estimate(&x, h, DensityMethod::Tree { tolerance }), &truth);
        prop_assert!(error <= tolerance + 1e-10, "{error} > {tolerance}");
    }

    #[test]
    fn the_grid_is_within_its_bound(n in 2..700_usize, d in 1..4_usize, h in 0.1..1.5_f64,
    seed in any::<u64>()) {
        let x = cloud(n, d, seed);
        let truth = plain(&x, h);
        prop_assume!(truth.iter().all(|p| p.is_finite()));
        // A point itself contributes 1 and n others at z bandwidths at most n exp(−z²/2), so beyond
        // z² = 2 ln n (and a little) they do not matter. Up to there the documented bound on every
        // axis, and 1 % for what the filter cuts off.
        let z2 = 2.0 * (n as f64).ln() + 4.0;
        let spacing: f64 = [0.25, 0.25, 1.0 / 3.0][d - 1];
        let bound = 0.01 + d as f64 * (1.0 + z2 * z2) * spacing.powi(4) / 100.0;
        let mut errors: Vec<f64> =
            estimate(&x, h, DensityMethod::Binned).iter().zip(&truth).map(|(a,
                b)| (a / b - 1.0).abs()).collect();
        errors.sort_unstable_by(f64::total_cmp);
        prop_assert!(errors[n - 1] < bound, "{} {bound}", errors[n - 1]);
        prop_assert!(errors[n / 2] < [0.0005, 0.001, 0.003][d - 1], "median {}", errors[n / 2]);
    }
}

#[test]
fn the_tree_opens_few_nodes_but_keeps_its_tolerance_on_many_points() {
    let x = cloud(20_000, 3, 11);
    let exact = estimate(&x, 0.15, DensityMethod::Exact);
    let error = worst(&estimate(&x, 0.15, DensityMethod::Tree { tolerance: 0.05 }), &exact);
    assert!(error <= 0.05 && error > 1e-6, "{error}");
    let error = worst(&estimate(&x, 0.15, DensityMethod::Binned), &exact);
    assert!(error < 0.05, "{error}");
}

/// Chen & Yang's bimodal design in space: Unif[0, 1]³ and, with probability n^0.4/(n + n^0.4),
/// density ∝ Π(5 − 2x) on [2, 2.5]³.
fn bimodal(n: usize) -> Mat<f64> {
    let mut rng = Pcg64::seed_from_u64(n as u64);
    let mut x = Mat::zeros(3, n);
    for i in 0..n {
        let sparse = rng.random::<f64>() < 1.0 / (1.0 + (n as f64).powf(0.6));
        for k in 0..3 {
            let u: f64 = rng.random();
            x[(k, i)] = if sparse { 2.5 - 0.5 * (1.0 - u).sqrt() } else { u };
        }
    }
    x
}

#[test]
fn the_automatic_choice_costs_no_more_than_n_in_space() {
    // Operations of the density estimate at the default bandwidth. All pairs up to 8192 points,
    // then the grid: 2·4³ multiplications a point and about 3·37 a node, whose number grows like
    // n^(3/7).
    let kernel = nystrom_kernels::Matern32::new(1.0).unwrap();
    let operations = |n: usize| {
        let x = bimodal(n);
        let found = SpectralAnalysis::default();
        let found =
            found.scores(&kernel, Points::from_cols(x.as_ref()), Ridge::PerSample(1e-3)).unwrap();
        let expected = if n <= 8192 { DensityMethod::Exact } else { DensityMethod::Binned };
        assert_eq!(found.report.method, Some(expected));
        found.report.operations as f64
    };
    assert_eq!(operations(1000), 1e6);
    let (few, many) = (operations(10_000), operations(300_000));
    let exponent = (many / few).ln() / 30_f64.ln();
    assert!(exponent < 0.75 && many < 1000.0 * 300_000.0, "{few} {many}: n^{exponent}");
}

#[test]
fn a_grid_exists_only_near_points() {
    // Ten clusters and a thousand lonely points in a cube of side 10⁴ bandwidths: a full grid would
    // have 3·10¹³ nodes.
    let mut rng = Pcg64::seed_from_u64(12);
    let x = Mat::from_fn(11_000, 3, |i, _| {
        let u: f64 = rng.random();
        if i < 10_000 { 1000.0 * (i % 10) as f64 + u } else { 10_000.0 * u }
    });
    let h = 1.0 / 3000.0; // the standard deviations are about 3000
    let error =
        worst(&estimate(&x, h, DensityMethod::Binned), &estimate(&x, h, DensityMethod::Exact));
    assert!(error < 0.03, "{error}");
}

#[test]
fn units_and_constant_features() {
    let x = cloud(400, 2, 5);
    let method = DensityMethod::Exact;
    let reference = estimate(&x, 0.3, method);
    // other units: the density changes by the volume
    let scaled =
        Mat::from_fn(400, 2, |i, j| if j == 0 { 1e3 * x[(i, j)] - 7.0 } else { 1e-2 * x[(i, j)] });
    let expected: Vec<f64> = reference.iter().map(|p| p / 10.0).collect();
    assert!(worst(&estimate(&scaled, 0.3, method), &expected) < 1e-9);
    // a constant feature: the density on the others, in every method
    let padded = Mat::from_fn(400, 3, |i, j| if j == 2 { 4.0 } else { x[(i, j)] });
    for method in
        [DensityMethod::Exact, DensityMethod::Tree { tolerance: 0.01 }, DensityMethod::Binned]
    {
        assert_eq!(estimate(&padded, 0.3, method), estimate(&x, 0.3, method));
    }
}

#[test]
fn extreme_units_do_not_overflow() {
    let x = cloud(100, 1, 3);
    for factor in [1e-150, 1e150] {
        let far = Mat::from_fn(100, 1, |i, _| factor * x[(i, 0)]);
        let expected: Vec<f64> =
            estimate(&x, 0.3, DensityMethod::Exact).iter().map(|p| p / factor).collect();
        assert!(worst(&estimate(&far, 0.3, DensityMethod::Exact), &expected) < 1e-9, "{factor}");
    }
}

#[test]
fn automatic_choice_refuses_dimensions_too_many() {
    let mut rng = Pcg64::seed_from_u64(1);
    let auto = KernelDensity::default();
    let wide = Mat::from_fn(1000, 30, |_, _| rng.random::<f64>());
    let error = auto.density(Points::from_rows(wide.as_ref())).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { value: 30.0, .. }), "{error}");
    assert!(
        error.to_string().contains("BLESS") && error.to_string().contains("EstimatedOrUniform"),
        "{error}"
    );
    let flat = Mat::from_fn(1000, 3, |_, _| rng.random::<f64>());
    assert!(auto.density(Points::from_rows(flat.as_ref())).is_ok());
    // asked for by name it is computed all the same
    let exact = KernelDensity { method: DensityMethod::Exact, ..auto };
    assert!(exact.density(Points::from_rows(wide.as_ref())).is_ok());
}

#[test]
fn uniform_scores_where_they_are_asked_for_and_said_loudly() {
    let mut rng = Pcg64::seed_from_u64(1);
    let wide = Mat::from_fn(1000, 30, |_, _| rng.random::<f64>());
    let kernel = nystrom_kernels::Matern32::new(1.0).unwrap();
    let ridge = Ridge::PerSample(1e-3);
    let run = |density, x: &Mat<f64>| {
        SpectralAnalysis { density, guard: Guard::None }.scores(
            &kernel,
            Points::from_rows(x.as_ref()),
            ridge,
        )
    };
    let auto = KernelDensity::default();
    assert!(run(Density::Estimated(auto), &wide).is_err());
    let found = run(Density::EstimatedOrUniform(auto), &wide).unwrap();
    assert!(found.scores.iter().all(|&l| l == 0.5)); // k(0)/(k(0) + nλ) with nλ = 1
    assert!(found.rescaled.iter().all(|&k| k == 1000.0) && found.report.clipped == 1000);
    let refusal = found.report.refusal.unwrap();
    assert!(
        refusal.dimension == 30 && refusal.own_share > 0.5 && refusal.own_share <= 1.0,
        "{refusal}"
    );
    let said = found.report.to_string();
    assert!(said.starts_with("UNIFORM SCORES") && said.contains("30 dimensions"), "{said}");
    // where there is a density the two are one; so they are with a method that does not refuse
    let flat = Mat::from_fn(1000, 3, |_, _| rng.random::<f64>());
    let found = run(Density::EstimatedOrUniform(auto), &flat).unwrap();
    assert_eq!(found, run(Density::Estimated(auto), &flat).unwrap());
    assert!(
        found.report.refusal.is_none() && found.report.to_string().starts_with("density by Exact")
    );
    let exact = KernelDensity { method: DensityMethod::Exact, ..auto };
    assert_eq!(
        run(Density::EstimatedOrUniform(exact), &wide),
        run(Density::Estimated(exact), &wide)
    );
    // other errors stay errors
    let bad = KernelDensity { bandwidth: Bandwidth::Fixed(-1.0), ..auto };
    assert!(run(Density::EstimatedOrUniform(bad), &flat).is_err());
}

#[test]
fn bad_parameters_are_refused() {
    let x = cloud(50, 2, 9);
    let run = |bandwidth, method| {
        KernelDensity { bandwidth, method }.density(Points::from_rows(x.as_ref()))
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(run(Bandwidth::Fixed(bad), DensityMethod::Exact).is_err());
        assert!(run(Bandwidth::Rule(bad), DensityMethod::Auto).is_err());
        assert!(run(Bandwidth::Rule(0.5), DensityMethod::Tree { tolerance: bad }).is_err());
    }
    assert!(run(Bandwidth::Rule(0.5), DensityMethod::Tree { tolerance: 1.0 }).is_err());
    assert!(run(Bandwidth::Fixed(1e-6), DensityMethod::Binned).is_ok()); // 50 lonely points
    // their places beyond what is counted
    assert!(run(Bandwidth::Fixed(1e-10), DensityMethod::Binned).is_err());
    let deep = cloud(50, 4, 9);
    let binned = KernelDensity { bandwidth: Bandwidth::Rule(0.5), method: DensityMethod::Binned };
    assert!(binned.density(Points::from_rows(deep.as_ref())).is_err()); // too many dimensions
}

#[test]
fn a_sample_is_unbiased_and_its_error_as_estimated() {
    let x = cloud(600, 3, 17);
    let (h, m) = (0.4, 60);
    let points = Points::from_rows(x.as_ref());
    let exact = estimate(&x, h, DensityMethod::Exact);
    let sampled = |m, seed| {
        let sampled = SampledDensity { bandwidth: Bandwidth::Fixed(h), sample: m };
        sampled.density(points, &mut Pcg64::seed_from_u64(seed)).unwrap()
    };
    let all = sampled(1000, 0); // all points
    assert!(worst(&all.values, &exact) < 1e-9 && all.relative_error == 0.0);
    // 500 samples: the mean within 6.2 standard errors at each of the 600 points (6e-10 each for a
    // normal mean, 4e-7 in all), and what one sample says of the median point within a factor 2 of
    // the quartiles of the points' true errors
    let runs: Vec<Vec<f64>> = (1..=500).map(|seed| sampled(m, seed).values).collect();
    let mut relative: Vec<f64> = (0..600)
        .map(|i| {
            let values = || runs.iter().map(move |run| run[i]);
            let mean = values().sum::<f64>() / 500.0;
            let deviation = (values().map(|v| (v - mean).powi(2)).sum::<f64>() / 499.0).sqrt();
            assert!(
                (mean - exact[i]).abs() < 6.2 * deviation / 500_f64.sqrt() + 1e-12,
                "{i}: {mean} {}",
                exact[i]
            );
            deviation / exact[i]
        })
        .collect();
    relative.sort_unstable_by(f64::total_cmp);
    let said = sampled(m, 1).relative_error;
    assert!(
        said > relative[150] / 2.0 && said < 2.0 * relative[450],
        "{said} {} {}",
        relative[150],
        relative[450]
    );
}

#[test]
fn a_sample_refuses_what_it_cannot_do() {
    let x = cloud(200, 2, 3);
    let run = |x: &Mat<f64>, bandwidth, sample| {
        SampledDensity { bandwidth, sample }
            .density(Points::from_rows(x.as_ref()), &mut Pcg64::seed_from_u64(1))
    };
    assert!(matches!(run(&x, Bandwidth::Fixed(0.5), 1), Err(Error::Empty { .. })));
    assert!(matches!(run(&x, Bandwidth::Fixed(0.5), 0), Err(Error::Empty { .. })));
    assert!(run(&x, Bandwidth::Fixed(f64::NAN), 50).is_err());
    let one = Mat::from_fn(1, 2, |_, _| 0.5);
    assert!(matches!(run(&one, Bandwidth::Fixed(0.5), 50), Err(Error::Empty { .. })));
    let flat = Mat::from_fn(200, 2, |i, k| if k == 0 { x[(i, 0)] } else { 1.0 });
    assert!(matches!(
        run(&flat, Bandwidth::Fixed(0.5), 50),
        Err(Error::InvalidParameter { value: 1.0, .. })
    ));
    let mut rng = Pcg64::seed_from_u64(1);
    let wide = Mat::from_fn(1000, 30, |_, _| rng.random::<f64>());
    let error = run(&wide, Bandwidth::Rule(0.5), 500).unwrap_err();
    assert!(error.to_string().contains("BLESS"), "{error}");
}

#[test]
fn a_sample_gives_the_same_bits_with_any_number_of_threads() {
    let x = cloud(2000, 8, 4);
    let (sampled, points) = (
        SampledDensity { bandwidth: Bandwidth::Fixed(0.6), sample: 300 },
        Points::from_rows(x.as_ref()),
    );
    same_at_any_thread_count(|| sampled.density(points, &mut Pcg64::seed_from_u64(5)).unwrap());
}
