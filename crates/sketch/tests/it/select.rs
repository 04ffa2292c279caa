//! The laws of the selectors, what they refuse, and the sample-size rule.

use crate::common::*;
use faer::Mat;
use nystrom_linalg_core::{Counted, Dense, Error};
use nystrom_sketch::{
    Diagonal, Draw, LandmarkSelector, Proportional, Uniform, approximation_sample_size,
    risk_sample_size,
};
use std::collections::HashSet;

const DRAWS: [Draw; 2] = [Draw::WithReplacement, Draw::WithoutReplacement];

fn diagonal(values: &[f64]) -> Mat<f64> {
    Mat::from_fn(values.len(), values.len(), |i, j| if i == j { values[i] } else { 0.0 })
}

fn selectors(draw: Draw, n: usize) -> Vec<(&'static str, Box<dyn LandmarkSelector<f64>>)> {
    vec![
        ("uniform", Box::new(Uniform { draw })),
        ("diagonal", Box::new(Diagonal { draw })),
        ("proportional", Box::new(Proportional { scores: vec![1.0; n], draw })),
    ]
}

#[test]
fn every_selector_keeps_the_common_contract() {
    let k = psd(Kind::LowRank, 30, 4);
    let k = Dense::new(k.as_ref()).unwrap();
    for draw in DRAWS {
        for (name, selector) in selectors(draw, 30) {
            let mut rng = rng(7);
            for m in [1, 5, 30] {
                let landmarks = selector.select(&k, m, &mut rng).unwrap();
                let distinct: HashSet<_> = landmarks.indices().iter().collect();
                assert!(landmarks.n() == 30 && distinct.len() == landmarks.len(), "{name}");
                let full = draw == Draw::WithoutReplacement;
                assert!(
                    if full { landmarks.len() == m } else { landmarks.len() <= m },
                    "{name}, {draw:?}, {m}"
                );
            }
            assert!(matches!(selector.select(&k, 0, &mut rng), Err(Error::Empty { .. })), "{name}");
            let too_many = selector.select(&k, 31, &mut rng);
            match draw {
                Draw::WithReplacement => assert!(too_many.unwrap().len() <= 30),
                Draw::WithoutReplacement => {
                    assert!(
                        matches!(
                            too_many,
                            Err(Error::TooMany { requested: 31, available: 30, .. })
                        ),
                        "{name}"
                    )
                }
            }
        }
    }
}

/// First landmark over many seeds against its law: χ² with 4 degrees of freedom exceeds 34 with
/// probability below 1e-6.
#[test]
fn the_first_draw_follows_the_law() {
    let weights = [1.0, 2.0, 0.5, 4.0, 2.5];
    let k = diagonal(&weights);
    let k = Dense::new(k.as_ref()).unwrap();
    let repeats = 20_000;
    for draw in DRAWS {
        let uniform = Uniform { draw };
        let by_diagonal = Diagonal { draw };
        let proportional = Proportional { scores: weights.to_vec(), draw };
        let cases: [(&dyn LandmarkSelector<f64>, [f64; 5]); 3] = [
            (&uniform, [0.2; 5]),
            (&by_diagonal, weights.map(|w| w / 10.0)),
            (&proportional, weights.map(|w| w / 10.0)),
        ];
        for (case, (selector, law)) in cases.into_iter().enumerate() {
            let (mut counts, mut rng) = ([0.0; 5], rng(11 + case as u64));
            for _ in 0..repeats {
                counts[selector.select(&k, 3, &mut rng).unwrap().indices()[0]] += 1.0;
            }
            let chi2: f64 = counts
                .iter()
                .zip(law)
                .map(|(c, p)| (c - p * repeats as f64).powi(2) / (p * repeats as f64))
                .sum();
            assert!(chi2 < 34.0, "{draw:?}, case {case}: {chi2}");
        }
    }
}

/// Pairs drawn without replacement: p(i, j) = w_i w_j / ((1 − w_i) Σ) in that order. 20 cells,
/// χ²_19 < 67.3 with probability 1 − 2e-7.
#[test]
fn pairs_without_replacement_follow_successive_sampling() {
    let w = [0.1, 0.2, 0.05, 0.4, 0.25];
    let k = diagonal(&w);
    let k = Dense::new(k.as_ref()).unwrap();
    let (repeats, mut counts, mut rng) = (30_000, [[0.0; 5]; 5], rng(12));
    for _ in 0..repeats {
        let pair = Diagonal { draw: Draw::WithoutReplacement }.select(&k, 2, &mut rng).unwrap();
        counts[pair.indices()[0]][pair.indices()[1]] += 1.0;
    }
    let mut chi2 = 0.0;
    for i in 0..5 {
        for j in (0..5).filter(|&j| j != i) {
            let expected = repeats as f64 * w[i] * w[j] / (1.0 - w[i]);
            chi2 += (counts[i][j] - expected).powi(2) / expected;
        }
    }
    assert!(chi2 < 67.3, "{chi2}");
}

#[test]
fn reads_no_more_than_it_says() {
    let k = Mat::<f64>::identity(50, 50);
    let k = Counted::new(Dense::new(k.as_ref()).unwrap());
    let _ = Uniform::default().select(&k, 5, &mut rng(0)).unwrap();
    assert_eq!((k.entries(), k.diagonal_entries()), (0, 0));
    let _ = Diagonal::default().select(&k, 5, &mut rng(0)).unwrap();
    assert_eq!((k.entries(), k.diagonal_entries()), (0, 50));
}

