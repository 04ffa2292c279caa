//! Leave-one-out errors, generalised cross-validation, d_eff and models along a path, against refits and closed forms.
#![allow(missing_docs, non_snake_case)]

mod common;
use common::*;
use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{ExactKrr, LambdaPath, lambda_grid};
use nystrom_linalg_core::{Error, Ridge};
use proptest::prelude::*;

/// Leave-one-out residuals √w_i (y_i − f₋ᵢ(x_i)) by n refits of the oracle with the weight of sample i set to 0.
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
    for (point, &mu) in path.points.iter().zip(mus) {
        assert_eq!(point.mu, mu);
        let loo = mean_square(&refits(|w, at| oracle(y, w, mu, at), x, y, w), w);
        assert!((point.loo - loo).abs() <= tolerance * loo, "loo {:e} against {loo:e} at {mu:e}", point.loo);
        let f = oracle(y, w, mu, x.as_ref()).0;
        let training = mean_square(&Mat::from_fn(n, y.ncols(), |i, j| w[i].sqrt() * (y[(i, j)] - f[(i, j)])), w);
        assert!((point.training - training).abs() <= tolerance * training.max(loo), "training at {mu:e}");
        let trace = hat_trace(|y| oracle(y, w, mu, x.as_ref()).0, n) - zero_weight_leverage(&oracle, x, w, mu);
        assert!((point.d_eff - trace).abs() <= tolerance * positive, "d_eff {} against {trace}", point.d_eff);
        let gcv = training / (1.0 - trace / positive).powi(2);
        assert!((point.gcv - gcv).abs() <= 10.0 * tolerance * gcv, "gcv {:e} against {gcv:e}", point.gcv);
        let model = path.model_at(point.ridge).unwrap();
        let gap = distance(model.predict(Points::from_rows(x.as_ref())).unwrap().as_ref(), f.as_ref());
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
    fn exact_path_is_refits(n in 4..30usize, t in 1..3usize, seed in 0..1000u64, weighted: bool, intercept: bool) {
        let (x, y) = sample::<f64>(n, 2, t, seed);
        let w = if weighted { weights(n) } else { vec![1.0; n] };
        prop_assume!(w.iter().filter(|&&w| w > 0.0).count() > 2);
        let mus = [10.0, 0.3, 1e-2, 1e-3];
        let ridges = mus.map(Ridge::Absolute);
        let krr = ExactKrr { intercept, ..ExactKrr::new(gaussian(0.7), Ridge::Absolute(1.0)) };
        let points = Points::from_rows(x.as_ref());
        let path = match weighted {
            true => krr.path_weighted(points, y.as_ref(), &ridges, &w),
            false => krr.path(points, y.as_ref(), &ridges),
        }.unwrap();
        let oracle = |y: &Mat<f64>, w: &[f64], mu: f64, at: MatRef<'_, f64>| {
            oracle_exact(&gaussian(0.7), x.as_ref(), y.as_ref(), w, mu, intercept, at)
        };
        check(&path, &mus, oracle, (&x, &y, &w), 1e-10);
    }
}

#[test]
fn exact_path_of_tiny_ridges_is_finite_and_says_where_it_stopped() {
    // K of smooth functions is numerically singular: below n·ε·σ_1 there is nothing to be known, and the path says so.
    let (x, y) = sample::<f64>(80, 1, 1, 7);
    let points = Points::from_rows(x.as_ref());
    let krr = ExactKrr::new(gaussian(2.0), Ridge::PerSample(1.0));
    let ridges = [1e-3, 1e-9, 1e-14, 1e-20, 1e-300].map(Ridge::PerSample);
    let path = krr.path(points, y.as_ref(), &ridges).unwrap();
    assert!((path.points[1].mu - 80e-9).abs() < 1e-20);
    assert!(path.points.iter().all(|p| p.loo.is_finite() && p.gcv.is_finite() && p.gcv > 0.0));
    assert_eq!((path.points[3].mu, path.points[3].loo), (path.points[4].mu, path.points[4].loo));
    let floor = path.points[4].mu;
    assert!(floor > 1e-13 && floor < 1e-11, "{floor:e}");
    assert_eq!(path.model_at(ridges[4]).unwrap().report().ridge, floor);
    // Where the ridge counts, the refits with the crate's own solver agree.
    let loo: f64 = (0..80).map(|i| left_out(&x, &y, i, 80e-9)).sum::<f64>() / 80.0;
    assert!((path.points[1].loo / loo - 1.0).abs() < 1e-6, "{:e} {loo:e}", path.points[1].loo);
}

