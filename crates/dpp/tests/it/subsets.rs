//! k-DPPs with weighted rows, with given items and within quotas, against enumeration.
#![allow(non_snake_case)]

use crate::common::*;
use faer::{Mat, MatRef};
use nystrom_dpp::{
    KDpp, KDppChain, LEnsemble, QuotaKDpp, Rejection, RejectionKDpp, SwapChain, SwapRule,
};
use nystrom_linalg_core::testing::check_psd_matrix;
use nystrom_linalg_core::{Dense, Error, Scaled, SchurComplement};
use nystrom_sketch::{Including, LandmarkSelector, Quotas, Uniform};

/// Weights between 0.5 and 3.
fn quality(n: usize) -> Vec<f64> {
    (0..n).map(|i| [1.0, 3.0, 0.5, 2.0, 1.5][i % 5]).collect()
}

/// The sets of a law that `keep` keeps, with their conditional probabilities.
fn conditioned(
    law: Vec<(Vec<usize>, f64)>,
    keep: impl Fn(&[usize]) -> bool,
) -> Vec<(Vec<usize>, f64)> {
    let mut kept: Vec<_> = law.into_iter().filter(|(C, _)| keep(C)).collect();
    let total: f64 = kept.iter().map(|(_, p)| p).sum();
    kept.iter_mut().for_each(|(_, p)| *p /= total);
    kept
}

/// diag(q) K diag(q) as a stored matrix.
fn weighted(k: MatRef<'_, f64>, q: &[f64]) -> Mat<f64> {
    Mat::from_fn(k.nrows(), k.ncols(), |i, j| q[i] * k[(i, j)] * q[j])
}

/// Enough steps for a total-variation distance below 1e-4: ½λ^t/√min π, with the second eigenvalue
/// λ of the transition matrix, from the ratios that the chain computes.
fn enough_steps(k: &Mat<f64>, law: &[(Vec<usize>, f64)], quotas: &Quotas, rule: SwapRule) -> usize {
    let states: Vec<&(Vec<usize>, f64)> = law.iter().filter(|(_, p)| *p > 0.0).collect();
    let group_rows = |g: usize| quotas.groups().iter().filter(|&&h| h == g).count();
    let dense = Dense::new(k.as_ref()).unwrap();
    let P = Mat::from_fn(states.len(), states.len(), |a, b| {
        let (Y, Z) = (&states[a].0, &states[b].0);
        let leaving: Vec<usize> = Y.iter().copied().filter(|y| !Z.contains(y)).collect();
        let entering: Vec<usize> = Z.iter().copied().filter(|z| !Y.contains(z)).collect();
        let (&[v], &[u]) = (&leaving[..], &entering[..]) else { return 0.0 };
        if quotas.group(v) != quotas.group(u) {
            return 0.0;
        }
        let start = nystrom_sketch::Landmarks::new(k.nrows(), Y.clone()).unwrap();
        let mut chain = SwapChain::new(&dense, &start, rule).unwrap();
        let position = chain.items().iter().position(|&y| y == v).unwrap();
        let others = group_rows(quotas.group(v)) - quotas.quotas()[quotas.group(v)];
        rule.probability(chain.ratio(position, u).unwrap()) / (Y.len() * others) as f64
    });
    // √π_a P_ab/√π_b, which is symmetric by detailed balance
    let pi = |a: usize| states[a].1;
    for a in 0..states.len() {
        for b in 0..a {
            let (forth, back) = (pi(a) * P[(a, b)], pi(b) * P[(b, a)]);
            assert!((forth - back).abs() < 1e-12, "{rule:?}: {forth} against {back}");
        }
    }
    let S = Mat::from_fn(states.len(), states.len(), |a, b| match a == b {
        true => 1.0 - (0..states.len()).map(|b| P[(a, b)]).sum::<f64>(),
        false => P[(a.max(b), a.min(b))] * (pi(a.max(b)) / pi(a.min(b))).sqrt(),
    });
    let eigen = nystrom_linalg_core::SymmetricEigen::new(S.as_ref()).unwrap();
    let second = eigen.values()[1].max(-eigen.values().last().unwrap());
    assert!((eigen.values()[0] - 1.0).abs() < 1e-12 && second < 1.0 - 1e-6, "not connected");
    let least = (0..states.len()).map(pi).fold(1.0, f64::min);
    ((2e-4 * least.sqrt()).ln() / second.ln()).ceil() as usize
}

