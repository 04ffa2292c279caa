//! Spectral-analysis scores against exact ones, and what the estimator does with odd input.

use crate::common::designs::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, KernelMatrix, Matern12, Matern32, Points};
use nystrom_leverage::{
    Bandwidth, Density, DensityMethod, Guard, KernelDensity, LocalScore, SpectralAnalysis,
    Stationary, exact_scores,
};
use nystrom_linalg_core::testing::same_at_any_thread_count;
use nystrom_linalg_core::{Error, Ridge};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// |K̃/G − 1| at every point, G = n·l the exact rescaled scores, sorted.
fn errors(
    kernel: &(impl nystrom_kernels::Kernel<f64> + Stationary + Copy),
    lambda: f64,
    x: &[f64],
    p: &[f64],
) -> Vec<f64> {
    let exact = exact(kernel, lambda, x);
    let analysis = SpectralAnalysis { density: Density::Given(p), guard: Guard::None };
    let found = analysis.scores(kernel, Points::from_slice(x), Ridge::PerSample(lambda)).unwrap();
    let mut errors: Vec<f64> =
        found.scores.iter().zip(&exact).map(|(a, b)| (a / b - 1.0).abs()).collect();
    errors.sort_unstable_by(f64::total_cmp);
    errors
}

fn exact(kernel: &(impl nystrom_kernels::Kernel<f64> + Copy), lambda: f64, x: &[f64]) -> Vec<f64> {
    let k = KernelMatrix::new(*kernel, Points::from_slice(x)).unwrap();
    exact_scores(&k, Ridge::PerSample(lambda)).unwrap().scores
}

#[test]
fn errors_fall_with_n_on_three_designs() {
    // median / 95 % quantile of the error with the true density at n = 1000, as computed
    // independently (n = 200: .06/.34, .04/.36, .06/.34); ν = 1/2, λ = 0.3 n^{−2/3}
    let designs: [(Design, f64, f64); 3] =
        [(uniform, 0.06, 0.25), (beta, 0.04, 0.15), (bimodal, 0.04, 0.19)];
    let kernel = Matern12::new(1.0).unwrap();
    for (number, (design, median, high)) in designs.into_iter().enumerate() {
        // averaged over four data sets: one alone varies by a third
        let mean = |n: usize, quantile: f64| {
            let one = |seed: u64| {
                let (x, p) = design(n, &mut Pcg64::seed_from_u64(seed));
                errors(&kernel, 0.3 * (n as f64).powf(-2.0 / 3.0), &x, &p)
                    [(quantile * n as f64) as usize]
            };
            (0..4).map(one).sum::<f64>() / 4.0
        };
        let (few, many) = (mean(150, 0.5), mean(1000, 0.5));
        assert!(many < few && many < 1.25 * median, "design {number}: median {few} to {many}");
        let (few, many) = (mean(150, 0.95), mean(1000, 0.95));
        assert!(many < few && many < 1.25 * high, "design {number}: 95 % {few} to {many}");
    }
}

#[test]
fn interior_of_a_uniform_grid() {
    let n = 2000;
    let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
    for (kernel, lambda, tolerance) in [(1, 0.3, 0.05), (3, 0.45, 0.02)] {
        let relative = |i: usize, exact: &[f64], found: &[f64]| (found[i] / exact[i] - 1.0).abs();
        let worst = match kernel {
            1 => {
                let lambda = lambda * (n as f64).powf(-2.0 / 3.0);
                let kernel = Matern12::new(1.0).unwrap();
                let (exact, found) = (exact(&kernel, lambda, &x), scores(&kernel, lambda, &x));
                (200..1800).map(|i| relative(i, &exact, &found)).fold(0.0, f64::max)
            }
            _ => {
                let lambda = lambda * (n as f64).powf(-0.8);
                let kernel = Matern32::new(1.0).unwrap();
                let (exact, found) = (exact(&kernel, lambda, &x), scores(&kernel, lambda, &x));
                (600..1400).map(|i| relative(i, &exact, &found)).fold(0.0, f64::max)
            }
        };
        assert!(worst < tolerance, "nu = {kernel}/2: {worst}");
    }
}

