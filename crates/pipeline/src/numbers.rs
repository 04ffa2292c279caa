//! Targets, weights and times as numbers, in any dress.

use crate::classes::{ClassCounts, Task, as_numbers, is_classes};
use crate::columns::{Kind, Marks, Reading, ordered, position};
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::split::Split;
use nystrom_data::{Column, Table, Values};
use std::borrow::Cow;

/// A table whose weights are numbers, and whose targets are numbers if they can be.
pub(crate) struct Numbered<'a> {
    pub table: Cow<'a, Table>,
    /// The readings of the targets and weights that are numbers.
    pub readings: Vec<(String, Reading)>,
    /// Notes about these readings.
    pub notes: Vec<String>,
}

impl<'a> Numbered<'a> {
    /// The numbers of the targets, weights and times of a fit. Texts that may be classes stay
    /// texts.
    ///
    /// # Errors
    /// [`Error::NoColumn`]; [`Error::Values`] for texts where numbers must be.
    pub fn of(fit: &Fit, table: &'a Table, targets: &[String]) -> Result<Self> {
        let mut found =
            Numbered { table: Cow::Borrowed(table), readings: Vec::new(), notes: Vec::new() };
        for name in targets.iter().filter(|_| fit.task != Task::Classification) {
            let may_be_classes = targets.len() == 1 && fit.task == Task::Auto;
            found.number(fit, name, may_be_classes, TARGET)?;
        }
        if let Some(name) = &fit.weights {
            found.number(fit, name, false, WEIGHT)?;
        }
        if let Split::Time(name) = &fit.split {
            let (times, note) = ordered(table, name, &fit.columns)?;
            found.notes.extend(note);
            found.replace(position(table, name)?, Column::numbers(name, times))?;
        }
        Ok(found)
    }

    /// Like [`of`](Self::of), also returns whether the target has classes. If the table is a
    /// sample, `counts` are the counts of all rows.
    ///
    /// # Errors
    /// [`Error::NoColumn`]; [`Error::Values`] for texts where numbers must be.
    pub fn with_task(
        fit: &Fit,
        table: &'a Table,
        targets: &[String],
        counts: Option<&ClassCounts>,
    ) -> Result<(Self, bool)> {
        let mut found = Numbered::of(fit, table, targets)?;
        let mut notes = std::mem::take(&mut found.notes);
        let classes = is_classes(fit.task, &found.table, targets, counts, &mut notes)?;
        if classes {
            // classes have the names that were read, such as `$1`
            for name in targets {
                let place = position(table, name)?;
                found.replace(place, table.columns()[place].clone())?;
            }
            let of_target = |note: &String| {
                targets.iter().any(|name| note.starts_with(&format!("{name:?} holds ")))
            };
            found.readings.clear();
            found.notes.retain(|note| !of_target(note));
        } else {
            found.settle(fit, targets)?;
        }
        found.notes.splice(0..0, notes);
        Ok((found, classes))
    }

    /// Reads the targets that are still texts as numbers.
    fn settle(&mut self, fit: &Fit, targets: &[String]) -> Result<()> {
        let read: Vec<String> = self.readings.iter().map(|(name, _)| name.clone()).collect();
        let mut left = targets.iter().filter(|name| !read.contains(name));
        left.try_for_each(|name| self.number(fit, name, false, TARGET))
    }

