//! Tests of the guide and its bound, which affect only the number of trials of a draw.

use super::*;
use nystrom_linalg_core::testing::{Kind, psd, rng};
use nystrom_linalg_core::{Dense, Indices};
use proptest::prelude::*;

use crate::{ElementarySymmetric, LEnsemble};

fn guided(
    k: &dyn PsdMatrix<f64>,
    draws: Vec<(usize, f64)>,
    c: usize,
    m: usize,
    seed: u64,
) -> Option<(Guide, Vec<f64>, f64)> {
    let (diagonal, unit) = diagonal(k, c).ok()?;
    let sample = weighted(k, draws, c, &diagonal, unit);
    let guide = Guide::of(&sample, c, m, unit, &mut rng(seed)).ok()?;
    let rows: Vec<usize> = (0..k.dim()).collect();
    let scores = guide.scores(k, &rows, |j| diagonal[j]).unwrap();
    Some((guide, scores, unit))
}

/// For B = sK the scores are Pr(j ∈ C)/s: the derivative of ln e_c along φ_jφ_jᵀ is a probability.
#[test]
fn scores_of_k_itself_are_inclusion_probabilities() {
    for kind in [Kind::Gaussian, Kind::Rough, Kind::LowRank] {
        let (n, K) = (12, psd(kind, 12, 5));
        let k = Dense::new(K.as_ref()).unwrap();
        for c in [1, 2, 3] {
            let draws = (0..n).map(|j| (j, 1.0)).collect();
            let (_, scores, unit) = guided(&k, draws, c, n, 0).unwrap();
            let s = c as f64 / n as f64 / unit;
            let inclusion = LEnsemble::new(&k).unwrap().k_dpp(c).unwrap().inclusion();
            for (g, p) in scores.iter().zip(inclusion) {
                assert!((g * s * unit - p).abs() < 1e-8, "{kind:?}, c = {c}: {g} against {p}");
            }
        }
    }
}

/// e_j with a tail τ is Σ_k e_{j−k}(b) τᵏ/k!; the slopes are ratios of these.
#[test]
fn a_tail_is_the_limit_of_many_small_eigenvalues() {
    let (b, c): (Vec<f64>, _) = ((1..8).map(|i| f64::from(i).recip()).collect(), 5);
    for tau in [1e-3, 1.0, 40.0] {
        let plain = |b: &[f64], j: usize| match j {
            0 => 1.0,
            _ => ElementarySymmetric::new(b, j).map_or(0.0, |e| e.log_e(j).exp()),
        };
        let sum = |b: &[f64], j: usize| {
            let terms = (0..=j).scan(1.0, |term, k| {
                *term *= if k > 0 { tau / k as f64 } else { 1.0 };
                Some(*term * plain(b, j - k))
            });
            terms.sum::<f64>()
        };
        let e = ElementarySymmetric::with_tail(&b, tau, c).unwrap();
        for j in 1..=c + 1 {
            assert!((e.log_e(j) - sum(&b, j).ln()).abs() < 1e-12, "τ = {tau}, j = {j}");
        }
        let (one_less, two_less) = e.slopes();
        assert!((one_less / (sum(&b, c - 1) / sum(&b, c)) - 1.0).abs() < 1e-12);
        for (i, slope) in two_less.into_iter().enumerate() {
            let others: Vec<f64> = (0..b.len()).filter(|&j| j != i).map(|j| b[j]).collect();
            assert!((slope / (sum(&others, c - 2) / sum(&b, c)) - 1.0).abs() < 1e-12);
        }
        let many: Vec<f64> = b.iter().copied().chain((0..4000).map(|_| tau / 4000.0)).collect();
        let many = ElementarySymmetric::new(&many, c).unwrap();
        assert!((e.log_e(c) - many.log_e(c)).abs() < (c * c) as f64 / 4000.0);
    }
    // c above 700, for which e^{−tτ} underflows
    let e = ElementarySymmetric::with_tail(&[1.0], 3.0, 2000).unwrap();
    let log_factorial: f64 = (1..=2000).map(|i| f64::from(i).ln()).sum();
    let exact = 2000.0 * 3.0_f64.ln() - log_factorial + (1.0 + 2000.0 / 3.0_f64).ln();
    assert!((e.log_e(2000) - exact).abs() < 1e-9 * exact.abs());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// e_c(A_σ) ≤ e_c(B) for every σ and every guide, with equality if B = K and σ is all of K.
    #[test]
    fn the_bound_holds(
        (kind, n, seed) in (0..4_usize, 3..12_usize, any::<u64>()),
        (c, m) in (1..6_usize, 1..8_usize),
        rows in prop::collection::vec((0..12_usize, 0.01..1.0_f64), 1..15),
        sigma in prop::collection::vec(0..12_usize, 1..30),
    ) {
        let K = psd(Kind::ALL[kind], n, seed);
        let k = Dense::new(K.as_ref()).unwrap();
        let rows = rows.into_iter().map(|(j, g)| (j % n, g)).collect();
        let found = guided(&k, rows, c.min(n), m, seed);
        prop_assume!(found.is_some());
        let (guide, g, unit) = found.unwrap();
        let (c, diagonal) = (c.min(n), diagonal(&k, c.min(n)).unwrap().0);
        let once: Vec<usize> = sigma.iter().map(|j| j % n).collect();
        let alike = vec![once[0]; 9];
        for sigma in [once, alike, (0..n).collect(), guide.items().to_vec()] {
            let draws = sigma.iter().map(|&j| (j, g[j])).collect();
            let trial = Trial::new(weighted(&k, draws, c, &diagonal, unit)).unwrap();
            let log = trial.log_e(c).unwrap() - guide.log_e();
            prop_assert!(log < 1e-7, "σ = {sigma:?}: {log}");
            // for no α is a trial refused that its eigenvalues would accept
            for log_alpha in [guide.log_tilt() - 3.0, guide.log_tilt(), guide.log_tilt() + 3.0] {
                let log_e = trial.log_e(c).unwrap();
                prop_assert!(log_e == f64::NEG_INFINITY
                    || trial.may_reach(log_e - 1e-9, c, log_alpha));
            }
        }
    }
}

