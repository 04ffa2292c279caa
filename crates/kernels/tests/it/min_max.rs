//! The min–max kernel of counts.

use faer::{Mat, mat};
use nystrom_kernels::reference::Reference;
use nystrom_kernels::testing::check_kernel;
use nystrom_kernels::{Bits, Kernel, KernelMatrix, MinMax, Points, Tanimoto};
use nystrom_linalg_core::{Error, Scalar, testing};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// n points of d counts, most of them 0; every fifth point is 0.
fn counts<T: Scalar>(n: usize, d: usize, rng: &mut dyn Rng) -> Mat<T> {
    Mat::from_fn(n, d, |i, _| {
        let count = rng.random_range(0..40_u32);
        T::of(if i % 5 == 4 || count > 12 { 0 } else { count as usize })
    })
}

/// Of whole numbers the value is the quotient of the two sums, correctly rounded.
#[test]
fn values_are_those_of_the_sums() {
    fn check<T: Scalar>(n: usize, d: usize) {
        let x = counts::<T>(n, d, &mut testing::rng(d as u64));
        let wide = |i: usize| -> Vec<f64> { (0..d).map(|k| x[(i, k)].f64()).collect() };
        let expected =
            Mat::from_fn(n, n, |i, j| T::lit(Reference::value(&MinMax, &wide(i), &wide(j))));
        let points = Points::from_rows(x.as_ref());
        assert_eq!(MinMax.gram(points), expected);
        assert_eq!(MinMax.eval(points, points), expected);
        check_kernel(&MinMax, points);
    }
    for (n, d) in [(1, 1), (30, 1), (200, 7), (40, 300)] {
        check::<f64>(n, d);
        check::<f32>(n, d);
    }
}

#[test]
fn the_contract_for_numbers_that_are_no_counts() {
    let rng = &mut testing::rng(2);
    let x = Mat::from_fn(60, 30, |i, _| if i % 9 == 8 { 0.0 } else { rng.random::<f64>().powi(4) });
    check_kernel(&MinMax, Points::from_rows(x.as_ref()));
    for unit in [1e-300, 1e300] {
        let x = Mat::from_fn(60, 30, |i, k| unit * x[(i, k)]);
        check_kernel(&MinMax, Points::from_rows(x.as_ref()));
    }
    let x = Mat::from_fn(60, 30, |i, k| x[(i, k)] as f32);
    check_kernel(&MinMax, Points::from_rows(x.as_ref()));
}

#[test]
fn of_zeros_and_ones_it_is_tanimoto() {
    let rng = &mut testing::rng(3);
    let x = Mat::from_fn(50, 130, |_, _| f64::from(rng.random_range(0..4_u32) / 3));
    let ones = |i: usize| (0..130).filter(|&k| x[(i, k)] == 1.0).collect::<Vec<usize>>();
    let bits = Bits::<f64>::from_positions((0..50).map(ones), 130).unwrap();
    let k = MinMax.gram(Points::from_rows(x.as_ref()));
    assert_eq!(k, Tanimoto.gram(bits.points()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]
    #[test]
    fn min_max_is_positive_semi_definite(seed in 0_u64..1 << 40, n in 1_usize..60,
        d in 1_usize..40) {
        let x = counts::<f64>(n, d, &mut testing::rng(seed));
        let k = MinMax.gram(Points::from_rows(x.as_ref()));
        let smallest = testing::smallest_eigenvalue(k.as_ref());
        // the eigenvalues are computed to some ε·‖K‖, and ‖K‖ ≤ n
        prop_assert!(smallest >= -16.0 * f64::EPSILON * n as f64, "{smallest:e}");
    }
}

#[test]
fn negative_and_huge_numbers_are_refused() {
    let refused = |x: Mat<f64>| {
        KernelMatrix::new(MinMax, Points::from_rows(x.as_ref())).map(|_| ()).unwrap_err()
    };
    let error = refused(mat![[0.0, 1.0], [2.0, -0.5]]);
    assert!(matches!(error, Error::Coordinate { row: 1, col: 1, value: -0.5, .. }), "{error}");
    assert!(matches!(refused(mat![[f64::NAN]]), Error::NonFinite { .. }));
    let error = refused(mat![[f64::MAX / 4.0, f64::MAX / 4.0]]);
    assert!(matches!(error, Error::InvalidParameter { .. }), "{error}");
    let quarter = mat![[2.0_f64.powi(1021)], [2.0_f64.powi(1020)], [0.0], [-0.0]];
    let quarter = Points::from_rows(quarter.as_ref());
    MinMax.check_points(quarter).unwrap();
    assert_eq!(MinMax.gram(quarter)[(0, 1)], 0.5);
    assert_eq!((MinMax.gram(quarter)[(0, 2)], MinMax.gram(quarter)[(2, 3)]), (0.0, 1.0));
}
