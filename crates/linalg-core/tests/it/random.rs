//! Laws of the elementary draws: chi-square at a false-alarm rate of 1e-6, seeds fixed.

use nystrom_linalg_core::{Error, random};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::collections::HashMap;

/// χ² of observed counts against probabilities summing to 1.
fn chi2(counts: &[usize], probabilities: &[f64]) -> f64 {
    let total: usize = counts.iter().sum();
    counts
        .iter()
        .zip(probabilities)
        .map(|(&c, p)| (c as f64 - total as f64 * p).powi(2) / (total as f64 * p))
        .sum()
}

/// Upper 1e-6 points of χ² with 1..=11 degrees of freedom (scipy.stats.chi2.isf(1e-6, df)).
const CRITICAL: [f64; 11] =
    [23.93, 27.63, 30.66, 33.38, 35.89, 38.26, 40.52, 42.70, 44.81, 46.86, 48.87];

#[test]
fn categorical_and_with_replacement_follow_the_weights() {
    let weights = [1.0, 0.0, 3.0, 6.0];
    let p = [0.1, 0.3, 0.6];
    let rng = &mut Pcg64::seed_from_u64(1);
    let mut counts = [[0_usize; 4]; 2];
    for _ in 0..100_000 {
        counts[0][random::categorical(&weights, rng).unwrap()] += 1;
    }
    for i in random::with_replacement(&weights, 100_000, rng).unwrap() {
        counts[1][i] += 1;
    }
    for c in counts {
        assert_eq!(c[1], 0);
        assert!(chi2(&[c[0], c[2], c[3]], &p) < CRITICAL[1], "{c:?}");
    }
}

#[test]
fn without_replacement_draws_one_after_another() {
    // P(i then j) = w_i/Σ · w_j/(Σ − w_i): twelve ordered pairs of four items.
    let weights = [1.0, 2.0, 3.0, 4.0];
    let rng = &mut Pcg64::seed_from_u64(2);
    let mut counts: HashMap<(usize, usize), usize> = HashMap::new();
    for _ in 0..60_000 {
        let pair = random::without_replacement(&weights, 2, rng).unwrap();
        *counts.entry((pair[0], pair[1])).or_default() += 1;
    }
    let (mut observed, mut p) = (vec![], vec![]);
    for i in 0..4 {
        for j in (0..4).filter(|&j| j != i) {
            observed.push(counts.get(&(i, j)).copied().unwrap_or(0));
            p.push(weights[i] / 10.0 * weights[j] / (10.0 - weights[i]));
        }
    }
    assert!(chi2(&observed, &p) < CRITICAL[10], "{counts:?}");
}

#[test]
fn uniform_subsets_are_uniform_and_ordered_uniformly() {
    let rng = &mut Pcg64::seed_from_u64(3);
    let mut counts: HashMap<Vec<usize>, usize> = HashMap::new();
    for _ in 0..60_000 {
        *counts.entry(random::uniform_subset(4, 2, rng).unwrap()).or_default() += 1;
    }
    let observed: Vec<usize> = counts.values().copied().collect();
    assert_eq!(observed.len(), 12);
    assert!(chi2(&observed, &[1.0 / 12.0; 12]) < CRITICAL[10]);
    let mut all = random::uniform_subset(100, 100, rng).unwrap();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..100));
}

#[test]
fn normals_have_the_normal_moments() {
    // 10^6 draws: mean within 5/√N, variance within 5√(2/N), fourth moment within 5√(96/N).
    let z = random::standard_normal::<f64>(1000, 1000, &mut Pcg64::seed_from_u64(4));
    let moment = |k: i32| {
        (0..1000).map(|j| z.col(j).iter().map(|x| x.powi(k)).sum::<f64>()).sum::<f64>() / 1e6
    };
    assert!(moment(1).abs() < 5e-3);
    assert!((moment(2) - 1.0).abs() < 5.0 * (2e-6_f64).sqrt());
    assert!((moment(4) - 3.0).abs() < 5.0 * (96e-6_f64).sqrt());
}

#[test]
fn f32_and_f64_runs_use_the_same_uniforms() {
    let draw64 =
        random::with_replacement(&[1.0_f64, 2.0, 5.0], 50, &mut Pcg64::seed_from_u64(5)).unwrap();
    let draw32 =
        random::with_replacement(&[1.0_f32, 2.0, 5.0], 50, &mut Pcg64::seed_from_u64(5)).unwrap();
    assert_eq!(draw64, draw32);
}

#[test]
fn outputs_are_pinned_for_a_seed() {
    // A change here changes every seeded result of the workspace: it belongs in the CHANGELOG.
    let rng = &mut Pcg64::seed_from_u64(42);
    let weights: Vec<f64> = (1..=50).map(f64::from).collect();
    let pinned = (
        random::uniform_subset(1000, 4, rng).unwrap(),
        random::with_replacement(&weights, 4, rng).unwrap(),
        random::without_replacement(&weights, 4, rng).unwrap(),
    );
    assert_eq!(pinned, (vec![636, 174, 604, 885], vec![49, 30, 21, 36], vec![15, 19, 24, 33]));
}

#[test]
fn bad_weights_and_counts_are_typed_errors() {
    let rng = &mut Pcg64::seed_from_u64(6);
    assert_eq!(random::categorical(&[0.0, f64::NAN, -1.0], rng), None);
    assert!(matches!(random::with_replacement::<f64>(&[], 1, rng), Err(Error::Empty { .. })));
    assert!(matches!(random::with_replacement(&[1.0], 0, rng), Err(Error::Empty { .. })));
    assert!(matches!(
        random::with_replacement(&[1.0, -2.0], 1, rng),
        Err(Error::InvalidWeight { index: 1, .. })
    ));
    assert!(matches!(
        random::with_replacement(&[0.0, 0.0], 1, rng),
        Err(Error::InvalidWeight { index: 2, .. })
    ));
    assert!(matches!(
        random::without_replacement(&[1.0, f64::NAN], 1, rng),
        Err(Error::InvalidWeight { index: 1, .. })
    ));
    let two_of_one = random::without_replacement(&[1.0, 0.0], 2, rng);
    assert!(matches!(two_of_one, Err(Error::TooMany { requested: 2, available: 1, .. })));
    assert!(matches!(random::uniform_subset(3, 4, rng), Err(Error::TooMany { .. })));
    assert!(random::geometric_path(1.0, 2.0, 3).is_err());
    assert!(random::geometric_path(1.0, 0.0, 3).is_err());
    assert_eq!(random::geometric_path(8.0, 1.0, 3).unwrap(), [4.0, 2.0, 1.0]);
}
