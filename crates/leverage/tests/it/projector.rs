//! The projector's formula against dense algebra and its limit cases, and the selector built on the
//! estimators.
#![allow(non_snake_case, clippy::excessive_precision)] // reference values as printed

use crate::common::*;
use faer::Mat;
use nystrom_leverage::{
    AlaouiMahoney, Exact, LeverageProportional, Projector, RidgeLeverage, exact_scores,
};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, Result, Ridge, SymmetricEigen};
use nystrom_sketch::{Dictionary, Draw, LandmarkSelector, Nystrom};
use proptest::prelude::*;
use rand::Rng;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn full_dictionary_gives_the_exact_scores((k, _) in any_psd(), log_mu in -5.0..2.0_f64) {
        let (n, mu) = (k.nrows(), 10f64.powf(log_mu));
        let K = Dense::new(k.as_ref()).unwrap();
        let projector = Projector::new(&K, &Dictionary::full(n).unwrap(),
            Ridge::Absolute(mu)).unwrap();
        let exact = exact_scores(&K, Ridge::Absolute(mu)).unwrap();
        let slack = 8.0 * n as f64 * f64::EPSILON * (1.0 + largest_eigenvalue(k.as_ref()) / mu);
        for (a, b) in projector.scores(&K, (0..n).into()).unwrap().iter().zip(&exact.scores) {
            prop_assert!((a - b).abs() <= slack, "{a} against {b}");
        }
    }

    /// With weights at most 1, SSᵀ ⪯ I and so τ̃_i ≥ l_i: a subset over-estimates. More rows, lower
    /// scores.
    #[test]
    fn a_subset_over_estimates((k, _) in any_psd(), log_mu in -3.0..2.0_f64, cut in 0.0..1.0_f64) {
        let (n, ridge) = (k.nrows(), Ridge::Absolute(10f64.powf(log_mu)));
        let K = Dense::new(k.as_ref()).unwrap();
        let on_first = |m: usize| {
            let dictionary = Dictionary::new(n, (0..m).collect(), vec![1.0; m]).unwrap();
            Projector::new(&K, &dictionary, ridge).unwrap().scores(&K, (0..n).into()).unwrap()
        };
        let exact = exact_scores(&K, ridge).unwrap().scores;
        let m = (n as f64 * cut) as usize;
        let slack = 1e-13 * n as f64 * (1.0 + largest_eigenvalue(k.as_ref()) / 10f64.powf(log_mu));
        let (few, more) = (on_first(m), on_first((m + 1).min(n)));
        for i in 0..n {
            prop_assert!(few[i] >= more[i] - slack && more[i] >= exact[i] - slack);
        }
    }

    /// (1 − ε)(K + μI) ⪯ K^½SSᵀK^½ + μI ⪯ (1 + ε)(K + μI) gives l_i/(1 + ε) ≤ τ̃_i ≤ l_i/(1 − ε):
    /// the accuracy of a dictionary is that of its scores. ε is computed, not assumed.
    #[test]
    fn an_accurate_dictionary_gives_accurate_scores((k, seed) in any_psd(),
        log_mu in -2.0..2.0_f64) {
        let (n, mu) = (k.nrows(), 10f64.powf(log_mu));
        let K = Dense::new(k.as_ref()).unwrap();
        let dictionary = Dictionary::uniform(n, 4 * n, Draw::WithReplacement,
            &mut rng(seed)).unwrap();
        let epsilon = dictionary_error(&k, &dictionary, mu);
        prop_assume!(epsilon < 0.99);
        let exact = exact_scores(&K, Ridge::Absolute(mu)).unwrap().scores;
        let projector = Projector::new(&K, &dictionary, Ridge::Absolute(mu)).unwrap();
        for (tau, l) in projector.scores(&K, (0..n).into()).unwrap().iter().zip(exact) {
            prop_assert!(*tau >= l / (1.0 + epsilon) - 1e-9 && *tau <= l / (1.0 - epsilon) + 1e-9,
                "{tau} for {l}, ε = {epsilon}");
        }
    }

    /// [K − L_μ]_ii/μ with the regularised approximation of `nystrom-sketch`; any rows in any
    /// order, repetitions allowed.
    #[test]
    fn scores_are_the_diagonal_of_the_regularised_error((k, seed) in any_psd(), m in 1..20_usize) {
        let (n, mu) = (k.nrows(), 0.3);
        let K = Dense::new(k.as_ref()).unwrap();
        let dictionary = Dictionary::with_replacement(&vec![1.0; n], m, &mut rng(seed)).unwrap();
        let l = Nystrom::regularized(&K, &dictionary, Ridge::Absolute(mu)).unwrap().diag();
        let projector = Projector::new(&K, &dictionary, Ridge::Absolute(mu)).unwrap();
        let rows = [n - 1, 0, n - 1, n / 2];
        let scores = projector.scores(&K, (&rows).into()).unwrap();
        for (&i, tau) in rows.iter().zip(scores) {
            let expected = ((k[(i, i)] - l[i]) / mu).clamp(0.0, k[(i, i)] / (k[(i, i)] + mu));
            prop_assert!((tau - expected).abs() < 1e-11 * (1.0 + k.norm_max()));
        }
    }
}

