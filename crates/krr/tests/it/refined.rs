//! Whitening after the pass, refined by exact residuals.

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_kernels::{FromFn, Kernel, Points};
use nystrom_krr::{NystromKrr, Problem, SolvedBy, Solver};
use nystrom_linalg_core::Ridge;
use std::sync::atomic::{AtomicUsize, Ordering};

const N: usize = 2500;

/// Root mean square of a − b over that of y.
fn apart(a: MatRef<'_, f64>, b: MatRef<'_, f64>, y: MatRef<'_, f64>) -> f64 {
    (a - b).norm_l2() / y.norm_l2()
}

/// Below the ridge at which whitening once is safe in the worst case, its fits are as good as those
/// of QR, for every target: the residual that says so is exact. The passes for it are counted.
#[test]
fn below_the_worst_case_exact_residuals_make_whitening_once_as_good_as_qr() {
    let w = weights(N);
    for (d, ell, m, weighted) in [(10, 3.0, 300, false), (3, 1.0, 150, true), (5, 1.5, 300, false)]
    {
        let (x, y) = sample::<f64>(N, d, 2, 5);
        let y = Mat::from_fn(N, 2, |i, j| y[(i, j)] * [1.0, 1e-3][j] + 7.0);
        let points = Points::from_rows(x.as_ref());
        let problem = Problem::new(points, y.as_ref());
        let problem = if weighted { problem.weighted(&w) } else { problem };
        let fit = |solver, lambda| {
            let krr = NystromKrr::new(gaussian(ell), Ridge::PerSample(lambda));
            let krr = NystromKrr { solver, intercept: weighted, ..krr };
            krr.fit(problem, points.slice(0..m)).unwrap()
        };
        let mut refined = 0;
        for lambda in (3..12).map(|e| 10f64.powi(-e)) {
            let auto = fit(Solver::Auto, lambda);
            let report = auto.report();
            if !report.reason.contains("exact residual") {
                continue;
            }
            refined += 1;
            let about = format!("{d} {ell} {lambda:e}: {}", report.reason);
            assert_eq!(report.solver, SolvedBy::WhitenOnce, "{about}");
            let rows = report.kernel_entries as usize / m - m;
            assert!(rows.is_multiple_of(N) && (2..6).contains(&(rows / N)), "{about}: {rows}");
            let of = |model: &nystrom_krr::KrrModel<_, _>| model.predict(points).unwrap();
            let (auto, qr) = (of(&auto), of(&fit(Solver::Qr, lambda)));
            let once = of(&fit(Solver::WhitenOnce, lambda));
            for j in 0..2 {
                let [auto, qr, once, y] = [&auto, &qr, &once, &y].map(|a| a.as_ref().subcols(j, 1));
                let (after, before) = (apart(auto, qr, y), apart(once, qr, y));
                assert!(after < 1e-8 && after < before, "{about}: {after:e} after {before:e}");
            }
        }
        assert!(refined > 0, "{d} {ell}: no ridge was in question");
    }
}

/// Where the residual does not fall, tiles are whitened. Here it cannot: the kernel is a little
/// larger on every other pass.
#[test]
fn where_the_residual_does_not_fall_tiles_are_whitened() {
    let (d, ell, m) = (5, 1.5, 300);
    let (x, y) = sample::<f64>(N, d, 1, 5);
    let points = Points::from_rows(x.as_ref());
    let calls = AtomicUsize::new(0);
    let unsteady = FromFn::new(|x: &[f64], y: &[f64]| {
        let pass = calls.fetch_add(1, Ordering::Relaxed) / (N * m);
        gaussian(ell).value(x, y) * (1.0 + 0.01 * (pass % 2) as f64)
    });
    let krr = NystromKrr::new(unsteady, Ridge::PerSample(1e-9));
    let model = krr.fit((points, y.as_ref()), points.slice(0..m)).unwrap();
    let report = model.report();
    assert_eq!(report.solver, SolvedBy::NormalEquations, "{}", report.reason);
    assert!(report.reason.contains("turned out not to be safe"), "{}", report.reason);
    let passes = [report.kernel_entries as usize, calls.into_inner()].map(|count| count / (N * m));
    assert_eq!(passes[0], passes[1], "passes that are reported, and all");
}
