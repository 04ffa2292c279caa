//! The sums of normal equations, and the triangle that holds them.

#![allow(non_snake_case)]

use faer::Mat;
use nystrom_linalg_core::testing::same_at_any_thread_count;
use nystrom_linalg_core::{Error, GramSums, PackedLower, RowTree, Scalar, random};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn normal<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Mat<T> {
    random::standard_normal(rows, cols, &mut Pcg64::seed_from_u64(seed))
}

fn sums<T: Scalar>(Z: &Mat<T>, Y: &Mat<T>) -> GramSums {
    GramSums::over_rows(Z.nrows(), Z.ncols(), Y.ncols(), |sums, rows| {
        for rows in RowTree::tiles(rows, 1024) {
            let (start, size) = (rows.start, rows.len());
            sums.add(Z.subrows(start, size), Y.subrows(start, size));
        }
        Ok(())
    })
    .unwrap()
}

/// |sums − ZᵀZ| and |sums − ZᵀY| in the largest entry, products of the rounded entries in `f64`.
fn distance<T: Scalar>(n: usize, p: usize, t: usize) -> f64 {
    let (Z, Y) = (normal::<T>(n, p, 1), normal::<T>(n, t, 2));
    let found = sums(&Z, &Y);
    let wide = |a: &Mat<T>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)].f64());
    let (Z, Y) = (wide(&Z), wide(&Y));
    let gram = Z.transpose() * &Z;
    let mut square = found.gram.to_square();
    nystrom_linalg_core::ops::mirror_lower(square.as_mut());
    (square - gram).norm_max().max((found.moments - Z.transpose() * &Y).norm_max())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn they_are_the_products(n in 0..3000usize, p in 0..60usize, t in 0..3usize) {
        // entries are sums of n products of size 1, errors grow at most as n·ε
        prop_assert!(distance::<f64>(n, p, t) <= 1e-14 * n as f64);
        prop_assert!(distance::<f32>(n, p, t) <= 1e-5 * n as f64);
    }
}

#[test]
fn panels_meet() {
    for p in [255, 256, 257, 600] {
        assert!(distance::<f64>(700, p, 2) < 1e-11 && distance::<f32>(700, p, 2) < 1e-2, "p = {p}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let (Z, Y) = (normal::<f64>(5000, 300, 3), normal::<f64>(5000, 2, 4));
    let _ = same_at_any_thread_count(|| sums(&Z, &Y));
}

#[test]
fn parts_add_up() {
    let (Z, Y) = (normal::<f64>(900, 20, 5), normal::<f64>(900, 1, 6));
    let whole = sums(&Z, &Y);
    let mut parts = sums(&Z.subrows(0, 400).to_owned(), &Y.subrows(0, 400).to_owned());
    parts += &sums(&Z.subrows(400, 500).to_owned(), &Y.subrows(400, 500).to_owned());
    assert!((parts.gram.to_square() - whole.gram.to_square()).norm_max() < 1e-11);
    assert!((parts.moments - whole.moments).norm_max() < 1e-11);
}

#[test]
fn the_first_error_of_a_source_ends_the_pass() {
    let mut blocks = 0;
    let failed = GramSums::over_rows(10_000, 2, 1, |_, rows| {
        blocks += 1;
        match rows.start {
            0 => Ok(()),
            _ => Err(Error::Empty { what: "source" }),
        }
    });
    assert_eq!((failed, blocks), (Err(Error::Empty { what: "source" }), 2));
}

#[test]
fn a_triangle_is_that_of_the_square() {
    for order in [0, 1, 256, 300] {
        let entry = |i: usize, j: usize| (1000 * i + j) as f64;
        let packed = PackedLower::from_fn(order, entry);
        let square = Mat::from_fn(order, order, |i, j| if i >= j { entry(i, j) } else { 0.0 });
        assert_eq!(packed.to_square(), square);
        for j in 0..order {
            assert_eq!(packed.col(j), &square.col_as_slice(j)[j..]);
            assert!((j..order).all(|i| packed.get(i, j) == square[(i, j)]));
        }
    }
}
