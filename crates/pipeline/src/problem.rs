//! A table as a problem of regression: rows, standardised targets, weights, folds. Classes are
//! targets ±1.

use crate::classes::{ClassCounts, ClassWeights, Labels};
use crate::columns::{
    ColumnOptions, ColumnSums, Columns, Known, Looked, LookedColumn, Marks, Missing, Reading,
    Shape, TAKEN, Training, column_of, position,
};
use crate::copied_rows;
use crate::error::{Error, Result, place};
use crate::features::Features;
use crate::fit::Fit;
use crate::intervals::{Calibrate, set_aside};
use crate::numbers::{Numbered, refuse_no_weight, weights_of};
use crate::split::{Fold, Split};
use crate::target::{Target, TargetScale, standardised};
use nystrom::faer::Mat;
use nystrom::prelude::*;
use nystrom_data::{Cell, Column, Table, Values};
use std::collections::HashMap;

/// The fewest rows from which anything can be learnt.
pub(crate) const FEWEST: usize = 3;

/// The rows, targets, weights and folds of a search.
pub(crate) struct TableProblem {
    /// The rows that are used.
    pub table: Table,
    /// The targets, n × t, with mean 0 and standard deviation 1; the functions of classes have
    /// standard deviation 1 together.
    pub y: Mat<f64>,
    pub targets: Vec<Target>,
    pub labels: Option<Labels>,
    pub weights: Option<Vec<f64>>,
    pub folds: Vec<Fold>,
    /// The rows set aside for intervals, on which nothing else may depend.
    pub aside: Option<WeightedTable>,
    /// Notes about decisions on the table.
    pub notes: Vec<String>,
    /// The sums of the columns over all rows, if the table is a sample.
    pub exact: HashMap<String, ColumnSums>,
    /// The readings of the columns.
    pub looked: Looked,
    /// Whether the table is a sample in which some rows are copies of others.
    pub copies_in_sample: bool,
    /// The readings of the targets that are numbers.
    readings: Vec<(String, Reading)>,
}

/// Rows with their weights.
pub(crate) struct WeightedTable {
    pub table: Table,
    /// The weights, in units in which those of the training rows have mean 1.
    pub weights: Option<Vec<f64>>,
}

impl WeightedTable {
    /// These rows, with weights divided by `mean`.
    fn select(&self, rows: &[usize], mean: f64) -> Result<WeightedTable> {
        let weights = self.weights.as_ref();
        let weights = weights.map(|w| rows.iter().map(|&row| w[row] / mean).collect());
        Ok(WeightedTable { table: self.table.select_rows(rows)?, weights })
    }

    /// The rows for training, with weights of mean 1, and those set aside.
    fn split(&self, Fold { train, validation }: &Fold) -> Result<(WeightedTable, WeightedTable)> {
        let mean = self
            .weights
            .as_ref()
            .map_or(1.0, |w| train.iter().map(|&row| w[row]).sum::<f64>() / train.len() as f64);
        Ok((self.select(train, mean)?, self.select(validation, mean)?))
    }
}

/// The reasons why rows are left out, each with the number of rows.
pub(crate) type LeftOut = Vec<(String, usize)>;

impl TableProblem {
    /// The rows, targets, weights and folds of a fit. If the table is a sample, `counts` are the
    /// classes of all rows and `exact` the sums of their columns.
    ///
    /// # Randomness
    /// The permutation of the rows from which folds are cut.
    pub fn new(
        fit: &Fit,
        table: &Table,
        targets: &[String],
        (counts, exact): (Option<&ClassCounts>, &HashMap<String, ColumnSums>),
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let taken = taken(fit, targets)?;
        let (numbered, classes) = Numbered::with_task(fit, table, targets, counts)?;
        let Numbered { table, readings, mut notes } = numbered;
        let mut looked = look(fit, &table, &taken, exact)?;
        notes.extend(looked.notes.iter().cloned());
        // a sample leaves out what the blocks of all rows do
        let of_all = exact.is_empty().then_some(&looked);
        let (rows, left_out) = usable(fit, &table, (targets, &taken), classes, of_all)?;
        check_rows(fit, &table, &rows)?;
        notes.extend(notes_of(&left_out, table.rows()));
        if let (Some(name), true) = (&fit.weights, rows.is_empty()) {
            refuse_no_weight(&table, name)?;
        }
        let table = match rows.len() == table.rows() {
            true => table.into_owned(),
            false => table.select_rows(&rows)?,
        };
        let compared = compared(fit, &mut looked, &table, targets)?;
        let (all, used) = (table.rows(), weighted(fit, table, &compared, &mut notes)?);
        let copies_in_sample = !exact.is_empty() && used.table.rows() < all;
        let of = |table: &Table| Labels::new(table, &targets[0], counts);
        let labels: Option<&LabelsOf<'_>> = classes.then_some(&of);
        let (WeightedTable { table, weights }, aside) = parts(fit, used, targets, labels, rng)?;
        let labels = labels.map(|of| of(&table)).transpose()?;
        notes.extend(labels.iter().flat_map(|labels| labels.notes.iter().cloned()));
        let weights = match &labels {
            Some(labels) => fit.class_weights.of(labels, weights)?,
            None if fit.class_weights != ClassWeights::Equal => return Err(not_classes(targets)),
            None => weights,
        };
        let (y, targets) = match &labels {
            Some(labels) => labels.indicators(weights.as_deref()),
            None => standardised(&table, None, targets, weights.as_deref(), TargetScale::Plain)?,
        };
        let folds = folds(fit, &table, labels.as_ref(), &mut notes, rng)?;
        Ok(TableProblem {
            table,
            y,
            targets,
            labels,
            weights,
            folds,
            aside,
            notes,
            exact: exact.clone(),
            looked,
            copies_in_sample,
            readings,
        })
    }

