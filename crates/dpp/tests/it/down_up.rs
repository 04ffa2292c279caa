//! The down–up walk.
#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_dpp::{DownUpWalk, LEnsemble, SwapChain, SwapRule};
use nystrom_linalg_core::{Counted, Dense, Error, SymmetricEigen};
use nystrom_sketch::{KMeansPlusPlus, Landmarks, Uniform};

fn at(n: usize, items: &[usize]) -> Landmarks {
    Landmarks::new(n, items.to_vec()).unwrap()
}

/// P(Y → Z) of the walk by its definition: v uniform, u in proportion to det K_{Y−v+u}.
fn transitions(volumes: &[(Vec<usize>, f64)], n: usize) -> Mat<f64> {
    let states: Vec<&(Vec<usize>, f64)> = volumes.iter().filter(|(_, p)| *p > 0.0).collect();
    let mut P = Mat::zeros(states.len(), states.len());
    for (a, (Y, _)) in states.iter().enumerate() {
        for v in Y {
            let with = |u: usize| {
                let mut Z: Vec<usize> = Y.iter().copied().filter(|y| y != v).chain([u]).collect();
                Z.sort_unstable();
                states.iter().position(|(state, _)| *state == Z)
            };
            let reach: Vec<usize> =
                (0..n).filter(|u| u == v || !Y.contains(u)).filter_map(with).collect();
            let total: f64 = reach.iter().map(|&b| states[b].1).sum();
            reach.iter().for_each(|&b| P[(a, b)] += states[b].1 / total / Y.len() as f64);
        }
    }
    P
}

/// The theorem's gap of 1/c, and the law, every draw a walk of its own from its start: ½(1 −
/// 1/c)^steps/√min π, what it is away from the law in total variation at most, is below 1e-4.
#[test]
fn the_walk_follows_the_law_from_every_start_and_mixes_as_promised() {
    let (n, c) = (8, 3);
    for kind in KINDS {
        let k = psd(kind, n, 6);
        let law = law(k.as_ref(), c);
        let (P, pi): (_, Vec<f64>) =
            (transitions(&law, n), law.iter().map(|(_, p)| *p).filter(|p| *p > 0.0).collect());
        let S = Mat::from_fn(pi.len(), pi.len(), |a, b| {
            P[(a.max(b), a.min(b))] * (pi[a.max(b)] / pi[a.min(b)]).sqrt()
        });
        let second = SymmetricEigen::new(S.as_ref()).unwrap().values()[1];
        assert!(second < 1.0 - 1.0 / c as f64 + 1e-9, "{kind:?}: {second}");
        let k = Dense::new(k.as_ref()).unwrap();
        let least = pi.iter().copied().fold(1.0, f64::min);
        let steps = ((2e-4 * least.sqrt()).ln() / (1.0 - 1.0 / c as f64).ln()).ceil() as usize;
        for (name, start) in starts() {
            let mut rng = rng(4);
            let draw = || {
                let mut walk = DownUpWalk::start(&k, c, &*start, &mut rng).unwrap();
                walk.run(steps, &mut rng).unwrap();
                walk.items().to_vec()
            };
            assert_follows(&law, 1500, draw, &format!("{kind:?} from {name}"));
        }
    }
}

/// One step from a given state against its row of the transition matrix.
#[test]
fn one_step_is_what_the_definition_says() {
    let (n, c) = (7, 3);
    let k = psd(Kind::Gaussian, n, 2);
    let law = law(k.as_ref(), c);
    let P = transitions(&law, n);
    let k = Dense::new(k.as_ref()).unwrap();
    let (row, mut rng) = (11, rng(0));
    let start = at(n, &law[row].0);
    let step: Vec<(Vec<usize>, f64)> =
        law.iter().enumerate().map(|(b, (C, _))| (C.clone(), P[(row, b)])).collect();
    let draw = || {
        let mut walk = DownUpWalk::new(&k, &start).unwrap();
        walk.step(&mut rng).unwrap();
        walk.items().to_vec()
    };
    assert_follows(&step, 5000, draw, "one step");
}

#[test]
fn the_mean_trace_error_of_both_chains_is_exact() {
    let (n, c) = (60, 10);
    for kind in [Kind::Gaussian, Kind::Rough] {
        let k = psd(kind, n, 9);
        let dense = Dense::new(k.as_ref()).unwrap();
        let exact = LEnsemble::new(&dense).unwrap().k_dpp(c).unwrap().expected_trace_error();
        let mut rng = rng(1);
        let mut walk = DownUpWalk::start(&dense, c, &KMeansPlusPlus, &mut rng).unwrap();
        let mut chain =
            SwapChain::start(&dense, c, &KMeansPlusPlus, SwapRule::Metropolis, &mut rng).unwrap();
        walk.run(200, &mut rng).unwrap();
        chain.run(20_000, &mut rng).unwrap();
        let by_walk = (0..1500).map(|_| {
            walk.run(2 * c, &mut rng).unwrap();
            let error = walk.trace_error();
            assert!((error - trace_error(k.as_ref(), walk.items())).abs() < 1e-9);
            error
        });
        assert_mean(&by_walk.collect::<Vec<_>>(), exact, "walk");
        let by_chain = (0..1500).map(|_| {
            chain.run(c * n, &mut rng).unwrap();
            trace_error(k.as_ref(), chain.items())
        });
        assert_mean(&by_chain.collect::<Vec<_>>(), exact, "chain");
    }
}

