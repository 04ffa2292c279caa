//! Bounds, path coupling, effective size and coupled chains against enumeration; the selectors'
//! laws.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_dpp::{
    EffectiveSize, KDpp, KDppBounds, KDppChain, KDppWalk, LEnsemble, Meetings, PathCoupling,
    StationaryMeetings, SwapRule, coupled_meetings, mixing_time, stationary_meetings,
};
use nystrom_linalg_core::{Cholesky, Dense, Error, Ridge, SymmetricEigen, random};
use nystrom_sketch::testing::{Promise, check_selector};
use nystrom_sketch::{KMeansPlusPlus, LandmarkSelector, Landmarks, RpCholesky, Uniform};
use proptest::prelude::*;

/// K − K̃_C by elimination.
fn residual(k: &Mat<f64>, C: &[usize]) -> Mat<f64> {
    let mut rest = k.clone();
    for &p in C {
        let pivot = rest[(p, p)];
        let column: Vec<f64> = (0..k.nrows()).map(|i| rest[(i, p)]).collect();
        rest =
            Mat::from_fn(k.nrows(), k.nrows(), |i, j| rest[(i, j)] - column[i] * column[j] / pivot);
    }
    rest
}

/// bias² + variance of kernel ridge regression with L in place of K: (nλ)²‖(L + nλI)⁻¹f‖²/n +
/// s²/n·tr[L²(L + nλI)⁻²].
fn risk(l: &Mat<f64>, f: &Mat<f64>, mu: f64, s2: f64) -> f64 {
    let n = l.nrows();
    let shifted = Mat::from_fn(n, n, |i, j| l[(i, j)] + if i == j { mu } else { 0.0 });
    let factor = Cholesky::new(shifted.as_ref()).unwrap();
    let (mut a, mut b) = (f.clone(), l.clone());
    factor.solve_in_place(a.as_mut());
    factor.solve_in_place(b.as_mut());
    (mu * mu * a.squared_norm_l2() + s2 * b.squared_norm_l2()) / n as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Lemma 2, Theorems 1 and 3 with expectations by enumeration.
    #[test]
    fn theorems_hold_by_enumeration((kind, n, seed) in (0..4_usize, 3..8_usize, any::<u64>()),
        c in 1..6_usize) {
        let k = psd(KINDS[kind], n, seed);
        let eigen = SymmetricEigen::new(k.as_ref()).unwrap();
        prop_assume!(c < eigen.rank());
        let values = eigen.values();
        let bounds = KDppBounds::new(values, c).unwrap();
        let (mut frobenius, mut spectral, mut trace, mut root_risk) = (0.0, 0.0, 0.0, 0.0);
        let f: Mat<f64> = random::standard_normal(n, 1, &mut rng(seed));
        let (mu, s2) = (0.05, 0.3);
        let exact_risk = risk(&k, &f, mu, s2);
        for (C, p) in law(k.as_ref(), c).into_iter().filter(|(_, p)| *p > 0.0) {
            let rest = residual(&k, &C);
            frobenius += p * rest.norm_l2();
            spectral += p * SymmetricEigen::new(rest.as_ref()).unwrap().values()[0].max(0.0);
            trace += p * (0..n).map(|i| rest[(i, i)]).sum::<f64>();
            root_risk += p * (risk(&(&k - &rest), &f, mu, s2) / exact_risk).sqrt();
        }
        prop_assert!((bounds.expected_trace_error() - trace).abs() < 1e-8);
        for best in 0..=c {
            let tail: f64 = values[best..].iter().map(|l| l.max(0.0)).sum();
            let (mean, bound) = (bounds.expected_trace_error(), bounds.ratio_bound(best).unwrap());
            prop_assert!(mean / (c as f64 + 1.0) <= bound + 1e-12);
            prop_assert!(tail > 0.0);
            let best_frobenius = values[best..].iter().map(|l| l * l).sum::<f64>().sqrt();
            let bound = bounds.frobenius(best).unwrap();
            prop_assert!(frobenius / best_frobenius <= bound * (1.0 + 1e-9));
            prop_assert!(spectral / values[best] <= bounds.spectral(best).unwrap() * (1.0 + 1e-9));
            prop_assert!(bounds.frobenius_with_probability(best,
                0.1).unwrap() > bounds.frobenius(best).unwrap());
            prop_assert!(bounds.spectral_with_probability(best,
                0.1).unwrap() > bounds.spectral(best).unwrap());
        }
        let bound = bounds.risk(Ridge::Absolute(mu)).unwrap();
        prop_assert!(root_risk <= bound * (1.0 + 1e-9), "{root_risk} above {bound}");
        prop_assert!(bounds.risk_with_probability(Ridge::Absolute(mu), 0.1).unwrap() > bound);
    }

    /// α from ratios of determinants.
    #[test]
    fn alpha_is_that_of_determinants((kind, seed) in (0..3_usize, any::<u64>()), c in 1..4_usize) {
        let (n, kind) = (6, [Kind::Gaussian, Kind::Rough, Kind::LowRank][kind]);
        let k = psd(kind, n, seed);
        let volume = |Y: &[usize]| det(&principal(k.as_ref(), Y));
        let q = |v: usize, u: usize, Y: &[usize]| {
            let next: Vec<usize> = Y.iter().map(|&y| if y == v { u } else { y }).collect();
            let rho = volume(&next) / volume(Y);
            rho / (1.0 + rho)
        };
        let (mut largest, mut triples) = (f64::NEG_INFINITY, 0);
        for S in subsets(n, c - 1) {
            for r in (0..n).filter(|r| !S.contains(r)) {
                for t in (r + 1..n).filter(|t| !S.contains(t)) {
                    let (R, T) = ([&S[..], &[r]].concat(), [&S[..], &[t]].concat());
                    let outside: Vec<usize> = (0..n).filter(|u| !R.contains(u)
                        && *u != t).collect();
                    let mut alpha = 0.0;
                    for &u in &outside {
                        alpha -= q(r, u, &R).min(q(t, u, &T));
                        alpha += S.iter().map(|&v| (q(v, u, &R) - q(v, u, &T)).abs()).sum::<f64>();
                    }
                    alpha -= S.iter().map(|&v| q(v, t, &R).min(q(v, r, &T))).sum::<f64>();
                    largest = largest.max(alpha);
                    triples += 1;
                }
            }
        }
        let dense = Dense::new(k.as_ref()).unwrap();
        let exact = PathCoupling::exact(&dense, c).unwrap();
        prop_assert!((exact.largest - largest).abs() < 1e-7, "{} against {largest}", exact.largest);
        prop_assert!(exact.triples == triples && exact.exhaustive);
        let sampled = PathCoupling::sampled(&dense, c, 20, &mut rng(seed)).unwrap();
        prop_assert!(sampled.largest <= exact.largest + 1e-9 && !sampled.exhaustive
            && sampled.triples == 20);
    }
}

