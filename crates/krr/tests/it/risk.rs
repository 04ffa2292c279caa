//! Bias, variance and risk: values of another program, Monte Carlo, and the inequalities of the
//! theory.
#![allow(non_snake_case, clippy::excessive_precision)]

use crate::common::{gaussian, lu, rng, sample};
use faer::Mat;
use nystrom_kernels::{Kernel, KernelMatrix, Points};
use nystrom_krr::risk::{FixedDesign, Risk};
use nystrom_linalg_core::{Cholesky, Dense, Error, Ridge, SymmetricEigen, ops, random};
use proptest::prelude::*;
use rand::RngExt;

/// K on n random points and f* in the shape of a smooth function plus roughness that no landmark
/// sees.
fn problem(n: usize, seed: u64) -> (Mat<f64>, Vec<f64>) {
    let (x, f) = sample::<f64>(n, 2, 1, seed);
    (gaussian(1.0).gram(Points::from_rows(x.as_ref())), (0..n).map(|i| f[(i, 0)]).collect())
}

fn product(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    ops::times(a.as_ref(), b.as_ref())
}

/// F with FFᵀ = KS(SᵀKS + δI)⁻¹SᵀK for columns `idx` scaled by `scale`.
fn factor(K: &Mat<f64>, idx: &[usize], scale: &[f64], delta: f64) -> Mat<f64> {
    let p = idx.len();
    let mut Ft = Mat::from_fn(p, K.nrows(), |s, i| K[(i, idx[s])] * scale[s]);
    let W = Mat::from_fn(p, p, |s, t| {
        K[(idx[s], idx[t])] * scale[s] * scale[t] + if s == t { delta } else { 0.0 }
    });
    Cholesky::new(W.as_ref()).unwrap().forward_in_place(Ft.as_mut());
    Ft.transpose().to_owned()
}

fn spectral_norm(a: &Mat<f64>) -> f64 {
    let eigen = SymmetricEigen::new(a.as_ref()).unwrap();
    eigen.values().iter().fold(0.0, |worst: f64, s| worst.max(s.abs()))
}

fn exact(K: &Mat<f64>, f: &[f64]) -> FixedDesign {
    FixedDesign::exact(&Dense::new(K.as_ref()).unwrap(), f).unwrap()
}

/// bias², variance of K and of L (every fourth point a landmark) at n = 16, x_i = i/16, ℓ = 1/4,
/// f* = 8x(1 − x)(x − 1/4), σ² = 1/4, computed with mpmath at 60 digits from the formulas with
/// explicit inverses.
#[test]
fn agrees_with_sixty_digit_values() {
    let x: Vec<f64> = (0..16).map(|i| i as f64 / 16.0).collect();
    let f: Vec<f64> = x.iter().map(|t| 8.0 * t * (1.0 - t) * (t - 0.25)).collect();
    let k = KernelMatrix::new(gaussian(0.25), Points::from_slice(&x)).unwrap();
    let K = gaussian(0.25).gram(Points::from_slice(&x));
    let F = factor(&K, &[0, 4, 8, 12], &[1.0; 4], 0.0);
    let designs =
        [FixedDesign::exact(&k, &f).unwrap(), FixedDesign::low_rank(F.as_ref(), &f).unwrap()];
    let expected = [
        (
            1.0 / 128.0,
            [
                [0.0008540131736653407, 0.059698138825865548],
                [0.0015618531353340614, 0.053358637310710368],
            ],
        ),
        (
            1e-10,
            [
                [3.7875586953151192e-11, 0.18669021252737861],
                [0.00135447549274215, 0.062499999846824233],
            ],
        ),
    ];
    for (lambda, values) in expected {
        for (design, [bias2, variance]) in designs.iter().zip(values) {
            let risk = design.risk(Ridge::PerSample(lambda), 0.25).unwrap();
            // f64 eigenvalues carry ε·σ₁/nλ = 1e-6 at λ = 1e-10
            let tolerance = if lambda < 1e-3 { 1e-5 } else { 1e-12 };
            assert!(
                (risk.bias_squared / bias2 - 1.0).abs() < tolerance,
                "{lambda} {risk:?} {bias2}"
            );
            assert!(
                (risk.variance / variance - 1.0).abs() < tolerance,
                "{lambda} {risk:?} {variance}"
            );
        }
    }
}

