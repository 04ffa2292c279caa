//! Draws by rejection against enumeration, the exact sampler and closed forms.
#![allow(non_snake_case)]

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_dpp::{ElementarySymmetric, KDpp, LEnsemble, Rejection, RejectionKDpp};
use nystrom_kernels::{Gaussian, KernelMatrix, Points};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, Result, Scalar, random};
use nystrom_sketch::LandmarkSelector;
use rand_pcg::Pcg64;

/// A guide that knows little: two items of a sample of five, found in two rounds.
fn poor(c: usize) -> Rejection {
    Rejection { dictionary: 2, sample: 5, rounds: 2, ..Rejection::of_size(c) }
}

fn ways(c: usize) -> [(&'static str, Rejection); 3] {
    let few = Rejection { intermediate: Some(c + 2), trials: 100_000, ..poor(c) };
    [("usual", Rejection::of_size(c)), ("poor", poor(c)), ("poor, t = c + 2", few)]
}

fn prepared<T: Scalar>(k: &dyn PsdMatrix<T>, c: usize) -> Result<(RejectionKDpp<'_, T>, Pcg64)> {
    let mut rng = rng(c as u64);
    Ok((RejectionKDpp::new(k, c, Rejection::of_size(c), &mut rng)?, rng))
}

/// `NYSTROM_SOAK=1` takes this many times the draws.
fn draws(usual: usize, times: usize) -> usize {
    if std::env::var_os("NYSTROM_SOAK").is_some() { usual * times } else { usual }
}

fn check_law(k: MatRef<'_, f64>, c: usize, how: Rejection, draws: usize, what: &str) {
    let (law, dense, mut rng) = (law(k, c), Dense::new(k).unwrap(), rng(17));
    let mut k_dpp = RejectionKDpp::new(&dense, c, how, &mut rng).unwrap();
    assert_follows(&law, draws, || k_dpp.sample(&mut rng).unwrap().into_indices(), what);
    assert_eq!(k_dpp.effort().draws, draws as u64);
}

#[test]
fn draws_follow_the_law_whatever_the_guide() {
    for kind in KINDS {
        let k = psd(kind, 8, 3);
        let rank = LEnsemble::new(&Dense::new(k.as_ref()).unwrap()).unwrap().rank();
        for c in [1, 2, 3, 4, 6].into_iter().filter(|&c| c <= rank) {
            // six of eight items are accepted too rarely from eight draws
            for (name, how) in ways(c).into_iter().take(if c < 6 { 3 } else { 2 }) {
                let what = format!("{kind:?}, {name}, c = {c}");
                check_law(k.as_ref(), c, how, draws(1200, 5), &what);
            }
        }
    }
}

#[test]
fn twelve_items() {
    let k = psd(Kind::Rough, 12, 5);
    check_law(k.as_ref(), 4, Rejection::of_size(4), draws(30_000, 4), "n = 12, c = 4");
    let gaussian = psd(Kind::Gaussian, 12, 5);
    check_law(gaussian.as_ref(), 3, poor(3), draws(10_000, 4), "n = 12, c = 3, a poor guide");
}

#[test]
fn all_items() {
    let k = psd(Kind::Rough, 12, 1);
    let k = Dense::new(k.as_ref()).unwrap();
    let (mut k_dpp, mut rng) = prepared(&k, 12).unwrap();
    assert_eq!(k_dpp.sample(&mut rng).unwrap().len(), 12);
}

/// With 1e4 added to every entry the first eigenvalue is ten thousand times the others.
#[test]
fn one_dominating_eigenvalue() {
    let rough = psd(Kind::Rough, 10, 4);
    let k = Mat::from_fn(10, 10, |i, j| rough[(i, j)] + 1e4);
    for (name, how) in ways(3) {
        check_law(k.as_ref(), 3, how, 5000, name);
    }
}

#[test]
fn scales_do_not_matter() {
    let k = psd(Kind::Rough, 9, 8);
    for scale in [1e-8, 1e8] {
        let scaled = Mat::from_fn(9, 9, |i, j| scale * k[(i, j)]);
        for (name, how) in ways(3) {
            check_law(scaled.as_ref(), 3, how, 3000, &format!("{scale:e}, {name}"));
        }
    }
    // powers of four change no bit of what is drawn
    let mut drawn = [1.0, 4.0_f64.powi(13), 4.0_f64.powi(-13)].map(|scale| {
        let k = Mat::from_fn(9, 9, |i, j| scale * k[(i, j)]);
        let (k, mut rng) = (Dense::new(k.as_ref()).unwrap(), rng(3));
        let mut k_dpp = RejectionKDpp::new(&k, 3, poor(3), &mut rng).unwrap();
        (0..50).flat_map(|_| k_dpp.sample(&mut rng).unwrap().into_indices()).collect::<Vec<_>>()
    });
    let first = drawn[0].clone();
    assert!(drawn.iter_mut().all(|other| *other == first));
}

#[test]
fn single_precision_follows_the_law() {
    let k = psd(Kind::Rough, 7, 4);
    let single = as_f32(&k);
    let single = Dense::new(single.as_ref()).unwrap();
    let (mut k_dpp, mut rng) = prepared(&single, 3).unwrap();
    let draw = || k_dpp.sample(&mut rng).unwrap().into_indices();
    assert_follows(&law(k.as_ref(), 3), 5000, draw, "f32");
}

/// Two thousand points of which 1200 are sampled, so that scores are found one by one; the exact
/// sampler gives the probabilities.
///
/// The counts of single items by Bernstein as in `exact.rs`. Of pairs E N(N − 1), N the items drawn
/// from a quarter of the rows, which is Σ_{i ≠ j} Pr(i, j ∈ C) over the quarter: Pr(a, b selected)
/// of two eigenvectors times G_aa G_bb − G_ab², G = V_IᵀV_I. Six standard errors of the sample.
#[test]
fn inclusion_of_one_and_two_items_of_two_thousand() {
    let (n, c, draws) = (2000, 10, 8000);
    let x: Mat<f64> = random::standard_normal(n, 2, &mut rng(1));
    let k = KernelMatrix::new(Gaussian::new(0.8).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let (mut k_dpp, mut rng) = prepared(&k, c).unwrap();
    let sets: Vec<Vec<usize>> =
        (0..draws).map(|_| k_dpp.sample(&mut rng).unwrap().into_indices()).collect();
    let ensemble = LEnsemble::new(&k).unwrap();
    let exact = ensemble.k_dpp(c).unwrap();
    let mut next = sets.iter();
    assert_close_counts(&exact.inclusion(), draws, || next.next().unwrap().clone());

    let (lambda, r) = (ensemble.values(), ensemble.rank());
    let one = exact.polynomials().inclusion();
    let pair: Vec<Vec<f64>> = (0..r)
        .map(|a| {
            let others: Vec<f64> = (0..r).filter(|&b| b != a).map(|b| lambda[b]).collect();
            let given_a = ElementarySymmetric::new(&others, c - 1).unwrap().inclusion();
            given_a.into_iter().map(|p| p * one[a]).collect()
        })
        .collect();
    for quarter in 0..4 {
        let I: Vec<usize> = (0..n)
            .filter(|&i| 2 * usize::from(x[(i, 0)] > 0.0) + usize::from(x[(i, 1)] > 0.5) == quarter)
            .collect();
        let V = Mat::from_fn(I.len(), r, |s, a| ensemble.vectors()[(I[s], a)]);
        let G = V.transpose() * &V;
        let both = |a: usize, b: usize| {
            pair[a][if b > a { b - 1 } else { b }] * (G[(a, a)] * G[(b, b)] - G[(a, b)].powi(2))
        };
        let expected: f64 = (0..r)
            .flat_map(|a| (0..r).filter(move |&b| b != a).map(move |b| (a, b)))
            .map(|(a, b)| both(a, b))
            .sum();
        let pairs: Vec<f64> = sets
            .iter()
            .map(|C| {
                let N = C.iter().filter(|i| I.binary_search(i).is_ok()).count() as f64;
                N * (N - 1.0)
            })
            .collect();
        assert_mean(&pairs, expected, &format!("pairs of quarter {quarter}"));
    }
}

/// E tr(K − K̃_C) = (c + 1)e_{c+1}/e_c sees probabilities of all orders.
#[test]
fn the_mean_trace_error_is_exact_at_larger_sizes() {
    for (kind, n, c, draws) in [(Kind::Gaussian, 60, 12, 600), (Kind::Rough, 80, 20, 500)] {
        let k = psd(kind, n, 9);
        let dense = Dense::new(k.as_ref()).unwrap();
        let exact = LEnsemble::new(&dense).unwrap().k_dpp(c).unwrap().expected_trace_error();
        let (how, mut rng) = (Rejection { sample: 59, ..Rejection::of_size(c) }, rng(5));
        let mut k_dpp = RejectionKDpp::new(&dense, c, how, &mut rng).unwrap();
        let errors: Vec<f64> = (0..draws)
            .map(|_| trace_error(k.as_ref(), k_dpp.sample(&mut rng).unwrap().indices()))
            .collect();
        assert_mean(&errors, exact, &format!("{kind:?}, c = {c}"));
    }
}

/// 2990 rows are one and the same, ten stand alone: a sample of 20 rows by the diagonal has rank 1
/// or little more. Rows that it lacks are looked for, and drawn as often as they should be: with
/// eigenvalues 2990 and ten times 1, Pr(a given one of the ten) = e_4 without it/e_5.
#[test]
fn rare_rows_are_found() {
    let (n, alone, c, draws) = (3000, 10, 5, 2000);
    let class = |i: usize| if i.is_multiple_of(300) { i / 300 + 1 } else { 0 };
    // 1 for rows of one class, 0 otherwise
    let entry = |i, j| f64::from(u8::from(class(i) == class(j)));
    let k = Counted::new(Evaluated { n, entry });
    let (how, mut rng) = (Rejection { sample: 20, ..Rejection::of_size(c) }, rng(2));
    let mut k_dpp = RejectionKDpp::new(&k, c, how, &mut rng).unwrap();
    let lambda: Vec<f64> = [(n - alone) as f64].into_iter().chain([1.0; 10]).collect();
    let inclusion = ElementarySymmetric::new(&lambda, c).unwrap().inclusion();
    let mut p = vec![inclusion[0] / (n - alone) as f64; n];
    (0..n).filter(|i| i.is_multiple_of(300)).for_each(|i| p[i] = inclusion[1]);
    assert_close_counts(&p, draws, || k_dpp.sample(&mut rng).unwrap().into_indices());
}

/// Every kernel value is counted, and they are few. With B = K the trials of a draw are geometric
/// with the rate that the documentation gives: their mean within five standard errors.
#[test]
fn the_work_is_what_is_said() {
    let (n, c) = (20_000, 5);
    let x: Mat<f64> = random::standard_normal(n, 2, &mut rng(1));
    let k = KernelMatrix::new(Gaussian::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let k = Counted::new(k);
    let (mut k_dpp, mut rng) = prepared(&k, c).unwrap();
    let first = k.entries();
    assert_eq!((first, k.diagonal_entries()), (k_dpp.effort().values, n as u64));
    (0..20).for_each(|_| drop(k_dpp.sample(&mut rng).unwrap()));
    assert_eq!(k.entries(), k_dpp.effort().values);
    assert!(k.entries() < 2_000_000, "{} of {} values", k.entries(), n * n);

    let small = psd(Kind::Rough, 30, 2);
    let small = Dense::new(small.as_ref()).unwrap();
    let how = Rejection { dictionary: 30, intermediate: Some(10), ..Rejection::of_size(c) };
    let mut k_dpp = RejectionKDpp::new(&small, c, how, &mut rng).unwrap();
    let draws = 2000.0;
    (0..2000).for_each(|_| drop(k_dpp.sample(&mut rng).unwrap()));
    let rate = k_dpp.log_best_rate().exp();
    assert!((rate / (10.0 * 9.0 * 8.0 * 7.0 * 6.0 / 1e5) - 1.0).abs() < 1e-12);
    let mean = k_dpp.effort().trials as f64 / draws;
    let margin = 5.0 * ((1.0 - rate) / rate.powi(2) / draws).sqrt();
    assert!((mean - 1.0 / rate).abs() < margin, "{mean} against {} ± {margin}", 1.0 / rate);
}

#[test]
fn bits_do_not_depend_on_threads() {
    let x: Mat<f64> = random::standard_normal(5000, 3, &mut rng(1));
    let k = KernelMatrix::new(Gaussian::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let drawn = same_at_any_thread_count(|| {
        let (mut k_dpp, mut rng) = prepared(&k, 12).unwrap();
        let draw = |_| k_dpp.sample(&mut rng).unwrap().into_indices();
        (0..3).map(draw).collect::<Vec<_>>()
    });
    assert_ne!(drawn[0], drawn[1]);
}

/// Draws go on where they are prepared, with K found anew; not with a K of another size.
#[test]
fn prepared_draws_are_the_same() {
    let k = psd(Kind::Gaussian, 400, 3);
    let k = Dense::new(k.as_ref()).unwrap();
    let how = Rejection { sample: 100, dictionary: 20, ..Rejection::of_size(5) };
    let mut fresh = RejectionKDpp::new(&k, 5, how, &mut rng(1)).unwrap();
    let prepared = RejectionKDpp::new(&k, 5, how, &mut rng(1)).unwrap().into_prepared();
    let other = psd(Kind::Gaussian, 399, 3);
    let other = Dense::new(other.as_ref()).unwrap();
    let refused = RejectionKDpp::from_prepared(&other, prepared.clone()).err();
    assert!(matches!(refused, Some(Error::Shape { expected: 400, got: 399, .. })), "{refused:?}");
    let mut again = RejectionKDpp::from_prepared(&k, prepared).unwrap();
    let (one, two) = (&mut rng(2), &mut rng(2));
    for _ in 0..20 {
        assert_eq!(fresh.sample(one).unwrap(), again.sample(two).unwrap());
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let refused = |k: MatRef<'_, f64>, c: usize, how: Rejection| {
        let k = Dense::new(k).unwrap();
        RejectionKDpp::new(&k, c, how, &mut rng(0)).err()
    };
    let usual = Rejection::of_size(5);
    // rank, found in the sample or among all rows
    let low = psd(Kind::LowRank, 300, 1);
    let little = Rejection { sample: 30, dictionary: 9, ..usual };
    let deficient = Some(Error::RankDeficient { requested: 5, rank: 4 });
    assert_eq!(refused(low.as_ref(), 5, usual), deficient);
    assert_eq!(refused(low.as_ref(), 5, little), deficient);
    let twice = psd(Kind::Doubled, 12, 1);
    let deficient = Some(Error::RankDeficient { requested: 7, rank: 6 });
    assert_eq!(refused(twice.as_ref(), 7, Rejection::of_size(7)), deficient);
    let single = as_f32(&psd(Kind::LowRank, 12, 1));
    let single = Dense::new(single.as_ref()).unwrap();
    assert!(matches!(prepared(&single, 5).err(), Some(Error::RankDeficient { rank: 4, .. })));
    let zero = Mat::<f64>::zeros(3, 3);
    let deficient = Some(Error::RankDeficient { requested: 1, rank: 0 });
    assert_eq!(refused(zero.as_ref(), 1, usual), deficient);
    // sizes
    let k = psd(Kind::Rough, 12, 1);
    assert!(matches!(refused(k.as_ref(), 0, usual), Some(Error::Empty { .. })));
    assert!(matches!(refused(k.as_ref(), 13, usual), Some(Error::TooMany { .. })));
    let empty = Broken { n: 0, bad: vec![] };
    assert!(matches!(prepared(&empty, 1).err(), Some(Error::Empty { .. })));
    for how in [
        Rejection { dictionary: 0, ..usual },
        Rejection { sample: 0, ..usual },
        Rejection { rounds: 0, ..usual },
        Rejection { trials: 0, ..usual },
    ] {
        assert!(matches!(refused(k.as_ref(), 5, how), Some(Error::Empty { .. })));
    }
    let how = Rejection { intermediate: Some(4), ..usual };
    assert!(matches!(refused(k.as_ref(), 5, how), Some(Error::InvalidParameter { .. })));
    // entries
    let nan = Broken { n: 6, bad: vec![(2, 1, f64::NAN)] };
    assert!(matches!(prepared(&nan, 2).err(), Some(Error::NonFinite { .. })));
    let negative = Mat::from_fn(3, 3, |i, j| if i == j { i as f64 - 1.0 } else { 0.0 });
    let negative = refused(negative.as_ref(), 1, usual);
    assert!(matches!(negative, Some(Error::InvalidWeight { index: 0, .. })));
}

/// t = c: a trial succeeds if all differ, 8!/8⁸ = 0.0024 at best.
#[test]
fn trials_are_capped() {
    let k = psd(Kind::Rough, 40, 1);
    let (k, mut rng) = (Dense::new(k.as_ref()).unwrap(), rng(0));
    let how = Rejection { intermediate: Some(8), trials: 3, ..Rejection::of_size(8) };
    let mut k_dpp = RejectionKDpp::new(&k, 8, how, &mut rng).unwrap();
    assert_eq!(k_dpp.sample(&mut rng).err(), Some(Error::NotAccepted { trials: 3 }));
    assert_eq!((k_dpp.effort().trials, k_dpp.effort().draws), (3, 0));
}

/// `KDpp` is the sampler that suits the sizes.
#[test]
fn the_selector_takes_what_suits() {
    let x: Mat<f64> = random::standard_normal(4000, 2, &mut rng(1));
    let points = Points::from_rows(x.as_ref());
    let k = KernelMatrix::new(Gaussian::new(1.0).unwrap(), points).unwrap();
    let (mut k_dpp, mut generator) = prepared(&k, 5).unwrap();
    let drawn = k_dpp.sample(&mut generator).unwrap();
    assert_eq!(KDpp.select(&k, 5, &mut rng(5)).unwrap(), drawn);
    let few = KernelMatrix::new(Gaussian::new(1.0).unwrap(), points.slice(0..60)).unwrap();
    let drawn = LEnsemble::new(&few).unwrap().k_dpp(5).unwrap().sample(&mut rng(5));
    assert_eq!(KDpp.select(&few, 5, &mut rng(5)).unwrap(), drawn);
}

/// Pinned: a change of these is a change users see.
#[test]
fn seeds_are_stable() {
    let x: Mat<f64> = random::standard_normal(4000, 2, &mut rng(1));
    let k = KernelMatrix::new(Gaussian::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let (mut k_dpp, mut rng) = prepared(&k, 5).unwrap();
    assert_eq!(k_dpp.sample(&mut rng).unwrap().indices(), [703, 416, 2590, 102, 1622]);
}
