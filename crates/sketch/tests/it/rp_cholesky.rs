//! Randomly pivoted Cholesky: both forms have the sequential law, its one-step expectation, its
//! cost, and survive bad input.

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{Counted, Dense, Error, PivotedCholesky, PsdMatrix, SymmetricEigen};
use nystrom_sketch::{
    Greedy, LandmarkSelector, Landmarks, Nystrom, RpCholesky, Uniform, rp_cholesky,
};
use proptest::prelude::*;
use rand::Rng;
use std::collections::HashMap;

/// Both forms, the accelerated one with few, many and the default number of proposals.
pub fn forms() -> Vec<(&'static str, Option<RpCholesky>)> {
    let of = |b| Some(RpCholesky { proposals: Some(b), tolerance: 0.0 });
    vec![
        ("simple", None),
        ("b = 1", of(1)),
        ("b = 2", of(2)),
        ("b = 7", of(7)),
        ("b = 40", of(40)),
        ("default", Some(RpCholesky::default())),
    ]
}

pub fn run(
    form: Option<RpCholesky>,
    a: &dyn PsdMatrix<f64>,
    k: usize,
    rng: &mut dyn Rng,
) -> Result<PivotedCholesky<f64>, Error> {
    match form {
        None => rp_cholesky(a, k, rng),
        Some(form) => form.factor(a, k, rng),
    }
}

/// Many tiny runs without waking other threads for each.
fn on_one_thread(f: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(f);
}

/// The probability of every sequence of k pivots, by Schur complements of the whole matrix.
fn law(a: MatRef<'_, f64>, k: usize) -> HashMap<Vec<usize>, f64> {
    if k == 0 {
        return HashMap::from([(vec![], 1.0)]);
    }
    let (n, trace) = (a.nrows(), (0..a.nrows()).map(|i| a[(i, i)]).sum::<f64>());
    let mut all = HashMap::new();
    for s in (0..n).filter(|&s| a[(s, s)] > 1e-12) {
        let rest = Mat::from_fn(n, n, |i, j| {
            if i == s || j == s { 0.0 } else { a[(i, j)] - a[(i, s)] * a[(s, j)] / a[(s, s)] }
        });
        for (tail, p) in law(rest.as_ref(), k - 1) {
            let sequence = [vec![s], tail].concat();
            all.insert(sequence, p * a[(s, s)] / trace);
        }
    }
    all
}

/// Two near copies, an outlier and a small diagonal: the later pivots depend much on the earlier
/// ones.
fn uneven() -> Mat<f64> {
    let features =
        [[1.0, 0.0, 0.2], [0.95, 0.1, 0.2], [0.0, 1.4, 0.0], [0.3, 0.3, 0.3], [0.5, 0.0, 0.9]];
    Mat::from_fn(5, 5, |i, j| {
        let dot: f64 = (0..3).map(|c| features[i][c] * features[j][c]).sum();
        dot + if i == j { 0.05 } else { 0.0 }
    })
}