/// Scores with the density 1 given.
fn scores(kernel: &dyn Stationary, lambda: f64, x: &[f64]) -> Vec<f64> {
    let ones = vec![1.0; x.len()];
    let analysis = SpectralAnalysis { density: Density::Given(&ones), guard: Guard::None };
    analysis.scores(kernel, Points::from_slice(x), Ridge::PerSample(lambda)).unwrap().scores
}

#[test]
fn at_the_boundary_the_true_score_is_the_one_of_flat_boundary() {
    // a fine grid on [0, 1]: the continuum limit, with h = 0.05
    let n = 2000;
    let x: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
    let kernel = Matern12::from_a(1.0).unwrap();
    let lambda = 2.0 * 0.05_f64.powi(2);
    let truth = exact(&kernel, lambda, &x)[0] * n as f64;
    let score = LocalScore::new(&kernel, 1, lambda).unwrap();
    let boundary = score.flat_boundary(1.0).unwrap();
    assert!((truth / boundary - 1.0).abs() < 0.02, "{truth} {boundary}");
    assert!(truth > 1.8 * score.at(1.0).unwrap());
    // twice as smooth: four times the interior's, less the first half cell
    let kernel = Matern32::from_a(1.0).unwrap();
    let lambda = 4.0 * 0.05_f64.powi(4);
    let truth = exact(&kernel, lambda, &x)[0] * n as f64;
    let score = LocalScore::new(&kernel, 1, lambda).unwrap();
    let boundary = score.flat_boundary(1.0).unwrap();
    assert!((truth / boundary - 1.0).abs() < 0.03, "{truth} {boundary}");
    assert!(truth > 3.4 * score.at(1.0).unwrap());
}

#[test]
fn the_table_agrees_with_one_integral_per_point() {
    let (x, p) = beta(3000, &mut Pcg64::seed_from_u64(3));
    for kernel in [&Matern32::new(0.3).unwrap() as &dyn Stationary, &Gaussian::new(0.1).unwrap()] {
        let analysis = SpectralAnalysis { density: Density::Given(&p), guard: Guard::None };
        let found =
            analysis.scores(kernel, Points::from_slice(&x), Ridge::PerSample(1e-6)).unwrap();
        assert!(found.report.integrals < 600, "{}", found.report.integrals);
        let score = LocalScore::new(kernel, 1, 1e-6).unwrap();
        for i in (0..3000).step_by(17) {
            let direct = score.at(p[i]).unwrap();
            assert!(
                (found.rescaled[i] / direct - 1.0).abs() < 1e-9,
                "{i}: {} {direct}",
                found.rescaled[i]
            );
        }
        // larger density, smaller score: strictly, where they differ by more than the interpolation
        // error
        let mut order: Vec<usize> = (0..3000).collect();
        order.sort_unstable_by(|&i, &j| p[i].total_cmp(&p[j]));
        assert!(
            order.windows(2).all(|w| found.rescaled[w[1]] <= found.rescaled[w[0]] * (1.0 + 1e-10))
        );
    }
}

#[test]
fn scores_respect_their_bound_and_probabilities_sum_to_one() {
    let (mut x, _) = uniform(500, &mut Pcg64::seed_from_u64(5));
    x.push(50.0); // an isolated point
    let kernel = Matern12::new(0.1).unwrap();
    let found = SpectralAnalysis::default()
        .scores(&kernel, Points::from_slice(&x), Ridge::PerSample(0.01))
        .unwrap();
    let bound = 1.0 / (1.0 + 5.01);
    assert!(found.scores.iter().all(|&l| l > 0.0 && l <= bound * (1.0 + 1e-12)));
    let largest = found.scores.iter().copied().fold(0.0, f64::max);
    assert_eq!(found.scores[500], largest);
    let q = found.sampling_probabilities();
    assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!((q[3] - found.scores[3] / found.d_eff()).abs() < 1e-15);
}

