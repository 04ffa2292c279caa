//! Columns as people have them: what their cells are, and that the same values in another dress
//! are the same features.

use crate::fit::{fitted, quick, text};
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{ColumnOptions, Columns, Fit, Fitted, Shape, Split, Task, Why};

pub fn numbers(n: usize, of: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..n).map(of).collect()
}

/// Numbers without an order, from 0 to 1.
pub fn random(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    numbers(n, |_| 0.0).into_iter().map(|_| rng.random()).collect()
}

pub fn table(columns: Vec<Column>) -> Table {
    Table::new("t", columns).unwrap()
}

pub fn options() -> ColumnOptions {
    ColumnOptions::default()
}

fn with_commas(value: f64) -> String {
    let whole = (value.trunc() as i64).to_string();
    let (head, tail) = whole.split_at(whole.len().saturating_sub(3));
    let comma = if head.is_empty() { "" } else { "," };
    format!("{head}{comma}{tail}.{:02.0}", 100.0 * value.fract())
}

/// A column and its twin in another dress give the same features.
#[test]
fn numbers_in_any_dress_are_the_same_features() {
    let plain = numbers(60, |i| ((i * i * 37) % 40_000) as f64 + 1000.25);
    type Dressing = fn(f64) -> String;
    let dresses: [(&str, Dressing); 9] = [
        ("thousands", with_commas),
        ("decimal comma", |v| v.to_string().replace('.', ",")),
        ("points", |v| with_commas(v).replace(',', " ").replace('.', ",")),
        ("currency", |v| format!("${}", with_commas(v))),
        ("behind", |v| format!("{v} €")),
        ("per cent", |v| format!("{v} %")),
        ("Fortran", |v| format!("{v:e}").replace('e', "D")),
        ("quotes", |v| format!("'{v}'")),
        ("swiss", |v| with_commas(v).replace(',', "'")),
    ];
    let of = |column: Column| {
        let table = table(vec![column]);
        Columns::fit(&table, &options(), &[], Shape::PLAIN).unwrap().apply(&table).unwrap().x
    };
    let wanted = of(Column::numbers("x", plain.clone()));
    for (name, dress) in dresses {
        let found = of(text("x", plain.iter().map(|&v| dress(v))));
        assert_eq!(found.ncols(), 1, "{name}");
        for i in 0..60 {
            assert!((found[(i, 0)] - wanted[(i, 0)]).abs() < 1e-9, "{name}, row {i}");
        }
    }
}

#[test]
fn durations_are_seconds_and_missing_ones_are_said() {
    let cells = (0..50).map(|i| if i == 7 { "-".into() } else { format!("{}:{:02}:00", i % 9, i) });
    let table = table(vec![text("t", cells)]);
    let columns = Columns::fit(&table, &options(), &[], Shape::PLAIN).unwrap();
    assert_eq!(columns.features(), ["t", "t is missing"]);
}

#[test]
fn dates_are_days_and_places_in_year_week_and_day() {
    let of = |cells: Vec<String>, shape| {
        let table = table(vec![text("when", cells)]);
        Columns::fit(&table, &options(), &[], shape).unwrap().features()
    };
    let days = |i: usize| format!("{:02}/{:02}/{}", i % 28 + 1, i % 12 + 1, 2018 + i % 3);
    assert_eq!(of((0..60).map(days).collect(), Shape::PLAIN).len(), 5);
    let only = Shape { days_only: true, ..Shape::PLAIN };
    assert_eq!(of((0..60).map(days).collect(), only), ["when"]);
    let hours = |i: usize| format!("2020-01-{:02} {:02}:00:00", i % 20 + 1, i % 24);
    let features = of((0..60).map(hours).collect(), Shape::PLAIN);
    assert_eq!(features.len(), 5, "{features:?}");
    assert!(features.contains(&"when: sine of the day".to_owned()));
    let few = |i: usize| format!("2020-01-0{}", i % 4 + 1);
    assert_eq!(of((0..60).map(few).collect(), Shape::PLAIN), ["when"]);
}

