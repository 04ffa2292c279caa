//! Targets on scales: chosen where they help, with means and intervals in the target's own units.

use crate::explain::check;
use crate::fit::{fitted, numbers, quick};
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{Calibrate, Error, Fit, Model, TargetScale};

/// y = g(3 sin 2a + b + noise), the noise normal with standard deviation 0.5.
fn table(n: usize, seed: u64, g: fn(f64) -> f64) -> Table {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut columns = vec![Vec::new(); 3];
    for _ in 0..n {
        let [a, b] = std::array::from_fn(|_| rng.random::<f64>() * 2.0 - 1.0);
        let noise = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let y = g(3.0 * (2.0 * a).sin() + b + 0.5 * noise);
        columns.iter_mut().zip([a, b, y]).for_each(|(column, v)| column.push(v));
    }
    numbers(["a", "b", "y"], columns)
}

fn with_scale(scale: Option<TargetScale>) -> Fit {
    Fit { target_scale: scale, ..quick() }
}

/// The mean square error of the predictions, and their sum over that of the targets.
fn judged(model: &Model, test: &Table) -> [f64; 2] {
    let (f, y) = (model.predict(test).unwrap().values, test.numbers("y").unwrap());
    let square = y.iter().enumerate().map(|(i, y)| (f[(i, 0)] - y).powi(2)).sum::<f64>();
    [square / y.len() as f64, f.col(0).iter().sum::<f64>() / y.iter().sum::<f64>()]
}

#[test]
fn a_log_normal_target_is_not_fitted_as_it_is() {
    let (train, test) = (table(600, 1, f64::exp), table(4000, 2, f64::exp));
    let found = fitted(&quick(), &train, "y").unwrap();
    // of the two that make it less skewed, by the errors of few large values
    assert_ne!(found.report.chosen.target, TargetScale::Plain);
    assert_eq!(found.model.target_scale(), found.report.chosen.target);
    let plain = fitted(&with_scale(Some(TargetScale::Plain)), &train, "y").unwrap();
    assert_eq!(plain.report.chosen.target, TargetScale::Plain);
    let ([square, mean], [of_plain, _]) =
        (judged(&found.model, &test), judged(&plain.model, &test));
    assert!(square < of_plain, "{square} {of_plain}");
    // e^u alone, the median, has the mean e^{-1/8} = 0.88 of the targets'
    assert!((0.94..1.06).contains(&mean), "{mean}");
    // the error that is reported is in units of the target
    let sd = {
        let y = test.numbers("y").unwrap();
        let mean = y.iter().sum::<f64>() / 4000.0;
        (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 4000.0).sqrt()
    };
    let error = found.report.chosen.error;
    assert!((0.7..1.4).contains(&(error * sd / square.sqrt())), "{error}");
    let loaded = Model::from_bytes(&found.model.to_bytes().unwrap()).unwrap();
    assert_eq!(judged(&loaded, &test), judged(&found.model, &test));
    check(&found.model, &test.select_rows(&Vec::from_iter(0..100)).unwrap());
}

#[test]
fn other_targets_stay_as_they_are() {
    let shifted = table(400, 3, |u| u + 10.0);
    assert_eq!(fitted(&quick(), &shifted, "y").unwrap().model.target_scale(), TargetScale::Plain);
    let negative = table(400, 4, |u| u);
    assert_eq!(fitted(&quick(), &negative, "y").unwrap().model.target_scale(), TargetScale::Plain);
    let refused = fitted(&with_scale(Some(TargetScale::Log)), &negative, "y");
    assert!(matches!(&refused, Err(error) if error.to_string().contains("no log scale")));
    let deviations = Fit { deviations: true, ..with_scale(Some(TargetScale::Root)) };
    let refused = fitted(&deviations, &shifted, "y");
    assert!(matches!(refused, Err(Error::Option { option: "target-scale", .. })));
    let plain = Fit { deviations: true, ..with_scale(None) };
    let skewed = table(400, 5, f64::exp);
    assert_eq!(fitted(&plain, &skewed, "y").unwrap().model.target_scale(), TargetScale::Plain);
}

/// Counts with zeros have a logarithm as well.
#[test]
fn every_scale_can_be_asked_for() {
    let counts = table(400, 6, |u| u.exp().floor());
    for scale in TargetScale::ALL {
        let found = fitted(&with_scale(Some(scale)), &counts, "y").unwrap();
        assert_eq!(found.model.target_scale(), scale);
        let [_, mean] = judged(&found.model, &counts);
        assert!((0.9..1.1).contains(&mean), "{scale:?}: {mean}");
        assert!(found.report.trials.iter().filter(|t| t.target == scale).count() > 3);
    }
}

/// Over seeds, coverage within four standard errors of the level or above it.
#[test]
fn intervals_hold_on_every_scale() {
    const SEEDS: u64 = 6;
    for calibrate in [Calibrate::Share(0.3), Calibrate::Cross(5), Calibrate::LeaveOneOut] {
        let mut covered = 0.0;
        for seed in 0..SEEDS {
            let (train, test) = (table(200, 10 + seed, f64::exp), table(400, 50 + seed, f64::exp));
            let scale = Some(TargetScale::Log);
            let fit = Fit { calibrate: Some(calibrate), work: Some(1e7), ..with_scale(scale) };
            let model = fitted(&fit, &train, "y").unwrap().model;
            let found = model.intervals(&test, 0.8).unwrap();
            let y = test.numbers("y").unwrap();
            let inside = |i: &usize| found.lower[(*i, 0)] <= y[*i] && y[*i] <= found.upper[(*i, 0)];
            covered += (0..400).filter(inside).count() as f64 / 400.0 / SEEDS as f64;
        }
        // the coverage of one fit: a beta law of some 60 rows, counted on 400
        let tolerance = 4.0 * (0.16 * (1.0 / 60.0 + 1.0 / 400.0) / SEEDS as f64).sqrt();
        assert!(covered > 0.8 - tolerance && covered < 0.99, "{calibrate:?}: {covered}");
    }
}
