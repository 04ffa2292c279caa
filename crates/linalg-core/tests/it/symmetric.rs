//! The product that evaluates one triangle.

use faer::{Mat, MatRef};
use nystrom_linalg_core::{Counted, Dense, Scalar, random, symmetric_product};
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
    for n in [1, 2, 255, 256, 257, 600, 1024, 1300] {
        let (a, x) = (symmetric::<f64>(n), vectors(n, 3));
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
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| product(a.as_ref(), &x))
        };
        let one = run(1);
        assert!(one == run(2) && one == run(8));
    }
}
