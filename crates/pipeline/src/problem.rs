//! A table as a problem of regression: rows, standardised targets, weights, folds. Classes are
//! targets ±1.

use crate::classes::{ClassCounts, ClassWeights, Labels, as_numbers, is_classes};
use crate::columns::{ColumnOptions, ColumnSums, Columns, Missing, Shape, position};
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::intervals::{Calibrate, set_aside};
use crate::repeats;
use crate::split::{Fold, Split};
use crate::target::{Target, standardised};
use nystrom::faer::Mat;
use nystrom::prelude::*;
use nystrom_data::{Table, Values};
use std::collections::HashMap;

/// The fewest rows from which anything can be learnt.
pub(crate) const FEWEST: usize = 3;

/// What a search works on.
pub(crate) struct Problem {
    /// The rows that are used.
    pub table: Table,
    /// n × t, each target with mean 0 and standard deviation 1; those of classes together.
    pub y: Mat<f64>,
    pub targets: Vec<Target>,
    pub labels: Option<Labels>,
    pub weights: Option<Vec<f64>>,
    pub folds: Vec<Fold>,
    /// Rows that nothing but intervals may see.
    pub aside: Option<Table>,
    /// What was decided about the table.
    pub notes: Vec<String>,
    /// What is known of the columns of all rows, if these are a sample of them.
    pub exact: HashMap<String, ColumnSums>,
    taken: Vec<String>,
}

/// Why rows are left out, and how many of how many.
pub(crate) type LeftOut = Vec<(String, usize)>;

impl Problem {
    /// The rows, targets, weights and folds of a fit. `counts` are the classes of all rows where
    /// the table is a sample of them.
    ///
    /// # Randomness
    /// The permutation of the rows from which folds are cut.
    pub fn new(
        fit: &Fit,
        table: &Table,
        targets: &[String],
        counts: Option<&ClassCounts>,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let taken = taken(fit, targets)?;
        let mut notes = Vec::new();
        let classes = is_classes(fit.task, table, targets, counts, &mut notes)?;
        let numeric = if classes { None } else { numeric_targets(table, targets)? };
        let table = numeric.as_ref().unwrap_or(table);
        let (rows, left_out) = usable(fit, table, targets, &taken, classes)?;
        notes.extend(notes_of(&left_out, table.rows()));
        if let (Some(name), true) = (&fit.weights, rows.is_empty()) {
            refuse_no_weight(table, name)?;
        }
        let table =
            if rows.len() == table.rows() { table.clone() } else { table.select_rows(&rows)? };
        let of = |table: &Table| Labels::new(table, &targets[0], counts);
        let (table, aside) = match set_aside(fit.calibrate, &fit.split, &table, rng)? {
            Some(_) if classes && !calibrates_classes(fit) => {
                return Err(no_intervals(targets, "calibrate"));
            }
            Some(fold) if classes => parted(&table, &fold.with_every_class(&of(&table)?.of))?,
            Some(fold) => parted(&table, &fold)?,
            None => (table, None),
        };
        if fit.deviations && classes {
            return Err(no_intervals(targets, "std"));
        }
        refuse_parts_of_weights(fit)?;
        if table.rows() < FEWEST {
            return Err(Error::TooFewRows { rows: table.rows() });
        }
        let (table, weights) = weighted(fit, table, &taken, &mut notes)?;
        let labels = classes.then(|| of(&table)).transpose()?;
        notes.extend(labels.iter().flat_map(|labels| labels.notes.iter().cloned()));
        let (weights, (y, targets)) = match &labels {
            Some(labels) => {
                let weights = fit.class_weights.of(labels, weights)?;
                let indicators = labels.indicators(weights.as_deref());
                (weights, indicators)
            }
            None if fit.class_weights != ClassWeights::Equal => return Err(not_classes(targets)),
            None => {
                let standardised = standardised(&table, targets, weights.as_deref())?;
                (weights, standardised)
            }
        };
        let folds = folds(fit, &table, labels.as_ref(), &mut notes, rng)?;
        let exact = HashMap::new();
        Ok(Problem { table, y, targets, labels, weights, folds, aside, notes, exact, taken })
    }

