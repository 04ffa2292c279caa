//! Gradients of models: against differences of predictions, and the averages made of them.

use crate::common::{same_at_any_thread_count, sample};
use faer::{Mat, MatRef};
use nystrom_kernels::*;
use nystrom_krr::{KrrModel, NystromKrr};
use nystrom_linalg_core::{Error, Ridge, Scalar};

fn fitted<T: Scalar, K: Kernel<T> + Clone>(
    kernel: K,
    x: &Mat<T>,
    y: &Mat<T>,
    m: usize,
) -> KrrModel<K, T> {
    let ridge = Ridge::PerSample(T::lit(1e-4));
    let krr = NystromKrr { intercept: true, ..NystromKrr::new(kernel, ridge) };
    let x = Points::from_rows(x.as_ref());
    krr.fit((x, y), x.slice(0..m)).unwrap()
}

fn rows<T: Scalar>(x: MatRef<'_, T>) -> Points<'_, T> {
    Points::from_rows(x)
}

#[test]
fn gradients_are_differences_of_predictions() {
    let (n, d, t, step) = (700, 3, 2, 1e-4);
    let (x, y) = sample::<f64>(n, d, t, 1);
    let model = fitted(Matern52::new(1.5).unwrap(), &x, &y, 40);
    let at = Mat::from_fn(600, d, |i, k| x[(i + 100, k)]); // several tiles, none a centre
    let gradient = model.gradient(rows(at.as_ref())).unwrap();
    assert_eq!(gradient.shape(), (600, d * t));
    for k in 0..d {
        let moved = |by: f64| {
            let at = Mat::from_fn(600, d, |i, c| at[(i, c)] + if c == k { by } else { 0.0 });
            model.predict(rows(at.as_ref())).unwrap()
        };
        let (up, down) = (moved(step), moved(-step));
        for j in 0..t {
            for i in 0..600 {
                let expected = (up[(i, j)] - down[(i, j)]) / (2.0 * step);
                let found = gradient[(i, k + d * j)];
                assert!((found - expected).abs() < 1e-6, "({i}, {k}, {j}): {found}, {expected}");
            }
        }
    }
}

#[test]
fn a_centre_has_no_slope_of_its_own() {
    let x = faer::mat![[0.5, 1.0]];
    let model = fitted(Matern12::new(1.0).unwrap(), &x, &faer::mat![[2.0]], 1);
    assert_eq!(model.gradient(rows(x.as_ref())).unwrap(), Mat::<f64>::zeros(1, 2));
}

#[test]
fn averages_are_those_of_the_gradients() {
    let (n, d, t) = (3000, 2, 2);
    let (x, y) = sample::<f64>(n, d, t, 2);
    // a large slope in common, so that its digits would be lost in a difference of squares
    let y = Mat::from_fn(n, t, |i, j| y[(i, j)] + if j == 1 { 1e6 * x[(i, 0)] } else { 0.0 });
    let kernel = Sum::new(Gaussian::new(1.0).unwrap(), Linear::new());
    let model = fitted(kernel, &x, &y, 30);
    let gradient = model.gradient(rows(x.as_ref())).unwrap();
    let effects = model.marginal_effects(rows(x.as_ref())).unwrap();
    let agop = model.gradient_outer_product(rows(x.as_ref())).unwrap();
    for j in 0..t {
        for k in 0..d {
            let column = gradient.col(k + d * j);
            let mean = column.iter().sum::<f64>() / n as f64;
            let squares: f64 = column.iter().map(|g| (g - mean).powi(2)).sum();
            let error = (squares / (n - 1) as f64 / n as f64).sqrt();
            assert!((effects.mean[(k, j)] - mean).abs() <= 1e-12 * mean.abs().max(1.0));
            assert!((effects.standard_error[(k, j)] / error - 1.0).abs() < 1e-9);
        }
    }
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let product = |i: usize| -> f64 {
            (0..t).map(|j| gradient[(i, a + d * j)] * gradient[(i, b + d * j)]).sum()
        };
        let expected = (0..n).map(product).sum::<f64>() / n as f64;
        assert!((agop[(a, b)] - expected).abs() <= 1e-12 * agop.norm_max());
        assert_eq!(agop[(a, b)], agop[(b, a)]);
    }
}

#[test]
fn single_precision_agrees() {
    let (x, y) = sample::<f64>(400, 3, 1, 3);
    let narrow = |a: &Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] as f32);
    let kernel = Matern32::new(2.0).unwrap();
    let (wide, single) = (fitted(kernel, &x, &y, 30), fitted(kernel, &narrow(&x), &narrow(&y), 30));
    let at = narrow(&x);
    let effects = wide.marginal_effects(rows(x.as_ref())).unwrap();
    let narrow = single.marginal_effects(rows(at.as_ref())).unwrap();
    assert!((&effects.mean - &narrow.mean).norm_max() < 1e-3);
}

#[test]
fn the_same_bits_with_one_two_and_eight_threads() {
    let (x, y) = sample::<f64>(2500, 3, 2, 4);
    let model = fitted(Matern12::new(2.0).unwrap(), &x, &y, 50);
    let _ = same_at_any_thread_count(|| {
        let x = rows(x.as_ref());
        (
            model.gradient(x).unwrap(),
            model.marginal_effects(x).unwrap(),
            model.gradient_outer_product(x).unwrap(),
        )
    });
}

#[test]
fn bad_points_are_refused() {
    let (x, y) = sample::<f64>(50, 2, 1, 5);
    let model = fitted(Gaussian::new(1.0).unwrap(), &x, &y, 10);
    let refused = |x: MatRef<'_, f64>| {
        let errors = [
            model.gradient(rows(x)).unwrap_err(),
            model.marginal_effects(rows(x)).unwrap_err(),
            model.gradient_outer_product(rows(x)).unwrap_err(),
        ];
        assert!(errors[0] == errors[1] && errors[1] == errors[2], "{errors:?}");
        errors[0].clone()
    };
    assert!(matches!(refused(Mat::zeros(3, 5).as_ref()), Error::Shape { .. }));
    assert!(matches!(refused(Mat::zeros(0, 2).as_ref()), Error::Empty { .. }));
    let infinite = faer::mat![[0.0, 1.0], [f64::INFINITY, 0.0]];
    assert!(matches!(refused(infinite.as_ref()), Error::NonFinite { row: 1, col: 0, .. }));
    let single = model.marginal_effects(rows(x.as_ref().subrows(0, 1)));
    assert!(matches!(single, Err(Error::InvalidParameter { .. })));
}
