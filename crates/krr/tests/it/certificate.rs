//! The certificate against dense algebra, against exact regression, and its confidence.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Kernel, LaplacianL1, Matern32, Points};
use nystrom_krr::{
    Certificate, CertificateReport, Closeness, DictionaryKrr, ExactKrr, KrrModel, NystromKrr,
    Problem, SketchedKrr, Solver, TargetCertificate,
};
use nystrom_linalg_core::{Error, Ridge, Scalar};
use nystrom_sketch::{Accumulation, Landmarks};
use proptest::prelude::*;

const ALL: Certificate = Certificate { rows: 1_000_000, confidence: 0.99, tolerance: 0.1 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// With all rows: the estimate is RMS(Kα + b − f), and it bounds the distance to exact
    /// regression, whatever the model.
    #[test]
    fn all_rows_give_the_dense_formula_and_a_bound(
        n in 3..50usize, m in 1..12usize, t in 1..3usize, seed in 0..1000u64, weighted: bool,
        intercept: bool, log_mu in -3.0..1.0f64,
    ) {
        let (x, y) = sample::<f64>(n, 2, t, seed);
        let w = if weighted { weights(n) } else { vec![1.0; n] };
        prop_assume!(w.iter().filter(|&&w| w > 0.0).count() > 1);
        let (points, mu) = (Points::from_rows(x.as_ref()), 10f64.powf(log_mu));
        let landmarks = Landmarks::from_draws(n,
            &(0..m).map(|j| j * 5 % n).collect::<Vec<_>>()).unwrap();
        let solver = Solver::NormalEquations;
        let krr = NystromKrr { intercept, solver, ..NystromKrr::new(gaussian(0.8),
            Ridge::Absolute(mu)) };
        let problem = Problem::new(points, y.as_ref()).weighted(&w);
        let model = krr.fit(problem, &landmarks).unwrap();
        let report = ALL.certify(&model, problem, &mut rng(0)).unwrap();
        let f = model.predict(points).unwrap();
        let exact = ExactKrr { intercept, ..ExactKrr::new(gaussian(0.8), Ridge::Absolute(mu)) };
        let f_exact = exact.fit(problem).unwrap().predict(points).unwrap();
        let alpha = Mat::from_fn(n, t, |i, j| w[i] * (y[(i, j)] - f[(i, j)]) / mu);
        let K: Mat<f64> = gaussian(0.8).gram(points);
        let Ka = &K * &alpha;
        let r = Mat::from_fn(n, t, |i, j| Ka[(i, j)] + model.intercept()[j] - f[(i, j)]);
        let share = report.trace_error / (report.trace_error + mu);
        for (j, target) in report.targets.iter().enumerate() {
            let scale = 1e-7 * (1.0 + 1.0 / mu);
            let (whole, residual) = (rms(&r, &w, j), rms(&(&y - &f), &w, j));
            prop_assert!((target.discrepancy - whole).abs() < scale, "{} {whole}",
                target.discrepancy);
            let bound = whole.min((whole * residual * share).sqrt());
            prop_assert!((target.bound - bound).abs() < scale.sqrt()
                && target.bound == target.estimate, "{} {bound}", target.bound);
            prop_assert!(rms(&(&f - &f_exact), &w, j) <= target.bound + scale);
            prop_assert!(target.bound <= target.trace_bound + scale);
            prop_assert!((target.residual - residual).abs() < 1e-9);
        }
        let trace = (0..n).map(|i| w[i] * K[(i, i)]).sum::<f64>();
        prop_assert!(report.trace_error >= 0.0 && report.trace_error <= trace);
        prop_assert_eq!((report.rows, report.confidence, report.ridge), (n, 1.0, mu));
    }
}