    /// The columns under a shape, and the features of all rows, n × d.
    pub fn features(&self, options: &ColumnOptions, shape: Shape) -> Result<(Columns, Mat<f64>)> {
        let taken: Vec<&str> = self.taken.iter().map(String::as_str).collect();
        let exact = |name: &str| self.exact.get(name);
        let columns = Columns::fit_with(&self.table, options, &taken, shape, &exact)?;
        let x = columns.apply(&self.table)?.x;
        Ok((columns, x))
    }
}

/// The table with targets as numbers where they are texts that are all numbers; nothing if none
/// is.
fn numeric_targets(table: &Table, targets: &[String]) -> Result<Option<Table>> {
    let (mut columns, mut changed) = (table.columns().to_vec(), false);
    for name in targets {
        let at = position(table, name)?;
        if let Some(numbers) = as_numbers(&columns[at]) {
            (columns[at], changed) = (numbers, true);
        }
    }
    Ok(if changed { Some(Table::new(table.source(), columns)?) } else { None })
}

/// The columns that are no features because they have another use.
pub(crate) fn taken(fit: &Fit, targets: &[String]) -> Result<Vec<String>> {
    if targets.is_empty() {
        let problem = "which column is to be predicted? Name at least one".into();
        return Err(Error::Option { option: "target", problem });
    }
    let mut taken: Vec<String> = Vec::new();
    let others = fit.weights.iter().map(String::as_str).chain(fit.split.column());
    for name in targets.iter().map(String::as_str).chain(others) {
        if taken.iter().any(|other| other == name) {
            let (first, second) = ("a target, weight, group or time", "another of these");
            return Err(Error::UsedTwice { column: name.to_owned(), first, second });
        }
        taken.push(name.to_owned());
    }
    if let Some(name) = targets.iter().find(|name| fit.columns.drop.contains(name)) {
        let (first, second) = ("a target", "among those to drop");
        return Err(Error::UsedTwice { column: name.clone(), first, second });
    }
    Ok(taken)
}

/// The rows that have targets, weight, and (if asked for) all features.
pub(crate) fn usable(
    fit: &Fit,
    table: &Table,
    targets: &[String],
    taken: &[String],
    classes: bool,
) -> Result<(Vec<usize>, LeftOut)> {
    let n = table.rows();
    let (mut keep, mut left_out) = (vec![true; n], LeftOut::new());
    let mut leave = |rows: Vec<usize>, why: &str, keep: &mut Vec<bool>| {
        let left: Vec<usize> = rows.into_iter().filter(|&row| keep[row]).collect();
        left.iter().for_each(|&row| keep[row] = false);
        left_out.push((why.to_owned(), left.len()));
    };
    for name in targets {
        let gaps = match &table.columns()[position(table, name)?].values {
            Values::Categories(text) if classes => {
                (0..n).filter(|&row| text.codes[row].is_none()).collect()
            }
            _ => {
                let values = table.numbers(name.as_str())?;
                (0..n).filter(|&row| values[row].is_nan()).collect()
            }
        };
        leave(gaps, &format!("miss the target {name:?}"), &mut keep);
    }
    if let Some(name) = &fit.weights {
        position(table, name)?;
        let values = table.numbers(name.as_str())?;
        let none = (0..n).filter(|&row| values[row] == 0.0).collect();
        leave(none, "have the weight 0", &mut keep);
    }
    if fit.columns.missing == Missing::DropRows {
        let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
        let features = fit.columns.candidates(table, &taken)?;
        let gap = |row: usize, column: usize| match &table.columns()[column].values {
            Values::Numbers(values) => values[row].is_nan(),
            Values::Categories(text) => text.codes[row].is_none(),
        };
        let gaps = (0..n).filter(|&row| features.iter().any(|&column| gap(row, column))).collect();
        leave(gaps, "miss a feature", &mut keep);
    }
    Ok(((0..n).filter(|&row| keep[row]).collect(), left_out))
}

/// What is said of rows that are left out.
pub(crate) fn notes_of(left_out: &LeftOut, rows: usize) -> impl Iterator<Item = String> {
    let some = left_out.iter().filter(|(_, count)| *count > 0);
    some.map(move |(why, count)| format!("{count} of {rows} rows {why} and are left out"))
}

