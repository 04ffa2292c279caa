//! Targets that are classes, and those that are none.

use crate::fit::{check_threads, fitted, quick, table, text, with};
use nystrom::faer::Mat;
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Calibrate, ClassErrors, ClassWeights, Error, Fit, Model, Task};

/// Three features and the class of each row by the probability `p(a)` of the second.
fn drawn(n: usize, seed: u64, p: impl Fn(f64) -> f64) -> (Table, Vec<usize>) {
    let table = table(n, seed).drop_columns(["y"]).unwrap();
    let rng = &mut Pcg64::seed_from_u64(seed + 1000);
    let a = table.numbers("a").unwrap();
    let labels: Vec<usize> = a.iter().map(|a| usize::from(rng.random::<f64>() < p(*a))).collect();
    let kinds = labels.iter().map(|&k| ["one", "two"][k].to_owned());
    (with(&table, text("kind", kinds)), labels)
}

/// Rows set aside calibrate probabilities, and nothing else sees them.
#[test]
fn rows_set_aside_calibrate_probabilities() {
    let p = |a: f64| 1.0 / (1.0 + (-6.0 * a).exp());
    let (train, _) = drawn(1200, 3, p);
    let (test, labels) = drawn(4000, 4, p);
    let aside = Fit { calibrate: Some(Calibrate::Share(0.25)), ..quick() };
    let fit = fitted(&aside, &train, "kind").unwrap();
    let found = fit.report.classes.unwrap();
    assert_eq!((fit.report.rows, fit.report.calibration_rows, found.rows), (900, Some(300), 300));
    let errors = ClassErrors::of(fit.model.probabilities(&test).unwrap().as_ref(), &labels);
    // of 300 rows at spread 0.5: 0.03, and three times that
    assert!(errors.calibration_error < 0.09, "{errors:?}");
    assert!((found.log_loss - errors.log_loss).abs() < 0.12, "{found:?} {errors:?}");
    for refused in [
        Fit { calibrate: Some(Calibrate::Cross(5)), ..quick() },
        Fit { class_weights: ClassWeights::Balanced, ..aside },
        Fit { deviations: true, ..quick() },
    ] {
        assert!(matches!(fitted(&refused, &train, "kind"), Err(Error::Option { .. })));
    }
}

/// Probabilities near those that classes were drawn with, also after the file.
#[test]
fn probabilities_are_those_of_the_draws() {
    let p = |a: f64| 1.0 / (1.0 + (-6.0 * a).exp());
    let (train, _) = drawn(1000, 1, p);
    let (test, labels) = drawn(4000, 2, p);
    let fit = fitted(&Fit { work: Some(1e9), ..Fit::default() }, &train, "kind").unwrap();
    let model = Model::from_bytes(&fit.model.to_bytes().unwrap()).unwrap();
    assert_eq!(model, fit.model);
    assert_eq!(model.classes().unwrap().names, ["one", "two"]);
    let found = model.probabilities(&test).unwrap();
    let a = test.numbers("a").unwrap();
    let gap = |i: usize| (found[(i, 1)] - p(a[i])).abs();
    let mean = (0..4000).map(gap).sum::<f64>() / 4000.0;
    // p is between its extremes in a third of 1000 rows: 0.5/√330 = 0.03, with some for the fit
    assert!(mean < 0.05, "{mean}");
    let errors = ClassErrors::of(found.as_ref(), &labels);
    assert!(errors.calibration_error < 0.05 && errors.auc.unwrap() > 0.9, "{errors:?}");
    let validated = fit.report.classes.unwrap();
    assert_eq!(validated.rows, 1000); // five folds
    assert!((validated.log_loss - errors.log_loss).abs() < 0.08, "{validated:?} {errors:?}");
}