#[test]
fn the_walk_keeps_its_factor_and_its_cost() {
    let (n, c, steps) = (150, 12, 2000);
    let stored = psd(Kind::Gaussian, n, 1);
    let k = Counted::new(Dense::new(stored.as_ref()).unwrap());
    let mut walk = DownUpWalk::start(&k, c, &Uniform::default(), &mut rng(0)).unwrap();
    k.reset();
    walk.run(steps, &mut rng(1)).unwrap();
    let refreshes = steps / (8 * c);
    assert_eq!((k.entries(), k.diagonal_entries()), ((n * (steps + refreshes * c)) as u64, 0));
    let K = principal(stored.as_ref(), walk.items());
    assert!((walk.log_det() - det(&K).ln()).abs() < 1e-9);
}

#[test]
fn edges() {
    let n = 12;
    let start = |k: &Mat<f64>, c: usize| {
        let k = Dense::new(k.as_ref()).unwrap();
        let mut walk = DownUpWalk::start(&k, c, &Uniform::default(), &mut rng(0))?;
        walk.run(50, &mut rng(1))?;
        Ok::<_, Error>(walk.landmarks().into_indices())
    };
    let full = psd(Kind::Rough, n, 1);
    assert_eq!(start(&full, n).unwrap(), (0..n).collect::<Vec<_>>());
    assert_eq!(start(&full, 1).unwrap().len(), 1);
    assert_eq!(start(&Mat::from_fn(1, 1, |_, _| 3.0), 1).unwrap(), [0]);
    assert_eq!(
        start(&psd(Kind::LowRank, n, 1), 5),
        Err(Error::RankDeficient { requested: 5, rank: 4 })
    );
    assert_eq!(
        start(&psd(Kind::Doubled, n, 1), 6).unwrap().iter().map(|i| i / 2).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5]
    );
    assert_eq!(start(&Mat::zeros(3, 3), 1), Err(Error::RankDeficient { requested: 1, rank: 0 }));
    assert!(matches!(start(&full, 0), Err(Error::Empty { .. })));
    assert!(matches!(start(&full, 13), Err(Error::TooMany { requested: 13, available: 12, .. })));
    let nan = Broken { n: 6, bad: vec![(5, 1, f64::NAN)] };
    let mut walk = DownUpWalk::new(&nan, &at(6, &[2, 3])).unwrap();
    assert!(matches!(walk.run(200, &mut rng(0)), Err(Error::NonFinite { .. })));
    assert_eq!(walk.items().len(), 2);
    let nan = Broken { n: 6, bad: vec![(5, 5, f64::NAN)] };
    assert!(matches!(
        DownUpWalk::new(&nan, &at(6, &[2, 3])).err(),
        Some(Error::NonFinite { row: 5, col: 5, .. })
    ));
    let single = as_f32(&full);
    let single = Dense::new(single.as_ref()).unwrap();
    let mut walk = DownUpWalk::start(&single, 5, &Uniform::default(), &mut rng(0)).unwrap();
    walk.run(500, &mut rng(1)).unwrap();
    let exact = det(&principal(full.as_ref(), walk.items())).ln();
    assert!((walk.log_det() - exact).abs() < 1e-4);
}

#[test]
fn bits_do_not_depend_on_threads() {
    let k = psd(Kind::Rough, 2500, 1); // three pieces of rows
    let (items, bits) = same_at_any_thread_count(|| {
        let k = Dense::new(k.as_ref()).unwrap();
        let mut rng = rng(0);
        let mut walk = DownUpWalk::start(&k, 20, &KMeansPlusPlus, &mut rng).unwrap();
        walk.run(100, &mut rng).unwrap();
        (walk.items().to_vec(), walk.log_det().to_bits())
    });
    assert!(items.len() == 20 && f64::from_bits(bits).is_finite());
}

/// K fails in one column: the walk is as before that step, and goes on.
#[test]
fn a_step_that_fails_leaves_the_walk_as_it_was() {
    let (n, c, mut failed) = (12, 4, 0);
    let nan = Broken { n, bad: vec![(11, 10, f64::NAN), (1, 2, 0.5)] };
    let mut walk = DownUpWalk::new(&nan, &at(n, &[1, 2, 3, 4])).unwrap();
    let rng = &mut rng(0);
    for _ in 0..200 {
        let (items, log_det, trace) = (walk.items().to_vec(), walk.log_det(), walk.trace_error());
        match walk.step(rng) {
            Ok(_) => assert_eq!(walk.items().len(), c),
            Err(error) => {
                failed += 1;
                assert!(matches!(error, Error::NonFinite { .. }));
                assert_eq!(walk.items(), items);
                assert!(
                    (walk.log_det() - log_det).abs() < 1e-12
                        && (walk.trace_error() - trace).abs() < 1e-12
                );
            }
        }
        assert!((walk.log_det() - nystrom_dpp::log_det(&nan, walk.items()).unwrap()).abs() < 1e-12);
    }
    assert!((10..150).contains(&failed), "{failed} of 200");
}
