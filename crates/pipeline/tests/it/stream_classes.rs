//! Classes of tables that come block by block: probabilities of the model that is saved.

use crate::classes::drawn;
use crate::fit::{text, with};
use crate::ranks::{job, part};
use crate::stream::LAMBDAS;
use nystrom::faer::Mat;
use nystrom::krr::{Extras, IterativeOptions};
use nystrom::prelude::*;
use nystrom_data::{Column, Table};
use nystrom_pipeline::{
    Alone, ClassErrors, Family, Fit, Model, Ranks, Recipe, StreamFit, StreamReport, TableBlocks,
};

fn steep(a: f64) -> f64 {
    1.0 / (1.0 + (-6.0 * a).exp())
}

fn stream(reservoir: usize, landmarks: usize) -> StreamFit {
    StreamFit { fit: Fit::default(), reservoir, landmarks }
}

/// How λ is found, and the sums or iterations of the fit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Gcv,
    LeaveOneOut,
    Folds,
    Given(f64),
    Logistic,
    Iterations(f64),
    AllRows(f64),
}

fn recipe(stream: &StreamFit, table: &Table, how: How, seed: u64) -> Recipe {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let source = &mut TableBlocks::new(table, 700);
    let survey = stream.survey(source, ["kind"], rng).unwrap();
    let (model, _) = stream.with_kernel(&survey, (Family::Gaussian, None), rng).unwrap();
    match how {
        How::AllRows(_) => stream.recipe_of_all(&survey, model).unwrap(),
        _ => stream.recipe(&survey, model, rng).unwrap(),
    }
}

/// The model, on process 0.
fn finished(
    recipe: &Recipe,
    table: &Table,
    how: How,
    ranks: &dyn Ranks,
) -> Option<(Model, StreamReport)> {
    let source = &mut TableBlocks::new(table, 900);
    let rng = &mut Pcg64::seed_from_u64(5);
    if let How::Folds = how {
        let mut sum = recipe.folds_after(ranks, &[], 4, rng).unwrap();
        sum.run(source, &mut |_| Ok(())).unwrap();
        sum.merge_over(ranks).unwrap();
        return (ranks.rank() == 0).then(|| sum.by_folds(&LAMBDAS).unwrap());
    }
    if let How::Iterations(lambda) | How::AllRows(lambda) = how {
        let options = IterativeOptions { tolerance: 1e-6, ..IterativeOptions::default() };
        let (model, report, _) =
            recipe.iterate_over(ranks, source, (lambda, options), Extras::default(), rng).unwrap();
        return (ranks.rank() == 0).then_some((model, report));
    }
    let mut sum = recipe.sum_after(ranks, &[]).unwrap();
    sum.run(source, &mut |_| Ok(())).unwrap();
    let lambdas = if let How::Given(lambda) = how { vec![lambda] } else { LAMBDAS.to_vec() };
    let path = sum.path_over(ranks, &lambdas).unwrap();
    if how == How::LeaveOneOut {
        let mut errors = path.errors_over(ranks).unwrap();
        errors.run(source, &mut |_| Ok(())).unwrap();
        errors.merge_over(ranks).unwrap();
        return (ranks.rank() == 0).then(|| path.by_leave_one_out(errors).unwrap());
    }
    let found = (ranks.rank() == 0).then(|| path.by_gcv().unwrap());
    match how {
        How::Logistic => recipe.logistic_over(ranks, source, found, &LAMBDAS).unwrap(),
        _ => found,
    }
}

fn fitted(stream: &StreamFit, table: &Table, how: How, seed: u64) -> (Model, StreamReport) {
    finished(&recipe(stream, table, how, seed), table, how, &Alone).unwrap()
}

fn errors(model: &Model, test: &(Table, Vec<usize>)) -> ClassErrors {
    ClassErrors::of(model.probabilities(&test.0).unwrap().as_ref(), &test.1, None)
}

/// 20 tables: the report's loss is that of new rows, and probabilities are right there.
#[test]
fn probabilities_are_those_of_new_rows() {
    let test = drawn(4000, 999, steep);
    let seeds = 20;
    for how in [How::Gcv, How::LeaveOneOut, How::Folds, How::Given(1e-7), How::Iterations(1e-4)] {
        let (mut gap, mut calibration) = (0.0, 0.0);
        for seed in 0..seeds {
            let (table, _) = drawn(1200, seed, steep);
            let (model, report) = fitted(&stream(400, 60), &table, how, seed);
            assert!(!model.made.logistic);
            let (said, found) = (report.classes.unwrap(), errors(&model, &test));
            gap += (said.log_loss - found.log_loss) / seeds as f64;
            calibration += found.calibration_error / seeds as f64;
        }
        // −ln p has a deviation of 0.5: over 20 times 400 rows 0.006, over the 4000 new rows 0.008,
        // over 20 times 80 rows of iterations 0.013. Four deviations, and what two numbers
        // cost that were fitted to the same rows
        let rows = if how == How::Iterations(1e-4) { 80.0 } else { 400.0 };
        let deviation = 0.5 * (1.0 / (20.0 * rows) + 1.0 / 4000.0_f64).sqrt();
        assert!(gap.abs() < 4.0 * deviation + 2.0 / rows, "{how:?}: {gap}");
        // 15 bins of 267 rows, 0.025 each, and as much for what is fitted
        assert!(calibration < 0.05, "{how:?}: {calibration}");
    }
}