/// Where probabilities are steep in a few rows squares are bad at them: the logistic loss takes
/// over, says so, and is near the least loss that there is.
#[test]
fn the_logistic_loss_is_taken_where_it_is_better() {
    let p = |a: f64| 1.0 / (1.0 + (-40.0 * (a - 0.7)).exp());
    let (train, _) = drawn(1500, 5, p);
    let (test, labels) = drawn(4000, 6, p);
    let fit = fitted(&Fit { work: Some(2e10), ..Fit::default() }, &train, "kind").unwrap();
    let logistic = fit.report.logistic.unwrap();
    assert!(logistic.is_better(), "{logistic:?}");
    assert!(fit.model.made.logistic);
    assert_eq!(fit.report.classes.unwrap().log_loss, logistic.log_loss);
    let model = Model::from_bytes(&fit.model.to_bytes().unwrap()).unwrap();
    assert_eq!(model, fit.model);
    let found = ClassErrors::of(model.probabilities(&test).unwrap().as_ref(), &labels);
    let a = test.numbers("a").unwrap();
    let truth = Mat::from_fn(4000, 2, |i, k| if k == 1 { p(a[i]) } else { 1.0 - p(a[i]) });
    let least = ClassErrors::of(truth.as_ref(), &labels);
    // twice what a handful of parameters cost with 1500 rows
    assert!(found.log_loss < least.log_loss + 0.02, "{found:?} {least:?}");
}

#[test]
fn impossible_classes_are_typed_errors() {
    let features = table(40, 3);
    let of = |kind: &dyn Fn(usize) -> String| with(&features, text("kind", (0..40).map(kind)));
    let found = |table: &Table| fitted(&quick(), table, "kind").map(|_| ());
    let once = of(&|i| if i == 7 { "odd" } else { ["a", "b"][i % 2] }.into());
    assert!(matches!(found(&once), Err(Error::RareClass { class, .. }) if class == "odd"));
    let alike = of(&|i| ["Yes", "yes", "no"][i % 3].into());
    assert!(matches!(found(&alike), Err(Error::AlikeClasses { .. })));
    let same = of(&|_| "same".into());
    assert!(matches!(found(&same), Err(Error::Values { .. })));
    let many = with(&table(400, 3), text("kind", (0..400).map(|i| format!("k{}", i / 2))));
    assert!(matches!(found(&many), Err(Error::Values { .. })));

    let model = fitted(&quick(), &of(&|i| ["a", "b"][i % 2].into()), "kind").unwrap().model;
    assert_eq!(model.classes().unwrap().number("b").unwrap(), 1);
    assert!(matches!(model.classes().unwrap().number("c"), Err(Error::UnknownClass { .. })));
    let targets = ["kind", "y"];
    let several = Fit { task: Task::Classification, ..quick() };
    let several = several.table(&once, targets, &mut Pcg64::seed_from_u64(0));
    assert!(matches!(several, Err(Error::Option { option: "task", .. })));
}

/// Whole numbers are classes where they are few and each is frequent; fractions never are unasked.
#[test]
fn what_is_taken_for_classes() {
    let of = |n: usize, value: &dyn Fn(usize) -> f64| {
        let table = table(n, 5).drop_columns(["y"]).unwrap();
        with(&table, Column::numbers("kind", (0..n).map(value).collect()))
    };
    let classes = |task: Task, table: &Table| {
        let model = fitted(&Fit { task, ..quick() }, table, "kind").unwrap().model;
        model.classes().map(|classes| classes.names.clone())
    };
    let signs = of(60, &|i| [-1.0, 1.0][i * i % 5 % 2]);
    assert_eq!(classes(Task::Auto, &signs).unwrap(), ["-1", "1"]);
    assert_eq!(classes(Task::Regression, &signs), None);
    let many = of(110, &|i| (i * i % 13) as f64);
    assert!(classes(Task::Auto, &of(60, &|i| (i * 7 % 11) as f64)).is_none());
    assert!(classes(Task::Auto, &of(19, &|i| (i % 2) as f64)).is_none()); // fewer than ten each
    let halves = of(60, &|i| (i % 2) as f64 / 2.0);
    assert!(classes(Task::Auto, &halves).is_none());
    assert_eq!(classes(Task::Classification, &halves).unwrap(), ["0", "0.5"]);
    assert_eq!(classes(Task::Auto, &many).map(|names| names.len()), Some(7)); // squares mod 13
    let regression =
        fitted(&Fit { task: Task::Regression, ..quick() }, &signs, "kind").unwrap().model;
    assert!(matches!(regression.probabilities(&signs), Err(Error::NoClasses { .. })));
}

#[test]
fn classes_are_the_same_at_any_number_of_threads() {
    let (table, _) = drawn(700, 6, |a| 0.5 + 0.4 * a);
    check_threads(&table, "kind");
}
