//! What every selector of the crate keeps, and what each is for: laws, cost, clusters, rank, bad
//! input.

use crate::common::*;
use faer::Mat;
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, SymmetricEigen};
use nystrom_sketch::testing::{Promise, check_selector};
use nystrom_sketch::{
    Accumulation, AdaptiveFull, AdaptivePartial, ColumnNorm, Diagonal, Dictionary, Draw, Greedy,
    Including, KMeansPlusPlus, LandmarkSelector, Landmarks, Nystrom, RpCholesky, SparseGreedy,
    Uniform,
};

type Named = (&'static str, Box<dyn LandmarkSelector<f64>>, Promise);

fn selectors() -> Vec<Named> {
    let with = Draw::WithReplacement;
    vec![
        ("uniform", Box::new(Uniform::default()), Promise::Exactly),
        ("uniform, replaced", Box::new(Uniform { draw: with }), Promise::AtMost),
        ("diagonal", Box::new(Diagonal::default()), Promise::Exactly),
        ("diagonal, replaced", Box::new(Diagonal { draw: with }), Promise::AtMost),
        ("column norm", Box::new(ColumnNorm::default()), Promise::Exactly),
        ("column norm, replaced", Box::new(ColumnNorm { draw: with }), Promise::AtMost),
        ("rp-cholesky", Box::new(RpCholesky::default()), Promise::UpToRank),
        (
            "rp-cholesky, one by one",
            Box::new(RpCholesky { proposals: Some(1), tolerance: 0.0 }),
            Promise::UpToRank,
        ),
        ("greedy", Box::new(Greedy::default()), Promise::UpToRank),
        ("sparse greedy", Box::new(SparseGreedy::default()), Promise::UpToRank),
        ("adaptive full", Box::new(AdaptiveFull::default()), Promise::UpToRank),
        ("k-means++", Box::new(KMeansPlusPlus), Promise::UpToRank),
        ("adaptive partial", Box::new(AdaptivePartial::default()), Promise::Exactly),
    ]
}

/// The selectors that look at what is left, and so do not miss a cluster and stop at the rank.
fn adaptive() -> Vec<Named> {
    selectors().into_iter().skip(6).filter(|(name, ..)| *name != "adaptive partial").collect()
}

#[test]
fn every_selector_keeps_the_contract() {
    for kind in [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled] {
        let a = psd(kind, 24, 4);
        for (name, selector, promise) in selectors() {
            let k = Dense::new(a.as_ref()).unwrap();
            println!("{name} on {kind:?}"); // shown if the check panics
            check_selector(&*selector, &k, promise);
        }
    }
}

#[test]
fn selectors_keep_the_contract_with_given_rows() {
    for kind in [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled] {
        let a = psd(kind, 24, 4);
        let k = Dense::new(a.as_ref()).unwrap();
        for given in [vec![], vec![1]] {
            let selector = Including { given: given.clone(), others: Greedy::default() };
            check_selector(&selector, &k, Promise::UpToRank);
            let selector = Including { given, others: RpCholesky::default() };
            check_selector(&selector, &k, Promise::UpToRank);
        }
    }
}

#[test]
fn they_work_in_single_precision() {
    let a = psd(Kind::Rough, 24, 4);
    let a = Mat::from_fn(24, 24, |i, j| a[(i, j)] as f32);
    let k = Dense::new(a.as_ref()).unwrap();
    check_selector::<f32>(&RpCholesky::default(), &k, Promise::UpToRank);
    check_selector::<f32>(&Greedy::default(), &k, Promise::UpToRank);
    check_selector::<f32>(&SparseGreedy::default(), &k, Promise::UpToRank);
    check_selector::<f32>(&AdaptiveFull::default(), &k, Promise::UpToRank);
    check_selector::<f32>(&AdaptivePartial::default(), &k, Promise::UpToRank);
    check_selector::<f32>(&KMeansPlusPlus, &k, Promise::UpToRank);
    check_selector::<f32>(&ColumnNorm::default(), &k, Promise::Exactly);
}

/// 600 points on a segment and three far away, in pairs of their own: with 20 of 606 landmarks
/// uniform sampling sees 0.2 of the six on average.
#[test]
fn selectors_that_look_at_the_residual_beat_uniform_on_clusters() {
    let x = Mat::from_fn(606, 1, |i, _| {
        if i < 600 { i as f64 / 600.0 } else { 100.0 * (1 + (i - 600) / 2) as f64 }
    });
    let a = Mat::from_fn(606, 606, |i, j| (-2.0 * (x[(i, 0)] - x[(j, 0)]).powi(2)).exp());
    let k = Dense::new(a.as_ref()).unwrap();
    let error = |selector: &dyn LandmarkSelector<f64>| {
        let one = |seed| {
            let landmarks = selector.select(&k, 20, &mut rng(seed)).unwrap();
            Nystrom::new(&k, &landmarks).unwrap().trace_error(&k).unwrap()
        };
        (0..10).map(one).sum::<f64>() / 10.0
    };
    let uniform = error(&Uniform::default());
    assert!(uniform > 4.0, "{uniform}");
    for (name, selector, _) in adaptive() {
        let e = error(&*selector);
        assert!(e < 0.05 * uniform, "{name}: {e} against {uniform}");
    }
    // blind to what has nothing in common with the known rows
    let partial = error(&AdaptivePartial::default());
    assert!(partial > 0.5 * uniform, "{partial} against {uniform}");
}

/// Entries read: m columns, or all of them once a batch, and nothing beside.
#[test]
fn they_read_what_they_say() {
    let (n, m) = (300, 20);
    let a = psd(Kind::Rough, n, 1);
    let k = Counted::new(Dense::new(a.as_ref()).unwrap());
    let read = |selector: &dyn LandmarkSelector<f64>| {
        k.reset();
        assert_eq!(selector.select(&k, m, &mut rng(1)).unwrap().len(), m);
        (k.entries() as usize, k.diagonal_entries() as usize)
    };
    assert_eq!(read(&Greedy::default()), (n * m, n));
    assert_eq!(read(&KMeansPlusPlus), (n * (m - 1), n));
    assert_eq!(read(&SparseGreedy { candidates: 7 }), (n * m * 7, n));
    assert_eq!(read(&ColumnNorm::default()), (n * n, 0));
    // the last batch of two is not read
    assert_eq!(read(&AdaptivePartial::default()), (n * (m - 2), 0));
    let batches = 10;
    // norms, then nine batches of residuals
    assert_eq!(read(&AdaptiveFull::default()), (n * (m - 2) + n * n * batches, 0));
}

/// With one column a batch AdapFull draws the second landmark with p_j ∝ ‖E_{:j}‖²; χ² with 19
/// degrees of freedom exceeds 65 with probability below 1e-6 (64.4 by Wilson and Hilferty's
/// approximation).
#[test]
fn the_second_batch_follows_the_residual() {
    let a = psd(Kind::Rough, 5, 7);
    let k = Dense::new(a.as_ref()).unwrap();
    let (full, partial) = (
        AdaptiveFull { batch: Some(1) },
        AdaptivePartial { batch: Some(1), rank_fraction: Some(0.0) },
    );
    for (name, selector) in [("full", &full as &dyn LandmarkSelector<f64>), ("partial", &partial)] {
        let (repeats, mut counts, mut rng) = (30_000, [[0.0; 5]; 5], rng(3));
        for _ in 0..repeats {
            let pair = selector.select(&k, 2, &mut rng).unwrap();
            counts[pair.indices()[0]][pair.indices()[1]] += 1.0;
        }
        let mut chi2 = 0.0;
        for s in 0..5 {
            let column = a.subcols(s, 1);
            // (I − uuᵀ)K
            let e = &a - column * (column.transpose() * &a) / column.squared_norm_l2();
            let weight = |j: usize| match (name, j == s) {
                (_, true) => 0.0,
                ("full", _) => e.col(j).squared_norm_l2(),
                _ => a[(j, s)].powi(2), // rank 0 is subtracted from the one known column
            };
            let total: f64 = (0..5).map(weight).sum();
            for j in (0..5).filter(|&j| j != s) {
                let expected = repeats as f64 / 5.0 * weight(j) / total;
                assert!(expected > 5.0);
                chi2 += (counts[s][j] - expected).powi(2) / expected;
            }
        }
        assert!(chi2 < 65.0, "{name}: {chi2}");
    }
}

/// D² sampling and column norms against their laws: 4 degrees of freedom at most 34, 19 at most 65,
/// each with probability 1 − 1e-6.
#[test]
fn distances_and_norms_are_sampled_from_their_laws() {
    let a = psd(Kind::LowRank, 5, 3);
    let k = Dense::new(a.as_ref()).unwrap();
    let (repeats, mut pairs, mut first, mut rng) = (30_000, [[0.0; 5]; 5], [0.0; 5], rng(4));
    for _ in 0..repeats {
        let pair = KMeansPlusPlus.select(&k, 2, &mut rng).unwrap();
        pairs[pair.indices()[0]][pair.indices()[1]] += 1.0;
        first[ColumnNorm::default().select(&k, 2, &mut rng).unwrap().indices()[0]] += 1.0;
    }
    let (mut chi2_pairs, mut chi2_first) = (0.0, 0.0);
    for s in 0..5 {
        let distance = |j: usize| a[(j, j)] + a[(s, s)] - 2.0 * a[(j, s)];
        let total: f64 = (0..5).map(distance).sum();
        for j in (0..5).filter(|&j| j != s) {
            let expected = repeats as f64 / 5.0 * distance(j) / total;
            chi2_pairs += (pairs[s][j] - expected).powi(2) / expected;
        }
        let expected = repeats as f64 * a.col(s).squared_norm_l2() / a.squared_norm_l2();
        chi2_first += (first[s] - expected).powi(2) / expected;
    }
    assert!(chi2_pairs < 65.0 && chi2_first < 34.0, "{chi2_pairs}, {chi2_first}");
}

/// With all rows as candidates every step takes the row that lowers the trace most.
#[test]
fn sparse_greedy_takes_the_largest_gain() {
    let a = psd(Kind::Gaussian, 30, 2);
    let k = Dense::new(a.as_ref()).unwrap();
    let f = SparseGreedy { candidates: 30 }.factor(&k, 4, &mut rng(0)).unwrap();
    let mut left = a.clone();
    for &s in f.pivots() {
        let gain = |j: usize| left.col(j).squared_norm_l2() / left[(j, j)];
        assert!(
            (0..30).filter(|&j| left[(j, j)] > 1e-10).all(|j| gain(j) <= gain(s) * (1.0 + 1e-9))
        );
        let column = left.subcols(s, 1).to_owned() / left[(s, s)].sqrt();
        left -= &column * column.transpose();
    }
    assert!((&left - (&a - f.factor() * f.factor().transpose())).norm_max() < 1e-10);
}

/// Prefixes of one run are a nested path: the error never rises with m, in any norm.
#[test]
fn nested_landmarks_never_raise_the_error() {
    let a = psd(Kind::Rough, 40, 5);
    let k = Dense::new(a.as_ref()).unwrap();
    for (name, selector, _) in adaptive() {
        let landmarks = selector.select(&k, 20, &mut rng(6)).unwrap();
        let mut before = [f64::INFINITY; 3];
        for m in 1..=landmarks.len() {
            let prefix =
                nystrom_sketch::Landmarks::new(40, landmarks.indices()[..m].to_vec()).unwrap();
            let left = &a - whole(&Nystrom::new(&k, &prefix).unwrap());
            let sigma = SymmetricEigen::new(left.as_ref()).unwrap();
            let norms = [left.norm_l2(), sigma.values()[0], sigma.values().iter().sum()];
            assert!(
                norms.iter().zip(before).all(|(now, before)| *now <= before + 1e-12),
                "{name}, m = {m}"
            );
            before = norms;
        }
    }
}

#[test]
fn they_stop_at_the_numerical_rank() {
    let a = psd(Kind::LowRank, 60, 1); // rank 3
    let k = Dense::new(a.as_ref()).unwrap();
    for (name, selector, _) in adaptive().into_iter().filter(|(name, ..)| *name != "k-means++") {
        let len = selector.select(&k, 30, &mut rng(2)).unwrap().len();
        assert!(len <= 5, "{name} takes {len}"); // a batch of three may overshoot
    }
    let one_by_one = AdaptiveFull { batch: Some(1) };
    assert_eq!(one_by_one.select(&k, 30, &mut rng(2)).unwrap().len(), 3);
    let doubled = psd(Kind::Doubled, 60, 1);
    let k = Dense::new(doubled.as_ref()).unwrap();
    for (name, selector, _) in adaptive() {
        let landmarks = selector.select(&k, 60, &mut rng(2)).unwrap();
        // copies within one batch are drawn unseen, six a batch; one by one there are none
        let most = if name == "adaptive full" { 45 } else { 30 };
        assert!(landmarks.len() <= most, "{name} takes {} of 30 points", landmarks.len());
    }
}

#[test]
fn zero_nan_and_single_rows() {
    let zero = Mat::<f64>::zeros(4, 4);
    let zero = Dense::new(zero.as_ref()).unwrap();
    let nan = Broken {
        n: 5,
        bad: vec![(4, 1, f64::NAN), (4, 2, f64::NAN), (4, 0, f64::NAN), (4, 3, f64::NAN)],
    };
    let one = Mat::from_fn(1, 1, |_, _| 3.0);
    let one = Dense::new(one.as_ref()).unwrap();
    for (name, selector, _) in selectors() {
        assert_eq!(selector.select(&one, 1, &mut rng(0)).unwrap().indices(), [0], "{name}");
        assert!(matches!(
            selector.select(&Broken { n: 0, bad: vec![] }, 1, &mut rng(0)),
            Err(Error::Empty { .. })
        ));
    }
    for (name, selector, _) in adaptive() {
        assert!(
            matches!(selector.select(&zero, 3, &mut rng(0)), Err(Error::InvalidWeight { .. })),
            "{name}"
        );
        let refused = selector.select(&nan, 5, &mut rng(0)).unwrap_err();
        assert!(
            matches!(refused, Error::NonFinite { row, col, .. } if row == 4 || col == 4),
            "{name}: {refused:?}"
        );
    }
    let k = Mat::<f64>::identity(9, 9);
    let k = Dense::new(k.as_ref()).unwrap();
    let refused =
        |selector: &dyn LandmarkSelector<f64>| selector.select(&k, 3, &mut rng(0)).unwrap_err();
    assert!(matches!(refused(&AdaptiveFull { batch: Some(0) }), Error::Empty { .. }));
    assert!(matches!(refused(&SparseGreedy { candidates: 0 }), Error::Empty { .. }));
    for fraction in [-0.1, 1.0, f64::NAN] {
        let selector = AdaptivePartial { batch: None, rank_fraction: Some(fraction) };
        assert!(matches!(refused(&selector), Error::InvalidParameter { .. }));
    }
}

/// Pinned: a change of these is a change users see.
#[test]
fn seeds_are_stable() {
    let a = Mat::from_fn(9, 9, |i, j| (i.min(j) + 1) as f64);
    let k = Dense::new(a.as_ref()).unwrap();
    let picks: Vec<Vec<usize>> = selectors()
        .iter()
        .skip(4)
        .map(|(_, s, _)| s.select(&k, 4, &mut rng(2024)).unwrap().into_indices())
        .collect();
    let pinned: [&[usize]; 9] = [
        &[6, 3, 5, 7],
        &[4, 6, 1],
        &[4, 7, 0, 1],
        &[4, 7, 1, 0],
        &[8, 3, 5, 1],
        &[6, 3, 8, 1],
        &[6, 2, 8, 4],
        &[6, 2, 4, 0],
        &[6, 5, 8, 3],
    ];
    assert_eq!(picks, pinned);
}

/// A boxed selector is a selector, whether or not it can be sent to another thread.
#[test]
fn a_box_of_any_selector_is_one() {
    fn takes<S: LandmarkSelector<f64>>(selector: S, k: &dyn PsdMatrix<f64>) -> usize {
        selector.select(k, 3, &mut rng(0)).unwrap().len()
    }
    let a = psd(Kind::Rough, 20, 1);
    let k = Dense::new(a.as_ref()).unwrap();
    let boxed: Box<dyn LandmarkSelector<f64>> = Box::new(Uniform::default());
    assert_eq!(takes(&boxed, &k), 3);
    assert_eq!(takes(boxed, &k), 3);
}

/// More draws than fit into memory are refused before any is made.
#[test]
fn draws_have_a_limit() {
    let draw = Draw::WithReplacement;
    let refused = |result: Result<Landmarks, Error>| {
        matches!(result, Err(Error::TooMany { available: 268_435_456, .. }))
    };
    for m in [(1 << 28) + 1, usize::MAX] {
        assert!(refused(Landmarks::uniform(10, m, draw, &mut rng(0))));
        assert!(refused(Landmarks::draw(&[1.0; 10], m, draw, &mut rng(0))));
        assert!(Dictionary::with_replacement(&[1.0; 10], m, &mut rng(0)).is_err());
        assert!(Accumulation::uniform(m).sample::<f64>(10, 2, &mut rng(0)).is_err());
    }
}
