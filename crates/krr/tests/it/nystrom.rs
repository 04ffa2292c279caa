//! Nyström kernel ridge regression against oracles and identities.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{KMeans, Kernel, Points};
use nystrom_krr::{
    ExactKrr, Falkon, IterativeOptions, KrrModel, NystromKrr, Problem, SolvedBy, Solver,
};
use nystrom_linalg_core::Ridge;
use nystrom_sketch::Landmarks;
use proptest::prelude::*;

fn solver() -> impl Strategy<Value = Solver> {
    prop_oneof![
        Just(Solver::Auto),
        Just(Solver::WhitenOnce),
        Just(Solver::NormalEquations),
        Just(Solver::Qr)
    ]
}

/// Those that are safe whatever the centres: with many, W is numerically singular.
fn whitened() -> impl Strategy<Value = Solver> {
    prop_oneof![Just(Solver::Auto), Just(Solver::NormalEquations), Just(Solver::Qr)]
}

fn predict(model: &KrrModel<impl Kernel<f64>, f64>, at: &Mat<f64>) -> Mat<f64> {
    model.predict(Points::from_rows(at.as_ref())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The oracle solves the plain normal equations; at these ridges and few, well separated
    /// centres that is accurate enough.
    #[test]
    fn agrees_with_the_augmented_normal_equations(
        n in 2..60usize, d in 1..4usize, t in 1..4usize, m in 1..6usize, seed in 0..1000u64,
        log_mu in -3.0..1.0f64,
        weighted: bool, intercept: bool, solver in solver(),
    ) {
        let (x, y) = sample::<f64>(n, d, t, seed);
        // not data points
        let z = Mat::from_fn(m, d, |j,
            k| if k == 0 { 1.3 * j as f64 - 2.0 } else { 0.1 * k as f64 });
        let (at, _) = sample::<f64>(7, d, 1, seed + 1);
        let mu = 10f64.powf(log_mu);
        let w = if weighted { weights(n) } else { vec![1.0; n] };
        prop_assume!(w.iter().any(|&w| w > 0.0));
        let krr = NystromKrr { intercept, solver, ..NystromKrr::new(gaussian(0.8),
            Ridge::Absolute(mu)) };
        let (points, centers) = (Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
        let problem = Problem::new(points, y.as_ref());
        let problem = if weighted { problem.weighted(&w) } else { problem };
        let model = krr.fit(problem, centers).unwrap();
        let (expected, b) =
            oracle_nystrom(&gaussian(0.8), x.as_ref(), y.as_ref(), z.as_ref(), &w, mu, intercept,
                at.as_ref());
        let scale = 1.0 + expected.norm_max();
        prop_assert!(distance(predict(&model, &at).as_ref(), expected.as_ref()) < 1e-8 * scale);
        for (j, b) in b.iter().enumerate() {
            prop_assert!((model.intercept()[j] - b).abs() < 1e-8 * scale);
        }
    }

    /// L = K when all points are landmarks, so the fit is the exact one, up to the shift δ of W:
    /// the predictions at the data differ by (K + nλ)⁻¹-smoothed multiples of δ/nλ, below 1e-7
    /// here.
    #[test]
    fn all_points_as_landmarks_is_exact(n in 2..50usize, seed in 0..1000u64, weighted: bool,
    intercept: bool, solver in whitened()) {
        let (x, y) = sample::<f64>(n, 2, 2, seed);
        let ridge = Ridge::Absolute(1e-3);
        let w = if weighted { weights(n) } else { vec![1.0; n] };
        prop_assume!(w.iter().any(|&w| w > 0.0));
        let points = Points::from_rows(x.as_ref());
        let all = Landmarks::new(n, (0..n).collect()).unwrap();
        let krr = NystromKrr { intercept, solver, ..NystromKrr::new(gaussian(1.0), ridge) };
        let exact = ExactKrr { intercept, ..ExactKrr::new(gaussian(1.0), ridge) };
        let a = krr.fit(Problem::new(points, y.as_ref()).weighted(&w), &all).unwrap();
        let b = exact.fit(Problem::new(points, y.as_ref()).weighted(&w)).unwrap();
        let d = distance(predict(&a, &x).as_ref(), predict(&b, &x).as_ref());
        // at its boundary of safety, whitening after the pass shows in the fifth decimal place
        let tolerance = if a.report().solver == SolvedBy::WhitenOnce { 1e-4 } else { 1e-7 };
        prop_assert!(d < tolerance, "{d:e} {:?}", a.report());
    }

    /// At the data the fit is KRR with L = C W⁻¹ Cᵀ: f = L(L + nλI)⁻¹y (Woodbury), here with the
    /// same shift δ.
    #[test]
    fn in_sample_it_is_krr_on_l(n in 5..60usize, m in 1..12usize, seed in 0..1000u64,
    solver in whitened()) {
        let m = m.min(n);
        let (x, y) = sample::<f64>(n, 2, 1, seed);
        let (points, mu) = (Points::from_rows(x.as_ref()), 0.05);
        let landmarks = Landmarks::new(n, (0..m).collect()).unwrap();
        let model = NystromKrr { solver, ..NystromKrr::new(gaussian(1.0), Ridge::Absolute(mu)) }
            .fit((points, y.as_ref()), &landmarks).unwrap();
        let k = gaussian(1.0);
        let z = points.slice(0..m);
        let (C, mut W): (Mat<f64>, Mat<f64>) = (k.eval(points, z), k.gram(z));
        for j in 0..m { W[(j, j)] += model.report().jitter; }
        let L = &C * lu(&W, &C.transpose().to_owned());
        let mut M = L.clone();
        for i in 0..n { M[(i, i)] += mu; }
        let expected = &L * lu(&M, &y);
        prop_assert!(distance(predict(&model, &x).as_ref(), expected.as_ref()) < 1e-7);
    }

    #[test]
    fn weights_are_repetitions(n in 4..40usize, seed in 0..1000u64, intercept: bool,
    solver in solver()) {
        let (x, y) = sample::<f64>(n, 2, 1, seed);
        let counts: Vec<usize> = (0..n).map(|i| (i * 7 + seed as usize) % 4).collect();
        let rows: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
        let xx = Mat::from_fn(rows.len(), 2, |i, k| x[(rows[i], k)]);
        let yy = Mat::from_fn(rows.len(), 1, |i, _| y[(rows[i], 0)]);
        let w: Vec<f64> = counts.iter().map(|&c| c as f64).collect();
        let krr = NystromKrr { intercept, solver, ..NystromKrr::new(gaussian(1.0),
            Ridge::Absolute(0.1)) };
        let z = Points::from_rows(x.as_ref().subrows(0, 4));
        let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
        let a = krr.fit(problem, z).unwrap();
        let b = krr.fit((Points::from_rows(xx.as_ref()), yy.as_ref()), z).unwrap();
        prop_assert!(distance(predict(&a, &x).as_ref(), predict(&b, &x).as_ref()) < 1e-9);
    }
}

#[test]
fn agrees_with_sixty_digit_values() {
    // The shift of W, which is numerically singular here, moves the fit by 2e-7; nothing else is
    // visible.
    let r = reference();
    for solver in [Solver::NormalEquations, Solver::Qr] {
        let krr = NystromKrr { solver, ..NystromKrr::new(gaussian(0.25), Ridge::PerSample(1e-3)) };
        let (x, z, at) =
            (Points::from_slice(&r.x), Points::from_slice(&r.x[..16]), Points::from_slice(&r.at));
        let f = krr.fit((x, r.y.as_ref()), z).unwrap().predict(at).unwrap();
        assert!(off(&f, &NYSTROM_1E3) < 1e-6, "{:e}", off(&f, &NYSTROM_1E3));
        let krr = NystromKrr { intercept: true, ..krr };
        let f = krr
            .fit(Problem::new(x, r.y.as_ref()).weighted(&r.weights), z)
            .unwrap()
            .predict(at)
            .unwrap();
        assert!(off(&f, &NYSTROM_1E3_WEIGHTED_INTERCEPT) < 1e-6);
    }
}

#[test]
fn streaming_over_many_leaves_changes_nothing() {
    // 5000 rows: five leaves; the oracle sees them at once.
    let (x, y) = sample::<f64>(5000, 2, 2, 3);
    let z = x.as_ref().subrows(0, 20);
    let (at, _) = sample::<f64>(50, 2, 1, 4);
    for (solver, intercept) in [
        (Solver::WhitenOnce, true),
        (Solver::NormalEquations, false),
        (Solver::NormalEquations, true),
        (Solver::Qr, true),
    ] {
        let krr = NystromKrr {
            intercept,
            solver,
            ..NystromKrr::new(gaussian(1.0), Ridge::PerSample(1e-3))
        };
        let model =
            krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), Points::from_rows(z)).unwrap();
        let w = vec![1.0; 5000];
        let (f, _) = oracle_nystrom(
            &gaussian(1.0),
            x.as_ref(),
            y.as_ref(),
            z,
            &w,
            5.0,
            intercept,
            at.as_ref(),
        );
        assert!(distance(predict(&model, &at).as_ref(), f.as_ref()) < 1e-7);
    }
}

