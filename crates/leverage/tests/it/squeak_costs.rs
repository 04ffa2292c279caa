//! Kernel values that SQUEAK, DISQUEAK, DICT-MERGE and INK-Estimate ask for, against their claims,
//! and the sizes they depend on.
#![allow(non_snake_case)]

use crate::squeak_stream::{Counting, cube, gaussian};
use nystrom_kernels::{KernelMatrix, Points};
use nystrom_leverage::*;
use nystrom_linalg_core::testing::rng;
use nystrom_linalg_core::{Counted, Ridge};

#[test]
fn a_merge_takes_the_square_of_both_dictionaries() {
    let (x, kernel, params) = (cube(600, 2, 1), Counting::default(), SqueakParams::new(8));
    let half = |start: usize| {
        let mut squeak = Squeak::new(&kernel, 2, 1.0, params).unwrap().starting_at(start as u64);
        squeak.push(Points::from_rows(x.as_ref().subrows(start, 300)), &mut rng(2)).unwrap();
        squeak.settle(&mut rng(3)).unwrap();
        squeak
    };
    let (mut a, b) = (half(0), half(300));
    kernel.take_blocks();
    let m = (a.dictionary().len() + b.dictionary().len()) as u64;
    a.merge(&b, &mut rng(4)).unwrap();
    assert_eq!(kernel.take_blocks(), m.pow(2) + 16 * m);
}

/// A tree: its leaves' streams and k − 1 merges, the same sum in either shape and with any number
/// of threads.
#[test]
fn a_tree_takes_its_leaves_and_its_merges() {
    let (n, chunks) = (2000, 5);
    let (x, params) = (cube(n, 2, 5), SqueakParams { chunk: Some(80), ..SqueakParams::new(8) });
    for shape in [TreeShape::Balanced, TreeShape::Sequential] {
        let kernel = Counting::default();
        let disqueak = Disqueak { params, chunks, shape };
        let I =
            disqueak.of_points(&kernel, Points::from_rows(x.as_ref()), 1.0, &mut rng(6)).unwrap();
        let taken = kernel.take_blocks();
        // every dictionary is of about the same size m: a leaf has 5 chunks of 80 at (m + 80)²
        // each, a merge takes (2m)²
        let m = I.len() as u64;
        let claim = 5 * chunks as u64 * (m + 80).pow(2) + (chunks as u64 - 1) * (2 * m).pow(2);
        assert!(taken < 2 * claim && taken > claim / 3, "{shape:?}: {taken} against about {claim}");
        assert!(taken < (n * n) as u64 / 2, "{shape:?}: {taken}");
    }
}

/// t values for point number t, which is the price of its formula, whatever the dictionary.
#[test]
fn ink_takes_a_whole_column_a_point() {
    let (x, kernel) = (cube(200, 2, 7), Counting::default());
    let mut ink = Ink::new(&kernel, 2, 1.0, 100, 0.5).unwrap();
    ink.push(Points::from_rows(x.as_ref()), &mut rng(8)).unwrap();
    assert_eq!(kernel.take_blocks(), 200 * 199 / 2);
}

/// As estimators of a matrix: n diagonal entries, and n·O(m) others: 4.5m a point at the automatic
/// chunk, for a dictionary that does not grow with n at a fixed γ. So entries grow as n.
#[test]
fn entries_grow_as_n_and_the_dictionary_does_not() {
    let params = SqueakParams::new(8);
    let tree = Disqueak::new(params, 8);
    let estimators: [(&str, &dyn RidgeLeverage<f64>); 2] =
        [("squeak", &params), ("disqueak", &tree)];
    for (name, estimator) in estimators {
        let run = |n: usize| {
            let x = cube(n, 2, 9);
            let k =
                Counted::new(KernelMatrix::new(gaussian(), Points::from_rows(x.as_ref())).unwrap());
            let m = estimator.dictionary(&k, Ridge::Absolute(4.0), &mut rng(10)).unwrap().len();
            assert_eq!(k.diagonal_entries(), n as u64, "{name}");
            (k.entries() as f64, m as f64)
        };
        let ((few, small), (many, large)) = (run(4000), run(16_000));
        assert!(large < 1.4 * small, "{name}: {small} points of 4000, {large} of 16000");
        assert!(many < 4.0 * 1.5 * few, "{name}: {few} entries at 4000, {many} at 16000");
        assert!(
            many < 16_000.0 * 8.0 * large && many < 0.05 * 16_000_f64.powi(2),
            "{name}: {many} entries, m = {large}"
        );
    }
}