/// The folds, which have every class in proportion; a class that is in none of them is noted.
fn folds(
    fit: &Fit,
    table: &Table,
    labels: Option<&Labels>,
    notes: &mut Vec<String>,
    rng: &mut dyn Rng,
) -> Result<Vec<Fold>> {
    let folds = fit.split.folds_by(table, labels.map(|labels| &labels.of[..]), rng)?;
    if let (Some(labels), Split::Random) = (labels, &fit.split) {
        notes.extend(labels.unvalidated(folds.iter().map(|fold| &fold.validation[..])));
    }
    Ok(folds)
}

/// The rows to fit, and those set aside, if there are any.
fn parted(table: &Table, fold: &Fold) -> Result<(Table, Option<Table>)> {
    let aside = (!fold.validation.is_empty()).then(|| table.select_rows(&fold.validation));
    Ok((table.select_rows(&fold.train)?, aside.transpose()?))
}

fn refuse_parts_of_weights(fit: &Fit) -> Result<()> {
    if fit.weights.is_some()
        && matches!(fit.calibrate, Some(Calibrate::Cross(_) | Calibrate::LeaveOneOut))
    {
        let problem = "rows have weights, for which only a share such as 0.1 is known".into();
        return Err(Error::Option { option: "calibrate", problem });
    }
    Ok(())
}

fn refuse_no_weight(table: &Table, name: &str) -> Result<()> {
    let values = table.numbers(name)?;
    if !values.is_empty() && values.iter().all(|v| *v == 0.0) {
        return Err(Error::values(name, "is 0 in every row", "weights must not all be 0"));
    }
    Ok(())
}

fn weights(table: &Table, name: &str) -> Result<Vec<f64>> {
    let values = table.numbers(name)?;
    check_weights(name, values, |row| format!("row {}", row + 1))?;
    // with mean 1, so that λ means the same with and without
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Ok(values.iter().map(|w| w / mean).collect())
}

/// Refuses weights that are negative or not finite; `place` says where one is.
pub(crate) fn check_weights(
    name: &str,
    weights: &[f64],
    place: impl Fn(usize) -> String,
) -> Result<()> {
    match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        None => Ok(()),
        Some(i) => {
            let what = format!("has the weight {} in {}", weights[i], place(i));
            Err(Error::values(name, what, "weights are positive"))
        }
    }
}

/// The rows to fit and their weights: those of a column, or the numbers of equal rows.
fn weighted(
    fit: &Fit,
    table: Table,
    taken: &[String],
    notes: &mut Vec<String>,
) -> Result<(Table, Option<Vec<f64>>)> {
    if let Some(name) = &fit.weights {
        let weights = weights(&table, name)?;
        return Ok((table, Some(weights)));
    }
    if !takes_repeats_together(fit) {
        return Ok((table, None));
    }
    let distinct = repeats::distinct(&table, taken, &fit.columns)?;
    let Some((rows, numbers)) = distinct.filter(|(rows, _)| rows.len() >= FEWEST) else {
        return Ok((table, None));
    };
    let (all, different) = (table.rows(), rows.len());
    notes.push(format!(
        "{all} rows are {different} different ones: each is taken once, with the number of its \
         repeats as weight"
    ));
    let mean = all as f64 / different as f64;
    let weights = numbers.iter().map(|number| number / mean).collect();
    Ok((table.select_rows(&rows)?, Some(weights)))
}

/// Weights or what cannot have them, groups and times want the rows as they are.
fn takes_repeats_together(fit: &Fit) -> bool {
    fit.weights.is_none()
        && fit.split == Split::Random
        && !fit.deviations
        && !matches!(fit.calibrate, Some(Calibrate::Cross(_) | Calibrate::LeaveOneOut))
}

/// Probabilities are calibrated on rows set aside, all of which count alike.
fn calibrates_classes(fit: &Fit) -> bool {
    matches!(fit.calibrate, Some(Calibrate::Share(_)))
        && fit.weights.is_none()
        && fit.class_weights == ClassWeights::Equal
}

fn no_intervals(targets: &[String], option: &'static str) -> Error {
    let problem = format!(
        "the target {:?} is a class; its probabilities are calibrated by a share of rows without \
         weights, such as --calibrate 0.1, or on validation rows",
        targets[0]
    );
    Error::Option { option, problem }
}

fn not_classes(targets: &[String]) -> Error {
    let problem = format!("the target {:?} is a number and has no classes", targets[0]);
    Error::Option { option: "class-weights", problem }
}