#[test]
fn any_approximate_model_gets_a_bound() {
    // A dictionary's (L_γ), a sketch's (its span is smaller than that of its centres), and one
    // whose coefficients are plainly wrong for the ridge it claims: fitted to other targets.
    let (x, y) = sample::<f64>(200, 2, 1, 5);
    let (points, mu) = (Points::from_rows(x.as_ref()), 0.2);
    let sketch = Accumulation::uniform(3).sample(200, 10, &mut rng(1)).unwrap();
    let dictionary = DictionaryKrr {
        kernel: gaussian(0.8),
        gamma: Ridge::Absolute(0.1),
        ridge: Ridge::Absolute(mu),
    };
    let centers = points.slice(0..20);
    let models = [
        dictionary.fit((points, y.as_ref()), (centers, &[10.0; 20])).unwrap(),
        SketchedKrr::new(gaussian(0.8), Ridge::Absolute(mu))
            .fit((points, y.as_ref()), &sketch)
            .unwrap(),
        NystromKrr::new(gaussian(0.8), Ridge::Absolute(mu))
            .fit((points, (&y * 0.5).as_ref()), centers)
            .unwrap(),
    ];
    let exact = ExactKrr::new(gaussian(0.8), Ridge::Absolute(mu))
        .fit((points, y.as_ref()))
        .unwrap()
        .predict(points)
        .unwrap();
    for model in models {
        let truth = rms(&(&exact - model.predict(points).unwrap()), &[1.0; 200], 0);
        for rows in [20, 100, 1000] {
            let report = Certificate { rows, ..ALL }
                .certify(&model, (points, y.as_ref()), &mut rng(2))
                .unwrap();
            let target = &report.targets[0];
            assert!(target.bound >= truth && target.estimate >= 0.5 * truth, "{truth} {target:?}");
        }
    }
}

/// Exact length, true error, and how often a bound from `rows` rows fell below each in 300 draws;
/// the estimates' squares as well.
struct Trials {
    exact: TargetCertificate,
    truth: f64,
    below_exact: usize,
    below_truth: usize,
    largest_ratio: f64,
    mean_square: f64,
    deviation: f64,
}

fn trials<K: Kernel<f64> + Clone>(
    kernel: K,
    n: usize,
    m: usize,
    lambda: f64,
    rows: usize,
    confidence: f64,
) -> Trials {
    let (x, y) = sample::<f64>(n, 2, 1, 31);
    let points = Points::from_rows(x.as_ref());
    let landmarks = Landmarks::new(n, (0..n).step_by(n / m).collect()).unwrap();
    let model = NystromKrr::new(kernel.clone(), Ridge::PerSample(lambda))
        .fit((points, y.as_ref()), &landmarks)
        .unwrap();
    let f_exact = ExactKrr::new(kernel, Ridge::PerSample(lambda))
        .fit((points, y.as_ref()))
        .unwrap()
        .predict(points)
        .unwrap();
    let truth = rms(&(&f_exact - model.predict(points).unwrap()), &vec![1.0; n], 0);
    let all = ALL.certify(&model, (points, y.as_ref()), &mut rng(0)).unwrap().targets[0];
    let certificate = Certificate { rows, confidence, ..ALL };
    let reports: Vec<CertificateReport> = (0..300)
        .map(|seed| certificate.certify(&model, (points, y.as_ref()), &mut rng(seed)).unwrap())
        .collect();
    let bounds: Vec<f64> = reports.iter().map(|r| r.targets[0].bound).collect();
    let squares: Vec<f64> = reports.iter().map(|r| r.targets[0].discrepancy.powi(2)).collect();
    let mean_square = squares.iter().sum::<f64>() / 300.0;
    Trials {
        exact: all,
        truth,
        below_exact: bounds.iter().filter(|&&b| b < all.bound).count(),
        below_truth: bounds.iter().filter(|&&b| b < truth).count(),
        largest_ratio: bounds.iter().fold(0.0, |a: f64, b| a.max(b / all.bound)),
        mean_square,
        deviation: (squares.iter().map(|s| (s - mean_square).powi(2)).sum::<f64>() / 299.0).sqrt(),
    }
}

#[test]
fn the_bound_holds_with_its_confidence_and_the_estimate_has_no_bias() {
    // 1 − δ = 0.8: of 300 independent draws the bound is below ‖ρ‖ in Binomial(300, p ≤ 0.2); more
    // than 97 has probability below 1e-6. (The inequality is not sharp, and the true error is
    // smaller still, so that 0 is expected.) The mean of 300 estimates of ‖ρ‖² is within 5.2 of its
    // standard errors, for a false alarm of 2e-7 each were it normal.
    let check = |name: &str, t: Trials| {
        println!(
            "{name}: true error {:.2e}, all rows {:.2e}, below {} and {}, at most {:.2} times",
            t.truth, t.exact.bound, t.below_exact, t.below_truth, t.largest_ratio
        );
        assert!(
            t.below_exact <= 97 && t.below_truth <= 97,
            "{name}: {} {}",
            t.below_exact,
            t.below_truth
        );
        let error = t.deviation / 300f64.sqrt();
        assert!(
            (t.mean_square - t.exact.discrepancy.powi(2)).abs() < 5.2 * error + 1e-15,
            "{name}: {} {}",
            t.mean_square,
            t.exact.discrepancy.powi(2)
        );
    };
    for (m, lambda) in [(20, 1e-3), (50, 1e-4), (60, 1e-2)] {
        check(&format!("Gaussian, {m}, {lambda}"), trials(gaussian(0.7), 600, m, lambda, 60, 0.8));
        check(
            &format!("Matérn, {m}, {lambda}"),
            trials(Matern32::new(1.0).unwrap(), 600, m, lambda, 60, 0.8),
        );
    }
    check("Laplacian", trials(LaplacianL1::new(1.0).unwrap(), 600, 30, 1e-3, 100, 0.8));
}

