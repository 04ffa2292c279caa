//! E[SSᵀ] = I for every sampling constructor, Theorem 2's tail bound, and what landmarks and
//! dictionaries refuse.

use crate::common::*;
use faer::Mat;
use nystrom_linalg_core::{Error, ops, random};
use nystrom_sketch::{Dictionary, Draw, Landmarks};
use proptest::prelude::*;

const ROWS: usize = 25;
const REPEATS: usize = 20_000;

/// The mean weight of every row is 1 within 6 standard errors (false alarm 2e-9 a row, so below
/// 1e-6 for the whole test), and no row's variance is zero unless its law says so.
fn unbiased(variance: impl Fn(usize) -> f64, mut sample: impl FnMut() -> Dictionary<f64>) {
    let mut mean = [0.0; ROWS];
    for _ in 0..REPEATS {
        let dictionary = sample();
        for (&i, w) in dictionary.indices().iter().zip(dictionary.weights()) {
            mean[i] += w / REPEATS as f64;
        }
    }
    for (i, mean) in mean.iter().enumerate() {
        let error = 6.0 * (variance(i) / REPEATS as f64).sqrt() + 1e-12;
        assert!((mean - 1.0).abs() <= error, "row {i}: E w = {mean}, expected 1 ± {error}");
    }
}

fn law() -> Vec<f64> {
    (0..ROWS).map(|i| 0.05 + 0.03 * (i % 7) as f64).collect()
}

#[test]
fn weights_of_draws_with_replacement_are_unbiased() {
    let (p, m, mut rng) = (law(), 10, rng(1));
    let total: f64 = p.iter().sum();
    let variance = |i: usize| (1.0 - p[i] / total) / (m as f64 * p[i] / total);
    unbiased(variance, || Dictionary::with_replacement(&p, m, &mut rng).unwrap());
}

#[test]
fn weights_of_independent_inclusions_are_unbiased() {
    let (p, mut rng) = (law(), rng(2));
    unbiased(|i| (1.0 - p[i]) / p[i], || Dictionary::bernoulli(&p, &mut rng).unwrap());
}

#[test]
fn weights_of_uniform_draws_are_unbiased() {
    let m = 8;
    let mut rng = rng(3);
    let with = (1.0 - 1.0 / ROWS as f64) * ROWS as f64 / m as f64;
    unbiased(|_| with, || Dictionary::uniform(ROWS, m, Draw::WithReplacement, &mut rng).unwrap());
    let without = ROWS as f64 / m as f64 - 1.0;
    unbiased(
        |_| without,
        || Dictionary::uniform(ROWS, m, Draw::WithoutReplacement, &mut rng).unwrap(),
    );
}

/// Theorem 2 (Alaoui & Mahoney 2015): Pr[λ_max(ΨΨᵀ − ΨSSᵀΨᵀ) ≥ t] ≤ n·exp(−(p
/// t²/2)/(λ_max(ΨΨᵀ)(‖Ψ‖²_F/β + t/3))).
///
/// β = 1, and β = 0.3 where a share 0.7 of the draws goes to the shortest column. p is chosen such
/// that the bound is 0.1; of 400 repeats at most 0.1·400 + 5·√(400·0.1·0.9) = 70 may fail.
#[test]
fn theorem_2_tail_bound() {
    let (n, cols, t, repeats) = (6, 80, 0.5, 400);
    let psi: Mat<f64> = random::standard_normal(n, cols, &mut rng(5));
    let gram = ops::times(psi.as_ref(), psi.transpose());
    let psi = faer::Scale(1.0 / largest_eigenvalue(gram.as_ref()).sqrt()) * psi; // λ_max(ΨΨᵀ) = 1
    let gram = &psi * psi.transpose();
    let norms: Vec<f64> = (0..cols).map(|j| psi.col(j).squared_norm_l2()).collect();
    let frobenius: f64 = norms.iter().sum();
    let shortest = (0..cols).min_by(|a, b| norms[*a].total_cmp(&norms[*b])).unwrap();
    for beta in [1.0, 0.3] {
        // p_i ≥ β‖ψ_i‖²/‖Ψ‖²_F
        let mut p: Vec<f64> = norms.iter().map(|norm| beta * norm / frobenius).collect();
        p[shortest] += 1.0 - beta;
        let draws =
            ((n as f64 / 0.1).ln() * 2.0 / (t * t) * (frobenius / beta + t / 3.0)).ceil() as usize;
        let mut rng = rng(6);
        let failures = (0..repeats).filter(|_| {
            let d = Dictionary::with_replacement(&p, draws, &mut rng).unwrap();
            let column = |j: usize| {
                Mat::from_fn(n, 1, |i, _| psi[(i, d.indices()[j])] * d.weights()[j].sqrt())
            };
            let estimate = (0..d.len())
                .map(column)
                .fold(Mat::<f64>::zeros(n, n), |sum, c| sum + &c * c.transpose());
            largest_eigenvalue((&gram - estimate).as_ref()) >= t
        });
        let failures = failures.count();
        assert!(failures <= 70, "β = {beta}: {failures} of {repeats} failed");
    }
}

