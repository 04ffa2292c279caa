//! The exact samplers against enumeration, closed forms and the marginal kernel.
#![allow(non_snake_case)]

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_dpp::{ElementarySymmetric, LEnsemble};
use nystrom_linalg_core::{Cholesky, Dense, Error, Scalar, random};
use proptest::prelude::*;

fn ensemble(k: &Mat<f64>) -> LEnsemble<f64> {
    LEnsemble::new(&Dense::new(k.as_ref()).unwrap()).unwrap()
}

/// B with BBᵀ = K, from the pivoted factor of linalg-core.
fn factor(k: &Mat<f64>) -> Mat<f64> {
    nystrom_linalg_core::PivotedCholesky::new(k.as_ref(), 1e-14).unwrap().factor().to_owned()
}

#[test]
fn draws_of_fixed_size_follow_the_law() {
    for kind in KINDS {
        let k = psd(kind, 8, 3);
        let dense = ensemble(&k);
        let b = factor(&k);
        let dual = LEnsemble::from_factor(b.as_ref()).unwrap();
        assert_eq!(dense.rank(), dual.rank());
        for c in 1..=dense.rank() {
            let law = law(k.as_ref(), c);
            for (name, ensemble) in [("dense", &dense), ("factor", &dual)] {
                let (k_dpp, mut rng) = (ensemble.k_dpp(c).unwrap(), rng(c as u64));
                let what = format!("{kind:?}, {name}, c = {c}");
                assert_follows(&law, 20_000, || k_dpp.sample(&mut rng).into_indices(), &what);
            }
        }
    }
}

/// A first eigenvalue ten thousand times the others, and matrices in other units; from one item to
/// all of them.
#[test]
fn one_dominating_eigenvalue_and_scales() {
    let rough = psd(Kind::Rough, 8, 4);
    let cases: [(f64, f64, &[usize]); 3] =
        [(1.0, 1e4, &[1, 3]), (1e-8, 0.0, &[1, 3, 7, 8]), (1e8, 0.0, &[1, 3, 7, 8])];
    for (scale, shift, sizes) in cases {
        let k = Mat::from_fn(8, 8, |i, j| scale * rough[(i, j)] + shift);
        let b = factor(&k);
        for ensemble in [ensemble(&k), LEnsemble::from_factor(b.as_ref()).unwrap()] {
            for &c in sizes {
                let (k_dpp, mut rng) = (ensemble.k_dpp(c).unwrap(), rng(c as u64));
                let what = format!("{scale:e} of K + {shift:e}, c = {c}");
                let draw = || k_dpp.sample(&mut rng).into_indices();
                assert_follows(&law(k.as_ref(), c), 5000, draw, &what);
            }
        }
    }
}

#[test]
fn ten_items() {
    let k = psd(Kind::Rough, 10, 5);
    let (ensemble, mut rng) = (ensemble(&k), rng(0));
    let k_dpp = ensemble.k_dpp(4).unwrap();
    assert_follows(
        &law(k.as_ref(), 4),
        100_000,
        || k_dpp.sample(&mut rng).into_indices(),
        "n = 10, c = 4",
    );
}

#[test]
fn unconstrained_draws_follow_the_law() {
    for kind in KINDS {
        let k = psd(kind, 6, 11);
        let with_identity = Mat::from_fn(6, 6, |i, j| k[(i, j)] + if i == j { 1.0 } else { 0.0 });
        let normaliser = det(&with_identity);
        let law: Vec<(Vec<usize>, f64)> = (0..=6)
            .flat_map(|c| subsets(6, c))
            .map(|C| (det(&principal(k.as_ref(), &C)).max(0.0) / normaliser, C))
            .map(|(p, C)| (C, if p > 1e-13 { p } else { 0.0 }))
            .collect();
        let (ensemble, mut rng) = (ensemble(&k), rng(1));
        let dpp = ensemble.dpp();
        assert!((dpp.log_normaliser() - normaliser.ln()).abs() < 1e-12);
        assert_follows(&law, 30_000, || dpp.sample(&mut rng), &format!("{kind:?}"));
        for (C, p) in &law {
            let log_p = dpp.log_probability(C).unwrap();
            assert!((log_p.exp() - p).abs() < 1e-12, "{C:?}: {log_p} against {p}");
        }
    }
}

