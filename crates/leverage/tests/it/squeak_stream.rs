//! Squeak as a stream: any cut into blocks, caps, bad input, threads, entry counts.

#![allow(non_snake_case)]

use faer::{ColMut, Mat, MatMut};
use nystrom_kernels::{Gaussian, Kernel, Linear, Points};
use nystrom_leverage::*;
use nystrom_linalg_core::testing::{rng, same_at_any_thread_count};
use nystrom_linalg_core::{Dense, Error, PsdMatrix, Ridge};
use rand::RngExt;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) fn cube(n: usize, d: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed);
    Mat::from_fn(n, d, |_, _| rng.random::<f64>())
}

pub(crate) fn gaussian() -> Gaussian {
    Gaussian::new(0.3).unwrap()
}

pub(crate) fn fed(x: &Mat<f64>, params: SqueakParams, blocks: &[usize]) -> Squeak<Gaussian, f64> {
    let mut rng = rng(5);
    let mut squeak = Squeak::new(gaussian(), x.ncols(), 1.0, params).unwrap();
    let mut start = 0;
    for &size in blocks.iter().cycle() {
        let end = x.nrows().min(start + size);
        squeak.push(Points::from_rows(x.as_ref().subrows(start, end - start)), &mut rng).unwrap();
        start = end;
        if start == x.nrows() {
            break;
        }
    }
    squeak
}

#[test]
fn the_cut_into_blocks_leaves_no_trace() {
    let x = cube(700, 2, 1);
    let params = SqueakParams::new(6);
    let whole = fed(&x, params, &[700]);
    for blocks in [&[1][..], &[64], &[3, 0, 200], &[699]] {
        assert_eq!(fed(&x, params, blocks), whole, "blocks {blocks:?}");
    }
    assert_eq!(whole.n_seen(), 700);
    assert!(whole.dictionary().len() < 300 && whole.pending() < 64);
}

#[test]
fn probabilities_never_rise_and_the_floor_holds_them_up() {
    let x = cube(150, 2, 2);
    for (chunk, halving_floor) in [(1, false), (1, true), (3, true)] {
        let params = SqueakParams { chunk: Some(chunk), halving_floor, ..SqueakParams::new(8) };
        let (mut squeak, mut rng) = (Squeak::new(gaussian(), 2, 1.0, params).unwrap(), rng(4));
        let mut before = squeak.dictionary().clone();
        for start in (0..150).step_by(chunk) {
            squeak.push(Points::from_rows(x.as_ref().subrows(start, chunk)), &mut rng).unwrap();
            assert_eq!(squeak.pending(), 0);
            let now = squeak.dictionary();
            for (t, i) in now.positions().iter().enumerate() {
                let Some(old) = before.positions().iter().position(|j| j == i) else {
                    assert!(*i >= start as u64, "point {i} came back");
                    continue;
                };
                let (p, p_old) = (now.probabilities()[t], before.probabilities()[old]);
                assert!(p > 0.0 && p <= p_old && now.copies()[t] <= before.copies()[old]);
                assert!(!halving_floor || p >= p_old * 0.5_f64.powi(chunk as i32));
            }
            before = now.clone();
        }
        assert!(before.len() < 120, "{} points kept", before.len());
    }
}

/// Equal points, γ far below k(x, x): the second point halves the score of the first, and with a
/// weight drawn above 1 the first explains away more than that. There the floor binds, and changes
/// the dictionary.
#[test]
fn the_floor_binds_where_gamma_is_small() {
    let run = |halving_floor: bool, seed: u64| {
        let params = SqueakParams { chunk: Some(1), halving_floor, ..SqueakParams::new(20) };
        let mut squeak = Squeak::new(gaussian(), 1, 0.01, params).unwrap();
        let (mut rng, mut least) = (rng(seed), 1.0_f64);
        for _ in 0..10 {
            let before = squeak.dictionary().clone();
            squeak.push(Points::from_slice(&[0.3]), &mut rng).unwrap();
            let now = squeak.dictionary();
            for (i, p) in now.positions().iter().zip(now.probabilities()) {
                let old = before.positions().iter().position(|j| j == i);
                least = old.map_or(least, |old| least.min(p / before.probabilities()[old]));
            }
        }
        (squeak.into_dictionary(&mut rng).unwrap(), least)
    };
    let (mut bound, mut changed) = (0, 0);
    for seed in 0..20 {
        let [(with, held), (without, free)] = [true, false].map(|floor| run(floor, seed));
        assert!(held >= 0.5, "{held} with the floor, seed {seed}");
        bound += usize::from(free < 0.5);
        changed += usize::from(with != without);
    }
    assert!(bound > 0 && changed > 0, "it bound in {bound} of 20 runs, and changed {changed}");
}

