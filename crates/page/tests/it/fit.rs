//! Tests of the page of a fit: it is well-formed, self-contained and shows the numbers.

use crate::markup::check;
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_page::FitPage;
use nystrom_page::number::number;
use nystrom_pipeline::{Calibrate, Explanation, Fit, Fitted};

fn quick() -> Fit {
    Fit { work: Some(1e8), ..Fit::default() }
}

/// n rows of features with these names, and y = 2·(the first) + noise.
fn table(n: usize, names: &[String], seed: u64) -> Table {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut columns: Vec<Column> = names
        .iter()
        .map(|name| Column::numbers(name, (0..n).map(|_| rng.random()).collect()))
        .collect();
    let first = Table::new("t", columns.clone()).unwrap();
    let first = first.numbers(0).unwrap();
    let y = first.iter().map(|x| 2.0 * x + 0.1 * rng.random::<f64>()).collect();
    columns.push(Column::numbers("y", y));
    Table::new("t", columns).unwrap()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|j| format!("x{j}")).collect()
}

fn fitted(fit: &Fit, table: &Table) -> Fitted {
    fit.table(table, ["y"], &mut Pcg64::seed_from_u64(0)).unwrap()
}

fn page(fitted: &Fitted) -> String {
    let command = Some("nystrom fit t.csv --target y && <rest>");
    let html = FitPage { command, ..FitPage::of(&fitted.model, &fitted.report) }.html();
    check(&html);
    html
}

#[test]
fn the_page_is_whole_and_carries_the_numbers() {
    let fitted = fitted(
        &Fit { calibrate: Some(Calibrate::Share(0.3)), ..quick() },
        &table(300, &names(3), 1),
    );
    let html = page(&fitted);
    let Fitted { model, report, .. } = &fitted;
    let influence = &model.explanation.as_ref().unwrap().columns[0];
    let slope = number(influence.effects[0].mean);
    let parts = [
        "Predicting y",
        "Predicted against actual",
        "Residuals against predictions",
        "Coverage of intervals",
        "90 rows",
        "Partial dependence",
        "Learning curve",
        "Error against λ",
        "Error against the length scale",
        "All trials of the search",
        "nystrom fit t.csv --target y &amp;&amp; &lt;rest&gt;",
        "5 parts",
        &number(report.chosen.error),
        &number(report.plain_error),
        &number(model.made.lambda),
        &slope[..slope.len().min(3)],
        &format!("{} trials", report.trials.len()),
    ];
    for part in parts {
        assert!(html.contains(part), "{part}");
    }
    let rows = report.validation.as_ref().unwrap().rows;
    assert!(html.matches("<circle").count() >= 2 * rows, "a dot for each row, twice");
}

#[test]
fn classes_have_a_matrix_and_their_probabilities() {
    let plain = table(300, &names(2), 2);
    for classes in [2.0, 3.0] {
        let class = |y: &f64| (y / 2.2 * classes).floor();
        let y = plain.numbers("y").unwrap().iter().map(class).collect();
        let mut columns = plain.clone().drop_columns(["y"]).unwrap().columns().to_vec();
        columns.push(Column::numbers("y", y));
        let fitted = fitted(&quick(), &Table::new("t", columns).unwrap());
        let html = page(&fitted);
        let confusion = fitted.report.validation.as_ref().unwrap().classes.clone().unwrap();
        for count in confusion.counts.iter().flatten() {
            assert!(html.contains(&format!(">{count}</td>")), "{count}");
        }
        let errors = fitted.report.classes.unwrap();
        for value in [errors.log_loss, errors.calibration_error] {
            assert!(html.contains(&number(value)), "{value}");
        }
    }
}

#[test]
fn names_are_escaped() {
    let named = ["<b>bold</b>", "\"quoted\" & 'more'"].map(str::to_owned);
    let html = page(&fitted(&quick(), &table(60, &named, 3)));
    assert!(!html.contains("<b>bold") && html.contains("&lt;b&gt;bold&lt;/b&gt;"));
}

#[test]
fn of_many_columns_the_most_important_are_shown_and_it_says_so() {
    let fitted = fitted(&quick(), &table(60, &names(500), 4));
    let html = page(&fitted);
    assert!(html.contains("The 30 most important of 500 columns."));
    assert!(html.len() < 2_000_000, "{}", html.len());
}

#[test]
fn one_feature_three_rows_and_constant_predictions_have_a_page() {
    page(&fitted(&quick(), &table(50, &names(1), 5)));
    page(&fitted(&quick(), &table(3, &names(1), 6)));
    // a target that does not depend on the features, with only three rows
    let y = [0.0, 1.0, 0.5];
    let columns = vec![Column::numbers("a", vec![1.0, 2.0, 1.0]), Column::numbers("y", y.to_vec())];
    page(&fitted(&quick(), &Table::new("t", columns).unwrap()));
    let mut constant = fitted(&quick(), &table(50, &names(2), 7));
    let validation = constant.report.validation.as_mut().unwrap();
    validation.targets[0].predicted.fill(1.0);
    let Some(Explanation { columns, .. }) = &mut constant.model.explanation else { panic!() };
    columns.iter_mut().for_each(|column| (column.metric, column.slope) = (None, 0.0));
    let html = page(&constant);
    assert!(!html.contains("NaN"));
}

#[test]
fn a_fit_that_was_not_searched_for_has_a_page() {
    let fitted = fitted(&quick(), &table(60, &names(2), 8));
    let lambdas = [[1e-3, 0.2], [1e-2, 0.1], [1e-1, 0.3]];
    let model = &fitted.model;
    let validation = fitted.report.validation.as_ref();
    let bare = FitPage { model, report: None, validation: None, lambdas: &[], command: None };
    check(&bare.html());
    let html = FitPage { validation, lambdas: &lambdas, ..bare }.html();
    check(&html);
    assert!(html.contains("Leave-one-out error against λ") && html.contains("held out"));
}
