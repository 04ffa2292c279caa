//! Logistic regression against the conditions of its minimum, which has only one.

#![allow(non_snake_case)]

use crate::common::{gaussian, rng, same_at_any_thread_count, sample, weights};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_krr::{FullLogisticKrr, IterativeOptions, KrrModel, LogisticKrr, Problem};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::Landmarks;
use proptest::prelude::*;

/// Normal points, and classes by the signs of noisy smooth functions.
fn signs(n: usize, t: usize, seed: u64) -> (Mat<f64>, Mat<f64>) {
    let (x, y) = sample::<f64>(n, 2, t, seed);
    (x, Mat::from_fn(n, t, |i, j| if y[(i, j)] > 0.3 { 1.0 } else { -1.0 }))
}

fn every(n: usize, step: usize) -> Landmarks {
    Landmarks::new(n, (0..n).step_by(step).collect()).unwrap()
}

fn every_one(n: usize) -> Landmarks {
    every(n, 1)
}

fn of_one(p: f64) -> f64 {
    1.0 / (1.0 + (-p).exp())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Cᵀr + nλWθ = 0 and Σr = 0 for r_i = w_i(p_i − 1_{y_i = 1}).
    #[test]
    fn the_gradient_vanishes(
        seed in 0..1000_u64,
        lambda in prop::sample::select(vec![1e-1, 1e-3, 1e-5]),
        weighted: bool,
        intercept: bool,
    ) {
        let n = 90;
        let ((x, y), w) = (signs(n, 2, seed), weights(n));
        let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
        let problem = if weighted { problem.weighted(&w) } else { problem };
        let ridge = Ridge::PerSample(lambda);
        let krr = LogisticKrr { intercept, ..LogisticKrr::new(gaussian(1.0), ridge) };
        let model = krr.fit(problem, &every(n, 5)).unwrap();
        let (points, z) = (Points::from_rows(x.as_ref()), model.centers());
        let (C, W) = (gaussian(1.0).eval(points, z), gaussian(1.0).gram(z));
        let f = model.predict(points).unwrap();
        let weight = |i: usize| if weighted { w[i] } else { 1.0 };
        for j in 0..2 {
            let r = Mat::from_fn(n, 1, |i, _| {
                weight(i) * (of_one(f[(i, j)]) - if y[(i, j)] > 0.0 { 1.0 } else { 0.0 })
            });
            let theta = model.coefficients().col(j).as_mat();
            let gradient = C.transpose() * &r + faer::Scale(lambda * n as f64) * (&W * theta);
            let size = (C.transpose() * &r).norm_max() + 1e-3;
            prop_assert!(gradient.norm_max() < 1e-3 * size, "{} of {size}", gradient.norm_max());
            let sum: f64 = (0..n).map(|i| r[(i, 0)]).sum();
            prop_assert!(!intercept || sum.abs() < 1e-3, "{sum}");
        }
    }
}

/// All points as centres are all the data, whether K is kept or not.
#[test]
fn on_all_the_data_it_is_that_with_every_point_as_centre() {
    let n = 150;
    let ((x, y), w) = (signs(n, 2, 7), weights(n));
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    for (weighted, intercept, memory) in
        [(false, true, None), (true, true, Some(1 << 30)), (true, false, Some(1 << 30))]
    {
        let problem = if weighted { problem.weighted(&w) } else { problem };
        let ridge = Ridge::PerSample(1e-3);
        let options = IterativeOptions { tolerance: 1e-10, max_iterations: 500, memory };
        let full =
            FullLogisticKrr { intercept, options, ..FullLogisticKrr::new(gaussian(1.0), ridge) };
        let full = full.fit(problem, &mut rng(1)).unwrap();
        // nλα_i = w_i(1_{y_i = 1} − p_i), and what every point as a centre gives
        let (f, mu) = (full.predict(problem.x).unwrap(), 1e-3 * n as f64);
        let every = LogisticKrr { intercept, ..LogisticKrr::new(gaussian(1.0), ridge) };
        let every = every.fit(problem, &every_one(n)).unwrap().predict(problem.x).unwrap();
        let (mut residual, mut gap) = (0.0_f64, 0.0_f64);
        for j in 0..2 {
            for i in 0..n {
                let p = of_one(f[(i, j)]);
                let weight = if weighted { w[i] } else { 1.0 };
                let missing = weight * (if y[(i, j)] > 0.0 { 1.0 } else { 0.0 } - p);
                residual = residual.max((missing - mu * full.coefficients()[(i, j)]).abs());
                gap = gap.max((p - of_one(every[(i, j)])).abs());
            }
        }
        assert!(residual < 1e-3 && gap < 2e-3, "{residual} {gap}");
        // a triangle that is kept is evaluated once
        let entries = full.report().kernel_entries;
        assert_eq!(memory.is_some(), entries < 4 * (n * n) as u64, "{entries}");
    }
}

/// One centre and no intercept: the root of a function of one number, by bisection.
#[test]
fn one_centre_is_a_root() {
    let (x, y) = signs(60, 1, 1);
    let points = Points::from_rows(x.as_ref());
    let k = gaussian(1.0).eval(points, points.slice(0..1));
    let mu = 0.7;
    let slope = |theta: f64| {
        let row = |i: usize| {
            k[(i, 0)] * (of_one(theta * k[(i, 0)]) - if y[(i, 0)] > 0.0 { 1.0 } else { 0.0 })
        };
        (0..60).map(row).sum::<f64>() + mu * theta
    };
    let (mut low, mut high) = (-100.0, 100.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *(if slope(middle) < 0.0 { &mut low } else { &mut high }) = middle;
    }
    let krr =
        LogisticKrr { intercept: false, ..LogisticKrr::new(gaussian(1.0), Ridge::Absolute(mu)) };
    let model = krr.fit((points, &y), &Landmarks::new(60, vec![0]).unwrap()).unwrap();
    let found = model.coefficients()[(0, 0)];
    assert!((found - low).abs() < 1e-6 * low.abs(), "{found} for {low}");
}