#[test]
fn a_landmark_set_that_misses_a_cluster_is_found_out() {
    // 40 of 1000 points far away, no landmark among them: uniform rows would see 4 % of it, rows
    // drawn by E_ii see it for certain.
    let x = Mat::from_fn(1000, 1, |i, _| {
        if i % 25 == 0 { 50.0 + i as f64 / 1000.0 } else { i as f64 / 500.0 }
    });
    let y = Mat::from_fn(1000, 1, |i, _| if i % 25 == 0 { 5.0 } else { x[(i, 0)].sin() });
    let points = Points::from_rows(x.as_ref());
    let landmarks = Landmarks::new(1000, (1..1000).step_by(50).collect()).unwrap();
    let model = NystromKrr::new(gaussian(0.5), Ridge::PerSample(1e-4))
        .fit((points, y.as_ref()), &landmarks)
        .unwrap();
    let certificate = Certificate { rows: 50, ..Certificate::default() };
    let exact = ALL.certify(&model, (points, y.as_ref()), &mut rng(0)).unwrap();
    for seed in 0..20 {
        let report = certificate.certify(&model, (points, y.as_ref()), &mut rng(seed)).unwrap();
        assert!(report.relative_estimate() > 0.9 * exact.relative_estimate(), "{report:?}");
        assert!(
            matches!(report.closeness(), Closeness::Far { factor } if factor > 10.0),
            "{:?}",
            report.closeness()
        );
    }
}

#[test]
fn verdicts() {
    let (x, y) = sample::<f64>(1500, 2, 1, 8);
    let points = Points::from_rows(x.as_ref());
    let certified = |m: usize, lambda: f64, rows: usize| {
        let landmarks = Landmarks::new(1500, (0..m).collect()).unwrap();
        let model = NystromKrr::new(gaussian(0.8), Ridge::PerSample(lambda))
            .fit((points, y.as_ref()), &landmarks)
            .unwrap();
        let certificate = Certificate { rows, ..Certificate::default() };
        (certificate.certify(&model, (points, y.as_ref()), &mut rng(1)).unwrap(), model)
    };
    let (close, _) = certified(300, 1e-3, 200);
    assert_eq!(close.closeness(), Closeness::Close);
    assert!(close.relative_bound() <= 0.1);
    let (far, _) = certified(10, 1e-6, 200);
    assert!(
        matches!(far.closeness(), Closeness::Far { factor } if factor > 2.0),
        "{:?}",
        far.closeness()
    );
    // Few rows: the estimate is fine, the bound is not; with the rows named it is.
    let (few, model) = certified(300, 1e-3, 5);
    let Closeness::MoreRows { rows } = few.closeness() else {
        panic!("{:?} {few:?}", few.closeness())
    };
    let again = Certificate { rows: rows + rows / 2, ..Certificate::default() };
    let report = again.certify(&model, (points, y.as_ref()), &mut rng(2)).unwrap();
    assert_eq!(report.closeness(), Closeness::Close, "{rows} {report:?}");
}

#[test]
fn exact_regression_is_close_to_itself() {
    let (x, y) = sample::<f64>(150, 2, 2, 3);
    let points = Points::from_rows(x.as_ref());
    let krr = ExactKrr { intercept: true, ..ExactKrr::new(gaussian(0.7), Ridge::PerSample(1e-3)) };
    let model = krr.fit((points, y.as_ref())).unwrap();
    for certificate in [ALL, Certificate { rows: 20, ..ALL }] {
        let report = certificate.certify(&model, (points, y.as_ref()), &mut rng(0)).unwrap();
        assert!(report.relative_bound() < 1e-6, "{report:?}");
        assert_eq!(report.closeness(), Closeness::Close);
    }
}

