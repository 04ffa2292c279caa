//! However an iterative fit ends, there is a model and a reason; wrong input is a typed error
//! before any work.

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_kernels::{Gaussian, Points};
use nystrom_krr::{
    Centers, Extras, Falkon, Iteration, IterativeFit, IterativeOptions, Krill, NystromKrr, Stop,
};
use nystrom_linalg_core::{Error, Result, Ridge};
use nystrom_sketch::{Dictionary, Landmarks};
use std::ops::ControlFlow;

type Fit = IterativeFit<Gaussian, f64>;

fn falkon(options: IterativeOptions) -> Falkon<Gaussian, f64> {
    Falkon { options, ..Falkon::new(gaussian(1.0), Ridge::PerSample(1e-3)) }
}

/// 400 points, every tenth a centre.
fn fit(options: IterativeOptions, extras: Extras<'_, Gaussian, f64>) -> Fit {
    let (x, y) = sample::<f64>(400, 2, 1, 0);
    let landmarks = Landmarks::new(400, (0..400).step_by(10).collect()).unwrap();
    falkon(options)
        .fit_with((Points::from_rows(x.as_ref()), y.as_ref()), &landmarks, extras)
        .unwrap()
}

fn usable(fit: &Fit) {
    let f = fit.model.predict(Points::from_slice(&[0.1, 0.2]).slice(0..0)).unwrap_err();
    assert_eq!(f, Error::Empty { what: "points (n)" });
    let at = Mat::from_fn(3, 2, |i, k| (i + k) as f64 * 0.3);
    assert!(fit.model.predict(Points::from_rows(at.as_ref())).unwrap().norm_max() < 10.0);
}

#[test]
fn a_tolerance_below_rounding_stalls_and_says_so() {
    let options = IterativeOptions { tolerance: 1e-15, max_iterations: 1000, memory: None };
    let fit = fit(options, Extras::default());
    assert_eq!(fit.report.stop, Stop::Stalled);
    let report = &fit.report;
    assert!(
        report.residual < 1e-9 && report.iterations < 300,
        "{} {:e}",
        report.iterations,
        report.residual
    );
    assert!(fit.model.report().reason.contains("stalled"));
    usable(&fit);
    assert!(matches!(fit.into_model(), Err(Error::NotConverged { tolerance: 1e-15, .. })));
}

#[test]
fn the_iteration_limit_leaves_a_model_and_the_true_residual() {
    let options = IterativeOptions { max_iterations: 3, ..IterativeOptions::default() };
    let short = fit(options, Extras::default());
    assert_eq!((short.report.stop.clone(), short.report.iterations), (Stop::IterationLimit, 3));
    assert!((short.report.residual / short.report.history[2] - 1.0).abs() < 1e-6);
    usable(&short);
    // going on from there takes what was left
    let rest = fit(
        IterativeOptions::default(),
        Extras { start: Some(short.model.coefficients()), ..Extras::default() },
    );
    let all = fit(IterativeOptions::default(), Extras::default());
    assert!(rest.converged() && rest.report.iterations < all.report.iterations);
    assert!(matches!(short.into_model(), Err(Error::NotConverged { iterations: 3, .. })));
    // no iteration at all: f = 0, relative residual 1
    let none = fit(IterativeOptions { max_iterations: 0, ..options }, Extras::default());
    assert_eq!((none.report.residual, none.model.coefficients().norm_max()), (1.0, 0.0));
}

