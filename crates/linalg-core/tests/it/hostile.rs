//! Inputs from the ends of the numbers: whatever is asked returns soon, and finite input gives
//! numbers or a typed error.

use crate::solve::System;
use faer::{ColMut, Mat, MatMut, MatRef};
use nystrom_linalg_core::testing::soon;
use nystrom_linalg_core::{
    BandEigen, Cholesky, ConjugateGradients, Dense, Error, Indices, JitterLadder, PackedCholesky,
    PivotedCholesky, PsdMatrix, Ridge, Scalar, SymmetricEigen, random, symmetric_product, validate,
};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Positive numbers from the smallest to the largest.
const ENDS: [f64; 16] = [
    5e-324,
    1e-310,
    1e-300,
    1e-200,
    1e-100,
    1e-45,
    1e-40,
    1e-10,
    0.3,
    1.0,
    1e10,
    1e38,
    1e100,
    1e200,
    1e300,
    f64::MAX,
];

fn all_finite<T: Scalar>(what: &str, numbers: impl IntoIterator<Item = T>) {
    for x in numbers {
        assert!(x.f64().is_finite(), "{what}: {x}");
    }
}

fn entries<T: Scalar>(a: MatRef<'_, T>) -> Vec<T> {
    (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| a[(i, j)])).collect()
}

/// Positive semi-definite matrices of entries near `c`: of full rank, of rank 1, of rank 2, graded,
/// and zero.
fn matrices<T: Scalar>(c: f64) -> Vec<(String, Mat<T>)> {
    let mut all = Vec::new();
    for n in [0, 1, 2, 5] {
        let of = |f: &dyn Fn(usize, usize) -> f64| Mat::from_fn(n, n, |i, j| T::lit(f(i, j)));
        let graded = |i: usize, j: usize| match (i == j, i % 2) {
            (true, 0) => c,
            (true, _) => c.recip().min(f64::MAX),
            _ => 0.0,
        };
        for (name, a) in [
            ("diagonal", of(&|i, j| if i == j { c } else { 0.0 })),
            ("ones", of(&|_, _| c)),
            ("pairs", of(&|i, j| if i % 2 == j % 2 { c } else { 0.0 })),
            ("kernel", of(&|i, j| c * (-0.5 * (i as f64 - j as f64).powi(2)).exp())),
            ("graded", of(&graded)),
            ("zero", of(&|_, _| 0.0)),
        ] {
            if entries(a.as_ref()).iter().all(|x| x.f64().is_finite()) {
                all.push((format!("{name}, n = {n}, {c:e}, {}", T::NAME), a));
            }
        }
    }
    all
}

fn factorisations<T: Scalar>() {
    for (what, a) in ENDS.into_iter().flat_map(matrices::<T>) {
        let n = a.nrows();
        let b = Mat::from_fn(n, 2, |i, j| T::lit(1.0 + (i + j) as f64));
        for ladder in [None, Some(JitterLadder::default()), Some(JitterLadder::shifted())] {
            let factor = match ladder {
                None => Cholesky::new(a.as_ref()),
                Some(ladder) => Cholesky::with_jitter(a.as_ref(), ladder),
            };
            let Ok(factor) = factor else { continue };
            all_finite(&what, entries(factor.lower()));
            assert!(factor.jitter().is_finite() && factor.log_det().is_finite(), "{what}");
            let mut x = b.clone();
            factor.solve_in_place(x.as_mut());
            factor.inverse_diagonal();
        }
        let packed = PackedCholesky::from_fill(
            n,
            |mut out: MatMut<'_, T>, rows, cols| {
                out.copy_from(a.as_ref().submatrix(rows.start, cols.start, rows.len(), cols.len()));
            },
            JitterLadder::none(),
        );
        assert_eq!(packed.is_ok(), Cholesky::new(a.as_ref()).is_ok(), "{what}");
        for tolerance in [0.0, 1e-300, 1e-10, 0.5, 1.0, 1e300] {
            let factor = PivotedCholesky::new(a.as_ref(), tolerance).unwrap();
            all_finite(&what, entries(factor.factor()));
            assert!(factor.rank() <= n, "{what}");
        }
        if n > 0 {
            let dense = Dense::new(a.as_ref()).unwrap();
            symmetric_product(&dense, Mat::zeros(n, 1).as_mut(), Mat::zeros(n, 1).as_ref());
        }
    }
}

#[test]
fn factors_of_matrices_in_any_unit() {
    soon("factorisations", || {
        factorisations::<f64>();
        factorisations::<f32>();
    });
}