    /// The targets on a scale, n × t, if they are numbers.
    ///
    /// # Errors
    /// Those of [`standardised`].
    pub fn on_scale(&self, fit: &Fit, scale: TargetScale) -> Result<(Mat<f64>, Vec<Target>)> {
        let later = matches!(fit.calibrate, Some(Calibrate::Cross(_) | Calibrate::LeaveOneOut));
        let others = self.aside.as_ref().filter(|_| later).map(|aside| &aside.table);
        let names: Vec<String> = self.targets.iter().map(|target| target.name.clone()).collect();
        standardised(&self.table, others, &names, self.weights.as_deref(), scale)
    }

    /// The columns of a shape, fitted to these rows (`None`: all), and the features of all rows.
    pub fn features(
        &self,
        options: &ColumnOptions,
        shape: Shape,
        rows: Option<&[usize]>,
    ) -> Result<(Columns, Features)> {
        let table = &self.table;
        let exact = |name: &str| self.exact.get(name).filter(|_| rows.is_none());
        let known = Known { y: self.y.as_ref(), weights: self.weights.as_deref() };
        let training = Training { table, rows, known: Some(known), exact: &exact };
        let mut columns = Columns::fit_to(&self.looked, options, shape, training)?;
        columns.targets.clone_from(&self.readings);
        let Some(rows) = rows.filter(|_| columns.has_means()) else {
            let own = rows.is_none().then_some(known);
            let (x, _) = columns.features_of(table, own)?;
            return Ok((columns, x));
        };
        let (mut x, own) = (columns.apply(table)?.x, columns.apply_to(table, Some(known))?.x);
        for &row in rows {
            (0..x.ncols()).for_each(|k| x[(row, k)] = own[(row, k)]);
        }
        Ok((columns, x.into()))
    }
}

/// The classes of the rows of a table.
type LabelsOf<'a> = dyn Fn(&Table) -> Result<Labels> + 'a;

/// The rows that are fitted, their weights, and the rows that are set aside.
fn parts(
    fit: &Fit,
    used: WeightedTable,
    targets: &[String],
    labels: Option<&LabelsOf<'_>>,
    rng: &mut dyn Rng,
) -> Result<(WeightedTable, Option<WeightedTable>)> {
    let aside = set_aside(fit.calibrate, &fit.split, used.table.rows(), rng)?;
    if aside.is_some() && labels.is_some() && !calibrates_classes(fit) {
        return Err(no_intervals(targets, "calibrate"));
    }
    if fit.deviations && labels.is_some() {
        return Err(no_intervals(targets, "std"));
    }
    let fold = match (aside, labels) {
        (Some(fold), Some(of)) => Some(fold.with_every_class(&of(&used.table)?.of)),
        (fold, _) => fold,
    };
    let (used, aside) = match fold {
        Some(fold) => used.split(&fold).map(|(used, aside)| (used, Some(aside)))?,
        None => (used, None),
    };
    if used.table.rows() < FEWEST {
        return Err(Error::TooFewRows { rows: used.table.rows() });
    }
    Ok((used, aside))
}

pub(crate) fn look(
    fit: &Fit,
    table: &Table,
    taken: &[String],
    exact: &HashMap<String, ColumnSums>,
) -> Result<Looked> {
    Looked::at(table, &fit.columns, taken, &|name| exact.get(name))
}

/// The columns in which rows must agree to be copies.
pub(crate) fn compared(
    fit: &Fit,
    looked: &mut Looked,
    table: &Table,
    targets: &[String],
) -> Result<Vec<String>> {
    let others = targets.iter().map(String::as_str).chain(fit.split.column());
    looked.compared(table, &others.collect::<Vec<_>>())
}

/// The columns that have another use and are no features.
pub(crate) fn taken(fit: &Fit, targets: &[String]) -> Result<Vec<String>> {
    if targets.is_empty() {
        let problem = "no target is named; name at least one column to predict".into();
        return Err(Error::Option { option: "target", problem });
    }
    let mut taken: Vec<String> = Vec::new();
    let others = fit.weights.iter().map(String::as_str).chain(fit.split.column());
    for name in targets.iter().map(String::as_str).chain(others) {
        if taken.iter().any(|other| other == name) {
            let (first, second) = (TAKEN, "as another of these four");
            return Err(Error::used_twice(name, first, second));
        }
        taken.push(name.to_owned());
    }
    if let Some(name) = targets.iter().find(|name| fit.columns.drop.contains(name)) {
        return Err(Error::used_twice(name, "as a target", "as a column to drop"));
    }
    Ok(taken)
}

