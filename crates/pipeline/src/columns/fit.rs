//! Looking at a table's columns, and deciding what becomes of each.

use super::dates::is_date;
use super::options::{ColumnOptions, Missing};
use super::sums::{ColumnSums, MANY, NumberSums};
use super::{Columns, Curve, Dropped, Shape, Treated, Treatment, Why};
use crate::error::{Error, Result};
use nystrom_data::{Categories, Column, Table, Values};

/// What becomes of a column.
enum Fate {
    Used(Treatment),
    Dropped(Why),
}

impl Columns {
    /// Decides what becomes of each column of `table` that is not `taken` for another use: target,
    /// weight, group or time. O(n log n) a column.
    ///
    /// # Errors
    /// [`Error::NoColumn`] and [`Error::UsedTwice`] for wrong names, [`Error::Option`] for a wrong
    /// factor. [`Error::Dates`], [`Error::Values`] for infinities and, if they are to be refused,
    /// missing values. [`Error::NoFeatures`] if none is left.
    pub fn fit(
        table: &Table,
        options: &ColumnOptions,
        taken: &[&str],
        shape: Shape,
    ) -> Result<Columns> {
        Columns::fit_with(table, options, taken, shape, &|_| None)
    }

    /// As [`fit`](Self::fit), for the rows of which `table` is a sample: what `exact` knows of all
    /// of them is taken from there. Medians, curves and the moments of what is on a curve are the
    /// sample's.
    pub(crate) fn fit_with<'a>(
        table: &Table,
        options: &ColumnOptions,
        taken: &[&str],
        shape: Shape,
        exact: &dyn Fn(&str) -> Option<&'a ColumnSums>,
    ) -> Result<Columns> {
        let candidates = options.candidates(table, taken)?;
        let (mut columns, mut dropped) = (Vec::new(), Vec::new());
        for &j in &candidates {
            let column = &table.columns()[j];
            // a column that was asked for, or that stands alone, may number the rows
            let wanted = candidates.len() == 1 || options.features.contains(&column.name);
            match fate(column, options, (wanted, shape), exact(&column.name))? {
                Fate::Used(treatment) => {
                    columns.push(Treated { name: column.name.clone(), treatment })
                }
                Fate::Dropped(why) => dropped.push(Dropped { column: column.name.clone(), why }),
            }
        }
        if columns.is_empty() {
            let why: Vec<String> = dropped.iter().map(Dropped::to_string).collect();
            let why =
                if why.is_empty() { "no column has no other use".into() } else { why.join(", ") };
            return Err(Error::NoFeatures { why });
        }
        Ok(Columns { columns, dropped })
    }
}

fn fate(
    column: &Column,
    options: &ColumnOptions,
    (wanted, shape): (bool, Shape),
    exact: Option<&ColumnSums>,
) -> Result<Fate> {
    match (&column.values, exact) {
        (Values::Numbers(values), exact) => {
            let exact = exact.and_then(ColumnSums::numbers);
            numbers(column, values, options, (wanted, shape), exact)
        }
        (Values::Categories(text), exact) => {
            let known = exact.and_then(ColumnSums::levels);
            let (counts, rows) = known.unwrap_or_else(|| counts_of(text));
            categories(column, counts, rows, options, wanted)
        }
    }
}

fn numbers(
    column: &Column,
    values: &[f64],
    options: &ColumnOptions,
    (wanted, shape): (bool, Shape),
    exact: Option<&NumberSums>,
) -> Result<Fate> {
    if let Some(row) = values.iter().position(|value| value.is_infinite()) {
        let what = format!("has the value {} in row {}", values[row], row + 1);
        return Err(Error::values(&column.name, what, "correct it, or make it a missing value"));
    }
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return Ok(Fate::Dropped(Why::Empty));
    }
    let (rows, gaps) = match exact {
        Some(sums) => (sums.rows(), sums.gaps()),
        None => (values.len(), values.len() - sorted.len()),
    };
    refuse_gaps(column, gaps, rows, options)?;
    let constant = match exact {
        Some(sums) => sums.is_constant(),
        None => sorted[0] == sorted[sorted.len() - 1],
    };
    if constant && gaps == 0 {
        return Ok(Fate::Dropped(Why::Constant(sorted[0].to_string())));
    }
    if !wanted && exact.map_or_else(|| numbers_rows(&sorted), NumberSums::numbers_rows) {
        return Ok(Fate::Dropped(Why::Identifier));
    }
    let (curve, median) = (Curve::of(&sorted, shape), sorted[sorted.len() / 2]);
    let factor = options.factor(&column.name);
    let bent = |value: &f64| curve.at(if value.is_nan() { median } else { *value });
    let of_all = exact.filter(|_| options.standardize && curve == Curve::Plain);
    let moments = match of_all {
        Some(sums) => sums.moments(median),
        None => moments(values.iter().map(bent), values.len(), options.standardize),
    };
    let (mean, scale) = moments.ok_or_else(|| {
        let what = "has no finite mean and standard deviation";
        Error::values(&column.name, what, "rescale it, or leave it out")
    })?;
    let share = gaps as f64 / rows as f64;
    let spread = if options.standardize { (share * (1.0 - share)).sqrt() } else { 1.0 };
    let mean_gap = if options.standardize { share } else { 0.0 };
    Ok(Fate::Used(Treatment::Number {
        curve,
        fill: (options.missing == Missing::Fill).then_some(median),
        mean,
        scale: scale / factor,
        missing: (gaps > 0).then_some((mean_gap, spread / factor)),
    }))
}

