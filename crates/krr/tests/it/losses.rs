//! Quantiles and Huber's loss against the conditions of their minimum, which has only one.

#![allow(non_snake_case)]

use crate::common::{gaussian, same_at_any_thread_count, sample, weights};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_krr::{Loss, LossKrr, NystromKrr, Problem};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::Landmarks;
use proptest::prelude::*;

fn every(n: usize, step: usize) -> Landmarks {
    Landmarks::new(n, (0..n).step_by(step).collect()).unwrap()
}

/// L′(r), written independently of the library.
fn slope(loss: Loss, r: f64) -> f64 {
    match loss {
        Loss::Quantile { share, width } => share - 1.0 / (1.0 + (r / width).exp()),
        Loss::Huber { threshold } => r.clamp(-threshold, threshold),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// −CᵀL′(r) + nλWθ = 0, and ΣwL′(r) = 0 with an intercept.
    #[test]
    fn the_gradient_vanishes(
        seed in 0..1000_u64,
        lambda in prop::sample::select(vec![1e-1, 1e-3, 1e-5]),
        loss in prop::sample::select(vec![
            Loss::Quantile { share: 0.5, width: 0.1 },
            Loss::Quantile { share: 0.9, width: 0.2 },
            Loss::Quantile { share: 0.05, width: 0.1 },
            Loss::Huber { threshold: 0.3 },
        ]),
        weighted: bool,
        intercept: bool,
    ) {
        let n = 90;
        let ((x, y), w) = (sample::<f64>(n, 2, 2, seed), weights(n));
        let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
        let problem = if weighted { problem.weighted(&w) } else { problem };
        let krr = LossKrr::new(gaussian(1.0), vec![loss; 2], Ridge::PerSample(lambda));
        let krr = LossKrr { intercept, tolerance: 1e-13, ..krr };
        let model = krr.fit(problem, &every(n, 5)).unwrap();
        let (points, z) = (Points::from_rows(x.as_ref()), model.centers());
        let (C, W) = (gaussian(1.0).eval(points, z), gaussian(1.0).gram(z));
        let f = model.predict(points).unwrap();
        let weight = |i: usize| if weighted { w[i] } else { 1.0 };
        for j in 0..2 {
            let g = Mat::from_fn(n, 1, |i, _| weight(i) * slope(loss, y[(i, j)] - f[(i, j)]));
            let theta = model.coefficients().col(j).as_mat();
            let gradient = faer::Scale(lambda * n as f64) * (&W * theta) - C.transpose() * &g;
            // the largest gradient that signs of the residuals can give
            let most = Mat::from_fn(n, 1, |i, _| weight(i) * slope(loss, 1e9).max(0.1));
            let size = (C.transpose() * &most).norm_max();
            prop_assert!(gradient.norm_max() < 1e-3 * size, "{} of {size}", gradient.norm_max());
            if intercept {
                let sum: f64 = (0..n).map(|i| g[(i, 0)]).sum();
                prop_assert!(sum.abs() < 1e-3 * most.sum(), "{sum}");
            }
        }
    }
}

/// Under a large ridge only b is left: a quantile of the targets, or their mean.
#[test]
fn a_constant_is_the_quantile_of_the_targets() {
    let n = 99;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let y = Mat::from_fn(n as usize, 1, |i, _| ((i * 37) % 99) as f64); // 0 to 98
    let landmarks = every(n as usize, 10);
    let b = |loss| {
        let krr = LossKrr::new(gaussian(1.0), vec![loss], Ridge::PerSample(1e9));
        let krr = LossKrr { tolerance: 1e-12, ..krr };
        let model = krr.fit((Points::from_slice(&x), &y), &landmarks).unwrap();
        model.predict(Points::from_slice(&[-50.0])).unwrap()[(0, 0)]
    };
    for share in [0.1, 0.5, 0.9] {
        let quantile = b(Loss::Quantile { share, width: 0.1 });
        assert!((quantile - 98.0 * share).abs() < 1.0, "{share}: {quantile}");
    }
    assert!((b(Loss::Huber { threshold: 1e3 }) - 49.0).abs() < 1e-6);
}

/// Beyond all residuals Huber's loss is that of squares.
#[test]
fn a_high_threshold_gives_the_fit_to_squares() {
    let n = 80;
    let (x, y) = sample::<f64>(n, 2, 2, 3);
    let problem = || Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let (landmarks, ridge) = (every(n, 4), Ridge::PerSample(1e-3));
    let loss = Loss::Huber { threshold: 1e6 };
    let krr = LossKrr { tolerance: 1e-12, ..LossKrr::new(gaussian(1.0), vec![loss; 2], ridge) };
    let huber = krr.fit(problem(), &landmarks).unwrap();
    let squares = NystromKrr { intercept: true, ..NystromKrr::new(gaussian(1.0), ridge) };
    let squares = squares.fit(problem(), &landmarks).unwrap();
    let points = Points::from_rows(x.as_ref());
    let apart = huber.predict(points).unwrap() - squares.predict(points).unwrap();
    assert!(apart.norm_max() < 1e-8, "{}", apart.norm_max());
}

/// A tenth of the targets are thousands away, all on one side: the fit stays near the others.
#[test]
fn outliers_do_not_move_the_fit_far() {
    let n = 200;
    let x: Vec<f64> = (0..n).map(|i| i as f64 / 50.0).collect();
    let y = Mat::from_fn(n, 1, |i, _| x[i].sin() + if i % 10 == 3 { 1e4 } else { 0.0 });
    let landmarks = every(n, 5);
    for loss in [Loss::Huber { threshold: 0.05 }, Loss::Quantile { share: 0.5, width: 0.01 }] {
        let krr = LossKrr::new(gaussian(1.0), vec![loss], Ridge::PerSample(1e-6));
        let krr = LossKrr { tolerance: 1e-10, ..krr };
        let model = krr.fit((Points::from_slice(&x), &y), &landmarks).unwrap();
        let f = model.predict(Points::from_slice(&x)).unwrap();
        let worst = (0..n).map(|i| (f[(i, 0)] - x[i].sin()).abs()).fold(0.0, f64::max);
        assert!(worst < 0.1, "{loss:?}: {worst}");
    }
}

#[test]
fn kept_values_and_threads_do_not_change_a_bit() {
    let n = 1500;
    let (x, y) = sample::<f64>(n, 3, 1, 4);
    let fit = |memory| {
        let loss = Loss::Quantile { share: 0.7, width: 0.05 };
        let krr = LossKrr::new(gaussian(1.0), vec![loss], Ridge::PerSample(1e-4));
        let krr = LossKrr { memory, ..krr };
        let model = krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &every(n, 30)).unwrap();
        model.coefficients().to_owned()
    };
    let streamed = fit(None);
    assert_eq!(fit(Some(1 << 30)), streamed);
    same_at_any_thread_count(|| fit(Some(300_000)));
}