/// The lazy chain's transition matrix from determinants.
fn lazy_transitions(k: &Mat<f64>, law: &[(Vec<usize>, f64)]) -> Mat<f64> {
    let (n, c, m) = (k.nrows(), law[0].0.len(), law.len());
    let mut P = Mat::zeros(m, m);
    for a in 0..m {
        for b in 0..m {
            let common = law[a].0.iter().filter(|i| law[b].0.contains(i)).count();
            if common + 1 == c {
                let rho = law[b].1 / law[a].1;
                P[(a, b)] = 0.5 * rho / (1.0 + rho) / (c * (n - c)) as f64;
            }
        }
        P[(a, a)] = 1.0 - (0..m).map(|b| P[(a, b)]).sum::<f64>();
    }
    P
}

fn distance(row: impl Fn(usize) -> f64, law: &[(Vec<usize>, f64)]) -> f64 {
    law.iter().enumerate().map(|(b, (_, p))| (row(b) - p).abs()).sum::<f64>() / 2.0
}

/// λ₂ of a reversible P.
fn second_eigenvalue(P: &Mat<f64>, law: &[(Vec<usize>, f64)]) -> f64 {
    let root = |a: usize| law[a].1.sqrt();
    let m = law.len();
    let symmetric = Mat::from_fn(m, m, |a, b| root(a) * P[(a, b)] / root(b));
    SymmetricEigen::new(symmetric.as_ref()).unwrap().values()[1]
}

