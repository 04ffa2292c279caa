//! Rows that occur several times leak nothing from what is fitted to what is left out.

use crate::fit::numbers;
use crate::stream::LAMBDAS;
use nystrom::prelude::*;
use nystrom_data::{Categories, Column, Table, Values};
use nystrom_pipeline::{
    Alone, Calibrate, Error, Family, Fit, Fitted, Recipe, Split, StreamFit, TableBlocks, Task,
};

/// y = sin a + noise at n places.
fn places(n: usize, rng: &mut Pcg64) -> [Vec<f64>; 2] {
    let a: Vec<f64> = (0..n).map(|_| 6.0 * rng.random::<f64>()).collect();
    let y = a.iter().map(|a| a.sin() + 1.5 * (rng.random::<f64>() - 0.5)).collect();
    [a, y]
}

/// The rows of which the first `repeated` occur `times` times.
fn repeated([a, y]: &[Vec<f64>; 2], repeated: usize, times: usize) -> Vec<usize> {
    let rows = (0..a.len().min(y.len())).flat_map(|row| {
        let count = if row < repeated { times } else { 1 };
        std::iter::repeat_n(row, count)
    });
    rows.collect()
}

fn table(columns: &[Vec<f64>; 2], rows: &[usize]) -> Table {
    let [a, y] = [0, 1].map(|c| rows.iter().map(|&row| columns[c][row]).collect::<Vec<f64>>());
    numbers(["a", "y"], vec![a, y])
}

fn fit(how: Option<Calibrate>) -> Fit {
    Fit { calibrate: how, work: Some(1e7), ..Fit::default() }
}

fn fitted(fit: &Fit, table: &Table) -> Fitted {
    fit.table(table, ["y"], &mut Pcg64::seed_from_u64(7)).unwrap()
}

/// The coverage of new rows by intervals of level 0.9 is that without repeats.
#[test]
fn intervals_hold_new_rows_where_rows_repeat() {
    const SEEDS: u64 = 8;
    for (count, times) in [(100, 3), (15, 4), (5, 2)] {
        for how in [Calibrate::Cross(10), Calibrate::LeaveOneOut, Calibrate::Share(0.3)] {
            let mut mean = 0.0;
            for seed in 0..SEEDS {
                let rng = &mut Pcg64::seed_from_u64(400 + seed);
                let (train, new) = (places(100, rng), places(300, rng));
                let train = table(&train, &repeated(&train, count, times));
                let test = table(&new, &(0..300).collect::<Vec<_>>());
                let found = fitted(&fit(Some(how)), &train).model.intervals(&test, 0.9).unwrap();
                let y = test.numbers("y").unwrap();
                let held =
                    |i: &usize| found.lower[(*i, 0)] <= y[*i] && y[*i] <= found.upper[(*i, 0)];
                mean += (0..300).filter(held).count() as f64 / 300.0 / SEEDS as f64;
            }
            // a fit with 30 calibration rows has a coverage of a beta law
            let tolerance = 5.0 * (0.09 * (1.0 / 30.0 + 1.0 / 300.0) / SEEDS as f64).sqrt();
            assert!(mean > 0.9 - tolerance, "{count} × {times} {how:?}: {mean}");
            assert!(mean < 0.9 + 1.0 / 31.0 + tolerance, "{count} × {times} {how:?}: {mean}");
        }
    }
}

