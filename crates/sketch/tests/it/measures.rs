//! Error measures against dense oracles, their cost and their bits.

use crate::common::*;
use faer::Mat;
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, SymmetricEigen};
use nystrom_sketch::{
    ErrorNorms, LandmarkSelector, Nystrom, RpCholesky, SpectralNorm, Uniform, frobenius_error,
    trace_error,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn they_agree_with_the_eigenvalues_of_the_difference((a, seed) in any_psd(), m in 1..10_usize) {
        let (n, k) = (a.nrows(), Dense::new(a.as_ref()).unwrap());
        let l = Nystrom::new(&k, &Uniform::default().select(&k, m.min(n),
            &mut rng(seed)).unwrap()).unwrap();
        let sigma = SymmetricEigen::new((&a - whole(&l)).as_ref()).unwrap();
        let sigma = sigma.values();
        let scale = 1e-12 * n as f64 * largest_eigenvalue(a.as_ref());
        let exact = ErrorNorms::exact(&k, &l).unwrap();
        let frobenius = sigma.iter().map(|s| s * s).sum::<f64>().sqrt();
        prop_assert!((exact.frobenius - frobenius).abs() <= scale);
        prop_assert!((exact.spectral - sigma[0].abs().max(sigma[n - 1].abs())).abs() <= scale);
        prop_assert!((exact.trace - sigma.iter().sum::<f64>()).abs() <= scale);
        prop_assert!((frobenius_error(&k, &l).unwrap() - exact.frobenius).abs() <= scale);
        prop_assert!((trace_error(&k, &l).unwrap() - exact.trace).abs() <= scale);
        // blocks of 8 over at most 40 dimensions: five passes exhaust the space
        let estimate = SpectralNorm { tolerance: 1e-12, ..Default::default() }.estimate(&k, &l,
            &mut rng(seed)).unwrap();
        prop_assert!((estimate.value - exact.spectral).abs() <= scale, "{:?} against {}",
            estimate, exact.spectral);
        prop_assert!(exact.spectral <= exact.frobenius + scale
            && exact.frobenius <= exact.trace + scale);
    }

    /// No matrix of rank m is nearer than the best one, in any of the three norms.
    #[test]
    fn nothing_beats_the_best_rank((a, seed) in any_psd(), m in 1..10_usize) {
        let (n, k) = (a.nrows(), Dense::new(a.as_ref()).unwrap());
        let landmarks = RpCholesky::default().select(&k, m.min(n), &mut rng(seed)).unwrap();
        let error = ErrorNorms::exact(&k, &Nystrom::new(&k, &landmarks).unwrap()).unwrap();
        let best = ErrorNorms::of_best_rank(SymmetricEigen::new(a.as_ref()).unwrap().values(),
            landmarks.len());
        let scale = 1e-12 * n as f64 * largest_eigenvalue(a.as_ref());
        prop_assert!(error.frobenius >= best.frobenius - scale
            && error.spectral >= best.spectral - scale);
        prop_assert!(error.trace >= best.trace - scale);
    }
}

/// 900 rows, an error of many close eigenvalues: the estimate stays below the norm and comes near
/// it, in f64 and f32.
#[test]
fn the_estimate_approaches_the_norm_from_below() {
    let a = psd(Kind::Rough, 900, 2);
    let k = Dense::new(a.as_ref()).unwrap();
    let l = Nystrom::new(&k, &RpCholesky::default().select(&k, 60, &mut rng(2)).unwrap()).unwrap();
    let exact = ErrorNorms::exact(&k, &l).unwrap().spectral;
    let b = Mat::from_fn(900, 900, |i, j| a[(i, j)] as f32);
    let single = Dense::new(b.as_ref()).unwrap();
    let f = Mat::from_fn(900, 60, |i, j| l.factor()[(i, j)] as f32);
    let ll = &f * f.transpose();
    let ll = Dense::new(ll.as_ref()).unwrap();
    for seed in 0..5 {
        let estimate = SpectralNorm::default().estimate(&k, &l, &mut rng(seed)).unwrap();
        assert!(
            estimate.value <= exact * (1.0 + 1e-12) && estimate.value > 0.999 * exact,
            "{estimate:?} against {exact}"
        );
        assert!(estimate.residual <= 0.01 * estimate.value && estimate.passes < 20);
        let rough = SpectralNorm { passes: 2, ..Default::default() }
            .estimate(&k, &l, &mut rng(seed))
            .unwrap();
        assert!(
            rough.passes == 2 && rough.value > 0.7 * exact && rough.residual > estimate.residual
        );
        // an eigenvalue lies within the residual
        let gap = (exact - estimate.value).abs();
        assert!(gap <= estimate.residual);
        let estimate = SpectralNorm::default().estimate(&single, &ll, &mut rng(seed)).unwrap();
        assert!((estimate.value / exact - 1.0).abs() < 2e-3);
    }
}

