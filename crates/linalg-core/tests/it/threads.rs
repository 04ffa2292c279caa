//! The same bits with 1, 2, 3, 8 and 64 threads, and no corrupted products.

use faer::{Accum, Mat};
use nystrom_linalg_core::testing::{pool, same_in_pools};
use nystrom_linalg_core::{
    Cholesky, Dense, GramSums, JitterLadder, PackedCholesky, PivotedCholesky, PsdMatrix, Scalar,
    SymmetricEigen, ops, random,
};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::ThreadPool;
use std::sync::LazyLock;

/// For all products, which meet what others left in the workers.
static POOLS: LazyLock<[ThreadPool; 5]> = LazyLock::new(|| [1, 2, 3, 8, 64].map(pool));

fn check<T: Scalar>() {
    // beyond the size from which faer's eigendecomposition is known to depend on its degree; two
    // panels of a Cholesky factor
    let n = 450;
    let g = random::standard_normal::<T>(n, 500, &mut Pcg64::seed_from_u64(1));
    let mut a = Mat::<T>::zeros(n, n);
    ops::gram_lower(a.as_mut(), Accum::Replace, g.transpose(), T::one());
    ops::mirror_lower(a.as_mut());
    ops::add_to_diagonal(a.as_mut(), T::lit(10.0));
    same_in_pools(&*POOLS, || ops::times(g.as_ref(), g.transpose()));
    same_in_pools(&*POOLS, || {
        let mut c = Mat::<T>::zeros(500, 500);
        ops::gram_lower(c.as_mut(), Accum::Replace, g.as_ref(), T::one());
        c
    });
    same_in_pools(&*POOLS, || {
        let factor = Cholesky::new(a.as_ref()).unwrap();
        let mut x = g.clone();
        factor.solve_in_place(x.as_mut());
        (factor.lower().to_owned(), factor.inverse_diagonal(), x)
    });
    same_in_pools(&*POOLS, || {
        let factor = PackedCholesky::from_fill(
            n,
            |mut out, rows, cols| {
                out.copy_from(a.as_ref().submatrix(rows.start, cols.start, rows.len(), cols.len()));
            },
            JitterLadder::none(),
        )
        .unwrap();
        let mut x = g.clone();
        factor.solve_in_place(x.as_mut());
        (factor.inverse_diagonal(), x)
    });
    same_in_pools(&*POOLS, || PivotedCholesky::new(a.as_ref(), 1e-6).unwrap().factor().to_owned());
    same_in_pools(&*POOLS, || {
        let eigen = SymmetricEigen::new(a.as_ref()).unwrap();
        (eigen.values().to_vec(), eigen.vectors().to_owned())
    });
    for (p, t) in [(64, 1), (450, 1), (450, 3), (257, 2), (384, 1)] {
        println!("p = {p}, t = {t}");
        let _ = same_in_pools(&*POOLS, || {
            let mut sums = GramSums::zeros(p, t);
            sums.add(g.transpose().subcols(0, p), g.transpose().subcols(0, t));
            sums.add(g.transpose().subcols(0, p), g.transpose().subcols(1, t));
            sums
        });
    }
    same_in_pools(&*POOLS, || random::standard_normal::<T>(33, 70, &mut Pcg64::seed_from_u64(2)));
    same_in_pools(&*POOLS, || {
        let mut out = Mat::<T>::zeros(n, 3);
        Dense::new(a.as_ref()).unwrap().mul_into(out.as_mut(), g.as_ref().subcols(0, 3));
        out
    });
}

/// Narrow and odd shapes: where faer switches to matrix-vector code, or recursion ends in single
/// columns.
fn check_shapes<T: Scalar>() {
    let g = random::standard_normal::<T>(3000, 300, &mut Pcg64::seed_from_u64(5));
    let lower = Mat::from_fn(300, 300, |i, j| if i == j { T::lit(20.0) } else { g[(i, j)] });
    for m in (1..40).chain([63, 64, 65, 127, 128, 129, 145, 256, 299]) {
        println!("m = {m}"); // shown if it fails
        let (tall, wide) = (g.as_ref().subcols(0, m), g.as_ref().subrows(0, m));
        same_in_pools(&*POOLS, || {
            let mut c = Mat::<T>::zeros(m, m);
            ops::gram_lower(c.as_mut(), Accum::Add, tall, T::one());
            c
        });
        same_in_pools(&*POOLS, || {
            let c = ops::times(g.as_ref(), g.as_ref().submatrix(0, 0, 300, m));
            (c, ops::times(tall.transpose(), g.as_ref()))
        });
        same_in_pools(&*POOLS, || {
            let mut b = wide.transpose().to_owned();
            ops::solve_lower(lower.as_ref(), b.as_mut());
            ops::solve_upper(lower.transpose(), b.as_mut());
            b
        });
        same_in_pools(&*POOLS, || {
            let mut c = Mat::<T>::zeros(m, m);
            ops::gram_lower(c.as_mut(), Accum::Replace, tall, T::one());
            Cholesky::new(c.as_ref()).unwrap().lower().to_owned()
        });
    }
}

#[test]
fn narrow_shapes_do_not_depend_on_threads() {
    check_shapes::<f64>();
    check_shapes::<f32>();
}

#[test]
fn bits_do_not_depend_on_threads_f64() {
    check::<f64>();
}

#[test]
fn bits_do_not_depend_on_threads_f32() {
    check::<f32>();
}

#[test]
fn large_parallel_products_pass_a_probe() {
    // C·v against A·(B·v): catches a corrupted block that symmetry or bit-equality checks would
    // miss.
    let rng = &mut Pcg64::seed_from_u64(3);
    let (a, b) = (
        random::standard_normal::<f64>(700, 900, rng),
        random::standard_normal::<f64>(900, 800, rng),
    );
    let v = random::standard_normal::<f64>(800, 1, rng);
    let c = ops::times(a.as_ref(), b.as_ref());
    let (left, right) = (&c * &v, &a * (&b * &v));
    assert!((&left - &right).norm_l2() < 1e-11 * right.norm_l2());
}
