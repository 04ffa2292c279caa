//! What is lost, and what is not, when λ is far below the square root of the rounding unit.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Kernel, Linear, Points};
use nystrom_krr::{NystromKrr, Problem, SolvedBy, Solver, metrics::rmse};
use nystrom_linalg_core::{Cholesky, Error, Ridge, Scalar};

fn fit_reference(ell: f64, lambda: f64, weighted: bool, solver: Solver) -> Mat<f64> {
    let r = reference();
    let krr = NystromKrr {
        intercept: weighted,
        solver,
        ..NystromKrr::new(gaussian(ell), Ridge::PerSample(lambda))
    };
    let (x, z) = (Points::from_slice(&r.x), Points::from_slice(&r.x[..16]));
    let problem = Problem::new(x, r.y.as_ref());
    let problem = if weighted { problem.weighted(&r.weights) } else { problem };
    krr.fit(problem, z).unwrap().predict(Points::from_slice(&r.at)).unwrap()
}

/// The textbook: LU of CᵀC + nλW, no whitening.
fn plain_reference(ell: f64, lambda: f64) -> Mat<f64> {
    let r = reference();
    let column = |v: &[f64]| Mat::from_fn(v.len(), 1, |i, _| v[i]);
    let (x, z, at) = (column(&r.x), column(&r.x[..16]), column(&r.at));
    let mu = 96.0 * lambda;
    oracle_nystrom(
        &gaussian(ell),
        x.as_ref(),
        r.y.as_ref(),
        z.as_ref(),
        &[1.0; 96],
        mu,
        false,
        at.as_ref(),
    )
    .0
}

/// ℓ = 1/4 makes W numerically singular. The plain equations are wrong in the second decimal place
/// (targets are of size ½, their noise of size 0.07); ours keep three, which is what the rounding
/// of the kernel values themselves leaves: QR is no better.
#[test]
fn at_1e12_plain_normal_equations_are_lost_and_whitened_ones_are_not() {
    let plain = off(&plain_reference(0.25, 1e-12), &NYSTROM_1E12);
    assert!(plain > 1e-2, "{plain:e}");
    for solver in [Solver::NormalEquations, Solver::Qr] {
        let ours = off(&fit_reference(0.25, 1e-12, false, solver), &NYSTROM_1E12);
        assert!(ours < 1e-3, "{solver:?} {ours:e}");
        let ours = off(&fit_reference(0.25, 1e-12, true, solver), &NYSTROM_1E12_WEIGHTED_INTERCEPT);
        assert!(ours < 2e-3, "{solver:?} {ours:e}");
    }
}

/// With cond(W) = 1.7e9 (so that the shift of W is invisible) the squared condition number costs
/// the plain equations (off by 3.5e-5) six digits that ours (off by 4e-11) keep.
#[test]
fn at_1e12_and_a_regular_w_six_digits_more_are_kept() {
    let plain = off(&plain_reference(0.125, 1e-12), &NYSTROM_EIGHTH_1E12);
    for solver in [Solver::NormalEquations, Solver::Qr] {
        let ours = off(&fit_reference(0.125, 1e-12, false, solver), &NYSTROM_EIGHTH_1E12);
        assert!(ours < 1e-9 && plain > 1e4 * ours, "{solver:?}: {ours:e}, plain {plain:e}");
    }
}

/// Läuchli's matrix: features (1, ε, 0), (1, 0, ε) as a linear kernel with the unit vectors as
/// centres, so that W = I and Φ = X. XᵀX rounds to the matrix of ones for ε = 1e-9. The ridge
/// solution is known: both coefficients (y₀ + εy₁)/(2 + ε²) at λ → 0 for y₁ = y₂, and ±(y₁ − y₂)/2ε
/// beside them for y₁ ≠ y₂.
#[test]
fn qr_solves_lauchlis_problem_and_normal_equations_cannot() {
    let eps = 1e-9;
    let x = Mat::from_fn(3, 2, |i, k| {
        if i == 0 {
            1.0
        } else if i == k + 1 {
            eps
        } else {
            0.0
        }
    });
    let z = Mat::from_fn(2, 2, |i, k| if i == k { 1.0 } else { 0.0 });
    let y = Mat::from_fn(3, 1, |i, _| [2.0, 3e-9, 1e-9][i]);
    let fit = |mu: f64, solver| {
        let krr = NystromKrr { solver, ..NystromKrr::new(Linear::new(), Ridge::Absolute(mu)) };
        krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), Points::from_rows(z.as_ref()))
    };
    for solver in [Solver::Qr, Solver::Auto] {
        let model = fit(1e-26, solver).unwrap();
        assert_eq!(model.report().solver, SolvedBy::Qr);
        // sum 2 (from the first row), difference 2 (from the others)
        let theta = model.coefficients();
        assert!((theta[(0, 0)] - 2.0).abs() < 1e-6 && theta[(1, 0)].abs() < 1e-6, "{theta:?}");
    }
    let lost = match fit(1e-26, Solver::NormalEquations) {
        Err(Error::NotPositiveDefinite { .. }) => true,
        Err(error) => panic!("{error}"),
        Ok(model) => (model.coefficients()[(0, 0)] - 2.0).abs() > 0.1,
    };
    assert!(lost);
    // The intercept goes through the same elimination.
    let krr =
        NystromKrr { intercept: true, ..NystromKrr::new(Linear::new(), Ridge::Absolute(1e-26)) };
    let offset = Mat::from_fn(3, 1, |i, _| y[(i, 0)] + 1.0);
    let model = krr
        .fit((Points::from_rows(x.as_ref()), offset.as_ref()), Points::from_rows(z.as_ref()))
        .unwrap();
    let f = model.predict(Points::from_rows(x.as_ref())).unwrap();
    assert!(distance(f.as_ref(), offset.as_ref()) < 1e-9);
}