#[test]
fn a_monitor_sees_every_iterate_and_may_stop() {
    let mut residuals = Vec::new();
    let mut predictions = Vec::new();
    let mut watch = |iteration: &Iteration<'_, Gaussian, f64>| {
        assert_eq!(iteration.number, residuals.len() + 1);
        residuals.push(iteration.residual);
        let at = Mat::from_fn(1, 2, |_, _| 0.3);
        predictions.push(iteration.model()?.predict(Points::from_rows(at.as_ref()))?[(0, 0)]);
        Ok(if iteration.number == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let fit =
        fit(IterativeOptions::default(), Extras { monitor: Some(&mut watch), ..Extras::default() });
    assert_eq!((fit.report.stop.clone(), fit.report.iterations), (Stop::Asked, 5));
    assert_eq!(fit.report.history, residuals);
    let at = Mat::from_fn(1, 2, |_, _| 0.3);
    assert_eq!(fit.model.predict(Points::from_rows(at.as_ref())).unwrap()[(0, 0)], predictions[4]);
    assert!(predictions[0] != predictions[4]);
    assert!(fit.into_model().is_ok()); // what was asked for is no failure
}

#[test]
fn a_monitor_that_fails_leaves_the_model_and_a_typed_error() {
    let mut fails = |iteration: &Iteration<'_, Gaussian, f64>| match iteration.number {
        1..=3 => Ok(ControlFlow::Continue(())),
        _ => Err("no validation file".into()),
    };
    let fit =
        fit(IterativeOptions::default(), Extras { monitor: Some(&mut fails), ..Extras::default() });
    assert_eq!(fit.report.stop, Stop::MonitorFailed("no validation file".into()));
    assert_eq!((fit.report.iterations, fit.report.history.len()), (4, 4));
    usable(&fit);
    let error = fit.into_model().unwrap_err();
    assert_eq!(error, Error::MonitorFailed { iteration: 4, problem: "no validation file".into() });
}

#[test]
fn zero_targets_are_fitted_at_once() {
    let (x, _) = sample::<f64>(50, 2, 1, 1);
    let y = Mat::zeros(50, 2);
    let points = Points::from_rows(x.as_ref());
    let fit =
        falkon(IterativeOptions::default()).fit((points, y.as_ref()), points.slice(0..10)).unwrap();
    assert_eq!(
        (fit.report.stop.clone(), fit.report.iterations, fit.report.residual),
        (Stop::Converged, 0, 0.0)
    );
}

/// Duplicate centres, and every centre the same: W is singular, the shift δ takes care, the model
/// is that of the distinct centres.
#[test]
fn singular_matrices_of_centres_are_fitted() {
    let (x, y) = sample::<f64>(300, 2, 1, 2);
    let points = Points::from_rows(x.as_ref());
    let twice = Mat::from_fn(40, 2, |j, k| x[(j / 2, k)]);
    let options = IterativeOptions { tolerance: 1e-8, max_iterations: 500, memory: None };
    let falkon = Falkon { options, ..Falkon::new(gaussian(1.0), Ridge::PerSample(1e-2)) };
    let krill = Krill { options, ..Krill::new(gaussian(1.0), Ridge::PerSample(1e-2)) };
    let once = falkon
        .fit((points, y.as_ref()), points.slice(0..20))
        .unwrap()
        .model
        .predict(points)
        .unwrap();
    let z = Points::from_rows(twice.as_ref());
    let rng = &mut rng(0);
    for fit in [falkon.fit((points, y.as_ref()), z), krill.fit((points, y.as_ref()), z, rng)] {
        let fit = fit.unwrap();
        assert!(fit.converged(), "{:?}", fit.report);
        assert!(distance(fit.model.predict(points).unwrap().as_ref(), once.as_ref()) < 1e-5);
    }
    let same = Mat::from_fn(10, 2, |_, k| x[(0, k)]);
    let z = Points::from_rows(same.as_ref());
    let one = falkon
        .fit((points, y.as_ref()), points.slice(0..1))
        .unwrap()
        .model
        .predict(points)
        .unwrap();
    let ten = falkon.fit((points, y.as_ref()), z).unwrap();
    assert!(
        ten.converged()
            && distance(ten.model.predict(points).unwrap().as_ref(), one.as_ref()) < 1e-5
    );
}

