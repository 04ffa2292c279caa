//! Leave-one-out errors, generalised cross-validation, d_eff and models along a path, against
//! refits and closed forms.
#![allow(non_snake_case)]

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_krr::{ExactKrr, LambdaPath, NystromKrr, Problem, SketchedKrr, Solver, lambda_grid};
use nystrom_linalg_core::Ridge;
use nystrom_sketch::{Accumulation, Landmarks};
use proptest::prelude::*;

/// Leave-one-out residuals √w_i (y_i − f₋ᵢ(x_i)) by n refits of the oracle with the weight of
/// sample i set to 0.
fn refits(
    oracle: impl Fn(&[f64], MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>),
    x: &Mat<f64>,
    y: &Mat<f64>,
    w: &[f64],
) -> Mat<f64> {
    let mut out = Mat::zeros(y.nrows(), y.ncols());
    for i in (0..y.nrows()).filter(|&i| w[i] > 0.0) {
        let mut without = w.to_vec();
        without[i] = 0.0;
        let (f, _) = oracle(&without, x.as_ref().subrows(i, 1));
        for j in 0..y.ncols() {
            out[(i, j)] = w[i].sqrt() * (y[(i, j)] - f[(0, j)]);
        }
    }
    out
}

fn mean_square(residuals: &Mat<f64>, w: &[f64]) -> f64 {
    residuals.squared_norm_l2() / (w.iter().sum::<f64>() * residuals.ncols() as f64)
}

/// tr H and Σ w(y − f)², column by column of the identity as the target.
fn hat_trace(fit: impl Fn(&Mat<f64>) -> Mat<f64>, n: usize) -> f64 {
    let H = fit(&Mat::identity(n, n));
    (0..n).map(|i| H[(i, i)]).sum()
}

/// The path agrees with brute force at every ridge.
fn check<K: Kernel<f64> + Clone>(
    path: &LambdaPath<K, f64>,
    mus: &[f64],
    oracle: impl Fn(&Mat<f64>, &[f64], f64, MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>),
    (x, y, w): (&Mat<f64>, &Mat<f64>, &[f64]),
    tolerance: f64,
) {
    let n = y.nrows();
    let positive = w.iter().filter(|&&w| w > 0.0).count() as f64;
    for (point, &mu) in path.points().iter().zip(mus) {
        assert_eq!(point.mu, mu);
        let left_out = refits(|w, at| oracle(y, w, mu, at), x, y, w);
        let loo = mean_square(&left_out, w);
        let points = Points::from_rows(x.as_ref());
        let rows =
            path.leave_one_out(point.ridge, Problem::new(points, y.as_ref()).weighted(w)).unwrap();
        let rows = Mat::from_fn(n, y.ncols(), |i, j| w[i].sqrt() * rows[(i, j)]);
        let gap = (&rows - &left_out).norm_max();
        assert!(gap <= tolerance * left_out.norm_max(), "residuals off by {gap:e} at {mu:e}");
        assert!(
            (point.loo - loo).abs() <= tolerance * loo,
            "loo {:e} against {loo:e} at {mu:e}",
            point.loo
        );
        let f = oracle(y, w, mu, x.as_ref()).0;
        let training = mean_square(
            &Mat::from_fn(n, y.ncols(), |i, j| w[i].sqrt() * (y[(i, j)] - f[(i, j)])),
            w,
        );
        assert!(
            (point.training - training).abs() <= tolerance * training.max(loo),
            "training at {mu:e}"
        );
        let trace = hat_trace(|y| oracle(y, w, mu, x.as_ref()).0, n)
            - zero_weight_leverage(&oracle, x, w, mu);
        assert!(
            (point.d_eff - trace).abs() <= tolerance * positive,
            "d_eff {} against {trace}",
            point.d_eff
        );
        let gcv = training / (1.0 - trace / positive).powi(2);
        assert!(
            (point.gcv - gcv).abs() <= 10.0 * tolerance * gcv,
            "gcv {:e} against {gcv:e}",
            point.gcv
        );
        let model = path.model_at(point.ridge).unwrap();
        let gap =
            distance(model.predict(Points::from_rows(x.as_ref())).unwrap().as_ref(), f.as_ref());
        assert!(gap <= 100.0 * tolerance, "model at {mu:e} off by {gap:e}");
        assert_eq!(model.report().ridge, mu);
    }
}

