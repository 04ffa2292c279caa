//! Greedy selection from blocks of rows.

#![allow(non_snake_case)]

use crate::common::*;
use faer::Mat;
use nystrom_kernels::{Gaussian, KernelMatrix, Points};
use nystrom_linalg_core::{Counted, Dense, Error, PsdMatrix, random};
use nystrom_sketch::{DistributedChoice, DistributedGreedy, Greedy};

/// A principal submatrix.
fn among(a: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows.len(), |i, j| a[(rows[i], rows[j])])
}

/// The choice of k rows of a stored matrix in blocks.
fn in_blocks(a: &Mat<f64>, k: usize, block: usize) -> DistributedChoice {
    let mut greedy = DistributedGreedy::new(k).unwrap();
    for first in (0..a.nrows()).step_by(block) {
        let rows: Vec<usize> = (first..(first + block).min(a.nrows())).collect();
        let block = among(a, &rows);
        greedy.add(&Dense::new(block.as_ref()).unwrap(), first as u64).unwrap();
    }
    let rows: Vec<usize> = greedy.candidates().iter().map(|&row| row as usize).collect();
    greedy.finish(&Dense::new(among(a, &rows).as_ref()).unwrap()).unwrap()
}

fn log_det(a: &Mat<f64>, rows: &[usize]) -> f64 {
    let part = among(a, rows);
    let f = Greedy::default().factor(&Dense::new(part.as_ref()).unwrap(), rows.len()).unwrap();
    if f.rank() < rows.len() { f64::NEG_INFINITY } else { f.log_det() }
}

fn subsets(n: usize, c: usize) -> impl Iterator<Item = Vec<usize>> {
    let sets = (0_u32..1 << n).filter(move |mask| mask.count_ones() as usize == c);
    sets.map(move |mask| (0..n).filter(|i| mask >> i & 1 == 1).collect())
}

/// f(C) = ln det (I + L_CC) ≥ (1 − 1/e)/min(b, k)·max f, with the maximum by enumeration.
#[test]
fn the_bound_holds_by_enumeration() {
    for kind in [Kind::Gaussian, Kind::LowRank, Kind::Rough, Kind::Doubled] {
        for seed in 0..5 {
            let n = 12;
            let l = psd(kind, n, seed);
            let a = Mat::from_fn(n, n, |i, j| 3.0 * l[(i, j)] + if i == j { 1.0 } else { 0.0 });
            for (k, block) in [(1, 3), (2, 4), (3, 5), (5, 6), (4, 12)] {
                let best = subsets(n, k).map(|C| log_det(&a, &C)).fold(0.0, f64::max);
                let share = (1.0 - (-1.0_f64).exp()) / n.div_ceil(block).min(k) as f64;
                let chosen = in_blocks(&a, k, block);
                assert!(chosen.log_det() >= share * best, "{kind:?}, k = {k}");
                let rows: Vec<usize> = chosen.rows.iter().map(|&row| row as usize).collect();
                assert!((log_det(&a, &rows) - chosen.log_det()).abs() < 1e-12);
            }
        }
    }
}

/// One block gives the greedy choice; the result is at least as good as that of every block.
#[test]
fn the_better_of_both_rounds_is_kept() {
    let mut from_one_block = 0;
    for seed in 0..40 {
        let a = psd(Kind::Gaussian, 30, seed);
        let plain = Greedy::default().factor(&Dense::new(a.as_ref()).unwrap(), 4).unwrap();
        let rows: Vec<u64> = plain.pivots().iter().map(|&i| i as u64).collect();
        assert_eq!(in_blocks(&a, 4, 30).rows, rows);
        let chosen = in_blocks(&a, 4, 10);
        from_one_block += usize::from(chosen.from_one_block);
        for first in [0, 10, 20] {
            let block = among(&a, &(first..first + 10).collect::<Vec<_>>());
            let f = Greedy::default().factor(&Dense::new(block.as_ref()).unwrap(), 4).unwrap();
            assert!(chosen.log_det() >= f.log_det() - 1e-12);
        }
    }
    assert!(from_one_block < 20, "{from_one_block} of 40 from one block");
}