/// λ_max of the kernel matrix is that of the same matrix in units of 1.
#[test]
fn eigenvalues_in_any_unit() {
    fn check<T: Scalar>() {
        for (what, a) in ENDS.into_iter().flat_map(matrices::<T>) {
            let eigen =
                SymmetricEigen::new(a.as_ref()).unwrap_or_else(|error| panic!("{what}: {error}"));
            let trace: f64 = (0..a.nrows()).map(|i| a[(i, i)].f64()).sum();
            if trace < T::max_value().f64() {
                all_finite(&what, eigen.values().to_vec());
                all_finite(&what, entries(eigen.vectors()));
            }
            let band = BandEigen::of_width(a.as_ref(), 2).unwrap();
            let all: Vec<usize> = (0..a.nrows()).collect();
            all_finite(
                &what,
                entries(band.vectors(&all, &mut Pcg64::seed_from_u64(1)).unwrap().as_ref()),
            );
            if trace < T::max_value().f64() {
                all_finite(&what, band.values().to_vec());
            }
        }
        for c in ENDS {
            let limits = T::min_positive_value().f64() / T::EPS..T::max_value().f64() / 8.0;
            if !limits.contains(&c) {
                continue;
            }
            let at = |c: f64| {
                matrices::<T>(c).into_iter().filter(|(what, _)| what.starts_with("kernel"))
            };
            for ((what, a), (_, one)) in at(c).zip(at(1.0)) {
                let (values, ones) = (
                    SymmetricEigen::new(a.as_ref()).unwrap(),
                    SymmetricEigen::new(one.as_ref()).unwrap(),
                );
                for (value, one) in values.values().iter().zip(ones.values()) {
                    let ratio = value.f64() / c / one.f64();
                    assert!((ratio - 1.0).abs() < 200.0 * T::EPS, "{what}: {ratio}");
                }
                assert_eq!(values.rank(), a.nrows(), "{what}");
            }
        }
    }
    soon("eigenvalues", || {
        check::<f64>();
        check::<f32>();
    });
}

#[test]
fn a_tolerance_below_zero_is_an_error_and_not_a_loop() {
    soon("pivoted Cholesky", || {
        let a = Mat::<f64>::identity(3, 3);
        for bad in [-1e-300, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = PivotedCholesky::new(a.as_ref(), bad).unwrap_err();
            assert!(
                matches!(error, Error::InvalidParameter { name: "relative tolerance", .. }),
                "{error}"
            );
        }
    });
}

#[test]
fn a_ladder_without_end_ends() {
    soon("ladders", || {
        let indefinite = Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 3.0 });
        for growth in [0.0, 1.0, 2.0, 1e300, f64::NAN, f64::INFINITY] {
            for first in [0.0, 1e-300, f64::NAN, 1e-3] {
                let ladder = JitterLadder { first, growth, steps: usize::MAX, start_at_zero: true };
                if let Ok(factor) = Cholesky::with_jitter(indefinite.as_ref(), ladder) {
                    assert!(factor.jitter() > 2.0 && factor.jitter().is_finite());
                }
            }
        }
    });
}

#[test]
fn a_trace_that_overflows_is_shifted_all_the_same() {
    let a = Mat::from_fn(3, 3, |i, j| if i == j { 1e308 } else { 0.0 });
    let factor = Cholesky::with_jitter(a.as_ref(), JitterLadder::shifted()).unwrap();
    assert!((factor.jitter() / (10.0 * f64::EPSILON * 3.0 * 1e308) - 1.0).abs() < 1e-12);
}

/// Right-hand sides whose squares vanish or overflow are not taken for zero: what is reported is
/// the truth.
#[test]
fn conjugate_gradients_report_the_truth_in_any_unit() {
    soon("conjugate gradients", || {
        for c in ENDS {
            for scale in ENDS {
                let a = Mat::from_fn(3, 3, |i, j| scale * if i == j { 0.25 } else { 0.05 });
                let b = Mat::from_fn(3, 1, |i, _| c * (0.5 + 0.1 * i as f64));
                let mut system = System { A: a.clone(), E: None, scale: 1.0 };
                let mut solve = ConjugateGradients::start(&mut system, b.as_ref(), None).unwrap();
                solve.run(&mut system, b.as_ref(), 1e-8, 100, &mut |_| None).unwrap();
                let x = solve.x();
                let residual = &b - &a * x;
                if solve.residual() <= 1e-8 {
                    let gap = residual.norm_max();
                    assert!(gap <= 1e-7 * b.norm_max(), "A of {scale:e}, b of {c:e}: {gap:e}");
                    all_finite(&format!("A of {scale:e}, b of {c:e}"), entries(x));
                }
            }
        }
    });
}