/// Samples of weight 0 do not influence the fit: their part of the trace is 0.
fn zero_weight_leverage(
    oracle: &impl Fn(&Mat<f64>, &[f64], f64, MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>),
    x: &Mat<f64>,
    w: &[f64],
    mu: f64,
) -> f64 {
    let n = w.len();
    let H = oracle(&Mat::identity(n, n), w, mu, x.as_ref()).0;
    (0..n).filter(|&i| w[i] == 0.0).map(|i| H[(i, i)]).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn exact_path_is_refits(n in 4..30usize, t in 1..3usize, seed in 0..1000u64, weighted: bool,
    intercept: bool) {
        let (x, y) = sample::<f64>(n, 2, t, seed);
        let w = if weighted { weights(n) } else { vec![1.0; n] };
        prop_assume!(w.iter().filter(|&&w| w > 0.0).count() > 2);
        let mus = [10.0, 0.3, 1e-2, 1e-3];
        let ridges = mus.map(Ridge::Absolute);
        let krr = ExactKrr { intercept, ..ExactKrr::without_ridge(gaussian(0.7)) };
        let points = Points::from_rows(x.as_ref());
        let problem = Problem { weights: weighted.then_some(&w[..]), x: points, y: y.as_ref() };
        let path = krr.path(problem, &ridges).unwrap();
        let oracle = |y: &Mat<f64>, w: &[f64], mu: f64, at: MatRef<'_, f64>| {
            oracle_exact(&gaussian(0.7), x.as_ref(), y.as_ref(), w, mu, intercept, at)
        };
        check(&path, &mus, oracle, (&x, &y, &w), 1e-10);
    }
}