#[test]
fn weighted_draws_follow_the_law() {
    for kind in KINDS {
        let (n, c) = (8, 3);
        let k = psd(kind, n, 5);
        let law = law(weighted(k.as_ref(), &quality(n)).as_ref(), c);
        let l = Scaled::new(Dense::new(k.as_ref()).unwrap(), quality(n)).unwrap();
        check_psd_matrix(&l);
        let ensemble = LEnsemble::new(&l).unwrap();
        let exact = ensemble.k_dpp(c).unwrap();
        for (C, p) in law.iter().filter(|(_, p)| *p > 0.0) {
            assert!((exact.log_probability(C).unwrap() - p.ln()).abs() < 1e-8, "{kind:?}");
        }
        let mut rng = rng(3);
        let mut draw = || exact.sample(&mut rng).into_indices();
        assert_follows(&law, 4000, &mut draw, &format!("{kind:?}, exact"));
        let mut sampler = RejectionKDpp::new(&l, c, Rejection::of_size(c), &mut rng).unwrap();
        let draw = || sampler.sample(&mut rng).unwrap().into_indices();
        assert_follows(&law, 4000, draw, &format!("{kind:?}, by rejection"));
    }
}

/// Draws with two given items have probability det L_{A∪S}/Σ det L_{A∪S′}, whatever draws them.
#[test]
fn conditional_draws_follow_the_law() {
    for kind in KINDS {
        let (n, c, given) = (9, 4, vec![6, 1]);
        let k = psd(kind, n, 2);
        let l = weighted(k.as_ref(), &quality(n));
        let law = conditioned(law(l.as_ref(), c), |C| given.iter().all(|i| C.contains(i)));
        let dense = Dense::new(l.as_ref()).unwrap();
        let rest = SchurComplement::new(&dense, &given).unwrap();
        check_psd_matrix(&rest);
        let ensemble = LEnsemble::new(&rest).unwrap();
        let exact = ensemble.k_dpp(rest.missing(c).unwrap()).unwrap();
        for (C, p) in law.iter().filter(|(_, p)| *p > 0.0) {
            let others: Vec<usize> =
                (0..rest.rest().len()).filter(|&i| C.contains(&rest.rest()[i])).collect();
            let log = exact.log_probability(&others).unwrap();
            assert!((log - p.ln()).abs() < 1e-7, "{kind:?}: {C:?}, {log} against {}", p.ln());
        }
        let walk = KDppChain { start: Uniform::default(), steps: 200, rule: SwapRule::Metropolis };
        let others: [(usize, Box<dyn LandmarkSelector<f64>>); 2] =
            [(3000, Box::new(KDpp)), (1000, Box::new(walk))];
        for (draws, others) in others {
            let selector = Including { given: given.clone(), others };
            let mut rng = rng(8);
            let draw = || selector.select(&dense, c, &mut rng).unwrap().into_indices();
            assert_follows(&law, draws, draw, &format!("{kind:?}, {draws} draws"));
        }
        let mut rng = rng(9);
        let mut sampler = RejectionKDpp::new(&rest, 2, Rejection::of_size(2), &mut rng).unwrap();
        let draw = || rest.complete(sampler.sample(&mut rng).unwrap().indices());
        assert_follows(&law, 3000, draw, &format!("{kind:?}, by rejection"));
    }
}

