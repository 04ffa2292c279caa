//! Fits end to end.

use nystrom::prelude::*;
use nystrom_data::{Categories, Column, Table, Values};
use nystrom_pipeline::{Centers, Effort, Fit, Fitted, Model, Result};

pub fn quick() -> Fit {
    Fit { work: Some(1e8), ..Fit::default() }
}

pub fn fitted(fit: &Fit, table: &Table, target: &str) -> Result<Fitted> {
    fit.table(table, [target], &mut Pcg64::seed_from_u64(0))
}

/// A quick fit has the same bytes at any number of threads.
pub fn check_threads(table: &Table, target: &str) {
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fitted(&quick(), table, target).unwrap().model.to_bytes().unwrap())
    };
    assert!(bytes(1) == bytes(2));
}

/// Columns of numbers.
pub fn numbers<const N: usize>(names: [&str; N], columns: Vec<Vec<f64>>) -> Table {
    let named = names.into_iter().zip(columns);
    Table::new("t", named.map(|(name, values)| Column::numbers(name, values)).collect()).unwrap()
}

/// The table with this column, in place of that of its name if there is one.
pub fn with(table: &Table, column: Column) -> Table {
    let mut columns = table.columns().to_vec();
    match columns.iter_mut().find(|other| other.name == column.name) {
        Some(other) => *other = column,
        None => columns.push(column),
    }
    Table::new("t", columns).unwrap()
}

pub fn text(name: &str, values: impl IntoIterator<Item = String>) -> Column {
    let values: Vec<String> = values.into_iter().collect();
    let mut levels = values.clone();
    levels.sort();
    levels.dedup();
    let codes = values.iter().map(|v| levels.binary_search(v).ok().map(|c| c as u32)).collect();
    Column { name: name.into(), values: Values::Categories(Categories { levels, codes }) }
}

/// n rows of three features and y = sin 3a + b·c + noise.
pub fn table(n: usize, seed: u64) -> Table {
    let rng = &mut Pcg64::seed_from_u64(seed);
    let mut columns = vec![Vec::new(); 4];
    for _ in 0..n {
        let [a, b, c, noise] = std::array::from_fn(|_| rng.random::<f64>() * 2.0 - 1.0);
        let y = (3.0 * a).sin() + b * c + 0.1 * noise;
        columns.iter_mut().zip([a, b, c, y]).for_each(|(column, v)| column.push(v));
    }
    numbers(["a", "b", "c", "y"], columns)
}

#[test]
fn a_smooth_function_is_found_and_survives_its_file() {
    let (train, test) = (table(401, 1), table(200, 2)); // one row more than five equal folds have
    let fit = Fit { effort: Effort::Quick, ..Fit::default() };
    let fit = fitted(&fit, &train, "y").unwrap();
    let model = Model::from_bytes(&fit.model.to_bytes().unwrap()).unwrap();
    assert_eq!(model, fit.model);
    let f = model.predict(&test).unwrap().values;
    let y = test.numbers("y").unwrap();
    let square: f64 = (0..200).map(|i| (f[(i, 0)] - y[i]).powi(2)).sum::<f64>() / 200.0;
    assert!(square.sqrt() < 0.08, "{}: the noise has 0.058", square.sqrt());
    assert!(fit.report.chosen.error <= fit.report.plain_error);
}

/// Nine rows in ten lie together; what is to be learnt is among the others. All rows are not
/// affordable, and of landmarks at random most are of no use.
#[test]
fn landmarks_by_pivots_are_taken_where_they_are_better() {
    let rng = &mut Pcg64::seed_from_u64(5);
    let mut columns = vec![Vec::new(); 3];
    for i in 0..7000 {
        let width = if i % 10 == 0 { 1.0 } else { 0.01 };
        let [a, b, noise] = std::array::from_fn(|_| rng.random::<f64>() * 2.0 - 1.0);
        let (a, b) = (width * a, width * b);
        let y = (5.0 * a).sin() * (5.0 * b).cos() + 0.01 * noise;
        columns.iter_mut().zip([a, b, y]).for_each(|(column, v)| column.push(v));
    }
    let table = numbers(["a", "b", "y"], columns);
    let fit = Fit { work: Some(1e10), memory: Some(25_000_000), ..Fit::default() };
    let fit = fitted(&fit, &table, "y").unwrap();
    let Centers::Pivots(m) = fit.report.chosen.centers else {
        panic!("{}", fit.report.chosen.centers)
    };
    let compared = |centers: Centers| {
        let mut of = fit.report.trials.iter().filter(|trial| trial.centers == centers);
        of.next_back().unwrap().error
    };
    let few = m.div_ceil(3);
    assert!(compared(Centers::Pivots(few)) < compared(Centers::Uniform(few)));
    assert_eq!(fit.model.regression().centers().len(), m);
}

