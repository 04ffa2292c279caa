//! The time between two dates of a row.

use super::options::{ColumnOptions, column_of};
use super::reading::Series;
use super::treat::number;
use super::{Aspect, Columns, Kind, Looked, Marks, Part, Shape, Treated, Treatment};
use crate::error::Result;
use nystrom_data::Table;

/// With more columns of dates, the times between them are no features: there are too many pairs.
const MOST: usize = 4;

/// Adds, to each column of dates, the times since the dates of the columns before it, unless they
/// are the same in all of these rows.
pub(super) fn add(
    columns: &mut [Treated],
    looked: &Looked,
    options: &ColumnOptions,
    shape: Shape,
    (table, rows): (&Table, Option<&[usize]>),
) -> Result<()> {
    let dates: Vec<usize> = (0..columns.len()).filter(|&j| is_dates(&columns[j])).collect();
    if !options.standardizes() || dates.len() > MOST {
        return Ok(());
    }
    let read = |j: &usize| days(&columns[*j], table, &looked.marks);
    let days: Vec<Vec<f64>> = dates.iter().map(read).collect::<Result<_>>()?;
    for (at, &column) in dates.iter().enumerate() {
        for before in 0..at {
            let all = between(&days[before], &days[at]);
            let of_rows: Vec<f64> = match rows {
                Some(rows) => rows.iter().map(|&row| all[row]).collect(),
                None => all,
            };
            if is_constant(&of_rows) {
                continue;
            }
            let other = columns[dates[before]].name.clone();
            let found = number(&columns[column].name, &of_rows, options, (shape, true), None)?;
            if let Ok(Treatment::Number(mut features)) = found {
                features.missing = None; // told by the features of either date
                let treatment = Treatment::Number(features);
                columns[column].parts.push(Part { aspect: Aspect::Since(other), treatment });
            }
        }
    }
    Ok(())
}

fn is_dates(column: &Treated) -> bool {
    matches!(column.reading.kind, Kind::Time(_) | Kind::Digits)
}

/// The days since 1970 of the dates of a column, NaN where there is none.
fn days(column: &Treated, table: &Table, marks: &Marks) -> Result<Vec<f64>> {
    let series = column.reading.read(&column_of(table, &column.name)?.values, marks);
    let numbers = series.numbers.map(|numbers| numbers.into_owned());
    Ok(numbers.unwrap_or_else(|| vec![f64::NAN; table.rows()]))
}

/// Whether no two known times differ by more than rounding errors, about a millisecond.
fn is_constant(days: &[f64]) -> bool {
    let known = days.iter().copied().filter(|days| !days.is_nan());
    let (least, most) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), days| {
        (least.min(days), most.max(days))
    });
    most - least <= 1e-8 || least > most
}

fn between(from: &[f64], to: &[f64]) -> Vec<f64> {
    to.iter().zip(from).map(|(to, from)| to - from).collect()
}

impl Columns {
    /// The days from each other date to that of this column, for its features of elapsed time.
    pub(super) fn elapsed(
        &self,
        column: &Treated,
        series: &Series<'_>,
        table: &Table,
    ) -> Result<Vec<(String, Vec<f64>)>> {
        let mut all = Vec::new();
        for part in &column.parts {
            let Aspect::Since(other) = &part.aspect else { continue };
            let to = series.numbers.as_deref().unwrap_or_default();
            let from = match self.find(other) {
                Some(other) => days(other, table, &self.marks)?,
                None => vec![f64::NAN; to.len()],
            };
            all.push((other.clone(), between(&from, to)));
        }
        Ok(all)
    }
}

impl Treated {
    /// The number of features that depend on this column alone; they come first.
    pub(crate) fn own_width(&self) -> usize {
        let own = self.parts.iter().filter(|part| !matches!(part.aspect, Aspect::Since(_)));
        own.map(|part| part.treatment.width()).sum()
    }
}
