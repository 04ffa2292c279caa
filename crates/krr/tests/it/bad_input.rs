//! Wrong input is a typed error that names the place, before any work is done; odd input has a
//! defined answer.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::Points;
use nystrom_krr::{ExactKrr, KrrModel, NystromKrr, Problem, Solver, metrics};
use nystrom_linalg_core::{Error, Result, Ridge};
use nystrom_sketch::Landmarks;

type Model = KrrModel<nystrom_kernels::Gaussian, f64>;

/// Both estimators on the same input; they must refuse it with the same error.
fn refused(x: &Mat<f64>, y: &Mat<f64>, w: Option<&[f64]>, ridge: f64) -> Error {
    let points = Points::from_rows(x.as_ref());
    let center = Mat::from_fn(1, x.ncols(), |_, _| 0.5);
    let centers = Points::from_rows(center.as_ref());
    let nystrom = NystromKrr::new(gaussian(1.0), Ridge::PerSample(ridge));
    let exact = ExactKrr::new(gaussian(1.0), Ridge::PerSample(ridge));
    let (a, b): (Result<Model>, Result<Model>) = match w {
        None => (nystrom.fit((points, y.as_ref()), centers), exact.fit((points, y.as_ref()))),
        Some(w) => (
            nystrom.fit(Problem::new(points, y.as_ref()).weighted(w), centers),
            exact.fit(Problem::new(points, y.as_ref()).weighted(w)),
        ),
    };
    let (a, b) = (a.unwrap_err(), b.unwrap_err());
    assert_eq!(a.to_string(), b.to_string());
    a
}

fn zeros(n: usize, t: usize) -> Mat<f64> {
    Mat::zeros(n, t)
}

#[test]
fn empty_samples() {
    assert_eq!(refused(&zeros(0, 2), &zeros(0, 1), None, 1.0), Error::Empty { what: "points (n)" });
    assert_eq!(
        refused(&zeros(3, 0), &zeros(3, 1), None, 1.0),
        Error::Empty { what: "coordinates of a point (d)" }
    );
    assert_eq!(
        refused(&zeros(3, 1), &zeros(3, 0), None, 1.0),
        Error::Empty { what: "targets (columns of y)" }
    );
}

#[test]
fn lengths_that_differ() {
    assert!(matches!(
        refused(&zeros(3, 1), &zeros(4, 1), None, 1.0),
        Error::Shape { expected: 3, got: 4, .. }
    ));
    assert!(matches!(
        refused(&zeros(3, 1), &zeros(3, 1), Some(&[1.0; 2]), 1.0),
        Error::Shape { expected: 3, got: 2, .. }
    ));
}

#[test]
fn numbers_that_are_not() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let spoiled = Mat::from_fn(3, 2, |i, k| if (i, k) == (2, 1) { bad } else { 0.0 });
        let error = refused(&spoiled, &zeros(3, 1), None, 1.0);
        assert!(
            matches!(error, Error::NonFinite { what: "points", row: 2, col: 1, .. }),
            "{error}"
        );
        let error = refused(&zeros(3, 1), &spoiled, None, 1.0);
        assert!(
            matches!(error, Error::NonFinite { what: "targets y", row: 2, col: 1, .. }),
            "{error}"
        );
        let error = refused(&zeros(3, 1), &zeros(3, 1), Some(&[1.0, bad, 1.0]), 1.0);
        assert!(
            matches!(error, Error::InvalidWeight { what: "sample weights", index: 1, .. }),
            "{error}"
        );
    }
}

#[test]
fn weights_that_are_negative_or_all_zero() {
    let error = refused(&zeros(2, 1), &zeros(2, 1), Some(&[1.0, -0.5]), 1.0);
    assert_eq!(error, Error::InvalidWeight { what: "sample weights", index: 1, value: -0.5 });
    let error = refused(&zeros(2, 1), &zeros(2, 1), Some(&[0.0, 0.0]), 1.0);
    assert_eq!(error, Error::InvalidWeight { what: "sample weights", index: 2, value: 0.0 });
}

