//! Importances, effects and partial dependence against what they are by definition.

use crate::fit::{fitted, quick, table, text, with};
use nystrom_data::{Column, Table};
use nystrom_pipeline::{Centers, Dependence, Explanation, Fit, Fitted, Grid, Model, Task};

/// The mean of an output of the model over the rows.
fn mean(model: &Model, table: &Table, output: usize) -> f64 {
    let n = table.rows() as f64;
    let prediction = model.predict(table).unwrap();
    match prediction.probabilities {
        Some(p) if p.ncols() == 2 => p.col(1).sum() / n,
        Some(p) => p.col(output).sum() / n,
        None => prediction.values.col(output).sum() / n,
    }
}

/// Effects are the differences that a small step makes, and dependence is what it says.
pub fn check(model: &Model, rows: &Table) -> Explanation {
    let explanation = model.explain(rows).unwrap();
    let total: f64 = explanation.columns.iter().map(|column| column.importance()).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    for influence in &explanation.columns {
        let values = rows.numbers(influence.column.as_str()).unwrap().to_vec();
        for (output, effect) in influence.effects.iter().enumerate() {
            let h = 1e-6; // between the knots of curves
            let moved = |step: f64| {
                let moved = values.iter().map(|v| v + step).collect();
                let moved = Column::numbers(&influence.column, moved);
                mean(model, &with(rows, moved), output)
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            let scale = effect.standard_error.unwrap() + slope.abs();
            assert!((effect.mean - slope).abs() < 1e-2 * scale + 1e-6, "{influence:?} {slope}");
        }
        let Some(Dependence { at: Grid::Numbers(at), means, .. }) = &influence.dependence else {
            panic!("a column of numbers")
        };
        let first = rows.select_rows(&Vec::from_iter(0..rows.rows().min(100))).unwrap();
        for (output, means) in means.iter().enumerate() {
            let same = Column::numbers(&influence.column, vec![at[1]; first.rows()]);
            let same = mean(model, &with(&first, same), output);
            assert!((means[1].mean - same).abs() < 1e-9);
        }
    }
    explanation
}

#[test]
fn effects_of_numbers_are_small_differences() {
    let model = fitted(&quick(), &table(300, 1), "y").unwrap().model;
    let explanation = check(&model, &table(150, 2));
    assert_eq!((explanation.rows, &explanation.outputs[..]), (150, &["y".to_owned()][..]));
    assert_eq!(explanation.columns[0].column, "a"); // sin 3a varies most
}

#[test]
fn effects_on_probabilities_are_small_differences() {
    let table = table(300, 3);
    let kinds = |classes: usize| {
        let y = table.numbers("y").unwrap();
        let class = |y: &f64| ((y + 1.0) * classes as f64 / 2.0).clamp(0.0, classes as f64 - 1.0);
        with(&table, Column::numbers("y", y.iter().map(|y| class(y).floor()).collect()))
    };
    for classes in [2, 3] {
        let fit = Fit { task: Task::Classification, ..quick() };
        let model = fitted(&fit, &kinds(classes), "y").unwrap().model;
        let explanation = check(&model, &table.select_rows(&Vec::from_iter(0..100)).unwrap());
        assert_eq!(explanation.outputs.len(), if classes == 2 { 1 } else { 3 });
    }
}

/// A skewed column goes through a curve, whose slope belongs to the effect.
#[test]
fn effects_of_skewed_columns_follow_their_curve() {
    let mut plain = table(400, 4);
    let a = plain.numbers("a").unwrap().to_vec();
    plain = with(&plain, Column::numbers("a", a.iter().map(|a| (4.0 * a).exp()).collect()));
    let y = Column::numbers("y", a.iter().map(|a| 4.0 * a).collect());
    let model = fitted(&quick(), &with(&plain, y), "y").unwrap().model;
    check(&model, &plain.select_rows(&Vec::from_iter(0..100)).unwrap());
}

#[test]
fn levels_count_together_and_missing_values_are_left_out() {
    let plain = table(200, 5);
    let colour = text("colour", (0..200).map(|i| ["blue", "green", "red"][i % 3].into()));
    let y = (0..200).map(|i| f64::from(i % 3) + 0.01 * f64::from(i % 7)).collect();
    let mut a = plain.numbers("a").unwrap().to_vec();
    a[..20].fill(f64::NAN);
    let columns = [colour, Column::numbers("y", y), Column::numbers("a", a)];
    let table = columns.into_iter().fold(plain, |table, column| with(&table, column));
    let model = fitted(&quick(), &table, "y").unwrap().model;
    let explanation = model.explanation.as_ref().unwrap();
    assert_eq!(explanation.columns.len(), 4);
    let first = &explanation.columns[0];
    assert!(first.column == "colour" && first.importance() > 0.8 && first.effects.is_empty());
    let Some(Dependence { at: Grid::Levels(at), means, .. }) = &first.dependence else {
        panic!("{first:?}")
    };
    assert_eq!(at, &["blue", "green", "red"]);
    (0..3).for_each(|k| assert!((means[0][k].mean - k as f64 - 0.03).abs() < 0.1, "{means:?}"));
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.explanation, model.explanation);
}

#[test]
fn the_report_has_what_a_page_shows() {
    let Fitted { model, report, .. } = fitted(&quick(), &table(300, 6), "y").unwrap();
    let validation = report.validation.unwrap();
    assert_eq!((validation.rows, validation.folds), (300, 5));
    let compared = &validation.targets[0];
    let square = |(y, f): (&f64, &f64)| (y - f).powi(2);
    let mean = compared.actual.iter().zip(&compared.predicted).map(square).sum::<f64>() / 300.0;
    let rmse = report.chosen.error * model.targets()[0].scale;
    assert!((mean.sqrt() / rmse - 1.0).abs() < 1e-6, "{mean} {rmse}");
    assert!(report.trials.iter().all(|trial| trial.work > 0.0 && trial.errors.len() > 2));
    let least = |errors: &[[f64; 2]]| errors.iter().map(|e| e[1]).fold(f64::INFINITY, f64::min);
    for trial in report.trials.iter().filter(|trial| trial.centers == Centers::All) {
        assert!((least(&trial.errors) / trial.error - 1.0).abs() < 1e-3, "{trial:?}");
    }
    for curve in [&report.curves.rows, &report.curves.landmarks] {
        assert!(!curve.is_empty() && curve.iter().all(|point| point.error > 0.0), "{curve:?}");
    }
}

#[test]
fn a_table_without_rows_is_an_error() {
    let model = fitted(&quick(), &table(100, 7), "y").unwrap().model;
    assert!(model.explain(&table(1, 8)).unwrap().columns[0].effects[0].standard_error.is_none());
    let none = table(1, 8).select_rows(&[]).unwrap();
    assert!(model.explain(&none).is_err());
}