/// Whatever is asked for beside: the validation error is not below the noise, 1.5/√12.
#[test]
fn copies_never_validate_each_other() {
    let rng = &mut Pcg64::seed_from_u64(3);
    let columns = places(120, rng);
    let rows = repeated(&columns, 120, 3);
    let train = table(&columns, &rows);
    let levels = (0..rows.len()).map(|row| format!("name {row}")).collect();
    let codes = (0..rows.len() as u32).map(Some).collect();
    let names = Values::Categories(Categories { levels, codes });
    let mut named: Vec<Column> = train.columns().to_vec();
    named.push(Column { name: "name".into(), values: names });
    let named = Table::new("named", named).unwrap();
    let mut weighed: Vec<Column> = train.columns().to_vec();
    let weights = (0..rows.len()).map(|i| 1.0 + (i % 3) as f64).collect();
    weighed.push(Column::numbers("w", weights));
    weighed.push(Column::numbers("g", rows.iter().map(|row| (row % 12) as f64).collect()));
    let weighed = Table::new("weighed", weighed).unwrap();
    let plain = || fit(None);
    let all = [
        (&train, plain()),
        (&train, Fit { deviations: true, ..plain() }),
        (&named, plain()),
        (&weighed, Fit { weights: Some("w".into()), ..plain() }),
        (&weighed, Fit { split: Split::Group("g".into()), weights: Some("w".into()), ..plain() }),
        (&train, fit(Some(Calibrate::Cross(10)))),
        (&weighed, Fit { weights: Some("w".into()), ..fit(Some(Calibrate::LeaveOneOut)) }),
    ];
    // in standard units; an estimate from 60 rows at least has the relative error 1/√120
    let deviation = (1.0 / 2.0 + 1.5_f64.powi(2) / 12.0).sqrt();
    let noise = 1.5 / 12.0_f64.sqrt() / deviation * (1.0 - 3.0 / 120.0_f64.sqrt());
    for (table, fit) in all {
        let report = fitted(&fit, table).report;
        assert!(report.chosen.error > noise, "{fit:?}: {}", report.chosen.error);
        let said = report.notes.iter().any(|note| note.contains("360 rows are 120 different ones"));
        assert!(said, "{:?}", report.notes);
    }
}

