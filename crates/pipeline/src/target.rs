//! What is predicted, and its standard units.

use crate::error::{Error, Result};
use nystrom::faer::Mat;
use nystrom_data::Table;
use serde::{Deserialize, Serialize};

/// The largest target whose square is a number.
pub(crate) const LARGEST: f64 = 1e150;

/// What is predicted: `mean + scale·f(x)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The name of its column.
    pub name: String,
    /// What was subtracted from it before the fit.
    pub mean: f64,
    /// What it was then divided by.
    pub scale: f64,
}

/// Targets with mean 0 and standard deviation 1, n × t.
pub(crate) fn standardised(
    table: &Table,
    names: &[String],
    weights: Option<&[f64]>,
) -> Result<(Mat<f64>, Vec<Target>)> {
    let of = |name: &String| target(table, name, weights);
    let targets = names.iter().map(of).collect::<Result<Vec<_>>>()?;
    let columns: Vec<&[f64]> = targets
        .iter()
        .map(|t| table.numbers(t.name.as_str()))
        .collect::<std::result::Result<_, _>>()?;
    let y = Mat::from_fn(table.rows(), targets.len(), |i, j| {
        (columns[j][i] - targets[j].mean) / targets[j].scale
    });
    Ok((y, targets))
}

/// Mean and standard deviation of a target.
fn target(table: &Table, name: &str, weights: Option<&[f64]>) -> Result<Target> {
    let values = table.numbers(name)?;
    let largest = values.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
    if !(largest <= LARGEST) {
        let what = format!("reaches {largest:e}, whose square is beyond all numbers");
        let remedy = "divide it by 1e100, say";
        return Err(Error::Values { column: name.to_owned(), what, remedy });
    }
    if values.iter().all(|v| *v == values[0]) {
        return Err(Error::ConstantTarget { target: name.to_owned(), value: values[0] });
    }
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