/// ‖(K + μI)^(−½) K^½(SSᵀ − I)K^½ (K + μI)^(−½)‖₂
fn dictionary_error(k: &Mat<f64>, dictionary: &Dictionary<f64>, mu: f64) -> f64 {
    let (eigen, n) = (SymmetricEigen::new(k.as_ref()).unwrap(), k.nrows());
    let psi: Vec<f64> =
        eigen.values().iter().map(|s| (s.max(0.0) / (s.max(0.0) + mu)).sqrt()).collect();
    let mut gap = vec![-1.0; n];
    dictionary.indices().iter().zip(dictionary.weights()).for_each(|(&i, &w)| gap[i] += w);
    let U = eigen.vectors();
    let error = Mat::from_fn(n, n, |a, b| {
        psi[a] * psi[b] * (0..n).map(|i| U[(i, a)] * gap[i] * U[(i, b)]).sum::<f64>()
    });
    largest_eigenvalue(error.as_ref()).max(-smallest_eigenvalue(error.as_ref()))
}

/// Values from 50-digit arithmetic (mpmath): (K_ii − [L_γ]_ii)/γ with weights 2, ½, 3 and γ = 0.1;
/// those above 1/1.1 are clamped.
#[test]
fn agrees_with_high_precision() {
    let x: [f64; 6] = [0.0, 0.1, 0.3, 0.35, 0.8, 1.0];
    let k = Mat::from_fn(6, 6, |i, j| (-(x[i] - x[j]).powi(2) / 0.18).exp());
    let K = Dense::new(k.as_ref()).unwrap();
    let dictionary = Dictionary::new(6, vec![0, 3, 4], vec![2.0, 0.5, 3.0]).unwrap();
    let scores = Projector::new(&K, &dictionary, Ridge::Absolute(0.1))
        .unwrap()
        .scores(&K, (0..6).into())
        .unwrap();
    let cap = 1.0 / 1.1;
    let expected = [0.46965728444242493, 0.80284141997692708, cap, cap, 0.32140444439399454, cap];
    assert!(scores.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13), "{scores:?}");
}

#[test]
fn the_empty_dictionary_gives_the_upper_bound() {
    let k = psd(Kind::LowRank, 12, 1);
    let K = Dense::new(k.as_ref()).unwrap();
    let projector =
        Projector::new(&K, &Dictionary::empty(12).unwrap(), Ridge::Absolute(0.5)).unwrap();
    assert!(projector.is_empty());
    for (i, tau) in projector.scores(&K, (0..12).into()).unwrap().into_iter().enumerate() {
        assert_eq!(tau, k[(i, i)] / (k[(i, i)] + 0.5));
    }
    assert_eq!(projector.scores(&K, (3..3).into()).unwrap(), Vec::<f64>::new());
}

#[test]
fn entries_bits_and_single_precision() {
    let k = psd(Kind::Rough, 1500, 2);
    let K = Counted::new(Dense::new(k.as_ref()).unwrap());
    let dictionary = Dictionary::uniform(1500, 40, Draw::WithoutReplacement, &mut rng(1)).unwrap();
    let run = || {
        let projector = Projector::new(&K, &dictionary, Ridge::PerSample(1e-2)).unwrap();
        projector.scores(&K, (0..1500).into()).unwrap()
    };
    let double = run();
    assert_eq!((K.entries(), K.diagonal_entries()), (40 * 40 + 1500 * 40, 1500));
    assert!(same_at_any_thread_count(run) == double);
    let k32 = Mat::from_fn(1500, 1500, |i, j| k[(i, j)] as f32);
    let K32 = Dense::new(k32.as_ref()).unwrap();
    let weights = vec![1500.0_f32 / 40.0; 40];
    let dictionary = Dictionary::new(1500, dictionary.indices().to_vec(), weights).unwrap();
    let single = Projector::new(&K32, &dictionary, Ridge::PerSample(1e-2_f32)).unwrap();
    for (a, b) in single.scores(&K32, (0..1500).into()).unwrap().iter().zip(double) {
        assert!((*a as f64 - b).abs() < 1e-5, "{a} against {b}");
    }
}

