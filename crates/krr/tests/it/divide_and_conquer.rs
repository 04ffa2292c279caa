//! Divide and conquer against exact regression and against its parts written out.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{FromFn, Gaussian, Points};
use nystrom_krr::{DivideAndConquerKrr, DivideAndConquerModel, ExactKrr, Problem};
use nystrom_linalg_core::{Error, Ridge, random};

fn fit(
    n: usize,
    parts: usize,
    ridge: Ridge<f64>,
    seed: u64,
) -> (DivideAndConquerModel<Gaussian, f64>, Mat<f64>, Mat<f64>) {
    let (x, y) = sample::<f64>(n, 2, 2, 6);
    let krr = DivideAndConquerKrr {
        parts,
        intercept: true,
        ..DivideAndConquerKrr::new(gaussian(0.8), ridge)
    };
    let model = krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &mut rng(seed)).unwrap();
    (model, x, y)
}

#[test]
fn one_part_is_exact_regression() {
    let (model, x, y) = fit(70, 1, Ridge::Absolute(0.3), 1);
    let points = Points::from_rows(x.as_ref());
    let exact = ExactKrr { intercept: true, ..ExactKrr::new(gaussian(0.8), Ridge::Absolute(0.3)) };
    let exact = exact.fit((points, y.as_ref())).unwrap();
    assert_eq!(model.predict(points).unwrap(), exact.predict(points).unwrap());
    assert_eq!((model.report().kernel_entries, model.report().parts), (4900, 1));
}

#[test]
fn the_average_of_parts_with_the_full_lambda() {
    let (model, x, y) = fit(71, 4, Ridge::Absolute(0.71), 2);
    assert!((model.report().lambda - 0.01).abs() < 1e-15);
    let sizes: Vec<usize> = model.models().iter().map(|part| part.centers().len()).collect();
    assert_eq!(sizes, [18, 18, 18, 17]);
    assert_eq!(model.report().kernel_entries, 3 * 18 * 18 + 17 * 17);
    let p = model.report().nystrom_landmarks as u64;
    assert!(
        71 * p + p * p <= model.report().kernel_entries
            && 71 * (p + 1) + (p + 1).pow(2) > model.report().kernel_entries
    );
    // Every part again, from its centres: nλ of a part is |S_i|·0.01.
    let points = Points::from_rows(x.as_ref());
    let mut sum = Mat::<f64>::zeros(71, 2);
    for part in model.models() {
        let row = |i: usize| {
            (0..71).find(|&k| (0..2).all(|c| x[(k, c)] == part.centers().coordinate(i, c))).unwrap()
        };
        let rows: Vec<usize> = (0..part.centers().len()).map(row).collect();
        let ys = Mat::from_fn(rows.len(), 2, |i, j| y[(rows[i], j)]);
        let krr = ExactKrr {
            intercept: true,
            ..ExactKrr::new(gaussian(0.8), Ridge::Absolute(0.01 * rows.len() as f64))
        };
        sum += krr.fit((part.centers(), ys.as_ref())).unwrap().predict(points).unwrap();
    }
    assert!(distance(model.predict(points).unwrap().as_ref(), (&sum * 0.25).as_ref()) < 1e-12);
}

/// The report says what was evaluated: half of each part's matrix, and the diagonal blocks.
#[test]
fn kernel_entries_are_those_evaluated() {
    let (x, y) = sample::<f64>(1400, 2, 1, 3);
    let kernel = Counting::new(gaussian(0.8));
    let krr = DivideAndConquerKrr {
        parts: 2,
        ..DivideAndConquerKrr::new(&kernel, Ridge::PerSample(1e-2))
    };
    let model = krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), &mut rng(1)).unwrap();
    let (report, counted) = (model.report(), kernel.entries());
    assert_eq!(report.kernel_entries, counted);
    let (half, diagonal) = (700 * 700, 128 * 1400); // Σ |S_i|²/2
    assert!(counted >= half && counted <= half + diagonal && counted < 3 * half / 2, "{counted}");
}

#[test]
fn parts_over_fit_and_their_average_does_not() {
    // f* = sin on [0, 6), noise of variance 0.09: with the λ of all 600 samples each part of 60 has
    // a smaller training error than the noise, and the average is closer to f* than the parts are
    // on average (as any average is) by more than a half.
    let x: Vec<f64> = (0..600).map(|i| i as f64 / 100.0).collect();
    let noise: Mat<f64> = random::standard_normal(600, 1, &mut rng(8));
    let y = Mat::from_fn(600, 1, |i, _| x[i].sin() + 0.3 * noise[(i, 0)]);
    let krr = DivideAndConquerKrr {
        parts: 10,
        ..DivideAndConquerKrr::new(gaussian(0.3), Ridge::PerSample(1e-5))
    };
    let model = krr.fit((Points::from_slice(&x), y.as_ref()), &mut rng(3)).unwrap();
    let error =
        |f: &Mat<f64>| (0..600).map(|i| (f[(i, 0)] - x[i].sin()).powi(2)).sum::<f64>() / 600.0;
    let parts = model
        .models()
        .iter()
        .map(|part| error(&part.predict(Points::from_slice(&x)).unwrap()))
        .sum::<f64>()
        / 10.0;
    let average = error(&model.predict(Points::from_slice(&x)).unwrap());
    assert!(average < 0.5 * parts, "{average} {parts}");
}

