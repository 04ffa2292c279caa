//! Factorisations against identities, closed forms and deliberate breakdowns.

#![allow(non_snake_case)]

use faer::{Mat, MatRef};
use nystrom_linalg_core::{
    Cholesky, Dense, Error, JitterLadder, PackedCholesky, PivotedCholesky, Scalar, ShiftedLowRank,
    SymmetricEigen, ops, random,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// GGᵀ for a Gaussian G of n × r: psd of rank r.
pub fn psd<T: Scalar>(n: usize, r: usize, seed: u64) -> Mat<T> {
    let g = random::standard_normal::<T>(n, r, &mut Pcg64::seed_from_u64(seed));
    let mut a = Mat::zeros(n, n);
    ops::gram_lower(a.as_mut(), faer::Accum::Replace, g.transpose(), T::one());
    ops::mirror_lower(a.as_mut());
    a
}

/// The Hilbert matrix: condition number about e^{3.5 n}.
fn hilbert(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| 1.0 / (i + j + 1) as f64)
}

pub fn distance<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    (a - b).norm_l2().f64()
}

/// Cholesky as in the textbook, entry by entry: L, or the pivot that is not positive.
fn textbook(a: MatRef<'_, f64>) -> Result<Mat<f64>, usize> {
    let n = a.nrows();
    let mut L = Mat::<f64>::zeros(n, n);
    for j in 0..n {
        for i in j..n {
            let s = a[(i, j)] - (0..j).map(|k| L[(i, k)] * L[(j, k)]).sum::<f64>();
            if i > j {
                L[(i, j)] = s / L[(j, j)];
            } else if s > 0.0 {
                L[(j, j)] = s.sqrt();
            } else {
                return Err(j);
            }
        }
    }
    Ok(L)
}

