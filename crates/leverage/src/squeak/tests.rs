//! The bounds of the scores, with the exact accuracy ε of each dictionary.

use super::measure::Measure;
use super::merge::concatenate;
use super::*;
use crate::exact_scores;
use faer::Mat;
use nystrom_kernels::Gaussian;
use nystrom_linalg_core::{Cholesky, Dense, SymmetricEigen};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn points(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    (0..n).map(|_| rng.random::<f64>()).collect()
}

fn gram(x: &[f64], kernel: &Gaussian) -> Mat<f64> {
    kernel.gram(Points::from_slice(x))
}

fn exact(K: &Mat<f64>, gamma: f64) -> Vec<f64> {
    exact_scores(&Dense::new(K.as_ref()).unwrap(), Ridge::Absolute(gamma)).unwrap().scores
}

/// ε = ‖Ψ(I − SSᵀ)Ψᵀ‖, Ψ = (Σ/(Σ + γ))^½Uᵀ, by two dense eigendecompositions.
fn accuracy(K: &Mat<f64>, gamma: f64, I: &StreamDictionary<f64>, first: u64) -> f64 {
    let n = K.nrows();
    let mut deviation = vec![1.0; n];
    for (position, w) in I.positions().iter().zip(I.weights()) {
        deviation[(position - first) as usize] -= w;
    }
    let eigen = SymmetricEigen::new(K.as_ref()).unwrap();
    let root =
        |j: usize| (eigen.values()[j].max(0.0) / (eigen.values()[j].max(0.0) + gamma)).sqrt();
    let Psi = Mat::from_fn(n, n, |j, i| root(j) * eigen.vectors()[(i, j)]);
    let D = Mat::from_fn(n, n, |i, j| deviation[i] * Psi[(j, i)]);
    let E = &Psi * &D;
    let values = SymmetricEigen::new(E.as_ref()).unwrap();
    values.values().iter().fold(0.0, |largest: f64, v| largest.max(v.abs()))
}

/// φᵀ(ΦSSᵀΦᵀ + μI)⁻¹φ for all rows, from [K − KS(SᵀKS + μI)⁻¹SᵀK]/μ with dense n × n algebra.
fn dense_scores(K: &Mat<f64>, mu: f64, I: &StreamDictionary<f64>) -> Vec<f64> {
    let n = K.nrows();
    let mut s = vec![0.0; n];
    for (position, w) in I.positions().iter().zip(I.weights()) {
        s[*position as usize] = w.sqrt();
    }
    let A = Mat::from_fn(n, n, |i, j| s[i] * K[(i, j)] * s[j] + if i == j { mu } else { 0.0 });
    let mut X = Mat::from_fn(n, n, |i, j| s[i] * K[(i, j)]);
    Cholesky::new(A.as_ref()).unwrap().solve_in_place(X.as_mut());
    (0..n)
        .map(|i| (K[(i, i)] - (0..n).map(|j| K[(i, j)] * s[j] * X[(j, i)]).sum::<f64>()) / mu)
        .collect()
}

/// The state of a stream of the points `x`, numbered from `first`.
fn state(
    x: &[f64],
    kernel: Gaussian,
    gamma: f64,
    copies: u32,
    first: u64,
    seed: u64,
) -> Squeak<Gaussian, f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let params = SqueakParams { chunk: Some(16), ..SqueakParams::new(copies) };
    let mut squeak = Squeak::new(kernel, 1, gamma, params).unwrap().starting_at(first);
    squeak.push(Points::from_slice(x), &mut rng).unwrap();
    squeak.settle(&mut rng).unwrap();
    squeak
}