/// Centres far enough apart for the oracle's plain normal equations.
fn apart(m: usize, d: usize) -> Mat<f64> {
    Mat::from_fn(m, d, |j, k| if k == 0 { 1.1 * j as f64 - 2.0 } else { 0.1 * k as f64 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nystrom_path_is_refits(
        n in 4..30usize, m in 1..5usize, t in 1..3usize, seed in 0..1000u64, weighted: bool,
        intercept: bool, qr: bool,
    ) {
        let (x, y) = sample::<f64>(n, 2, t, seed);
        let w = if weighted { weights(n) } else { vec![1.0; n] };
        prop_assume!(w.iter().filter(|&&w| w > 0.0).count() > 2);
        let mus = [10.0, 0.3, 1e-2];
        let solver = if qr { Solver::Qr } else { Solver::Auto };
        let krr = NystromKrr { intercept, solver, ..NystromKrr::without_ridge(gaussian(0.7)) };
        // some samples as landmarks: the refits keep them as centres
        let rows: Vec<usize> = (0..m.min(n)).map(|j| (j * 7 + 1) % n).collect();
        let landmarks = Landmarks::from_draws(n, &rows).unwrap();
        let z = Mat::from_fn(landmarks.len(), 2, |j, k| x[(landmarks.indices()[j], k)]);
        prop_assume!((0..z.nrows()).all(|i| (0..i).all(|j| (z.row(i) - z.row(j)).norm_l2() > 0.3)));
        let ridges = mus.map(Ridge::Absolute);
        let points = Points::from_rows(x.as_ref());
        let problem = Problem { weights: weighted.then_some(&w[..]), x: points, y: y.as_ref() };
        let path = krr.path(problem, &landmarks, &ridges).unwrap();
        let oracle = |y: &Mat<f64>, w: &[f64], mu: f64, at: MatRef<'_, f64>| {
            oracle_nystrom(&gaussian(0.7), x.as_ref(), y.as_ref(), z.as_ref(), w, mu, intercept, at)
        };
        check(&path, &mus, oracle, (&x, &y, &w), 1e-10);
    }
}

#[test]
fn streamed_over_many_leaves_it_is_the_dense_hat_matrix() {
    let (x, y) = sample::<f64>(2500, 2, 2, 3);
    let (z, w) = (apart(5, 2), weights(2500));
    let krr = NystromKrr { intercept: true, ..NystromKrr::without_ridge(gaussian(0.9)) };
    let (points, centers) = (Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
    for weighted in [false, true] {
        let w = if weighted { w.clone() } else { vec![1.0; 2500] };
        let ridges = [Ridge::Absolute(2.0)];
        let path =
            krr.path(Problem::new(points, y.as_ref()).weighted(&w), centers, &ridges).unwrap();
        // h = diag of √D[C 1](…)⁻¹[C 1]ᵀ√D from plain normal equations
        let C = gaussian(0.9).eval(points, centers);
        let F = Mat::from_fn(2500, 6, |i, j| w[i].sqrt() * if j < 5 { C[(i, j)] } else { 1.0 });
        let W = gaussian(0.9).gram(centers);
        let A = F.transpose() * &F
            + Mat::from_fn(6, 6, |i, j| if i < 5 && j < 5 { 2.0 * W[(i, j)] } else { 0.0 });
        let G = lu(&A, &F.transpose().to_owned());
        let Dy = Mat::from_fn(2500, 2, |i, j| w[i].sqrt() * y[(i, j)]);
        let e = &Dy - &F * (&G * &Dy);
        let h: Vec<f64> = (0..2500).map(|i| (0..6).map(|j| F[(i, j)] * G[(j, i)]).sum()).collect();
        let total: f64 = w.iter().sum();
        let loo = (0..2500)
            .map(|i| (0..2).map(|j| (e[(i, j)] / (1.0 - h[i])).powi(2)).sum::<f64>())
            .sum::<f64>()
            / (2.0 * total);
        let point = &path.points()[0];
        assert!((point.loo / loo - 1.0).abs() < 1e-10, "{:e}", point.loo / loo - 1.0);
        assert!((point.d_eff - h.iter().sum::<f64>()).abs() < 1e-9);
        assert!((point.loo_by_target.iter().sum::<f64>() / 2.0 - point.loo).abs() < 1e-14);
    }
}

#[test]
fn at_tiny_ridges_the_path_goes_by_qr_and_still_is_refits() {
    // λ from 1e-3 to 1e-13 with 12 landmarks of a smooth kernel; refits by streamed QR. Eigenvalues
    // of ΦᵀΦ are known to 2e-16·n only, so that by normal equations the last of them would be
    // noise; singular values of R are known to 2e-16·√n.
    let (x, y) = sample::<f64>(60, 1, 1, 5);
    let points = Points::from_rows(x.as_ref());
    let landmarks = Landmarks::new(60, (0..60).step_by(5).collect()).unwrap();
    let lambdas = [1e-3, 1e-7, 1e-10, 1e-13, 1e-17];
    let path = NystromKrr::without_ridge(gaussian(0.8))
        .path((points, y.as_ref()), &landmarks, &lambdas.map(Ridge::PerSample))
        .unwrap();
    let z = points.gather(landmarks.indices().into());
    for (point, lambda) in path.points().iter().zip(lambdas) {
        assert_eq!(point.mu, 60.0 * lambda);
        let krr = NystromKrr {
            solver: Solver::Qr,
            ..NystromKrr::new(gaussian(0.8), Ridge::Absolute(60.0 * lambda))
        };
        let left_out = |i: usize| {
            let w: Vec<f64> = (0..60).map(|k| if k == i { 0.0 } else { 1.0 }).collect();
            let model = krr.fit(Problem::new(points, y.as_ref()).weighted(&w), z.points()).unwrap();
            (y[(i, 0)] - model.predict(points.slice(i..i + 1)).unwrap()[(0, 0)]).powi(2)
        };
        let loo = (0..60).map(left_out).sum::<f64>() / 60.0;
        // what is left is the refits' own error: they predict through θ = R⁻ᵀβ, which is huge as W
        // is nearly singular and λ small
        let tolerance = if lambda >= 1e-10 { 1e-6 } else { 1e-4 };
        assert!(
            (point.loo / loo - 1.0).abs() < tolerance,
            "{lambda:e}: {:e}",
            point.loo / loo - 1.0
        );
    }
    assert!(path.model_at(Ridge::PerSample(1e-3)).unwrap().report().reason.contains("by QR"));
    // Far below: raised, finite, and reported.
    let floor = path.model_at(Ridge::PerSample(1e-300)).unwrap().report().ridge;
    assert!(floor > 1e-30 && floor < 1e-18, "{floor:e}");
}

#[test]
fn by_normal_equations_tiny_ridges_are_raised_to_what_they_can_see() {
    let (x, y) = sample::<f64>(200, 1, 1, 5);
    let points = Points::from_rows(x.as_ref());
    let landmarks = Landmarks::new(200, (0..40).collect()).unwrap();
    let krr =
        NystromKrr { solver: Solver::NormalEquations, ..NystromKrr::without_ridge(gaussian(1.0)) };
    let path =
        krr.path((points, y.as_ref()), &landmarks, &[1e-2, 1e-30].map(Ridge::PerSample)).unwrap();
    let floor = 10.0 * f64::EPSILON * 200.0; // 10·ε·Σ k(x_i, x_i)
    assert!((path.points()[1].mu / floor - 1.0).abs() < 1e-12);
    assert!(path.points().iter().all(|p| p.loo.is_finite() && p.loo > 0.0));
}

#[test]
fn all_points_as_landmarks_is_the_exact_path() {
    let (x, y) = sample::<f64>(50, 2, 1, 9);
    let points = Points::from_rows(x.as_ref());
    let ridges = [1.0, 1e-2, 1e-4].map(Ridge::PerSample);
    let nystrom = NystromKrr { intercept: true, ..NystromKrr::without_ridge(gaussian(0.5)) };
    let exact = ExactKrr { intercept: true, ..ExactKrr::without_ridge(gaussian(0.5)) };
    let a = nystrom.path((points, y.as_ref()), &Landmarks::all(50).unwrap(), &ridges).unwrap();
    let b = exact.path((points, y.as_ref()), &ridges).unwrap();
    for (a, b) in a.points().iter().zip(b.points()) {
        assert!(
            (a.loo / b.loo - 1.0).abs() < 1e-8 && (a.gcv / b.gcv - 1.0).abs() < 1e-8,
            "{a:?} {b:?}"
        );
        assert!((a.d_eff - b.d_eff).abs() < 1e-8);
    }
}

#[test]
fn sketched_path_is_refits() {
    // With sample i left out by a weight of 0 the sketch stays what it is, its rows included.
    // Streamed (u ≤ n/4) and kept.
    let (x, y) = sample::<f64>(60, 2, 2, 12);
    let (points, ridge) = (Points::from_rows(x.as_ref()), Ridge::Absolute(0.2));
    for (d, m) in [(4, 3), (6, 8)] {
        let sketch = Accumulation::uniform(m).sample(60, d, &mut rng(3)).unwrap();
        for intercept in [false, true] {
            let solver = Solver::NormalEquations;
            let krr = SketchedKrr { intercept, solver, ..SketchedKrr::new(gaussian(0.6), ridge) };
            let without =
                SketchedKrr { intercept, solver, ..SketchedKrr::without_ridge(gaussian(0.6)) };
            let path = without.path((points, y.as_ref()), &sketch, &[ridge]).unwrap();
            let left_out = |i: usize| {
                let w: Vec<f64> = (0..60).map(|k| if k == i { 0.0 } else { 1.0 }).collect();
                let f = krr
                    .fit(Problem::new(points, y.as_ref()).weighted(&w), &sketch)
                    .unwrap()
                    .predict(points.slice(i..i + 1))
                    .unwrap();
                [0, 1].map(|j| y[(i, j)] - f[(0, j)])
            };
            let left_out: Vec<[f64; 2]> = (0..60).map(left_out).collect();
            let rows = path.leave_one_out(ridge, (points, y.as_ref())).unwrap();
            let gap = |i: usize, j: usize| (rows[(i, j)] - left_out[i][j]).abs();
            assert!((0..60).all(|i| gap(i, 0).max(gap(i, 1)) < 1e-10));
            let loo = left_out.iter().flatten().map(|r| r * r).sum::<f64>() / 120.0;
            assert!(
                (path.points()[0].loo / loo - 1.0).abs() < 1e-10,
                "{:e}",
                path.points()[0].loo / loo - 1.0
            );
            let (a, b) =
                (path.model_at(ridge).unwrap(), krr.fit((points, y.as_ref()), &sketch).unwrap());
            let gap =
                distance(a.predict(points).unwrap().as_ref(), b.predict(points).unwrap().as_ref());
            assert!(gap < 1e-10, "{gap:e}");
            assert!(a.report().reason.contains("a sketch of"), "{}", a.report().reason);
        }
    }
}

#[test]
fn an_interpolating_path_stays_finite() {
    // More centres than samples and no ridge to speak of: 1 − h_i is lost in rounding, and is kept
    // at its lower bound.
    let (x, y) = sample::<f64>(20, 1, 1, 4);
    let (points, z) =
        (Points::from_rows(x.as_ref()), Mat::from_fn(40, 1, |j, _| j as f64 / 8.0 - 2.5));
    let krr = NystromKrr::without_ridge(gaussian(0.3));
    let ridges = [1e-9, 1e-15, 1e-19].map(Ridge::PerSample);
    let path = krr.path((points, y.as_ref()), Points::from_rows(z.as_ref()), &ridges).unwrap();
    assert!(
        path.points().iter().all(|p| p.loo.is_finite() && p.loo > 0.0 && p.gcv.is_finite()),
        "{:?}",
        path.points()
    );
}

/// All numbers of a path as bits, with 1, 2 and 8 threads.
#[test]
fn the_same_bits_with_any_number_of_threads() {
    let (x, y) = sample::<f64>(2100, 3, 2, 11);
    let points = Points::from_rows(x.as_ref());
    let ridges = lambda_grid(1.0, 1e-6, 4).unwrap();
    for solver in [Solver::NormalEquations, Solver::Qr] {
        same_at_any_thread_count(|| {
            let krr =
                NystromKrr { intercept: true, solver, ..NystromKrr::without_ridge(gaussian(1.5)) };
            let path = krr.path((points, y.as_ref()), points.slice(0..300), &ridges).unwrap();
            let model = path.model_at(ridges[2]).unwrap();
            (path.points().to_vec(), model.coefficients().to_owned())
        });
    }
}

#[test]
fn the_features_are_evaluated_twice_and_the_report_says_so() {
    let (x, y) = sample::<f64>(400, 2, 1, 1);
    let counted = Counting::new(gaussian(1.0));
    let landmarks = Landmarks::new(400, (0..30).collect()).unwrap();
    let krr = NystromKrr::without_ridge(&counted);
    let path = krr
        .path(
            (Points::from_rows(x.as_ref()), y.as_ref()),
            &landmarks,
            &lambda_grid(1.0, 1e-6, 25).unwrap(),
        )
        .unwrap();
    let entries = counted.entries();
    assert_eq!(entries, 2 * 400 * 30 + 30 * 30);
    let report = path.model_at(Ridge::PerSample(1e-3)).unwrap().report().clone();
    assert_eq!(report.kernel_entries, entries);
    // models cost no kernel value
    assert_eq!(counted.entries(), 0);
}