/// The squared residual of sample i under the fit to the others.
fn left_out(x: &Mat<f64>, y: &Mat<f64>, i: usize, mu: f64) -> f64 {
    let others: Vec<usize> = (0..x.nrows()).filter(|&k| k != i).collect();
    let (xs, ys) = (
        Mat::from_fn(others.len(), 1, |k, _| x[(others[k], 0)]),
        Mat::from_fn(others.len(), 1, |k, _| y[(others[k], 0)]),
    );
    let model =
        ExactKrr::new(gaussian(2.0), Ridge::Absolute(mu)).fit(Points::from_rows(xs.as_ref()), ys.as_ref()).unwrap();
    (y[(i, 0)] - model.predict(Points::from_rows(x.as_ref().subrows(i, 1))).unwrap()[(0, 0)]).powi(2)
}

#[test]
fn orthogonal_features_have_closed_forms() {
    // k(i, j) = δ_ij: h_i = 1/(1 + μ), f₋ᵢ(x_i) = 0, so the leave-one-out residuals are the targets themselves.
    let x: Vec<f64> = (0..6).map(|i| 100.0 * i as f64).collect();
    let y = Mat::from_fn(6, 1, |i, _| i as f64);
    let krr = ExactKrr::new(gaussian(1.0), Ridge::PerSample(1.0));
    let path = krr.path(Points::from_slice(&x), y.as_ref(), &[Ridge::Absolute(0.5)]).unwrap();
    let point = &path.points[0];
    assert!((point.loo - 55.0 / 6.0).abs() < 1e-12 && (point.gcv - 55.0 / 6.0).abs() < 1e-12);
    assert!((point.d_eff - 4.0).abs() < 1e-12 && (point.training - 55.0 / 54.0).abs() < 1e-12);
}

#[test]
fn the_best_point_and_the_edge() {
    let (x, y) = sample::<f64>(120, 1, 1, 3);
    let krr = ExactKrr::new(gaussian(0.5), Ridge::PerSample(1.0));
    let path = krr.path(Points::from_rows(x.as_ref()), y.as_ref(), &lambda_grid(1e2, 1e-8, 21).unwrap()).unwrap();
    let (loo, gcv) = (path.best_by_loo(), path.best_by_gcv());
    assert!(path.points.iter().all(|p| p.loo >= loo.loo && p.gcv >= gcv.gcv));
    assert!(!path.at_edge(loo) && path.at_edge(&path.points[0]) && path.at_edge(&path.points[20]));
    assert!(path.points.windows(2).all(|w| w[1].d_eff > w[0].d_eff && w[1].training < w[0].training));
}

#[test]
fn bad_paths_are_refused() {
    let (x, y) = sample::<f64>(5, 1, 1, 3);
    let points = Points::from_rows(x.as_ref());
    let krr = ExactKrr::new(gaussian(0.5), Ridge::PerSample(1.0));
    let refused = |r: &[Ridge<f64>]| krr.path(points, y.as_ref(), r).unwrap_err();
    assert!(matches!(refused(&[]), Error::Empty { what: "ridges of the path" }));
    assert!(matches!(
        refused(&[Ridge::PerSample(1.0), Ridge::PerSample(-1.0)]),
        Error::InvalidParameter { value: -1.0, .. }
    ));
    let one = ExactKrr { intercept: true, ..krr };
    let error = one.path(points.slice(0..1), y.as_ref().subrows(0, 1), &[Ridge::PerSample(1.0)]).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { value: 1.0, .. }), "{error}");
    assert!(matches!(lambda_grid::<f64>(1.0, 1.0, 5), Err(Error::InvalidParameter { .. })));
    assert!(matches!(lambda_grid::<f64>(1.0, 0.1, 1), Err(Error::Empty { .. })));
    // One sample: without it the fit is 0.
    let path = krr.path(points.slice(0..1), y.as_ref().subrows(0, 1), &[Ridge::PerSample(1.0)]).unwrap();
    assert!((path.points[0].loo - y[(0, 0)].powi(2)).abs() < 1e-15);
    let _: &LambdaPath<Gaussian, f64> = &path;
}
