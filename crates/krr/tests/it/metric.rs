//! The learned metric: what it must find, how it must turn with the data, and what it refuses.

#![allow(non_snake_case)]

use crate::common::{rng, same_at_any_thread_count};
use faer::{Mat, MatRef};
use nystrom_kernels::*;
use nystrom_krr::{LearnedMetric, LinearMap, MetricDistance, MetricFit, MetricForm, Problem};
use nystrom_linalg_core::{Error, Result, Scalar, SymmetricEigen, random};

fn normal(n: usize, d: usize, seed: u64) -> Mat<f64> {
    random::standard_normal(n, d, &mut rng(seed))
}

/// Small enough for tests.
fn settings(form: MetricForm) -> LearnedMetric {
    LearnedMetric { form, fit_rows: 500, ..LearnedMetric::default() }
}

fn learn<T: Scalar>(
    metric: &LearnedMetric,
    x: MatRef<'_, T>,
    y: MatRef<'_, T>,
) -> Result<MetricFit> {
    metric.learn(&Matern32::new, (Points::from_rows(x), y), &mut rng(7))
}

/// sin(2wᵀx) and a little noise, w = (1, 2, …, d)/‖·‖.
fn one_direction(n: usize, d: usize) -> (Mat<f64>, Mat<f64>, Vec<f64>) {
    let length = (1..=d).map(|k| (k * k) as f64).sum::<f64>().sqrt();
    let w: Vec<f64> = (1..=d).map(|k| k as f64 / length).collect();
    let (x, noise) = (normal(n, d, 1), normal(n, 1, 2));
    let along = |i: usize| (0..d).map(|k| w[k] * x[(i, k)]).sum::<f64>();
    let y = Mat::from_fn(n, 1, |i, _| (2.0 * along(i)).sin() + 0.1 * noise[(i, 0)]);
    (x, y, w)
}

#[test]
fn a_direction_of_ten_is_found() {
    let (x, y, w) = one_direction(1500, 10);
    let found = learn(&settings(MetricForm::Full), x.as_ref(), y.as_ref()).unwrap();
    let eigen = SymmetricEigen::new(found.map.matrix().as_ref()).unwrap();
    let cosine: f64 = (0..10).map(|k| w[k] * eigen.vectors()[(k, 0)]).sum();
    let degrees = cosine.abs().min(1.0).acos().to_degrees();
    println!("{degrees} degrees, {:?}, {:?}", eigen.values(), found.history());
    assert!(degrees < 5.0, "{degrees}");
    assert!(eigen.values()[1] < 0.5 * eigen.values()[0]);
    assert!(found.error() < 0.5 * found.history()[0].error);
}

#[test]
fn features_that_are_noise_lose_their_weight() {
    let (n, d) = (1500, 8);
    let x = normal(n, d, 3);
    let y = Mat::from_fn(n, 1, |i, _| (2.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 1)]);
    let metric = LearnedMetric { power: 1.0, ..settings(MetricForm::Diagonal) };
    let found = learn(&metric, x.as_ref(), y.as_ref()).unwrap();
    let A = found.map.matrix();
    println!("{:?}", (0..d).map(|k| A[(k, k)]).collect::<Vec<_>>());
    assert_eq!(found.map.form(), MetricForm::Diagonal);
    for k in 2..d {
        assert!(A[(k, k)] < 0.1 * A[(0, 0)].min(A[(1, 1)]), "feature {k}: {}", A[(k, k)]);
    }
    assert!(found.error() < 0.5 * found.history()[0].error);
}

