//! Appendix A of Li, Jegelka & Sra: what holds with high probability, by enumeration.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_dpp::KDppBounds;
use nystrom_linalg_core::{Cholesky, Ridge, SymmetricEigen};
use proptest::prelude::*;

/// Probabilities of failure. The deviation √(8c ln(1/δ)) is below 1, so that a corollary can fail,
/// only for the last of them.
const DELTAS: [f64; 6] = [0.01, 0.1, 0.5, 0.9, 0.99, 0.9999];

/// Pr(f > bound) under the distribution.
fn exceeds(law: &[(f64, f64)], bound: f64) -> f64 {
    law.iter().filter(|(f, _)| *f > bound * (1.0 + 1e-9)).map(|(_, p)| p).sum()
}

/// μ²‖(L + μI)⁻¹f‖²: n times the bias.
fn bias(l: &Mat<f64>, f: &Mat<f64>, mu: f64) -> f64 {
    let shifted =
        Mat::from_fn(l.nrows(), l.nrows(), |i, j| l[(i, j)] + if i == j { mu } else { 0.0 });
    let mut a = f.clone();
    Cholesky::new(shifted.as_ref()).unwrap().solve_in_place(a.as_mut());
    mu * mu * a.squared_norm_l2()
}

/// K − K̃_C.
fn residual(k: &Mat<f64>, C: &[usize]) -> Mat<f64> {
    C.iter().fold(k.clone(), |rest, &p| {
        Mat::from_fn(k.nrows(), k.nrows(), |i, j| {
            rest[(i, j)] - rest[(i, p)] * rest[(p, j)] / rest[(p, p)]
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Theorem 6 (Pemantle & Peres): Pr(f − E f ≥ aℓ) ≤ exp(−a²/(8c)) for a function that changes
    /// by at most ℓ where one item of C enters or leaves. Here f = |C ∩ A| for all sets A, ℓ = 1.
    #[test]
    fn theorem_6_by_enumeration((kind, n, seed) in (0..4_usize, 3..9_usize, any::<u64>()),
        c in 1..7_usize) {
        let k = psd(KINDS[kind], n, seed);
        prop_assume!(c < SymmetricEigen::new(k.as_ref()).unwrap().rank());
        let law = law(k.as_ref(), c);
        for A in 1_u32..1 << n {
            let f = |C: &[usize]| C.iter().filter(|&&i| A >> i & 1 == 1).count() as f64;
            let mean: f64 = law.iter().map(|(C, p)| p * f(C)).sum();
            for least in 1..=c {
                let a = least as f64 - mean;
                let above: f64 =
                    law.iter().filter(|(C, _)| f(C) >= least as f64).map(|(_, p)| p).sum();
                let bound = (-a * a / (8 * c) as f64).exp();
                prop_assert!(a < 0.0 || above <= bound + 1e-9, "{above} above {bound}");
            }
        }
    }

    /// Corollaries 7 and 8 with their own constants: sets above the bound have probability δ at
    /// most.
    #[test]
    fn corollaries_7_and_8_by_enumeration(
        (kind, n, seed) in (0..4_usize, 3..8_usize, any::<u64>()), c in 1..6_usize) {
        let k = psd(KINDS[kind], n, seed);
        let eigen = SymmetricEigen::new(k.as_ref()).unwrap();
        prop_assume!(c < eigen.rank());
        let (values, mu) = (eigen.values(), 0.05);
        let bounds = KDppBounds::new(values, c).unwrap();
        let f = Mat::from_fn(n, 1, |i, _| (i as f64).sin() + 0.5);
        let whole = bias(&k, &f, mu);
        let (mut frobenius, mut spectral, mut biases) = (vec![], vec![], vec![]);
        for (C, p) in law(k.as_ref(), c).into_iter().filter(|(_, p)| *p > 0.0) {
            let rest = residual(&k, &C);
            frobenius.push((rest.norm_l2(), p));
            spectral.push((SymmetricEigen::new(rest.as_ref()).unwrap().values()[0].max(0.0), p));
            biases.push(((bias(&(&k - &rest), &f, mu) / whole).sqrt(), p));
        }
        for delta in DELTAS {
            for best in 0..=c {
                let tail = values[best..].iter().map(|l| l * l).sum::<f64>().sqrt();
                let bound = bounds.frobenius_with_probability(best, delta).unwrap() * tail;
                prop_assert!(exceeds(&frobenius, bound) <= delta);
                let bound = bounds.spectral_with_probability(best, delta).unwrap() * values[best];
                prop_assert!(exceeds(&spectral, bound) <= delta);
            }
            let bound = bounds.risk_with_probability(Ridge::Absolute(mu), delta).unwrap();
            prop_assert!(exceeds(&biases, bound) <= delta);
        }
    }
}

/// The excess of the corollaries over Theorems 1 and 3, written out for eigenvalues 3, 2, 1 and c =
/// 2, δ = e⁻²: √(8c ln(1/δ)) = √32.
#[test]
fn the_constants_are_those_of_the_paper() {
    let bounds = KDppBounds::new(&[1.0, 3.0, 2.0], 2).unwrap();
    let (delta, deviation) = ((-2.0_f64).exp(), 32.0_f64.sqrt());
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} and {b}");
    let excess =
        bounds.frobenius_with_probability(1, delta).unwrap() - bounds.frobenius(1).unwrap();
    close(excess, deviation * (14.0_f64 / 5.0).sqrt());
    let excess = bounds.spectral_with_probability(1, delta).unwrap() - bounds.spectral(1).unwrap();
    close(excess, deviation * 3.0 / 2.0);
    let ridge = Ridge::Absolute(0.5);
    let excess = bounds.risk_with_probability(ridge, delta).unwrap() - bounds.risk(ridge).unwrap();
    close(excess, deviation * 6.0 / 0.5);
}