/// The dictionary of this state.
fn stream(
    x: &[f64],
    kernel: Gaussian,
    gamma: f64,
    copies: u32,
    first: u64,
    seed: u64,
) -> StreamDictionary<f64> {
    state(x, kernel, gamma, copies, first, seed).dictionary
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_global_rejects: 48,
        ..ProptestConfig::default() })]

    #[test]
    fn adding_fresh_points_keeps_the_bracket(
        seed in any::<u64>(), log_gamma in -2.0..1.0_f64, length in 0.05..0.5_f64,
        copies in 60_u32..400, fresh in 1_usize..20,
    ) {
        let (x, gamma, kernel) = (points(60 + fresh, seed), 10f64.powf(log_gamma),
            Gaussian::new(length).unwrap());
        let K = gram(&x, &kernel);
        let mut I = stream(&x[..60], kernel, gamma, copies, 0, seed);
        let eps = accuracy(&gram(&x[..60], &kernel), gamma, &I, 0);
        prop_assume!(eps < 1.0);
        expand(&mut I, Points::from_slice(&x[60..]), 60);
        let params = SqueakParams { epsilon: eps, ..SqueakParams::new(copies) };
        let (factor, mu) = params.adding(gamma);
        let measure = Measure::new(&kernel, &I, mu).unwrap();
        let tau = exact(&K, gamma);
        let dense = dense_scores(&K, mu, &I);
        let all = measure.points(&kernel, I.points(), (Points::from_slice(&x), 0.0)).unwrap();
        let members = measure.members();
        let alpha = params.alpha_adding();
        for i in 0..x.len() {
            prop_assert!((all[i] - dense[i]).abs() < 1e-9, "row {}: {} against {}", i, all[i],
                dense[i]);
            let estimate = factor * all[i];
            prop_assert!(estimate <= tau[i] + 1e-9 && estimate >= tau[i] / alpha - 1e-9,
                "row {i}: {estimate} of {}", tau[i]);
        }
        for (t, &i) in I.positions().iter().enumerate() {
            prop_assert!((members[t] - dense[i as usize]).abs() < 1e-9);
        }
    }

    #[test]
    fn merging_keeps_the_bracket(
        seed in any::<u64>(), log_gamma in -2.0..1.0_f64, length in 0.05..0.5_f64,
        copies in 60_u32..400,
    ) {
        let (x, gamma, kernel) = (points(80, seed), 10f64.powf(log_gamma),
            Gaussian::new(length).unwrap());
        let (a, b) = x.split_at(35);
        let I_A = stream(a, kernel, gamma, copies, 0, seed);
        let I_B = stream(b, kernel, gamma, copies, 35, seed ^ 1);
        let eps = accuracy(&gram(a, &kernel), gamma, &I_A, 0).max(accuracy(&gram(b, &kernel),
            gamma, &I_B, 35));
        prop_assume!(eps < 1.0);
        let I = concatenate(&I_A, &I_B).unwrap();
        let params = SqueakParams { epsilon: eps, ..SqueakParams::new(copies) };
        let (factor, mu) = params.merging(gamma);
        let members = Measure::new(&kernel, &I, mu).unwrap().members();
        let (tau, dense) = (exact(&gram(&x, &kernel), gamma), dense_scores(&gram(&x, &kernel), mu,
            &I));
        for (t, &i) in I.positions().iter().enumerate() {
            let (estimate, tau) = (factor * members[t], tau[i as usize]);
            prop_assert!((members[t] - dense[i as usize]).abs() < 1e-9);
            prop_assert!(estimate <= tau + 1e-9
                && estimate >= tau / params.alpha_merging() - 1e-9, "{i}: {estimate} of {tau}");
        }
    }

    #[test]
    fn ink_keeps_its_bracket(seed in any::<u64>(), log_gamma in -1.0..1.0_f64,
    length in 0.1..0.5_f64, epsilon in 0.4..0.9_f64) {
        let (x, gamma, kernel) = (points(61, seed), 10f64.powf(log_gamma),
            Gaussian::new(length).unwrap());
        let mut ink = Ink::new(kernel, 1, gamma, 4000, epsilon).unwrap();
        ink.push(Points::from_slice(&x[..60]), &mut Pcg64::seed_from_u64(seed)).unwrap();
        let D = ink.dictionary().unwrap();
        let I = StreamDictionary {
            dim: 1,
            copies_per_point: 1,
            seen: 60,
            coordinates: D.indices().iter().map(|&i| x[i]).collect(),
            positions: D.indices().iter().map(|&i| i as u64).collect(),
            p: D.weights().iter().map(|w| 1.0 / w).collect(),
            q: vec![1; D.len()],
        };
        prop_assume!(accuracy(&gram(&x[..60], &kernel), gamma, &I, 0) <= epsilon);
        let tau = exact(&gram(&x, &kernel), gamma);
        let estimates = ink.scores_with(&ink.column(Points::from_slice(&x[60..])), 1.0).unwrap();
        for (t, &i) in D.indices().iter().chain(&[60]).enumerate() {
            let (estimate, tau) = (estimates[t], tau[i]);
            prop_assert!(estimate <= tau + 1e-9 && estimate >= tau / ink.alpha() - 1e-9,
                "row {i}: {estimate} of {tau}");
        }
    }
}

/// τ̃_i = (k_ii − k_iᵀ(K̄ + αγI)⁻¹k_i)/(αγ) with explicit K̄: KS(SᵀKS + γI)⁻¹SᵀK of the earlier
/// points, bordered by the new point.
#[test]
fn ink_is_its_formula() {
    for (copies, epsilon, gamma) in [(40, 0.5, 1.0), (400, 0.3, 0.2), (u32::MAX, 0.5, 0.5)] {
        let (x, kernel) = (points(41, 11), Gaussian::new(0.2).unwrap());
        let mut ink = Ink::new(kernel, 1, gamma, copies, epsilon).unwrap();
        ink.push(Points::from_slice(&x[..40]), &mut Pcg64::seed_from_u64(1)).unwrap();
        let (K, D, beta) = (gram(&x, &kernel), ink.dictionary().unwrap(), ink.alpha() * gamma);
        let (m, rows) = (D.len(), D.indices());
        let ridged = Mat::from_fn(m, m, |s, t| {
            K[(rows[s], rows[t])] + if s == t { gamma / D.weights()[s] } else { 0.0 }
        });
        let C = Mat::from_fn(40, m, |i, t| K[(i, rows[t])]);
        let mut X = C.transpose().to_owned();
        Cholesky::new(ridged.as_ref()).unwrap().solve_in_place(X.as_mut());
        let approximation = &C * X; // K̃
        let border =
            |i: usize, j: usize| if i.max(j) == 40 { K[(i, j)] } else { approximation[(i, j)] };
        let B = Mat::from_fn(41, 41, |i, j| border(i, j) + if i == j { beta } else { 0.0 });
        let mut Y = K.clone();
        Cholesky::new(B.as_ref()).unwrap().solve_in_place(Y.as_mut());
        let estimates = ink.scores_with(&ink.column(Points::from_slice(&x[40..])), 1.0).unwrap();
        for (t, &i) in rows.iter().chain(&[40]).enumerate() {
            let dense = (K[(i, i)] - (0..41).map(|j| K[(i, j)] * Y[(j, i)]).sum::<f64>()) / beta;
            assert!(
                dense > 0.0 && (estimates[t] - dense).abs() < 1e-9,
                "row {i}: {} against {dense}",
                estimates[t]
            );
        }
        assert!(copies < u32::MAX || m == 40, "in the limit every point is kept");
    }
}

