//! The swap chain: its transition matrix, its law, its start, its cost.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_dpp::{LEnsemble, SwapChain, SwapRule};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix};
use nystrom_sketch::{KMeansPlusPlus, Landmarks, Uniform};
use proptest::prelude::*;

const RULES: [SwapRule; 3] = [SwapRule::LazyGibbs, SwapRule::Gibbs, SwapRule::Metropolis];

fn at(n: usize, items: &[usize]) -> Landmarks {
    Landmarks::new(n, items.to_vec()).unwrap()
}

/// P(Y → Y′) between all sets of positive volume, from the ratios that the chain computes.
fn transitions(k: &dyn PsdMatrix<f64>, law: &[(Vec<usize>, f64)], rule: SwapRule) -> Mat<f64> {
    let states: Vec<&Vec<usize>> = law.iter().filter(|(_, p)| *p > 0.0).map(|(C, _)| C).collect();
    let (n, c) = (k.dim(), states[0].len());
    let mut P = Mat::zeros(states.len(), states.len());
    for (a, Y) in states.iter().enumerate() {
        let mut chain = SwapChain::new(k, &at(n, Y), rule).unwrap();
        for position in 0..c {
            for u in (0..n).filter(|u| !Y.contains(u)) {
                let q = rule.probability(chain.ratio(position, u).unwrap()) / (c * (n - c)) as f64;
                let mut next: Vec<usize> = chain.items().to_vec();
                next[position] = u;
                next.sort_unstable();
                match states.iter().position(|Z| **Z == next) {
                    Some(b) => P[(a, b)] += q,
                    None => assert!(q < 1e-12, "{Y:?} to {next:?}, which has no volume, with {q}"),
                }
            }
        }
        P[(a, a)] = 1.0 - (0..states.len()).map(|b| P[(a, b)]).sum::<f64>();
    }
    P
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// π(Y)P(Y, Y′) = π(Y′)P(Y′, Y), and P is stochastic.
    #[test]
    fn detailed_balance((kind, n, seed) in (0..4_usize, 2..8_usize, any::<u64>()),
        c in 1..7_usize) {
        let k = psd(KINDS[kind], n, seed);
        let rank = nystrom_linalg_core::SymmetricEigen::new(k.as_ref()).unwrap().rank();
        prop_assume!(c <= rank && c < n);
        let law = law(k.as_ref(), c);
        let pi: Vec<f64> = law.iter().map(|(_, p)| *p).filter(|p| *p > 0.0).collect();
        for rule in RULES {
            let P = transitions(&Dense::new(k.as_ref()).unwrap(), &law, rule);
            for a in 0..pi.len() {
                let least = if rule == SwapRule::LazyGibbs { 0.5 } else { -1e-15 };
                prop_assert!(P[(a, a)] >= least);
                for b in 0..pi.len() {
                    let (forth, back) = (pi[a] * P[(a, b)], pi[b] * P[(b, a)]);
                    prop_assert!((forth - back).abs() < 1e-12, "{rule:?}: {forth} against {back}");
                }
            }
        }
    }
}

/// The same with a first eigenvalue ten thousand times the others, in other units, for one item and
/// for all but one.
#[test]
fn detailed_balance_with_one_dominating_eigenvalue_and_scales() {
    let rough = psd(Kind::Rough, 8, 4);
    for (scale, shift, largest) in [(1.0, 1e4, 3), (1e-8, 0.0, 7), (1e8, 0.0, 7)] {
        let k = Mat::from_fn(8, 8, |i, j| scale * rough[(i, j)] + shift);
        for c in [1, 3, largest] {
            let law = law(k.as_ref(), c);
            let P = transitions(&Dense::new(k.as_ref()).unwrap(), &law, SwapRule::Metropolis);
            for (a, (_, p)) in law.iter().enumerate() {
                for (b, (_, q)) in law.iter().enumerate() {
                    let (forth, back) = (p * P[(a, b)], q * P[(b, a)]);
                    let least = 1e-8 * forth.max(back) + 1e-14;
                    assert!((forth - back).abs() < least, "c = {c}: {forth} against {back}");
                }
            }
        }
    }
}

/// |eigenvalue| of P next to 1, from the symmetric √π_a P_ab /√π_b.
fn second_eigenvalue(P: &Mat<f64>, pi: &[f64]) -> f64 {
    let S = Mat::from_fn(pi.len(), pi.len(), |a, b| {
        P[(a.max(b), a.min(b))] * (pi[a.max(b)] / pi[a.min(b)]).sqrt()
    });
    let eigen = nystrom_linalg_core::SymmetricEigen::new(S.as_ref()).unwrap();
    eigen.values()[1].max(-eigen.values().last().unwrap())
}