/// Intervals and deviations of a table whose rows all occur three times are those of each once.
#[test]
fn rows_that_all_repeat_are_the_same_as_once() {
    let rng = &mut Pcg64::seed_from_u64(4);
    let (columns, new) = (places(90, rng), places(20, rng));
    let test = table(&new, &(0..20).collect::<Vec<_>>());
    for how in [Calibrate::Cross(10), Calibrate::LeaveOneOut, Calibrate::Share(0.3)] {
        let fit = Fit { deviations: true, ..fit(Some(how)) };
        let [once, thrice] = [1, 3].map(|times| {
            let model = fitted(&fit, &table(&columns, &repeated(&columns, 90, times))).model;
            let found = model.intervals(&test, 0.8).unwrap();
            [found.lower, found.upper, model.deviations(&test).unwrap().of_value]
        });
        for (once, thrice) in once.iter().zip(&thrice) {
            let off = (0..20).map(|i| (once[(i, 0)] - thrice[(i, 0)]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{how:?} {off}");
        }
    }
}

/// Where weights are whole numbers, models that leave out a row are those of repeated rows.
#[test]
fn weights_count_in_models_that_leave_rows_out() {
    let rng = &mut Pcg64::seed_from_u64(5);
    let (columns, new) = (places(90, rng), places(20, rng));
    let test = table(&new, &(0..20).collect::<Vec<_>>());
    let mut weighed = table(&columns, &(0..90).collect::<Vec<_>>()).columns().to_vec();
    let weights = (0..90).map(|row| if row < 40 { 3.0 } else { 1.0 }).collect();
    weighed.push(Column::numbers("w", weights));
    let weighed = Table::new("weighed", weighed).unwrap();
    for how in [Calibrate::Cross(10), Calibrate::LeaveOneOut] {
        let with = Fit { weights: Some("w".into()), ..fit(Some(how)) };
        let with = fitted(&with, &weighed).model.intervals(&test, 0.8).unwrap();
        let repeated = table(&columns, &repeated(&columns, 40, 3));
        let without = fitted(&fit(Some(how)), &repeated).model.intervals(&test, 0.8).unwrap();
        for (a, b) in [(with.lower, without.lower), (with.upper, without.upper)] {
            let off = (0..20).map(|i| (a[(i, 0)] - b[(i, 0)]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{how:?} {off}");
        }
    }
}

fn streamed(train: &Table, fit: Fit) -> (Recipe, TableBlocks<'_>) {
    let stream = StreamFit { fit, reservoir: 900, landmarks: 900 };
    let (mut blocks, rng) = (TableBlocks::new(train, 700), &mut Pcg64::seed_from_u64(5));
    let survey = stream.survey(&mut blocks, ["y"], rng).unwrap();
    let (model, _) = stream.with_kernel(&survey, (Family::Gaussian, Some(0.3)), rng).unwrap();
    (stream.recipe(&survey, model, rng).unwrap(), blocks)
}

/// The sample of a stream knows of copies, also where it has few pairs of them. λ is that of the
/// different rows: no interpolation of noise, whose error would be said to be small.
#[test]
fn copies_in_a_stream_do_not_choose_lambda() {
    let noise = 1.5 / 12.0_f64.sqrt();
    for (count, times) in [(300, 40), (3000, 4)] {
        let rng = &mut Pcg64::seed_from_u64(9);
        let columns = places(count, rng);
        let mut rows = repeated(&columns, count, times);
        let order = nystrom::linalg_core::random::uniform_subset(rows.len(), rows.len(), rng);
        rows = order.unwrap().into_iter().map(|place| rows[place]).collect();
        let train = table(&columns, &rows);
        let new = places(500, rng);
        let test = table(&new, &(0..500).collect::<Vec<_>>());
        let (recipe, mut blocks) = streamed(&train, Fit::default());
        // of uniform copies the bound is the number; pairs of a sample give it to some 10 %
        let different = recipe.different_rows().unwrap();
        assert!((different / count as f64 - 1.0).abs() < 0.5, "{different}");
        assert!(recipe.landmarks() <= count);
        let lambdas: Vec<f64> = (0..10).map(|k| 10.0_f64.powi(-k)).collect();
        let mut sum = recipe.sum().unwrap();
        sum.run(&mut blocks, &mut |_| Ok(())).unwrap();
        let by_gcv = sum.finish(&lambdas).unwrap();
        let mut folded = recipe.folds_after(&Alone, &[], 5, &mut Pcg64::seed_from_u64(1)).unwrap();
        folded.run(&mut blocks, &mut |_| Ok(())).unwrap();
        let by_folds = folded.by_folds(&lambdas).unwrap();
        let said = [by_gcv.1.gcv.unwrap(), by_folds.1.cross_validation.unwrap()];
        for ((model, report), said) in [by_gcv, by_folds].into_iter().zip(said) {
            let values = model.predict(&test).unwrap().values;
            let errors = (0..500).map(|i| (values[(i, 0)] - new[0][i].sin()).powi(2));
            let error = (errors.sum::<f64>() / 500.0).sqrt();
            assert!(error < 0.6 * noise, "{count}: {error}, {report:?}");
            let deviation = (0.5 + noise.powi(2)).sqrt();
            assert!(said * deviation > 0.8 * noise, "{count}: {said}, {report:?}");
        }
        let mut sum = recipe.sum().unwrap();
        sum.run(&mut blocks, &mut |_| Ok(())).unwrap();
        let path = sum.path(&LAMBDAS).unwrap();
        assert!(matches!(path.errors_over(&Alone), Err(Error::Option { .. })));
    }
}

/// Rows of few values are equal by chance: each is a row, in memory and streamed.
#[test]
fn rows_that_are_equal_by_chance_stay_rows() {
    let rng = &mut Pcg64::seed_from_u64(6);
    let n = 1500;
    let mut column = |levels: f64| -> Vec<f64> {
        (0..n).map(|_| (levels * rng.random::<f64>()).floor()).collect()
    };
    let (a, b, luck) = (column(4.0), column(2.0), column(10.0));
    let odds = |i: usize| 2.0 + 1.5 * a[i] + 2.0 * b[i];
    let y = (0..n).map(|i| f64::from(luck[i] < odds(i))).collect();
    let best = (0..n).map(|i| (odds(i) / 10.0).min(1.0)).map(|p| p.min(1.0 - p)).sum::<f64>();
    let train = numbers(["a", "b", "y"], vec![a.clone(), b.clone(), y]);
    for how in [None, Some(Calibrate::Share(0.2))] {
        let fit = Fit { task: Task::Classification, ..fit(how) };
        let report = fitted(&fit, &train).report;
        assert!(!report.notes.iter().any(|note| note.contains("different ones")));
        let errors = report.classes.unwrap();
        assert!(errors.rows as f64 >= 0.2 * n as f64, "{errors:?}");
        // four deviations of a share near 0.3 of 300 rows
        assert!((errors.error_rate - best / n as f64).abs() < 0.11, "{errors:?} {best}");
    }
    let (recipe, mut blocks) =
        streamed(&train, Fit { task: Task::Classification, ..Fit::default() });
    assert_eq!(recipe.different_rows(), None);
    let mut sum = recipe.sum().unwrap();
    sum.run(&mut blocks, &mut |_| Ok(())).unwrap();
    let report = sum.finish(&LAMBDAS).unwrap().1;
    let errors = report.classes.unwrap();
    assert!((errors.error_rate - best / n as f64).abs() < 0.07, "{errors:?} {best}");
}