#[test]
fn ridges_that_are_not_positive() {
    for bad in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let error = refused(&zeros(2, 1), &zeros(2, 1), None, bad);
        assert!(
            matches!(error, Error::InvalidParameter { name: "ridge lambda (PerSample)", .. }),
            "{error}"
        );
    }
}

#[test]
fn centres_that_do_not_fit() {
    let (x, y) = sample::<f64>(5, 2, 1, 0);
    let points = Points::from_rows(x.as_ref());
    let krr = NystromKrr::new(gaussian(1.0), Ridge::PerSample(1e-3));
    let fit =
        |z: &Mat<f64>| krr.fit((points, y.as_ref()), Points::from_rows(z.as_ref())).unwrap_err();
    assert_eq!(fit(&zeros(0, 2)), Error::Empty { what: "centres (m)" });
    assert!(matches!(fit(&zeros(3, 4)), Error::Shape { expected: 2, got: 4, .. }));
    let spoiled = Mat::from_fn(3, 2, |i, k| if (i, k) == (1, 0) { f64::NAN } else { 0.0 });
    assert!(matches!(fit(&spoiled), Error::NonFinite { what: "centres", row: 1, col: 0, .. }));
    // Landmarks chosen among another number of points; m > n cannot even be written down.
    let error = krr.fit((points, y.as_ref()), &Landmarks::new(6, vec![5]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 5, got: 6, .. }), "{error}");
    assert!(Landmarks::new(5, (0..6).collect()).is_err());
}

#[test]
fn a_ridge_lost_in_rounding_is_an_error_of_the_exact_fit() {
    let x = Mat::from_fn(20, 1, |i, _| (i / 2) as f64); // every point twice: K is singular
    let y = Mat::from_fn(20, 1, |i, _| i as f64);
    let error = ExactKrr::new(gaussian(3.0), Ridge::PerSample(1e-30))
        .fit((Points::from_rows(x.as_ref()), y.as_ref()));
    assert!(matches!(error.unwrap_err(), Error::NotPositiveDefinite { order: 20, .. }));
}

#[test]
fn predictions_at_points_that_do_not_fit() {
    let (x, y) = sample::<f64>(5, 2, 1, 0);
    let model = ExactKrr::new(gaussian(1.0), Ridge::PerSample(1e-3))
        .fit((Points::from_rows(x.as_ref()), y.as_ref()))
        .unwrap();
    let at = |z: &Mat<f64>| model.predict(Points::from_rows(z.as_ref())).unwrap_err();
    assert!(matches!(at(&zeros(3, 5)), Error::Shape { expected: 2, got: 5, .. }));
    assert_eq!(at(&zeros(0, 2)), Error::Empty { what: "points (n)" });
    let spoiled = Mat::from_fn(3, 2, |i, k| if (i, k) == (1, 0) { f64::INFINITY } else { 0.0 });
    assert!(matches!(at(&spoiled), Error::NonFinite { what: "points", row: 1, col: 0, .. }));
    let mut out = zeros(4, 1);
    assert!(matches!(
        model.predict_into(out.as_mut(), Points::from_rows(x.as_ref())),
        Err(Error::Shape { .. })
    ));
    let mut out = zeros(5, 2);
    assert!(matches!(
        model.predict_into(out.as_mut(), Points::from_rows(x.as_ref())),
        Err(Error::Shape { .. })
    ));
}

#[test]
fn one_sample_one_target() {
    // n = 1: f(x) = y k(x, z)/(k(z, z) + nλ).
    let (x, y) = (Mat::from_fn(1, 1, |_, _| 0.3_f64), Mat::from_fn(1, 1, |_, _| 2.0));
    let points = Points::from_rows(x.as_ref());
    let a = ExactKrr::new(gaussian(1.0), Ridge::PerSample(0.25)).fit((points, y.as_ref())).unwrap();
    let b = NystromKrr::new(gaussian(1.0), Ridge::PerSample(0.25))
        .fit((points, y.as_ref()), &Landmarks::all(1).unwrap())
        .unwrap();
    for model in [&a, &b] {
        assert!((model.predict(points).unwrap()[(0, 0)] - 1.6).abs() < 1e-14);
    }
    // With an intercept, b takes it all.
    let krr =
        NystromKrr { intercept: true, ..NystromKrr::new(gaussian(1.0), Ridge::PerSample(0.25)) };
    let model = krr.fit((points, y.as_ref()), &Landmarks::all(1).unwrap()).unwrap();
    assert_eq!((model.intercept()[0], model.coefficients()[(0, 0)]), (2.0, 0.0));
}