#[test]
fn several_targets_are_fitted_column_by_column() {
    let (x, y) = sample::<f64>(300, 3, 4, 5);
    let landmarks = Landmarks::new(300, (0..25).collect()).unwrap();
    for solver in [Solver::WhitenOnce, Solver::NormalEquations, Solver::Qr] {
        let krr = NystromKrr {
            intercept: true,
            solver,
            ..NystromKrr::new(gaussian(1.5), Ridge::PerSample(1e-4))
        };
        let points = Points::from_rows(x.as_ref());
        let together = predict(&krr.fit((points, y.as_ref()), &landmarks).unwrap(), &x);
        for j in 0..4 {
            let alone =
                predict(&krr.fit((points, y.as_ref().subcols(j, 1)), &landmarks).unwrap(), &x);
            assert!(distance(alone.as_ref(), together.as_ref().subcols(j, 1)) < 1e-9);
        }
    }
}

#[test]
fn repeated_centres_and_constant_features_are_harmless() {
    let (x, y) = sample::<f64>(200, 2, 1, 9);
    let points = Points::from_rows(x.as_ref());
    let krr = NystromKrr::new(gaussian(1.0), Ridge::PerSample(1e-3));
    let once = Mat::from_fn(10, 2, |i, k| x[(i, k)]);
    let twice = Mat::from_fn(20, 2, |i, k| x[(i % 10, k)]);
    let a = krr.fit((points, y.as_ref()), Points::from_rows(once.as_ref())).unwrap();
    let b = krr.fit((points, y.as_ref()), Points::from_rows(twice.as_ref())).unwrap();
    assert!(distance(predict(&a, &x).as_ref(), predict(&b, &x).as_ref()) < 1e-6);

    // All points equal: W is the matrix of ones, of rank 1, and the fit is the shrunken mean
    // nȳ/(n + nλ).
    let constant = Mat::from_fn(200, 2, |_, _| 0.7);
    let same = krr.fit(
        (Points::from_rows(constant.as_ref()), y.as_ref()),
        &Landmarks::new(200, (0..10).collect()).unwrap(),
    );
    let mean = (0..200).map(|i| y[(i, 0)]).sum::<f64>() / 200.0;
    let f = predict(&same.unwrap(), &constant);
    assert!((f[(0, 0)] - mean / 1.001).abs() < 1e-6, "{} {}", f[(0, 0)], mean);
}

