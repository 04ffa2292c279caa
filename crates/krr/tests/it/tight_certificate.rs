//! The certificate by passes over K: both sides against exact regression.

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_krr::{
    Certificate, Closeness, ExactKrr, FitReport, KrrModel, NystromKrr, Problem, ProblemSize,
    TightCertificate,
};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::Landmarks;
use proptest::prelude::*;

const ALL: Certificate = Certificate { rows: 1_000_000, confidence: 0.99, tolerance: 0.1 };

/// Of this many passes.
fn tight(passes: usize) -> TightCertificate {
    TightCertificate { passes, ..TightCertificate::default() }
}

/// RMS(f_K − f) of every target, f_K by Cholesky.
fn distances<K: Kernel<f64> + Clone>(
    model: &KrrModel<K, f64>,
    problem: Problem<'_, f64>,
    intercept: bool,
) -> Vec<f64> {
    let ridge = Ridge::Absolute(model.report().ridge);
    let exact = ExactKrr { intercept, ..ExactKrr::new(model.kernel().clone(), ridge) };
    let f_exact = exact.fit(problem).unwrap().predict(problem.x).unwrap();
    let gap = f_exact - model.predict(problem.x).unwrap();
    let ones = vec![1.0; problem.x.len()];
    (0..gap.ncols()).map(|j| rms(&gap, problem.weights.unwrap_or(&ones), j)).collect()
}

