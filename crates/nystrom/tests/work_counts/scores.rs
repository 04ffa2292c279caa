//! Leverage scores: exact ones, and the estimators' own counts from the levels they report.

use crate::measure::{Measured, alone, f64s, holds, measure, problem};
use nystrom::leverage::BlessPath;
use nystrom::prelude::*;

const N: usize = 8192;

/// n²/2 + 128n entries; n³/3 for the factor, n³/3 + 128n² for the norms of its inverse's columns,
/// 128 at a time from the top of a panel of 256.
#[test]
fn exact() {
    alone(|| {
        let n = 1500;
        let (x, _) = problem(n);
        let k =
            KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let measured = measure(|| exact_scores(&k, Ridge::PerSample(1e-3)).unwrap()).1;
        let n = n as f64;
        holds("exact scores, entries", measured.entries, n * n / 2.0 + 128.0 * n, 0.95..=1.0);
        holds("exact scores, diagonal entries", measured.diagonal, n, 1.0..=1.0);
        holds(
            "exact scores, flops",
            measured.flops,
            2.0 * n.powi(3) / 3.0 + 128.0 * n * n,
            1.0..=1.05,
        );
        holds(
            "exact scores, bytes",
            measured.bytes,
            f64s(n * (n + 256.0) / 2.0 + 256.0 * n),
            0.95..=1.1,
        );
    });
}

/// Rows scored against a dictionary, and the size of that dictionary.
struct Level {
    rows: f64,
    against: f64,
}

/// Σ rows·m + m² entries and Σ rows·m² + m³/3 flops over the levels; at the peak the block of the
/// largest dictionary and its factor, a tile of 1024 columns, and vectors of n numbers.
fn as_levels_say(name: &str, measured: Measured, levels: &[Level]) {
    let sum = |of: fn(&Level) -> f64| levels.iter().map(of).sum::<f64>();
    let largest = levels.iter().map(|level| level.against).fold(0.0, f64::max);
    let entries = sum(|Level { rows, against: m }| rows * m + m * m);
    holds(&format!("{name}, entries"), measured.entries, entries, 1.0..=1.0);
    let flops = sum(|Level { rows, against: m }| rows * m * m + m.powi(3) / 3.0);
    holds(&format!("{name}, flops"), measured.flops, flops, 1.0..=1.05);
    let bytes = f64s(2.0 * largest * largest + 1024.0 * largest + 8.0 * N as f64);
    holds(&format!("{name}, bytes"), measured.bytes, bytes, 0.5..=1.0);
}

/// And 2nm + O(m² log n) entries in all.
#[test]
fn recursive_rls() {
    alone(|| {
        let (x, _) = problem(N);
        let k =
            KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let rng = &mut Pcg64::seed_from_u64(4);
        let (sample, measured) =
            measure(|| RecursiveRls::default().sample(&k, Ridge::PerSample(1e-3), rng).unwrap());
        let pairs = sample.levels.windows(2);
        let levels: Vec<Level> = pairs
            .map(|pair| Level { rows: pair[1].rows as f64, against: pair[0].kept as f64 })
            .collect();
        as_levels_say("Recursive-RLS", measured, &levels);
        let m = sample.levels.iter().map(|level| level.kept).max().unwrap() as f64;
        holds(
            "Recursive-RLS, 2nm + m² log n",
            measured.entries,
            2.0 * N as f64 * m + m * m * (N as f64).log2(),
            0.25..=1.0,
        );
    });
}

fn levels_of(path: &BlessPath<f64>) -> Vec<Level> {
    let sizes = path.levels.iter().map(|level| level.dictionary.len() as f64);
    let before = std::iter::once(0.0).chain(sizes);
    path.levels
        .iter()
        .zip(before)
        .map(|(level, against)| Level { rows: level.candidates as f64, against })
        .collect()
}

/// One diagonal entry a row to begin with, and one a candidate of each level.
#[test]
fn bless() {
    alone(|| {
        let (x, _) = problem(N);
        let k =
            KernelMatrix::new(Matern32::new(1.0).unwrap(), Points::from_rows(x.as_ref())).unwrap();
        let ridge = Ridge::PerSample(1e-3);
        let (by_draws, draws) =
            measure(|| Bless::default().path(&k, ridge, &mut Pcg64::seed_from_u64(5)).unwrap());
        let (by_coins, coins) =
            measure(|| BlessR::default().path(&k, ridge, &mut Pcg64::seed_from_u64(6)).unwrap());
        for (name, path, measured) in [("BLESS", by_draws, draws), ("BLESS-R", by_coins, coins)] {
            let levels = levels_of(&path);
            as_levels_say(name, measured, &levels);
            let candidates = levels.iter().map(|level| level.rows).sum::<f64>();
            holds(
                &format!("{name}, diagonal entries"),
                measured.diagonal,
                N as f64 + candidates,
                1.0..=1.0,
            );
        }
    });
}

/// Spectral analysis: one diagonal entry, to see that the matrix is the right one, no other, no
/// dense operation, O(n) memory. The kernel values that are counted are those of the density's
/// Gaussian at the 32 points where it is summed exactly.
#[test]
fn spectral_analysis() {
    alone(|| {
        let run = |n: usize| {
            let (x, _) = problem(n);
            let (points, kernel) = (Points::from_rows(x.as_ref()), Matern32::new(1.0).unwrap());
            let k = KernelMatrix::new(kernel, points).unwrap();
            let spectral = SpectralLeverage::new(&kernel, points);
            measure(|| {
                spectral.scores(&k, Ridge::PerSample(1e-4), &mut Pcg64::seed_from_u64(7)).unwrap()
            })
            .1
        };
        // beyond 8192 the density is no longer that of all pairs
        let (few, many) = (run(9000), run(18_000));
        for (n, measured) in [(9e3, &few), (18e3, &many)] {
            assert_eq!((measured.entries, measured.diagonal, measured.flops), (32.0 * n, 1.0, 0.0));
        }
        holds("spectral analysis, bytes of n × n", many.bytes, f64s(18e3 * 18e3), 0.0..=0.1);
        holds("spectral analysis, bytes at 2n", many.bytes, 2.0 * few.bytes, 0.5..=1.2);
    });
}