/// Every draw is a chain of its own from its start, run until ½λ^t/√min π, what it is away from the
/// law in total variation at most, is below 1e-4: far less than 1000 draws can tell.
#[test]
fn every_rule_follows_the_law_from_every_start() {
    for kind in KINDS {
        let (n, c) = (7, 3);
        let k = psd(kind, n, 6);
        let k = Dense::new(k.as_ref()).unwrap();
        let law = law(k.as_ref(), c);
        let pi: Vec<f64> = law.iter().map(|(_, p)| *p).filter(|p| *p > 0.0).collect();
        let least = pi.iter().copied().fold(1.0, f64::min);
        for rule in RULES {
            let lambda = second_eigenvalue(&transitions(&k, &law, rule), &pi);
            let steps = ((2e-4 * least.sqrt()).ln() / lambda.ln()).ceil() as usize;
            assert!((2..5000).contains(&steps), "{kind:?}, {rule:?}: {steps} steps");
            for (name, start) in starts() {
                let mut rng = rng(4);
                let draw = || {
                    let mut chain = SwapChain::start(&k, c, &*start, rule, &mut rng).unwrap();
                    chain.run(steps, &mut rng).unwrap();
                    chain.items().to_vec()
                };
                assert_follows(&law, 1000, draw, &format!("{kind:?}, {rule:?} from {name}"));
            }
        }
    }
}

/// E tr(K − K̃_C) = (c + 1)e_{c+1}/e_c.
#[test]
fn the_mean_trace_error_of_every_rule_is_exact() {
    let (n, c) = (40, 8);
    let k = psd(Kind::Rough, n, 9);
    let k = Dense::new(k.as_ref()).unwrap();
    let exact = LEnsemble::new(&k).unwrap().k_dpp(c).unwrap().expected_trace_error();
    for rule in RULES {
        let mut rng = rng(1);
        let mut chain = SwapChain::start(&k, c, &KMeansPlusPlus, rule, &mut rng).unwrap();
        chain.run(20_000, &mut rng).unwrap();
        let errors = (0..1500).map(|_| {
            chain.run(c * n, &mut rng).unwrap();
            trace_error(k.as_ref(), chain.items())
        });
        assert_mean(&errors.collect::<Vec<_>>(), exact, &format!("{rule:?}"));
    }
}

#[test]
fn a_proposal_reads_c_entries_and_one_of_the_diagonal() {
    let (n, c) = (50, 8);
    let k = psd(Kind::Rough, n, 1);
    let k = Counted::new(Dense::new(k.as_ref()).unwrap());
    let mut chain =
        SwapChain::start(&k, c, &Uniform::default(), SwapRule::Metropolis, &mut rng(0)).unwrap();
    assert_eq!(chain.replaced(), 0);
    k.reset();
    // and an entry beside every item that came since the last factor
    let (mut accepted, mut factors, mut expected, mut waiting) = (0, chain.refreshes(), 0, 0);
    for t in 0..1000 {
        let came = chain.step(&mut rng(t)).unwrap();
        if chain.refreshes() > factors {
            (factors, waiting) = (chain.refreshes(), 0);
        }
        expected += c as u64 + waiting;
        waiting += u64::from(came);
        accepted += u64::from(came);
        assert!(waiting <= 16 && k.entries() == expected);
    }
    assert!(accepted > 100 && factors > 3 && chain.steps() == 1000);
    assert_eq!((chain.accepted(), k.diagonal_entries()), (accepted, 1000));
}

#[test]
fn steps_taken_together_are_the_steps_one_by_one() {
    for (n, c, rule) in
        [(50, 8, SwapRule::Metropolis), (50, 45, SwapRule::LazyGibbs), (9, 1, SwapRule::Gibbs)]
    {
        let k = psd(Kind::Rough, n, 1);
        let k = Counted::new(Dense::new(k.as_ref()).unwrap());
        let start = |rng: &mut rand_pcg::Pcg64| {
            SwapChain::start(&k, c, &Uniform::default(), rule, rng).unwrap()
        };
        let (mut one, mut other) = (rng(2), rng(2));
        let (mut together, mut single) = (start(&mut one), start(&mut other));
        k.reset();
        let accepted = together.run(1000, &mut one).unwrap();
        let entries = k.entries();
        for _ in 0..1000 {
            single.step(&mut other).unwrap();
        }
        assert_eq!(together.items(), single.items());
        assert!((together.log_det() - single.log_det()).abs() < 1e-12 * c as f64);
        assert_eq!(together.residual().unwrap(), single.residual().unwrap());
        assert_eq!(one, other, "both drew the same numbers");
        // c entries a proposal; in a batch of 16 with an accepted one those between the items that
        // wait, and c and these again for the two numbers that stand for other items now
        let again = 15 * c as u64 + 256;
        assert!(accepted > 50 && entries <= 1000 * (c as u64 + 16) + accepted as u64 * again);
    }
}