/// λ far below what the data determine: a model as good as the direct one comes back, converged or
/// with the reason why not.
#[test]
fn lambda_to_zero_has_a_defined_answer() {
    let (x, y) = sample::<f64>(300, 2, 1, 3);
    let points = Points::from_rows(x.as_ref());
    for lambda in [1e-10, 1e-14, 1e-300] {
        let ridge = Ridge::PerSample(lambda);
        let options = IterativeOptions { max_iterations: 500, ..IterativeOptions::default() };
        let fit = Falkon { options, ..Falkon::new(gaussian(1.0), ridge) }
            .fit((points, y.as_ref()), points.slice(0..30))
            .unwrap();
        let direct = NystromKrr::new(gaussian(1.0), ridge)
            .fit((points, y.as_ref()), points.slice(0..30))
            .unwrap();
        let (f, g) = (fit.model.predict(points).unwrap(), direct.predict(points).unwrap());
        assert!(fit.converged(), "lambda = {lambda:e}: {:?}", fit.report);
        assert!(
            distance(f.as_ref(), g.as_ref()) < 1e-4,
            "lambda = {lambda:e}: {:e}",
            distance(f.as_ref(), g.as_ref())
        );
    }
}

fn refused(
    x: &Mat<f64>,
    y: &Mat<f64>,
    centers: Centers<'_, f64>,
    ridge: f64,
    options: IterativeOptions,
    start: Option<MatRef<'_, f64>>,
) -> Error {
    let points = Points::from_rows(x.as_ref());
    let extras = || Extras { start, ..Extras::default() };
    let ridge = Ridge::PerSample(ridge);
    let a: Result<Fit> = Falkon { options, ..Falkon::new(gaussian(1.0), ridge) }.fit_with(
        (points, y.as_ref()),
        centers,
        extras(),
    );
    let b: Result<Fit> = Krill { options, ..Krill::new(gaussian(1.0), ridge) }.fit_with(
        (points, y.as_ref()),
        centers,
        extras(),
        &mut rng(0),
    );
    let (a, b) = (a.unwrap_err(), b.unwrap_err());
    if !matches!(a, Error::OutOfBudget { .. }) {
        assert_eq!(a.to_string(), b.to_string());
    }
    a
}