#[test]
fn probabilities_and_inclusion_are_those_of_enumeration() {
    for kind in KINDS {
        let k = psd(kind, 9, 2);
        let ensemble = ensemble(&k);
        for c in 1..=ensemble.rank() {
            let k_dpp = ensemble.k_dpp(c).unwrap();
            let mut inclusion = vec![0.0; 9];
            for (C, p) in law(k.as_ref(), c) {
                C.iter().for_each(|&i| inclusion[i] += p);
                let mine = k_dpp.log_probability(&C).unwrap().exp();
                assert!((mine - p).abs() < 1e-10, "{kind:?}, {C:?}: {mine} against {p}");
            }
            for (mine, theirs) in k_dpp.inclusion().into_iter().zip(inclusion) {
                assert!(
                    (mine - theirs).abs() < 1e-10,
                    "{kind:?}, c = {c}: {mine} against {theirs}"
                );
            }
            let e_c = elementary_by_minors(k.as_ref(), c);
            assert!((k_dpp.log_normaliser() - e_c.ln()).abs() < 1e-8, "{kind:?}, c = {c}");
        }
    }
}

/// The marginal kernel K(K + I)⁻¹, by Cholesky; and 4000 draws of each kind of process on 200
/// items. An item's count is binomial with variance v; by Bernstein it strays by t or more with
/// probability at most 2·exp(−t²/(2v + 2t/3)), which is 1e-9 at t = a + √(a² + 6av), a = ln(2e9)/3:
/// 8e-7 over the 800 comparisons.
#[test]
fn inclusion_on_two_hundred_items() {
    let (n, draws) = (200, 4000);
    for kind in [Kind::Gaussian, Kind::Rough] {
        let k = psd(kind, n, 7);
        let mut with_identity = k.clone();
        (0..n).for_each(|i| with_identity[(i, i)] += 1.0);
        let mut marginal = k.clone();
        Cholesky::new(with_identity.as_ref()).unwrap().solve_in_place(marginal.as_mut());
        let (ensemble, mut rng) = (ensemble(&k), rng(3));
        let exact = ensemble.dpp().inclusion();
        for i in 0..n {
            assert!((exact[i] - marginal[(i, i)]).abs() < 1e-12);
        }
        let dpp = ensemble.dpp();
        assert_close_counts(&exact, draws, || dpp.sample(&mut rng));
        let k_dpp = ensemble.k_dpp(20).unwrap();
        assert!((k_dpp.inclusion().iter().sum::<f64>() - 20.0).abs() < 1e-10);
        assert_close_counts(&k_dpp.inclusion(), draws, || k_dpp.sample(&mut rng).into_indices());
    }
}