/// Where probabilities are steep in a few rows the logistic loss is better: the model and its loss
/// are those of it, near the least loss there is.
#[test]
fn the_logistic_loss_is_streamed_where_it_is_better() {
    let sharp = |a: f64| 1.0 / (1.0 + (-40.0 * (a - 0.7)).exp());
    let (train, test) = (drawn(3000, 5, sharp), drawn(4000, 6, sharp));
    let stream = stream(1500, 80);
    let recipe = recipe(&stream, &train.0, How::Logistic, 3);
    assert!(recipe.tries_logistic());
    let (squares, _) = finished(&recipe, &train.0, How::Gcv, &Alone).unwrap();
    let (model, report) = finished(&recipe, &train.0, How::Logistic, &Alone).unwrap();
    assert!(model.made.logistic && !squares.made.logistic);
    let said = report.classes.unwrap();
    assert!(said.log_loss < report.squares_log_loss.unwrap(), "{report:?}");
    let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let [found, of_squares] = [&model, &squares].map(|model| errors(model, &test).log_loss);
    let a = test.0.numbers("a").unwrap();
    let of = |i: usize, k: usize| if k == 1 { sharp(a[i]) } else { 1.0 - sharp(a[i]) };
    let truth = Mat::from_fn(4000, 2, of);
    let least = ClassErrors::of(truth.as_ref(), &test.1, None).log_loss;
    assert!(found < of_squares && found < least + 0.02, "{found} {of_squares} {least}");
    // −ln p has a deviation of 0.35 here: over 1500 and 4000 rows 0.01, and four times that
    assert!((said.log_loss - found).abs() < 0.04, "{said:?} {found}");
}

/// Every row four times, and classes by chance: values of fits that saw the copies would be sure.
#[test]
fn copies_are_left_out_together() {
    let chance = |_: f64| 0.3;
    let test = drawn(3000, 998, chance);
    let entropy = -(0.3 * 0.3_f64.ln() + 0.7 * 0.7_f64.ln());
    for how in [How::Given(1e-6), How::Iterations(1e-5), How::AllRows(1e-4)] {
        let (once, _) = drawn(300, 7, chance);
        let rows: Vec<usize> = (0..1200).map(|i| i % 300).collect();
        let table = once.select_rows(&rows).unwrap();
        let (model, report) = fitted(&stream(2000, 150), &table, how, 1);
        let (said, found) = (report.classes.unwrap(), errors(&model, &test));
        // a share of 300 rows has a deviation of 0.026, which costs its square/(2·0.21); the slope
        // costs as much. Of 60 rows that are left out it is five times that
        assert!(found.log_loss < entropy + 0.06, "{how:?}: {found:?} {entropy}");
        assert!(said.log_loss > entropy - 0.12, "{how:?}: {said:?}");
        let held = model.made.held_out;
        assert_eq!(held > 0, !matches!(how, How::Given(_)), "{held}");
    }
}

/// Rows left out are those of all processes, as are sums: the same bits.
#[test]
fn any_number_of_processes_gives_the_same_classes() {
    let (table, _) = drawn(9000, 3, steep); // five leaves
    let all_rows = table.select_rows(&(0..1500).collect::<Vec<_>>()).unwrap();
    for (how, table) in [
        (How::Gcv, &table),
        (How::LeaveOneOut, &table),
        (How::Folds, &table),
        (How::Logistic, &table),
        (How::Iterations(1e-4), &table),
        (How::AllRows(1e-3), &all_rows),
    ] {
        let stream = stream(400, 40);
        let alone = fitted(&stream, table, how, 3);
        for size in [2, 3] {
            let models = job(size, |ranks| {
                let rng = &mut Pcg64::seed_from_u64(3);
                let rows = part(table.rows(), ranks);
                let mine = table.select_rows(&rows.clone().collect::<Vec<_>>()).unwrap();
                let source = (&mut TableBlocks::new(&mine, 700) as _, rows.start as u64);
                let survey = stream.survey_over(ranks, source, vec!["kind".into()], rng);
                let bytes = survey.unwrap().map_or_else(Vec::new, |survey| {
                    let (model, _) =
                        stream.with_kernel(&survey, (Family::Gaussian, None), rng).unwrap();
                    let recipe = match how {
                        How::AllRows(_) => stream.recipe_of_all(&survey, model),
                        _ => stream.recipe(&survey, model, rng),
                    };
                    recipe.unwrap().to_bytes("job").unwrap()
                });
                let recipe =
                    Recipe::from_bytes(&stream.fit, "job", &ranks.broadcast(bytes)).unwrap();
                finished(&recipe, table, how, ranks)
            });
            let (model, report) = models[0].as_ref().unwrap();
            assert!(*model == alone.0 && *report == alone.1, "{how:?}: {size} processes");
        }
    }
}