/// The floor for a chunk of 64 points or more is at most 2⁻⁶⁴: no score falls that far.
#[test]
fn the_floor_changes_nothing_in_automatic_chunks() {
    let x = cube(700, 2, 2);
    let [with, without] = [true, false].map(|halving_floor| {
        let squeak = fed(&x, SqueakParams { halving_floor, ..SqueakParams::new(8) }, &[700]);
        squeak.into_dictionary(&mut rng(9)).unwrap()
    });
    assert!(with == without && with.len() < 300, "{} kept", with.len());
}

#[test]
fn before_the_first_chunk_is_complete_everything_is_exact() {
    let x = cube(60, 3, 3);
    let squeak = fed(&x, SqueakParams::new(1), &[60]);
    let K = gaussian().gram(Points::from_rows(x.as_ref()));
    let exact =
        exact_scores(&Dense::new(K.as_ref()).unwrap(), Ridge::Absolute(1.0)).unwrap().scores;
    let own = squeak.scores(Points::from_rows(x.as_ref())).unwrap();
    for ((tau, member), own) in exact.iter().zip(squeak.member_scores().unwrap()).zip(own) {
        assert!((0.5 * tau - member).abs() < 1e-12 && (0.5 * tau - own).abs() < 1e-12); // 1 − ε = ½
    }
    assert_eq!(squeak.dictionary().weights(), vec![1.0; 60]);
}

#[test]
fn with_ever_more_copies_the_scores_become_exact() {
    let x = cube(120, 2, 4);
    let K = gaussian().gram(Points::from_rows(x.as_ref()));
    let exact =
        exact_scores(&Dense::new(K.as_ref()).unwrap(), Ridge::Absolute(1.0)).unwrap().scores;
    let mut worst = vec![];
    for copies in [100, 10_000, 1_000_000_000] {
        let squeak = fed(&x, SqueakParams { chunk: Some(40), ..SqueakParams::new(copies) }, &[120]);
        let scores = squeak.scores(Points::from_rows(x.as_ref())).unwrap();
        let errors = scores.iter().zip(&exact).map(|(s, t)| (2.0 * s / t - 1.0).abs());
        worst.push(errors.fold(0.0, f64::max));
    }
    assert!(worst[0] > worst[1] && worst[1] > worst[2] && worst[2] < 1e-3, "{worst:?}");
}

#[test]
fn a_new_point_is_scored_as_if_it_had_been_pushed() {
    let (x, y) = (cube(60, 2, 5), cube(1, 2, 6));
    let mut squeak = fed(&x, SqueakParams::new(3), &[60]);
    let foretold = squeak.scores_of_new(Points::from_rows(y.as_ref())).unwrap()[0];
    squeak.push(Points::from_rows(y.as_ref()), &mut rng(0)).unwrap();
    assert!((squeak.member_scores().unwrap()[60] - foretold).abs() < 1e-12);
}

