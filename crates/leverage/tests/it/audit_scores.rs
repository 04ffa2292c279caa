//! The audit: exact scores by conjugate gradients against dense algebra, bounds that hold, entries,
//! and what is refused.

use crate::common::samples::*;
use crate::common::*;
use faer::Mat;
use nystrom_kernels::{KernelMatrix, Matern, Points};
use nystrom_leverage::{
    AlaouiMahoney, Audit, AuditReport, BlessR, Exact, RecursiveRls, exact_scores,
};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, Ridge, random};

fn small() -> Audit {
    Audit { rows: 40, landmarks: 60, ..Audit::default() }
}

/// Every exact score lies in its interval, which is as narrow as was asked for.
#[test]
fn intervals_hold_the_exact_scores() {
    for kind in [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled] {
        let k = psd(kind, 400, 1);
        let k = Dense::new(k.as_ref()).unwrap();
        for mu in [100.0, 1.0, 0.01] {
            let ridge = Ridge::Absolute(mu);
            let exact = exact_scores(&k, ridge).unwrap().scores;
            let found = small().reference(&k, ridge, &mut rng(2)).unwrap();
            found.check().unwrap();
            assert!(found.largest_relative_error() <= 1e-3 && found.largest_residual() < 0.1);
            for ((&i, u), e) in found.rows.iter().zip(&found.scores).zip(&found.errors) {
                let rounding = 1e-13 * (1.0 + 10.0 / mu);
                assert!(
                    exact[i] <= u + rounding && exact[i] >= u - e - rounding,
                    "{kind:?} {mu} row {i}: {u} {e} {}",
                    exact[i]
                );
            }
        }
    }
}

/// Stopped after one iteration the intervals are wide, still hold the truth, and `check` says so.
#[test]
fn an_unfinished_audit_says_what_it_reached() {
    let k = psd(Kind::Rough, 400, 3);
    let k = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(0.1);
    let exact = exact_scores(&k, ridge).unwrap().scores;
    let hasty = Audit { max_iterations: 1, landmarks: 5, accuracy: 1e-6, ..small() };
    let found = hasty.reference(&k, ridge, &mut rng(4)).unwrap();
    assert!(found.largest_relative_error() > 1e-3);
    assert!(matches!(found.check(), Err(Error::NotConverged { iterations: 1, .. })));
    for ((&i, u), e) in found.rows.iter().zip(&found.scores).zip(&found.errors) {
        assert!(exact[i] <= u + 1e-10 && exact[i] >= u - e - 1e-10);
    }
}

fn report(estimates: &[f64], exact: &[f64]) -> AuditReport {
    let n = estimates.len();
    // l_i at μ = 1
    let k = Mat::from_fn(n, n, |i, j| if i == j { exact[i] / (1.0 - exact[i]) } else { 0.0 });
    let audit = Audit { rows: n, landmarks: n, accuracy: 1e-9, ..Audit::default() };
    audit
        .of_scores(&Dense::new(k.as_ref()).unwrap(), Ridge::Absolute(1.0), estimates, &mut rng(5))
        .unwrap()
}

#[test]
fn the_numbers_of_a_report() {
    let exact = [0.5, 0.25, 0.75, 0.5, 0.5];
    let found = report(&[0.5, 0.5, 0.25, 0.6, 0.55], &exact); // ratios 1, 2, 1/3, 1.2, 1.1
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-7, "{a} {b}");
    let (over, under) = (found.largest_overestimate(), found.largest_underestimate());
    assert_eq!((over.0, under.0), (1, 2));
    near(over.1, 2.0);
    near(under.1, 3.0);
    near(found.mean_ratio(), (1.0 + 2.0 + 1.0 / 3.0 + 1.2 + 1.1) / 5.0);
    for (p, value) in [(0.0, 1.0 / 3.0), (0.25, 1.0), (0.5, 1.1), (0.625, 1.15), (1.0, 2.0)] {
        near(found.quantile(p).unwrap(), value);
    }
    near(found.d_eff_estimate(5), 2.5);
    near(found.unseen_fraction(0.95).unwrap(), 1.0 - 0.05_f64.powf(0.2));
    assert!(found.quantile(1.1).is_err() && found.quantile(f64::NAN).is_err());
    assert!(found.unseen_fraction(1.0).is_err() && found.unseen_fraction(f64::NAN).is_err());
    assert!(
        report(&[0.0, 0.5, 0.5], &[0.5, 0.5, 0.5]).largest_underestimate() == (0, f64::INFINITY)
    );
    assert_eq!(report(&[0.0, 0.5], &[0.0, 0.5]).ratios().len(), 2);
}