/// Classes are those of all rows, also those that the sample lacks or holds once.
#[test]
fn classes_of_all_rows_are_known() {
    let (plain, labels) = drawn(3000, 4, steep);
    let a = plain.numbers("a").unwrap().to_vec();
    for rare in [1, 2, 40] {
        let class = |i: usize| if i.is_multiple_of(3000 / rare) { 2 } else { labels[i] };
        let words = text("kind", (0..3000).map(|i| ["one", "two", "zero"][class(i)].to_owned()));
        let numbers = Column::numbers("kind", (0..3000).map(|i| class(i) as f64).collect());
        for (column, last) in [(words, "zero"), (numbers, "2")] {
            let table = with(&plain, column);
            for seed in 0..3 {
                let stream = stream(100, 40);
                let (model, report) = fitted(&stream, &table, How::Gcv, seed);
                let classes = model.classes().unwrap();
                assert_eq!(classes.names.len(), 3);
                assert_eq!(classes.number(last).unwrap(), 2);
                assert!(report.classes.unwrap().log_loss.is_finite());
                let p = model.probabilities(&table).unwrap();
                let right = (0..3000).filter(|&i| (p[(i, 1)] > p[(i, 0)]) == (a[i] > 0.0)).count();
                // the border is fitted to 3000 rows: three in a hundred are on its wrong side
                assert!(right > 2850, "{right}");
                let of_rare = (0..3000).map(|i| p[(i, 2)]).sum::<f64>() / 3000.0;
                assert!(of_rare < 0.1, "{of_rare}");
                let (model, _) = fitted(&stream, &table, How::Iterations(1e-4), seed);
                assert_eq!(model.classes().unwrap().names.len(), 3);
            }
        }
    }
    // a search finds them as well
    let odd = (0..3000).map(|i| if i == 77 { "odd" } else { ["one", "two"][labels[i]] }.to_owned());
    let table = with(&plain, text("kind", odd));
    let stream = StreamFit { fit: Fit { work: Some(1e8), ..Fit::default() }, ..stream(100, 30) };
    let rng = &mut Pcg64::seed_from_u64(3);
    let source = &mut TableBlocks::new(&table, 1000);
    let survey = stream.survey(source, ["kind"], rng).unwrap();
    let found = stream.search(&survey, &mut (), rng).unwrap();
    assert!(found.report.logistic.is_none() && !found.model.made.logistic);
    let recipe = stream.recipe(&survey, found.model, rng).unwrap();
    let (model, _) = finished(&recipe, &table, How::Gcv, &Alone).unwrap();
    assert_eq!(model.classes().unwrap().names, ["odd", "one", "two"]);
}

/// Probabilities and their errors are those of the population that weights describe.
#[test]
fn weights_count() {
    let fit = Fit { weights: Some("w".into()), ..Fit::default() };
    let stream = StreamFit { fit, ..stream(1000, 40) };
    for how in [How::Gcv, How::Iterations(1e-3)] {
        let mut mean = 0.0;
        for seed in 0..8 {
            let (table, labels) = drawn(4000, seed, |_| 0.15);
            let w = labels.iter().map(|&k| [1.0, 0.85 / 0.15][k]).collect();
            let table = with(&table, Column::numbers("w", w));
            let (model, report) = fitted(&stream, &table, how, seed);
            let said = report.classes.unwrap();
            // both classes weigh the same, and nothing else can be learnt; of the 30 rows that 200
            // have of the second its share has a deviation of 0.25/√30 = 0.046, which costs twice
            // its square
            assert!((said.log_loss - 2.0_f64.ln()).abs() < 0.06, "{how:?}: {said:?}");
            let p = model.probabilities(&table).unwrap();
            mean += (0..4000).map(|i| p[(i, 1)]).sum::<f64>() / (8.0 * 4000.0);
        }
        // four deviations 0.046/√8, by which the share of eight tables is off too, at most half
        // as much; and 0.013 by which no class is quite sure
        assert!((mean - 0.5).abs() < 0.08, "{how:?}: {mean}");
    }
}