#[test]
fn more_centres_than_points_interpolates_like_the_exact_fit() {
    let (x, y) = sample::<f64>(5, 1, 1, 2);
    let z = Mat::from_fn(30, 1, |j, _| if j < 5 { x[(j, 0)] } else { j as f64 / 5.0 - 3.0 });
    let krr = NystromKrr::new(gaussian(0.5), Ridge::PerSample(1e-2));
    let a = krr
        .fit((Points::from_rows(x.as_ref()), y.as_ref()), Points::from_rows(z.as_ref()))
        .unwrap();
    let b = ExactKrr::new(gaussian(0.5), Ridge::PerSample(1e-2))
        .fit((Points::from_rows(x.as_ref()), y.as_ref()))
        .unwrap();
    assert!(distance(predict(&a, &z).as_ref(), predict(&b, &z).as_ref()) < 1e-6);
}

#[test]
fn the_report_says_what_was_done_and_why() {
    let (x, y) = sample::<f64>(100, 2, 1, 1);
    let points = Points::from_rows(x.as_ref());
    let landmarks = Landmarks::new(100, (0..10).collect()).unwrap();
    let fit = |lambda: f64| {
        let krr = NystromKrr::new(gaussian(1.0), Ridge::PerSample(lambda));
        krr.fit((points, y.as_ref()), &landmarks).unwrap().report().clone()
    };
    let report = fit(1e-3);
    assert_eq!((report.n, report.m, report.d, report.t), (100, 10, 2, 1));
    assert_eq!((report.ridge, report.kernel_entries), (0.1, 1100));
    assert_eq!(report.solver, SolvedBy::WhitenOnce);
    assert!(report.jitter > 0.0 && report.jitter < 1e-12);
    assert!(report.reason.contains("at least"), "{}", report.reason);
    let report = fit(1e-14); // W is too ill-conditioned for that
    assert_eq!(report.solver, SolvedBy::NormalEquations);
    assert!(report.reason.contains("at least"), "{}", report.reason);
    let report = fit(1e-15);
    assert_eq!(report.solver, SolvedBy::Qr);
    assert!(report.reason.contains("below"), "{}", report.reason);
    // A ridge that no arithmetic can see is raised to what can be seen, and the report says so.
    let report = fit(1e-290);
    assert!(report.ridge > 1e-30 && report.ridge < 1e-18, "{:e}", report.ridge);
}