#[test]
fn estimators_are_told_apart() {
    let k = psd(Kind::Rough, 700, 6);
    let k = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(5.0);
    let audit = Audit { rows: 100, landmarks: 150, ..Audit::default() };
    let exact = audit.of_estimator(&k, ridge, &Exact, &mut rng(7)).unwrap();
    assert!(
        exact.largest_overestimate().1 <= 1.0 + 1e-9 && exact.largest_underestimate().1 <= 1.001
    );
    let below = audit.of_estimator(&k, ridge, &AlaouiMahoney { columns: 50 }, &mut rng(7)).unwrap();
    assert!(below.largest_overestimate().1 <= 1.0 + 1e-3 && below.largest_underestimate().1 > 1.2);
    let coarse =
        audit.of_estimator(&k, ridge, &RecursiveRls::with_oversampling(0.5), &mut rng(7)).unwrap();
    let fine = BlessR { oversampling: 50.0, ..BlessR::default() };
    let fine = audit.of_estimator(&k, ridge, &fine, &mut rng(7)).unwrap();
    assert!(fine.largest_overestimate().1 < 1.3 && fine.largest_underestimate().1 < 1.3);
    assert!(coarse.largest_overestimate().1.max(coarse.largest_underestimate().1) > 1.5);
}

/// Products take n²/2 + 128n entries at most, the preconditioner n·m + m² to make and 2n·m an
/// application; the landmarks are found with samples of no more than m rows or so, four rounds over
/// all of them at the most.
#[test]
fn entries_are_those_of_the_claim() {
    let (n, most) = (2500_u64, 60);
    let x: Mat<f64> = random::standard_normal(n as usize, 3, &mut rng(8));
    let k =
        KernelMatrix::new(Matern::new(1.5, 1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let k = Counted::new(k);
    let found = small().reference(&k, Ridge::PerSample(1e-2), &mut rng(9)).unwrap();
    let (m, iterations) = (found.landmarks as u64, found.iterations as u64);
    assert!(m <= most && iterations > 0);
    let squares = 9 * 256 * 256 + 196 * 196; // on the diagonal
    let product = (n * n + squares) / 2;
    assert!(product <= n * n / 2 + 128 * n);
    let known = iterations * product + n * m + m * m + (iterations + 1) * 2 * n * m;
    assert!(k.entries() > known && k.entries() <= known + 6 * n * most, "{} {known}", k.entries());
}

/// Landmarks follow the effective dimension, so the number of iterations hardly depends on the
/// ridge.
#[test]
fn a_few_iterations_suffice_whatever_the_ridge() {
    let x: Mat<f64> = random::standard_normal(1500, 3, &mut rng(20));
    let k =
        KernelMatrix::new(Matern::new(1.5, 1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let audit = |lambda| {
        let found = Audit::default().reference(&k, Ridge::PerSample(lambda), &mut rng(21)).unwrap();
        found.check().unwrap();
        (found.landmarks, found.iterations)
    };
    let found = [3e-2, 1e-2, 3e-3, 1e-3].map(audit);
    // ⌈√(1500·100)⌉
    assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0 || pair[0].0 == 388), "{found:?}");
    assert!(found.iter().all(|&(_, iterations)| iterations <= 6), "{found:?}");
    let fewer = Audit { landmarks: 100, ..Audit::default() }
        .reference(&k, Ridge::PerSample(1e-4), &mut rng(21))
        .unwrap();
    fewer.check().unwrap();
    assert!(
        fewer.landmarks == 100 && fewer.iterations > 2 * found[2].1,
        "{} {found:?}",
        fewer.iterations
    );
}

#[test]
fn threads_do_not_change_bits() {
    let x: Mat<f64> = random::standard_normal(2100, 3, &mut rng(10));
    let k =
        KernelMatrix::new(Matern::new(1.5, 1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    same_at_any_thread_count(|| {
        small().reference(&k, Ridge::PerSample(1e-2), &mut rng(11)).unwrap()
    });
    let one = Audit { rows: 1, ..small() }; // matrix-vector products
    same_at_any_thread_count(|| one.reference(&k, Ridge::PerSample(1e-2), &mut rng(12)).unwrap());
}

#[test]
fn single_precision() {
    let k = psd(Kind::Rough, 400, 13);
    let k32 = Mat::from_fn(400, 400, |i, j| k[(i, j)] as f32);
    let (k, k32) = (Dense::new(k.as_ref()).unwrap(), Dense::new(k32.as_ref()).unwrap());
    let exact = exact_scores(&k, Ridge::Absolute(1.0)).unwrap().scores;
    let found = small().reference(&k32, Ridge::Absolute(1.0_f32), &mut rng(14)).unwrap();
    for (&i, u) in found.rows.iter().zip(&found.scores) {
        assert!((u - exact[i]).abs() <= 2e-3 * exact[i] + 1e-5, "{u} {}", exact[i]);
    }
}

#[test]
fn small_and_degenerate_matrices() {
    let audit = Audit::default();
    let one = faer::mat![[4.0_f64]];
    let found = audit
        .reference(&Dense::new(one.as_ref()).unwrap(), Ridge::Absolute(1.0), &mut rng(15))
        .unwrap();
    assert!((found.scores[0] - 0.8).abs() < 1e-12 && found.rows == [0]);
    let equal = Mat::<f64>::full(300, 300, 1.0);
    let found = small()
        .reference(&Dense::new(equal.as_ref()).unwrap(), Ridge::Absolute(2.0), &mut rng(15))
        .unwrap();
    assert_close(&found.scores, &[1.0 / 302.0; 40], 1e-6);
    let zeros: Vec<usize> = (0..100).collect();
    let k = without_rows(psd(Kind::Rough, 200, 16), &zeros);
    let k = Dense::new(k.as_ref()).unwrap();
    let audit = Audit { rows: 200, landmarks: 30, ..audit };
    let exact = exact_scores(&k, Ridge::Absolute(1.0)).unwrap().scores;
    let report = audit.of_scores(&k, Ridge::Absolute(1.0), &exact, &mut rng(17)).unwrap();
    assert!(
        report.largest_overestimate().1 < 1.0 + 1e-9 && report.largest_underestimate().1 < 1.001,
        "{:?}",
        report.ratios()
    );
}

#[test]
fn bad_input_is_refused() {
    let k = psd(Kind::Gaussian, 30, 18);
    let k = Dense::new(k.as_ref()).unwrap();
    let (ridge, mut rng) = (Ridge::Absolute(1.0), rng(19));
    let none = Broken { n: 0, bad: vec![] };
    assert!(matches!(small().reference(&none, ridge, &mut rng), Err(Error::Empty { .. })));
    for audit in [
        Audit { rows: 0, ..small() },
        Audit { landmarks: 0, ..small() },
        Audit { max_iterations: 0, ..small() },
    ] {
        assert!(matches!(audit.reference(&k, ridge, &mut rng), Err(Error::Empty { .. })));
    }
    for accuracy in [0.0, 1.0, -1.0, f64::NAN] {
        let error = Audit { accuracy, ..small() }.reference(&k, ridge, &mut rng).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { name: "accuracy", .. }));
    }
    assert!(small().reference(&k, Ridge::Absolute(0.0), &mut rng).is_err());
    let counted = Counted::new(&k);
    assert!(matches!(
        small().of_scores(&counted, ridge, &[0.5; 29], &mut rng),
        Err(Error::Shape { .. })
    ));
    for bad in [-0.1, f64::NAN, f64::INFINITY] {
        let mut scores = vec![0.5; 30];
        scores[7] = bad;
        assert!(matches!(
            small().of_scores(&counted, ridge, &scores, &mut rng),
            Err(Error::InvalidWeight { index: 7, .. })
        ));
    }
    assert_eq!((counted.entries(), counted.dim()), (0, 30)); // all before any work
    let broken = Broken { n: 100, bad: vec![(3, 77, f64::NAN)] };
    assert!(matches!(small().reference(&broken, ridge, &mut rng), Err(Error::NonFinite { .. })));
}
