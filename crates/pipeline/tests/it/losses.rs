//! Fits with other losses than squares: medians, quantiles, means without outliers.

use crate::explain::check;
use crate::fit::{fitted, numbers, quick};
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{
    Calibrate, ClassWeights, Error, Fit, Fitted, Model, StreamFit, TargetLoss, TargetScale, Task,
};

/// y = g(sin 2a + (1 + b)·e) for e uniform on [−1, 1] and b on [0, 1], and the median of y.
fn table(n: usize, seed: u64, g: fn(f64) -> f64) -> (Table, Vec<[f64; 2]>) {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let (mut columns, mut places) = (vec![Vec::new(); 3], Vec::new());
    for _ in 0..n {
        let [a, b, e] = std::array::from_fn(|_| rng.random::<f64>());
        let (middle, spread) = ((4.0 * a - 2.0).sin(), 1.0 + b);
        let y = g(middle + spread * (2.0 * e - 1.0));
        columns.iter_mut().zip([a, b, y]).for_each(|(column, v)| column.push(v));
        places.push([middle, spread]);
    }
    (numbers(["a", "b", "y"], columns), places)
}

fn with_loss(loss: &str) -> Fit {
    Fit { loss: loss.parse().unwrap(), ..quick() }
}

fn quantile_of([middle, spread]: [f64; 2], share: f64) -> f64 {
    middle + spread * (2.0 * share - 1.0)
}

#[test]
fn quantiles_have_their_shares_and_do_not_cross() {
    let shares = [0.1, 0.5, 0.9];
    let fit = with_loss("quantile:0.1,0.5,0.9");
    for (g, scale) in [(None, "plain"), (Some(f64::exp as fn(f64) -> f64), "log")] {
        let (train, _) = table(900, 1, g.unwrap_or(|u| u));
        let (test, places) = table(4000, 2, g.unwrap_or(|u| u));
        let fit = match g {
            None => fit.clone(),
            Some(_) => Fit { target_scale: Some(TargetScale::Log), ..fit.clone() },
        };
        let Fitted { model, report, .. } = fitted(&fit, &train, "y").unwrap();
        let (f, y) = (model.predict(&test).unwrap().values, test.numbers("y").unwrap());
        assert_eq!(f.ncols(), 3);
        assert_eq!(model.output_names(), ["y 0.1", "y 0.5", "y 0.9"]);
        for (j, share) in shares.into_iter().enumerate() {
            let below = (0..4000).filter(|&i| y[i] <= f[(i, j)]).count() as f64 / 4000.0;
            // 900 rows know a share to 0.017 at one standard error, a test knows it to 0.008
            assert!((below - share).abs() < 0.08, "{scale} {share}: {below}");
            let u = |v: f64| if g.is_some() { v.max(1e-9).ln() } else { v };
            let apart = |i: usize| (u(f[(i, j)]) - quantile_of(places[i], share)).abs();
            let mean = (0..4000).map(apart).sum::<f64>() / 4000.0;
            assert!(mean < 0.25, "{scale} {share}: {mean}");
        }
        assert!((0..4000).all(|i| f[(i, 0)] <= f[(i, 1)] && f[(i, 1)] <= f[(i, 2)]));
        let loss = report.loss.unwrap();
        assert!(loss.error < loss.squares, "{loss:?}"); // squares predict one value for all three
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.predict(&test).unwrap().values, f);
        assert_eq!(loaded.made.loss, fit.loss);
    }
}

#[test]
fn outliers_move_means_but_not_medians() {
    let n = 500;
    let rng = &mut Pcg64::seed_from_u64(3);
    let a: Vec<f64> = (0..n).map(|_| 4.0 * rng.random::<f64>()).collect();
    let noise: Vec<f64> = (0..n).map(|_| 0.2 * (rng.random::<f64>() - 0.5)).collect();
    let y = (0..n).map(|i| a[i].sin() + noise[i] + if i % 9 == 4 { 30.0 } else { 0.0 }).collect();
    let train = numbers(["a", "y"], vec![a, y]);
    let at: Vec<f64> = (0..50).map(|i| 0.2 + 0.07 * f64::from(i)).collect();
    let new = numbers(["a"], vec![at.clone()]);
    let apart = |fit: &Fit| {
        let model = fitted(fit, &train, "y").unwrap().model;
        check(&model, &new);
        let f = model.predict(&new).unwrap().values;
        (0..50).map(|i| (f[(i, 0)] - at[i].sin()).abs()).sum::<f64>() / 50.0
    };
    let [of_squares, of_medians, of_huber] =
        [quick(), with_loss("absolute"), with_loss("huber")].map(|fit| apart(&fit));
    assert!(of_squares > 1.0 && of_medians < 0.1, "{of_squares} {of_medians}");
    assert!(of_huber < 0.2, "{of_huber}");
}

