//! The product that evaluates one triangle.

use faer::{Mat, MatRef};
use nystrom_linalg_core::testing::same_at_any_thread_count;
use nystrom_linalg_core::{
    Counted, Dense, KeptTriangle, Scalar, SymmetricEigen, random, symmetric_product,
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn symmetric<T: Scalar>(n: usize) -> Mat<T> {
    Mat::from_fn(n, n, |i, j| {
        T::lit((i.max(j) as f64 * 0.37).sin() + (i.min(j) as f64 * 0.11).cos())
    })
}

fn vectors(n: usize, t: usize) -> Mat<f64> {
    random::standard_normal(n, t, &mut Pcg64::seed_from_u64(n as u64))
}

fn product<T: Scalar>(a: MatRef<'_, T>, x: &Mat<f64>) -> Mat<f64> {
    // what was there before does not matter
    let mut out = Mat::from_fn(x.nrows(), x.ncols(), |_, _| f64::NAN);
    symmetric_product(&Dense::new(a).unwrap(), out.as_mut(), x.as_ref());
    out
}

#[test]
fn it_is_the_product() {
    // few vectors go through registers, many through matrix products
    for (n, t) in [1, 2, 255, 256, 257, 600, 1024, 1300].into_iter().flat_map(|n| [(n, 3), (n, 7)])
    {
        let (a, x) = (symmetric::<f64>(n), vectors(n, t));
        assert!((product(a.as_ref(), &x) - &a * &x).norm_max() < 1e-12 * n as f64, "n = {n}");
        // single precision: the entries are rounded, their products and sums are not
        let narrow = symmetric::<f32>(n);
        let wide = Mat::from_fn(n, n, |i, j| narrow[(i, j)] as f64);
        assert!(
            (product(narrow.as_ref(), &x) - &wide * &x).norm_max() < 1e-12 * n as f64,
            "n = {n}"
        );
    }
}

#[test]
fn every_pair_is_evaluated_once() {
    let n = 1300; // six blocks, the last of 20
    let a = symmetric::<f64>(n);
    let counted = Counted::new(Dense::new(a.as_ref()).unwrap());
    let (x, mut out) = (vectors(n, 1), Mat::zeros(n, 1));
    symmetric_product(&counted, out.as_mut(), x.as_ref());
    let squares = 5 * 256 * 256 + 20 * 20;
    assert_eq!(counted.entries(), ((n * n - squares) / 2 + squares) as u64);
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    for t in [1, 4] {
        let (a, x) = (symmetric::<f64>(1300), vectors(1300, t));
        let dense = Dense::new(a.as_ref()).unwrap();
        same_at_any_thread_count(|| {
            let kept = KeptTriangle::new(&dense, KeptTriangle::<f64>::bytes(1300) / 2);
            let mut by_kept = Mat::zeros(1300, t);
            kept.mul_into(by_kept.as_mut(), x.as_ref());
            (product(a.as_ref(), &x), by_kept, kept.error())
        });
    }
}

/// What is kept of entries in `f64` is their rounding to `f32`, whose norm is within the bound.
/// What is kept of `f32` is what is evaluated, to the bit.
#[test]
fn a_kept_triangle_is_near_and_its_error_is_known() {
    for n in [1, 255, 257, 600, 1300] {
        let (a, x) = (symmetric::<f64>(n), vectors(n, 2));
        let rounded = Mat::from_fn(n, n, |i, j| a[(i, j)] as f32 as f64);
        let counted = Counted::new(Dense::new(a.as_ref()).unwrap());
        let whole = KeptTriangle::<f64>::bytes(n);
        let mut out = Mat::zeros(n, 2);
        // all of it, about half, nothing
        for budget in [whole, whole / 2, 3] {
            counted.reset();
            let mut kept = KeptTriangle::new(&counted, budget);
            assert_eq!(kept.kept_bytes(), KeptTriangle::<f64>::bytes_within(n, budget));
            assert!(kept.kept_bytes() <= budget && 4 * counted.entries() == kept.kept_bytes());
            kept.mul_into(out.as_mut(), x.as_ref());
            assert_eq!(4 * counted.entries(), whole); // the rest, and no entry twice
            let expected = if budget == whole { &rounded } else { &a };
            let size = expected.norm_l2() * x.norm_l2();
            let distance = (&out - expected * &x).norm_l2();
            let allowed = if budget == whole { 1e-15 * size } else { 0.0 };
            assert!(
                distance <= allowed + kept.error() * x.norm_l2() + 1e-15 * size,
                "{n} {budget}"
            );
            if budget == whole {
                let error = (&rounded - &a).norm_l2();
                assert!((kept.error() - error).abs() <= 1e-10 * error);
                assert!(distance <= 1e-15 * size * n as f64);
            }
            kept.exact_mul_into(out.as_mut(), x.as_ref());
            assert!((&out - &a * &x).norm_l2() <= 1e-15 * size * n as f64);
            // without rounding it is the matrix itself, in twice the bytes
            counted.reset();
            kept.keep_exactly(2 * budget);
            assert_eq!(kept.kept_bytes(), 2 * KeptTriangle::<f64>::bytes_within(n, budget));
            assert_eq!((8 * counted.entries(), kept.error()), (kept.kept_bytes(), 0.0));
            let mut same = Mat::zeros(n, 2);
            kept.mul_into(same.as_mut(), x.as_ref());
            assert!(same == out && 4 * counted.entries() == whole);
            assert!(kept.kept_rows() == n || budget < whole);
            kept.keep_exactly(0);
            assert_eq!((kept.kept_bytes(), kept.error()), (0, 0.0));
        }
        let narrow = symmetric::<f32>(n);
        let narrow = Dense::new(narrow.as_ref()).unwrap();
        let kept = KeptTriangle::new(&narrow, u64::MAX);
        let mut again = Mat::zeros(n, 2);
        kept.mul_into(out.as_mut(), x.as_ref());
        symmetric_product(&narrow, again.as_mut(), x.as_ref());
        assert!(out == again && kept.error() == 0.0);
    }
}

/// ‖E‖_F is too much at half of it: then the bound by blocks holds, and is above ‖E‖₂. What no
/// bound allows is seen early.
#[test]
fn rounding_is_kept_within_a_bound_or_not_at_all() {
    let (n, mut rng) = (1300, Pcg64::seed_from_u64(7));
    let g: Mat<f64> = random::standard_normal(n, n, &mut rng);
    let a = &g + g.transpose();
    let counted = Counted::new(Dense::new(a.as_ref()).unwrap());
    let whole = KeptTriangle::<f64>::bytes(n);
    let frobenius = KeptTriangle::new(&counted, whole).error();
    assert_eq!(KeptTriangle::within(&counted, whole, 2.0 * frobenius).error(), frobenius);
    let kept = KeptTriangle::within(&counted, whole, 0.5 * frobenius);
    let lost = Mat::from_fn(n, n, |i, j| a[(i, j)] - a[(i, j)] as f32 as f64);
    let values = SymmetricEigen::new(lost.as_ref()).unwrap();
    let norm = values.values().iter().fold(0.0, |norm: f64, value| norm.max(value.abs()));
    assert!(norm <= kept.error() && kept.error() <= 0.5 * frobenius, "{norm} {}", kept.error());
    assert_eq!(kept.kept_bytes(), whole);
    counted.reset();
    let nothing = KeptTriangle::within(&counted, whole, 0.01 * frobenius);
    assert_eq!((nothing.kept_bytes(), nothing.error()), (0, f64::INFINITY));
    // the diagonal of six blocks for each bound: not quite a third of the triangle
    assert!(4 * counted.entries() <= 2 * whole / 3);
}

#[test]
fn entries_beyond_single_precision_are_not_within_any_bound() {
    let a = faer::mat![[1e300, 0.0], [0.0, 1.0]];
    let a = Dense::new(a.as_ref()).unwrap();
    assert!(!(KeptTriangle::new(&a, u64::MAX).error() <= 1e308));
}