/// Centres that are no data points: on tight clusters the fit obeys ‖f_K − f_L‖ ≤ tr(K − L)·‖y −
/// f_L‖/(nλ) with tr(K − L) ≤ Σ_i ‖φ(x_i) − φ(z_i)‖² ≤ Σ_i ‖x_i − z_i‖²/ℓ², the quantisation error;
/// directly and by Falkon.
#[test]
fn centres_of_k_means_are_as_good_as_their_quantisation() {
    let (n, m, ell, lambda) = (120, 8, 0.7, 1e-2);
    let (noise, y) = sample::<f64>(n, 2, 1, 3);
    let x = Mat::from_fn(n, 2, |i, k| ((i % m) * (k + 1)) as f64 * 0.9 + 1e-2 * noise[(i, k)]);
    let points = Points::from_rows(x.as_ref());
    let clusters = KMeans::default().run(points, m, &mut rng(0)).unwrap();
    let z = clusters.centers().as_cols().transpose().to_owned();
    assert!((0..m).all(|j| (0..n).all(|i| (z.row(j) - x.row(i)).norm_l2() > 1e-6)));
    let ridge = Ridge::PerSample(lambda);
    let exact = ExactKrr::new(gaussian(ell), ridge)
        .fit((points, y.as_ref()))
        .unwrap()
        .predict(points)
        .unwrap();
    let direct = NystromKrr::new(gaussian(ell), ridge)
        .fit((points, y.as_ref()), clusters.centers())
        .unwrap();
    let options = IterativeOptions { tolerance: 1e-10, ..IterativeOptions::default() };
    let falkon = Falkon { options, ..Falkon::new(gaussian(ell), ridge) };
    let falkon =
        falkon.fit((points, y.as_ref()), clusters.centers()).unwrap().into_model().unwrap();
    let trace = clusters.quantization_error() / (ell * ell);
    let (oracle, _) = oracle_nystrom(
        &gaussian(ell),
        x.as_ref(),
        y.as_ref(),
        z.as_ref(),
        &vec![1.0; n],
        n as f64 * lambda,
        false,
        x.as_ref(),
    );
    for model in [direct, falkon] {
        let f = predict(&model, &x);
        assert!(distance(f.as_ref(), oracle.as_ref()) < 1e-8);
        let bound = trace * (&y - &f).norm_l2() / (n as f64 * lambda);
        let apart = (&exact - &f).norm_l2();
        assert!(
            apart <= bound && bound < 0.1 * y.norm_l2(),
            "{apart:e} {bound:e} {:e}",
            y.norm_l2()
        );
    }
}
