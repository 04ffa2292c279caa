//! Targets and their standardisation.

use crate::error::{Error, Result};
use nystrom::faer::Mat;
use nystrom_data::Table;
use serde::{Deserialize, Serialize};

/// The largest absolute value of a target whose squares can be summed.
const LARGEST: f64 = 1e150;

/// A target, whose prediction is `mean + scale·f(x)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The name of its column.
    pub name: String,
    /// The number that was subtracted from the target before the fit.
    pub mean: f64,
    /// The number by which the difference was divided.
    pub scale: f64,
}

/// Standardised values (n × t) in the units of the targets.
pub(crate) fn in_units(mut values: Mat<f64>, targets: &[Target]) -> Mat<f64> {
    for (j, target) in targets.iter().enumerate() {
        for value in values.col_mut(j).iter_mut() {
            *value = target.mean + target.scale * *value;
        }
    }
    values
}

/// The targets of a table in standard units, n × t.
pub(crate) fn in_standard_units(table: &Table, targets: &[Target]) -> Result<Mat<f64>> {
    let columns = targets.iter().map(|target| table.numbers(target.name.as_str()));
    let columns = columns.collect::<nystrom_data::Result<Vec<&[f64]>>>()?;
    Ok(Mat::from_fn(table.rows(), targets.len(), |i, j| {
        (columns[j][i] - targets[j].mean) / targets[j].scale
    }))
}

/// The standardised targets ±1 of each function, for rows of the classes `of`.
pub(crate) fn indicators(classes: usize, targets: &[Target], of: &[usize]) -> Mat<f64> {
    let first = classes - targets.len().min(classes);
    let sign = |i: usize, j: usize| if of[i] == first + j { 1.0 } else { -1.0 };
    let scaled = |i, j: usize| (sign(i, j) - targets[j].mean) / targets[j].scale;
    Mat::from_fn(of.len(), targets.len(), scaled)
}

/// Targets with mean 0 and standard deviation 1, n × t.
pub(crate) fn standardised(
    table: &Table,
    names: &[String],
    weights: Option<&[f64]>,
) -> Result<(Mat<f64>, Vec<Target>)> {
    let of = |name: &String| target(table, name, weights);
    let targets = names.iter().map(of).collect::<Result<Vec<_>>>()?;
    Ok((in_standard_units(table, &targets)?, targets))
}

/// Refuses a target whose squares overflow, and one with a single value `only`.
pub(crate) fn check(name: &str, largest: f64, only: Option<f64>) -> Result<()> {
    if !(largest <= LARGEST) {
        let what = format!("reaches {largest:e}, too large for sums of squares");
        return Err(Error::values(name, what, "divide it by its largest value"));
    }
    match only {
        Some(value) => Err(Error::ConstantTarget { target: name.to_owned(), value }),
        None => Ok(()),
    }
}

/// A target with its mean and standard deviation.
fn target(table: &Table, name: &str, weights: Option<&[f64]>) -> Result<Target> {
    let values = table.numbers(name)?;
    let largest = values.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    check(name, largest, values.iter().all(|v| *v == values[0]).then_some(values[0]))?;
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]) / values.len() as f64;
    let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
        values.iter().enumerate().map(|(i, &v)| weight(i) * f(v)).sum()
    };
    let first = values[0];
    let mean = first + sum(&|v| v - first);
    let scale = largest * sum(&|v| ((v - mean) / largest).powi(2)).sqrt();
    let scale = if scale > 0.0 { scale } else { 1.0 };
    Ok(Target { name: name.to_owned(), mean, scale })
}