#[test]
fn the_same_bits_with_any_number_of_threads() {
    same_at_any_thread_count(|| {
        let (model, x, _) = fit(900, 7, Ridge::PerSample(1e-3), 5);
        model.predict(Points::from_rows(x.as_ref())).unwrap()
    });
}

/// Parts that fail differently: whichever fails earlier, the error is that of the first part.
#[test]
fn the_first_of_several_errors_is_returned() {
    let x: Vec<f64> = (0..240).map(f64::from).collect();
    let y = Mat::from_fn(240, 1, |i, _| (i as f64).sin());
    let ridge = Ridge::PerSample(1e-2);
    let krr = DivideAndConquerKrr { parts: 2, ..DivideAndConquerKrr::new(gaussian(0.5), ridge) };
    let parts = krr.fit((Points::from_slice(&x), &y), &mut rng(1)).unwrap();
    let rows = |part: usize| -> Vec<f64> {
        let centers = parts.models()[part].centers();
        (0..centers.len()).map(|i| centers.coordinate(i, 0)).collect()
    };
    // no kernel: too large for the last two rows of the first part, and the first two of the second
    let bad = [[rows(0)[118], rows(0)[119]], [rows(1)[0], rows(1)[1]]];
    let kernel = FromFn::new(|x: &[f64], y: &[f64]| {
        let is_bad = bad.contains(&[x[0], y[0]]) || bad.contains(&[y[0], x[0]]);
        if is_bad { 50.0 } else { (-(x[0] - y[0]).powi(2)).exp() }
    });
    let krr = DivideAndConquerKrr { parts: 2, ..DivideAndConquerKrr::new(&kernel, ridge) };
    let error = krr.fit((Points::from_slice(&x), &y), &mut rng(1)).map(drop).unwrap_err();
    let of_part = |part: usize| {
        let (x, y) = (rows(part), Mat::<f64>::zeros(120, 1));
        ExactKrr::new(&kernel, ridge).fit((Points::from_slice(&x), &y)).map(drop).unwrap_err()
    };
    assert!(matches!(error, Error::NotPositiveDefinite { order: 120, .. }), "{error}");
    assert_eq!(error, of_part(0));
    assert_ne!(error, of_part(1));
}

/// Few rows of positive weight among many: each part has some, whatever the seed.
#[test]
fn every_part_has_rows_of_positive_weight() {
    let (x, y) = sample::<f64>(60, 2, 1, 6);
    let w: Vec<f64> = (0..60).map(|i| if i % 8 == 3 { 1.5 } else { 0.0 }).collect(); // 8 of them
    assert_eq!(w.iter().filter(|w| **w > 0.0).count(), 8);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
    let fit = |parts: usize, seed: u64| {
        let ridge = Ridge::PerSample(1e-2);
        let krr = DivideAndConquerKrr { parts, ..DivideAndConquerKrr::new(gaussian(0.8), ridge) };
        krr.fit(problem, &mut rng(seed))
    };
    for seed in 0..50 {
        for parts in [4, 8] {
            let model = fit(parts, seed).unwrap();
            assert_eq!(model.models().len(), parts, "seed {seed}");
            assert!(model.predict(problem.x).unwrap().norm_max() > 0.0);
        }
    }
    assert!(matches!(fit(9, 0), Err(Error::TooMany { requested: 9, available: 8, .. })));
}

#[test]
fn wrong_input_is_refused() {
    let (x, y) = sample::<f64>(5, 2, 1, 6);
    let points = Points::from_rows(x.as_ref());
    let refused = |parts: usize, ridge: f64, y: &Mat<f64>| {
        let krr = DivideAndConquerKrr {
            parts,
            ..DivideAndConquerKrr::new(gaussian(0.8), Ridge::PerSample(ridge))
        };
        krr.fit((points, y.as_ref()), &mut rng(0)).unwrap_err()
    };
    assert!(matches!(refused(0, 1.0, &y), Error::Empty { .. }));
    assert!(matches!(refused(6, 1.0, &y), Error::TooMany { requested: 6, available: 5, .. }));
    assert!(matches!(refused(2, 0.0, &y), Error::InvalidParameter { .. }));
    assert!(matches!(refused(2, 1.0, &Mat::zeros(4, 1)), Error::Shape { expected: 5, got: 4, .. }));
}

#[cfg(feature = "serde")]
#[test]
fn saved_and_loaded() {
    let (model, x, _) = fit(40, 3, Ridge::PerSample(1e-2), 5);
    let text = serde_json::to_string(&model).unwrap();
    let loaded: DivideAndConquerModel<Gaussian, f64> = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded, model);
    let points = Points::from_rows(x.as_ref());
    assert_eq!(loaded.predict(points).unwrap(), model.predict(points).unwrap());
    let mut value = serde_json::to_value(&model).unwrap();
    value["models"].as_array_mut().unwrap().pop();
    let error = serde_json::from_value::<DivideAndConquerModel<Gaussian, f64>>(value).unwrap_err();
    assert!(error.to_string().contains("parts of the saved model"), "{error}");
}