#[test]
fn intervals_hold_for_every_loss() {
    let ((train, _), (test, _)) = (table(1200, 5, |u| u), table(4000, 6, |u| u));
    for loss in ["absolute", "huber", "quantile:0.8"] {
        let fit = Fit { calibrate: Some(Calibrate::Share(0.25)), ..with_loss(loss) };
        let model = fitted(&fit, &train, "y").unwrap().model;
        let found = model.intervals(&test, 0.8).unwrap();
        let y = test.numbers("y").unwrap();
        let inside = |i: &usize| (found.lower[(*i, 0)]..=found.upper[(*i, 0)]).contains(&y[*i]);
        let share = (0..4000).filter(inside).count() as f64 / 4000.0;
        // 300 rows calibrate to 0.023 at one standard error, 4000 test to 0.006
        assert!((0.68..0.92).contains(&share), "{loss}: {share}");
    }
}

#[test]
fn several_targets_have_their_own_medians() {
    let (mut train, _) = table(600, 7, |u| u);
    let other = train.numbers("y").unwrap().iter().map(|y| 1000.0 - 50.0 * y).collect();
    train = numbers(
        ["a", "b", "y", "z"],
        ["a", "b", "y"]
            .map(|name| train.numbers(name).unwrap().to_vec())
            .into_iter()
            .chain([other])
            .collect(),
    );
    let rng = &mut Pcg64::seed_from_u64(8);
    let fitted = with_loss("absolute").table(&train, ["y", "z"], rng).unwrap();
    let f = fitted.model.predict(&train).unwrap().values;
    let apart = (0..600).map(|i| (f[(i, 1)] - (1000.0 - 50.0 * f[(i, 0)])).abs()).sum::<f64>();
    assert!(apart / 600.0 < 10.0, "{}", apart / 600.0); // of a range of 200
}

#[test]
fn losses_that_cannot_be_are_refused_before_the_fit() {
    let (train, _) = table(100, 4, |u| u);
    let refused = |fit: Fit, option: &str| {
        let error = fitted(&fit, &train, "y").unwrap_err();
        let found = matches!(&error, Error::Option { option: found, .. } if *found == option);
        assert!(found, "{error}");
    };
    let median = with_loss("absolute");
    refused(Fit { deviations: true, ..median.clone() }, "std");
    refused(Fit { calibrate: Some(Calibrate::Cross(5)), ..median.clone() }, "calibrate");
    refused(Fit { calibrate: Some(Calibrate::LeaveOneOut), ..median.clone() }, "calibrate");
    let log = Some(TargetScale::Log);
    refused(Fit { target_scale: log, ..with_loss("huber") }, "target-scale");
    for shares in [vec![], vec![0.5, 0.5], vec![0.9, 0.1], vec![1.0], vec![f64::NAN]] {
        refused(Fit { loss: TargetLoss::Quantiles(shares), ..quick() }, "loss");
    }
    let classes =
        Fit { task: Task::Classification, class_weights: ClassWeights::Equal, ..median.clone() };
    let labels = (0..100).map(|i| f64::from(i % 2)).collect();
    let two = numbers(["a", "c"], vec![train.numbers("a").unwrap().to_vec(), labels]);
    assert!(matches!(fitted(&classes, &two, "c"), Err(Error::Option { option: "loss", .. })));
    let stream = StreamFit { fit: median, reservoir: 60, landmarks: 6 };
    assert!(matches!(stream.check(), Err(Error::Option { option: "loss", .. })));
}
