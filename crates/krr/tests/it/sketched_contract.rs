//! The contract of sketched regression: bits and threads, bad input, degenerate data, the report.
#![allow(non_snake_case)]

use crate::common::*;
use crate::sketched::laws;
use faer::Mat;
use nystrom_kernels::{Gaussian, Linear, Points};
use nystrom_krr::{ExactKrr, Problem, SketchedKrr, SolvedBy, Solver};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::{Accumulation, GaussianSketch, SparseSketch};

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let (x, y) = sample::<f64>(1500, 3, 2, 16);
    let (at, _) = sample::<f64>(40, 3, 1, 17);
    for (name, law) in laws::<f64>() {
        for solver in [Solver::NormalEquations, Solver::Qr] {
            println!("{name}, {solver:?}");
            same_at_any_thread_count(|| {
                let sketch = law.draw(1500, 20, &mut rng(18)).unwrap();
                let krr = SketchedKrr {
                    solver,
                    ..SketchedKrr::new(gaussian(1.0), Ridge::PerSample(1e-4))
                };
                let model = krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &*sketch).unwrap();
                model.predict(Points::from_rows(at.as_ref())).unwrap()
            });
        }
    }
}

#[test]
fn bad_input_is_named() {
    let (x, y) = sample::<f64>(20, 2, 1, 19);
    let points = Points::from_rows(x.as_ref());
    let krr = SketchedKrr::new(gaussian(1.0), Ridge::PerSample(1e-3));
    let sketch = Accumulation::uniform(2).sample::<f64>(20, 3, &mut rng(20)).unwrap();
    let fit = |krr: &SketchedKrr<Gaussian, Ridge<f64>>, x: Points<'_, f64>, y: &Mat<f64>| {
        krr.fit((x, y.as_ref()), &sketch).err()
    };
    assert!(matches!(fit(&krr, points.slice(0..19), &y), Some(Error::Shape { .. })));
    let short = Mat::from_fn(19, 1, |i, _| y[(i, 0)]);
    assert!(matches!(
        fit(&krr, points.slice(0..19), &short),
        Some(Error::Shape { expected: 19, got: 20, .. })
    ));
    assert!(matches!(fit(&krr, points, &Mat::zeros(20, 0)), Some(Error::Empty { .. })));
    let nan = Mat::from_fn(20, 1, |i, _| if i == 7 { f64::NAN } else { 0.0 });
    assert!(matches!(fit(&krr, points, &nan), Some(Error::NonFinite { row: 7, .. })));
    let bad = Mat::from_fn(20, 2, |i, j| if (i, j) == (3, 1) { f64::INFINITY } else { 0.0 });
    assert!(matches!(
        fit(&krr, Points::from_rows(bad.as_ref()), &y),
        Some(Error::NonFinite { row: 3, col: 1, .. })
    ));
    for lambda in [0.0, -1.0, f64::NAN] {
        let krr = SketchedKrr::new(gaussian(1.0), Ridge::PerSample(lambda));
        assert!(matches!(fit(&krr, points, &y), Some(Error::InvalidParameter { .. })), "{lambda}");
    }
    let weights = krr.fit(Problem::new(points, y.as_ref()).weighted(&[1.0; 19]), &sketch).err();
    assert!(matches!(weights, Some(Error::Shape { .. })));
    // SᵀKS = 0: two equal points with opposite signs span the zero function.
    let zero = SparseSketch::new(2, vec![vec![(0, 1.0), (1, -1.0)]]).unwrap();
    let twice = Points::from_slice(&[1.0, 1.0]);
    let error = SketchedKrr::new(Linear::new(), Ridge::PerSample(1e-3))
        .fit((twice, y.as_ref().subrows(0, 2)), &zero)
        .err();
    assert!(matches!(error, Some(Error::NotPositiveDefinite { .. })), "{error:?}");
}

#[test]
fn one_point_and_repeated_points_are_fine() {
    let sketch = GaussianSketch.sample::<f64>(1, 1, &mut rng(21)).unwrap();
    let y = Mat::from_fn(1, 1, |_, _| 3.0);
    let model = SketchedKrr::new(gaussian(1.0), Ridge::PerSample(0.5))
        .fit((Points::from_slice(&[4.0]), y.as_ref()), &sketch);
    assert!(
        (model.unwrap().predict(Points::from_slice(&[4.0])).unwrap()[(0, 0)] - 2.0).abs() < 1e-12
    );
    let x: Vec<f64> = (0..60).map(|i| (i % 4) as f64).collect();
    let y = Mat::from_fn(60, 1, |i, _| (i % 4) as f64);
    let exact = ExactKrr::new(gaussian(0.5), Ridge::PerSample(1e-3))
        .fit((Points::from_slice(&x), y.as_ref()))
        .unwrap();
    let at = Points::from_slice(&[0.0, 0.5, 3.0]);
    for (name, law) in laws::<f64>() {
        let sketch = law.draw(60, 20, &mut rng(22)).unwrap(); // rank 4
        let model = SketchedKrr::new(gaussian(0.5), Ridge::PerSample(1e-3))
            .fit((Points::from_slice(&x), y.as_ref()), &*sketch);
        let gap = distance(
            model.unwrap().predict(at).unwrap().as_ref(),
            exact.predict(at).unwrap().as_ref(),
        );
        assert!(gap < 1e-6, "{name}: {gap:e}");
    }
}

#[test]
fn the_report_says_how_it_was_solved() {
    let (x, y) = sample::<f64>(500, 2, 1, 23);
    let sketch = Accumulation::uniform(3).sample::<f64>(500, 20, &mut rng(24)).unwrap();
    let krr = SketchedKrr::new(gaussian(1.0), Ridge::PerSample(1e-17));
    let report =
        krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &sketch).unwrap().report().clone();
    assert_eq!(report.solver, SolvedBy::Qr);
    assert!(report.reason.ends_with("a sketch of 20 columns on 58 rows"), "{}", report.reason);
}