/// Distances in L1 take a map that is diagonal, and a median of their own.
#[test]
fn the_l1_kernel_learns_too() {
    let (n, d) = (600, 6);
    let x = normal(n, d, 3);
    let y = Mat::from_fn(n, 1, |i, _| x[(i, 0)].abs() + (x[(i, 1)] - 0.5).abs());
    let distance = MetricDistance::Manhattan;
    let metric = LearnedMetric { distance, ..settings(MetricForm::Diagonal) };
    let points = Points::from_rows(x.as_ref());
    let rough = |l: f64| PowerExponentialL1::new(0.8, l);
    let found = metric.learn(&rough, (points, &y), &mut rng(1)).unwrap();
    let A = found.map.matrix();
    assert!((2..d).all(|k| A[(k, k)] < 0.3 * A[(0, 0)].min(A[(1, 1)])));
    let mapped = found.map.apply(points).unwrap();
    let mapped = Points::from_cols(mapped.as_ref());
    let distances = [(0, 1), (2, 3), (4, 5)].map(|(i, j)| {
        (0..d).map(|k| (mapped.coordinate(i, k) - mapped.coordinate(j, k)).abs()).sum::<f64>()
    });
    let median = found.length_scale() / found.history()[found.best()].multiple;
    assert!(distances.iter().all(|r| (0.1..10.0).contains(&(r / median))));
}

#[test]
fn the_full_form_turns_with_the_data() {
    let (x, y, _) = one_direction(500, 4);
    let Q = normal(4, 4, 5).qr().compute_thin_Q();
    let turned = &x * Q.transpose();
    let metric = LearnedMetric { iterations: 3, ..settings(MetricForm::Full) };
    let here = learn(&metric, x.as_ref(), y.as_ref()).unwrap();
    let there = learn(&metric, turned.as_ref(), y.as_ref()).unwrap();
    assert_eq!((here.best(), here.ridge()), (there.best(), there.ridge()));
    let expected = &Q * here.map.matrix() * Q.transpose();
    assert!((&expected - there.map.matrix()).norm_max() < 1e-7);
    let expected = &Q * &here.agop * Q.transpose();
    assert!((&expected - &there.agop).norm_max() < 1e-7 * there.agop.norm_max());
}

#[test]
fn what_is_kept_is_the_best_of_what_was_tried() {
    let (x, y, _) = one_direction(400, 6);
    for form in [MetricForm::Diagonal, MetricForm::Full] {
        let found = learn(&settings(form), x.as_ref(), y.as_ref()).unwrap();
        let errors: Vec<f64> = found.history().iter().map(|step| step.error).collect();
        assert!(errors.iter().all(|&error| error >= found.error()));
        assert!(found.history().len() <= 8 && found.best() < found.history().len());
        let A = found.map.matrix();
        let squares: f64 = A.squared_norm_l2();
        assert!((squares - 6.0).abs() < 1e-9, "tr A² = {squares}");
    }
}

/// Errors at rows that gradients were taken at would fall with every map.
#[test]
fn noise_teaches_nothing_and_says_so() {
    let (x, y) = (normal(900, 15, 8), normal(900, 1, 9));
    let found = learn(&settings(MetricForm::Full), x.as_ref(), y.as_ref()).unwrap();
    println!("{:?}", found.history());
    assert!(found.error() > 0.93, "{}", found.error());
}

#[test]
fn units_of_targets_and_constant_targets_play_no_part() {
    let (x, y, _) = one_direction(300, 3);
    let metric = LearnedMetric { iterations: 2, ..settings(MetricForm::Full) };
    let one = learn(&metric, x.as_ref(), y.as_ref()).unwrap();
    // a power of two changes no bit; other numbers change rounding errors, and with them the end of
    // the iterations, whose residual is 1e-4
    for (factor, shift, tolerance) in [(1024.0, 0.0, 1e-12), (1e3, -5.0, 1e-4)] {
        let target = |i: usize, j: usize| if j == 0 { factor * y[(i, 0)] + shift } else { 42.0 };
        let two = learn(&metric, x.as_ref(), Mat::from_fn(300, 2, target).as_ref()).unwrap();
        let difference = (one.map.matrix() - two.map.matrix()).norm_max();
        println!("times {factor}: {difference:e}");
        assert!(difference < tolerance);
        assert!((one.error() - two.error()).abs() < tolerance);
    }
}