/// After τ(ε) steps every start is within ε, exactly computed; and a tenth of the steps is not
/// enough.
#[test]
fn the_mixing_time_of_theorem_5_is_enough() {
    let (n, c, epsilon) = (7, 3, 0.05);
    let k = psd(Kind::Rough, n, 1);
    let alpha = PathCoupling::exact(&Dense::new(k.as_ref()).unwrap(), c).unwrap().largest;
    assert!(alpha < 1.0, "{alpha}");
    let steps = mixing_time(n, c, alpha, epsilon).unwrap().unwrap().ceil() as usize;
    let law = law(k.as_ref(), c);
    let P = lazy_transitions(&k, &law);
    let worst = |steps: usize| {
        let power =
            (0..steps).fold(Mat::<f64>::identity(law.len(), law.len()), |power, _| &power * &P);
        (0..law.len()).map(|a| distance(|b| power[(a, b)], &law)).fold(0.0, f64::max)
    };
    assert!(worst(steps) < epsilon && worst(steps / 10) > epsilon);
}

/// The estimate bounds the exact distance from a uniform start, up to Monte-Carlo error: the mean
/// of 400 terms, six standard errors of terms at most 1 at these times.
#[test]
fn coupled_chains_bound_the_distance() {
    let (n, c, lag) = (7, 3, 60);
    let k = psd(Kind::Gaussian, n, 1);
    let law = law(k.as_ref(), c);
    let P = lazy_transitions(&k, &law);
    let dense = Dense::new(k.as_ref()).unwrap();
    let run = |pairs, lag, limit| {
        let (start, rule) = (Uniform::default(), SwapRule::LazyGibbs);
        coupled_meetings(&dense, c, &start, rule, pairs, lag, limit, &mut rng(1)).unwrap()
    };
    let meetings = same_at_any_thread_count(|| run(400, lag, 100_000));
    let mut row = Mat::from_fn(1, law.len(), |_, _| 1.0 / law.len() as f64);
    let mut informative = 0;
    for t in 0..600 {
        let exact = distance(|b| row[(0, b)], &law);
        let bound = meetings.total_variation(t).unwrap();
        assert!(
            exact <= bound + 6.0 * (0.25_f64 / 400.0).sqrt(),
            "after {t} steps: {exact} above {bound}"
        );
        informative += usize::from(bound < 0.5);
        row = &row * &P;
    }
    assert!(informative > 200 && meetings.total_variation(1_000_000) == Some(0.0));
    // too few steps: not certified
    let few = run(50, 10, 12);
    assert_eq!(few.total_variation(1000), None);
}

/// The bound with δ = 1e-6 holds at every time looked at, against the exact distance from a uniform
/// start; and it becomes small.
#[test]
fn meetings_with_exact_draws_bound_the_distance() {
    let (n, c, pairs) = (7, 3, 400);
    for kind in [Kind::Gaussian, Kind::Rough] {
        let k = psd(kind, n, 1);
        let law = law(k.as_ref(), c);
        let P = lazy_transitions(&k, &law);
        let dense = Dense::new(k.as_ref()).unwrap();
        let ensemble = LEnsemble::new(&dense).unwrap();
        let (k_dpp, rng) = (ensemble.k_dpp(c).unwrap(), &mut rng(3));
        let exact: Vec<_> = (0..pairs).map(|_| k_dpp.sample(rng)).collect();
        let (start, rule) = (Uniform::default(), SwapRule::LazyGibbs);
        let meetings = stationary_meetings(&dense, c, &start, rule, &exact, 3000, rng).unwrap();
        let mut row = Mat::from_fn(1, law.len(), |_, _| 1.0 / law.len() as f64);
        let mut informative = 0;
        for t in 0..600 {
            let away = distance(|b| row[(0, b)], &law);
            let bound = meetings.distance(t, 1e-6).unwrap();
            assert!(away <= bound, "{kind:?}, after {t} steps: {away} above {bound}");
            informative += usize::from(bound < 0.5);
            row = &row * &P;
        }
        assert!(informative > 100, "{kind:?}: {informative}");
        // no coupling forgets faster than the chain, at its spectral gap; this one takes 1.4 and 2
        // times as long
        let left = |pairs_left: usize| {
            let late = |t: &Option<usize>, after| t.is_none_or(|t| t > after);
            let still = |after| meetings.times.iter().filter(|t| late(t, after)).count();
            (0..).find(|&after| still(after) <= pairs_left).unwrap() as f64
        };
        let slowest = (left(25) - left(200)) / 8.0_f64.ln();
        let relaxation = -second_eigenvalue(&P, &law).ln().recip();
        // the logarithm of 25 counts is off by a fifth, and six of that by 60 %
        let share = slowest / relaxation;
        assert!((0.4..3.2).contains(&share), "{kind:?}: {slowest} and {relaxation} by the gap");
    }
    let dense = psd(Kind::Rough, n, 1);
    let dense = Dense::new(dense.as_ref()).unwrap();
    let run = |exact: &[Landmarks]| {
        let (start, rule) = (Uniform::default(), SwapRule::Metropolis);
        stationary_meetings(&dense, c, &start, rule, exact, 10, &mut rng(0))
    };
    let few = Landmarks::new(n, vec![1, 2]).unwrap();
    assert!(matches!(run(&[]), Err(Error::Empty { .. })));
    assert!(matches!(run(&[few]), Err(Error::Shape { expected: 3, got: 2, .. })));
    let meetings = StationaryMeetings { times: vec![None], limit: 1 };
    assert!(matches!(meetings.distance(1, 1.0), Err(Error::InvalidParameter { .. })));
    let none = StationaryMeetings { times: vec![], limit: 1 };
    assert!(matches!(none.distance(1, 0.1), Err(Error::Empty { .. })));
}