/// A difference with its largest absolute eigenvalue below 0 is measured as well.
#[test]
fn negative_eigenvalues_count() {
    let (k, l) = (
        Mat::<f64>::identity(20, 20),
        Mat::from_fn(20, 20, |i, j| if i == j { 1.0 + i as f64 } else { 0.0 }),
    );
    let (k, l) = (Dense::new(k.as_ref()).unwrap(), Dense::new(l.as_ref()).unwrap());
    let estimate = SpectralNorm::default().estimate(&k, &l, &mut rng(0)).unwrap();
    assert!((estimate.value - 19.0).abs() < 1e-10);
    assert_eq!(ErrorNorms::exact(&k, &l).unwrap().trace, -190.0);
    assert_eq!(ErrorNorms::exact(&k, &l).unwrap().spectral, 19.0);
    assert_eq!(trace_error(&k, &l).unwrap(), 0.0);
}

#[test]
fn best_rank_errors_are_tails() {
    let best = ErrorNorms::of_best_rank(&[4.0, 3.0, 2.0, 1.0, -1e-17], 2);
    let all = |norms: ErrorNorms| [norms.frobenius, norms.spectral, norms.trace];
    assert_eq!(all(best), [5.0_f64.sqrt(), 2.0, 3.0]);
    let nothing = ErrorNorms::of_best_rank(&[4.0, 3.0], 2);
    assert_eq!(all(nothing), [0.0, 0.0, 0.0]);
    let other = ErrorNorms::of_best_rank(&[3.0], 0); // 3, 3, 3
    assert_eq!(all(other.relative_to(best)), [3.0 / 5.0_f64.sqrt(), 1.5, 1.0]);
    assert!(
        best.relative_to(nothing).spectral.is_infinite()
            && nothing.relative_to(nothing).trace.is_nan()
    );
}

#[test]
fn entries_and_threads() {
    let n = 700;
    let a = psd(Kind::Rough, n, 1);
    let k = Counted::new(Dense::new(a.as_ref()).unwrap());
    let l = Nystrom::new(&k, &Uniform::default().select(&k, 20, &mut rng(0)).unwrap()).unwrap();
    k.reset();
    frobenius_error(&k, &l).unwrap();
    // the tiles on and below the diagonal
    assert_eq!(k.entries(), 256 * 256 + 256 * 512 + (700 - 512) * 700);
    k.reset();
    let estimate = SpectralNorm::default().estimate(&k, &l, &mut rng(0)).unwrap();
    assert!(k.entries() as usize <= estimate.passes * n * n);
    k.reset();
    trace_error(&k, &l).unwrap();
    assert_eq!((k.entries(), k.diagonal_entries()), (0, n as u64));
    same_at_any_thread_count(|| {
        let estimate = SpectralNorm::default().estimate(&k, &l, &mut rng(0)).unwrap();
        (frobenius_error(&k, &l).unwrap(), trace_error(&k, &l).unwrap(), estimate)
    });
}

#[test]
fn limits_and_bad_input() {
    let a = psd(Kind::Gaussian, 12, 0);
    let k = Dense::new(a.as_ref()).unwrap();
    assert_eq!(frobenius_error(&k, &k).unwrap(), 0.0);
    let none = SpectralNorm::default().estimate(&k, &k, &mut rng(0)).unwrap();
    assert_eq!((none.value, none.residual, none.passes), (0.0, 0.0, 1));
    let one = Mat::from_fn(1, 1, |_, _| 2.0);
    let one = Dense::new(one.as_ref()).unwrap();
    let zero = Mat::<f64>::zeros(1, 1);
    let zero = Dense::new(zero.as_ref()).unwrap();
    assert!(
        (SpectralNorm::default().estimate(&one, &zero, &mut rng(0)).unwrap().value - 2.0).abs()
            < 1e-14
    );
    let empty = Broken { n: 0, bad: vec![] };
    assert!(matches!(frobenius_error(&empty, &empty), Err(Error::Empty { .. })));
    assert!(matches!(trace_error(&k, &one), Err(Error::Shape { expected: 12, got: 1, .. })));
    assert!(matches!(ErrorNorms::exact(&k, &one), Err(Error::Shape { .. })));
    let nan = Broken { n: 12, bad: vec![(7, 3, f64::NAN)] };
    assert!(matches!(frobenius_error(&nan, &k), Err(Error::NonFinite { row: 7, col: 3, .. })));
    assert!(matches!(ErrorNorms::exact(&nan, &k), Err(Error::NonFinite { .. })));
    let estimate =
        |norm: SpectralNorm, k: &dyn PsdMatrix<f64>| norm.estimate(k, k, &mut rng(0)).unwrap_err();
    assert!(matches!(estimate(SpectralNorm::default(), &nan), Error::NonFinite { .. }));
    let of = |block, passes, tolerance| SpectralNorm { block, passes, tolerance };
    assert!(matches!(estimate(of(0, 1, 1.0), &k), Error::Empty { .. }));
    assert!(matches!(estimate(of(1, 0, 1.0), &k), Error::Empty { .. }));
    assert!(matches!(estimate(of(1, 1, 0.0), &k), Error::InvalidParameter { .. }));
}