#[test]
fn samples_of_weight_zero_teach_nothing() {
    let (x, y, _) = one_direction(300, 3);
    let w: Vec<f64> =
        (0..300).map(|i| if i % 5 == 0 { 0.0 } else { 1.0 + (i % 2) as f64 }).collect();
    let with = |nonsense: f64| {
        let y = Mat::from_fn(300, 1, |i, _| if w[i] == 0.0 { nonsense } else { y[(i, 0)] });
        let metric = LearnedMetric { iterations: 2, ..settings(MetricForm::Full) };
        let (x, mut rng) = (Points::from_rows(x.as_ref()), rng(7));
        metric.learn(&Matern32::new, Problem::new(x, y.as_ref()).weighted(&w), &mut rng).unwrap()
    };
    let (one, two) = (with(3.0), with(-70.0));
    assert!((one.map.matrix() - two.map.matrix()).norm_max() < 1e-8);
    assert!((one.error() - two.error()).abs() < 1e-8);
}

#[test]
fn a_map_found_before_is_where_it_starts() {
    let (x, y, _) = one_direction(400, 6);
    let first = learn(&settings(MetricForm::Full), x.as_ref(), y.as_ref()).unwrap();
    let start = Some(first.map.clone());
    let metric = LearnedMetric { start, iterations: 1, ..settings(MetricForm::Full) };
    let second = learn(&metric, x.as_ref(), y.as_ref()).unwrap();
    assert_eq!(second.map, first.map);
    assert!((second.error() / first.error() - 1.0).abs() < 0.1);
    let other = LearnedMetric { start: LinearMap::identity(MetricForm::Full, 5).ok(), ..metric };
    let error = learn(&other, x.as_ref(), y.as_ref()).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 5, got: 6, .. }), "{error}");
}

#[test]
fn on_a_line_there_is_nothing_to_learn() {
    let (x, y, _) = one_direction(200, 1);
    for form in [MetricForm::Diagonal, MetricForm::Full] {
        let found = learn(&settings(form), x.as_ref(), y.as_ref()).unwrap();
        assert!((found.map.matrix()[(0, 0)] - 1.0).abs() < 1e-12);
    }
}