/// Every draw is a chain of its own from the greedy start. Group 2 is in Y as a whole and has
/// nothing to exchange, group 3 is excluded.
#[test]
fn draws_within_quotas_follow_the_law() {
    let n = 9;
    let groups = vec![0, 1, 0, 1, 2, 0, 1, 3, 0];
    let quotas = Quotas::new(groups, vec![2, 1, 1, 0]).unwrap();
    let count = |C: &[usize], g: usize| C.iter().filter(|&&i| quotas.group(i) == g).count();
    let fits = |C: &[usize]| (0..4).all(|g| count(C, g) == quotas.quotas()[g]);
    for kind in [Kind::Gaussian, Kind::Rough] {
        let k = weighted(psd(kind, n, 4).as_ref(), &quality(n));
        let law = conditioned(law(k.as_ref(), 4), fits);
        let dense = Dense::new(k.as_ref()).unwrap();
        for rule in [SwapRule::LazyGibbs, SwapRule::Gibbs, SwapRule::Metropolis] {
            let steps = enough_steps(&k, &law, &quotas, rule);
            assert!((2..3000).contains(&steps), "{kind:?}, {rule:?}: {steps} steps");
            let (mut whole, mut single) = (rng(1), rng(1));
            let run = || {
                let mut chain = SwapChain::with_quotas(&dense, &quotas, rule).unwrap();
                chain.run(steps, &mut whole).unwrap();
                chain.items().to_vec()
            };
            assert_follows(&law, 2000, run, &format!("{kind:?}, {rule:?}"));
            let step = || {
                let mut chain = SwapChain::with_quotas(&dense, &quotas, rule).unwrap();
                (0..steps).for_each(|_| _ = chain.step(&mut single).unwrap());
                chain.items().to_vec()
            };
            assert_follows(&law, 500, step, &format!("{kind:?}, {rule:?}, step by step"));
        }
    }
}

/// Groups that are excluded, taken as a whole, in proportion, and far from it.
#[test]
fn exact_draws_within_quotas_follow_the_law() {
    let n = 9;
    for (groups, quotas) in [
        ([0, 1, 0, 1, 2, 0, 1, 3, 0], vec![2, 1, 1, 0]),
        ([0, 1, 0, 1, 0, 0, 1, 1, 0], vec![2, 2]),
        ([0, 1, 0, 1, 1, 1, 1, 1, 1], vec![1, 3]),
        ([0, 1, 2, 0, 1, 2, 0, 1, 2], vec![2, 1, 1]),
        ([0, 0, 0, 0, 1, 1, 1, 1, 1], vec![4, 0]),
    ] {
        let quotas = Quotas::new(groups.to_vec(), quotas).unwrap();
        let (size, groups) = (quotas.size(), quotas.quotas().len());
        let count = |C: &[usize], g: usize| C.iter().filter(|&&i| quotas.group(i) == g).count();
        let fits = |C: &[usize]| (0..groups).all(|g| count(C, g) == quotas.quotas()[g]);
        for kind in [Kind::Gaussian, Kind::Rough] {
            let k = weighted(psd(kind, n, 4).as_ref(), &quality(n));
            let law = conditioned(law(k.as_ref(), size), fits);
            let k = Dense::new(k.as_ref()).unwrap();
            let (k_dpp, mut rng) = (QuotaKDpp::new(&k, &quotas).unwrap(), rng(3));
            let draw = || k_dpp.sample(&mut rng).unwrap().into_indices();
            assert_follows(&law, 3000, draw, &format!("{kind:?}, {:?}", quotas.quotas()));
        }
    }
}

/// Groups whose items repel each other need large weights: some of 60 near points beside 12 of 60
/// far ones.
#[test]
fn weights_are_found_where_a_group_is_crowded() {
    let at = |i: usize| if i < 60 { i as f64 / 60.0 } else { 100.0 + 7.0 * i as f64 };
    let k = Mat::from_fn(120, 120, |i, j| (-(at(i) - at(j)).powi(2) / 2.0_f64).exp());
    let k = Dense::new(k.as_ref()).unwrap();
    let quotas = |near: usize| Quotas::new((0..120).map(|i| i / 60).collect(), vec![near, 12]);
    let error = QuotaKDpp::new(&k, &quotas(9).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Quota { group: 0, quota: 9, .. }), "{error}");
    for near in [2, 5] {
        let k_dpp = QuotaKDpp::new(&k, &quotas(near).unwrap()).unwrap();
        let drawn = k_dpp.sample(&mut rng(1)).unwrap();
        assert_eq!(drawn.indices().iter().filter(|&&i| i < 60).count(), near);
    }
}

#[test]
fn quotas_without_an_exact_draw_are_refused() {
    let ones = Mat::from_fn(5, 5, |_, _| 1.0);
    let k = Dense::new(ones.as_ref()).unwrap();
    let of = |groups: Vec<usize>, quotas: Vec<usize>| {
        QuotaKDpp::new(&k, &Quotas::new(groups, quotas).unwrap()).unwrap_err()
    };
    assert!(matches!(of(vec![0; 4], vec![1]), Error::Shape { expected: 5, got: 4, .. }));
    assert!(matches!(of(vec![0; 5], vec![0]), Error::Empty { .. }));
    assert!(matches!(of(vec![0, 0, 1, 1, 1], vec![2, 1]), Error::Dependent { .. }));
    let error = of(vec![0, 0, 0, 1, 1], vec![2, 1]);
    assert!(matches!(error, Error::Quota { group: 0, quota: 2, found: 1, .. }), "{error}");
    let error = of(vec![0, 0, 1, 1, 1], vec![1, 1]);
    assert!(matches!(error, Error::RankDeficient { requested: 2, rank: 1 }), "{error}");
}