#[test]
fn wrong_input_is_refused_before_work_is_done() {
    let default = IterativeOptions::default();
    let (x, y) = sample::<f64>(5, 2, 1, 0);
    let landmarks = Landmarks::new(5, vec![1, 3]).unwrap();
    let two: Centers<'_, f64> = (&landmarks).into();
    let zeros = |n, t| Mat::<f64>::zeros(n, t);
    assert_eq!(
        refused(&zeros(0, 2), &zeros(0, 1), two, 1.0, default, None),
        Error::Empty { what: "points (n)" }
    );
    assert!(matches!(
        refused(&x, &zeros(4, 1), two, 1.0, default, None),
        Error::Shape { expected: 5, got: 4, .. }
    ));
    assert!(matches!(refused(&x, &zeros(5, 0), two, 1.0, default, None), Error::Empty { .. }));
    let spoiled = Mat::from_fn(5, 2, |i, k| if (i, k) == (2, 1) { f64::NAN } else { 0.5 });
    assert!(matches!(
        refused(&spoiled, &y, two, 1.0, default, None),
        Error::NonFinite { what: "points", row: 2, col: 1, .. }
    ));
    assert!(matches!(
        refused(&x, &spoiled, two, 1.0, default, None),
        Error::NonFinite { what: "targets y", row: 2, .. }
    ));
    // centres
    let empty = Dictionary::<f64>::empty(5).unwrap();
    assert_eq!(
        refused(&x, &y, (&empty).into(), 1.0, default, None),
        Error::Empty { what: "centres (m)" }
    );
    let none = Mat::<f64>::zeros(0, 2);
    let none = Points::from_rows(none.as_ref());
    assert_eq!(
        refused(&x, &y, none.into(), 1.0, default, None),
        Error::Empty { what: "centres (m)" }
    );
    let others = Landmarks::new(6, vec![5]).unwrap();
    assert!(matches!(
        refused(&x, &y, (&others).into(), 1.0, default, None),
        Error::Shape { expected: 5, got: 6, .. }
    ));
    let three = Mat::<f64>::zeros(2, 3);
    let three = Points::from_rows(three.as_ref());
    assert!(matches!(
        refused(&x, &y, three.into(), 1.0, default, None),
        Error::Shape { expected: 2, got: 3, .. }
    ));
    let nan = Points::from_rows(spoiled.as_ref());
    assert!(matches!(
        refused(&x, &y, nan.into(), 1.0, default, None),
        Error::NonFinite { what: "centres", row: 2, col: 1, .. }
    ));
    let bad = Centers::Rows { n: 5, indices: &[1, 7], weights: None };
    assert!(matches!(
        refused(&x, &y, bad, 1.0, default, None),
        Error::IndexOutOfRange { index: 7, n: 5, .. }
    ));
    let bad = Centers::Rows { n: 5, indices: &[1, 2], weights: Some(&[1.0, -2.0]) };
    assert!(matches!(
        refused(&x, &y, bad, 1.0, default, None),
        Error::InvalidParameter { value: -2.0, .. }
    ));
    let bad = Centers::Rows { n: 5, indices: &[1, 2], weights: Some(&[1.0]) };
    assert!(matches!(
        refused(&x, &y, bad, 1.0, default, None),
        Error::Shape { expected: 2, got: 1, .. }
    ));
    // numbers
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(&x, &y, two, bad, default, None);
        assert!(
            matches!(error, Error::InvalidParameter { name: "ridge lambda (PerSample)", .. }),
            "{error}"
        );
    }
    for tolerance in [0.0, -1e-3, f64::NAN] {
        let error = refused(&x, &y, two, 1.0, IterativeOptions { tolerance, ..default }, None);
        assert!(matches!(error, Error::InvalidParameter { name: "tolerance", .. }), "{error}");
    }
    // starts
    let wrong = Mat::<f64>::zeros(3, 1);
    assert!(matches!(
        refused(&x, &y, two, 1.0, default, Some(wrong.as_ref())),
        Error::Shape { expected: 2, got: 3, .. }
    ));
    let wrong = Mat::<f64>::zeros(2, 2);
    assert!(matches!(
        refused(&x, &y, two, 1.0, default, Some(wrong.as_ref())),
        Error::Shape { expected: 1, got: 2, .. }
    ));
    let wrong = Mat::from_fn(2, 1, |_, _| f64::NAN);
    assert!(matches!(
        refused(&x, &y, two, 1.0, default, Some(wrong.as_ref())),
        Error::NonFinite { what: "start", .. }
    ));
}

#[test]
fn a_budget_below_one_tile_is_refused_with_what_is_needed() {
    let (x, y) = sample::<f64>(5000, 2, 1, 0);
    let landmarks = Landmarks::new(5000, (0..5000).step_by(50).collect()).unwrap();
    let run = |memory| {
        let options = IterativeOptions { memory, ..IterativeOptions::default() };
        refused(&x, &y, (&landmarks).into(), 1e-3, options, None)
    };
    let Error::OutOfBudget { needed, budget: 1000, .. } = run(Some(1000)) else { panic!() };
    assert!(needed > 16 * 100 * 100 && needed < 10_000_000, "{needed}");
    assert!(matches!(run(Some(needed - 1)), Error::OutOfBudget { .. }));
    let options = IterativeOptions { memory: Some(needed), ..IterativeOptions::default() };
    let fit = falkon(options).fit((Points::from_rows(x.as_ref()), y.as_ref()), &landmarks).unwrap();
    assert_eq!((fit.report.memory.kept_rows, fit.report.memory.total()), (0, needed));
}