/// A signal in the weekday and in the day is found from the text of the date.
#[test]
fn dates_predict() {
    let n = 300;
    let day = |i: usize| (i * 37) % 365;
    let date = |i: usize| {
        let (month, day) = (day(i) / 28 % 12 + 1, day(i) % 28 + 1);
        format!("2019-{month:02}-{day:02}")
    };
    let dates: Vec<String> = (0..n).map(date).collect();
    let noise = random(n, 3);
    let y = |i: usize| {
        let month: f64 = dates[i][5..7].parse().unwrap();
        (month / 2.0).sin() + 0.1 * noise[i]
    };
    let table = table(vec![text("when", dates.clone()), Column::numbers("y", numbers(n, y))]);
    let error = fitted(&quick(), &table, "y").unwrap().report.chosen.error;
    assert!(error < 0.25, "{error}");
}

#[test]
fn mixed_columns_are_categories_numbers_or_both() {
    let features = |cells: Vec<String>| {
        let table = table(vec![text("x", cells)]);
        let columns = Columns::fit(&table, &options(), &[], Shape::PLAIN).unwrap();
        let x = columns.apply(&table).unwrap().x;
        assert!(x.col_iter().all(|col| col.iter().all(|value| value.is_finite())));
        columns.features()
    };
    let sizes = ["2", "3", "4", "5more"];
    assert_eq!(features((0..80).map(|i| sizes[i % 4].to_owned()).collect()).len(), 4);
    let areas = |i: usize| match i % 10 {
        0 => format!("{} - {}", 1000 + i, 1100 + i),
        1 => format!("{},5", 1000 + i),
        _ => format!("{}.5", 1000 + 3 * i),
    };
    assert_eq!(features((0..80).map(areas).collect()), ["x"]);
    let tickets =
        |i: usize| if i.is_multiple_of(3) { format!("A/5 {i}") } else { format!("{}", 7 * i) };
    let found = features((0..80).map(tickets).collect());
    assert_eq!(found, ["x", "x is missing", "x is a text"]);
    let lines =
        |i: usize| if i.is_multiple_of(3) { ["bus", "tram"][i % 2].into() } else { format!("{i}") };
    let found = features((0..80).map(lines).collect());
    assert_eq!(found, ["x", "x is missing", "x=bus", "x=tram"]);
    let beyond = |i: usize| format!("10000000000000000{}", i % 3);
    assert_eq!(features((0..80).map(beyond).collect()).len(), 3);
}

#[test]
fn what_is_said_of_a_column_decides() {
    let table = table(vec![text("x", (0..60).map(|i| format!("{}", i % 5)))]);
    let said = |categorical: bool| {
        let names = vec!["x".to_owned()];
        let options = match categorical {
            true => ColumnOptions { categorical: names, ..options() },
            false => ColumnOptions { numeric: names, ..options() },
        };
        Columns::fit(&table, &options, &[], Shape::PLAIN).unwrap().features().len()
    };
    assert_eq!((said(true), said(false)), (5, 1));
}

/// 1, 1.0 and "1" are one level, whichever a table has.
#[test]
fn equal_numbers_are_one_level() {
    let cells = |i: usize| format!("{}", i % 4);
    let first = table(vec![text("k", (0..40).map(cells))]);
    let options = ColumnOptions { categorical: vec!["k".into()], ..options() };
    let columns = Columns::fit(&first, &options, &[], Shape::PLAIN).unwrap();
    let wanted = columns.apply(&first).unwrap().x;
    let as_text = table(vec![text("k", (0..40).map(|i| format!("{}.0", i % 4)))]);
    let as_number = table(vec![Column::numbers("k", numbers(40, |i| (i % 4) as f64))]);
    for other in [as_text, as_number] {
        let found = columns.apply(&other).unwrap();
        assert!(found.notes.is_empty() && found.x == wanted);
    }
}

#[test]
fn a_level_never_seen_is_the_mean_and_no_missing_value() {
    let cells =
        |i: usize| if i.is_multiple_of(5) { String::new() } else { ["a", "b"][i % 2].to_owned() };
    let fitted = table(vec![text("k", (0..40).map(cells))]);
    let columns = Columns::fit(&fitted, &options(), &[], Shape::PLAIN).unwrap();
    let new = table(vec![text("k", ["c".to_owned(), String::new()].into_iter())]);
    let found = columns.apply(&new).unwrap();
    assert!((0..2).all(|k| found.x[(0, k)] == 0.0 && found.x[(1, k)] != 0.0));
    assert_eq!(found.notes.len(), 1);
}