#[test]
fn guards() {
    let (x, p) = beta(1000, &mut Pcg64::seed_from_u64(8));
    let points = Points::from_slice(&x);
    let kernel = Matern32::new(1.0).unwrap();
    let ridge = Ridge::PerSample(0.45 * 1000_f64.powf(-0.8));
    let run = |guard| {
        SpectralAnalysis { density: Density::Given(&p), guard }.scores(&kernel, points, ridge)
    };
    let plain = run(Guard::None).unwrap();
    assert_eq!((plain.report.guarded, plain.report.threshold), (0, None));
    // a floor: no score above it, the others untouched
    let floored = run(Guard::Floor { max_score: 0.02 }).unwrap();
    assert!(floored.report.guarded > 0);
    assert!(floored.scores.iter().all(|&l| l <= 0.02 * (1.0 + 1e-9)));
    for (a, b) in floored.scores.iter().zip(&plain.scores) {
        assert!((a / b.min(0.02) - 1.0).abs() < 1e-9, "{a} {b}");
    }
    // the local average acts on the lowest densities only
    let averaged = run(Guard::LocalAverage { quantile: 0.05 }).unwrap();
    assert_eq!(averaged.report.guarded, 50);
    let changed = averaged
        .scores
        .iter()
        .zip(&plain.scores)
        .filter(|(a, b)| (*a / *b - 1.0).abs() > 1e-9)
        .count();
    assert!((40..=50).contains(&changed), "{changed}");
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(
            run(Guard::Floor { max_score: bad }).is_err()
                && run(Guard::LocalAverage { quantile: bad }).is_err()
        );
    }
}

#[test]
fn the_local_average_follows_the_sample() {
    // median errors without and with the average, computed independently for n = 1000: uniform .037
    // and .003, bimodal .046 and .002, Beta .035 and .007
    let kernel = Matern12::new(1.0).unwrap();
    let lambda = 0.3 * 1000_f64.powf(-2.0 / 3.0);
    for (number, design) in [uniform as Design, bimodal, beta].into_iter().enumerate() {
        let (x, p) = design(1000, &mut Pcg64::seed_from_u64(21));
        let plain = errors(&kernel, lambda, &x, &p);
        let truth = exact(&kernel, lambda, &x);
        let analysis = SpectralAnalysis {
            density: Density::Given(&p),
            guard: Guard::LocalAverage { quantile: 1.0 },
        };
        let found =
            analysis.scores(&kernel, Points::from_slice(&x), Ridge::PerSample(lambda)).unwrap();
        let mut errors: Vec<f64> =
            found.scores.iter().zip(&truth).map(|(a, b)| (a / b - 1.0).abs()).collect();
        errors.sort_unstable_by(f64::total_cmp);
        assert!(
            errors[500] < 0.4 * plain[500] && errors[500] < 0.015,
            "{number}: {} {}",
            errors[500],
            plain[500]
        );
    }
}

