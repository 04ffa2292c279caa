//! Rows held out before a fit are never those that give themselves away.

use crate::fit::numbers;
use nystrom::prelude::*;
use nystrom_data::Table;
use nystrom_pipeline::{ColumnOptions, Error, Fit, Fold, Missing, Split};

/// 60 rows: place i/3 has three equal rows, ten groups, a time that falls.
fn table() -> Table {
    let rows: Vec<f64> = (0..60).map(|i| f64::from(i / 3)).collect();
    let of = |f: fn(f64) -> f64| rows.iter().map(|&row| f(row)).collect::<Vec<f64>>();
    let columns = vec![of(f64::sin), of(|row| row % 10.0), of(|row| -row), of(f64::cos)];
    numbers(["a", "group", "time", "y"], columns)
}

fn held(fit: &Fit, table: &Table, share: f64, seed: u64) -> Result<Fold, Error> {
    fit.hold_out(table, &["y".into()], share, &mut Pcg64::seed_from_u64(seed))
}

fn values<'a>(table: &'a Table, column: &str, rows: &'a [usize]) -> Vec<f64> {
    let values = table.numbers(column).unwrap();
    rows.iter().map(|&row| values[row]).collect()
}

#[test]
fn equal_rows_groups_and_times_are_not_separated() {
    let table = table();
    for seed in 0..20 {
        for (split, column) in [
            (Split::Random, "time"),
            (Split::Group("group".into()), "group"),
            (Split::Time("time".into()), "time"),
        ] {
            let by_time = matches!(split, Split::Time(_));
            let fit = Fit { split, ..Fit::default() };
            let Fold { train, validation } = held(&fit, &table, 0.2, seed).unwrap();
            assert_eq!(train.len() + validation.len(), 60);
            assert!((12..=17).contains(&validation.len()), "{}", validation.len());
            let (seen, out) = (values(&table, column, &train), values(&table, column, &validation));
            assert!(out.iter().all(|value| !seen.contains(value)), "{column}");
            if by_time {
                let latest = seen.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert!(out.iter().all(|time| *time > latest));
            }
        }
    }
}

#[test]
fn rows_that_a_fit_leaves_out_are_not_held_out() {
    let table = table();
    let gaps = |column: &str| {
        let mut values = values(&table, column, &(0..60).collect::<Vec<_>>());
        (0..60).step_by(7).for_each(|row| values[row] = f64::NAN);
        values
    };
    let other = |column: &str| values(&table, column, &(0..60).collect::<Vec<_>>());
    let columns = ColumnOptions { missing: Missing::DropRows, ..ColumnOptions::default() };
    for missing in ["a", "y"] {
        let of = |column: &str| if column == missing { gaps(column) } else { other(column) };
        let table = numbers(["a", "y"], vec![of("a"), of("y")]);
        let fit = Fit { columns: columns.clone(), work: Some(1e7), ..Fit::default() };
        let used = fit.used_rows(&table, &["y".into()]).unwrap();
        assert_eq!(used, (0..60).filter(|row| row % 7 != 0).collect::<Vec<_>>());
        let fold = held(&fit, &table, 0.3, 1).unwrap();
        assert!(fold.validation.iter().all(|row| used.contains(row)));
        let train = table.select_rows(&fold.train).unwrap();
        let model = fit.table(&train, ["y"], &mut Pcg64::seed_from_u64(2)).unwrap().model;
        model.predict(&table.select_rows(&fold.validation).unwrap()).unwrap();
    }
}

#[test]
fn shares_that_leave_nothing_are_refused() {
    for share in [0.0, 1.0, 0.001, -0.2, f64::NAN] {
        let found = held(&Fit::default(), &table(), share, 1);
        assert!(matches!(found, Err(Error::Option { option: "hold-out", .. })), "{share}");
    }
}

/// Noise between groups that features tell apart: what holds within groups says nothing of others.
#[test]
fn landmarks_have_the_ridge_that_other_groups_want() {
    let rng = &mut Pcg64::seed_from_u64(6);
    let (mut a, mut group, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for of in 0..60 {
        let (place, value) = (rng.random::<f64>(), rng.random::<f64>() - 0.5);
        for _ in 0..20 {
            a.push(place + 1e-4 * rng.random::<f64>());
            group.push(f64::from(of));
            y.push(value + 1e-3 * rng.random::<f64>());
        }
    }
    let table = numbers(["a", "group", "y"], vec![a, group, y]);
    // work for landmarks alone
    let fit = Fit { split: Split::Group("group".into()), work: Some(1e3), ..Fit::default() };
    let report = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(7)).unwrap().report;
    // the mean of 48 groups errs by a factor √(1 + 1/48) and 12 count; 12 groups have a deviation
    // to 1/√24 of it
    assert!(report.chosen.error < 1.0 + 1.0 / 48.0 + 0.35, "{}", report.chosen.error);
}

#[test]
fn groups_have_five_folds_however_many_rows() {
    for (groups, folds) in [(50, 5), (3, 3)] {
        let group: Vec<f64> = (0..7000).map(|row| f64::from(row % groups)).collect();
        let table = numbers(["group"], vec![group]);
        let found = Split::Group("group".into()).folds(&table, &mut Pcg64::seed_from_u64(1));
        assert_eq!(found.unwrap().len(), folds);
    }
}
