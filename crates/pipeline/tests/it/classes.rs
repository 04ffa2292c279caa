//! Targets that are classes, and those that are none.

use crate::fit::{check_threads, fitted, quick, table, text, with};
use nystrom::faer::Mat;
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Calibrate, ClassErrors, ClassWeights, Error, Fit, Model, Split, Task};

/// Three features and the class of each row by the probability `p(a)` of the second.
pub fn drawn(n: usize, seed: u64, p: impl Fn(f64) -> f64) -> (Table, Vec<usize>) {
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
    let errors = ClassErrors::of(fit.model.probabilities(&test).unwrap().as_ref(), &labels, None);
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
    let errors = ClassErrors::of(found.as_ref(), &labels, None);
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
    let found = ClassErrors::of(model.probabilities(&test).unwrap().as_ref(), &labels, None);
    let a = test.numbers("a").unwrap();
    let truth = Mat::from_fn(4000, 2, |i, k| if k == 1 { p(a[i]) } else { 1.0 - p(a[i]) });
    let least = ClassErrors::of(truth.as_ref(), &labels, None);
    // twice what a handful of parameters cost with 1500 rows
    assert!(found.log_loss < least.log_loss + 0.02, "{found:?} {least:?}");
}

#[test]
fn impossible_classes_are_typed_errors() {
    let features = table(40, 3);
    let of = |kind: &dyn Fn(usize) -> String| with(&features, text("kind", (0..40).map(kind)));
    let found = |table: &Table| fitted(&quick(), table, "kind").map(|_| ());
    let same = of(&|_| "same".into());
    assert!(matches!(found(&same), Err(Error::Values { .. })));
    let many = with(&table(400, 3), text("kind", (0..400).map(|i| format!("k{}", i / 2))));
    let error = found(&many).unwrap_err().to_string();
    for part in ["\"kind\" holds 200 different values", "\"k0\" and \"k1\"", "as \"other\""] {
        assert!(error.contains(part), "{part}: {error}");
    }

    let both = of(&|i| ["a", "b"][i % 2].into());
    let model = fitted(&quick(), &both, "kind").unwrap().model;
    assert_eq!(model.classes().unwrap().number("b").unwrap(), 1);
    assert!(matches!(model.classes().unwrap().number("c"), Err(Error::UnknownClass { .. })));
    let targets = ["kind", "y"];
    let several = Fit { task: Task::Classification, ..quick() };
    let several = several.table(&both, targets, &mut Pcg64::seed_from_u64(0));
    assert!(matches!(several, Err(Error::Option { option: "task", .. })));
}

/// One row of a class, three equal rows of another, in few rows and in many: fitted, and said.
#[test]
fn rare_classes_are_fitted() {
    for n in [40, 300, 6500] {
        let features = table(n, 3);
        let kind = |i: usize| if i == 7 { "odd".to_owned() } else { ["a", "b"][i % 2].to_owned() };
        let once = with(&features, text("kind", (0..n).map(kind)));
        let fit = fitted(&quick(), &once, "kind").unwrap();
        let classes = fit.model.classes().unwrap();
        assert_eq!(classes.names, ["a", "b", "odd"]);
        let note = |note: &String| note.contains("\"odd\"") && note.contains("too few different");
        assert!(fit.report.notes.iter().any(note), "{n}: {:?}", fit.report.notes);
        let p = fit.model.probabilities(&once).unwrap();
        let sound = |i: usize| p[(i, 2)].is_finite() && p[(i, 2)] < 0.5;
        assert!((0..n).filter(|i| *i != 7).all(sound), "{n}");
        // rows set aside are never the only ones of a class
        for seed in 0..5 {
            let aside = Fit { calibrate: Some(Calibrate::Share(0.4)), ..quick() };
            let fit = aside.table(&once, ["kind"], &mut Pcg64::seed_from_u64(seed)).unwrap();
            assert_eq!(fit.model.classes().unwrap().names.len(), 3);
            if n > 40 {
                break;
            }
        }
    }
    // a tenth of the rows and more are repeated, so that three equal rows are one
    let rows: Vec<usize> = (0..60).flat_map(|row| [row; 3]).collect();
    let kind = (0..60).map(|i| if i == 7 { "odd".into() } else { ["a", "b"][i % 2].to_owned() });
    let repeated = with(&table(60, 4), text("kind", kind)).select_rows(&rows).unwrap();
    let fit = fitted(&quick(), &repeated, "kind").unwrap();
    assert_eq!(fit.model.classes().unwrap().names, ["a", "b", "odd"]);
}

