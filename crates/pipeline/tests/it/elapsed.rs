//! The time between two dates of a row.

use crate::columns::{numbers, options, table};
use crate::fit::{fitted, quick, text};
use nystrom_data::Column;
use nystrom_pipeline::{Columns, Shape};

/// Five minutes more for each row, from hours within two days.
fn start_and_end(n: usize) -> Vec<Column> {
    let clock = |minutes: usize| {
        format!("2020-03-{:02} {:02}:{:02}", 1 + minutes / 1440, minutes / 60 % 24, minutes % 60)
    };
    let begin = |i: usize| i * 37 % 2880;
    let end = |i: usize| if i == 4 { "-".to_owned() } else { clock(begin(i) + 5 * i) };
    vec![text("begin", (0..n).map(|i| clock(begin(i)))), text("end", (0..n).map(end))]
}

/// Durations 0, 5, 10, … minutes, of which the fifth is missing and becomes the median.
#[test]
fn the_time_between_two_dates_of_a_row_is_a_feature() {
    let dates = table(start_and_end(50));
    let columns = Columns::fit(&dates, &options(), &[], Shape::PLAIN).unwrap();
    let place = columns.features().iter().position(|name| name == "end since begin").unwrap();
    assert_eq!(place + 1, columns.dim());
    let applied = columns.apply(&dates).unwrap().x;
    let minutes = |i: usize| 5.0 * if i == 4 { 25.0 } else { i as f64 };
    let mean = (0..50).map(minutes).sum::<f64>() / 50.0;
    let deviation = (0..50).map(|i| (minutes(i) - mean).powi(2)).sum::<f64>() / 50.0;
    for i in 0..50 {
        let wanted = (minutes(i) - mean) / deviation.sqrt();
        assert!((applied[(i, place)] - wanted).abs() < 1e-6, "row {i}: {}", applied[(i, place)]);
    }
    // a new table, in another order and with other columns
    let begin = text("begin", ["2020-03-02 00:00".to_owned()]);
    let end = text("end", ["2020-03-02 04:10".to_owned()]);
    let new = table(vec![Column::numbers("other", vec![1.0]), end, begin]);
    let wanted = (250.0 - mean) / deviation.sqrt();
    assert!((columns.apply(&new).unwrap().x[(0, place)] - wanted).abs() < 1e-6);
}

#[test]
fn constant_or_many_times_between_dates_are_no_features() {
    let days =
        |k: usize, by: usize| (0..40).map(move |i| format!("2020-01-{:02}", (i * by + k) % 28 + 1));
    let since = |columns: Vec<Column>| {
        let columns = Columns::fit(&table(columns), &options(), &[], Shape::PLAIN).unwrap();
        columns.features().iter().filter(|name| name.contains(" since ")).count()
    };
    let dates = |count: usize| {
        let names = ["a", "b", "c", "d", "e"];
        (0..count).map(|k| text(names[k], days(k, 2 * k + 1))).collect::<Vec<_>>()
    };
    assert_eq!([1, 2, 3, 4, 5].map(|count| since(dates(count))), [0, 1, 3, 6, 0]);
    assert_eq!(since(vec![text("a", days(0, 1)), text("b", days(0, 1))]), 0);
    // half an hour in all rows but one, which has no end
    let clock = |i: usize| format!("2020-01-{:02} {:02}:{:02}", i % 28 + 1, i % 23, i % 3 * 7);
    let late = |i: usize| match i {
        3 => "-".to_owned(),
        _ => format!("2020-01-{:02} {:02}:{:02}", i % 28 + 1, i % 23, i % 3 * 7 + 30),
    };
    assert_eq!(since(vec![text("a", (0..40).map(clock)), text("b", (0..40).map(late))]), 0);
}

/// Neither date tells the target, which is the time between them.
#[test]
fn the_time_between_two_dates_predicts() {
    let mut columns = start_and_end(300);
    columns.push(Column::numbers("y", numbers(300, |i| (i as f64 / 30.0).sin())));
    let found = fitted(&quick(), &table(columns), "y").unwrap();
    assert!(found.report.chosen.error < 0.1, "{}", found.report.chosen.error);
}
