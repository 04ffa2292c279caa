//! Landmarks by leverage scores: the contract of every selector of the crate, rank-k scores exact
//! and approximate.

use crate::common::*;
use faer::Mat;
use nystrom_leverage::{
    AlaouiMahoney, Draw, Exact, ExactSpectrum, FastRankLeverage, LandmarkSelector, Landmarks,
    LeverageProportional, RankLeverage, RecursiveNystrom, fast_rank_k_scores,
};
use nystrom_linalg_core::{Counted, Dense, Error, Ridge};
use nystrom_sketch::testing::{Promise, check_selector};
use nystrom_sketch::{Nystrom, Uniform};
use proptest::prelude::*;

#[test]
fn every_selector_keeps_the_contract() {
    let ridge = Ridge::PerSample(1e-2);
    let draws =
        [(Draw::WithoutReplacement, Promise::Exactly), (Draw::WithReplacement, Promise::AtMost)];
    for kind in Kind::ALL {
        let a = psd(kind, 24, 4);
        let k = Dense::new(a.as_ref()).unwrap();
        for (draw, promise) in draws {
            check_selector::<f64>(&RankLeverage { rank: None, draw }, &k, promise);
            check_selector::<f64>(&RankLeverage { rank: Some(3), draw }, &k, promise);
            check_selector::<f64>(&FastRankLeverage { columns: 12, rank: None, draw }, &k, promise);
            check_selector::<f64>(
                &LeverageProportional { estimator: Exact, ridge, draw },
                &k,
                promise,
            );
            let estimator = AlaouiMahoney { columns: 12 };
            check_selector::<f64>(&LeverageProportional { estimator, ridge, draw }, &k, promise);
        }
        check_selector::<f64>(&RecursiveNystrom::default(), &k, Promise::Exactly);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The approximate scores are the exact rank-k scores of L, sum to k, and do not exceed the
    /// ridge-free score 1.
    #[test]
    fn fast_scores_are_those_of_the_approximation((a, seed) in any_psd(), m in 1..20_usize,
        rank in 1..6_usize) {
        let (n, k) = (a.nrows(), Dense::new(a.as_ref()).unwrap());
        let landmarks = Uniform::default().select(&k, m.min(n), &mut rng(seed)).unwrap();
        let l = whole(&Nystrom::new(&k, &landmarks).unwrap());
        let spectrum = ExactSpectrum::new(&Dense::new(l.as_ref()).unwrap()).unwrap();
        let sigma = spectrum.eigenvalues();
        // rank-k scores are defined only where there is a gap
        prop_assume!(rank < n && sigma[rank - 1] > 1e-6 * sigma[0]
            && sigma[rank - 1] - sigma[rank] > 1e-3 * sigma[rank - 1]);
        let fast = fast_rank_k_scores(&k, &landmarks, rank).unwrap();
        prop_assert!((fast.iter().sum::<f64>() - rank as f64).abs() < 1e-6);
        for (fast, exact) in fast.iter().zip(spectrum.rank_k_scores(rank).unwrap()) {
            prop_assert!((fast - exact).abs() < 1e-6 && *fast <= 1.0 + 1e-6, "{} against {}",
                fast, exact);
        }
    }
}

#[test]
fn all_columns_give_the_exact_scores() {
    let a = psd(Kind::Rough, 60, 1);
    let k = Dense::new(a.as_ref()).unwrap();
    let exact = ExactSpectrum::new(&k).unwrap().rank_k_scores(7).unwrap();
    let fast = fast_rank_k_scores(&k, &Landmarks::all(60).unwrap(), 7).unwrap();
    assert!(fast.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-10));
}

#[test]
fn entries_are_those_of_the_columns_and_bits_do_not_depend_on_threads() {
    let n = 2500;
    let a = Mat::from_fn(n, n, |i, j| (-((i as f64 - j as f64) / 300.0).powi(2)).exp());
    let k = Counted::new(Dense::new(a.as_ref()).unwrap());
    let landmarks = Landmarks::new(n, (0..n).step_by(113).collect()).unwrap();
    fast_rank_k_scores(&k, &landmarks, 5).unwrap();
    let m = landmarks.len() as u64;
    assert_eq!((k.entries(), k.diagonal_entries()), (n as u64 * m + m * m, 0));
    same_at_any_thread_count(|| fast_rank_k_scores(&k, &landmarks, 5).unwrap());
}

/// One distant row in 61: rank-k scores find it, uniform draws do not.
#[test]
fn they_beat_uniform_on_a_cluster() {
    let k = Mat::from_fn(61, 61, |i, j| {
        if (i < 60) == (j < 60) { (-0.01 * (i as f64 - j as f64).abs()).exp() } else { 0.0 }
    });
    let k = Dense::new(k.as_ref()).unwrap();
    let found = |selector: &dyn LandmarkSelector<f64>| {
        (0..200)
            .filter(|&seed| selector.select(&k, 6, &mut rng(seed)).unwrap().indices().contains(&60))
            .count()
    };
    let lev = found(&RankLeverage { rank: Some(4), ..Default::default() });
    let app_lev = found(&FastRankLeverage { columns: 200, rank: Some(4), ..Default::default() });
    let uniform = found(&Uniform::default());
    assert!(lev > 150 && app_lev > 150 && uniform < 60, "{lev}, {app_lev}, {uniform}");
}

#[test]
fn ranks_beyond_the_numerical_one_are_refused() {
    let a = psd(Kind::LowRank, 30, 2);
    let k = Dense::new(a.as_ref()).unwrap();
    let landmarks = Landmarks::all(30).unwrap();
    assert!(matches!(fast_rank_k_scores(&k, &landmarks, 0), Err(Error::Empty { .. })));
    assert!(matches!(
        fast_rank_k_scores(&k, &landmarks, 4),
        Err(Error::RankDeficient { requested: 4, rank: 3 })
    ));
    let lev = RankLeverage { rank: Some(4), ..Default::default() };
    assert!(matches!(
        lev.select(&k, 5, &mut rng(0)),
        Err(Error::RankDeficient { requested: 4, rank: 3 })
    ));
    let app_lev = FastRankLeverage { columns: 20, rank: Some(4), ..Default::default() };
    assert!(matches!(
        app_lev.select(&k, 5, &mut rng(0)),
        Err(Error::RankDeficient { requested: 4, rank: 3 })
    ));
    let nan = Broken { n: 5, bad: vec![(3, 1, f64::NAN)] };
    assert!(RankLeverage::default().select(&nan, 3, &mut rng(0)).is_err());
    assert!(FastRankLeverage::default().select(&nan, 3, &mut rng(0)).is_err());
}

/// Pinned: a change of these is a change users see.
#[test]
fn seeds_are_stable() {
    let a = Mat::from_fn(9, 9, |i, j| (i.min(j) + 1) as f64);
    let k = Dense::new(a.as_ref()).unwrap();
    let lev = RankLeverage::default().select(&k, 4, &mut rng(2024)).unwrap().into_indices();
    let app_lev = FastRankLeverage { columns: 6, ..Default::default() }
        .select(&k, 4, &mut rng(2024))
        .unwrap();
    assert_eq!((lev, app_lev.into_indices()), (vec![3, 6, 5, 4], vec![5, 0, 6, 1]));
}
