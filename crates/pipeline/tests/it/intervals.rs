//! Intervals hold what they promise.

use crate::fit::numbers;
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Calibrate, Error, Fit, Model, Split, TargetScale};

/// y = sin 3a + noise whose size grows with b; of the law of `draw`.
fn table(n: usize, rng: &mut Pcg64, draw: fn(f64) -> f64) -> Table {
    let mut columns = vec![Vec::new(); 3];
    for _ in 0..n {
        let [a, b, u] = std::array::from_fn(|_| rng.random::<f64>());
        let y = (3.0 * a).sin() + (0.05 + b * b) * draw(u);
        columns.iter_mut().zip([a, b, y]).for_each(|(column, v)| column.push(v));
    }
    numbers(["a", "b", "y"], columns)
}

fn even(u: f64) -> f64 {
    2.0 * u - 1.0
}

/// Exponential: of mean 1, and three times as large in a twentieth of the rows.
fn skewed(u: f64) -> f64 {
    -(1.0 - u).ln()
}

fn fit(share: f64) -> Fit {
    Fit { calibrate: Some(Calibrate::Share(share)), work: Some(1e7), ..Fit::default() }
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
    assert!(matches!(few, Err(Error::FewCalibrationRows { rows: 10, needed: 19, .. })), "{few:?}");
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

/// The share of `rows` new rows in the intervals of a level, on average over seeds.
fn covered(how: Calibrate, level: f64, seeds: u64, rows: usize) -> f64 {
    let of_seed = |seed| {
        let rng = &mut Pcg64::seed_from_u64(200 + seed);
        let (train, test) = (table(160, rng, skewed), table(rows, rng, skewed));
        let fit = Fit { calibrate: Some(how), work: Some(1e7), ..Fit::default() };
        let model = fit.table(&train, ["y"], rng).unwrap().model;
        let (found, y) = (model.intervals(&test, level).unwrap(), test.numbers("y").unwrap());
        let inside = |i: &usize| found.lower[(*i, 0)] <= y[*i] && y[*i] <= found.upper[(*i, 0)];
        (0..rows).filter(inside).count() as f64 / rows as f64
    };
    (0..seeds).map(of_seed).sum::<f64>() / seeds as f64
}

/// The guarantee is 1 − 2α (less √(2/n) for parts), and what is mostly seen is 1 − α.
#[test]
fn models_that_leave_rows_out_cover_what_was_asked_for() {
    const SEEDS: u64 = 20;
    let rows = 300;
    for how in [Calibrate::Cross(8), Calibrate::LeaveOneOut] {
        for level in [0.7, 0.9] {
            let mean = covered(how, level, SEEDS, rows);
            // a coverage has about the spread of a beta law of 80 rows, and a binomial one counts
            let variance = level * (1.0 - level) * (1.0 / 80.0 + 1.0 / rows as f64);
            let tolerance = 5.0 * (variance / SEEDS as f64).sqrt();
            assert!(mean > 1.0 - 2.0 * (1.0 - level) - tolerance, "{how:?}: {mean} of {level}");
            assert!((mean - level).abs() < 0.03 + tolerance, "{how:?}: {mean} of {level}");
        }
    }
}

#[test]
fn models_that_leave_rows_out_survive_the_file() {
    let rng = &mut Pcg64::seed_from_u64(9);
    let (train, new) = (table(120, rng, even), table(20, rng, even));
    for how in [Calibrate::Cross(5), Calibrate::LeaveOneOut, Calibrate::Share(0.3)] {
        let fit = Fit { calibrate: Some(how), deviations: true, work: Some(1e7), ..Fit::default() };
        let model = fit.table(&train, ["y"], rng).unwrap().model;
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded, model);
        let (found, f) = (loaded.intervals(&new, 0.8).unwrap(), loaded.predict(&new).unwrap());
        let deviations = loaded.deviations(&new).unwrap();
        for i in 0..20 {
            assert_eq!(found.values[(i, 0)], f.values[(i, 0)]);
            assert!(found.lower[(i, 0)] < found.upper[(i, 0)]);
            let [function, value] = [&deviations.of_function, &deviations.of_value];
            assert!(0.0 < function[(i, 0)] && function[(i, 0)] < value[(i, 0)]);
        }
    }
}

