use super::*;
use crate::ops;
use crate::testing::{rng, same_at_any_thread_count};
use faer::Scale;
use proptest::prelude::*;

/// UΛUᵀ with random orthogonal U.
fn with_values<T: Scalar>(values: &[f64], seed: u64) -> Mat<T> {
    let n = values.len();
    let g = crate::random::standard_normal::<f64>(n, n, &mut rng(seed));
    let U = SymmetricEigen::new((&g + g.transpose()).as_ref()).unwrap();
    let scaled = Mat::from_fn(n, n, |i, j| U.vectors()[(i, j)] * values[j]);
    let a = ops::times(scaled.as_ref(), U.vectors().transpose());
    Mat::from_fn(n, n, |i, j| T::lit(a[(i.max(j), i.min(j))]))
}

/// AV = VΛ, VᵀV = I and the values of [`SymmetricEigen`], up to rounding.
fn check<T: Scalar>(a: &Mat<T>, width: usize, indices: &[usize]) {
    let n = a.nrows();
    let eigen = BandEigen::of_width(a.as_ref(), width).unwrap();
    let known = SymmetricEigen::new(a.as_ref()).unwrap();
    let norm = known.values().iter().map(|v| v.f64().abs()).fold(0.0, f64::max);
    let close = 20.0 * (n as f64 + 10.0).sqrt() * T::EPS;
    for (value, known) in eigen.values().iter().zip(known.values()) {
        assert!((value.f64() - known.f64()).abs() <= close * norm, "{value} {known}");
    }
    assert_eq!(eigen.values().len(), n);
    let V = eigen.vectors(indices, &mut rng(1)).unwrap();
    let gram = V.transpose() * &V;
    let apart = (&gram - Mat::<T>::identity(V.ncols(), V.ncols())).norm_max().f64();
    assert!(apart <= close, "{apart:e} from orthonormal");
    if norm > 0.0 && norm.is_finite() {
        // column norms in f64, because squares of the remaining entries underflow
        let scaled = Mat::from_fn(n, n, |i, j| T::lit(a[(i, j)].f64() / norm));
        for (t, &index) in indices.iter().enumerate() {
            let value = T::lit(eigen.values()[index].f64() / norm);
            let left = (&scaled * V.col(t) - V.col(t) * Scale(value)).norm_l2().f64();
            assert!(left <= 4.0 * close, "vector {index}: {left:e}");
        }
    }
}

