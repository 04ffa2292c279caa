//! Standard deviations have the size of the errors, within the data and far from them.

use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Calibrate, Fit, Model};

fn table(a: Vec<f64>, y: Vec<f64>) -> Table {
    Table::new("t", vec![Column::numbers("a", a), Column::numbers("y", y)]).unwrap()
}

fn fit() -> Fit {
    Fit { deviations: true, work: Some(1e7), ..Fit::default() }
}

/// The sum of twelve uniform numbers: mean 0, variance 1.
fn normal(rng: &mut Pcg64) -> f64 {
    (0..12).map(|_| rng.random::<f64>() - 0.5).sum()
}

/// The shares of 200 rows each within [0, 6] and in [9, 15] that ±1.645 deviations hold.
fn covered(noise: f64, calibrate: Option<Calibrate>, seed: u64) -> [f64; 2] {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let [speed, phase] = [1.0 + rng.random::<f64>(), 6.0 * rng.random::<f64>()];
    let mut draw = |n: usize, from: f64| {
        let a: Vec<f64> = (0..n).map(|_| from + 6.0 * rng.random::<f64>()).collect();
        let y = a.iter().map(|a| (speed * a + phase).sin() + noise * normal(rng)).collect();
        table(a, y)
    };
    let (train, tests) = (draw(100, 0.0), [draw(200, 0.0), draw(200, 9.0)]);
    let fit = Fit { calibrate, ..fit() };
    let model = fit.table(&train, ["y"], &mut Pcg64::seed_from_u64(seed)).unwrap().model;
    tests.map(|test| {
        let (f, found) = (model.predict(&test).unwrap(), model.deviations(&test).unwrap());
        let y = test.numbers("y").unwrap();
        let error = |i: usize| (y[i] - f.values[(i, 0)]).abs() / found.of_value[(i, 0)];
        (0..200).filter(|&i| error(i) <= 1.645).count() as f64 / 200.0
    })
}

/// Far from noise-free data the function may be anywhere within the spread of the target.
#[test]
fn far_from_noise_free_data_deviations_are_those_of_the_target() {
    for times in [1, 3] {
        let a: Vec<f64> = (0..20 * times).map(|i| (i / times) as f64 / 10.0).collect();
        let y = a.iter().map(|a| a.sin()).collect();
        let model = fit().table(&table(a, y), ["y"], &mut Pcg64::seed_from_u64(1)).unwrap().model;
        let new = Table::new("n", vec![Column::numbers("a", vec![0.55, 12.0, 100.0])]).unwrap();
        let found = model.deviations(&new).unwrap().of_function;
        // the target has the deviation 0.3; the prior of a smooth function may have 4.5 times that
        assert!(found[(0, 0)] < 0.05, "{times}: {}", found[(0, 0)]);
        for row in [1, 2] {
            assert!((0.25..1.5).contains(&found[(row, 0)]), "{times}: {}", found[(row, 0)]);
        }
    }
}

#[test]
fn bands_cover_within_and_outside_the_data() {
    const SEEDS: u64 = 20;
    for noise in [0.0, 1e-3, 0.1, 1.0] {
        let mut mean = [0.0; 2];
        for seed in 0..SEEDS {
            let found = covered(noise, None, 300 + seed);
            mean.iter_mut().zip(found).for_each(|(sum, share)| *sum += share / SEEDS as f64);
        }
        // The deviation of noise from 100 validation rows has the relative error 1/√200, which
        // changes a coverage of 0.9 by 2·1.645·φ(1.645) = 0.34 times as much; 200 rows count it.
        let tolerance = 4.0 * ((0.34_f64.powi(2) / 200.0 + 0.09 / 200.0) / SEEDS as f64).sqrt();
        assert!(mean[0] > 0.9 - tolerance && mean[1] > 0.9 - tolerance, "{noise}: {mean:?}");
        if noise >= 0.1 {
            assert!(mean[0] < 0.9 + tolerance, "{noise}: {mean:?}");
        }
    }
}

/// With cv:K and loo the posterior knows all rows that the fit knows.
#[test]
fn the_posterior_has_all_rows_of_the_fit() {
    let a: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 60) / 10.0).collect();
    let y = a.iter().enumerate().map(|(i, a)| a.sin() + 0.1 * ((i * 7 % 5) as f64 - 2.0)).collect();
    let train = table(a, y);
    for how in [Calibrate::Cross(5), Calibrate::LeaveOneOut] {
        let fit = Fit { calibrate: Some(how), ..fit() };
        let model = fit.table(&train, ["y"], &mut Pcg64::seed_from_u64(2)).unwrap().model;
        let found = model.deviations(&train).unwrap();
        let at = |i: usize| found.of_function[(i, 0)] / found.of_value[(i, 0)];
        let largest = (0..60).map(at).fold(0.0, f64::max);
        assert!(largest < 0.75, "{how:?} {largest}");
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    }
}