/// A class that only the last rows or one group have is in no training part of a fold.
#[test]
fn a_class_may_be_missing_where_folds_are_fitted() {
    let p = |a: f64| 1.0 / (1.0 + (-8.0 * a).exp());
    let (table, labels) = drawn(300, 12, p);
    let kind = |i: usize| if i >= 280 { "late" } else { ["one", "two"][labels[i]] }.to_owned();
    let table = with(&table, text("kind", (0..300).map(kind)));
    let when = Column::numbers("when", (0..300).map(f64::from).collect());
    let group = Column::numbers("group", (0..300).map(|i| f64::from(i / 20)).collect());
    for (split, column) in
        [(Split::Time("when".into()), when), (Split::Group("group".into()), group)]
    {
        // enough work for the logistic loss
        let fit = Fit { work: Some(2e10), split, ..Fit::default() };
        let fit = fitted(&fit, &with(&table, column), "kind").unwrap();
        assert_eq!(fit.model.classes().unwrap().names, ["late", "one", "two"]);
        let errors = fit.report.classes.unwrap();
        assert!(errors.log_loss.is_finite() && fit.report.logistic.is_some(), "{errors:?}");
    }
}

/// Folds at random have every class in proportion: of 5 % a fifth of 1000 rows has 10, ± 1.
#[test]
fn folds_are_stratified() {
    let (table, _) = drawn(1000, 13, |_| 0.5);
    let kind = |i: usize| if i % 20 == 3 { "rare" } else { "usual" }.to_owned();
    let table = with(&table, text("kind", (0..1000).map(kind)));
    let fit = fitted(&quick(), &table, "kind").unwrap();
    let confusion = fit.report.validation.unwrap().classes.unwrap();
    let rows: Vec<usize> = confusion.counts.iter().map(|row| row.iter().sum()).collect();
    assert_eq!(rows, [50, 950]);
    // one fold of a tenth of 7000 rows, of which 3.5 % are rare
    let (table, _) = drawn(7000, 14, |_| 0.5);
    let kind = |i: usize| if i % 28 == 3 { "rare" } else { "usual" }.to_owned();
    let table = with(&table, text("kind", (0..7000).map(kind)));
    let fit = fitted(&quick(), &table, "kind").unwrap();
    let confusion = fit.report.validation.unwrap().classes.unwrap();
    let rows: Vec<usize> = confusion.counts.iter().map(|row| row.iter().sum()).collect();
    assert_eq!(rows.iter().sum::<usize>(), 700);
    assert!(rows[0].abs_diff(25) <= 1, "{rows:?}");
}

/// Names stay as they were read; numbers are sorted by value and found by value.
#[test]
fn names_are_as_they_were_read() {
    let features = table(90, 3);
    let of = |names: [&str; 3]| {
        let kind = |i: usize| names[i % 3].to_owned();
        let fit = fitted(&quick(), &with(&features, text("kind", (0..90).map(kind))), "kind");
        let fit = fit.unwrap();
        (fit.model.classes().unwrap().clone(), fit.report.notes)
    };
    let (zips, _) = of(["10001", "00501", "9"]);
    assert_eq!(zips.names, ["9", "00501", "10001"]);
    assert!(zips.numbers);
    assert_eq!([zips.number("501").unwrap(), zips.number("9.0").unwrap()], [1, 0]);
    let (floats, _) = of(["1e5", "1.0", "2.0"]);
    assert_eq!(floats.names, ["1.0", "2.0", "1e5"]);
    assert_eq!(floats.number("100000").unwrap(), 2);
    let (large, _) = of(["9007199254740993", "9007199254740992", "9007199254740994"]);
    assert_eq!(large.names.len(), 3);
    assert_eq!(large.number("9007199254740993").unwrap(), 1);
    // a spelling too many
    let (alike, notes) = of(["Yes", "yes ", "no"]);
    assert_eq!(alike.names.len(), 2);
    assert!(notes.iter().any(|note| note.contains("one class")), "{notes:?}");
    assert_eq!(alike.number("YES").unwrap(), 0);
    // a number in other tables is found by its value
    let kinds = (0..90).map(|i| ["1.0", "2.0", "1"][i % 3].to_owned());
    let table = with(&features, text("kind", kinds));
    let fit = fitted(&quick(), &table, "kind").unwrap();
    assert_eq!(fit.model.classes().unwrap().number("1").unwrap(), 0);
}