fn narrow(a: &Mat<f64>) -> Mat<f32> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32)
}

fn test_error<T: Scalar>(m: usize, lambda: f64, solver: Solver, data: [&Mat<T>; 4]) -> f64
where
    nystrom_kernels::Gaussian: Kernel<T>,
{
    let [x, y, at, actual] = data;
    let krr =
        NystromKrr { solver, ..NystromKrr::new(gaussian(1.0), Ridge::PerSample(T::lit(lambda))) };
    let centers = Points::from_rows(x.as_ref().subrows(0, m));
    let model = krr.fit((Points::from_rows(x.as_ref()), y.as_ref()), centers).unwrap();
    rmse(model.predict(Points::from_rows(at.as_ref())).unwrap().as_ref(), actual.as_ref()).unwrap()
}

/// In `f32` the error goes down as m grows, as it does in `f64`, and stays within 3 % of it, at
/// ridges where a Cholesky factorisation of the plain `f32` equations breaks down.
#[test]
fn single_precision_fits_do_not_get_worse_as_m_grows() {
    let (x, y) = sample::<f64>(3000, 3, 1, 7);
    let (at, actual) = sample::<f64>(500, 3, 1, 8);
    let (xs, ys, ats, actuals) = (narrow(&x), narrow(&y), narrow(&at), narrow(&actual));
    for lambda in [1e-4, 1e-5, 1e-6] {
        let mut last = f64::INFINITY;
        for m in [50, 100, 200, 400] {
            let double = test_error(m, lambda, Solver::Auto, [&x, &y, &at, &actual]);
            for solver in [Solver::Auto, Solver::NormalEquations, Solver::Qr] {
                let single = test_error(m, lambda, solver, [&xs, &ys, &ats, &actuals]);
                assert!(single < 1.03 * double, "λ {lambda:e} m {m}: f32 {single} f64 {double}");
                assert!(single < 1.005 * last, "λ {lambda:e} m {m}: {single} after {last}");
                last = if solver == Solver::Qr { single } else { last };
            }
        }
    }
    let (points, m) = (Points::from_rows(xs.as_ref()), 400);
    let (C, W): (Mat<f32>, Mat<f32>) =
        (gaussian(1.0).eval(points, points.slice(0..m)), gaussian(1.0).gram(points.slice(0..m)));
    let plain = C.transpose() * &C + faer::Scale(3000.0 * 1e-5_f32) * W;
    assert!(matches!(Cholesky::new(plain.as_ref()), Err(Error::NotPositiveDefinite { .. })));
}

/// The same up to m = 2000, with the solver that is taken unless another is asked for.
#[test]
fn single_precision_fits_do_not_get_worse_up_to_2000_centres() {
    let (x, y) = sample::<f64>(2500, 3, 1, 7);
    let (at, actual) = sample::<f64>(500, 3, 1, 8);
    let single = [&x, &y, &at, &actual].map(narrow);
    let mut last = f64::INFINITY;
    for m in [400, 1000, 2000] {
        let error = test_error(m, 1e-5, Solver::Auto, single.each_ref());
        assert!(error < 1.005 * last, "m {m}: {error} after {last}");
        last = error;
    }
    let double = test_error(2000, 1e-5, Solver::Auto, [&x, &y, &at, &actual]);
    assert!(last < 1.03 * double, "f32 {last} f64 {double}");
}

/// What `f32` has lost at small ridges it has lost in the kernel values: the error is that of QR,
/// which squares nothing, be the products in `f32` (at 1.2e-7) or in `f64` (below).
#[test]
fn in_single_precision_products_cost_nothing_beside_the_tiles() {
    let (x, y) = sample::<f64>(3000, 3, 1, 7);
    let (at, actual) = sample::<f64>(500, 3, 1, 8);
    let single = [&x, &y, &at, &actual].map(narrow);
    for lambda in [1.2e-7, 1e-7, 1e-8, 1e-9] {
        for m in [50, 200, 400] {
            let error = |solver| test_error(m, lambda, solver, single.each_ref());
            let (auto, qr) = (error(Solver::Auto), error(Solver::Qr));
            assert!(
                (auto / qr - 1.0).abs() < 0.01,
                "λ {lambda:e} m {m}: {auto} by products, {qr} by QR"
            );
        }
    }
}

/// Where a product in `f32` is not accurate enough, one in `f64` of the same tiles is, down to
/// where `f64` itself is not.
#[test]
fn in_single_precision_products_are_widened_before_qr_is_taken() {
    let (x, y) = sample::<f64>(200, 2, 1, 7);
    let (x, y) = (narrow(&x), narrow(&y));
    let points = Points::from_rows(x.as_ref());
    let by = |lambda: f32| {
        let krr = NystromKrr::new(gaussian(1.0), Ridge::PerSample(lambda));
        let report = krr.fit((points, y.as_ref()), points.slice(0..20)).unwrap().report().clone();
        (report.solver, report.reason.contains("products in f64"))
    };
    let ways = [1.0, 1e-3, 1e-7, 1e-12, 1e-16].map(by);
    let expected = [
        (SolvedBy::WhitenOnce, false),
        (SolvedBy::WhitenOnce, true),
        (SolvedBy::WhitenOnce, true),
        (SolvedBy::NormalEquations, true),
        (SolvedBy::Qr, false),
    ];
    assert_eq!(ways, expected);
}