/// The mean of ‖f̂ − f*‖²/n over 4000 draws of the noise is within 5 standard errors (estimated
/// from the same draws) of bias² + variance, and further than that from either alone. False alarm:
/// 6e-7 per comparison; the seed is fixed.
#[test]
fn equals_the_monte_carlo_risk() {
    let (n, mu, noise_variance, draws) = (40, 0.8, 0.3_f64, 4000);
    let (K, f) = problem(n, 3);
    let F = factor(&K, &[0, 5, 10, 15, 20], &[1.0; 5], 1e-12);
    let L = product(&F, &F.transpose().to_owned());
    let designs = [(exact(&K, &f), K.clone()), (FixedDesign::low_rank(F.as_ref(), &f).unwrap(), L)];
    for (design, M) in designs {
        let mut shifted = M.clone();
        ops::add_to_diagonal(shifted.as_mut(), mu);
        let noise: Mat<f64> = random::standard_normal(n, draws, &mut rng(17));
        let mut y = Mat::from_fn(n, draws, |i, r| f[i] + noise_variance.sqrt() * noise[(i, r)]);
        Cholesky::new(shifted.as_ref()).unwrap().solve_in_place(y.as_mut());
        let fits = product(&M, &y);
        let loss = |r: usize| (0..n).map(|i| (fits[(i, r)] - f[i]).powi(2)).sum::<f64>() / n as f64;
        let losses: Vec<f64> = (0..draws).map(loss).collect();
        let mean = losses.iter().sum::<f64>() / draws as f64;
        let spread = losses.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (draws - 1) as f64;
        let standard_error = (spread / draws as f64).sqrt();
        let risk = design.risk(Ridge::Absolute(mu), noise_variance).unwrap();
        assert!(
            (mean - risk.total()).abs() < 5.0 * standard_error,
            "{mean} ± {standard_error}: {risk:?}"
        );
        assert!((mean - risk.bias_squared).abs() > 5.0 * standard_error);
        assert!((mean - risk.variance).abs() > 5.0 * standard_error);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn low_rank_agrees_with_the_dense_formulas(n in 2..40usize, m in 1..45usize,
    seed in 0..1000u64, log_mu in -3.0..2.0f64) {
        let mut rng = rng(seed);
        let F: Mat<f64> = random::standard_normal(n, m, &mut rng);
        let L = product(&F, &F.transpose().to_owned());
        let (_, f) = problem(n, seed);
        let (mu, s2) = (10f64.powf(log_mu), 0.7);
        let mut shifted = L.clone();
        ops::add_to_diagonal(shifted.as_mut(), mu);
        let column = Mat::from_fn(n, 1, |i, _| f[i]);
        let bias2 = mu * mu / n as f64 * lu(&shifted, &column).squared_norm_l2();
        let variance = s2 / n as f64 * lu(&shifted, &L).squared_norm_l2();
        for design in [FixedDesign::low_rank(F.as_ref(), &f).unwrap(), exact(&L, &f)] {
            let risk = design.risk(Ridge::Absolute(mu), s2).unwrap();
            prop_assert!((risk.bias_squared - bias2).abs() < 1e-8 * (1.0 + bias2),
                "{risk:?} {bias2}");
            prop_assert!((risk.variance - variance).abs() < 1e-8 * (1.0 + variance),
                "{risk:?} {variance}");
        }
    }

    /// L ⪯ K: the variance does not grow, the bias by at most the factor 1 + ‖K − L‖₂/nλ, the risk
    /// by its square.
    #[test]
    fn landmarks_cost_bias_and_never_variance(n in 3..50usize, m in 1..20usize,
    seed in 0..1000u64, log_lambda in -6.0..0.0f64) {
        let (K, f) = problem(n, seed);
        let m = m.min(n);
        let F = factor(&K, &(0..m).collect::<Vec<_>>(), &vec![1.0; m], 1e-12);
        let ridge = Ridge::PerSample(10f64.powf(log_lambda));
        let mu = ridge.absolute(n).unwrap();
        let of_k = exact(&K, &f).risk(ridge, 0.1).unwrap();
        let of_l = FixedDesign::low_rank(F.as_ref(), &f).unwrap().risk(ridge, 0.1).unwrap();
        let factor = 1.0 + spectral_norm(&(&K - product(&F, &F.transpose().to_owned()))) / mu;
        let slack = 1.0 + 1e-7;
        prop_assert!(of_l.variance <= of_k.variance * slack);
        prop_assert!(of_l.bias_squared.sqrt() <= factor * of_k.bias_squared.sqrt() * slack);
        prop_assert!(of_l.ratio(of_k) <= factor * factor * slack);
    }

    /// Theorem 1 of Alaoui & Mahoney for a random S with replacement: the bound itself wherever its
    /// two conditions hold, and its companion K − L_γ ⪯ nγ/(1 − t) I without the second.
    #[test]
    fn theorem_1_bounds_the_bias(n in 10..40usize, p in 20..200usize, seed in 0..1000u64,
    log_gamma in -3.0..0.0f64) {
        let (K, f) = problem(n, seed);
        let mut rng = rng(seed);
        let idx: Vec<usize> = (0..p).map(|_| rng.random_range(0..n)).collect();
        let scale = (n as f64 / p as f64).sqrt(); // 1/√(p·p_i), p_i = 1/n
        let gamma = 10f64.powf(log_gamma);
        let eigen = SymmetricEigen::new(K.as_ref()).unwrap();
        // Φ^{1/2}Uᵀ, then Φ − Φ^{1/2}UᵀSSᵀUΦ^{1/2}
        let root = Mat::from_fn(n, n, |r, i| {
            let s = eigen.values()[r].max(0.0);
            (s / (s + n as f64 * gamma)).sqrt() * eigen.vectors()[(i, r)]
        });
        let sampled = Mat::from_fn(n, p, |r, j| scale * root[(r, idx[j])]);
        let gap = product(&root, &root.transpose().to_owned()) - product(&sampled,
            &sampled.transpose().to_owned());
        let t = SymmetricEigen::new(gap.as_ref()).unwrap().values()[0];
        prop_assume!(t < 0.95);
        let L_gamma = factor(&K, &idx, &vec![scale; p], n as f64 * gamma);
        let rest = &K - product(&L_gamma, &L_gamma.transpose().to_owned());
        let worst = SymmetricEigen::new(rest.as_ref()).unwrap().values()[0];
        prop_assert!(worst <= n as f64 * gamma / (1.0 - t) * (1.0 + 1e-7), "{worst}");

        // ‖S‖²_op = (largest multiplicity)·n/p
        let most = (0..n).map(|i| idx.iter().filter(|&&j| j == i).count()).max().unwrap();
        let lambda = most as f64 * n as f64 / p as f64 * eigen.values()[0] / n as f64 / (1.0 - t);
        let distinct: Vec<usize> = (0..n).filter(|i| idx.contains(i)).collect();
        let L = factor(&K, &distinct, &vec![1.0; distinct.len()], 1e-12);
        let bias = |risk: Risk| risk.bias_squared.sqrt();
        let of_l = FixedDesign::low_rank(L.as_ref(), &f).unwrap().risk(Ridge::PerSample(lambda),
            0.0).unwrap();
        let of_k = exact(&K, &f).risk(Ridge::PerSample(lambda), 0.0).unwrap();
        prop_assert!(bias(of_l) <= (1.0 + gamma / lambda / (1.0 - t)) * bias(of_k) * (1.0 + 1e-9));
    }
}

/// Theorem 3 of Alaoui & Mahoney at its own sample size: R(f̂_L) ≤ (1 + 2ε)² R(f̂_K) fails in at
/// most a share 2ρ of the draws.
///
/// For L_λε and for the plain L = KS(SᵀKS)⁺SᵀK, at a λ that breaks the printed condition for the
/// latter. For the exact λε-scores (β = 1), and for β = ½: every other draw is of the first row.
/// The proof's ‖K − L_λε‖ ≤ 2nλε, which bounds ‖K − L‖ too, is held as well: it is the tighter.
#[test]
fn alaoui_mahoney_theorem_3_holds_at_its_own_sample_size() {
    let (n, epsilon, rho, repeats) = (600, 0.5_f64, 0.1_f64, 25);
    let (K, f) = problem(n, 1);
    let (eigen, design) = (SymmetricEigen::new(K.as_ref()).unwrap(), exact(&K, &f));
    for (beta, lambda) in [(1.0, 0.1), (0.5, 0.3)] {
        let delta = n as f64 * lambda * epsilon;
        let phi = |r: usize| eigen.values()[r].max(0.0) / (eigen.values()[r].max(0.0) + delta);
        let score =
            |i: usize| (0..n).map(|r| phi(r) * eigen.vectors()[(i, r)].powi(2)).sum::<f64>();
        let scores: Vec<f64> = (0..n).map(score).collect();
        let d_eff: f64 = scores.iter().sum();
        let p = (8.0 * (d_eff / beta + 1.0 / 6.0) * (n as f64 / rho).ln()).ceil() as usize;
        assert!(p < n, "the theorem should say something: p = {p}");
        let least = scores.iter().fold(1.0, |least: f64, l| least.min(*l));
        assert!(lambda < 2.0 * (1.0 + 1.0 / least) * eigen.values()[0] / n as f64);
        let of_design = design.effective_dimension(Ridge::PerSample(lambda * epsilon)).unwrap();
        assert!((of_design - d_eff).abs() < 1e-9 * d_eff);
        let of_k = design.risk(Ridge::PerSample(lambda), 0.1).unwrap();
        let mut probabilities: Vec<f64> = scores.iter().map(|l| beta * l / d_eff).collect();
        probabilities[0] += 1.0 - beta;
        let mut rng = rng(5);
        let failures = |_| {
            let idx = random::with_replacement(&probabilities, p, &mut rng).unwrap();
            let scale: Vec<f64> =
                idx.iter().map(|&i| 1.0 / (p as f64 * probabilities[i]).sqrt()).collect();
            let distinct: Vec<usize> = (0..n).filter(|i| idx.contains(i)).collect();
            // (SᵀKS)⁺ as the limit of a shift; with one, L is smaller
            let plain = factor(&K, &distinct, &vec![1.0; distinct.len()], 1e-10);
            let shifted = factor(&K, &idx, &scale, delta);
            let gap = spectral_norm(&(&K - product(&shifted, &shifted.transpose().to_owned())));
            [shifted, plain].map(|F| {
                let of_l = FixedDesign::low_rank(F.as_ref(), &f).unwrap();
                let of_l = of_l.risk(Ridge::PerSample(lambda), 0.1).unwrap();
                of_l.ratio(of_k) > (1.0 + 2.0 * epsilon).powi(2) || gap > 2.0 * delta
            })
        };
        let failures: Vec<[bool; 2]> = (0..repeats).map(failures).collect();
        for which in [0, 1] {
            let failed = failures.iter().filter(|draw| draw[which]).count();
            let allowed = 2.0 * rho * repeats as f64;
            assert!(failed as f64 <= allowed, "β = {beta}, L {which}: {failed} of {repeats}");
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let (K, f) = problem(4, 0);
    let k = Dense::new(K.as_ref()).unwrap();
    assert!(matches!(
        FixedDesign::exact(&k, &f[..3]),
        Err(Error::Shape { expected: 4, got: 3, .. })
    ));
    assert!(matches!(
        FixedDesign::low_rank(K.as_ref(), &[0.0; 5]),
        Err(Error::Shape { expected: 4, got: 5, .. })
    ));
    assert!(matches!(
        FixedDesign::low_rank(Mat::<f64>::zeros(4, 0).as_ref(), &f),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        FixedDesign::low_rank(Mat::<f64>::zeros(0, 2).as_ref(), &[]),
        Err(Error::Empty { .. })
    ));
    let spoiled = [0.0, 0.0, f64::NAN, 0.0];
    assert!(matches!(
        FixedDesign::exact(&k, &spoiled),
        Err(Error::NonFinite { what: "f*", row: 2, .. })
    ));
    let design = FixedDesign::exact(&k, &f).unwrap();
    assert!(matches!(design.risk(Ridge::PerSample(0.0), 1.0), Err(Error::InvalidParameter { .. })));
    assert!(matches!(
        design.risk(Ridge::PerSample(1.0), -1.0),
        Err(Error::InvalidParameter { name: "noise variance", .. })
    ));
    assert!(matches!(
        design.risk(Ridge::PerSample(1.0), f64::NAN),
        Err(Error::InvalidParameter { .. })
    ));
    // M = 0 sees nothing: the whole of f* is bias.
    let blind = FixedDesign::low_rank(Mat::<f64>::zeros(4, 2).as_ref(), &f)
        .unwrap()
        .risk(Ridge::PerSample(1.0), 1.0)
        .unwrap();
    let whole = f.iter().map(|f| f * f).sum::<f64>() / 4.0;
    assert!((blind.bias_squared - whole).abs() < 1e-15 && blind.variance == 0.0);
}
