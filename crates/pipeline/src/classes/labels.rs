//! The class of every row.

use super::names::{Names, decimal, number};
use super::{Calibration, ClassCounts, Classes, Task};
use crate::columns::column_of;
use crate::counts::{bits_of, counted};
use crate::error::{Error, Result};
use crate::target::{Target, indicators};
use nystrom::faer::Mat;
use nystrom_data::{Column, Table, Values};
use std::collections::HashMap;

/// A target of whole numbers has classes only if it has at most this many different values.
const FEW: usize = 10;
/// A target of whole numbers has classes only if it has this many rows for each value on average.
const ROWS: usize = 10;

/// Whether the targets are classes, with a note if no option decides. If the table is a sample,
/// `counts` are the counts of all rows.
pub(crate) fn is_classes(
    task: Task,
    table: &Table,
    targets: &[String],
    counts: Option<&ClassCounts>,
    notes: &mut Vec<String>,
) -> Result<bool> {
    let [target] = targets else {
        return match task {
            Task::Classification => Err(Error::Option {
                option: "task",
                problem: "a classification has one target; name one".into(),
            }),
            _ => Ok(false),
        };
    };
    let column = column_of(table, target)?;
    match task {
        Task::Regression => return Ok(false),
        Task::Classification => return Ok(true),
        Task::Auto => {}
    }
    let own = counts.is_none().then(|| ClassCounts::of(&column.values));
    let counts = counts.or(own.as_ref());
    let (what, other) = if is_text(column) {
        ("text".to_owned(), "is for numbers")
    } else {
        match counts.and_then(few_integers) {
            Some(count) => (format!("{count} different whole numbers"), "takes them for numbers"),
            None => return Ok(false),
        }
    };
    notes.push(format!(
        "the target {target:?} holds {what}, which are taken for classes; --task regression {other}"
    ));
    Ok(true)
}

/// Whether a column has a text that is no number.
fn is_text(column: &Column) -> bool {
    match &column.values {
        Values::Numbers(_) | Values::Sparse(_) => false,
        Values::Categories(_) => as_numbers(column).is_none(),
    }
}

/// The number of different values, if these are few whole numbers.
fn few_integers(counts: &ClassCounts) -> Option<usize> {
    let few = counts.all()?;
    let whole = |name: &str| decimal(name).is_some_and(|value| !value.contains("e-"));
    let mut values: Vec<Option<String>> = few.iter().map(|(name, _)| decimal(name)).collect();
    values.sort_unstable();
    values.dedup();
    let enough = counts.rows() >= (ROWS * values.len()) as u64;
    let are_few = (2..=FEW).contains(&values.len()) && few.iter().all(|(name, _)| whole(name));
    (are_few && enough).then_some(values.len())
}

/// The numbers of a column of texts that all spell numbers; `None` for any other column.
pub(crate) fn as_numbers(column: &Column) -> Option<Column> {
    let Values::Categories(text) = &column.values else { return None };
    if counted(text, None).iter().any(|(_, level)| number(level).is_none()) {
        return None;
    }
    let levels = text.levels.iter().map(|level| number(level).unwrap_or(f64::NAN));
    let levels: Vec<f64> = levels.collect();
    let value = |code: &Option<u32>| code.map_or(f64::NAN, |code| levels[code as usize]);
    let values = text.codes.iter().map(value).collect();
    Some(Column::numbers(column.name.clone(), values))
}

/// The class of each row, by its number in `names`.
pub(crate) struct Labels {
    pub target: String,
    pub names: Vec<String>,
    pub numbers: bool,
    pub of: Vec<usize>,
    /// Notes about texts that are taken for one class.
    pub notes: Vec<String>,
}

