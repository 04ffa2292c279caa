//! INK-Estimate: its bracket with the accuracy measured exactly, and the identity of the effective
//! dimension's increment.

#![allow(non_snake_case)]

use faer::Mat;
use nystrom_kernels::{Gaussian, Kernel, Points};
use nystrom_leverage::*;
use nystrom_linalg_core::testing::{rng, same_at_any_thread_count};
use nystrom_linalg_core::{Cholesky, Dense, Error, Ridge};
use proptest::prelude::*;
use rand::RngExt;

fn points(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n).map(|_| rng.random::<f64>()).collect()
}

fn exact(x: &[f64], kernel: Gaussian, gamma: f64) -> Vec<f64> {
    let K: Mat<f64> = kernel.gram(Points::from_slice(x));
    exact_scores(&Dense::new(K.as_ref()).unwrap(), Ridge::Absolute(gamma)).unwrap().scores
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_increment_of_the_effective_dimension_is_exact(seed in any::<u64>(),
    log_gamma in -3.0..1.0_f64, n in 1_usize..60) {
        let (x, kernel, gamma) = (points(n + 1, seed), Gaussian::new(0.2).unwrap(),
            10f64.powf(log_gamma));
        let K: Mat<f64> = kernel.gram(Points::from_slice(&x));
        let ridged = Mat::from_fn(n, n, |i, j| K[(i, j)] + if i == j { gamma } else { 0.0 });
        let factor = Cholesky::new(ridged.as_ref()).unwrap();
        let k = K.as_ref().submatrix(0, n, n, 1);
        // (κ − kᵀAk − γkᵀA²k)/(κ + γ − kᵀAk) with A = (K + γI)⁻¹ and κ = 1
        let mut Ak = k.to_owned();
        factor.solve_in_place(Ak.as_mut());
        let residual = 1.0 - (k.transpose() * &Ak)[(0, 0)];
        let increment = (residual - gamma * Ak.squared_norm_l2()) / (residual + gamma);
        let (before, after) = (exact(&x[..n], kernel, gamma), exact(&x, kernel, gamma));
        let difference = after.iter().sum::<f64>() - before.iter().sum::<f64>();
        prop_assert!((increment - difference).abs() < 1e-9, "{increment} against {difference}");
        // at most the new point's own score
        prop_assert!(increment >= -1e-12 && increment <= after[n] + 1e-12);
    }

    /// The public state gives d̃ = Σ α·τ̃_new; with every point kept (ε → 0 limit of accuracy) and
    /// many copies d̃ ≥ d_eff.
    #[test]
    fn the_effective_dimension_is_never_underestimated(seed in any::<u64>(),
    log_gamma in -1.0..1.0_f64) {
        let (x, kernel, gamma) = (points(60, seed), Gaussian::new(0.2).unwrap(),
            10f64.powf(log_gamma));
        let mut ink = Ink::new(kernel, 1, gamma, 20_000, 0.5).unwrap();
        ink.push(Points::from_slice(&x), &mut rng(seed)).unwrap();
        let d_eff: f64 = exact(&x, kernel, gamma).iter().sum();
        prop_assert!(ink.effective_dimension() >= d_eff, "{} below {d_eff}",
            ink.effective_dimension());
    }
}

/// E[s_i²] = 1: as in `squeak_statistics.rs`, z = 6 for each of 40 points.
#[test]
fn weights_are_unbiased_and_copies_fill_a_fixed_space() {
    let (x, kernel, runs) = (points(40, 5), Gaussian::new(0.3).unwrap(), 2000);
    let (mut sums, mut squares, mut copies) = (vec![0.0; 40], vec![0.0; 40], 0);
    for seed in 0..runs {
        let mut ink = Ink::new(kernel, 1, 1.0, 60, 0.5).unwrap();
        ink.push(Points::from_slice(&x), &mut rng(seed)).unwrap();
        let dictionary = ink.dictionary().unwrap();
        copies += dictionary.len();
        for (&i, w) in dictionary.indices().iter().zip(dictionary.weights()) {
            sums[i] += w;
            squares[i] += w * w;
        }
    }
    let runs = runs as f64;
    for i in 0..40 {
        let mean = sums[i] / runs;
        let error = ((squares[i] / runs - mean * mean) / runs).sqrt();
        assert!((mean - 1.0).abs() < 6.0 * error, "point {i}: {mean} ± {error}");
    }
    assert!((copies as f64) < 35.0 * runs, "{} points kept on average", copies as f64 / runs);
}

#[test]
fn bad_input_is_refused_and_small_streams_work() {
    let kernel = Gaussian::new(0.3).unwrap();
    assert!(matches!(Ink::<_, f64>::new(kernel, 1, 1.0, 0, 0.5), Err(Error::Empty { .. })));
    assert!(matches!(Ink::<_, f64>::new(kernel, 0, 1.0, 9, 0.5), Err(Error::Empty { .. })));
    assert!(matches!(
        Ink::<_, f64>::new(kernel, 1, 0.0, 9, 0.5),
        Err(Error::InvalidParameter { .. })
    ));
    assert!(matches!(
        Ink::<_, f64>::new(kernel, 1, 1.0, 9, 1.0),
        Err(Error::InvalidParameter { name: "epsilon", .. })
    ));
    let mut ink = Ink::new(kernel, 1, 1.0, 50, 0.5).unwrap();
    assert!(ink.dictionary().is_err());
    ink.push(Points::from_slice(&[]), &mut rng(0)).unwrap();
    assert!(matches!(
        ink.push(Points::from_slice(&[0.1, f64::NAN]), &mut rng(0)),
        Err(Error::NonFinite { .. })
    ));
    assert_eq!(ink.n_seen(), 0);
    let plane = Mat::<f64>::zeros(3, 2);
    assert!(matches!(
        ink.push(Points::from_rows(plane.as_ref()), &mut rng(0)),
        Err(Error::Shape { .. })
    ));
    ink.push(Points::from_slice(&[0.5]), &mut rng(0)).unwrap();
    // α·1/(αγ + k) with α = 3, γ = k = 1
    assert!((ink.effective_dimension() - 3.0 / 4.0).abs() < 1e-12);
    ink.push(Points::from_slice(&[0.5; 300]), &mut rng(0)).unwrap();
    assert!(ink.n_seen() == 301 && ink.dictionary().unwrap().len() < 100);
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let x = points(700, 6);
    let _ = same_at_any_thread_count(|| {
        let mut ink = Ink::new(Gaussian::new(0.1).unwrap(), 1, 0.5, 200, 0.5).unwrap();
        ink.push(Points::from_slice(&x), &mut rng(7)).unwrap();
        (ink.dictionary().unwrap(), ink.effective_dimension())
    });
}