#[test]
fn targets_near_the_end_of_the_range_are_refused_not_returned_as_infinities() {
    let x = Mat::from_fn(4, 1, |i, _| i as f64 * 1e-3);
    let y = Mat::from_fn(4, 1, |i, _| if i % 2 == 0 { 1e308 } else { -1e308 });
    let points = Points::from_rows(x.as_ref());
    let nystrom =
        NystromKrr::new(gaussian(1.0), Ridge::PerSample(1e-10)).fit((points, y.as_ref()), points);
    assert!(matches!(nystrom, Err(Error::NonFinite { .. })));
    let exact = ExactKrr::new(gaussian(1.0), Ridge::PerSample(1e-10)).fit((points, y.as_ref()));
    assert!(matches!(exact, Err(Error::NonFinite { .. })));
}

#[test]
fn metrics_of_nothing_or_of_constants() {
    let a = zeros(3, 1);
    assert!(matches!(
        metrics::rmse(a.as_ref(), zeros(2, 1).as_ref()),
        Err(Error::Shape { expected: 2, got: 3, .. })
    ));
    assert!(matches!(
        metrics::mse(zeros(0, 1).as_ref(), zeros(0, 1).as_ref()),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(metrics::r2(a.as_ref(), a.as_ref()), Err(Error::InvalidParameter { .. })));
    let y = Mat::from_fn(4, 1, |i, _| i as f64);
    let mean = Mat::from_fn(4, 1, |_, _| 1.5);
    assert_eq!(metrics::r2(mean.as_ref(), y.as_ref()).unwrap(), 0.0);
    assert_eq!(metrics::r2(y.as_ref(), y.as_ref()).unwrap(), 1.0);
    assert_eq!(metrics::rmse(mean.as_ref(), y.as_ref()).unwrap(), 1.25_f64.sqrt());
    // the unit does not matter, though squares overflow or vanish
    for unit in [1e306, 1e200, 1e-200, 1e-300] {
        let scaled = |a: &Mat<f64>| Mat::from_fn(4, 1, |i, _| unit * a[(i, 0)]);
        let half = Mat::from_fn(4, 1, |i, _| 0.5 * y[(i, 0)]);
        let (r2, expected) =
            (metrics::r2(scaled(&half).as_ref(), scaled(&y).as_ref()), 1.0 - 3.5 / 5.0);
        assert!((r2.unwrap() - expected).abs() < 1e-12, "{unit:e}");
        let constant = scaled(&mean);
        assert!(metrics::r2(constant.as_ref(), constant.as_ref()).is_err(), "{unit:e}");
    }
}

/// Far from the points of a steep line, the constant is beyond `f32`: no file could hold it.
#[test]
fn a_constant_that_overflows_is_refused() {
    let x = Mat::from_fn(20, 1, |i, _| 1000.0_f32 + i as f32);
    let y = Mat::from_fn(20, 1, |i, _| 1e36 * (i as f32 - 10.0));
    let (points, ridge) = (Points::from_rows(x.as_ref()), Ridge::Absolute(1e-3_f32));
    let fit = |y: &Mat<f32>| {
        let krr = NystromKrr::new(nystrom_kernels::Linear::new(), ridge);
        let krr = NystromKrr { intercept: true, solver: Solver::Qr, ..krr };
        krr.fit((points, y.as_ref()), points.slice(0..1))
    };
    let refused = fit(&y).unwrap_err();
    assert!(matches!(refused, Error::NonFinite { row: 0, col: 0, .. }), "{refused}");
    assert!(refused.to_string().contains("intercepts (scale the targets)"), "{refused}");
    let b = fit(&Mat::from_fn(20, 1, |i, _| y[(i, 0)] / 100.0)).unwrap().intercept()[0];
    assert!((b / -1.01e37 - 1.0).abs() < 1e-3, "{b:e}");
}