/// Noise of one size, which a Gaussian process assumes: nine tenths within 1.645 deviations.
#[test]
fn standard_deviations_have_the_size_of_the_noise() {
    let rng = &mut Pcg64::seed_from_u64(10);
    let mut line = |n: usize| {
        let a: Vec<f64> = (0..n).map(|_| 4.0 * rng.random::<f64>()).collect();
        let y = a.iter().map(|a| a.sin() + 0.2 * (rng.random::<f64>() - 0.5) * 12.0_f64.sqrt());
        let y = y.collect();
        Table::new("t", vec![Column::numbers("a", a), Column::numbers("y", y)]).unwrap()
    };
    let (train, test) = (line(400), line(1000));
    let fit = Fit { deviations: true, work: Some(1e8), ..Fit::default() };
    let model = fit.table(&train, ["y"], &mut Pcg64::seed_from_u64(11)).unwrap().model;
    let (f, found) = (model.predict(&test).unwrap(), model.deviations(&test).unwrap());
    let y = test.numbers("y").unwrap();
    // of squares of deviations of mean 1 and variance 4/5 (uniform noise), by 1000 test rows and
    // about 70 validation rows
    let square = |i: usize| ((y[i] - f.values[(i, 0)]) / found.of_value[(i, 0)]).powi(2);
    let mean = (0..1000).map(square).sum::<f64>() / 1000.0;
    let tolerance = 5.0 * (0.8_f64 * (1.0 / 1000.0 + 1.0 / 70.0)).sqrt();
    assert!((mean - 1.0).abs() < tolerance, "{mean}");
    assert!((0..1000).all(|i| found.of_function[(i, 0)] < 0.15));
}

#[test]
fn ways_to_calibrate_that_cannot_be_are_refused() {
    let rng = &mut Pcg64::seed_from_u64(12);
    let train = table(60, rng, even);
    assert_eq!("0.1".parse::<Calibrate>().unwrap(), Calibrate::Share(0.1));
    assert_eq!("cv:10".parse::<Calibrate>().unwrap(), Calibrate::Cross(10));
    assert_eq!("loo".parse::<Calibrate>().unwrap(), Calibrate::LeaveOneOut);
    assert!("cv:".parse::<Calibrate>().is_err() && "half".parse::<Calibrate>().is_err());
    for parts in [1, 31] {
        let how = Calibrate::Cross(parts);
        let fit = Fit { calibrate: Some(how), work: Some(1e7), ..Fit::default() };
        let found = fit.table(&train, ["y"], rng);
        assert!(matches!(found, Err(Error::Option { option: "calibrate", .. })), "{how:?}");
    }
    // nine rows have intervals of level 0.9, and no row leaves its number to be said
    let nine = fit(0.15).table(&train, ["y"], rng).unwrap().model;
    nine.intervals(&train, 0.9).unwrap();
    let three = train.select_rows(&[0, 1, 2]).unwrap();
    let problem = fit(0.1).table(&three, ["y"], rng).unwrap_err().to_string();
    assert!(problem.contains("takes 5 rows, and 90 for intervals of level 0.9"), "{problem}");
    let model = fit(0.2).table(&train, ["y"], rng).unwrap().model;
    assert!(matches!(model.deviations(&train), Err(Error::NoDeviations)));
    let cross = Fit { calibrate: Some(Calibrate::Cross(5)), ..fit(0.2) };
    let model = cross.table(&train, ["y"], rng).unwrap().model;
    let few = model.intervals(&train, 0.98).map(|_| ());
    assert!(matches!(few, Err(Error::FewCalibrationRows { rows: 30, needed: 49, .. })));
}

/// The noise is large beside values near 0: on a plain scale intervals begin below 0, on the scale
/// of a target without negative values they do not, and contain the same values.
#[test]
fn targets_without_negative_values_have_no_interval_below_0() {
    let rng = &mut Pcg64::seed_from_u64(5);
    let sample = |n: usize, rng: &mut Pcg64| {
        let a: Vec<f64> = (0..n).map(|_| rng.random::<f64>()).collect();
        let y = a.iter().map(|a| a * a * skewed(rng.random())).collect();
        numbers(["a", "y"], vec![a, y])
    };
    let (train, test) = (sample(300, rng), sample(300, rng));
    let y = test.numbers("y").unwrap();
    let lowest = |scale| {
        let fit = Fit { target_scale: Some(scale), ..fit(0.3) };
        let model = fit.table(&train, ["y"], &mut Pcg64::seed_from_u64(1)).unwrap().model;
        let found = model.intervals(&test, 0.9).unwrap();
        let inside =
            (0..300).filter(|&i| (found.lower[(i, 0)]..=found.upper[(i, 0)]).contains(&y[i]));
        // five standard deviations of a share of 300 rows against a quantile of 90 rows
        assert!(inside.count() as f64 / 300.0 > 0.9 - 5.0 * 0.036, "{scale:?}");
        found.lower.col(0).iter().copied().fold(f64::INFINITY, f64::min)
    };
    assert!(lowest(TargetScale::Plain) < 0.0);
    for scale in [TargetScale::Log, TargetScale::Root] {
        assert_eq!(lowest(scale), 0.0, "{scale:?}");
    }
}
