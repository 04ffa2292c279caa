//! The posterior variance against the formulas of Gaussian processes by dense algebra, and models
//! that leave a sample out against fits without it.

#![allow(non_snake_case)]

use crate::common::{gaussian, lu, sample};
use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_krr::{ExactKrr, LambdaPath, NystromKrr, Posterior, Problem, lambda_grid};
use nystrom_linalg_core::{Error, Ridge};
use nystrom_sketch::Landmarks;

const MU: Ridge<f64> = Ridge::Absolute(0.3);

fn path(x: &Mat<f64>, y: &Mat<f64>, landmarks: Vec<usize>) -> LambdaPath<Gaussian, f64> {
    let landmarks = Landmarks::new(x.nrows(), landmarks).unwrap();
    let ridges = lambda_grid(1e-1, 1e-6, 3).unwrap();
    let krr = NystromKrr::without_ridge(gaussian(1.5));
    krr.path((Points::from_rows(x.as_ref()), y), &landmarks, &ridges).unwrap()
}

/// aᵀM⁻¹a for each column a.
fn form(M: &Mat<f64>, a: &Mat<f64>) -> Vec<f64> {
    let solved = lu(M, a);
    (0..a.ncols()).map(|j| (0..a.nrows()).map(|i| a[(i, j)] * solved[(i, j)]).sum()).collect()
}

fn close(found: &[f64], expected: impl Iterator<Item = f64>) {
    let expected: Vec<f64> = expected.collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
    }
}

#[test]
fn exact_regression_has_the_variance_of_a_gaussian_process() {
    let ((x, y), (at, _)) = (sample::<f64>(40, 3, 1, 1), sample::<f64>(300, 3, 1, 2));
    let (points, at) = (Points::from_rows(x.as_ref()), Points::from_rows(at.as_ref()));
    let k = gaussian(1.5);
    let mut K = k.gram(points);
    (0..40).for_each(|i| K[(i, i)] += 0.3);
    let known = form(&K, &k.eval(points, at)); // kᵀ(K + μI)⁻¹k
    let ridges = lambda_grid(1e-1, 1e-6, 3).unwrap();
    let exact = ExactKrr::without_ridge(k).path((points, &y), &ridges).unwrap();
    for path in [exact, path(&x, &y, (0..40).collect())] {
        let posterior = path.posterior_at(MU).unwrap();
        assert_eq!(posterior.mu(), 0.3);
        close(&posterior.variance(at).unwrap(), known.iter().map(|known| 1.0 - known));
    }
}

#[test]
fn landmarks_add_what_they_miss() {
    let ((x, y), (at, _)) = (sample::<f64>(60, 2, 1, 3), sample::<f64>(50, 2, 1, 4));
    let chosen: Vec<usize> = (0..60).step_by(7).collect();
    let z = Mat::from_fn(chosen.len(), 2, |i, j| x[(chosen[i], j)]);
    let [points, z, at] = [&x, &z, &at].map(|rows| Points::from_rows(rows.as_ref()));
    let k = gaussian(1.5);
    let (W, C, k_at) = (k.gram(z), k.eval(points, z), k.eval(z, at));
    let A = C.transpose() * &C + faer::Scale(0.3) * &W; // K_ZX K_XZ + μW
    let (spanned, unknown) = (form(&W, &k_at), form(&A, &k_at));
    let expected = spanned.iter().zip(unknown).map(|(s, u)| 1.0 - s + 0.3 * u);
    let posterior = path(&x, &y, chosen).posterior_at(MU).unwrap();
    close(&posterior.variance(at).unwrap(), expected);
}

#[test]
fn more_rows_are_never_less_certain() {
    let ((x, y), (at, _)) = (sample::<f64>(200, 2, 1, 5), sample::<f64>(100, 2, 1, 6));
    let at = Points::from_rows(at.as_ref());
    let chosen: Vec<usize> = (0..20).collect();
    let mut last = vec![1.0; 100];
    for n in [25, 50, 100, 200] {
        let (x, y) = (x.subrows(0, n).to_owned(), y.subrows(0, n).to_owned());
        let v = path(&x, &y, chosen.clone()).posterior_at(MU).unwrap().variance(at).unwrap();
        for (v, last) in v.iter().zip(&mut last) {
            assert!((0.0..=*last + 1e-9).contains(v));
            *last = *v;
        }
    }
    assert!(last.iter().sum::<f64>() < 40.0); // the prior's are 100
}

#[test]
fn responses_leave_one_out() {
    let (x, y) = sample::<f64>(50, 2, 1, 7);
    let chosen = vec![0, 9, 20, 33, 41];
    let points = Points::from_rows(x.as_ref());
    let path = path(&x, &y, chosen.clone());
    let residuals = path.leave_one_out(MU, Problem::new(points, y.as_ref())).unwrap();
    let (f, g) = (path.model_at(MU).unwrap(), path.responses(MU, points).unwrap());
    let z = Mat::from_fn(chosen.len(), 2, |i, j| x[(chosen[i], j)]);
    let krr = NystromKrr::new(gaussian(1.5), MU);
    for i in [0, 9, 17, 49] {
        let rows: Vec<usize> = (0..50).filter(|&row| row != i).collect();
        let kept = Mat::from_fn(49, 2, |r, j| x[(rows[r], j)]);
        let of_kept = Mat::from_fn(49, 1, |r, _| y[(rows[r], 0)]);
        let problem = Problem::new(Points::from_rows(kept.as_ref()), of_kept.as_ref());
        let without = krr.fit(problem, Points::from_rows(z.as_ref())).unwrap();
        for j in 0..chosen.len() {
            let found = f.coefficients()[(j, 0)] - residuals[(i, 0)] * g[(j, i)];
            let expected = without.coefficients()[(j, 0)];
            assert!((found - expected).abs() < 1e-8 * expected.abs().max(1.0));
        }
    }
}

#[test]
fn what_has_no_variance_is_refused() {
    let (x, y) = sample::<f64>(20, 2, 1, 8);
    let points = Points::from_rows(x.as_ref());
    let ridges = lambda_grid(1e-1, 1e-3, 2).unwrap();
    let krr = NystromKrr { intercept: true, ..NystromKrr::without_ridge(gaussian(1.0)) };
    let with = krr.path((points, &y), &Landmarks::new(20, vec![0, 5]).unwrap(), &ridges).unwrap();
    assert!(matches!(
        with.posterior_at(MU),
        Err(Error::InvalidParameter { name: "intercept", .. })
    ));
    let exact = ExactKrr::without_ridge(gaussian(1.0)).path((points, &y), &ridges).unwrap();
    assert!(exact.responses(MU, points).is_err());
    let sized = |rows, mu| {
        let factor = Mat::zeros(rows, 3);
        Posterior::new(gaussian(1.0), Mat::<f64>::zeros(2, 3), factor, vec![0.0; 3], mu)
    };
    assert!(sized(3, 1.0).is_ok() && sized(4, 1.0).is_err() && sized(3, 0.0).is_err());
    let posterior = sized(3, 1.0).unwrap();
    assert!(posterior.variance(Points::from_slice(&[1.0])).is_err()); // one coordinate of two
}