/// The provided `scores` of an estimator that has only a dictionary.
#[test]
fn the_provided_method_projects_on_the_dictionary() {
    struct Half;
    impl RidgeLeverage<f64> for Half {
        fn dictionary(
            &self,
            k: &dyn PsdMatrix<f64>,
            _: Ridge<f64>,
            rng: &mut dyn Rng,
        ) -> Result<Dictionary<f64>> {
            Dictionary::uniform(k.dim(), k.dim() / 2, Draw::WithoutReplacement, rng)
        }
    }
    let k = psd(Kind::Gaussian, 30, 1);
    let K = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::PerSample(0.01);
    let dictionary = Half.dictionary(&K, ridge, &mut rng(9)).unwrap();
    let expected =
        Projector::new(&K, &dictionary, ridge).unwrap().scores(&K, (0..30).into()).unwrap();
    let boxed: Box<dyn RidgeLeverage<f64>> = Box::new(Half);
    assert_eq!(boxed.scores(&K, ridge, &mut rng(9)).unwrap(), expected);
}

#[test]
fn leverage_proportional_selects_by_the_scores() {
    let k = psd(Kind::Rough, 5, 3);
    let K = Dense::new(k.as_ref()).unwrap();
    let ridge = Ridge::Absolute(0.7);
    let exact = exact_scores(&K, ridge).unwrap();
    let repeats = 20_000.0;
    for draw in [Draw::WithReplacement, Draw::WithoutReplacement] {
        let selector: Box<dyn LandmarkSelector<f64>> =
            Box::new(LeverageProportional { estimator: Exact, ridge, draw });
        let (mut counts, mut rng) = ([0.0; 5], rng(3));
        for _ in 0..repeats as usize {
            counts[selector.select(&K, 2, &mut rng).unwrap().indices()[0]] += 1.0;
        }
        let expected = |i: usize| repeats * exact.scores[i] / exact.d_eff();
        let chi2: f64 = (0..5).map(|i| (counts[i] - expected(i)).powi(2) / expected(i)).sum();
        assert!(chi2 < 34.0, "{draw:?}: {chi2}"); // χ²_4 < 34 with probability 1 − 7e-7
    }
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let fine = Broken { n: 5, bad: vec![] };
    let dictionary = Dictionary::new(5, vec![0, 1], vec![1.0, 2.0]).unwrap();
    let one = Ridge::Absolute(1.0);
    let projector = Projector::new(&fine, &dictionary, one).unwrap();
    let refused = projector.scores(&fine, (&[1, 5]).into());
    assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 1, index: 5, n: 5, .. })));
    let larger = Broken { n: 6, bad: vec![] };
    assert!(matches!(projector.scores(&larger, (0..6).into()), Err(Error::Shape { .. })));
    assert!(matches!(Projector::new(&larger, &dictionary, one), Err(Error::Shape { .. })));
    assert!(matches!(
        Projector::new(&fine, &dictionary, Ridge::PerSample(0.0)),
        Err(Error::InvalidParameter { .. })
    ));
    for value in [f64::NAN, f64::INFINITY] {
        let off = Broken { n: 5, bad: vec![(4, 1, value)] };
        assert!(matches!(
            projector.scores(&off, (&[2, 4]).into()),
            Err(Error::NonFinite { row: 4, col: 1, .. })
        ));
        let on = Broken { n: 5, bad: vec![(4, 4, value)] };
        assert!(matches!(
            projector.scores(&on, (&[2, 4]).into()),
            Err(Error::NonFinite { row: 4, col: 4, .. })
        ));
    }
    for draw in [Draw::WithReplacement, Draw::WithoutReplacement] {
        let selector =
            LeverageProportional { estimator: AlaouiMahoney { columns: 3 }, ridge: one, draw };
        assert!(matches!(selector.select(&fine, 0, &mut rng(0)), Err(Error::Empty { .. })));
        let many = selector.select(&fine, 6, &mut rng(0));
        match draw {
            Draw::WithReplacement => assert!(many.unwrap().len() <= 5),
            Draw::WithoutReplacement => {
                assert!(matches!(many, Err(Error::TooMany { requested: 6, available: 5, .. })))
            }
        }
    }
}