/// After every step, with exchanges that wait: items that came leave again, and those that left
/// come back.
#[test]
fn ratios_after_single_steps_are_those_of_a_chain_that_begins_there() {
    for (n, c) in [(2, 1), (7, 3), (12, 6), (40, 5), (40, 36)] {
        let k = psd(Kind::Rough, n, 3);
        let k = Dense::new(k.as_ref()).unwrap();
        let mut rng = rng(4);
        let mut chain =
            SwapChain::start(&k, c, &Uniform::default(), SwapRule::Metropolis, &mut rng).unwrap();
        for t in 0..200 {
            chain.step(&mut rng).unwrap();
            let inside = chain.landmarks();
            let mut fresh = SwapChain::new(&k, &inside, SwapRule::Metropolis).unwrap();
            assert!((chain.log_det() - fresh.log_det()).abs() < 1e-9);
            let position = t % c;
            let item = chain.items()[position];
            let in_fresh = fresh.items().iter().position(|i| *i == item).unwrap();
            for u in (0..n).filter(|u| !inside.indices().contains(u)) {
                let ratio = chain.ratio(position, u).unwrap();
                let exact = fresh.ratio(in_fresh, u).unwrap();
                assert!((ratio / exact - 1.0).abs() < 1e-9, "{ratio} for {exact}, step {t}");
            }
        }
        assert!(chain.refreshes() > 3 && chain.accepted() > 3 * chain.refreshes() as u64 / 2);
    }
}

#[test]
fn a_start_without_volume_is_repaired() {
    let n = 20;
    let k = psd(Kind::Doubled, n, 1);
    let k = Dense::new(k.as_ref()).unwrap();
    // items 2i and 2i + 1 are the same point
    let chain = SwapChain::new(&k, &at(n, &[0, 1, 2, 3, 4, 5]), SwapRule::Gibbs).unwrap();
    assert_eq!((chain.items().len(), chain.replaced()), (6, 3));
    let mut points: Vec<usize> = chain.items().iter().map(|i| i / 2).collect();
    points.sort_unstable();
    assert!(points.starts_with(&[0, 1, 2]) && points.windows(2).all(|w| w[0] != w[1]));
    assert!(chain.log_det().is_finite());
    // a start with volume is taken as it is
    let chain = SwapChain::new(&k, &at(n, &[0, 2, 4]), SwapRule::Gibbs).unwrap();
    assert_eq!((chain.landmarks().indices(), chain.replaced()), (&[0, 2, 4][..], 0));
    // draws with replacement that coincide are filled up
    let few = Uniform { draw: nystrom_sketch::Draw::WithReplacement };
    let chain = SwapChain::start(&k, 10, &few, SwapRule::Gibbs, &mut rng(3)).unwrap();
    assert_eq!(chain.items().len(), 10);
}

#[test]
fn edges() {
    let n = 12;
    let start = |k: &Mat<f64>, c: usize| {
        let k = Dense::new(k.as_ref()).unwrap();
        let mut chain =
            SwapChain::start(&k, c, &Uniform::default(), SwapRule::Metropolis, &mut rng(0))?;
        chain.run(200, &mut rng(1))?;
        Ok::<_, Error>((chain.landmarks().into_indices(), chain.accepted()))
    };
    let full = psd(Kind::Rough, n, 1);
    assert_eq!(start(&full, n).unwrap(), ((0..n).collect(), 0)); // c = n: nothing to exchange
    assert_eq!(start(&full, 1).unwrap().0.len(), 1);
    assert_eq!(start(&Mat::from_fn(1, 1, |_, _| 3.0), 1).unwrap(), (vec![0], 0));
    assert_eq!(
        start(&psd(Kind::LowRank, n, 1), 5),
        Err(Error::RankDeficient { requested: 5, rank: 4 })
    );
    assert_eq!(start(&psd(Kind::LowRank, n, 1), 4).unwrap().0.len(), 4);
    assert_eq!(
        start(&psd(Kind::Doubled, n, 1), 7),
        Err(Error::RankDeficient { requested: 7, rank: 6 })
    );
    assert_eq!(start(&Mat::zeros(3, 3), 1), Err(Error::RankDeficient { requested: 1, rank: 0 }));
    assert!(matches!(start(&full, 0), Err(Error::Empty { .. })));
    assert!(matches!(start(&full, 13), Err(Error::TooMany { requested: 13, available: 12, .. })));
    let other = Dense::new(full.as_ref()).unwrap();
    assert!(matches!(
        SwapChain::new(&other, &at(13, &[1]), SwapRule::Gibbs),
        Err(Error::Shape { .. })
    ));
    let mut chain = SwapChain::new(&other, &at(n, &[1, 4]), SwapRule::Gibbs).unwrap();
    let inside = chain.items()[0];
    assert!(matches!(chain.ratio(0, inside), Err(Error::DuplicateIndex { .. })));
    assert!(matches!(chain.ratio(2, 5), Err(Error::IndexOutOfRange { index: 2, n: 2, .. })));
    assert!(matches!(chain.ratio(0, 12), Err(Error::IndexOutOfRange { index: 12, n: 12, .. })));
}