impl Labels {
    /// The classes of a column without missing values. If the table is a sample, `counts` are the
    /// counts of all rows, since the sample may lack some classes.
    pub fn new(table: &Table, target: &str, counts: Option<&ClassCounts>) -> Result<Labels> {
        let column = column_of(table, target)?;
        let own = ClassCounts::of(&column.values);
        let texts = match counts {
            Some(counts) => counts.all().ok_or_else(|| {
                let what = "holds more than 1000 different values, too many to be classes";
                Error::values(target, what, "take a column with at most 100 different values")
            })?,
            None => own.all().unwrap_or_default(),
        };
        let Names { names, numbers, of, notes } = Names::of(target, &texts)?;
        let class: HashMap<&str, usize> =
            texts.iter().zip(&of).map(|((text, _), class)| (*text, *class)).collect();
        let of =
            rows_of(column, |text| class.get(text).copied().ok_or_else(|| unknown(target, text)));
        Ok(Labels { target: target.to_owned(), names, numbers, of: of?, notes })
    }

    /// The note about classes that are in no validation row of random folds, because they have too
    /// few rows.
    pub fn unvalidated<'a>(
        &self,
        folds: impl ExactSizeIterator<Item = &'a [usize]>,
    ) -> Option<String> {
        let (mut seen, all) = (vec![false; self.names.len()], folds.len() > 1);
        folds.flatten().for_each(|&row| seen[self.of[row]] = true);
        let counts = self.counts();
        let is_rare = |k: &usize| !seen[*k] && (counts[*k] == 1 || all && counts[*k] > 0);
        let rare: Vec<&str> =
            (0..seen.len()).filter(is_rare).map(|k| self.names[k].as_str()).collect();
        let class = match rare.len() {
            0 => return None,
            1 => "the class",
            _ => "each of the classes",
        };
        Some(format!(
            "{class} {} of the target {:?} has too few different rows to validate with: they are \
             all fitted, and the errors on validation rows are those of the other classes",
            crate::error::first_names(rare.into_iter()),
            self.target
        ))
    }

    /// The classes of a model with this calibration.
    pub fn classes(&self, calibration: Calibration) -> Classes {
        let Labels { target, names, numbers, .. } = self;
        Classes { target: target.clone(), names: names.clone(), numbers: *numbers, calibration }
    }

    /// The number of rows of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        self.of.iter().for_each(|&class| counts[class] += 1);
        counts
    }

    /// The targets ±1 of each function, minus their mean and divided by the standard deviation of
    /// all functions together: the mean square error is then a share of the variance.
    pub fn indicators(&self, weights: Option<&[f64]>) -> (Mat<f64>, Vec<Target>) {
        let (n, functions) = (self.of.len(), Classes::functions(self.names.len()));
        let first = self.names.len() - functions;
        let sign = |i: usize, j: usize| if self.of[i] == first + j { 1.0 } else { -1.0 };
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]) / n as f64;
        let mean = |j: usize| (0..n).map(|i| weight(i) * sign(i, j)).sum::<f64>();
        let means: Vec<f64> = (0..functions).map(mean).collect();
        // the variance of ±1
        let variance = means.iter().map(|mean| 1.0 - mean * mean).sum::<f64>() / functions as f64;
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let target = |mean| Target::plain(&self.target, mean, scale);
        let targets: Vec<Target> = means.into_iter().map(target).collect();
        (indicators(self.names.len(), &targets, &self.of), targets)
    }
}

/// The error for a class that no fitted row had.
pub(super) fn unknown(target: &str, class: &str) -> Error {
    Error::UnknownClass { target: target.to_owned(), class: class.to_owned() }
}

/// The class of each row of a column; `class` is called once for each different value.
pub(super) fn rows_of(
    column: &Column,
    class: impl Fn(&str) -> Result<usize>,
) -> Result<Vec<usize>> {
    let name = |row: usize| match &column.values {
        Values::Numbers(values) => Classes::name_of(values[row]),
        Values::Categories(text) => text.get(row).unwrap_or_default().to_owned(),
        Values::Sparse(_) => String::new(), // which are no classes
    };
    let mut known: HashMap<u64, usize> = HashMap::new();
    let of = |row: usize| {
        let bits = bits_of(&column.values, row);
        if let Some(class) = known.get(&bits) {
            return Ok(*class);
        }
        let class = class(&name(row))?;
        known.insert(bits, class);
        Ok(class)
    };
    (0..column.len()).map(of).collect()
}