/// Residuals that are computed late, and in batches, give the choice of the whole factor.
#[test]
fn late_residuals_give_the_same_choice() {
    for (kind, k) in [(Kind::Gaussian, 12), (Kind::Rough, 150), (Kind::LowRank, 50)] {
        for seed in 0..3 {
            let a = psd(kind, 400, seed);
            let plain = Greedy::default().factor(&Dense::new(a.as_ref()).unwrap(), k).unwrap();
            let rows: Vec<u64> = plain.pivots().iter().map(|&i| i as u64).collect();
            let chosen = in_blocks(&a, k, 400);
            assert_eq!(chosen.rows, rows, "{kind:?}, seed {seed}");
            assert!((chosen.log_det() - plain.log_det()).abs() < 1e-8 * plain.log_det().abs());
        }
    }
}

/// The first pivots are those of the whole factor: for points in general position, for points that
/// all occur twice, and for a matrix of rank 40. Equal points are interchangeable.
#[test]
fn a_choice_of_many_points_is_that_of_the_whole_factor() {
    let n = 600;
    let x = random::standard_normal::<f64>(n, 40, &mut rng(4));
    let plane = Mat::from_fn(n, 2, |i, j| x[(i, j)]);
    let twice = Mat::from_fn(n, 40, |i, j| x[(i % 300, j)]);
    let gaussian = |x: &Mat<f64>, length: f64| {
        let kernel = Gaussian::new(length).unwrap();
        let points = Points::from_rows(x.as_ref());
        KernelMatrix::new(kernel, points).unwrap().block((0..n).into(), (0..n).into())
    };
    let cases = [
        ("distant points", gaussian(&x, 6.0), 100, 100, n),
        ("points of a plane", gaussian(&plane, 0.5), 117, 117, n),
        ("points twice", gaussian(&twice, 6.0), 350, 300, 300),
        ("rank 40", &x * x.transpose(), 60, 40, n),
    ];
    for (name, a, k, rank, distinct) in cases {
        let a = Dense::new(a.as_ref()).unwrap();
        let plain = Greedy::default().factor(&a, k).unwrap();
        let chosen = DistributedGreedy::new(k).unwrap().add(&a, 0).unwrap();
        let points = |rows: &[usize]| rows.iter().map(|i| i % distinct).collect::<Vec<_>>();
        assert_eq!(points(&chosen[..rank]), points(&plain.pivots()[..rank]), "{name}");
    }
}

