//! Cells that could be read in several ways: dates of other formats, large numbers, dressed
//! classes, rows that are numbered in part.

use crate::columns::{options, random, table};
use crate::fit::{fitted, quick, text};
use nystrom::prelude::*;
use nystrom_data::Column;
use nystrom_pipeline::{ColumnOptions, Columns, Fit, Missing, Shape, Split, Task};

/// Dates of another format are the same instants if that format is beyond doubt; what is no date is
/// refused.
#[test]
fn dates_are_known_in_another_format() {
    let table_of = |of: &dyn Fn(usize, usize, usize) -> String| {
        let cells = (0..60).map(|i| of(2018 + i % 3, i % 12 + 1, i % 28 + 1));
        table(vec![text("when", cells)])
    };
    let iso = table_of(&|y, m, d| format!("{y}-{m:02}-{d:02}"));
    let columns = Columns::fit(&iso, &options(), &[], Shape::PLAIN).unwrap();
    let wanted = columns.apply(&iso).unwrap().x;
    for other in [
        table_of(&|y, m, d| format!("{d}.{m}.{y}")),
        table_of(&|y, m, d| format!("{m}/{d}/{y}")),
        table_of(&|y, m, d| format!("{y}-{m:02}-{d:02} 00:00:00")),
    ] {
        assert_eq!(columns.apply(&other).unwrap().x, wanted);
    }
    let refused = |column| columns.apply(&table(vec![column])).unwrap_err().to_string();
    let either = refused(text("when", ["01/02/2019", "03/04/2019"].map(String::from)));
    assert!(either.contains("01/02/2019") && either.contains("no date"), "{either}");
    assert!(refused(Column::numbers("when", vec![17.0, 18.0])).contains("no date"));
    // single cells are missing, and said
    let some = table(vec![text("when", ["2019-01-31", "soon"].map(String::from))]);
    assert_eq!(columns.apply(&some).unwrap().notes.len(), 1);
}

/// How a time column was read is said, and whole numbers beyond 2⁵³ keep their order.
#[test]
fn times_of_any_size_and_order_are_read() {
    let fit = |day_first| Fit {
        split: Split::Time("when".into()),
        columns: ColumnOptions { day_first, ..options() },
        ..quick()
    };
    let of = |cell: &dyn Fn(usize) -> String, day_first| {
        let columns = vec![
            text("when", (0..60).map(cell)),
            Column::numbers("x", random(60, 1)),
            Column::numbers("y", random(60, 2)),
        ];
        fitted(&fit(day_first), &table(columns), "y").unwrap().report.notes.concat()
    };
    let either = |i: usize| format!("{:02}/{:02}/2019", i % 12 + 1, i % 11 + 1);
    assert!(of(&either, false).contains("month, day, year; --day-first"));
    assert!(of(&either, true).contains("day, month, year; without --day-first"));
    let iso = |i: usize| format!("2019-{:02}-{:02}", i % 12 + 1, i % 11 + 1);
    assert!(!of(&iso, false).contains("day-first"));
    let held = |cell: &dyn Fn(usize) -> String| {
        let columns = vec![text("when", (0..60).map(cell)), Column::numbers("y", random(60, 2))];
        let rng = &mut Pcg64::seed_from_u64(0);
        fit(false).hold_out(&table(columns), &["y".into()], 0.2, rng).unwrap().validation
    };
    let time = |i: usize| i * 37 % 60;
    let large = held(&|i| (1_000_000_000_000_000_000 + time(i)).to_string());
    assert_eq!(large, held(&|i| format!("2019-01-01 00:00:{:02}", time(i))));
}

/// Classes have the names that were read, also where these are numbers in a dress; numbers of a
/// target beyond 2⁵³ are numbers.
#[test]
fn targets_are_classes_by_their_text_and_numbers_by_their_value() {
    let of = |cell: &dyn Fn(usize) -> String, task| {
        let columns = vec![Column::numbers("x", random(90, 1)), text("y", (0..90).map(cell))];
        fitted(&Fit { task, ..quick() }, &table(columns), "y").unwrap().model
    };
    let prices = of(&|i| format!("${}", i % 3 + 1), Task::Auto);
    assert_eq!(prices.classes().unwrap().names, ["$1", "$2", "$3"]);
    let large = |i: usize| (100_000_000_000_000_000 + 1000 * i * i).to_string();
    for task in [Task::Auto, Task::Regression] {
        assert!(of(&large, task).classes().is_none(), "{task:?}");
    }
    let digits = ["9007199254740993000", "9007199254740992000", "9007199254740994000"];
    let names = of(&|i| digits[i % 3].into(), Task::Classification);
    assert_eq!(names.classes().unwrap().names, [digits[1], digits[0], digits[2]]);
}

/// A column that numbers the rows does so too where some rows were taken away.
#[test]
fn rows_are_numbered_also_in_a_part_of_a_table() {
    let kept: Vec<f64> = (1..=90).filter(|i| i % 4 != 0).map(f64::from).collect();
    let n = kept.len();
    let a = Column::numbers("a", random(n, 1));
    let of = |name: &str, values: Vec<f64>| {
        let table = table(vec![a.clone(), Column::numbers(name, values)]);
        Columns::fit(&table, &options(), &[], Shape::PLAIN).unwrap().features().len()
    };
    assert_eq!(of("t", kept.clone()), 1);
    assert_eq!(of("t", kept.iter().map(|t| 1900.0 + t).collect()), 2, "years");
    assert_eq!(of("t", kept.iter().map(|t| 5.0 * t).collect()), 2, "minutes");
    assert_eq!(of("t", kept.iter().rev().copied().collect()), 2, "that fall");
}

/// Rows are left out by what is missing once a column was read, in the fit and in predictions.
#[test]
fn a_marker_among_numbers_and_dates_is_a_missing_value() {
    let missing = |i: usize| i % 10 == 3;
    let price = |i: usize| if missing(i) { "-".into() } else { format!("${}.5", i * 7 % 40) };
    let day = |i: usize| if i == 8 { "?".into() } else { format!("{}.1.2020", i % 28 + 1) };
    let of = |price: &dyn Fn(usize) -> String, day: &dyn Fn(usize) -> String| {
        let y = Column::numbers("y", random(60, 2));
        table(vec![text("price", (0..60).map(price)), text("day", (0..60).map(day)), y])
    };
    let drops = ColumnOptions { missing: Missing::DropRows, ..options() };
    let fit = Fit { columns: drops, ..quick() };
    let table = of(&price, &day);
    let expected: Vec<usize> = (0..60).filter(|&i| !missing(i) && i != 8).collect();
    assert_eq!(fit.used_rows(&table, &["y".into()]).unwrap(), expected);
    let model = fitted(&fit, &table, "y").unwrap().model;
    assert_eq!(model.columns().complete_rows(&table).unwrap(), expected);
    let rng = &mut Pcg64::seed_from_u64(0);
    let held = fit.hold_out(&table, &["y".into()], 0.3, rng).unwrap().validation;
    assert!(held.iter().all(|row| expected.contains(row)));
}
