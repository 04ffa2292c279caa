//! Paths at their ends: tiny ridges, closed forms, the edge of the grid, bad input.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{ExactKrr, LambdaPath, lambda_grid};
use nystrom_linalg_core::{Error, Ridge};

#[test]
fn exact_path_of_tiny_ridges_is_finite_and_says_where_it_stopped() {
    // K of smooth functions is numerically singular: below n·ε·σ_1 there is nothing to be known,
    // and the path says so.
    let (x, y) = sample::<f64>(80, 1, 1, 7);
    let points = Points::from_rows(x.as_ref());
    let krr = ExactKrr::without_ridge(gaussian(2.0));
    let ridges = [1e-3, 1e-9, 1e-14, 1e-20, 1e-300].map(Ridge::PerSample);
    let path = krr.path((points, y.as_ref()), &ridges).unwrap();
    assert!((path.points()[1].mu - 80e-9).abs() < 1e-20);
    assert!(path.points().iter().all(|p| p.loo.is_finite() && p.gcv.is_finite() && p.gcv > 0.0));
    assert_eq!(
        (path.points()[3].mu, path.points()[3].loo),
        (path.points()[4].mu, path.points()[4].loo)
    );
    let floor = path.points()[4].mu;
    assert!(floor > 1e-13 && floor < 1e-11, "{floor:e}");
    assert_eq!(path.model_at(ridges[4]).unwrap().report().ridge, floor);
    // Where the ridge counts, the refits with the crate's own solver agree.
    let loo: f64 = (0..80).map(|i| left_out(&x, &y, i, 80e-9)).sum::<f64>() / 80.0;
    assert!((path.points()[1].loo / loo - 1.0).abs() < 1e-6, "{:e} {loo:e}", path.points()[1].loo);
}

/// The squared residual of sample i under the fit to the others.
fn left_out(x: &Mat<f64>, y: &Mat<f64>, i: usize, mu: f64) -> f64 {
    let others: Vec<usize> = (0..x.nrows()).filter(|&k| k != i).collect();
    let (xs, ys) = (
        Mat::from_fn(others.len(), 1, |k, _| x[(others[k], 0)]),
        Mat::from_fn(others.len(), 1, |k, _| y[(others[k], 0)]),
    );
    let model = ExactKrr::new(gaussian(2.0), Ridge::Absolute(mu))
        .fit((Points::from_rows(xs.as_ref()), ys.as_ref()))
        .unwrap();
    (y[(i, 0)] - model.predict(Points::from_rows(x.as_ref().subrows(i, 1))).unwrap()[(0, 0)])
        .powi(2)
}

#[test]
fn orthogonal_features_have_closed_forms() {
    // k(i, j) = δ_ij: h_i = 1/(1 + μ), f₋ᵢ(x_i) = 0, so the leave-one-out residuals are the targets
    // themselves.
    let x: Vec<f64> = (0..6).map(|i| 100.0 * i as f64).collect();
    let y = Mat::from_fn(6, 1, |i, _| i as f64);
    let krr = ExactKrr::without_ridge(gaussian(1.0));
    let path = krr.path((Points::from_slice(&x), y.as_ref()), &[Ridge::Absolute(0.5)]).unwrap();
    let point = &path.points()[0];
    assert!((point.loo - 55.0 / 6.0).abs() < 1e-12 && (point.gcv - 55.0 / 6.0).abs() < 1e-12);
    assert!((point.d_eff - 4.0).abs() < 1e-12 && (point.training - 55.0 / 54.0).abs() < 1e-12);
}

#[test]
fn the_best_point_and_the_edge() {
    let (x, y) = sample::<f64>(120, 1, 1, 3);
    let krr = ExactKrr::without_ridge(gaussian(0.5));
    let path = krr
        .path((Points::from_rows(x.as_ref()), y.as_ref()), &lambda_grid(1e2, 1e-8, 21).unwrap())
        .unwrap();
    let (loo, gcv) = (path.best_by_loo(), path.best_by_gcv());
    assert!(path.points().iter().all(|p| p.loo >= loo.loo && p.gcv >= gcv.gcv));
    assert!(
        !path.at_edge(loo) && path.at_edge(&path.points()[0]) && path.at_edge(&path.points()[20])
    );
    assert!(
        path.points().windows(2).all(|w| w[1].d_eff > w[0].d_eff && w[1].training < w[0].training)
    );
}

#[test]
fn bad_paths_are_refused() {
    let (x, y) = sample::<f64>(5, 1, 1, 3);
    let points = Points::from_rows(x.as_ref());
    let krr = ExactKrr::without_ridge(gaussian(0.5));
    let refused = |r: &[Ridge<f64>]| krr.path((points, y.as_ref()), r).unwrap_err();
    assert!(matches!(refused(&[]), Error::Empty { what: "ridges of the path" }));
    assert!(matches!(
        refused(&[Ridge::PerSample(1.0), Ridge::PerSample(-1.0)]),
        Error::InvalidParameter { value: -1.0, .. }
    ));
    let one = ExactKrr { intercept: true, ..krr };
    let error = one
        .path((points.slice(0..1), y.as_ref().subrows(0, 1)), &[Ridge::PerSample(1.0)])
        .unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { value: 1.0, .. }), "{error}");
    assert!(matches!(lambda_grid::<f64>(1.0, 1.0, 5), Err(Error::InvalidParameter { .. })));
    assert!(matches!(lambda_grid::<f64>(1.0, 0.1, 1), Err(Error::Empty { .. })));
    let path = krr.path((points, y.as_ref()), &[Ridge::PerSample(1.0)]).unwrap();
    for (points, y) in
        [(points.slice(0..4), y.as_ref().subrows(0, 4)), (points, y.as_ref().subrows(0, 4))]
    {
        assert!(matches!(
            path.leave_one_out(Ridge::PerSample(1.0), (points, y)),
            Err(Error::Shape { .. })
        ));
    }
    assert!(path.leave_one_out(Ridge::PerSample(-1.0), (points, y.as_ref())).is_err());
    // One sample: without it the fit is 0.
    let path =
        krr.path((points.slice(0..1), y.as_ref().subrows(0, 1)), &[Ridge::PerSample(1.0)]).unwrap();
    assert!((path.points()[0].loo - y[(0, 0)].powi(2)).abs() < 1e-15);
    let _: &LambdaPath<Gaussian, f64> = &path;
}