#[test]
fn not_a_number_is_found_where_it_is() {
    let off = Broken { n: 6, bad: vec![(5, 1, f64::NAN)] };
    let mut chain = SwapChain::new(&off, &at(6, &[1, 2]), SwapRule::Gibbs).unwrap();
    let error = chain.run(500, &mut rng(0)).unwrap_err();
    assert!(
        matches!(
            error,
            Error::NonFinite { row: 5, col: 1, .. } | Error::NonFinite { row: 1, col: 5, .. }
        ),
        "{error}"
    );
    assert!(chain.log_det().is_finite() && chain.items().len() == 2); // as before the step
    let diagonal = Broken { n: 3, bad: vec![(2, 2, f64::NAN)] };
    let mut chain = SwapChain::new(&diagonal, &at(3, &[0, 1]), SwapRule::Gibbs).unwrap();
    assert!(matches!(chain.run(100, &mut rng(0)), Err(Error::NonFinite { row: 2, col: 2, .. })));
    assert!(matches!(
        SwapChain::new(&diagonal, &at(3, &[0, 2]), SwapRule::Gibbs).err(),
        Some(Error::NonFinite { row: 2, col: 2, .. })
    ));
    let negative = Broken { n: 3, bad: vec![(2, 2, -1.0)] };
    let refused = SwapChain::new(&negative, &at(3, &[0, 2]), SwapRule::Gibbs).err();
    assert!(matches!(refused, Some(Error::InvalidWeight { index: 2, .. })));
}

/// K scaled by 1e±150 has the same ratios.
#[test]
fn scale_does_not_matter() {
    let k = psd(Kind::Rough, 12, 5);
    let path = |scale: f64| {
        let k = Mat::from_fn(12, 12, |i, j| scale * k[(i, j)]);
        let k = Dense::new(k.as_ref()).unwrap();
        let mut chain = SwapChain::new(&k, &at(12, &[1, 3, 5, 7]), SwapRule::Metropolis).unwrap();
        chain.run(2000, &mut rng(9)).unwrap();
        (chain.landmarks(), chain.accepted())
    };
    assert_eq!(path(1.0), path(2.0_f64.powi(500)));
    assert_eq!(path(1.0), path(2.0_f64.powi(-500)));
}

#[test]
fn single_precision_follows_the_law() {
    let k = psd(Kind::Gaussian, 7, 2);
    let (law, single) = (law(k.as_ref(), 3), as_f32(&k));
    let single = Dense::new(single.as_ref()).unwrap();
    let mut rng = rng(5);
    let mut chain =
        SwapChain::start(&single, 3, &Uniform::default(), SwapRule::Metropolis, &mut rng).unwrap();
    let draw = || {
        chain.run(300, &mut rng).unwrap();
        chain.items().to_vec()
    };
    assert_follows(&law, 4000, draw, "f32");
}

#[test]
fn bits_do_not_depend_on_threads() {
    let k = psd(Kind::Rough, 300, 1);
    let (items, log_det) = same_at_any_thread_count(|| {
        let k = Dense::new(k.as_ref()).unwrap();
        let mut rng = rng(0);
        let mut chain =
            SwapChain::start(&k, 60, &Uniform::default(), SwapRule::LazyGibbs, &mut rng).unwrap();
        chain.run(2000, &mut rng).unwrap();
        (chain.items().to_vec(), chain.log_det().to_bits())
    });
    assert!(items.len() == 60 && f64::from_bits(log_det).is_finite());
}

/// Pinned: a change of these is a change users see.
#[test]
fn seeds_are_stable() {
    let k = psd(Kind::Rough, 30, 1);
    let k = Dense::new(k.as_ref()).unwrap();
    let path = |rule| {
        let mut rng = rng(2024);
        let mut chain = SwapChain::start(&k, 4, &Uniform::default(), rule, &mut rng).unwrap();
        chain.run(500, &mut rng).unwrap();
        (chain.landmarks().into_indices(), chain.accepted())
    };
    assert_eq!(
        RULES.map(path),
        [(vec![9, 13, 16, 28], 124), (vec![2, 6, 22, 29], 251), (vec![4, 6, 13, 14], 458)]
    );
}
