//! Importances and average derivatives, from the slopes of the model at some rows.

use super::{Average, Influence};
use crate::columns::{Aspect, Kind, Part, Treated, Treatment};
use crate::error::Result;
use crate::model::{Model, mapped};
use nystrom::faer::{Mat, MatRef};
use nystrom::prelude::*;
use nystrom_data::Table;
use std::ops::Range;

/// The influence of each column, in the order of the columns, at the features `x` of the rows of
/// `table`.
pub(super) fn influences(
    model: &Model,
    table: &Table,
    x: MatRef<'_, f64>,
) -> Result<Vec<Influence>> {
    let d = x.ncols();
    let g = gradient(model, x)?;
    let squares = squares(model, &g, d);
    let f = model.standardised(x.to_owned())?;
    let slopes = model.output_slopes(f, g.as_ref(), d);
    let metric: Option<Vec<f64>> =
        model.map().map(|map| map.col_iter().map(|col| col.squared_norm_l2()).collect());
    let share = |all: &[f64], features: Range<usize>| {
        let total: f64 = all.iter().sum();
        if total > 0.0 { all[features].iter().sum::<f64>() / total } else { 0.0 }
    };
    let (mut influences, mut first) = (Vec::new(), 0);
    for column in &model.columns().columns {
        let features = first..first + column.width();
        influences.push(Influence {
            column: column.name.clone(),
            metric: metric.as_ref().map(|metric| share(metric, features.clone())),
            slope: share(&squares, features.clone()),
            effects: effects((model, column), table, &slopes, first)?,
            dependence: None,
        });
        first = features.end;
    }
    Ok(influences)
}

/// ∇f along the features, n × (d·t): Aᵀ times that along the mapped ones.
fn gradient(model: &Model, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let Some(map) = model.map() else {
        return Ok(model.regression().gradient(Points::from_rows(x))?);
    };
    let (d, t) = (x.ncols(), model.targets().len());
    let z = mapped(x, map);
    let of_mapped = model.regression().gradient(Points::from_rows(z.as_ref()))?;
    let mut g = Mat::zeros(x.nrows(), d * t);
    for j in 0..t {
        // rows gᵀA
        let of_target = mapped(of_mapped.as_ref().subcols(d * j, d), map.transpose());
        g.as_mut().subcols_mut(d * j, d).copy_from(&of_target);
    }
    Ok(g)
}

/// The mean square of the slopes along each feature, over targets.
fn squares(model: &Model, g: &Mat<f64>, d: usize) -> Vec<f64> {
    let n = g.nrows() as f64;
    let targets = model.targets().len();
    let square =
        |k: usize| (0..targets).map(|j| g.col(k + d * j).squared_norm_l2()).sum::<f64>() / n;
    (0..d).map(square).collect()
}

/// Average derivatives of a column of numbers, in its own units, over rows in which it has a value.
fn effects(
    (model, column): (&Model, &Treated),
    table: &Table,
    slopes: &[Mat<f64>],
    feature: usize,
) -> Result<Vec<Average>> {
    // numbers in any dress come first of their column
    let (
        Kind::Number(_),
        Some(Part { aspect: Aspect::Number, treatment: Treatment::Number(number) }),
    ) = (&column.reading.kind, column.parts.first())
    else {
        return Ok(Vec::new());
    };
    let values = &table.column(column.name.as_str())?.values;
    let series = column.reading.read(values, &model.columns().marks);
    let numbers = series.numbers.as_deref().unwrap_or_default();
    let known: Vec<(usize, f64)> =
        numbers.iter().copied().enumerate().filter(|(_, v)| !v.is_nan()).collect();
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let chain = |v: f64| number.curve.slope(v) / number.scale;
    let average = |slopes: &Mat<f64>| {
        let of_rows: Vec<f64> =
            known.iter().map(|&(i, v)| chain(v) * slopes[(i, feature)]).collect();
        Average::of(&of_rows)
    };
    Ok(slopes.iter().map(average).collect())
}