#[test]
fn duplicated_rows_and_single_precision_are_taken() {
    let (x, y, _) = one_direction(80, 3);
    let metric = LearnedMetric { iterations: 2, ..settings(MetricForm::Full) };
    let twice = |a: &Mat<f64>| Mat::from_fn(160, a.ncols(), |i, k| a[(i % 80, k)] as f32);
    let found = learn(&metric, twice(&x).as_ref(), twice(&y).as_ref()).unwrap();
    assert!(found.error().is_finite() && found.error() < 1.0);
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_threads() {
    let (x, y, _) = one_direction(1300, 5);
    let run = |seed| {
        let metric = LearnedMetric { fit_rows: 300, iterations: 3, ..settings(MetricForm::Full) };
        let (x, mut rng) = (Points::from_rows(x.as_ref()), rng(seed));
        metric.learn(&Matern12::new, (x, &y), &mut rng).unwrap()
    };
    assert!(same_at_any_thread_count(|| run(3)) != run(4));
}

#[test]
fn what_cannot_be_learned_from_is_refused() {
    let (x, y, _) = one_direction(50, 2);
    let metric = settings(MetricForm::Full);
    let name = |x: &Mat<f64>, y: &Mat<f64>| match learn(&metric, x.as_ref(), y.as_ref()) {
        Err(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let constant = Mat::from_fn(50, 1, |_, _| 0.1);
    assert_eq!(name(&x, &constant), "standard deviation of the targets");
    let equal = Mat::from_fn(50, 2, |_, k| k as f64);
    assert_eq!(name(&equal, &y), "median distance of the sampled pairs");
    let one = x.as_ref().subrows(0, 1).to_owned();
    assert_eq!(name(&one, &faer::mat![[1.0]]), "standard deviation of the targets");
    let bad = |x: &Mat<f64>, y: &Mat<f64>| learn(&metric, x.as_ref(), y.as_ref()).unwrap_err();
    assert!(matches!(bad(&x, &Mat::zeros(49, 1)), Error::Shape { .. }));
    assert!(matches!(bad(&Mat::zeros(0, 2), &Mat::zeros(0, 1)), Error::Empty { .. }));
    assert!(matches!(bad(&x, &Mat::zeros(50, 0)), Error::Empty { .. }));
    let infinite = Mat::from_fn(50, 1, |i, _| if i == 3 { f64::NAN } else { i as f64 });
    assert!(matches!(bad(&x, &infinite), Error::NonFinite { row: 3, .. }));
}

#[test]
fn settings_out_of_range_are_refused() {
    let (x, y, _) = one_direction(50, 2);
    let base = settings(MetricForm::Full);
    let all = [
        LearnedMetric { power: 0.0, ..base.clone() },
        LearnedMetric { power: f64::NAN, ..base.clone() },
        LearnedMetric { iterations: 0, ..base.clone() },
        LearnedMetric { fit_rows: 0, ..base.clone() },
        LearnedMetric { held_rows: 0, ..base.clone() },
        LearnedMetric { gradient_rows: 0, ..base.clone() },
        LearnedMetric { multiples: vec![], ..base.clone() },
        LearnedMetric { multiples: vec![1.0, -1.0], ..base.clone() },
    ];
    for metric in all {
        let error = learn(&metric, x.as_ref(), y.as_ref()).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { .. } | Error::Empty { .. }), "{error}");
    }
}

#[test]
fn a_map_is_its_matrix() {
    let x = normal(30, 3, 10);
    let full = LinearMap::full(normal(3, 3, 11)).unwrap();
    let diagonal = LinearMap::diagonal(vec![2.0, 0.0, -1.0]).unwrap();
    for map in [full, diagonal] {
        let mapped = map.apply(Points::from_rows(x.as_ref())).unwrap();
        let expected = map.matrix() * x.transpose();
        assert!((&mapped - &expected).norm_max() < 1e-13);
        assert!(matches!(map.apply(Points::from_slice(&[1.0])), Err(Error::Shape { .. })));
    }
    assert!(matches!(LinearMap::diagonal(vec![]), Err(Error::Empty { .. })));
    assert!(matches!(LinearMap::diagonal(vec![f64::NAN]), Err(Error::NonFinite { .. })));
    assert!(matches!(LinearMap::full(Mat::zeros(2, 3)), Err(Error::Shape { .. })));
}

#[cfg(feature = "serde")]
#[test]
fn a_map_is_saved_and_checked_on_load() {
    for map in
        [LinearMap::full(normal(3, 3, 12)).unwrap(), LinearMap::diagonal(vec![0.1, 2.0]).unwrap()]
    {
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<LinearMap>(&text).unwrap(), map);
    }
    let load = |text: &str| serde_json::from_str::<LinearMap>(text).unwrap_err().to_string();
    assert!(load(r#"{"diagonal": []}"#).contains("is empty"));
    let oblong = r#"{"full": {"nrows": 1, "ncols": 2, "column_major": [1.0, 2.0]}}"#;
    assert!(load(oblong).contains("expected 1, got 2"));
}

#[test]
fn outer_products_that_are_none_are_refused() {
    for form in [MetricForm::Diagonal, MetricForm::Full] {
        let of = |M: &Mat<f64>| LinearMap::of_gradients(form, 1.0, M.as_ref());
        assert!(matches!(of(&Mat::zeros(3, 2)), Err(Error::Shape { expected: 3, got: 2, .. })));
        let broken = Mat::from_fn(2, 2, |i, _| if i == 0 { 1.0 } else { f64::NAN });
        assert!(matches!(of(&broken), Err(Error::NonFinite { .. })));
        assert!(of(&Mat::zeros(2, 2)).unwrap().is_none(), "a constant f has no map");
        assert!(of(&Mat::zeros(0, 0)).unwrap().is_none());
    }
}