#[test]
fn the_cost_is_two_passes_and_the_rows() {
    let (x, y) = sample::<f64>(400, 2, 1, 1);
    let counted = Counting::new(gaussian(1.0));
    let points = Points::from_rows(x.as_ref());
    let landmarks = Landmarks::new(400, (0..30).collect()).unwrap();
    let model = NystromKrr::new(&counted, Ridge::PerSample(1e-3))
        .fit((points, y.as_ref()), &landmarks)
        .unwrap();
    counted.entries();
    let report =
        Certificate { rows: 50, ..ALL }.certify(&model, (points, y.as_ref()), &mut rng(0)).unwrap();
    assert_eq!(counted.entries(), report.kernel_entries);
    assert!(report.kernel_entries <= 2 * 400 * 30 + 30 * 30 + 50 * 400);
}

fn bits<T: Scalar>() -> CertificateReport
where
    nystrom_kernels::Gaussian: Kernel<T>,
{
    let (x, y) = sample::<T>(2300, 3, 2, 4);
    let points = Points::from_rows(x.as_ref());
    same_at_any_thread_count(|| {
        let krr = NystromKrr {
            intercept: true,
            ..NystromKrr::new(gaussian(1.0), Ridge::PerSample(T::lit(1e-3)))
        };
        let model: KrrModel<_, T> = krr.fit((points, y.as_ref()), points.slice(0..150)).unwrap();
        Certificate { rows: 70, ..ALL }.certify(&model, (points, y.as_ref()), &mut rng(9)).unwrap()
    })
}

#[test]
fn the_same_bits_with_any_number_of_threads() {
    let (one, single) = (bits::<f64>(), bits::<f32>());
    // the two precisions have different shifts δ, and single precision sees its own rounding errors
    let ratio = single.targets[0].estimate / one.targets[0].estimate;
    assert!((0.8..1.5).contains(&ratio), "{ratio}");
}

#[test]
fn wrong_input_is_refused() {
    let (x, y) = sample::<f64>(20, 2, 1, 4);
    let points = Points::from_rows(x.as_ref());
    let model = NystromKrr::new(gaussian(1.0), Ridge::PerSample(1e-2))
        .fit((points, y.as_ref()), points.slice(0..3))
        .unwrap();
    let refused = |c: Certificate, p: Points<'_, f64>, y: &Mat<f64>| {
        c.certify(&model, (p, y.as_ref()), &mut rng(0)).unwrap_err()
    };
    let fine = Certificate::default();
    assert!(matches!(
        refused(Certificate { rows: 0, ..fine }, points, &y),
        Error::Empty { what: "rows to draw" }
    ));
    for confidence in [0.0, 1.0, f64::NAN] {
        let error = refused(Certificate { confidence, ..fine }, points, &y);
        assert!(matches!(error, Error::InvalidParameter { name: "confidence", .. }), "{error}");
    }
    assert!(matches!(
        refused(Certificate { tolerance: 0.0, ..fine }, points, &y),
        Error::InvalidParameter { .. }
    ));
    let fewer = Mat::from_fn(19, 1, |i, _| y[(i, 0)]);
    assert!(matches!(
        refused(fine, points.slice(0..19), &fewer),
        Error::Shape { expected: 20, got: 19, .. }
    ));
    assert!(matches!(
        refused(fine, points, &Mat::zeros(20, 2)),
        Error::Shape { expected: 1, got: 2, .. }
    ));
    let spoiled = Mat::from_fn(20, 1, |i, _| if i == 4 { f64::NAN } else { 0.0 });
    assert!(matches!(refused(fine, points, &spoiled), Error::NonFinite { row: 4, .. }));
}

#[test]
fn a_perfect_fit_of_nothing_is_close() {
    let (x, _) = sample::<f64>(30, 1, 1, 4);
    let points = Points::from_rows(x.as_ref());
    let zero = Mat::<f64>::zeros(30, 1);
    let model = NystromKrr::new(gaussian(1.0), Ridge::PerSample(1e-2))
        .fit((points, zero.as_ref()), points.slice(0..3))
        .unwrap();
    for rows in [5, 100] {
        let report = Certificate { rows, ..ALL }
            .certify(&model, (points, zero.as_ref()), &mut rng(0))
            .unwrap();
        assert_eq!((report.targets[0].bound, report.closeness()), (0.0, Closeness::Close));
    }
}