/// The rows that have targets, a weight, and with [`Missing::DropRows`] all features; and the rows
/// left out. With `looked`, a cell such as `-` is missing if its column holds numbers or dates.
/// Without it, as for a block, only empty cells are missing.
pub(crate) fn usable(
    fit: &Fit,
    table: &Table,
    (targets, taken): (&[String], &[String]),
    classes: bool,
    looked: Option<&Looked>,
) -> Result<(Vec<usize>, LeftOut)> {
    let n = table.rows();
    let (mut keep, mut left_out) = (vec![true; n], LeftOut::new());
    let mut leave = |rows: Vec<usize>, why: &str, keep: &mut Vec<bool>| {
        let left: Vec<usize> = rows.into_iter().filter(|&row| keep[row]).collect();
        left.iter().for_each(|&row| keep[row] = false);
        left_out.push((why.to_owned(), left.len()));
    };
    for name in targets {
        let gaps = match &column_of(table, name)?.values {
            Values::Categories(text) if classes => {
                (0..n).filter(|&row| text.codes[row].is_none()).collect()
            }
            _ => {
                let values = table.numbers(name.as_str())?;
                (0..n).filter(|&row| values[row].is_nan()).collect()
            }
        };
        let remedy = if classes { " (--not-missing NA makes NA a class)" } else { "" };
        leave(gaps, &format!("miss the target {name:?}{remedy}"), &mut keep);
    }
    if let Some(name) = &fit.weights {
        position(table, name)?;
        let values = table.numbers(name.as_str())?;
        let none = (0..n).filter(|&row| values[row] == 0.0).collect();
        leave(none, "have the weight 0", &mut keep);
    }
    if fit.columns.missing == Missing::DropRows {
        let features = fit.columns.candidates(table, taken)?;
        let mut misses = vec![false; n];
        for &place in &features {
            let column = &table.columns()[place];
            match looked.and_then(|looked| looked.columns.iter().find(|c| c.place == place)) {
                Some(LookedColumn { reading, .. }) => {
                    let marks = Marks::of(&fit.columns);
                    reading.read(&column.values, &marks).mark_gaps(&mut misses);
                }
                None => (0..n).for_each(|row| misses[row] |= is_gap(column, row)),
            }
        }
        leave((0..n).filter(|&row| misses[row]).collect(), "miss a feature", &mut keep);
    }
    Ok(((0..n).filter(|&row| keep[row]).collect(), left_out))
}

/// Refuses used rows with an invalid weight or without a group.
fn check_rows(fit: &Fit, table: &Table, rows: &[usize]) -> Result<()> {
    weights_of(fit, table, rows, place)?;
    if let Split::Group(name) = &fit.split {
        let column = column_of(table, name)?;
        if let Some(&row) = rows.iter().find(|&&row| is_gap(column, row)) {
            return Err(Error::misses_split(table, name, row));
        }
    }
    Ok(())
}

fn is_gap(column: &Column, row: usize) -> bool {
    column.cell(row) == Some(Cell::Missing)
}

/// The notes about rows that are left out.
pub(crate) fn notes_of(left_out: &LeftOut, rows: usize) -> impl Iterator<Item = String> {
    let some = left_out.iter().filter(|(_, count)| *count > 0);
    some.map(move |(why, count)| format!("{count} of {rows} rows {why} and are left out"))
}

/// The folds. Random folds have every class in proportion; there is a note about classes in no
/// validation row.
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

/// The rows that differ in the columns `compared`, with their weights; the weight of a row includes
/// those of its copies.
fn weighted(
    fit: &Fit,
    table: Table,
    compared: &[String],
    notes: &mut Vec<String>,
) -> Result<WeightedTable> {
    let all = table.rows();
    let weights = fit.weights.as_ref().map(|name| table.numbers(name.as_str())).transpose()?;
    // with mean 1, so that λ means the same with and without weights
    let weights = weights.map(|w| {
        let mean = w.iter().sum::<f64>() / all as f64;
        w.iter().map(|w| w / mean).collect::<Vec<f64>>()
    });
    let copies = copied_rows::copies(&table, compared)?;
    let Some(groups) = copies.filter(|groups| groups.len() >= FEWEST) else {
        return Ok(WeightedTable { table, weights });
    };
    let different = groups.len();
    let weight = if weights.is_some() { "the sum of their weights" } else { "their number" };
    notes.push(format!(
        "{all} rows are {different} different ones: copies are fitted as one row, with {weight} as \
         weight"
    ));
    let rows: Vec<usize> = groups.iter().map(|same| same[0]).collect();
    let weight = |row: &usize| weights.as_ref().map_or(1.0, |weights| weights[*row]);
    let mean = all as f64 / different as f64;
    let weights = groups.iter().map(|same| same.iter().map(weight).sum::<f64>() / mean).collect();
    Ok(WeightedTable { table: table.select_rows(&rows)?, weights: Some(weights) })
}

/// Whether the fit can calibrate probabilities on rows set aside, which all have the same weight.
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
