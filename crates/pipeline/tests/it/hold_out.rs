//! Rows held out before a fit are never those that give themselves away.

use crate::fit::{numbers, text};
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
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

/// Classes are held out in proportion, and the only row of one is fitted.
#[test]
fn classes_are_held_out_in_proportion() {
    let class = |i: usize| match i {
        77 => "once",
        _ if i.is_multiple_of(10) => "rare",
        _ => "often",
    };
    let x = Column::numbers("x", (0..200).map(|i| (f64::from(i) * 0.7).sin()).collect());
    let y = text("y", (0..200).map(|i| class(i).to_owned()));
    let table = Table::new("t", vec![x, y]).unwrap();
    for seed in 0..20 {
        let Fold { validation, .. } = held(&Fit::default(), &table, 0.25, seed).unwrap();
        assert_eq!(validation.len(), 50);
        let rare = validation.iter().filter(|&&row| class(row) == "rare").count();
        assert!((4..=6).contains(&rare) && !validation.contains(&77), "{rare} of 20");
    }
}

/// A group of most rows is fitted; names of groups differ by more than case and blanks.
#[test]
fn groups_are_held_out_by_their_size() {
    let table = |group: &dyn Fn(usize) -> String| {
        let x = Column::numbers("x", (0..100).map(|i| (f64::from(i) * 0.7).sin()).collect());
        let y = Column::numbers("y", (0..100).map(|i| f64::from(i).cos()).collect());
        Table::new("t", vec![x, y, text("shop", (0..100).map(group))]).unwrap()
    };
    let fit = Fit { split: Split::Group("shop".into()), ..Fit::default() };
    let uneven = table(&|i| if i < 70 { "large".into() } else { format!("{}", i % 6) });
    for seed in 0..20 {
        let Fold { validation, .. } = held(&fit, &uneven, 0.2, seed).unwrap();
        assert!((20..=25).contains(&validation.len()), "{}", validation.len());
    }
    let names = table(&|i| [" Shop 3", "shop  3", "b", "c", "d"][i % 5].into());
    for seed in 0..20 {
        let Fold { train, .. } = held(&fit, &names, 0.2, seed).unwrap();
        let of = |rest: usize| train.iter().filter(|&&row| row % 5 == rest).count();
        assert_eq!(of(0), of(1));
    }
    let alone = held(&fit, &table(&|_| "one".into()), 0.2, 0).unwrap_err().to_string();
    assert!(alone.contains("same value"), "{alone}");
}

/// Weights may be dressed.
#[test]
fn weights_of_rows_are_numbers() {
    let w = text("w", (0..40).map(|i| format!("{} %", i % 5 + 1)));
    let y = Column::numbers("y", (0..40).map(f64::from).collect());
    let table = Table::new("t", vec![w, y]).unwrap();
    let fit = Fit { weights: Some("w".into()), ..Fit::default() };
    assert_eq!(fit.weights_of(&table).unwrap().unwrap()[..3], [1.0, 2.0, 3.0]);
    assert_eq!(Fit::default().weights_of(&table).unwrap(), None);
}
