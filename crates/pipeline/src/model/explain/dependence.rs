//! Partial dependence on one column.

use super::{Average, Dependence, Grid};
use crate::columns::{Aspect, Kind, LevelFeatures, Part, Treated, Treatment};
use crate::error::Result;
use crate::model::Model;
use nystrom::faer::{Mat, MatRef};
use nystrom_data::{Categories, Table, Values};

/// The largest number of values of a column of numbers.
pub(super) const POINTS: usize = 15;
/// The share of values below the first and above the last point.
const TAIL: f64 = 0.025;

/// The mean outputs at values of the column at this place, over the rows with the features `x`.
pub(super) fn of(
    model: &Model,
    table: &Table,
    x: MatRef<'_, f64>,
    column: usize,
) -> Result<Dependence> {
    let treated = &model.columns().columns[column];
    let first: usize = model.columns().columns[..column].iter().map(Treated::width).sum();
    let (at, values) = grid(treated, model, table)?;
    let mut means = vec![Vec::new(); model.output_names().len()];
    for value in &values {
        let mut features = Mat::zeros(1, treated.width());
        let series = treated.reading.read(value, &model.columns().marks);
        treated.apply(&series, (table, None), features.as_mut())?;
        let inside = first..first + treated.own_width(); // the time between two dates stays
        let moved = Mat::from_fn(x.nrows(), x.ncols(), |i, k| {
            if inside.contains(&k) { features[(0, k - first)] } else { x[(i, k)] }
        });
        let of_rows = model.outputs(model.standardised(moved)?);
        for (output, means) in means.iter_mut().enumerate() {
            let all: Vec<f64> = of_rows.col(output).iter().copied().collect();
            means.push(Average::of(&all));
        }
    }
    Ok(Dependence { rows: x.nrows(), at, means })
}

/// The values of a column, and each as a column with one row.
fn grid(column: &Treated, model: &Model, table: &Table) -> Result<(Grid, Vec<Values>)> {
    let text = |text: &String| {
        Values::Categories(Categories { levels: vec![text.clone()], codes: vec![Some(0)] })
    };
    let values = &table.column(column.name.as_str())?.values;
    let series = column.reading.read(values, &model.columns().marks);
    let number = |part: &Part| match (&part.aspect, &part.treatment) {
        (Aspect::Number, Treatment::Number(of)) => Some(of.fill),
        _ => None,
    };
    if let Some(fill) = column.parts.iter().find_map(number) {
        let numbers = series.numbers.as_deref().unwrap_or_default();
        let mut known: Vec<f64> = numbers.iter().copied().filter(|v| !v.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        if let (Kind::Time(_), Values::Categories(texts)) = (&column.reading.kind, values) {
            // as they stand in the table
            let row = |at: &f64| numbers.iter().position(|day| day == at);
            let at = quantiles(&known).iter().filter_map(row).collect::<Vec<_>>();
            let at = at.into_iter().filter_map(|row| texts.get(row)).map(str::to_owned);
            let at: Vec<String> = at.collect();
            let values = at.iter().map(text).collect();
            return Ok((Grid::Levels(at), values));
        }
        if known.is_empty() {
            known.extend(fill);
        }
        let at = quantiles(&known);
        let values = at.iter().map(|&value| Values::Numbers(vec![value])).collect();
        return Ok((Grid::Numbers(at), values));
    }
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for part in &column.parts {
        match &part.treatment {
            Treatment::Text(LevelFeatures { levels, rare, .. }) => {
                values.extend(levels.iter().map(text));
                names.extend(levels.iter().cloned());
                if let Some(rare) = rare.as_ref().and_then(|rare| rare.first()) {
                    values.push(text(rare));
                    names.push("rare levels".to_owned());
                }
            }
            // a column of means has the frequent levels as well
            Treatment::Means(_) | Treatment::Number(_) => {}
            // such models are not explained
            Treatment::Bits(_) | Treatment::Sparse(_) => {}
        }
    }
    Ok((Grid::Levels(names), values))
}

/// The different ones of sorted values if they are few, otherwise quantiles.
fn quantiles(sorted: &[f64]) -> Vec<f64> {
    let mut distinct = sorted.to_vec();
    distinct.dedup();
    if distinct.len() <= POINTS {
        return distinct;
    }
    let last = (sorted.len() - 1) as f64;
    let share = |k: usize| TAIL + (1.0 - 2.0 * TAIL) * k as f64 / (POINTS - 1) as f64;
    let mut at: Vec<f64> =
        (0..POINTS).map(|k| sorted[(share(k) * last).round() as usize]).collect();
    at.dedup();
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_leave_out_the_tails_of_many_values() {
        assert_eq!(quantiles(&[1.0, 1.0, 2.0]), [1.0, 2.0]);
        let many: Vec<f64> = (0..=1000).map(f64::from).collect();
        let at = quantiles(&many);
        assert_eq!((at.len(), at[0], at[POINTS - 1]), (POINTS, 25.0, 975.0));
        assert!(quantiles(&[]).is_empty());
    }
}