fn values_of(kind: usize, n: usize) -> Vec<f64> {
    let at = |i: usize| i as f64;
    match kind {
        0 => (0..n).map(|i| (1.0 + at(i)).recip()).collect(),
        1 => (0..n).map(|i| 10.0_f64.powf(-0.5 * at(i))).collect(), // graded, to 0 and beyond
        2 => (0..n).map(|i| [3.0, 1.0, 1.0, 0.25][i % 4]).collect(), // clusters
        3 => (0..n).map(|i| if i < 3 { 2.0 - 0.5 * at(i) } else { 0.0 }).collect(), // rank 3
        4 => vec![1.0; n],
        5 => (0..n).map(|i| at(i % 5) - 2.0).collect(), // indefinite
        _ => (0..n).map(|i| 1.0 + 1e-13 * at(i % 3) + 1e-6 * at(i % 2)).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn vectors_and_values_fit_the_matrix(
        (kind, n, width, seed) in (0..7_usize, 1..50_usize, 1..10_usize, any::<u64>()),
        every in 1..4_usize,
    ) {
        let values = values_of(kind, n);
        let indices: Vec<usize> = (0..n).rev().step_by(every).collect();
        check::<f64>(&with_values(&values, seed), width, &indices);
        check::<f32>(&with_values(&values, seed), width, &indices);
    }
}

#[test]
fn shapes_and_structures() {
    for n in [1, 2, 3, 5, 33, 34, 40, 65, 70] {
        let all: Vec<usize> = (0..n).collect();
        check::<f64>(&Mat::zeros(n, n), 32, &all);
        check::<f64>(&Mat::identity(n, n), 32, &all);
        check::<f64>(&Mat::from_fn(n, n, |_, _| 1.0), 32, &all);
        let diagonal = Mat::from_fn(n, n, |i, j| if i == j { (i % 7) as f64 } else { 0.0 });
        check::<f64>(&diagonal, 32, &all);
        check::<f32>(&with_values(&values_of(0, n), 2), 32, &all);
    }
    let nothing = BandEigen::of_width(Mat::<f64>::zeros(0, 0).as_ref(), 32).unwrap();
    assert!(nothing.values().is_empty());
    assert_eq!(nothing.vectors(&[], &mut rng(0)).unwrap().shape(), (0, 0));
    assert_eq!(BandEigen::<f64>::new(Mat::identity(3, 3).as_ref()).unwrap().rank(), 3);
}

#[test]
fn any_scale() {
    for scale in [1e-300, 1e-100, 1e-8, 1e8, 1e100, 1e300] {
        let a = with_values::<f64>(&values_of(0, 40), 3);
        check::<f64>(&Mat::from_fn(40, 40, |i, j| scale * a[(i, j)]), 4, &[0, 1, 20, 39]);
    }
    for scale in [1e-36, 1e-8, 1e8, 1e36] {
        let a = with_values::<f64>(&values_of(0, 40), 3);
        check::<f32>(&Mat::from_fn(40, 40, |i, j| (scale * a[(i, j)]) as f32), 4, &[0, 1, 39]);
    }
}

/// For an order at which `new` reduces to a band, with any number of threads.
#[test]
fn the_same_bits_with_any_number_of_threads() {
    let n = BAND_FROM_ORDER + 3;
    let g = crate::random::standard_normal::<f64>(n, 40, &mut rng(4));
    let mut a = Mat::<f64>::identity(n, n);
    ops::gram_lower(a.as_mut(), faer::Accum::Add, g.transpose(), 1.0);
    let one = same_at_any_thread_count(|| {
        let eigen = BandEigen::new(a.as_ref()).unwrap();
        assert!(matches!(eigen.form, Form::Reduced(_)));
        (eigen.values().to_vec(), eigen.vectors(&[0, 30, 39, 50, n - 1], &mut rng(5)).unwrap())
    });
    ops::mirror_lower(a.as_mut());
    let left = &a * one.1.col(1) - one.1.col(1) * Scale(one.0[30]);
    assert!(left.norm_l2() < 1e-13 * one.0[0]);
}

/// Every vector is an eigenvector of the identity, and the computed eigenvectors must have no
/// preferred direction. A squared coordinate of a uniform unit vector in 6 dimensions has mean 1/6
/// and variance 5/288. A mean of 4000 differs by 5 standard errors with probability 6e-7.
#[test]
fn vectors_of_one_eigenvalue_are_uniform() {
    let eigen = BandEigen::of_width(Mat::<f64>::identity(6, 6).as_ref(), 2).unwrap();
    let (draws, rng) = (4000, &mut rng(6));
    let mut squares = [0.0; 6];
    for _ in 0..draws {
        let V = eigen.vectors(&[1, 4], rng).unwrap();
        (0..6).for_each(|i| squares[i] += V[(i, 1)].powi(2));
    }
    let error = (5.0 / 288.0 / f64::from(draws)).sqrt();
    for square in squares {
        assert!((square / f64::from(draws) - 1.0 / 6.0).abs() < 5.0 * error);
    }
}

#[test]
fn bad_input_is_told() {
    let nan = Mat::from_fn(4, 4, |i, j| if (i, j) == (3, 1) { f64::NAN } else { 1.0 });
    let refused = BandEigen::of_width(nan.as_ref(), 2);
    assert!(matches!(refused, Err(Error::NonFinite { row: 3, col: 1, .. })));
    let wide = BandEigen::of_width(Mat::<f64>::zeros(3, 4).as_ref(), 2);
    assert!(matches!(wide, Err(Error::Shape { .. })));
    let a = Mat::<f64>::identity(5, 5);
    assert!(matches!(BandEigen::of_width(a.as_ref(), 0), Err(Error::Empty { .. })));
    let eigen = BandEigen::of_width(a.as_ref(), 2).unwrap();
    let refused = eigen.vectors(&[0, 5], &mut rng(0));
    assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 1, index: 5, .. })));
    let refused = eigen.vectors(&[3, 1, 3], &mut rng(0));
    assert!(matches!(refused, Err(Error::DuplicateIndex { index: 3, first: 0, second: 2, .. })));
}