/// One, two and three panels; the same factor, and the same pivot named where there is none.
#[test]
fn cholesky_by_panels_is_that_of_the_textbook() {
    for n in [255, 256, 257, 600] {
        let mut a = psd::<f64>(n, n + 20, 1);
        ops::add_to_diagonal(a.as_mut(), 10.0);
        let (ours, plain) = (Cholesky::new(a.as_ref()).unwrap(), textbook(a.as_ref()).unwrap());
        assert!(distance(ours.lower(), plain.as_ref()) < 1e-13 * n as f64 * plain.norm_l2());
        let mut inverse = Mat::<f64>::identity(n, n);
        ours.solve_in_place(inverse.as_mut());
        for (i, d) in ours.inverse_diagonal().into_iter().enumerate() {
            assert!((d - inverse[(i, i)]).abs() <= 1e-11 * d);
        }
        for bad in [0, 100, 254, 255, 256, 511, 512, 599].into_iter().filter(|&p| p < n) {
            let mut spoiled = a.clone();
            spoiled[(bad, bad)] = -1.0;
            assert_eq!(textbook(spoiled.as_ref()).unwrap_err(), bad);
            let error = Cholesky::new(spoiled.as_ref()).unwrap_err();
            assert!(
                matches!(error, Error::NotPositiveDefinite { pivot, .. } if pivot == bad),
                "{error} instead of {bad}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn cholesky_reconstructs_solves_and_inverts(n in 1_usize..90, seed in 0_u64..1000) {
        let mut a = psd::<f64>(n, n + 5, seed);
        ops::add_to_diagonal(a.as_mut(), 1.0);
        let factor = Cholesky::new(a.as_ref()).unwrap();
        let scale = a.norm_l2();
        prop_assert_eq!(factor.jitter(), 0.0);
        prop_assert!(distance((factor.lower() * factor.lower().transpose()).as_ref(),
            a.as_ref()) < 1e-13 * scale);
        let mut inverse = Mat::<f64>::identity(n, n);
        factor.solve_in_place(inverse.as_mut());
        prop_assert!(distance((&a * &inverse).as_ref(), Mat::identity(n, n).as_ref()) < 1e-10);
        for (i, d) in factor.inverse_diagonal().into_iter().enumerate() {
            prop_assert!((d - inverse[(i, i)]).abs() <= 1e-12 * d);
        }
    }

    #[test]
    fn eigendecomposition_reconstructs(n in 1_usize..60, r in 1_usize..70, seed in 0_u64..1000) {
        let a = psd::<f64>(n, r, seed);
        let eigen = SymmetricEigen::new(a.as_ref()).unwrap();
        let (U, scale) = (eigen.vectors(), a.norm_l2());
        let scaled = Mat::from_fn(n, n, |i, j| U[(i, j)] * eigen.values()[j]);
        prop_assert!(distance((&scaled * U.transpose()).as_ref(), a.as_ref()) < 1e-12 * scale);
        prop_assert!(distance((U.transpose() * U).as_ref(), Mat::identity(n,
            n).as_ref()) < 1e-12 * n as f64);
        prop_assert!(eigen.values().windows(2).all(|w| w[0] >= w[1]));
        prop_assert_eq!(eigen.rank(), n.min(r));
    }

    #[test]
    fn pseudo_inverse_satisfies_penrose(n in 1_usize..40, r in 1_usize..40, seed in 0_u64..1000) {
        let a = psd::<f64>(n, r, seed);
        let eigen = SymmetricEigen::new(a.as_ref()).unwrap();
        prop_assert_eq!(eigen.rank(), n.min(r));
        let (U, sigma) = (eigen.vectors(), eigen.values());
        let z = Mat::from_fn(n, eigen.rank(), |i, j| U[(i, j)] / sigma[j].sqrt());
        let (p, scale) = (&z * z.transpose(), a.norm_l2());
        let amplification = scale * p.norm_l2(); // the condition number on the range
        prop_assert!(distance((&a * &p * &a).as_ref(),
            a.as_ref()) <= 1e-13 * amplification * scale);
        prop_assert!(distance((&p * &a * &p).as_ref(),
            p.as_ref()) <= 1e-13 * amplification * p.norm_l2());
    }

    #[test]
    fn pivoted_cholesky_reveals_the_rank(n in 1_usize..50, r in 1_usize..50, seed in 0_u64..1000) {
        let a = psd::<f64>(n, r, seed);
        let factor = PivotedCholesky::new(a.as_ref(), 1e-10).unwrap();
        prop_assert!(factor.rank() <= n.min(r));
        let F = factor.factor();
        let residual: f64 = (0..n).map(|i| a[(i, i)] - F.row(i).squared_norm_l2()).sum();
        let bound = n as f64 * 1e-10 * (0..n).map(|i| a[(i, i)]).fold(0.0, f64::max);
        prop_assert!(residual.abs() <= bound + 1e-12 * a.norm_l2(), "{residual} > {bound}");
    }
}

#[test]
fn the_ladder_climbs_reports_and_gives_up() {
    // Order 40: numerically of rank about 20, so rounding makes some pivot negative.
    let a = hilbert(40);
    assert!(matches!(
        Cholesky::new(a.as_ref()),
        Err(Error::NotPositiveDefinite { order: 40, jitter: 0.0, .. })
    ));
    let factor = Cholesky::with_jitter(a.as_ref(), JitterLadder::default()).unwrap();
    assert!(factor.jitter() > 0.0 && factor.jitter() < 1e-10, "{factor:?}");
    let mut shifted = a.clone();
    ops::add_to_diagonal(shifted.as_mut(), factor.jitter());
    let rebuilt = factor.lower() * factor.lower().transpose();
    assert!(distance(rebuilt.as_ref(), shifted.as_ref()) < 1e-14 * a.norm_l2());

    let indefinite = Mat::from_fn(2, 2, |i, j| if i == j { 1.0_f64 } else { 2.0 });
    let error = Cholesky::with_jitter(indefinite.as_ref(), JitterLadder::default()).unwrap_err();
    assert!(
        matches!(error, Error::NotPositiveDefinite { pivot: 1, jitter, .. } if jitter > 0.0),
        "{error}"
    );
}

#[test]
fn the_shifted_ladder_starts_above_zero_in_both_precisions() {
    let a = psd::<f64>(10, 20, 1);
    let factor = Cholesky::with_jitter(a.as_ref(), JitterLadder::shifted()).unwrap();
    let trace: f64 = (0..10).map(|i| a[(i, i)]).sum();
    assert!((factor.jitter() / (10.0 * f64::EPSILON * trace) - 1.0).abs() < 1e-12);
    let b = psd::<f32>(30, 3, 1); // rank 3 of 30
    let factor = Cholesky::with_jitter(b.as_ref(), JitterLadder::shifted()).unwrap();
    assert!(factor.jitter() >= 10.0 * f32::EPS);
}

#[test]
fn only_the_lower_triangle_counts() {
    let mut a = psd::<f64>(20, 30, 5);
    let reference = Cholesky::new(a.as_ref()).unwrap();
    let eigen = SymmetricEigen::new(a.as_ref()).unwrap();
    for j in 0..20 {
        for i in 0..j {
            a[(i, j)] = f64::NAN;
        }
    }
    assert_eq!(Cholesky::new(a.as_ref()).unwrap().lower(), reference.lower());
    assert_eq!(SymmetricEigen::new(a.as_ref()).unwrap().values(), eigen.values());
}

#[test]
fn bad_matrices_are_typed_errors() {
    let rectangular = Mat::<f64>::zeros(2, 3);
    assert!(matches!(
        Cholesky::new(rectangular.as_ref()),
        Err(Error::Shape { expected: 2, got: 3, .. })
    ));
    assert!(matches!(SymmetricEigen::new(rectangular.as_ref()), Err(Error::Shape { .. })));
    let mut nan = Mat::<f64>::identity(3, 3);
    nan[(2, 1)] = f64::NAN;
    assert!(matches!(Cholesky::new(nan.as_ref()), Err(Error::NonFinite { row: 2, col: 1, .. })));
    assert!(matches!(
        SymmetricEigen::new(nan.as_ref()),
        Err(Error::NonFinite { row: 2, col: 1, .. })
    ));
    assert!(matches!(PivotedCholesky::new(nan.as_ref(), 0.0), Err(Error::NonFinite { .. })));
    assert!(matches!(Dense::new(Mat::<f64>::zeros(0, 0).as_ref()), Err(Error::Empty { .. })));
    let empty = Cholesky::new(Mat::<f64>::zeros(0, 0).as_ref()).unwrap();
    assert_eq!((empty.log_det(), empty.inverse_diagonal().len()), (0.0, 0));
    assert_eq!(SymmetricEigen::new(Mat::<f64>::zeros(3, 3).as_ref()).unwrap().rank(), 0);
    assert_eq!(PivotedCholesky::new(Mat::<f64>::zeros(3, 3).as_ref(), 1e-10).unwrap().rank(), 0);
}

/// Sizes on both sides of the panels' boundaries, and inverse blocks that begin in the middle of a
/// panel.
#[test]
fn a_packed_factor_solves_and_inverts_as_the_full_one_does() {
    for n in [0, 1, 2, 127, 255, 256, 257, 600] {
        let x: Mat<f64> = random::standard_normal(n, n + 3, &mut Pcg64::seed_from_u64(31));
        let mut a = ops::times(x.as_ref(), x.transpose());
        ops::add_to_diagonal(a.as_mut(), n as f64);
        let mut asked = 0;
        let packed = PackedCholesky::from_fill(
            n,
            |mut out, rows, cols| {
                asked += (rows.len() * cols.len()) as u64;
                out.copy_from(a.as_ref().submatrix(rows.start, cols.start, rows.len(), cols.len()));
            },
            JitterLadder::none(),
        )
        .unwrap();
        assert_eq!(asked, PackedCholesky::<f64>::entries(n));
        let full = Cholesky::new(a.as_ref()).unwrap();
        assert!((packed.log_det() - full.log_det()).abs() <= 1e-12 * full.log_det().abs());
        assert!((0..n).all(|i| (packed.pivot(i) / full.lower()[(i, i)] - 1.0).abs() < 1e-12));
        let b: Mat<f64> = random::standard_normal(n, 3, &mut Pcg64::seed_from_u64(32));
        let mut solved = b.clone();
        packed.solve_in_place(solved.as_mut());
        let residual = a.as_ref() * solved.as_ref() - b.as_ref();
        assert!(
            residual.norm_max() <= 1e-11 * (1.0 + b.norm_max()),
            "n = {n}: {}",
            residual.norm_max()
        );
        let (packed, full) = (packed.inverse_diagonal(), full.inverse_diagonal());
        assert!(
            packed.len() == n && packed.iter().zip(full).all(|(p, f)| (p / f - 1.0).abs() < 1e-11)
        );
    }
}

#[test]
fn a_packed_factor_names_the_pivot_and_the_entry() {
    let n = 300;
    let fill = |bad: (usize, usize), value: f64| {
        PackedCholesky::from_fill(
            n,
            move |mut out, rows, cols| {
                for (j, col) in cols.enumerate() {
                    for (i, row) in rows.clone().enumerate() {
                        out[(i, j)] =
                            if (row, col) == bad { value } else { f64::from(u8::from(row == col)) };
                    }
                }
            },
            JitterLadder::none(),
        )
    };
    assert!(matches!(
        fill((290, 290), -1.0),
        Err(Error::NotPositiveDefinite { order: 300, pivot: 290, .. })
    ));
    assert!(matches!(fill((280, 270), f64::NAN), Err(Error::NonFinite { row: 280, col: 270, .. })));
    assert!(matches!(
        fill((280, 3), f64::INFINITY),
        Err(Error::NonFinite { row: 280, col: 3, .. })
    ));
    assert!(fill((270, 280), f64::NAN).is_ok()); // above the diagonal: not read
}

/// Subtraction leaves no digit of P⁻¹ where μ is below the rounding errors of FFᵀ: the shift in use
/// is larger then, and told. The eigenvalues are those of the P that it makes.
#[test]
fn a_shift_below_the_rounding_errors_of_a_low_rank_factor_is_raised_and_told() {
    let (n, values) = (40, [1.0, 1e-3]);
    let mut V = random::standard_normal::<f64>(n, 2, &mut Pcg64::seed_from_u64(4));
    let length = V.col(0).norm_l2();
    V.col_mut(0).iter_mut().for_each(|v| *v /= length);
    let along = (V.col(0).transpose() * V.col(1)).f64();
    (0..n).for_each(|i| V[(i, 1)] -= along * V[(i, 0)]);
    let length = V.col(1).norm_l2();
    V.col_mut(1).iter_mut().for_each(|v| *v /= length);
    let F = Mat::from_fn(n, 2, |i, j| values[j] * V[(i, j)]);
    for asked in [1e-17, 1e-14, 1e-6] {
        let P = ShiftedLowRank::new(F.clone(), &[asked]).unwrap();
        let mu = P.shifts().next().unwrap();
        assert!(mu == asked || (asked < 1e-15 && mu < 5e-15), "{asked:e} became {mu:e}");
        let quadratic = V.transpose() * P.solve(V.as_ref());
        for (j, value) in values.iter().enumerate() {
            let (found, exact) = (quadratic[(j, j)], 1.0 / (value * value + mu));
            // some roundings of r, divided by μ; P⁻¹ stays positive definite
            let allowed = (10.0 * f64::EPSILON / mu).min(0.5 * exact);
            assert!((found - exact).abs() < allowed, "{found:e}, not {exact:e}, at {asked:e}");
        }
    }
}