#[test]
fn classes_that_are_apart_and_only_one_class_end_with_numbers() {
    let x: Vec<f64> = (0..100).map(|i| i as f64 / 50.0).collect();
    for apart in [0.0, 1.0] {
        let y = Mat::from_fn(100, 1, |i, _| if x[i] < apart { -1.0 } else { 1.0 });
        for lambda in [1e-2, 1e-8, 1e-14] {
            let krr = LogisticKrr::new(gaussian(0.5), Ridge::PerSample(lambda));
            let model = krr.fit((Points::from_slice(&x), &y), &every(100, 4)).unwrap();
            let f = model.predict(Points::from_slice(&x)).unwrap();
            let wrong = (0..100).filter(|&i| f[(i, 0)] * y[(i, 0)] <= 0.0).count();
            assert!(wrong <= 1, "{wrong} at {lambda:e}");
        }
    }
}

#[test]
fn a_path_goes_through_the_fits_and_ends_when_told() {
    let (x, y) = signs(200, 1, 2);
    let (points, landmarks) = (Points::from_rows(x.as_ref()), every(200, 8));
    let ridges = [1e-1, 1e-2, 1e-3, 1e-4].map(Ridge::PerSample);
    let mut found: Vec<KrrModel<_, f64>> = Vec::new();
    let path = LogisticKrr::without_ridge(gaussian(1.0));
    path.path((points, &y), &landmarks, &ridges, |model| {
        found.push(model);
        found.len() < 3
    })
    .unwrap();
    assert_eq!(found.len(), 3);
    for (model, ridge) in found.iter().zip(ridges) {
        let fit = LogisticKrr::new(gaussian(1.0), ridge).fit((points, &y), &landmarks).unwrap();
        let gap = model.predict(points).unwrap() - fit.predict(points).unwrap();
        assert!(gap.norm_max() < 1e-3, "{}", gap.norm_max());
        assert_eq!(model.report().ridge, ridge.absolute(200).unwrap());
        assert!(model.report().kernel_entries >= 2 * 200 * 25);
    }
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let (x, y) = signs(3000, 1, 3);
    let krr = LogisticKrr::new(gaussian(1.0), Ridge::PerSample(1e-4));
    let _ = same_at_any_thread_count(|| {
        krr.fit((Points::from_rows(x.as_ref()), &y), &every(3000, 50)).unwrap()
    });
    let krr = FullLogisticKrr::new(gaussian(1.0), Ridge::PerSample(1e-4));
    let (x, y) = (Points::from_rows(x.as_ref().subrows(0, 1100)), y.as_ref().subrows(0, 1100));
    let full = || krr.fit((x, y), &mut rng(1)).unwrap();
    let _ = same_at_any_thread_count(full);
}

#[test]
fn what_is_no_class_is_refused() {
    let (x, y) = signs(20, 1, 4);
    let points = Points::from_rows(x.as_ref());
    let krr = LogisticKrr::new(gaussian(1.0), Ridge::PerSample(1e-3));
    let mut zero = y.clone();
    zero[(7, 0)] = 0.0;
    let refused = krr.fit((points, &zero), &every(20, 2));
    assert!(matches!(refused, Err(Error::InvalidParameter { value: 0.0, .. })), "{refused:?}");
    let none = Points::from_rows(x.as_ref().subrows(0, 0));
    let refused = krr.fit((none, y.as_ref().subrows(0, 0)), &every(20, 2));
    assert!(matches!(refused, Err(Error::Empty { .. })), "{refused:?}");
    let path = LogisticKrr::without_ridge(gaussian(1.0));
    let refused = path.path((points, &y), &every(20, 2), &[], |_| true);
    assert!(matches!(refused, Err(Error::Empty { .. })), "{refused:?}");
    for lambda in [0.0, -1.0, f64::NAN] {
        let krr = LogisticKrr::new(gaussian(1.0), Ridge::PerSample(lambda));
        assert!(krr.fit((points, &y), &every(20, 2)).is_err());
    }
}

/// Kernel values that are kept are those that are evaluated again without memory.
#[test]
fn memory_saves_kernel_values_and_changes_no_bit() {
    let (n, m) = (2500, 50);
    let (x, y) = signs(n, 2, 5);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let fit = |memory: Option<u64>| {
        let krr = LogisticKrr::new(gaussian(1.0), Ridge::PerSample(1e-3));
        LogisticKrr { memory, ..krr }.fit(problem, &every(n, n / m)).unwrap()
    };
    let tile = (8 * 1024 * m) as u64;
    let [none, some, all] = [None, Some(tile + 1), Some(3 * tile)].map(fit);
    let steps = none.report().steps as u64;
    assert!(steps >= 4 && all.report().steps as u64 == steps);
    for other in [&some, &all] {
        assert!(
            other.coefficients() == none.coefficients() && other.intercept() == none.intercept()
        );
    }
    // without memory twice a step, and more where a step is tried and checked
    let values = |model: &KrrModel<_, f64>| model.report().kernel_entries / m as u64;
    assert_eq!(values(&all), n as u64);
    assert!(values(&none) >= 2 * steps * n as u64);
    assert_eq!(values(&none) - values(&some), (values(&none) / n as u64 - 1) * 1024);
}
