//! Tables as nobody should give them: each is a typed error, or a decision that is said.

use crate::fit::{check_threads, fitted, quick, table, text};
use nystrom::prelude::*;
use nystrom_data::{Column, Table, Values};
use nystrom_pipeline::{ColumnOptions, Columns, Error, Fit, Shape, Why};

fn with(column: Column) -> Table {
    crate::fit::with(&table(column.len(), 1), column)
}

#[test]
fn a_constant_target_and_few_rows_are_errors() {
    let y = Column::numbers("y", vec![1.0; 5]);
    let a = Column::numbers("a", vec![1.0, 2.0, 4.0, 5.0, 9.0]);
    let constant = Table::new("t", vec![a, y]).unwrap();
    assert!(matches!(fitted(&quick(), &constant, "y"), Err(Error::ConstantTarget { .. })));
    let few = table(2, 1);
    assert!(matches!(fitted(&quick(), &few, "y"), Err(Error::TooFewRows { rows: 2 })));
    fitted(&quick(), &table(3, 1), "y").unwrap();
}

#[test]
fn identifiers_are_left_out_and_named() {
    let numbers = with(Column::numbers("id", (1..=40).map(f64::from).collect()));
    let texts = with(text("name", (0..40).map(|i| format!("n{i}"))));
    for (table, name, why) in [(numbers, "id", Why::Index), (texts, "name", Why::Identifier)] {
        let report = fitted(&quick(), &table, "y").unwrap().report;
        assert_eq!(report.dropped.len(), 1);
        assert_eq!((&report.dropped[0].column[..], &report.dropped[0].why), (name, &why));
    }
}

#[test]
fn infinities_are_refused() {
    let mut values = vec![1.0; 40];
    values[7] = f64::INFINITY;
    let infinite = with(Column::numbers("i", values));
    assert!(matches!(fitted(&quick(), &infinite, "y"), Err(Error::Values { .. })));
}

#[test]
fn zero_weights_leave_rows_out_and_all_of_them_are_an_error() {
    let fit = Fit { weights: Some("w".into()), ..quick() };
    let none = with(Column::numbers("w", vec![0.0; 40]));
    assert!(matches!(fitted(&fit, &none, "y"), Err(Error::Values { .. })));
    let half = with(Column::numbers("w", (0..40).map(|i| f64::from(i % 2)).collect()));
    assert_eq!(fitted(&fit, &half, "y").unwrap().report.rows, 20);
    let negative = with(Column::numbers("w", (0..40).map(|i| f64::from(i) - 1.0).collect()));
    assert!(matches!(fitted(&fit, &negative, "y"), Err(Error::Values { .. })));
}

#[test]
fn ten_thousand_levels_share_features() {
    let level = |i: usize| format!("l{}", if i.is_multiple_of(2) { i % 7 } else { i % 10_000 });
    let column = text("level", (0..20_000).map(level));
    let table = Table::new("t", vec![column]).unwrap();
    let columns = Columns::fit(&table, &ColumnOptions::default(), &[], Shape::PLAIN).unwrap();
    assert!(columns.dim() <= 33, "{}", columns.dim());
    assert!(columns.rare()[0].1 > 1000);
}

#[test]
fn more_columns_than_rows_and_missing_values_are_fitted() {
    let rng = &mut Pcg64::seed_from_u64(3);
    let mut columns: Vec<Column> = (0..60)
        .map(|j| Column::numbers(format!("x{j}"), (0..20).map(|_| rng.random()).collect()))
        .collect();
    columns.push(Column::numbers("y", (0..20).map(|_| rng.random()).collect()));
    if let Values::Numbers(values) = &mut columns[0].values {
        values[3] = f64::NAN;
    }
    let table = Table::new("t", columns).unwrap();
    let report = fitted(&quick(), &table, "y").unwrap().report;
    assert_eq!(report.features.len(), 61);
}

#[test]
fn a_budget_too_small_is_an_error() {
    let fit = Fit { memory: Some(1000), ..quick() };
    assert!(matches!(
        fitted(&fit, &table(40, 1), "y"),
        Err(Error::Numerics(nystrom::Error::OutOfBudget { .. }))
    ));
    let fit = Fit { work: Some(0.0), ..quick() };
    assert!(matches!(fitted(&fit, &table(40, 1), "y"), Err(Error::Option { .. })));
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    check_threads(&table(900, 4), "y");
}

/// Of four rows that are repeated K is singular, and the smallest ridges are lost in its rounding
/// errors.
#[test]
fn repeated_rows_are_fitted() {
    let of = |f: fn(usize) -> f64| (0..16).map(f).collect::<Vec<f64>>();
    let columns = vec![
        Column::numbers("a", of(|i| (i / 4) as f64)),
        Column::numbers("b", of(|i| if i / 4 % 2 == 0 { 3.0 } else { 1.0 })),
        Column::numbers("y", of(|i| (i / 4 % 2) as f64)),
        Column::numbers("w", of(|i| if i == 0 { 10.0 } else { 1.0 })),
    ];
    let table = Table::new("t", columns).unwrap();
    let fit = Fit { work: Some(2e7), weights: Some("w".into()), ..Fit::default() };
    for seed in 0..4 {
        let found = fit.table(&table, ["y"], &mut Pcg64::seed_from_u64(seed)).unwrap();
        assert!(found.report.chosen.error < 0.1, "{}", found.report.chosen.error);
    }
}