fn time_step(shift: f64) -> Fitted {
    let n = 90;
    let noise = random(n, 5);
    let columns = vec![
        Column::numbers("t", numbers(n, |i| i as f64 + shift)),
        Column::numbers("x", random(n, 6)),
        Column::numbers("y", numbers(n, |i| (i as f64 / 10.0).sin() + 1e-3 * noise[i])),
    ];
    fitted(&quick(), &table(columns), "y").unwrap()
}

#[test]
fn a_row_number_is_kept_if_validation_gains_by_it() {
    let found = time_step(1.0).report;
    assert!(found.dropped.is_empty() && found.chosen.error < 0.05, "{}", found.chosen.error);
    assert!(time_step(5.0).report.chosen.error < 0.05);
    // noise has nothing to gain
    let n = 90;
    let columns = ["Id", "x", "y"].map(|name| (name, random(n, name.len() as u64)));
    let id = numbers(n, |i| (3 * i + i % 2) as f64);
    let columns =
        columns.map(|(name, v)| Column::numbers(name, if name == "Id" { id.clone() } else { v }));
    let table = table(columns.into());
    let dropped = fitted(&quick(), &table, "y").unwrap().report.dropped;
    assert_eq!(dropped.iter().map(|d| &d.why).collect::<Vec<_>>(), [&Why::Index]);
}

#[test]
fn row_numbers_that_are_texts_are_row_numbers() {
    let n = 90;
    let dresses: [fn(usize) -> String; 3] =
        [|i| i.to_string(), |i| format!("'{i}'"), |i| format!("{i}.0")];
    for dress in dresses {
        let columns = vec![
            text("more", (1..=n).map(dress)),
            Column::numbers("x", random(n, 6)),
            Column::numbers("y", random(n, 7)),
        ];
        let dropped = fitted(&quick(), &table(columns), "y").unwrap().report.dropped;
        assert_eq!(dropped.iter().map(|d| &d.why).collect::<Vec<_>>(), [&Why::Index]);
    }
}

/// Rows at different times are no copies of each other; those of a table written out thrice under
/// new numbers are.
#[test]
fn rows_at_different_times_are_different() {
    let n = 400;
    let draws = random(n, 7);
    let level = |i: usize| (4.0 * draws[i]).floor();
    let steps = vec![
        Column::numbers("t", numbers(n, |i| i as f64 + 1.0)),
        Column::numbers("z", numbers(n, level)),
        Column::numbers("y", numbers(n, |i| (5.0 * ((i + 1) as f64 / 20.0).sin()).round())),
    ];
    let fit = Fit { task: Task::Regression, ..quick() };
    let said = |columns: Vec<Column>| {
        let report = fitted(&fit, &table(columns), "y").unwrap().report;
        let merged = report.notes.iter().any(|note| note.contains("different ones"));
        (merged, report.dropped.len(), report.chosen.error)
    };
    let (merged, dropped, error) = said(steps);
    assert!(!merged && dropped == 0 && error < 0.1, "{merged} {dropped} {error}");
    let copies = vec![
        Column::numbers("id", numbers(n, |i| i as f64 + 1.0)),
        Column::numbers("x", numbers(n, |i| draws[i % 100])),
        Column::numbers("y", numbers(n, |i| draws[i % 100].sin() + draws[100 + i % 100])),
    ];
    let (merged, dropped, _) = said(copies);
    assert!(merged && dropped == 1);
}

#[test]
fn an_index_without_a_name_is_never_a_feature() {
    let n = 90;
    for name in ["", "Unnamed: 0", "unnamed 1"] {
        let columns = vec![
            Column::numbers(name, numbers(n, |i| i as f64)),
            Column::numbers("x", random(n, 6)),
            Column::numbers("y", numbers(n, |i| (i as f64 / 10.0).sin())),
        ];
        let dropped = fitted(&quick(), &table(columns), "y").unwrap().report.dropped;
        assert_eq!(dropped.len(), 1, "{name}");
    }
}

/// Columns of a fold are those of its training rows: a level, a median or a scale of the future is
/// not known.
#[test]
fn features_of_a_time_split_do_not_see_the_future() {
    let n = 240;
    let late = |i: usize| if i < 200 { "old".to_owned() } else { format!("new{}", i % 3) };
    let columns = vec![
        Column::numbers("when", numbers(n, |i| i as f64)),
        text("kind", (0..n).map(|i| if i % 2 == 0 { late(i) } else { "other".into() })),
        Column::numbers("x", random(n, 13)),
        Column::numbers("y", numbers(n, |i| (i % 2) as f64 + 0.01 * i as f64)),
    ];
    let fit = Fit { split: Split::Time("when".into()), ..quick() };
    let found = fitted(&fit, &table(columns), "y").unwrap();
    // the model of all rows knows the late levels
    assert!(found.report.features.iter().any(|name| name.starts_with("kind=new")));
    assert!(found.report.chosen.error.is_finite());
}