/// One group of all items gives the chain without quotas, bit for bit.
#[test]
fn one_group_is_no_constraint() {
    let k = psd(Kind::Rough, 60, 1);
    let k = Dense::new(k.as_ref()).unwrap();
    let quotas = Quotas::new(vec![0; 60], vec![9]).unwrap();
    let drawn = same_at_any_thread_count(|| {
        let mut chain = SwapChain::with_quotas(&k, &quotas, SwapRule::Gibbs).unwrap();
        chain.run(500, &mut rng(4)).unwrap();
        chain.items().to_vec()
    });
    let greedy = nystrom_sketch::Greedy::default().select(&k, 9, &mut rng(0)).unwrap();
    let mut chain = SwapChain::new(&k, &greedy, SwapRule::Gibbs).unwrap();
    chain.run(500, &mut rng(4)).unwrap();
    assert_eq!(chain.items(), drawn);
}

#[test]
fn all_constraints_together_at_any_number_of_threads() {
    let (n, c, given) = (500, 12, [3, 400]);
    let k = psd(Kind::Gaussian, n, 6);
    let quotas = Quotas::proportional((0..n).map(|i| i % 3).collect(), c).unwrap();
    let drawn = same_at_any_thread_count(|| {
        let l = Scaled::new(Dense::new(k.as_ref()).unwrap(), quality(n)).unwrap();
        let rest = SchurComplement::new(&l, &given).unwrap();
        let left = quotas.after(&given, rest.rest()).unwrap();
        let mut chain = SwapChain::with_quotas(&rest, &left, SwapRule::Metropolis).unwrap();
        chain.run(2000, &mut rng(2)).unwrap();
        assert!(chain.accepted() > 100);
        rest.complete(chain.items())
    });
    assert_eq!(&drawn[..2], &given);
    for g in 0..3 {
        assert_eq!(drawn.iter().filter(|&&i| i % 3 == g).count(), 4);
    }
}

#[test]
fn bad_input_is_named() {
    let k = Mat::<f64>::identity(6, 6);
    let k = Dense::new(k.as_ref()).unwrap();
    let including = |given: &[usize], c| {
        let selector = Including { given: given.to_vec(), others: KDpp };
        selector.select(&k, c, &mut rng(0))
    };
    assert!(matches!(including(&[1, 1], 3), Err(Error::DuplicateIndex { index: 1, .. })));
    assert!(matches!(including(&[1, 6], 3), Err(Error::IndexOutOfRange { index: 6, .. })));
    let error = including(&[1, 2, 3], 2).unwrap_err();
    assert!(matches!(error, Error::TooMany { requested: 3, available: 2, .. }), "{error}");
    assert_eq!(including(&[4, 2], 2).unwrap().indices(), [4, 2]);
    assert_eq!(including(&[0, 1, 2, 3, 4, 5], 6).unwrap().len(), 6);

    let twice = Mat::from_fn(6, 6, |i, j| if i % 3 == j % 3 { 1.0 } else { 0.0 });
    let twice = Dense::new(twice.as_ref()).unwrap();
    let selector = Including { given: vec![2, 5], others: KDpp };
    let error = selector.select(&twice, 3, &mut rng(0)).unwrap_err();
    assert!(matches!(error, Error::Dependent { index: 5, position: 1, .. }), "{error}");
    let quotas = Quotas::new(vec![0, 1, 1, 0, 1, 1], vec![2, 1]).unwrap();
    let error = SwapChain::with_quotas(&twice, &quotas, SwapRule::Gibbs).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Quota { group: 0, quota: 2, found: 1, .. }), "{error}");
    let shorter = Quotas::new(vec![0; 5], vec![2]).unwrap();
    let error = SwapChain::with_quotas(&k, &shorter, SwapRule::Gibbs).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 6, got: 5, .. }), "{error}");
}