/// With q̄ of the theory at failure probability δ = 1e-6 every dictionary is ε-accurate, P − P̃
/// included. It has at most 3q̄·d_eff copies, and the merge of two is ε-accurate again.
#[test]
fn dictionaries_of_the_theory_are_accurate_small_and_stay_so_when_merged() {
    let (epsilon, gamma, kernel) = (0.5, 1.0, Gaussian::new(0.1).unwrap());
    let copies = SqueakParams::copies_for(160, epsilon, 1e-6).unwrap();
    for seed in 0..8 {
        let x = points(160, seed);
        let (a, b) = x.split_at(70);
        let (I_A, I_B) = (
            state(a, kernel, gamma, copies, 0, seed),
            state(b, kernel, gamma, copies, 70, seed + 100),
        );
        let (mut merged, mut rng) = (I_A.clone(), Pcg64::seed_from_u64(seed));
        merged.merge(&I_B, &mut rng).unwrap();
        let merged = merged.dictionary();
        for (x, I, first) in
            [(a, &I_A.dictionary, 0), (b, &I_B.dictionary, 70), (&x[..], merged, 0)]
        {
            let K = gram(x, &kernel);
            let eps = accuracy(&K, gamma, I, first);
            assert!(eps <= epsilon, "seed {seed}: accuracy {eps}");
            let d_eff: f64 = exact(&K, gamma).iter().sum();
            let total: f64 = I.copies().iter().map(|&q| f64::from(q)).sum();
            assert!(
                total <= 3.0 * f64::from(copies) * d_eff,
                "seed {seed}: {total} copies, d_eff {d_eff}"
            );
        }
        assert!(merged.probabilities().iter().all(|&p| p < 1.0), "the dictionary was never shrunk");
    }
}

/// Converse: with a few copies at the same ridge the dictionary is not accurate, so that the test
/// above can fail.
#[test]
fn too_few_copies_are_not_accurate() {
    let (gamma, kernel, x) = (1.0, Gaussian::new(0.1).unwrap(), points(160, 3));
    let I = stream(&x, kernel, gamma, 2, 0, 3);
    assert!(accuracy(&gram(&x, &kernel), gamma, &I, 0) > 0.5);
}

#[test]
fn scores_stay_in_their_interval_where_rounding_would_make_them_zero() {
    // Equal points: φᵀ(nφφᵀ + γI)⁻¹φ = 1/(n + γ), computed as 1 − γ·[…]⁻¹ with γ = 1e14.
    let (x, kernel, gamma) = ([0.3; 20], Gaussian::new(1.0).unwrap(), 1e14);
    let mut I = StreamDictionary::empty(1, 4);
    expand(&mut I, Points::from_slice(&x), 0);
    for score in Measure::new(&kernel, &I, gamma).unwrap().members() {
        assert!((score * (20.0 + gamma) - 1.0).abs() < 1e-12, "{score:e}");
    }
}

/// SHRINK: the floor holds up members that have a score already, and no others.
#[test]
fn the_floor_holds_old_members_up() {
    let copies = 1_000_000;
    let mut I = StreamDictionary::<f64>::empty(1, copies);
    expand(&mut I, Points::from_slice(&[0.0, 1.0]), 0);
    let rng = &mut Pcg64::seed_from_u64(0);
    shrink(&mut I, &[0.1, 0.1], 0.5, 1, rng);
    assert_eq!(I.probabilities(), [0.5, 0.1]);
    // Binomial(10⁶, p̃): standard deviations 500 and 300, 6 of them for 1e-8
    assert!(I.copies()[0].abs_diff(500_000) < 3000 && I.copies()[1].abs_diff(100_000) < 1800);
    // the first would fall below its half, the second would rise
    shrink(&mut I, &[0.2, 0.4], 0.5, 0, rng);
    assert_eq!(I.probabilities(), [0.25, 0.1]);
    assert!(I.copies()[0].abs_diff(250_000) < 4000 && I.copies()[1].abs_diff(100_000) < 1800);
}