    fn number(
        &mut self,
        fit: &Fit,
        name: &str,
        may_be_text: bool,
        remedy: &'static str,
    ) -> Result<()> {
        let place = position(&self.table, name)?;
        let values = &self.table.columns()[place].values;
        let Values::Categories(text) = values else {
            self.readings.push((name.to_owned(), Reading::PLAIN));
            return Ok(());
        };
        let (reading, note) = Reading::of(name, values, &fit.columns);
        let finite = |level: &String| level.parse().is_ok_and(f64::is_finite);
        // whole numbers beyond 2⁵³ are rounded where they are no classes
        let (reading, note) = match !may_be_text && text.levels.iter().all(finite) {
            true => (Reading::PLAIN, None),
            false => (reading, note),
        };
        if may_be_text && reading == Reading::PLAIN {
            // which may be classes
            return Ok(());
        }
        if reading.kind == Kind::Level || reading.rest {
            if may_be_text && !reading.rest {
                return Ok(());
            }
            let is_other = |row: &usize| text.get(*row).is_some_and(|t| !finite(&t.to_owned()));
            let row = (0..text.codes.len()).find(is_other).unwrap_or(0);
            let example = text.get(row).unwrap_or_default();
            let place = crate::error::place(&self.table, row);
            let what = match example.parse::<f64>() {
                Ok(_) => format!("holds {example} in {place}, which is not a finite number"),
                Err(_) => format!("holds texts, such as {example:?} in {place}"),
            };
            return Err(Error::values(name, what, remedy));
        }
        let numbers = reading.read(values, &Marks::of(&fit.columns)).numbers;
        let numbers = numbers.map(Cow::into_owned).unwrap_or_default();
        self.notes.extend(note);
        self.readings.push((name.to_owned(), reading));
        self.replace(place, Column::numbers(name, numbers))
    }

    fn replace(&mut self, place: usize, column: Column) -> Result<()> {
        self.table = Cow::Owned(self.table.clone().into_owned().with_column(place, column)?);
        Ok(())
    }
}

/// The table with numbers for the targets that are texts.
///
/// # Errors
/// [`Error::Values`] if one of these texts is no number.
pub(crate) fn with_numbers<'a>(table: &'a Table, targets: &[String]) -> Result<Cow<'a, Table>> {
    let mut found = Cow::Borrowed(table);
    for name in targets {
        let place = position(table, name)?;
        let column = &table.columns()[place];
        let Values::Categories(text) = &column.values else { continue };
        let Some(numbers) = as_numbers(column) else {
            let is_text = |row: &usize| text.get(*row).is_some_and(|t| t.parse::<f64>().is_err());
            let row = (0..text.codes.len()).find(is_text).unwrap_or(0);
            let place = crate::error::place(table, row);
            let what = format!("holds {:?} in {place}", text.get(row).unwrap_or_default());
            return Err(Error::values(name, what, TARGET));
        };
        found = Cow::Owned(found.into_owned().with_column(place, numbers)?);
    }
    Ok(found)
}

pub(crate) const TARGET: &str = "correct it, predict classes (--task classification), or read \
                                 such cells as missing (--numeric)";
const WEIGHT: &str = "weights are numbers: correct it, or leave out --weights";

/// Refuses weights that are all 0.
pub(crate) fn refuse_no_weight(table: &Table, name: &str) -> Result<()> {
    let values = table.numbers(name)?;
    if !values.is_empty() && values.iter().all(|v| *v == 0.0) {
        return Err(Error::values(name, "is 0 in every row", "weights must not all be 0"));
    }
    Ok(())
}

/// The weights of these rows, if the fit has weights; an error for a weight that is negative or not
/// finite. `place` describes a row of the table.
pub(crate) fn weights_of(
    fit: &Fit,
    table: &Table,
    rows: &[usize],
    place: fn(&Table, usize) -> String,
) -> Result<Option<Vec<f64>>> {
    let Some(name) = &fit.weights else { return Ok(None) };
    let values = table.numbers(name.as_str())?;
    let is_wrong = |row: &&usize| !(values[**row].is_finite() && values[**row] >= 0.0);
    match rows.iter().find(is_wrong) {
        None => Ok(Some(rows.iter().map(|&row| values[row]).collect())),
        Some(&row) if values[row].is_nan() => {
            let what = format!("misses its weight in {}", place(table, row));
            Err(Error::values(name, what, "fill it in, or leave out the row"))
        }
        Some(&row) => {
            let what = format!("has the weight {} in {}", values[row], place(table, row));
            Err(Error::values(name, what, "weights are positive"))
        }
    }
}
