//! Intervals hold what they promise.

use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Error, Fit, Model, Split};

/// y = sin 3a + noise whose size grows with b; of the law of `draw`.
fn table(n: usize, rng: &mut Pcg64, draw: fn(f64) -> f64) -> Table {
    let mut columns = vec![Vec::new(); 3];
    for _ in 0..n {
        let [a, b, u] = std::array::from_fn(|_| rng.random::<f64>());
        let y = (3.0 * a).sin() + (0.05 + b * b) * draw(u);
        columns.iter_mut().zip([a, b, y]).for_each(|(column, v)| column.push(v));
    }
    let named = ["a", "b", "y"].into_iter().zip(columns);
    Table::new("t", named.map(|(name, values)| Column::numbers(name, values)).collect()).unwrap()
}

fn even(u: f64) -> f64 {
    2.0 * u - 1.0
}

/// Exponential: of mean 1, and three times as large in a twentieth of the rows.
fn skewed(u: f64) -> f64 {
    -(1.0 - u).ln()
}

fn fit(share: f64) -> Fit {
    Fit { calibrate: Some(share), work: Some(1e7), ..Fit::default() }
}

/// Over seeds the coverage is at least the level, and above it by at most 1/(n + 1).
#[test]
fn coverage_is_what_was_asked_for() {
    const SEEDS: u64 = 30;
    const LEVELS: [f64; 3] = [0.5, 0.8, 0.9];
    let (calibration, rows) = (50.0, 400);
    for draw in [even as fn(f64) -> f64, skewed] {
        let mut covered = [0.0; 3];
        for seed in 0..SEEDS {
            let rng = &mut Pcg64::seed_from_u64(100 + seed);
            let (train, test) = (table(150, rng, draw), table(rows, rng, draw));
            let model = fit(1.0 / 3.0).table(&train, ["y"], rng).unwrap().model;
            let y = test.numbers("y").unwrap();
            for (sum, level) in covered.iter_mut().zip(LEVELS) {
                let found = model.intervals(&test, level).unwrap();
                let inside =
                    |i: &usize| found.lower[(*i, 0)] <= y[*i] && y[*i] <= found.upper[(*i, 0)];
                *sum += (0..rows).filter(inside).count() as f64 / rows as f64 / SEEDS as f64;
            }
        }
        for (mean, level) in covered.into_iter().zip(LEVELS) {
            // a fit's coverage has a beta law, and a binomial one counts it
            let variance = level * (1.0 - level) * (1.0 / calibration + 1.0 / rows as f64);
            let tolerance = 4.0 * (variance / SEEDS as f64).sqrt();
            assert!(mean > level - tolerance, "{mean} of {level}");
            assert!(mean < level + 1.0 / (calibration + 1.0) + tolerance, "{mean} of {level}");
        }
    }
}

/// Intervals are wide where there is noise: twenty times as much at b = 1 as at b = 0.
#[test]
fn widths_follow_the_noise_and_survive_the_file() {
    let rng = &mut Pcg64::seed_from_u64(7);
    let train = table(900, rng, even);
    let fit = Fit { work: Some(1e8), ..fit(0.2) };
    let fitted = fit.table(&train, ["y"], rng).unwrap();
    assert_eq!((fitted.report.rows, fitted.report.calibration_rows), (720, Some(180)));
    let model = Model::from_bytes(&fitted.model.to_bytes().unwrap()).unwrap();
    assert_eq!(model, fitted.model);
    let ends = vec![Column::numbers("a", vec![0.5; 2]), Column::numbers("b", vec![0.1, 0.9])];
    let found = model.intervals(&Table::new("two", ends).unwrap(), 0.9).unwrap();
    let width = |i: usize| found.upper[(i, 0)] - found.lower[(i, 0)];
    assert!(width(1) > 3.0 * width(0), "{} {}", width(0), width(1));
}

#[test]
fn what_has_no_intervals_says_so() {
    let rng = &mut Pcg64::seed_from_u64(8);
    let train = table(100, rng, even);
    let model = fit(0.1).table(&train, ["y"], rng).unwrap().model;
    for level in [0.0, 1.0, -0.5, f64::NAN] {
        let found = model.intervals(&train, level);
        assert!(matches!(found, Err(Error::Option { option: "interval", .. })), "{level}");
    }
    model.intervals(&train, 0.9).unwrap();
    let few = model.intervals(&train, 0.95).map(|_| ());
    assert!(matches!(few, Err(Error::FewCalibrationRows { rows: 10, needed: 20, .. })), "{few:?}");
    let none = Fit { work: Some(1e7), ..Fit::default() }.table(&train, ["y"], rng).unwrap().model;
    assert!(matches!(none.intervals(&train, 0.9), Err(Error::NotCalibrated)));
    for share in [0.0, 1.0, 0.001, f64::NAN] {
        let found = fit(share).table(&train, ["y"], rng).map(|_| ());
        assert!(matches!(found, Err(Error::Option { option: "calibrate", .. })), "{share}");
    }
    let by_time = Fit { split: Split::Time("a".into()), ..fit(0.2) };
    let found = by_time.table(&train, ["y"], rng).map(|_| ());
    assert!(matches!(found, Err(Error::Option { option: "calibrate", .. })));
}