/// Whether the truth lies between the two sides; the upper one must not be above the bound from all
/// rows.
fn both_sides(
    [n, m, t, passes]: [usize; 4],
    seed: u64,
    [weighted, intercept, wrong, kept]: [bool; 4],
    mu: f64,
) -> Result<(), TestCaseError> {
    let (x, y) = sample::<f64>(n, 2, t, seed);
    let w = if weighted { weights(n) } else { vec![1.0; n] };
    prop_assume!(w.iter().any(|&w| w > 0.0));
    let points = Points::from_rows(x.as_ref());
    let landmarks =
        Landmarks::from_draws(n, &(0..m).map(|j| j * 5 % n).collect::<Vec<_>>()).unwrap();
    let krr = NystromKrr { intercept, ..NystromKrr::new(gaussian(0.8), Ridge::Absolute(mu)) };
    let problem = Problem::new(points, y.as_ref()).weighted(&w);
    // a fit to other targets is no solution of any kind, and its residuals have a mean
    let others = Mat::from_fn(n, t, |i, j| 0.5 * y[(i, j)] - 0.3);
    let fitted = if wrong { Problem { y: others.as_ref(), ..problem } } else { problem };
    let model = krr.fit(fitted, &landmarks).unwrap();
    let memory = kept.then_some(1 << 28);
    let tight = TightCertificate { memory, ..tight(passes) };
    let report = tight.certify(&model, problem, &mut rng(seed)).unwrap();
    let all = ALL.certify(&model, problem, &mut rng(0)).unwrap();
    // rounding errors of the oracle: ε‖K‖/μ
    let scale = 1e-12 * (1.0 + n as f64 / mu);
    let truths = distances(&model, problem, intercept);
    for ((target, all), truth) in report.targets.iter().zip(&all.targets).zip(truths) {
        prop_assert!(
            target.lower <= truth + scale && truth <= target.bound + scale,
            "{} {truth} {}",
            target.lower,
            target.bound
        );
        prop_assert!(target.lower <= target.estimate && target.estimate <= target.bound);
        prop_assert!(target.bound <= all.bound + scale, "{} {}", target.bound, all.bound);
    }
    prop_assert!(report.passes <= passes && report.rows == n && report.confidence == 1.0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the problem, the model and the number of passes.
    #[test]
    fn the_truth_lies_between_the_two_sides(
        n in 1..60usize, m in 1..12usize, t in 1..3usize, passes in 1..30usize, seed in 0..1000u64,
        weighted: bool, intercept: bool, wrong: bool, kept: bool, log_mu in -4.0..1.0f64,
    ) {
        let flags = [weighted, intercept, wrong, kept];
        both_sides([n, m, t, passes], seed, flags, 10f64.powf(log_mu))?;
    }
}

/// Rounding F to `f32` raises FFᵀ here by 2.7 % of the ridge, and the norm of T with it.
#[test]
fn the_truth_lies_between_them_where_the_factor_is_rounded_up() {
    for passes in 1..16 {
        let flags = [true, false, true, true];
        both_sides([55, 6, 1, passes], 498, flags, 1.4881461029512812e-4).unwrap();
    }
}

/// One direction is left beside the constant, and the second pass finds the end of it.
#[test]
fn the_truth_lies_between_them_when_passes_go_on() {
    for passes in 1..40 {
        both_sides([2, 2, 1, passes], 500, [false, true, true, true], 1.0).unwrap();
    }
}

/// 800 points in the plane, 30 landmarks.
fn coarse(intercept: bool) -> (KrrModel<nystrom_kernels::Gaussian, f64>, Mat<f64>, Mat<f64>) {
    let (x, y) = sample::<f64>(800, 2, 2, 8);
    let points = Points::from_rows(x.as_ref());
    let krr = NystromKrr { intercept, ..NystromKrr::new(gaussian(0.5), Ridge::PerSample(1e-5)) };
    let landmarks = Landmarks::new(800, (0..30).collect()).unwrap();
    (krr.fit((points, y.as_ref()), &landmarks).unwrap(), x, y)
}

#[test]
fn passes_are_tight_where_sampled_rows_are_not() {
    for intercept in [false, true] {
        let (model, x, y) = coarse(intercept);
        let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
        let truths = distances(&model, problem, intercept);
        let sampled = Certificate { rows: 100, ..ALL };
        let sampled = sampled.certify(&model, problem, &mut rng(1)).unwrap();
        let mut widths = Vec::new();
        for passes in [1, 2, 3, 5, 8, 40, 1000] {
            let report = tight(passes).certify(&model, problem, &mut rng(1)).unwrap();
            for ((target, sampled), &truth) in
                report.targets.iter().zip(&sampled.targets).zip(&truths)
            {
                println!(
                    "{passes} passes: {:.3} to {:.3} of the truth, sampled {:.1}",
                    target.lower / truth,
                    target.bound / truth,
                    sampled.bound / truth
                );
                let slack = 1e-8 * truth;
                assert!(target.lower <= truth + slack && truth <= target.bound + slack);
                if passes >= 5 {
                    assert!(target.bound < 1.5 * truth && target.lower > truth / 1.5);
                    assert!(sampled.bound > 8.0 * truth && sampled.lower == 0.0);
                }
            }
            let target = report.targets[0];
            widths.push((target.bound - target.lower) / truths[0]);
            // 1000 are not needed: then rounding errors are all there is
            assert!(report.passes <= passes.min(400), "{}", report.passes);
        }
        assert!(widths[6] < 1e-6, "{widths:?}");
    }
}

#[test]
fn passes_have_verdicts_of_their_own() {
    let (model, x, y) = coarse(false);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let verdict = |passes: usize, tolerance: f64| {
        let tight = TightCertificate { tolerance, ..tight(passes) };
        tight.certify(&model, problem, &mut rng(3)).unwrap()
    };
    let report = verdict(30, 0.1);
    let truth = report.relative_estimate();
    let Closeness::Far { factor } = verdict(30, truth / 3.0).closeness() else {
        panic!("{report:?}")
    };
    assert!((factor - 3.0).abs() < 1e-3, "{factor}");
    assert_eq!(verdict(30, 1.1 * truth).closeness(), Closeness::Close);
    // of one pass the lower side is 0
    assert_eq!(verdict(1, 1.1 * truth).closeness(), Closeness::MorePasses);
    assert_eq!(verdict(1, 1.1 * truth).relative_lower(), 0.0);
}

/// A constant that was fitted and came out as 0 is a constant: the exact regression of comparison
/// has one too, and that is not 0. A file of a version that did not say so tells by its value.
#[test]
fn a_fitted_constant_of_zero_is_a_constant() {
    let (model, x, y) = coarse(true);
    let b = model.intercept();
    // the same fit, to targets from which its constant is taken off
    let rest = Mat::from_fn(800, 2, |i, j| y[(i, j)] - b[j]);
    let (centers, theta) = (model.centers().as_cols().to_owned(), model.coefficients().to_owned());
    let report = model.report().clone();
    assert!(report.intercept && b.iter().all(|b| *b != 0.0));
    let of = |b: Vec<f64>, intercept: bool| {
        let report = FitReport { intercept, ..report.clone() };
        KrrModel::new(*model.kernel(), centers.clone(), theta.clone(), b, report).unwrap()
    };
    let zero = of(vec![0.0; 2], true);
    let points = Points::from_rows(x.as_ref());
    let truths = distances(&zero, Problem::new(points, rest.as_ref()), true);
    let certify = |model: &KrrModel<_, f64>, y: &Mat<f64>| {
        tight(40).certify(model, (points, y.as_ref()), &mut rng(1)).unwrap()
    };
    for (target, truth) in certify(&zero, &rest).targets.iter().zip(&truths) {
        let slack = 1e-8 * truth;
        assert!(
            target.lower <= truth + slack && truth - slack <= target.bound,
            "{truth} {target:?}"
        );
    }
    assert_eq!(certify(&of(b.to_vec(), false), &y), certify(&model, &y));
}

#[test]
fn passes_at_the_edges() {
    let (x, y) = sample::<f64>(40, 2, 1, 3);
    let points = Points::from_rows(x.as_ref());
    // exact: as many landmarks as rows, and exact regression itself
    let ridge = Ridge::PerSample(1e-3);
    for intercept in [false, true] {
        let krr = NystromKrr { intercept, ..NystromKrr::new(gaussian(0.7), ridge) };
        let exact = ExactKrr { intercept, ..ExactKrr::new(gaussian(0.7), ridge) };
        let models = [
            krr.fit((points, y.as_ref()), points).unwrap(),
            exact.fit((points, y.as_ref())).unwrap(),
        ];
        for (model, passes) in models.iter().zip([1, 4]) {
            let report = tight(passes).certify(model, (points, y.as_ref()), &mut rng(0)).unwrap();
            assert!(report.relative_bound() < 1e-6, "{report:?}");
            assert_eq!(report.closeness(), Closeness::Close);
        }
        // nothing to fit, and one row
        let zero = Mat::<f64>::zeros(40, 1);
        let model = krr.fit((points, zero.as_ref()), points.slice(0..3)).unwrap();
        let report = tight(5).certify(&model, (points, zero.as_ref()), &mut rng(0)).unwrap();
        assert_eq!((report.targets[0].lower, report.targets[0].bound), (0.0, 0.0));
        assert_eq!((report.closeness(), report.passes), (Closeness::Close, 1));
        let (one, y) = (points.slice(0..1), y.as_ref().subrows(0, 1));
        let model = krr.fit((one, y), one).unwrap();
        let report = tight(5).certify(&model, (one, y), &mut rng(0)).unwrap();
        assert!(report.targets[0].bound < 1e-12, "{report:?}");
    }
}

#[test]
fn passes_cost_what_is_said() {
    let (n, m) = (700, 30);
    let (x, y) = sample::<f64>(n, 2, 1, 1);
    let counted = Counting::new(gaussian(0.3));
    let points = Points::from_rows(x.as_ref());
    let landmarks = Landmarks::new(n, (0..m).collect()).unwrap();
    let model = NystromKrr::new(&counted, Ridge::PerSample(1e-6))
        .fit((points, y.as_ref()), &landmarks)
        .unwrap();
    counted.entries();
    let size = ProblemSize { n, d: 2, m, t: 1, weighted: false };
    for (passes, memory) in [(1, None), (5, None), (5, Some(1 << 28)), (9, Some(1 << 28))] {
        let tight = TightCertificate { memory, ..tight(passes) };
        let report = tight.certify(&model, (points, y.as_ref()), &mut rng(0)).unwrap();
        assert_eq!(counted.entries(), report.kernel_entries);
        assert_eq!(report.passes, passes);
        let cost = tight.cost::<f64>(size).unwrap();
        let (did, said) = (report.kernel_entries as f64, cost.kernel_entries as f64);
        // beside what is said: candidates of the preconditioner's columns that were refused. And
        // the last pass need not be by K itself, a third of what is said where K is kept
        let least = if memory.is_some() { 0.6 } else { 0.8 };
        assert!((least..1.2).contains(&(did / said)), "{passes} {memory:?}: {did} of {said}");
        assert!(memory.is_none_or(|memory| cost.memory.total() <= memory));
    }
    let none = TightCertificate { memory: Some(1000), ..tight(5) };
    let refused = none.certify(&model, (points, y.as_ref()), &mut rng(0)).unwrap_err();
    assert!(matches!(refused, Error::OutOfBudget { budget: 1000, .. }), "{refused}");
    assert_eq!(none.cost::<f64>(size).unwrap_err(), refused);
    let refused = tight(0).certify(&model, (points, y.as_ref()), &mut rng(0)).unwrap_err();
    assert!(matches!(refused, Error::Empty { what: "passes over the kernel matrix" }), "{refused}");
}

#[test]
fn passes_have_the_same_bits_with_any_number_of_threads() {
    let (model, x, y) = coarse(true);
    let problem = Problem::new(Points::from_rows(x.as_ref()), y.as_ref());
    let certify = || tight(4).certify(&model, problem, &mut rng(9)).unwrap();
    let _ = same_at_any_thread_count(certify);
}