#[test]
fn draws_from_weights_of_any_size() {
    soon("draws", || {
        let rng = &mut Pcg64::seed_from_u64(1);
        for c in ENDS {
            for weights in [vec![c], vec![c, 0.0, c], vec![c, 1.0, c.recip()], vec![c; 9]] {
                let checked = validate::weights("weights", &weights);
                assert_eq!(random::with_replacement(&weights, 5, rng).is_ok(), checked.is_ok());
                assert_eq!(random::without_replacement(&weights, 1, rng).is_ok(), checked.is_ok());
                if let Some(drawn) = random::categorical(&weights, rng) {
                    assert!(weights[drawn] > 0.0);
                }
            }
            for end in ENDS {
                for steps in [1, 2, 7, 1000] {
                    let Ok(path) = random::geometric_path(c, end, steps) else { continue };
                    assert!(
                        path.iter().all(|&x| x > 0.0 && x.is_finite()),
                        "{c:e} to {end:e} in {steps}"
                    );
                    assert!(path.windows(2).all(|w| w[0] >= w[1]), "{c:e} to {end:e} in {steps}");
                }
            }
            for n in [0, 1, 2, usize::MAX] {
                for ridge in [Ridge::Absolute(c), Ridge::PerSample(c)] {
                    for value in [ridge.absolute(n), ridge.per_sample(n)].into_iter().flatten() {
                        assert!(value > 0.0 && value.is_finite(), "{ridge:?}, n = {n}");
                    }
                }
            }
        }
        assert!(!random::coin(f64::NAN, rng) && random::coin(f64::INFINITY, rng));
        assert_eq!(random::categorical(&[f64::INFINITY, 1.0], rng), None);
        for n in [0, 1, 2] {
            assert_eq!(random::standard_normal::<f64>(n, n, rng).shape(), (n, n));
            assert_eq!(random::uniform_subset(n, n, rng).is_ok(), n > 0);
        }
    });
}

/// Zeros with a sign are zeros, and the message counts them instead of naming an entry behind the
/// last.
#[test]
fn weights_that_are_all_zero_are_named_rightly() {
    let message = |weights: &[f64]| {
        validate::weights("diagonal of the matrix", weights).unwrap_err().to_string()
    };
    let text = message(&[-0.0; 300]);
    assert!(text.contains("all 300 entries are 0") && !text.contains("entry 300"), "{text}");
    assert!(message(&[1.0, -2.0]).contains("entry 1 is -2"));
    let text = message(&[1e308, 1.5e308, 1e308]); // the sum overflows
    assert!(text.contains("entry 1 is 15") && !text.contains("entry 3"), "{text}");
}

/// What an implementation overrides is what a reference to it does.
#[test]
fn a_reference_is_the_matrix_it_refers_to() {
    struct Own;
    impl PsdMatrix<f64> for Own {
        fn dim(&self) -> usize {
            2
        }
        fn diag_into(&self, mut out: ColMut<'_, f64>, _: Indices<'_>) {
            out.fill(1.0);
        }
        fn block_into(&self, mut out: MatMut<'_, f64>, _: Indices<'_>, _: Indices<'_>) {
            out.fill(1.0);
        }
        fn diag(&self) -> Vec<f64> {
            vec![2.0; 2]
        }
        fn block(&self, rows: Indices<'_>, cols: Indices<'_>) -> Mat<f64> {
            Mat::from_fn(rows.len(), cols.len(), |_, _| 3.0)
        }
        fn columns(&self, cols: Indices<'_>) -> Mat<f64> {
            Mat::from_fn(2, cols.len(), |_, _| 4.0)
        }
        fn trace(&self) -> f64 {
            5.0
        }
        fn mul_into(&self, mut out: MatMut<'_, f64>, _: MatRef<'_, f64>) {
            out.fill(6.0);
        }
    }
    fn told<A: PsdMatrix<f64>>(a: A) -> (Vec<f64>, f64, f64, f64, f64) {
        let mut product = Mat::zeros(2, 1);
        a.mul_into(product.as_mut(), Mat::zeros(2, 1).as_ref());
        let (block, columns) = (a.block((0..1).into(), (0..1).into()), a.columns((0..1).into()));
        (a.diag(), block[(0, 0)], columns[(1, 0)], a.trace(), product[(0, 0)])
    }
    assert_eq!(told(&Own), (vec![2.0; 2], 3.0, 4.0, 5.0, 6.0));
    assert_eq!(told(&Own), told(Own));
}