/// The rate of a poor guide, t!/((t − c)! tᶜ)·e_c(K)/(e_c(B) (G/c)ᶜ), compared with the mean
/// probability of 4000 trials, within six standard errors.
#[test]
fn trials_succeed_at_the_rate_that_is_said() {
    let (n, c, t) = (40, 4, 12);
    let K = psd(Kind::Rough, n, 3);
    let k = Dense::new(K.as_ref()).unwrap();
    let how =
        Rejection { dictionary: 3, sample: 20, intermediate: Some(t), ..Rejection::of_size(c) };
    let rng = &mut rng(1);
    let mut k_dpp = RejectionKDpp::new(&k, c, how, rng).unwrap();
    k_dpp.prepared.proposal.score_all(&k).unwrap();
    let rows: Vec<usize> = (0..n).collect();
    let diagonal = k_dpp.prepared.proposal.diagonal().to_vec();
    let G: f64 =
        k_dpp.prepared.proposal.guide().scores(&k, &rows, |j| diagonal[j]).unwrap().iter().sum();
    let log_e = LEnsemble::new(&k).unwrap().k_dpp(c).unwrap().log_normaliser();
    let unit = k.block(Indices::from(0..n), Indices::from(0..n)).norm_max();
    let log_rate = log_all_differ(c, t) + log_e
        - c as f64 * unit.ln()
        - k_dpp.prepared.proposal.guide().log_e()
        - c as f64 * (G / c as f64).ln();
    let rates: Vec<f64> = (0..4000)
        .map(|_| {
            let trial = k_dpp.trial(rng).unwrap();
            k_dpp.log_probability(&trial).unwrap().exp()
        })
        .collect();
    let mean = rates.iter().sum::<f64>() / 4000.0;
    let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 3999.0;
    let (exact, margin) = (log_rate.exp(), 6.0 * (variance / 4000.0).sqrt());
    assert!((mean - exact).abs() < margin, "{mean} against {exact} ± {margin}");
    assert!(margin < 0.2 * exact && exact < 0.9 * log_all_differ(c, t).exp());
}

/// With a typical uniform number: most trials that their eigenvalues would refuse are refused
/// without them, and no trial that they would accept.
#[test]
fn most_failures_take_no_eigenvalues() {
    let (n, c) = (400, 12);
    let K = psd(Kind::Rough, n, 3);
    let k = Dense::new(K.as_ref()).unwrap();
    let rng = &mut rng(2);
    let mut k_dpp = RejectionKDpp::new(&k, c, Rejection::of_size(c), rng).unwrap();
    let (mut refused, mut at_once) = (0, 0);
    for i in 0..200 {
        let (trial, coin) = (k_dpp.trial(rng).unwrap(), (f64::from(i + 1) / 200.0).ln());
        let passes = k_dpp.may_pass(&trial, coin);
        if coin < k_dpp.log_probability(&trial).unwrap() {
            assert!(passes);
        } else {
            refused += 1;
            at_once += i32::from(!passes);
        }
    }
    assert!(refused > 60 && 10 * at_once > 8 * refused, "{at_once} of {refused}");
}

/// √v e^{−v} I_0(v), the integral by the trapezoidal rule, which is exact to rounding here, has its
/// maximum at 0.79 and goes to 1/√(2π).
#[test]
fn no_number_of_items_is_more_likely_than_the_bound() {
    let bessel = |v: f64| {
        let at = |i: i32| (-v * (1.0 - (f64::from(i) * std::f64::consts::TAU / 512.0).cos())).exp();
        v.sqrt() * (0..512).map(at).sum::<f64>() / 512.0
    };
    let largest = (1..4000).map(|i| bessel(f64::from(i) / 100.0)).fold(0.0, f64::max);
    assert!((0.4688..trial::MODE).contains(&largest), "{largest}");
    assert!((bessel(1000.0) - 0.398_99).abs() < 1e-4);
}