/// An autoregressive series of coefficient φ has τ = (1 + φ)/(1 − φ): 19 at 0.9. The estimate's
/// relative standard deviation with 2·10⁵ terms and a window of about 8τ is √(2·(2·8τ)/2e5) ≈ 6 %:
/// 40 % is more than six of them.
#[test]
fn effective_size_of_autoregression() {
    let noise: Mat<f64> = random::standard_normal(200_000, 1, &mut rng(3));
    for (phi, time) in [(0.0, 1.0), (0.5, 3.0), (0.9, 19.0)] {
        let mut x = 0.0;
        let series: Vec<f64> = (0..200_000)
            .map(|t| {
                x = phi * x + noise[(t, 0)];
                x
            })
            .collect();
        let estimate = EffectiveSize::of(&series).unwrap();
        assert!((estimate.time / time - 1.0).abs() < 0.4, "{phi}: {estimate:?}");
        assert!((estimate.size * estimate.time / 200_000.0 - 1.0).abs() < 1e-12);
    }
    assert_eq!(EffectiveSize::of(&[2.0; 50]).unwrap().size, 1.0);
    assert!(matches!(EffectiveSize::of(&[]), Err(Error::Empty { .. })));
    assert!(matches!(EffectiveSize::of(&[1.0, f64::NAN]), Err(Error::NonFinite { row: 1, .. })));
}

#[test]
fn selectors_follow_the_law_from_every_start() {
    let (n, c) = (7, 3);
    let k = psd(Kind::Gaussian, n, 4);
    let law = law(k.as_ref(), c);
    let k = Dense::new(k.as_ref()).unwrap();
    let rule = SwapRule::Metropolis;
    let selectors: [(&str, Box<dyn LandmarkSelector<f64>>); 5] = [
        ("exact", Box::new(KDpp)),
        ("chain, uniform", Box::new(KDppChain { start: Uniform::default(), steps: 150, rule })),
        ("chain, k-means++", Box::new(KDppChain { start: KMeansPlusPlus, steps: 150, rule })),
        ("chain, pivots", Box::new(KDppChain { start: RpCholesky::default(), steps: 150, rule })),
        ("walk", Box::new(KDppWalk { start: KMeansPlusPlus, steps: 30 })),
    ];
    for (name, selector) in selectors {
        let mut rng = rng(5);
        assert_follows(
            &law,
            3000,
            || selector.select(&k, c, &mut rng).unwrap().into_indices(),
            name,
        );
        assert!(matches!(selector.select(&k, 0, &mut rng), Err(Error::Empty { .. })), "{name}");
        assert!(matches!(selector.select(&k, 8, &mut rng), Err(Error::TooMany { .. })), "{name}");
    }
}