#[test]
fn a_full_dictionary_stops_the_stream_and_loses_nothing() {
    let x = cube(1000, 2, 7);
    let points = Points::from_rows(x.as_ref());
    let params = SqueakParams { max_dictionary: 100, ..SqueakParams::new(20) };
    let mut rng = rng(1);
    // a tiny ridge: all points matter
    let mut squeak = Squeak::new(gaussian(), 2, 1e-6, params).unwrap();
    let error = squeak.push(points, &mut rng).unwrap_err();
    let Error::DictionaryFull { size, cap: 100, seen } = error else { panic!("{error}") };
    assert_eq!((seen, size), (squeak.n_seen(), squeak.dictionary().len()));
    assert!(size > 100 && size <= 100 + 64 && seen < 1000);
    // Still full: refused at once, unchanged. The state is usable meanwhile.
    let before = squeak.clone();
    let rest = points.slice(seen as usize..1000);
    assert_eq!(squeak.push(rest, &mut rng).unwrap_err(), error);
    assert_eq!(squeak, before);
    assert_eq!(squeak.member_scores().unwrap().len(), size);
    assert!(squeak.set_max_dictionary(0).is_err());
    squeak.set_max_dictionary(2000).unwrap();
    squeak.push(rest, &mut rng).unwrap();
    assert_eq!(squeak.n_seen(), 1000);
    assert!(squeak.dictionary().positions().windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn bad_input_is_refused_before_anything_is_taken() {
    let x = cube(100, 2, 8);
    let mut squeak = fed(&x, SqueakParams::new(5), &[100]);
    let before = squeak.clone();
    let mut poisoned = cube(100, 2, 9);
    poisoned[(70, 1)] = f64::NAN;
    let push = |squeak: &mut Squeak<_, _>, x: &Mat<f64>| {
        squeak.push(Points::from_rows(x.as_ref()), &mut rng(0))
    };
    assert!(matches!(push(&mut squeak, &poisoned), Err(Error::NonFinite { row: 70, col: 1, .. })));
    assert!(matches!(
        push(&mut squeak, &cube(5, 3, 0)),
        Err(Error::Shape { expected: 2, got: 3, .. })
    ));
    assert!(matches!(
        squeak.scores(Points::from_rows(poisoned.as_ref())),
        Err(Error::NonFinite { .. })
    ));
    assert_eq!(squeak, before);

    let mut linear = Squeak::new(Linear::new(), 1, 1.0, SqueakParams::new(2)).unwrap();
    // k(x, x) = ∞
    let error = linear.push(Points::from_slice(&[1.0, 1e200]), &mut rng(0)).unwrap_err();
    assert!(
        matches!(error, Error::InvalidParameter { name: "largest k(x, x)", .. })
            && linear.n_seen() == 0
    );
}

#[test]
fn bad_parameters_are_refused() {
    let new =
        |gamma, dim, params| Squeak::<_, f64>::new(gaussian(), dim, gamma, params).map(|_| ());
    let good = SqueakParams::new(5);
    assert!(new(1.0, 2, good).is_ok());
    assert!(matches!(new(1.0, 2, SqueakParams { copies: 0, ..good }), Err(Error::Empty { .. })));
    assert!(matches!(
        new(1.0, 2, SqueakParams { max_dictionary: 0, ..good }),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(
        new(1.0, 2, SqueakParams { chunk: Some(0), ..good }),
        Err(Error::Empty { .. })
    ));
    assert!(matches!(new(1.0, 0, good), Err(Error::Empty { .. })));
    for epsilon in [0.0, 1.0, -0.1, 2.0, f64::NAN] {
        let error = new(1.0, 2, SqueakParams { epsilon, ..good }).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { name: "epsilon", .. }), "{error}");
        assert!(SqueakParams::copies_for(10, epsilon, 0.1).is_err());
    }
    // ε = ½
    assert!(new(1.0, 2, SqueakParams { scores: ScoreRule::ReferenceCode, ..good }).is_err());
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(new(gamma, 2, good), Err(Error::InvalidParameter { .. })));
    }
    assert!(
        SqueakParams::copies_for(0, 0.5, 0.1).is_err()
            && SqueakParams::copies_for(10, 0.5, 0.0).is_err()
    );
    assert!(SqueakParams::copies_for(10, 1e-5, 0.1).is_err()); // more than 32 bits
    assert_eq!(SqueakParams::copies_for(100, 0.5, 0.1).unwrap(), 5929); // ⌈39·5·ln 2000/¼⌉
}

#[test]
fn the_smallest_streams() {
    let empty = Squeak::<_, f64>::new(gaussian(), 1, 1.0, SqueakParams::new(3)).unwrap();
    assert!(empty.dictionary().is_empty() && empty.member_scores().unwrap().is_empty());
    let scores = empty.scores(Points::from_slice(&[0.3, 0.4])).unwrap();
    assert_eq!(scores, [0.5, 0.5]); // (1 − ε)·k/γ
    assert!(empty.dictionary().by_rows().is_err());
    assert!(empty.into_dictionary(&mut rng(0)).unwrap().is_empty());

    let mut one = Squeak::new(gaussian(), 1, 1.0, SqueakParams::new(3)).unwrap();
    one.push(Points::from_slice(&[]), &mut rng(0)).unwrap();
    one.push(Points::from_slice(&[0.3]), &mut rng(0)).unwrap();
    assert!((one.member_scores().unwrap()[0] - 0.25).abs() < 1e-15); // ½·1/(1 + 1)

    let mut equal = Squeak::new(gaussian(), 1, 1.0, SqueakParams::new(20)).unwrap();
    equal.push(Points::from_slice(&[0.3; 5000]), &mut rng(0)).unwrap();
    equal.settle(&mut rng(1)).unwrap();
    let dictionary = equal.dictionary();
    assert!(dictionary.len() <= 3 * 20, "{}", dictionary.len()); // d_eff = 5000/5001
    assert!((dictionary.total_weight() / 5000.0 - 1.0).abs() < 0.9 && dictionary.seen() == 5000);

    let mut zeros = Squeak::new(Linear::new(), 1, 1.0, SqueakParams::new(20)).unwrap();
    // k(x, x) = 0: nothing to keep
    zeros.push(Points::from_slice(&[0.0; 200]), &mut rng(0)).unwrap();
    assert_eq!(zeros.into_dictionary(&mut rng(0)).unwrap().len(), 0);
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let x = cube(1500, 3, 10);
    let _ = same_at_any_thread_count(|| {
        let squeak = fed(&x, SqueakParams::new(10), &[500]);
        let scores = squeak.scores(Points::from_rows(x.as_ref())).unwrap();
        (squeak, scores)
    });
}