/// Ordered triples of 5: 60 cells with expected counts of at least 3; χ² with 59 degrees of freedom
/// exceeds 127 with probability below 1e-6 (Wilson-Hilferty: 126.0), and six forms are tested.
#[test]
fn both_forms_have_the_sequential_law() {
    let a = uneven();
    let exact = law(a.as_ref(), 3);
    assert!(exact.len() == 60 && (exact.values().sum::<f64>() - 1.0).abs() < 1e-12);
    let (repeats, dense) = (40_000, Dense::new(a.as_ref()).unwrap());
    for (seed, (name, form)) in forms().into_iter().enumerate() {
        let mut counts: HashMap<Vec<usize>, f64> = HashMap::new();
        let mut rng = rng(100 + seed as u64);
        on_one_thread(|| {
            for _ in 0..repeats {
                *counts
                    .entry(run(form, &dense, 3, &mut rng).unwrap().pivots().to_vec())
                    .or_default() += 1.0;
            }
        });
        assert!(counts.keys().all(|sequence| exact.contains_key(sequence)), "{name}");
        let chi2: f64 = exact
            .iter()
            .map(|(sequence, p)| {
                let expected = p * repeats as f64;
                assert!(expected > 3.0);
                (counts.get(sequence).unwrap_or(&0.0) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi2 < 127.0, "{name}: {chi2}");
    }
}

/// E A⁽¹⁾ = A − A²/tr A: exactly, with the law of the pivot; and on average over draws. An entry of
/// the residual lies between −1.5 and 1.5 (A has a diagonal of at most 2.01, the residual is psd
/// and ⪯ A), so by Hoeffding the mean of N = 20,000 is off by more than 4.2·√(ln(2·25/1e-7)/(2N)) =
/// 0.095 anywhere with probability below 1e-7.
#[test]
fn one_step_takes_away_the_square_on_average() {
    let a = uneven();
    let (n, trace) = (5, a.diagonal().column_vector().sum());
    let expected = &a - &a * &a / trace;
    let dense = Dense::new(a.as_ref()).unwrap();
    for (name, form) in forms() {
        let mut rng = rng(5);
        let (mut mean, mut by_pivot) = (Mat::<f64>::zeros(n, n), HashMap::new());
        let repeats = 20_000;
        on_one_thread(|| {
            for _ in 0..repeats {
                let f = run(form, &dense, 1, &mut rng).unwrap();
                let left = &a - f.factor() * f.factor().transpose();
                mean += &left / repeats as f64;
                by_pivot.insert(f.pivots()[0], left);
            }
        });
        let exact = by_pivot
            .iter()
            .fold(Mat::zeros(n, n), |sum, (&s, left)| sum + left * (a[(s, s)] / trace));
        assert!(by_pivot.len() == n && (&exact - &expected).norm_max() < 1e-14, "{name}");
        assert!((&mean - &expected).norm_max() < 0.095, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Â ⪯ A, F is lower triangular in the pivots, d and the traces are what they say, and a prefix
    /// is a factorisation itself.
    #[test]
    fn the_factor_is_a_partial_cholesky_factor((a, seed) in any_psd(), k in 1..40_usize) {
        let (n, dense) = (a.nrows(), Dense::new(a.as_ref()).unwrap());
        let (k, scale) = (k.min(n), largest_eigenvalue(a.as_ref()));
        let greedy = Greedy::default().factor(&dense, k).unwrap();
        let random = forms().into_iter().map(|(_, form)| run(form, &dense, k,
            &mut rng(seed)).unwrap());
        for f in random.chain([greedy]) {
            let (factor, r) = (f.factor(), f.rank());
            prop_assert!(r >= 1 && r <= k && factor.shape() == (n, r) && f.traces().len() == r + 1);
            let left = &a - factor * factor.transpose();
            prop_assert!(smallest_eigenvalue(left.as_ref()) >= -1e-11 * scale);
            for i in 0..n {
                prop_assert!((left[(i, i)] - f.residual()[i]).abs() <= 1e-12 * scale);
            }
            for (t, &s) in f.pivots().iter().enumerate() {
                prop_assert_eq!(f.residual()[s], 0.0);
                prop_assert!((t + 1..r).all(|j| factor[(s, j)].abs() <= 1e-6 * scale.sqrt()));
                prop_assert!(f.traces()[t + 1] <= f.traces()[t]);
                let prefix = factor.subcols(0, t);
                let trace: f64 = (0..n).map(|i| a[(i, i)] - prefix.row(i).squared_norm_l2()).sum();
                prop_assert!((trace - f.traces()[t]).abs() <= 1e-12 * n as f64 * scale);
            }
            prop_assert!(Landmarks::from_pivots(&f).unwrap().indices() == f.pivots());
            // fewer than asked for only at the numerical rank
            prop_assert!(r == k || f.trace_error() <= 1e-12 * n as f64 * scale, "{} of {}, {}", r,
                k, f.trace_error());
        }
    }
}

/// The Nyström approximation of the pivots is FFᵀ; as a psd matrix it has the blocks of FFᵀ.
#[test]
fn it_is_the_nystrom_approximation_of_its_pivots() {
    let a = psd(Kind::Rough, 60, 3);
    let dense = Dense::new(a.as_ref()).unwrap();
    let f = RpCholesky::default().factor(&dense, 15, &mut rng(1)).unwrap();
    let l = Nystrom::new(&dense, &Landmarks::from_pivots(&f).unwrap()).unwrap();
    let product = f.factor() * f.factor().transpose();
    assert!((whole(&l) - &product).norm_max() < 1e-12);
    assert!((whole(&f) - &product).norm_max() < 1e-14);
    assert!((f.trace_error() - l.trace_error(&dense).unwrap()).abs() < 1e-11);
    let (x, mut y) = (Mat::from_fn(60, 2, |i, j| (i + 3 * j) as f64), Mat::zeros(60, 2));
    f.mul_into(y.as_mut(), x.as_ref());
    assert!((y - product * x).norm_max() < 1e-11);
    assert_eq!(f.clone().into_factor(), f.factor());
}

#[test]
fn the_simple_form_reads_k_plus_1_columns_worth() {
    let a = psd(Kind::Gaussian, 300, 0);
    let k = Counted::new(Dense::new(a.as_ref()).unwrap());
    let _ = rp_cholesky(&k, 20, &mut rng(0)).unwrap();
    assert_eq!((k.entries(), k.diagonal_entries()), (20 * 300, 300));
    k.reset();
    let _ = Greedy::default().select(&k, 20, &mut rng(0)).unwrap();
    assert_eq!((k.entries(), k.diagonal_entries()), (20 * 300, 300));
}

/// Besides the columns of the pivots only b² entries a round, which together stay below half of
/// them.
#[test]
fn the_accelerated_form_reads_little_more() {
    let n = 3000;
    let a = psd(Kind::Rough, n, 0);
    let k = Counted::new(Dense::new(a.as_ref()).unwrap());
    let f = RpCholesky::default().factor(&k, 200, &mut rng(0)).unwrap();
    assert_eq!(f.rank(), 200);
    let columns = 200 * n as u64;
    assert!(
        k.entries() > columns && k.entries() < columns * 3 / 2,
        "{} against {columns}",
        k.entries()
    );
    assert_eq!(k.diagonal_entries(), n as u64);
}

/// Two clusters, one of 8 points in 800 and far away, and outliers: uniform landmarks miss them.
#[test]
fn pivots_beat_uniform_landmarks_on_clusters() {
    let x = Mat::from_fn(800, 1, |i, _| {
        (i % 100) as f64 / 100.0 + if i % 100 == 7 { 40.0 + i as f64 } else { 0.0 }
    });
    let a = Mat::from_fn(800, 800, |i, j| (-(x[(i, 0)] - x[(j, 0)]).powi(2)).exp());
    let k = Dense::new(a.as_ref()).unwrap();
    let uniform: f64 = (0..20)
        .map(|seed| {
            let landmarks = Uniform::default().select(&k, 20, &mut rng(seed)).unwrap();
            Nystrom::new(&k, &landmarks).unwrap().trace_error(&k).unwrap()
        })
        .sum();
    for (name, form) in forms() {
        let random: f64 =
            (0..20).map(|seed| run(form, &k, 20, &mut rng(seed)).unwrap().trace_error()).sum();
        assert!(random < 0.01 * uniform, "{name}: {random} against {uniform}");
    }
    assert!(Greedy::default().factor(&k, 20).unwrap().trace_error() < 1e-3 * uniform);
}

/// Chen et al., Theorem 5.1 in expectation: k ≥ r/ε + r ln(1/(εη)) pivots leave at most (1 + ε)
/// times the best rank-r error. Mean of 40 runs, with room for its fluctuation (the bound is not
/// tight: the ratio seen is far below).
#[test]
fn the_error_is_within_the_bound_of_the_theorem() {
    let a = psd(Kind::Gaussian, 150, 8);
    let k = Dense::new(a.as_ref()).unwrap();
    let sigma = SymmetricEigen::new(a.as_ref()).unwrap();
    let (r, epsilon) = (4, 1.0);
    let tail: f64 = sigma.values()[r..].iter().sum();
    let eta = tail / sigma.values().iter().sum::<f64>();
    let pivots = (r as f64 / epsilon + r as f64 * (1.0 / (epsilon * eta)).ln()).ceil() as usize;
    for (name, form) in forms() {
        let mean: f64 =
            (0..40).map(|s| run(form, &k, pivots, &mut rng(s)).unwrap().trace_error()).sum::<f64>()
                / 40.0;
        assert!(mean <= (1.0 + epsilon) * tail, "{name}: {mean} against {tail}");
    }
}

/// Where the theorem's number comes from: one step takes A to A − A²/tr A on average. With r equal
/// large eigenvalues that add up to a, and b in many that are nothing each, the worst case, a falls
/// by a²/(r(a + b)). After k of the theorem it is below εb.
#[test]
fn the_number_of_the_theorem_follows_from_the_mean_of_a_step() {
    for r in [1.0_f64, 7.0, 60.0] {
        for epsilon in [0.01, 0.3, 1.0, 5.0] {
            for eta in [1e-12, 1e-3, 0.4] {
                let k = (r / epsilon + r * (1.0 / (epsilon * eta)).ln()).ceil();
                let (mut a, b) = (1.0 - eta, eta);
                (0..k as usize).for_each(|_| a -= a * a / (r * (a + b)));
                assert!(a <= epsilon * b, "r = {r}, ε = {epsilon}, η = {eta}: {a} after {k}");
            }
        }
    }
}