/// Pinned: a change of these is a change users see.
#[test]
fn seeds_are_stable() {
    let k = diagonal(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let k = Dense::new(k.as_ref()).unwrap();
    let pick = |selector: &dyn LandmarkSelector<f64>| {
        selector.select(&k, 4, &mut rng(2024)).unwrap().into_indices()
    };
    let picks = DRAWS.map(|draw| (pick(&Uniform { draw }), pick(&Diagonal { draw })));
    let pinned = [
        (vec![5, 3, 0], vec![3, 5, 6, 1]),    // WithReplacement
        (vec![5, 0, 4, 3], vec![6, 3, 5, 7]), // WithoutReplacement
    ];
    assert_eq!(picks, pinned);
}

#[test]
fn f32_and_f64_draw_the_same_landmarks() {
    let (a, b) = (Mat::from_fn(40, 40, |i, j| if i == j { 1.0 + (i % 5) as f64 } else { 0.0 }), 40);
    let c = Mat::from_fn(b, b, |i, j| a[(i, j)] as f32);
    let (a, c) = (Dense::new(a.as_ref()).unwrap(), Dense::new(c.as_ref()).unwrap());
    for draw in DRAWS {
        let x = Diagonal { draw }.select(&a, 9, &mut rng(3)).unwrap();
        let y = Diagonal { draw }.select(&c, 9, &mut rng(3)).unwrap();
        assert_eq!(x, y);
    }
}

#[test]
fn bad_weights_are_refused() {
    let fine = Broken { n: 4, bad: vec![] };
    let nan = Broken { n: 4, bad: vec![(2, 2, f64::NAN)] };
    let zero = Mat::<f64>::zeros(4, 4);
    let zero = Dense::new(zero.as_ref()).unwrap();
    for draw in DRAWS {
        let refused = Diagonal { draw }.select(&nan, 2, &mut rng(0));
        assert!(matches!(refused, Err(Error::InvalidWeight { index: 2, .. })));
        assert!(matches!(
            Diagonal { draw }.select(&zero, 2, &mut rng(0)),
            Err(Error::InvalidWeight { index: 4, .. })
        ));
        let nothing = Broken { n: 0, bad: vec![] };
        assert!(matches!(
            Uniform { draw }.select(&nothing, 2, &mut rng(0)),
            Err(Error::Empty { .. })
        ));
        assert!(matches!(
            Diagonal { draw }.select(&nothing, 2, &mut rng(0)),
            Err(Error::Empty { .. })
        ));
        let short = Proportional { scores: vec![1.0; 3], draw };
        assert!(matches!(
            short.select(&fine, 2, &mut rng(0)),
            Err(Error::Shape { expected: 4, got: 3, .. })
        ));
    }
    let one_positive =
        Proportional { scores: vec![0.0, 0.0, 1.0, 0.0], draw: Draw::WithoutReplacement };
    assert!(matches!(
        one_positive.select(&fine, 2, &mut rng(0)),
        Err(Error::TooMany { requested: 2, available: 1, .. })
    ));
}

/// Theorem 3 at ρ ≥ ½ and n = 1 too: the rule keeps its promise with probability 1 − ρ, not 1 − 2ρ
/// (see its documentation).
#[test]
fn alaoui_mahoney_theorem_3_sample_size() {
    // 8·(10 + 1/6)·ln(500/0.05) = 749.11…
    assert_eq!(risk_sample_size(500, 10.0, 1.0, 0.05).unwrap(), 750);
    assert!(risk_sample_size(500, 10.0, 0.5, 0.05).unwrap() > 1400);
    assert_eq!(risk_sample_size(500, 10.0, 1.0, 0.9).unwrap(), 515); // 514.04…
    assert_eq!(risk_sample_size(1, 0.5, 1.0, 0.9).unwrap(), 1);
    for d_eff in [0.1, 3.0, 77.7] {
        for (beta, rho) in [(1.0, 0.1), (0.3, 0.7)] {
            let same = approximation_sample_size(500, d_eff, beta, 0.5, rho).unwrap();
            assert_eq!(risk_sample_size(500, d_eff, beta, rho).unwrap(), same);
        }
    }
}

#[test]
fn proposition_1_sample_size() {
    // 2·(10 + 0.1)·ln(500/0.05)/0.09 = 2067.20…; as printed, without ε/3, 2046.74…
    assert_eq!(approximation_sample_size(500, 10.0, 1.0, 0.3, 0.05).unwrap(), 2068);
    let rule = approximation_sample_size;
    for rho in [0.0, 1.0, -0.5, f64::NAN] {
        let refused = rule(500, 10.0, 1.0, 0.5, rho);
        assert!(matches!(refused, Err(Error::InvalidParameter { name: "rho", .. })));
    }
    for beta in [0.0, 1.1, f64::NAN] {
        let refused = rule(500, 10.0, beta, 0.5, 0.1);
        assert!(matches!(refused, Err(Error::InvalidParameter { name: "beta", .. })));
    }
    for epsilon in [0.0, 1.0, -0.5, f64::NAN] {
        let refused = rule(500, 10.0, 1.0, epsilon, 0.1);
        assert!(matches!(refused, Err(Error::InvalidParameter { name: "epsilon", .. })));
    }
    for d_eff in [0.0, -1.0, f64::INFINITY] {
        assert!(matches!(rule(500, d_eff, 1.0, 0.5, 0.1), Err(Error::InvalidParameter { .. })));
        assert!(risk_sample_size(500, d_eff, 1.0, 0.1).is_err());
    }
    assert!(matches!(rule(0, 10.0, 1.0, 0.5, 0.1), Err(Error::Empty { .. })));
    assert!(matches!(risk_sample_size(0, 10.0, 1.0, 0.1), Err(Error::Empty { .. })));
    assert!(matches!(
        risk_sample_size(500, 10.0, 1.0, 1.0),
        Err(Error::InvalidParameter { name: "rho", .. })
    ));
}