/// A fit to rows of which most are repeated is that to the different ones with their numbers as
/// weights: the same model, to the bit.
#[test]
fn repeated_rows_are_taken_together() {
    let once = table(300, 6);
    let number = |row: usize| 1 + row % 3;
    let rows: Vec<usize> = (0..300).flat_map(|row| vec![row; number(row)]).collect();
    let repeated = once.select_rows(&rows).unwrap();
    let w = Column::numbers("w", (0..300).map(|row| number(row) as f64).collect());
    let quick = Fit { effort: Effort::Quick, ..Fit::default() };
    let together = fitted(&quick, &repeated, "y").unwrap();
    let weighted = Fit { weights: Some("w".into()), ..quick };
    let weighted = fitted(&weighted, &with(&once, w), "y").unwrap();
    assert!(together.report.notes.iter().any(|note| note.contains("600 rows are 300 different")));
    let coefficients = |model: &Model| model.regression().coefficients().to_owned();
    assert_eq!(coefficients(&together.model), coefficients(&weighted.model));
}

/// The final fit iterates to the residual at which its own trial stood still, not to that of the
/// last one, and says whether it came there.
#[test]
fn final_iterations_end_at_the_residual_of_the_trial() {
    let (small, large) = (table(300, 1), table(1000, 2));
    let report = fitted(&quick(), &small, "y").unwrap().report;
    assert_eq!((report.iterations, report.chosen.residual), (None, None)); // solved directly
    let fit = Fit { work: Some(1e10), ..Fit::default() };
    let report = fitted(&fit, &large, "y").unwrap().report;
    assert_eq!(report.chosen.centers, Centers::All);
    let (end, residual) = (report.iterations.unwrap(), report.chosen.residual.unwrap());
    assert_eq!(end.tolerance, residual.clamp(1e-5, 1e-2));
    assert_eq!(end.converged, end.residual <= end.tolerance);
    let others = report.trials.iter().filter_map(|trial| trial.residual);
    assert!(others.clone().count() > 1 && others.into_iter().any(|other| other != residual));
    let fit = Fit { calibrate: Some(nystrom_pipeline::Calibrate::Cross(3)), ..fit };
    let report = fitted(&fit, &large, "y").unwrap().report;
    assert!(report.iterations.unwrap().converged);
}

/// More than eight targets are compared by random combinations of them, and then all fitted.
#[test]
fn many_targets_are_compared_by_combinations_and_fitted_one_by_one() {
    const TARGETS: usize = 12;
    let plain = table(400, 8);
    let [a, b, c] = ["a", "b", "c"].map(|name| plain.numbers(name).unwrap().to_vec());
    let y = |k: usize, i: usize| ((1 + k % 4) as f64 * a[i] + k as f64).sin() + b[i] * c[i];
    let names: Vec<String> = (0..TARGETS).map(|k| format!("y{k}")).collect();
    let found = |targets: &[String]| {
        let columns = (0..targets.len()).map(|k| (0..400).map(|i| y(k, i)).collect());
        let columns = targets.iter().zip(columns).map(|(name, y)| Column::numbers(name, y));
        let table = columns
            .fold(numbers(["a", "b", "c"], vec![a.clone(), b.clone(), c.clone()]), {
                |table, column| with(&table, column)
            });
        let fit = Fit { work: Some(1e11), memory: Some(1 << 30), ..Fit::default() };
        fit.table(&table, targets.to_vec(), &mut Pcg64::seed_from_u64(1)).unwrap()
    };
    let Fitted { model, report, .. } = found(&names);
    assert_eq!(model.targets().len(), TARGETS);
    assert!(report.trials.iter().any(|trial| trial.combined) && !report.chosen.combined);
    assert!(report.work <= report.work_allowed, "{} {}", report.work, report.work_allowed);
    // without noise: as good as for a few of the targets, which are compared themselves
    assert!(report.chosen.error < 0.02, "{}", report.chosen.error);
    let few = found(&names[..8]).report;
    assert!(few.trials.iter().all(|trial| !trial.combined));
    assert!(
        report.chosen.error < 3.0 * few.chosen.error,
        "{} {}",
        report.chosen.error,
        few.chosen.error
    );
}