proptest! {
    #[test]
    fn draws_merge_into_distinct_rows_in_order(n in 1..30_usize, seed in any::<u64>(),
    m in 1..60_usize) {
        let draws = random::with_replacement(&vec![1.0; n], m, &mut rng(seed)).unwrap();
        let landmarks = Landmarks::from_draws(n, &draws).unwrap();
        let mut expected = vec![];
        draws.iter().for_each(|i| if !expected.contains(i) { expected.push(*i) });
        prop_assert_eq!(landmarks.indices(), &expected);
        let dictionary = Dictionary::from_draws(&draws, &vec![0.3_f64; n]).unwrap();
        prop_assert_eq!(dictionary.indices(), &expected);
        // exactly n for equal probabilities
        prop_assert!((dictionary.total_weight() - n as f64).abs() < 1e-10);
        let count = draws.iter().filter(|i| **i == draws[0]).count() as f64;
        prop_assert!((dictionary.weights()[0] - count * n as f64 / m as f64).abs() < 1e-12);
    }
}

#[test]
fn full_and_empty() {
    let full = Dictionary::<f32>::full(4).unwrap();
    assert_eq!(
        (full.indices(), full.weights(), full.total_weight()),
        (&[0, 1, 2, 3][..], &[1.0_f32; 4][..], 4.0)
    );
    let empty = Dictionary::<f64>::empty(4).unwrap();
    assert!(empty.is_empty() && matches!(empty.landmarks(), Err(Error::Empty { .. })));
    assert!(matches!(Dictionary::<f64>::full(0), Err(Error::Empty { .. })));
    assert!(Dictionary::bernoulli(&[0.0; 3], &mut rng(0)).unwrap().is_empty());
    assert_eq!(
        Dictionary::bernoulli(&[1.0; 3], &mut rng(0)).unwrap(),
        Dictionary::full(3).unwrap()
    );
}

#[test]
fn bad_dictionaries_are_refused() {
    let new =
        |indices: &[usize], weights: &[f64]| Dictionary::new(5, indices.to_vec(), weights.to_vec());
    assert!(matches!(new(&[0, 1], &[1.0]), Err(Error::Shape { expected: 2, got: 1, .. })));
    assert!(matches!(
        new(&[0, 5], &[1.0; 2]),
        Err(Error::IndexOutOfRange { position: 1, index: 5, n: 5, .. })
    ));
    assert!(matches!(
        new(&[2, 1, 2], &[1.0; 3]),
        Err(Error::DuplicateIndex { index: 2, first: 0, second: 2, .. })
    ));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            new(&[2], &[bad]),
            Err(Error::InvalidParameter { name: "dictionary weight", .. })
        ));
    }
    for bad in [-0.1, 1.1, f64::NAN] {
        let name = "inclusion probability";
        assert!(matches!(Dictionary::bernoulli(&[0.5, bad], &mut rng(0)),
                Err(Error::InvalidParameter { name: at, .. }) if at == name));
        assert!(matches!(Dictionary::from_inclusion(3, vec![1], &[bad]),
                Err(Error::InvalidParameter { name: at, .. }) if at == name));
    }
    // was included with probability 0
    assert!(Dictionary::from_inclusion(3, vec![1], &[0.0]).is_err());
    assert!(Dictionary::from_draws(&[1], &[1.0, 0.0]).is_err()); // was drawn with probability 0
    assert!(matches!(
        Dictionary::with_replacement(&[0.0; 3], 2, &mut rng(0)),
        Err(Error::InvalidWeight { .. })
    ));
    assert!(matches!(
        Dictionary::with_replacement(&[1.0; 3], 0, &mut rng(0)),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        Dictionary::<f64>::uniform(3, 4, Draw::WithoutReplacement, &mut rng(0)),
        Err(Error::TooMany { requested: 4, available: 3, .. })
    ));
    assert!(matches!(
        Dictionary::<f64>::uniform(0, 4, Draw::WithReplacement, &mut rng(0)),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        Dictionary::<f64>::full(3).unwrap().check(4),
        Err(Error::Shape { expected: 3, got: 4, .. })
    ));
}

#[test]
fn bad_landmarks_are_refused() {
    assert!(matches!(Landmarks::new(5, vec![]), Err(Error::Empty { what: "landmarks" })));
    assert!(matches!(Landmarks::from_draws(5, &[]), Err(Error::Empty { what: "landmarks" })));
    assert!(matches!(Landmarks::all(0), Err(Error::Empty { .. })));
    assert!(matches!(
        Landmarks::new(5, vec![1, 7]),
        Err(Error::IndexOutOfRange { position: 1, index: 7, n: 5, .. })
    ));
    assert!(matches!(Landmarks::from_draws(5, &[1, 7]), Err(Error::IndexOutOfRange { .. })));
    let error = Landmarks::new(5, vec![4, 1, 4]).unwrap_err();
    assert!(error.to_string().contains("positions 0 and 2"), "{error}");
}

#[cfg(feature = "serde")]
#[test]
fn saved_and_loaded_with_the_same_checks() {
    let landmarks = Landmarks::new(5, vec![4, 1]).unwrap();
    let text = serde_json::to_string(&landmarks).unwrap();
    assert_eq!(serde_json::from_str::<Landmarks>(&text).unwrap(), landmarks);
    assert!(serde_json::from_str::<Landmarks>(&text.replace("[4,1]", "[4,4]")).is_err());
    let dictionary = Dictionary::new(5, vec![4, 1], vec![0.1_f32, 2.5]).unwrap();
    let text = serde_json::to_string(&dictionary).unwrap();
    assert_eq!(serde_json::from_str::<Dictionary<f32>>(&text).unwrap(), dictionary);
    assert!(serde_json::from_str::<Dictionary<f32>>(&text.replace("2.5", "-2.5")).is_err());
}