/// How often each level of a text occurs, in increasing order of the levels, and the rows.
type Counts<'a> = Vec<(usize, &'a String)>;

fn counts_of(text: &Categories) -> (Counts<'_>, usize) {
    let mut counts: Counts<'_> = text.levels.iter().map(|level| (0, level)).collect();
    text.codes.iter().flatten().for_each(|code| counts[*code as usize].0 += 1);
    (counts, text.codes.len())
}

fn categories(
    column: &Column,
    mut counts: Counts<'_>,
    rows: usize,
    options: &ColumnOptions,
    wanted: bool,
) -> Result<Fate> {
    counts.retain(|(count, _)| *count > 0);
    let known: usize = counts.iter().map(|(count, _)| count).sum();
    let gaps = rows - known;
    let Some(&(_, first)) = counts.first() else { return Ok(Fate::Dropped(Why::Empty)) };
    let dates = counts.iter().take(100).filter(|(_, level)| is_date(level)).count();
    if 2 * dates > counts.len().min(100) {
        return Err(Error::Dates { column: column.name.clone(), example: first.clone() });
    }
    refuse_gaps(column, gaps, rows, options)?;
    if counts.len() == 1 && gaps == 0 {
        return Ok(Fate::Dropped(Why::Constant(first.clone())));
    }
    if !wanted && known >= MANY && counts.len() == known {
        return Ok(Fate::Dropped(Why::Identifier));
    }
    // the frequent levels, in the order of their names
    counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let mut rare: Vec<(usize, &String)> =
        counts.split_off(options.most_levels.max(1).min(counts.len()));
    let least = rows / 1000;
    if !rare.is_empty() || counts.len() > 2 {
        let few = counts.iter().position(|(count, _)| *count <= least).unwrap_or(counts.len());
        rare.extend(counts.split_off(few.max(1)));
    }
    counts.sort_by_key(|(_, level)| *level);
    let share = |count: usize| count as f64 / rows as f64;
    let mut means: Vec<f64> = counts.iter().map(|(count, _)| share(*count)).collect();
    if !rare.is_empty() {
        means.push(share(rare.iter().map(|(count, _)| count).sum()));
    }
    let variance: f64 = means.iter().map(|p| p * (1.0 - p)).sum();
    let scale = if options.standardize { variance.sqrt() } else { 1.0 };
    if !options.standardize {
        means.fill(0.0);
    }
    let names = |list: Vec<(usize, &String)>| list.into_iter().map(|(_, l)| l.clone()).collect();
    Ok(Fate::Used(Treatment::Text {
        levels: names(counts),
        rare: (!rare.is_empty()).then(|| names(rare)),
        means,
        scale: scale / options.factor(&column.name),
        complete: options.missing == Missing::Refuse,
    }))
}

fn refuse_gaps(column: &Column, gaps: usize, rows: usize, options: &ColumnOptions) -> Result<()> {
    if gaps > 0 && options.missing == Missing::Refuse {
        let what = format!("misses {gaps} of {rows} values");
        return Err(Error::values(&column.name, what, "fill them in, or leave out rows or column"));
    }
    Ok(())
}

/// Whether sorted numbers are 0, 1, 2, … or 1, 2, 3, …, as identifiers are.
fn numbers_rows(sorted: &[f64]) -> bool {
    let follows = |pair: &[f64]| pair[1] == pair[0] + 1.0;
    sorted.len() >= MANY && matches!(sorted[0], 0.0 | 1.0) && sorted.windows(2).all(follows)
}

/// Mean and standard deviation; 0 and 1 if nothing is to be standardised. `None` if they are not
/// finite. Equal values have the deviation 1.
fn moments(
    values: impl Iterator<Item = f64> + Clone,
    n: usize,
    wanted: bool,
) -> Option<(f64, f64)> {
    if !wanted {
        return Some((0.0, 1.0));
    }
    let n = n as f64;
    let first = values.clone().next()?;
    // about the first value, for columns far from 0 compared with their spread
    let rough = first + values.clone().map(|v| (v - first) / n).sum::<f64>();
    let mean = rough + values.clone().map(|v| (v - rough) / n).sum::<f64>();
    let greatest = values.clone().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    if greatest == 0.0 {
        return mean.is_finite().then_some((mean, 1.0));
    }
    let scale =
        greatest * (values.map(|v| ((v - mean) / greatest).powi(2)).sum::<f64>() / n).sqrt();
    (mean.is_finite() && scale.is_finite() && scale > 0.0).then_some((mean, scale))
}
