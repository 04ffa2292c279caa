//! Exact kernel ridge regression against a dense oracle, values of another program, and its own
//! definition.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Matern32, Points};
use nystrom_krr::{ExactKrr, Problem, SolvedBy};
use nystrom_linalg_core::Ridge;
use proptest::prelude::*;

/// nλ/κ and below: predictions of oracle and library differ by rounding only, cond·ε·|f| ≤ n/(nλ)·ε
/// ≈ 1e-9 in these tests.
const TOLERANCE: f64 = 1e-9;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn agrees_with_the_bordered_system(
        n in 2..40usize, d in 1..4usize, t in 1..4usize, seed in 0..1000u64, log_mu in -4.0..1.0f64,
        weighted: bool, intercept: bool,
    ) {
        let (x, y) = sample::<f64>(n, d, t, seed);
        let (at, _) = sample::<f64>(7, d, 1, seed + 1);
        let mu = 10f64.powf(log_mu);
        let w = if weighted { weights(n) } else { vec![1.0; n] };
        let krr = ExactKrr { intercept, ..ExactKrr::new(gaussian(1.0), Ridge::Absolute(mu)) };
        let points = Points::from_rows(x.as_ref());
        let problem = Problem::new(points, y.as_ref());
        let problem = if weighted { problem.weighted(&w) } else { problem };
        let model = krr.fit(problem).unwrap();
        let f = model.predict(Points::from_rows(at.as_ref())).unwrap();
        let (expected, b) = oracle_exact(&gaussian(1.0), x.as_ref(), y.as_ref(), &w, mu,
            intercept, at.as_ref());
        prop_assert!(distance(f.as_ref(), expected.as_ref()) < TOLERANCE);
        for (j, b) in b.iter().enumerate() {
            prop_assert!((model.intercept()[j] - b).abs() < TOLERANCE);
        }
    }

    #[test]
    fn weights_are_repetitions(n in 2..20usize, seed in 0..1000u64, intercept: bool) {
        let (x, y) = sample::<f64>(n, 2, 1, seed);
        let counts: Vec<usize> = (0..n).map(|i| (i * 7 + seed as usize) % 4).collect();
        prop_assume!(counts.iter().any(|&c| c > 0));
        let rows: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
        let xx = Mat::from_fn(rows.len(), 2, |i, k| x[(rows[i], k)]);
        let yy = Mat::from_fn(rows.len(), 1, |i, _| y[(rows[i], 0)]);
        let w: Vec<f64> = counts.iter().map(|&c| c as f64).collect();
        let krr = ExactKrr { intercept, ..ExactKrr::new(gaussian(1.0), Ridge::Absolute(0.1)) };
        let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref()).weighted(&w);
        let a = krr.fit(problem).unwrap();
        let b = krr.fit((Points::from_rows(xx.as_ref()), yy.as_ref())).unwrap();
        let at = Points::from_rows(x.as_ref());
        prop_assert!(distance(a.predict(at).unwrap().as_ref(),
            b.predict(at).unwrap().as_ref()) < TOLERANCE);
    }
}

#[test]
fn agrees_with_sixty_digit_values() {
    let r = reference();
    let fit = |lambda: f64| {
        ExactKrr::new(gaussian(0.25), Ridge::PerSample(lambda))
            .fit((Points::from_slice(&r.x), r.y.as_ref()))
    };
    let predict = |lambda: f64| fit(lambda).unwrap().predict(Points::from_slice(&r.at)).unwrap();
    assert!(off(&predict(1e-3), &EXACT_1E3) < 1e-13);
    assert!(off(&predict(1e-8), &EXACT_1E8) < 1e-8); // condition number 1e8

    let krr = ExactKrr { intercept: true, ..ExactKrr::new(gaussian(0.25), Ridge::PerSample(1e-3)) };
    let model =
        krr.fit(Problem::new(Points::from_slice(&r.x), r.y.as_ref()).weighted(&r.weights)).unwrap();
    let f = model.predict(Points::from_slice(&r.at)).unwrap();
    assert!(off(&f, &EXACT_1E3_WEIGHTED_INTERCEPT) < 1e-12);
    assert!((model.intercept()[0] - EXACT_1E3_WEIGHTED_INTERCEPT[8]).abs() < 1e-12);
}

#[test]
fn several_targets_are_fitted_column_by_column() {
    let (x, y) = sample::<f64>(30, 3, 4, 5);
    let krr = ExactKrr {
        intercept: true,
        ..ExactKrr::new(Matern32::new(1.5).unwrap(), Ridge::PerSample(1e-3))
    };
    let together = krr.fit((Points::from_rows(x.as_ref()), y.as_ref())).unwrap();
    for j in 0..4 {
        let alone = krr.fit((Points::from_rows(x.as_ref()), y.as_ref().subcols(j, 1))).unwrap();
        let (a, b) = (alone.coefficients(), together.coefficients().subcols(j, 1));
        assert!(distance(a, b) < 1e-11 * a.norm_max());
        assert!((alone.intercept()[0] - together.intercept()[j]).abs() < 1e-11);
    }
}

#[test]
fn a_large_offset_costs_no_digits_with_an_intercept() {
    let (x, y) = sample::<f64>(40, 2, 1, 6);
    let shifted = Mat::from_fn(40, 1, |i, _| y[(i, 0)] + 1e8);
    let krr = ExactKrr { intercept: true, ..ExactKrr::new(gaussian(1.0), Ridge::PerSample(1e-4)) };
    let at = Points::from_rows(x.as_ref());
    let a = krr.fit((at, y.as_ref())).unwrap().predict(at).unwrap();
    let b = krr.fit((at, shifted.as_ref())).unwrap().predict(at).unwrap();
    let gap = (0..40).map(|i| (b[(i, 0)] - 1e8 - a[(i, 0)]).abs()).fold(0.0, f64::max);
    assert!(gap < 1e-6, "{gap:e}"); // one ulp of 1e8 is 1.5e-8
}

#[test]
fn the_report_says_what_was_done() {
    let (x, y) = sample::<f64>(12, 2, 3, 1);
    let model = ExactKrr::new(gaussian(1.0), Ridge::PerSample(0.5))
        .fit((Points::from_rows(x.as_ref()), y.as_ref()))
        .unwrap();
    let report = model.report();
    assert_eq!((report.n, report.m, report.d, report.t), (12, 12, 2, 3));
    assert_eq!((report.ridge, report.jitter, report.kernel_entries), (6.0, 0.0, 144));
    assert_eq!(report.solver, SolvedBy::ExactCholesky);
    assert!(report.condition >= 1.0 && report.condition < 10.0);
}