/// Texts that are numbers in every row are numbers, and many of them no classes.
#[test]
fn text_that_is_a_number_in_every_row_is_a_number() {
    let features = table(120, 3).drop_columns(["y"]).unwrap();
    let a = features.numbers("a").unwrap().to_vec();
    let y = text("y", a.iter().map(|a| format!("{:.3}", 10.0 * a)));
    for task in [Task::Auto, Task::Regression] {
        let fit = fitted(&Fit { task, ..quick() }, &with(&features, y.clone()), "y").unwrap();
        assert!(fit.model.classes().is_none() && fit.report.chosen.error < 0.2);
    }
    let few = text("y", a.iter().map(|a| if *a > 0.0 { "1" } else { "-1" }.to_owned()));
    let fit = fitted(&quick(), &with(&features, few), "y").unwrap();
    assert_eq!(fit.model.classes().unwrap().names, ["-1", "1"]);
    let words = text("y", a.iter().map(|a| if *a > 0.0 { "true" } else { "false" }.to_owned()));
    let fit = fitted(&quick(), &with(&features, words), "y").unwrap();
    assert_eq!(fit.model.classes().unwrap().names, ["false", "true"]);
}

/// Errors are of the population that weights describe, as probabilities are: a row that stands for
/// three counts three times.
#[test]
fn errors_of_classes_count_weights() {
    let p = |a: f64| 0.15 + 0.1 * a;
    let (table, labels) = drawn(1500, 15, p);
    let fit = Fit { class_weights: ClassWeights::Balanced, ..quick() };
    let balanced = fitted(&fit, &table, "kind").unwrap().report;
    // hardly anything can be learnt, so that half of the weight is wrong and the loss is ln 2
    let errors = balanced.classes.unwrap();
    assert!((errors.log_loss - 2.0_f64.ln()).abs() < 0.05, "{errors:?}");
    assert!((errors.error_rate - 0.5).abs() < 0.1, "{errors:?}");
    // by rows it is the entropy of 15 %
    let plain = fitted(&quick(), &table, "kind").unwrap().report.classes.unwrap();
    assert!((plain.log_loss - 0.42).abs() < 0.06, "{plain:?}");
    // numbers of repeats as weights, or the same of a column
    let times = |i: usize| 1 + 2 * labels[i];
    let rows: Vec<usize> = (0..1500).flat_map(|i| vec![i; times(i)]).collect();
    let repeated = table.select_rows(&rows).unwrap();
    let w = Column::numbers("w", (0..1500).map(|i| times(i) as f64).collect());
    let weighted = Fit { weights: Some("w".into()), ..quick() };
    let of_weights = fitted(&weighted, &with(&table, w), "kind").unwrap().report.classes.unwrap();
    let of_repeats = fitted(&quick(), &repeated, "kind").unwrap().report.classes.unwrap();
    // one in three by weight: 0.15·3/(0.85 + 0.45)
    let share: f64 = 0.45 / 1.3;
    let entropy = -share * share.ln() - (1.0 - share) * (1.0 - share).ln();
    for errors in [of_weights, of_repeats] {
        assert!((errors.log_loss - entropy).abs() < 0.05, "{errors:?} {entropy}");
    }
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