#[test]
fn impossible_losses_are_refused() {
    let n = 20;
    let (x, mut y) = sample::<f64>(n, 2, 1, 5);
    let refused_all = |losses, y: &Mat<f64>| {
        let krr = LossKrr::new(gaussian(1.0), losses, Ridge::PerSample(1e-4));
        krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &every(n, 2)).unwrap_err()
    };
    let refused = |loss, y: &Mat<f64>| refused_all(vec![loss], y);
    let invalid = [
        Loss::Quantile { share: 0.0, width: 0.1 },
        Loss::Quantile { share: 1.0, width: 0.1 },
        Loss::Quantile { share: f64::NAN, width: 0.1 },
        Loss::Quantile { share: 0.5, width: 0.0 },
        Loss::Huber { threshold: f64::INFINITY },
        Loss::Huber { threshold: -1.0 },
    ];
    for loss in invalid {
        let error = refused(loss, &y);
        assert!(matches!(error, Error::InvalidParameter { .. }), "{loss:?}: {error}");
    }
    let error = refused_all(vec![Loss::Huber { threshold: 1.0 }; 2], &y);
    assert!(matches!(error, Error::Shape { .. }), "{error}");
    y[(3, 0)] = f64::NAN;
    let error = refused(Loss::Huber { threshold: 1.0 }, &y);
    assert!(error.to_string().contains("NaN"), "{error}");
}