/// Counts kernel values: those of blocks and those of diagonals.
#[derive(Default)]
pub(crate) struct Counting {
    blocks: AtomicU64,
    diagonal: AtomicU64,
}

impl Counting {
    /// Those of blocks since the last time.
    pub(crate) fn take_blocks(&self) -> u64 {
        self.blocks.swap(0, Ordering::Relaxed)
    }
}

impl Kernel<f64> for Counting {
    fn eval_into(&self, out: MatMut<'_, f64>, x: Points<'_, f64>, y: Points<'_, f64>) {
        self.blocks.fetch_add((x.len() * y.len()) as u64, Ordering::Relaxed);
        gaussian().eval_into(out, x, y);
    }
    fn diag_into(&self, out: ColMut<'_, f64>, x: Points<'_, f64>) {
        self.diagonal.fetch_add(x.len() as u64, Ordering::Relaxed);
        Kernel::<f64>::diag_into(&gaussian(), out, x);
    }
    fn gram_into(&self, out: MatMut<'_, f64>, x: Points<'_, f64>) {
        self.blocks.fetch_add((x.len() * x.len()) as u64, Ordering::Relaxed);
        gaussian().gram_into(out, x);
    }
}

#[test]
fn kernel_values_are_those_of_the_cost_claim() {
    let (x, kernel) = (cube(400, 2, 11), Counting::default());
    let params = SqueakParams { chunk: Some(50), ..SqueakParams::new(5) };
    let (mut squeak, mut rng, mut expected) =
        (Squeak::new(&kernel, 2, 1.0, params).unwrap(), rng(0), 0);
    for start in (0..400).step_by(50) {
        expected += (squeak.dictionary().len() as u64 + 50).pow(2); // (m + b)² a chunk
        squeak.push(Points::from_rows(x.as_ref().subrows(start, 50)), &mut rng).unwrap();
    }
    assert_eq!(kernel.blocks.load(Ordering::Relaxed), expected);
    assert_eq!(kernel.diagonal.load(Ordering::Relaxed), 400);
    let m = squeak.dictionary().len() as u64;
    squeak.scores(Points::from_rows(x.as_ref())).unwrap();
    assert_eq!(kernel.blocks.load(Ordering::Relaxed), expected + m * m + 400 * m);
    assert!(expected < 400 * 400 / 2, "less than half the matrix: {expected}");
}

#[test]
fn as_an_estimator_it_agrees_with_the_exact_scores_within_its_bracket() {
    let x = cube(600, 2, 12);
    let K = gaussian().gram(Points::from_rows(x.as_ref()));
    let k = Dense::new(K.as_ref()).unwrap();
    let ridge = Ridge::PerSample(2e-3);
    let exact = exact_scores(&k, ridge).unwrap().scores;
    let params = SqueakParams::new(40);
    let estimators: [(&str, Box<dyn RidgeLeverage<f64>>); 2] =
        [("squeak", Box::new(params)), ("disqueak", Box::new(Disqueak::new(params, 4)))];
    for (name, estimator) in estimators {
        let dictionary = estimator.dictionary(&k, ridge, &mut rng(0)).unwrap();
        assert!(dictionary.n() == 600 && dictionary.len() < 500, "{name}: {}", dictionary.len());
        let scores = estimator.scores(&k, ridge, &mut rng(0)).unwrap();
        for (i, (s, t)) in scores.iter().zip(&exact).enumerate() {
            // ε = ½: r within [1/(1 + ε), 1/(1 − ε)]
            assert!(s / t < 3.0 && s / t > 1.0 / 3.0, "{name}, row {i}: {s} of {t}");
        }
        assert!(estimator.dictionary(&k, Ridge::Absolute(-1.0), &mut rng(0)).is_err());
    }
    assert_eq!(k.dim(), 600);
}

#[test]
fn single_precision_follows_double() {
    let x = cube(500, 2, 13);
    let x32 = Mat::from_fn(500, 2, |i, k| x[(i, k)] as f32);
    let mut single = Squeak::new(gaussian32(), 2, 1.0_f32, SqueakParams::new(10)).unwrap();
    single.push(Points::from_rows(x32.as_ref()), &mut rng(5)).unwrap();
    let double = fed(&x, SqueakParams::new(10), &[500]);
    let common = |a: &[u64], b: &[u64]| a.iter().filter(|i| b.contains(i)).count() as f64;
    let (a, b) = (single.dictionary().positions(), double.dictionary().positions());
    assert!(common(a, b) > 0.9 * b.len() as f64, "{} of {}", common(a, b), b.len());
}

fn gaussian32() -> impl Kernel<f32> {
    Gaussian::new(0.3).unwrap()
}