#[test]
fn one_point_equal_points_and_constant_features_are_exact_or_reduced() {
    let kernel = Matern32::new(1.0).unwrap();
    let analysis = SpectralAnalysis::<f64>::default();
    let one = analysis.scores(&kernel, Points::from_slice(&[3.0]), Ridge::PerSample(0.25)).unwrap();
    assert!((one.scores[0] - 0.8).abs() < 1e-15); // k/(k + λ)
    let equal =
        analysis.scores(&kernel, Points::from_slice(&[3.0; 100]), Ridge::PerSample(0.25)).unwrap();
    assert!(equal.scores.iter().all(|l| (l - 0.008).abs() < 1e-15)); // k/(nk + nλ)
    assert_eq!(equal.report.dimension, 0);
    // a constant coordinate changes nothing
    let (x, _) = uniform(300, &mut Pcg64::seed_from_u64(2));
    let wide = Mat::from_fn(300, 2, |i, j| if j == 1 { x[i] } else { -7.0 });
    let line = analysis.scores(&kernel, Points::from_slice(&x), Ridge::PerSample(1e-3)).unwrap();
    let plane =
        analysis.scores(&kernel, Points::from_rows(wide.as_ref()), Ridge::PerSample(1e-3)).unwrap();
    assert_eq!(line, plane);
    let ard = Matern32::new(1.0).unwrap().with_length_scales(&[9.0, 1.0]).unwrap();
    let plane =
        analysis.scores(&ard, Points::from_rows(wide.as_ref()), Ridge::PerSample(1e-3)).unwrap();
    assert!(line.scores.iter().zip(&plane.scores).all(|(a, b)| (a / b - 1.0).abs() < 1e-9));
}

#[test]
fn f32_gives_the_same_scores() {
    let (x, _) = uniform(400, &mut Pcg64::seed_from_u64(6));
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let kernel = Matern32::new(0.5).unwrap();
    let wide = SpectralAnalysis::default()
        .scores(&kernel, Points::from_slice(&x), Ridge::PerSample(1e-3))
        .unwrap();
    let narrow = SpectralAnalysis::default()
        .scores(&kernel, Points::from_slice(&single), Ridge::PerSample(1e-3_f32))
        .unwrap();
    assert!(
        wide.scores.iter().zip(&narrow.scores).all(|(a, b)| (a / *b as f64 - 1.0).abs() < 1e-4)
    );
}

#[test]
fn the_same_bits_with_any_number_of_threads() {
    let mut rng = Pcg64::seed_from_u64(4);
    let x = Mat::from_fn(9000, 2, |_, _| rng.random::<f64>());
    let kernel = Matern32::new(0.5).unwrap();
    for method in
        [DensityMethod::Exact, DensityMethod::Tree { tolerance: 0.05 }, DensityMethod::Binned]
    {
        let analysis = SpectralAnalysis {
            density: Density::Estimated(KernelDensity { bandwidth: Bandwidth::Rule(0.5), method }),
            guard: Guard::LocalAverage { quantile: 0.05 },
        };
        let points = Points::from_rows(x.as_ref());
        same_at_any_thread_count(|| {
            analysis.scores(&kernel, points, Ridge::PerSample(1e-4)).unwrap()
        });
    }
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let kernel = Matern32::new(1.0).unwrap();
    let x = [0.0, 0.5, 1.0];
    let ridge = Ridge::PerSample(0.1);
    let given = |p: &[f64]| {
        let analysis = SpectralAnalysis { density: Density::Given(p), guard: Guard::None };
        analysis.scores(&kernel, Points::from_slice(&x), ridge).unwrap_err()
    };
    for bad in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(
            given(&[1.0, bad, 1.0]),
            Error::NotPositive { what: "density", index: 1, value: bad }
        );
    }
    assert!(matches!(given(&[1.0, 1.0, f64::NAN]), Error::NotPositive { index: 2, .. }));
    assert!(matches!(given(&[1.0; 4]), Error::Shape { expected: 3, got: 4, .. }));
    let analysis = SpectralAnalysis::default();
    let empty = analysis.scores(&kernel, Points::from_slice(&[]), ridge).unwrap_err();
    assert!(matches!(empty, Error::Empty { .. }));
    let nan = analysis.scores(&kernel, Points::from_slice(&[0.0, f64::NAN]), ridge).unwrap_err();
    assert!(matches!(nan, Error::NonFinite { row: 1, .. }));
    assert!(analysis.scores(&kernel, Points::from_slice(&x), Ridge::PerSample(0.0)).is_err());
    let ard = kernel.with_length_scales(&[1.0, 2.0]).unwrap();
    assert!(matches!(
        analysis.scores(&ard, Points::from_slice(&x), ridge),
        Err(Error::Shape { .. })
    ));
}