/// Not every residual is computed in every step.
#[test]
fn some_residuals_are_not_computed() {
    let x = random::standard_normal::<f64>(2000, 20, &mut rng(3));
    let k = KernelMatrix::new(Gaussian::new(2.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
    let counted = Counted::new(&k);
    let mut greedy = DistributedGreedy::new(60).unwrap();
    greedy.add(&counted, 0).unwrap();
    assert!(counted.entries() < 2000 * 60 * 7 / 10, "{}", counted.entries());
}

/// A block without entries has no candidates.
#[test]
fn blocks_merge_in_order() {
    let diagonal =
        |d: &[f64]| Mat::from_fn(d.len(), d.len(), |i, j| if i == j { d[i] } else { 0.0 });
    let add = |greedy: &mut DistributedGreedy, d: &[f64], first| {
        greedy.add(&Dense::new(diagonal(d).as_ref()).unwrap(), first).unwrap()
    };
    let (mut all, mut early, mut late) = (
        DistributedGreedy::new(2).unwrap(),
        DistributedGreedy::new(2).unwrap(),
        DistributedGreedy::new(2).unwrap(),
    );
    assert_eq!(add(&mut all, &[1.0, 3.0, 2.0], 0), [1, 2]);
    assert_eq!(add(&mut all, &[0.0, 0.0], 3), [] as [usize; 0]);
    assert_eq!(add(&mut all, &[4.0], 5), [0]);
    add(&mut early, &[1.0, 3.0, 2.0], 0);
    add(&mut late, &[0.0, 0.0], 3);
    add(&mut late, &[4.0], 5);
    early.merge(late).unwrap();
    assert_eq!(early, all);
    assert_eq!(all.candidates(), [1, 2, 5]);
    let chosen = all.finish(&Dense::new(diagonal(&[3.0, 2.0, 4.0]).as_ref()).unwrap()).unwrap();
    assert_eq!((chosen.rows.clone(), chosen.len()), (vec![5, 1], 2));
    assert!((chosen.log_det() - 12.0_f64.ln()).abs() < 1e-14);
    let other = DistributedGreedy::new(3).unwrap();
    assert!(matches!(all.merge(other), Err(Error::Shape { expected: 2, got: 3, .. })));
}

#[test]
fn bad_input_is_named() {
    assert!(matches!(DistributedGreedy::new(0), Err(Error::Empty { .. })));
    let mut greedy = DistributedGreedy::new(2).unwrap();
    let k = Mat::<f64>::identity(3, 3);
    let k = Dense::new(k.as_ref()).unwrap();
    assert!(matches!(greedy.finish(&k), Err(Error::Empty { what: "candidates" })));
    let empty = Broken { n: 0, bad: vec![] };
    assert!(matches!(greedy.add(&empty, 0), Err(Error::Empty { what: "block" })));
    let nan = Broken { n: 3, bad: vec![(0, 2, f64::NAN)] };
    assert!(matches!(greedy.add(&nan, 0), Err(Error::NonFinite { row: 2, col: 0, .. })));
    let negative = Broken { n: 3, bad: vec![(1, 1, -1.0)] };
    assert!(matches!(greedy.add(&negative, 0), Err(Error::InvalidWeight { index: 1, .. })));
    assert!(greedy.candidates().is_empty());
    greedy.add(&k, 0).unwrap();
    assert!(matches!(greedy.finish(&k), Err(Error::Shape { expected: 2, got: 3, .. })));
}

/// A state in a file whose blocks contradict its candidates would overflow in `finish`, or index
/// past the candidates.
#[test]
fn states_that_contradict_themselves_are_refused() {
    let read = |k: u64, candidates: &[u64], blocks: &[(u64, f64)]| {
        let file = serde_json::json!({"k": k, "candidates": candidates, "blocks": blocks});
        serde_json::from_value::<DistributedGreedy>(file).map_err(|error| error.to_string())
    };
    let found = read(2, &[4, 1, 7], &[(2, 0.5), (1, -1.0)]).unwrap();
    assert_eq!(found.candidates(), [4, 1, 7]);
    let file = serde_json::to_value(&found).unwrap();
    assert_eq!(serde_json::from_value::<DistributedGreedy>(file).unwrap(), found);
    type Case = (u64, &'static [(u64, f64)], &'static str);
    let cases: [Case; 7] = [
        (0, &[], "rows to choose (k) is empty"),
        (2, &[(u64::MAX, 0.5), (u64::MAX, 0.5)], "candidates of a block"),
        (u64::MAX, &[(u64::MAX, 0.5), (u64::MAX, 0.5)], "candidates of all blocks"),
        (3, &[(3, 0.5), (2, 0.5)], "candidates of all blocks: expected 5, got 3"),
        (2, &[(2, 0.5)], "candidates of all blocks: expected 2, got 3"),
        (2, &[(3, 0.5)], "candidates of a block"),
        (2, &[(2, 0.5), (0, 0.0), (1, 0.5)], "candidates of a block"),
    ];
    for (k, blocks, why) in cases {
        let error = read(k, &[4, 1, 7], blocks).unwrap_err();
        assert!(error.contains(why), "{error}, not {why}");
    }
}

/// (ln det of the greedy choice − ln det of the choice from blocks)/k ≤ 0.01 for n normal points.
fn assert_near_greedy(n: usize, d: usize, k: usize, block: usize) {
    let x = random::standard_normal::<f32>(n, d, &mut rng(7));
    let kernel = Gaussian::new((2.0 * d as f64).sqrt()).unwrap();
    let all = KernelMatrix::new(kernel, Points::from_rows(x.as_ref())).unwrap();
    let plain = Greedy::default().factor(&all, k).unwrap().log_det();
    let mut greedy = DistributedGreedy::new(k).unwrap();
    for first in (0..n).step_by(block) {
        let points = Points::from_rows(x.subrows(first, block.min(n - first)));
        greedy.add(&KernelMatrix::new(kernel, points).unwrap(), first as u64).unwrap();
    }
    let rows: Vec<usize> = greedy.candidates().iter().map(|&row| row as usize).collect();
    let of_rows = Mat::from_fn(rows.len(), d, |i, j| x[(rows[i], j)]);
    let points = Points::from_rows(of_rows.as_ref());
    let chosen = greedy.finish(&KernelMatrix::new(kernel, points).unwrap()).unwrap();
    let gap = (plain - chosen.log_det()) / k as f64;
    assert!(chosen.len() == k && gap <= 0.01, "gap {gap}");
}

#[test]
fn blocks_lose_little() {
    assert_near_greedy(4000, 10, 40, 500);
}

#[test]
fn blocks_of_many_rows_lose_little() {
    assert_near_greedy(100_000, 10, 100, 10_000);
}