#[test]
fn selectors_keep_the_contract() {
    let k = psd(Kind::Rough, 12, 6); // of full rank: a k-DPP of any size exists
    let k = Dense::new(k.as_ref()).unwrap();
    check_selector::<f64>(&KDpp, &k, Promise::Exactly);
    for rule in [SwapRule::Metropolis, SwapRule::LazyGibbs] {
        check_selector::<f64>(
            &KDppChain { start: Uniform::default(), steps: 20, rule },
            &k,
            Promise::Exactly,
        );
    }
    check_selector::<f64>(&KDppWalk { start: KMeansPlusPlus, steps: 5 }, &k, Promise::Exactly);
}

#[test]
fn bad_input_is_refused() {
    assert!(matches!(KDppBounds::new(&[], 1), Err(Error::Empty { .. })));
    assert!(matches!(
        KDppBounds::new(&[1.0, 0.0], 2),
        Err(Error::RankDeficient { requested: 2, rank: 1 })
    ));
    assert!(matches!(
        KDppBounds::new(&[1.0, f64::NAN], 1),
        Err(Error::InvalidWeight { index: 1, .. })
    ));
    let bounds = KDppBounds::new(&[1.0, 0.5], 1).unwrap();
    assert!(matches!(bounds.frobenius(2), Err(Error::TooMany { requested: 2, available: 1, .. })));
    assert!(matches!(
        bounds.frobenius_with_probability(1, 1.0),
        Err(Error::InvalidParameter { name: "delta", .. })
    ));
    assert!(bounds.risk(Ridge::PerSample(0.0)).is_err());
    assert!(matches!(mixing_time(5, 6, 0.1, 0.1), Err(Error::TooMany { .. })));
    assert!(matches!(
        mixing_time(5, 2, 0.1, 0.0),
        Err(Error::InvalidParameter { name: "epsilon", .. })
    ));
    let k = psd(Kind::Doubled, 4, 1);
    let k = Dense::new(k.as_ref()).unwrap();
    assert!(matches!(PathCoupling::exact(&k, 4), Err(Error::TooMany { .. })));
    assert!(matches!(PathCoupling::exact(&k, 0), Err(Error::Empty { .. })));
    assert!(matches!(PathCoupling::exact(&k, 2), Err(Error::NotPositiveDefinite { .. })));
    let uniform = Uniform::default();
    for (pairs, lag) in [(0, 1), (1, 0)] {
        let refused =
            coupled_meetings(&k, 1, &uniform, SwapRule::Gibbs, pairs, lag, 10, &mut rng(0));
        assert!(matches!(refused, Err(Error::Empty { .. })));
    }
}

/// The ends of the formulas, where they divided by 0.
#[test]
fn bounds_at_their_ends() {
    let all = KDppBounds::new(&[4.0, 1.0, 0.5], 3).unwrap(); // c = n
    assert_eq!(
        (all.frobenius(3).unwrap(), all.spectral(3).unwrap(), all.expected_trace_error()),
        (0.0, 0.0, 0.0)
    );
    assert!((all.frobenius(0).unwrap() - 3.0_f64.sqrt()).abs() < 1e-15);
    assert_eq!(all.frobenius_with_probability(3, 0.1).unwrap(), f64::INFINITY);
    // squares that overflow or underflow
    for scale in [1e-300, 1e200, 1e300] {
        let values = [4.0, 1.0, 0.5].map(|l| scale * l);
        let (one, scaled) =
            (KDppBounds::new(&[4.0, 1.0, 0.5], 2).unwrap(), KDppBounds::new(&values, 2).unwrap());
        let of = |bounds: &KDppBounds| bounds.frobenius_with_probability(1, 1e-310).unwrap();
        assert!((of(&scaled) / of(&one) - 1.0).abs() < 1e-12);
    }
    let meetings = Meetings { lag: 0, times: vec![Some(3)], limit: 10 };
    assert_eq!(meetings.total_variation(0), None);
    let meetings = Meetings { lag: 3, times: vec![Some(usize::MAX)], limit: 10 };
    assert_eq!(meetings.total_variation(usize::MAX), Some(0.0));
    for rule in [SwapRule::LazyGibbs, SwapRule::Gibbs, SwapRule::Metropolis] {
        assert_eq!(
            [f64::NAN, -0.5, -1.0, 0.0].map(|ratio| rule.probability(ratio)),
            [0.0; 4],
            "{rule:?}"
        );
        assert!(rule.probability(f64::INFINITY) >= 0.5);
    }
}