/// Many candidates are refused and the residuals are refreshed at these sizes; a projection of rank
/// c is drawn as a whole, so that the trace of what is left, E tr(K − K̃_C) = (c + 1)e_{c+1}/e_c,
/// sees any mistake. Variance by the sample; six standard errors.
#[test]
fn the_mean_trace_error_is_exact_at_larger_sizes() {
    for (kind, n, c, draws) in
        [(Kind::Gaussian, 60, 12, 4000), (Kind::Rough, 80, 50, 600), (Kind::Rough, 40, 39, 600)]
    {
        let k = psd(kind, n, 9);
        let (ensemble, mut rng) = (ensemble(&k), rng(5));
        let k_dpp = ensemble.k_dpp(c).unwrap();
        let errors: Vec<f64> =
            (0..draws).map(|_| trace_error(k.as_ref(), k_dpp.sample(&mut rng).indices())).collect();
        let mean = errors.iter().sum::<f64>() / draws as f64;
        let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (draws - 1) as f64;
        let exact = k_dpp.expected_trace_error();
        let margin = 6.0 * (variance / draws as f64).sqrt();
        assert!(
            (mean - exact).abs() < margin,
            "{kind:?}, c = {c}: {mean} against {exact} ± {margin}"
        );
        assert!(margin < 0.1 * exact, "a margin that tells something");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// E tr(K − K̃_C) = (c + 1)·e_{c+1}/e_c by enumeration, and e_j by minors.
    #[test]
    fn trace_identity((kind, n, seed) in (0..4_usize, 2..8_usize, any::<u64>())) {
        let k = psd(KINDS[kind], n, seed);
        let ensemble = ensemble(&k);
        for c in 1..=ensemble.rank() {
            let k_dpp = ensemble.k_dpp(c).unwrap();
            let mean: f64 = law(k.as_ref(), c).iter().map(|(C, p)| p * trace_error(k.as_ref(),
                C)).sum();
            let trace: f64 = (0..n).map(|i| k[(i, i)]).sum();
            prop_assert!((k_dpp.expected_trace_error() - mean).abs() < 1e-8 * trace);
        }
    }

    /// Spectra over hundreds of orders of magnitude, where the raw recursion overflows or
    /// underflows, against sums of logarithms.
    #[test]
    fn polynomials_of_extreme_spectra(
        exponents in prop::collection::vec(-300.0..300.0_f64, 1..9),
        c in 1..9_usize,
    ) {
        let lambda: Vec<f64> = exponents.iter().map(|x| 10.0_f64.powf(*x)).collect();
        let r = lambda.len();
        prop_assume!(c <= r);
        let e = ElementarySymmetric::new(&lambda, c).unwrap();
        let log_sum = |j: usize, skip: Option<usize>| {
            let sets = subsets(r, j).into_iter().filter(|S| skip.is_none_or(|i| S.contains(&i)));
            let logs: Vec<f64> = sets.map(|S| S.iter().map(|&i| lambda[i].ln()).sum()).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most + logs.iter().map(|l| (l - most).exp()).sum::<f64>().ln()
        };
        let exact = log_sum(c, None);
        prop_assert!((e.log_e(c) - exact).abs() < 1e-12 * exact.abs().max(100.0));
        for (i, p) in e.inclusion().into_iter().enumerate() {
            let exact = (log_sum(c, Some(i)) - log_sum(c, None)).exp();
            prop_assert!((p - exact).abs() < 1e-10, "{p} against {exact}");
        }
        prop_assert_eq!(e.sample(&mut rng(1)).len(), c);
    }
}

/// Equal eigenvalues: e_j = C(r, j)·λ^j, far beyond the range of f64.
#[test]
fn polynomials_of_four_thousand_equal_eigenvalues() {
    for lambda in [1e-3, 1.0, 1e6] {
        let (r, c) = (4000, 100);
        let e = ElementarySymmetric::new(&vec![lambda; r], c).unwrap();
        let log_choose: f64 = (0..c).map(|i| ((r - i) as f64).ln() - ((i + 1) as f64).ln()).sum();
        let exact = log_choose + c as f64 * f64::ln(lambda);
        assert!((e.log_e(c) - exact).abs() < 1e-11 * exact.abs());
        let ratio = lambda * (r - c) as f64 / (c + 1) as f64;
        assert!((e.ratio() / ratio - 1.0).abs() < 1e-10);
        assert!(e.inclusion().iter().all(|p| (p * r as f64 / c as f64 - 1.0).abs() < 1e-10));
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let k = psd(Kind::Rough, 900, 1);
    let b: Mat<f64> = random::standard_normal(3000, 40, &mut rng(2));
    let (one, two) = same_at_any_thread_count(|| {
        let (dense, dual) = (ensemble(&k), LEnsemble::from_factor(b.as_ref()).unwrap());
        let mut rng = rng(0);
        let mut draw =
            |e: &LEnsemble<f64>, c: usize| e.k_dpp(c).unwrap().sample(&mut rng).into_indices();
        let draws = [draw(&dense, 300), draw(&dense, 30), draw(&dual, 20)];
        let bits: Vec<u64> =
            dense.values().iter().chain(dual.values()).map(|v| v.to_bits()).collect();
        (draws, bits)
    });
    assert!(one.iter().all(|C| !C.is_empty()) && two.len() > 900);
}

/// Pinned: a change of these is a change users see.
#[test]
fn seeds_are_stable() {
    let k = psd(Kind::Rough, 30, 1);
    let ensemble = ensemble(&k);
    let mut rng = rng(2024);
    assert_eq!(ensemble.k_dpp(5).unwrap().sample(&mut rng).indices(), [6, 12, 1, 19, 18]);
    assert_eq!(
        ensemble.dpp().sample(&mut rng),
        [28, 29, 4, 1, 6, 14, 2, 13, 26, 7, 16, 8, 21, 17, 27, 11, 10]
    );
}

#[test]
fn both_precisions_follow_the_law() {
    let k = psd(Kind::Rough, 7, 4);
    let single = as_f32(&k);
    let ensemble = LEnsemble::new(&Dense::new(single.as_ref()).unwrap()).unwrap();
    let (k_dpp, mut rng) = (ensemble.k_dpp(3).unwrap(), rng(8));
    assert_follows(&law(k.as_ref(), 3), 20_000, || k_dpp.sample(&mut rng).into_indices(), "f32");
}

fn refused<T: Scalar>(k: MatRef<'_, T>, c: usize) -> Error {
    LEnsemble::new(&Dense::new(k).unwrap()).unwrap().k_dpp(c).unwrap_err()
}

#[test]
fn edges() {
    // c = n: the whole set, for sure
    let k = psd(Kind::Rough, 12, 1);
    let whole = ensemble(&k);
    let mut all = whole.k_dpp(12).unwrap().sample(&mut rng(0)).into_indices();
    all.sort_unstable();
    assert_eq!(all, (0..12).collect::<Vec<_>>());
    assert_eq!(whole.k_dpp(12).unwrap().expected_trace_error(), 0.0);
    // c beyond the rank: a typed error with the rank
    assert_eq!(refused(k.as_ref(), 13), Error::RankDeficient { requested: 13, rank: 12 });
    assert_eq!(
        refused(psd(Kind::LowRank, 12, 1).as_ref(), 5),
        Error::RankDeficient { requested: 5, rank: 4 }
    );
    assert_eq!(
        refused(psd(Kind::Doubled, 12, 1).as_ref(), 7),
        Error::RankDeficient { requested: 7, rank: 6 }
    );
    assert_eq!(
        refused(as_f32(&psd(Kind::LowRank, 12, 1)).as_ref(), 5),
        Error::RankDeficient { requested: 5, rank: 4 }
    );
    // K = 0
    let zero = Mat::<f64>::zeros(3, 3);
    assert_eq!(refused(zero.as_ref(), 1), Error::RankDeficient { requested: 1, rank: 0 });
    assert_eq!(ensemble(&zero).dpp().sample(&mut rng(0)), [0; 0]);
    assert_eq!(ensemble(&zero).dpp().log_probability(&[1]).unwrap(), f64::NEG_INFINITY);
    // c = 0, n = 0, n = 1, NaN
    assert!(matches!(refused(k.as_ref(), 0), Error::Empty { .. }));
    assert!(matches!(LEnsemble::new(&Broken { n: 0, bad: vec![] }), Err(Error::Empty { .. })));
    let one = Mat::from_fn(1, 1, |_, _| 2.0);
    assert_eq!(ensemble(&one).k_dpp(1).unwrap().sample(&mut rng(0)).indices(), [0]);
    let nan = Broken { n: 4, bad: vec![(2, 1, f64::NAN)] };
    assert!(matches!(LEnsemble::new(&nan), Err(Error::NonFinite { row: 2, col: 1, .. })));
    let nan = Mat::from_fn(3, 2, |i, j| if (i, j) == (2, 1) { f64::NAN } else { 1.0 });
    assert!(matches!(
        LEnsemble::from_factor(nan.as_ref()),
        Err(Error::NonFinite { row: 2, col: 1, .. })
    ));
    assert!(matches!(
        LEnsemble::from_factor(Mat::<f64>::zeros(0, 2).as_ref()),
        Err(Error::Empty { .. })
    ));
    // sets that are none
    let k_dpp = whole.k_dpp(2).unwrap();
    assert!(matches!(k_dpp.log_probability(&[1]), Err(Error::Shape { expected: 2, got: 1, .. })));
    assert!(matches!(
        k_dpp.log_probability(&[1, 12]),
        Err(Error::IndexOutOfRange { index: 12, .. })
    ));
    assert!(matches!(k_dpp.log_probability(&[1, 1]), Err(Error::DuplicateIndex { index: 1, .. })));
    // polynomials of what is no spectrum
    assert!(matches!(
        ElementarySymmetric::new(&[1.0, -1.0], 1),
        Err(Error::NotPositive { index: 1, .. })
    ));
    assert!(matches!(
        ElementarySymmetric::new(&[1.0, f64::NAN], 1),
        Err(Error::NotPositive { index: 1, .. })
    ));
}

/// ln e_j = ln C(r, j) for r ones: far below c, at c and beyond, where the table of c has
/// underflowed.
#[test]
fn polynomials_far_below_their_size() {
    let (r, c) = (5000, 1000);
    let e = ElementarySymmetric::new(&vec![1.0; r], c).unwrap();
    let log_choose = |j: usize| (0..j).map(|i| ((r - i) as f64 / (i + 1) as f64).ln()).sum::<f64>();
    assert_eq!(e.log_e(0), 0.0);
    for j in [1, 2, 10, 100, 500, 900, 999, 1000, 1001] {
        let exact = log_choose(j);
        assert!(
            (e.log_e(j) - exact).abs() < 1e-11 * exact,
            "j = {j}: {} against {exact}",
            e.log_e(j)
        );
    }
    // all of r = c ones: e_j = C(r, j) again, and nothing beyond r
    let e = ElementarySymmetric::new(&[1.0; 700], 700).unwrap();
    assert!((e.log_e(1) - 700.0_f64.ln()).abs() < 1e-12 && e.log_e(700).abs() < 1e-10);
    assert!(e.log_e(701) == f64::NEG_INFINITY && e.ratio() == 0.0);
}

/// A draw of 200 of 500 items in `f32` refreshes its residuals often, and the last items are drawn
/// among residuals that are rounding error for every item drawn before. `NYSTROM_SOAK=1` makes
/// 100,000 draws of the 1000.
#[test]
fn no_item_is_drawn_twice_in_f32() {
    let (n, c) = (500, 200);
    let draws = if std::env::var_os("NYSTROM_SOAK").is_some() { 100_000 } else { 1000 };
    let single = as_f32(&psd(Kind::Rough, n, 1));
    let ensemble = LEnsemble::new(&Dense::new(single.as_ref()).unwrap()).unwrap();
    let (k_dpp, rng) = (ensemble.k_dpp(c).unwrap(), &mut rng(0));
    for draw in 0..draws {
        let mut C = k_dpp.sample(rng).into_indices(); // which refuses repetitions
        C.sort_unstable();
        C.dedup();
        assert_eq!(C.len(), c, "draw {draw}");
    }
}

/// Polynomials that are at hand give the same draws; those of another spectrum are refused.
#[test]
fn polynomials_serve_again() {
    let ensemble = ensemble(&psd(KINDS[0], 8, 3));
    let k_dpp = ensemble.k_dpp(3).unwrap();
    let again = ensemble.k_dpp_by(k_dpp.polynomials().clone()).unwrap();
    let draws = |k_dpp: &nystrom_dpp::ExactKDpp<'_, f64>| {
        let rng = &mut rng(5);
        (0..20).map(|_| k_dpp.sample(rng).into_indices()).collect::<Vec<_>>()
    };
    assert_eq!(draws(&again), draws(&k_dpp));
    let other = ElementarySymmetric::new(&[1.0, 2.0, 3.0], 2).unwrap();
    let refused = ensemble.k_dpp_by(std::sync::Arc::new(other)).unwrap_err();
    assert!(matches!(refused, Error::Shape { got: 3, .. }), "{refused}");
}