/// The target jumps where validation begins, and nothing announces it: the error is the jump, and
/// does not shrink as if the mean of the late rows were known.
#[test]
fn the_mean_of_the_target_does_not_see_the_future() {
    let (n, late) = (240, 200); // the last sixth validates
    let (x, noise) = (random(n, 16), random(n, 17));
    let jump = |i: usize| if i < late { 0.0 } else { 10.0 };
    let columns = vec![
        Column::numbers("when", numbers(n, |i| i as f64)),
        Column::numbers("x", x),
        Column::numbers("y", numbers(n, |i| jump(i) + noise[i])),
    ];
    let fit = Fit { split: Split::Time("when".into()), ..quick() };
    let fitted = fitted(&fit, &table(columns), "y").unwrap();
    let validation = fitted.report.validation.unwrap();
    let [actual, predicted] = [&validation.targets[0].actual, &validation.targets[0].predicted];
    assert_eq!(actual.len(), n - late);
    // noise is between 0 and 1, and so are predictions of the early rows
    assert!(predicted.iter().all(|f| (-0.5..1.5).contains(f)), "{predicted:?}");
    assert!(fitted.report.chosen.error > 9.0 / 4.0); // the deviation of y is below 4
}

#[test]
fn times_in_any_format_split_alike() {
    let n = 120;
    let day = |i: usize| (i * 7) % n;
    let iso = |i: usize| format!("2019-{:02}-{:02}", day(i) / 28 + 1, day(i) % 28 + 1);
    let formats: [fn(&str) -> String; 4] = [
        |iso| iso.to_owned(),
        |iso| format!("{}/{}/{}", &iso[8..], &iso[5..7], &iso[..4]),
        |iso| format!("{}.{}.{}", &iso[8..], &iso[5..7], &iso[..4]),
        |iso| {
            format!(
                "{} {} {}",
                &iso[8..],
                ["Jan", "Feb", "Mar", "Apr", "May"][iso[5..7].parse::<usize>().unwrap() - 1],
                &iso[..4]
            )
        },
    ];
    let split = Split::Time("when".into());
    let fold = |cells: Vec<String>| {
        let table = table(vec![text("when", cells)]);
        split.folds(&table, &mut Pcg64::seed_from_u64(0)).unwrap()
    };
    let wanted = fold((0..n).map(iso).collect());
    for format in formats {
        assert_eq!(fold((0..n).map(|i| format(&iso(i))).collect()), wanted);
    }
    assert_eq!(fold((0..n).map(|i| format!("week {}", day(i))).collect()), wanted);
    let table = table(vec![text("when", (0..n).map(|i| ["low", "high"][i % 2].to_owned()))]);
    let error = split.folds(&table, &mut Pcg64::seed_from_u64(0)).unwrap_err().to_string();
    assert!(error.contains("neither a number nor a date"), "{error}");
}

#[test]
fn targets_and_weights_may_be_dressed() {
    let n = 80;
    let x = random(n, 14);
    let y = |i: usize| 1000.0 + (5000.0 * x[i]).round();
    let plain = vec![
        Column::numbers("x", x.clone()),
        Column::numbers("w", numbers(n, |i| 1.0 + (i % 3) as f64)),
        Column::numbers("y", numbers(n, y)),
    ];
    let dressed = vec![
        Column::numbers("x", x.clone()),
        text("w", (0..n).map(|i| format!("{} kg", 1 + i % 3).replace(" kg", " %"))),
        text("y", (0..n).map(|i| format!("${}", with_commas(y(i)).replace(".00", "")))),
    ];
    let fit = Fit { weights: Some("w".into()), ..quick() };
    let [plain, dressed] = [plain, dressed].map(table);
    let [one, other] = [&plain, &dressed].map(|table| fitted(&fit, table, "y").unwrap().model);
    let [one, other] = [one, other].map(|model| model.predict(&plain).unwrap().values);
    assert!((0..n).all(|i| (one[(i, 0)] - other[(i, 0)]).abs() < 1e-6 * one[(i, 0)].abs()));
}
