//! Targets, their standardisation, and the scale on which they are fitted.

use crate::error::{Error, Result};
use nystrom::faer::Mat;
use nystrom_data::Table;
use serde::{Deserialize, Serialize};

/// The largest absolute value of a target whose squares can be summed.
const LARGEST: f64 = 1e150;
/// The logarithm of a number whose square is finite.
const LARGEST_LOG: f64 = 350.0;

/// A target, whose prediction is the curve's mean at `mean + scale·f(x)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The name of its column.
    pub name: String,
    /// The number that was subtracted from the target, on its curve, before the fit.
    pub mean: f64,
    /// The number by which the difference was divided.
    pub scale: f64,
    /// The curve on which the target was fitted.
    pub curve: TargetCurve,
    /// For a quantile: the share of targets below the prediction. Quantiles of a target have one
    /// entry each, in increasing order.
    pub share: Option<f64>,
}

/// The scale on which targets are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetScale {
    /// As they are.
    #[default]
    Plain,
    /// Logarithms.
    Log,
    /// Square roots.
    Root,
}

impl TargetScale {
    /// All scales.
    pub const ALL: [TargetScale; 3] = [TargetScale::Plain, TargetScale::Log, TargetScale::Root];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            TargetScale::Plain => "plain",
            TargetScale::Log => "log",
            TargetScale::Root => "root",
        }
    }
}

/// A curve y ↦ u on which a target is fitted. A prediction of u becomes the mean of y by a factor,
/// which is estimated from the residuals of validation rows: for logarithms it is the mean of e^r
/// over residuals r about their mean (N. Duan, *Smearing estimate*, JASA 78, 1983).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetCurve {
    /// u = y.
    #[default]
    Plain,
    /// u = ln(y + shift).
    Log {
        /// 0, or the smallest positive target if some are 0.
        shift: f64,
        /// The factor of e^u.
        factor: f64,
    },
    /// u = √y.
    Root {
        /// The factor of u².
        factor: f64,
    },
}

impl TargetCurve {
    /// The scale without its constants.
    pub fn scale(self) -> TargetScale {
        match self {
            TargetCurve::Plain => TargetScale::Plain,
            TargetCurve::Log { .. } => TargetScale::Log,
            TargetCurve::Root { .. } => TargetScale::Root,
        }
    }

    /// u for the target y.
    fn at(self, y: f64) -> f64 {
        match self {
            TargetCurve::Plain => y,
            TargetCurve::Log { shift, .. } => (y + shift).ln(),
            TargetCurve::Root { .. } => y.sqrt(),
        }
    }

    /// The target at u: the inverse.
    fn inverse(self, u: f64) -> f64 {
        self.with_factor(1.0).mean(u)
    }

    /// The mean of targets whose prediction is u.
    fn mean(self, u: f64) -> f64 {
        match self {
            TargetCurve::Plain => u,
            TargetCurve::Log { shift, factor } => factor * u.min(LARGEST_LOG).exp() - shift,
            TargetCurve::Root { factor } => factor * u.max(0.0).powi(2),
        }
    }

    /// The slope of the mean at u.
    fn slope(self, u: f64) -> f64 {
        match self {
            TargetCurve::Plain => 1.0,
            TargetCurve::Log { factor, .. } => factor * u.min(LARGEST_LOG).exp(),
            TargetCurve::Root { factor } => 2.0 * factor * u.max(0.0),
        }
    }

    fn with_factor(self, factor: f64) -> TargetCurve {
        match self {
            TargetCurve::Plain => self,
            TargetCurve::Log { shift, .. } => TargetCurve::Log { shift, factor },
            TargetCurve::Root { .. } => TargetCurve::Root { factor },
        }
    }

    /// What the factor multiplies: the mean without its shift.
    fn shifted(self, y: f64) -> f64 {
        if let TargetCurve::Log { shift, .. } = self { y + shift } else { y }
    }

    fn is_sound(self) -> bool {
        match self {
            TargetCurve::Plain => true,
            TargetCurve::Log { shift, factor } => {
                (0.0..=LARGEST).contains(&shift) && factor.is_finite() && factor > 0.0
            }
            TargetCurve::Root { factor } => factor.is_finite() && factor > 0.0,
        }
    }
}

impl Target {
    /// A target that is fitted as it is.
    pub fn plain(name: impl Into<String>, mean: f64, scale: f64) -> Target {
        Target { name: name.into(), mean, scale, curve: TargetCurve::Plain, share: None }
    }

    /// Its name, and for a quantile the share after it.
    pub fn label(&self) -> String {
        match self.share {
            Some(share) => format!("{} {share}", self.name),
            None => self.name.clone(),
        }
    }

    /// The target whose prediction is the inverse of the curve instead of the mean.
    pub(crate) fn as_inverse(&self) -> Target {
        Target { curve: self.curve.with_factor(1.0), ..self.clone() }
    }

    /// The slope of the prediction with respect to f.
    pub(crate) fn slope(&self, f: f64) -> f64 {
        self.scale * self.curve.slope(self.mean + self.scale * f)
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.mean.is_finite() && self.scale.is_finite() && self.curve.is_sound()
    }

    /// The target whose predictions have the mean of the targets, from the values f and the targets
    /// y of some rows, both in standard units, with weights. The residuals of f count less their
    /// mean: if y has drifted since the fit, the factor does not know it.
    pub(crate) fn with_mean_of(&self, rows: &[[f64; 3]]) -> Target {
        let on_curve = |f: f64| self.mean + self.scale * f;
        let total: f64 = rows.iter().map(|[.., weight]| weight).sum();
        let residual = |[f, y, _]: &[f64; 3]| self.scale * (y - f);
        let mean = rows.iter().map(|row| row[2] * residual(row)).sum::<f64>() / total;
        let sum = |of: &dyn Fn(&[f64; 3]) -> f64| -> f64 {
            let value = |row: &[f64; 3]| self.curve.shifted(self.curve.inverse(of(row)));
            rows.iter().map(|row| row[2] * value(row)).sum()
        };
        let of_y = sum(&|row| on_curve(row[0]) + residual(row) - mean);
        let curve = self.curve.with_factor(of_y / sum(&|row| on_curve(row[0])));
        let curve = if curve.is_sound() { curve } else { self.curve.with_factor(1.0) };
        Target { curve, ..self.clone() }
    }
}

/// Standardised predictions (n × t) in the units of the targets.
///
/// Quantiles of the same target are put in order (V. Chernozhukov, I. Fernández-Val, A. Galichon,
/// *Quantile and probability curves without crossing*, Econometrica 78, 2010).
pub(crate) fn in_units(values: Mat<f64>, targets: &[Target]) -> Mat<f64> {
    let mut values = on_curves(values, targets, TargetCurve::mean);
    let mut first = 0;
    let alike = |a: &Target, b: &Target| a.share.is_some() && a.name == b.name;
    for quantiles in targets.chunk_by(alike).map(<[Target]>::len) {
        for i in (0..values.nrows()).filter(|_| quantiles > 1) {
            let mut row: Vec<f64> = (first..first + quantiles).map(|j| values[(i, j)]).collect();
            row.sort_by(f64::total_cmp);
            row.iter().enumerate().for_each(|(j, value)| values[(i, first + j)] = *value);
        }
        first += quantiles;
    }
    values
}

/// Standardised targets, or ends of intervals, in the units of the targets.
pub(crate) fn inverse_in_units(values: Mat<f64>, targets: &[Target]) -> Mat<f64> {
    on_curves(values, targets, TargetCurve::inverse)
}

fn on_curves(
    mut values: Mat<f64>,
    targets: &[Target],
    of: fn(TargetCurve, f64) -> f64,
) -> Mat<f64> {
    for (j, target) in targets.iter().enumerate() {
        for value in values.col_mut(j).iter_mut() {
            *value = of(target.curve, target.mean + target.scale * *value);
        }
    }
    values
}

/// The targets of a table in standard units, n × t.
pub(crate) fn in_standard_units(table: &Table, targets: &[Target]) -> Result<Mat<f64>> {
    let columns = targets.iter().map(|target| table.numbers(target.name.as_str()));
    let columns = columns.collect::<nystrom_data::Result<Vec<&[f64]>>>()?;
    Ok(Mat::from_fn(table.rows(), targets.len(), |i, j| {
        (targets[j].curve.at(columns[j][i]) - targets[j].mean) / targets[j].scale
    }))
}

/// The standardised targets ±1 of each function, for rows of the classes `of`.
pub(crate) fn indicators(classes: usize, targets: &[Target], of: &[usize]) -> Mat<f64> {
    let first = classes - targets.len().min(classes);
    let sign = |i: usize, j: usize| if of[i] == first + j { 1.0 } else { -1.0 };
    let scaled = |i, j: usize| (sign(i, j) - targets[j].mean) / targets[j].scale;
    Mat::from_fn(of.len(), targets.len(), scaled)
}

/// Targets with mean 0 and standard deviation 1 on a scale, n × t, which `others`, rows that are
/// fitted later, must allow as well.
///
/// # Errors
/// [`Error::Values`] for a target that the scale does not allow; [`Error::ConstantTarget`].
pub(crate) fn standardised(
    table: &Table,
    others: Option<&Table>,
    names: &[String],
    weights: Option<&[f64]>,
    scale: TargetScale,
) -> Result<(Mat<f64>, Vec<Target>)> {
    let of = |name: &String| {
        let mut all = table.numbers(name.as_str())?.to_vec();
        if let Some(others) = others {
            all.extend(others.numbers(name.as_str())?);
        }
        target(table, name, weights, curve(name, scale, &all)?)
    };
    let targets = names.iter().map(of).collect::<Result<Vec<_>>>()?;
    Ok((in_standard_units(table, &targets)?, targets))
}

/// The curve of a target with these values on a scale.
fn curve(name: &str, scale: TargetScale, values: &[f64]) -> Result<TargetCurve> {
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let smallest = least(&mut values.iter().copied());
    if scale != TargetScale::Plain && smallest < 0.0 {
        let what = format!("has the value {smallest}, which has no {} scale", scale.name());
        return Err(Error::values(name, what, "fit it as it is: --target-scale plain"));
    }
    let positive = least(&mut values.iter().copied().filter(|v| *v > 0.0));
    Ok(match scale {
        TargetScale::Plain => TargetCurve::Plain,
        TargetScale::Root => TargetCurve::Root { factor: 1.0 },
        TargetScale::Log => {
            TargetCurve::Log { shift: if smallest > 0.0 { 0.0 } else { positive }, factor: 1.0 }
        }
    })
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
fn target(
    table: &Table,
    name: &str,
    weights: Option<&[f64]>,
    curve: TargetCurve,
) -> Result<Target> {
    let values: Vec<f64> = table.numbers(name)?.iter().map(|y| curve.at(*y)).collect();
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
    Ok(Target { name: name.to_owned(), mean, scale, curve, share: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_inverses_slopes_and_means() {
        let y = [0.0, 0.5, 2.0, 30.0];
        for scale in [TargetScale::Plain, TargetScale::Log, TargetScale::Root] {
            let curve = curve("y", scale, &y).unwrap();
            assert!(y.iter().all(|&y| (curve.inverse(curve.at(y)) - y).abs() < 1e-14 * (1.0 + y)));
            let curve = curve.with_factor(1.5);
            let (u, step) = (0.7, 1e-6);
            let difference = (curve.mean(u + step) - curve.mean(u - step)) / (2.0 * step);
            assert!((curve.slope(u) - difference).abs() < 1e-8, "{scale:?}");
            assert!(
                curve.is_sound() && curve.mean(1e9).is_finite() && curve.mean(-1e9).is_finite()
            );
        }
        assert!(curve("y", TargetScale::Log, &[-1.0, 2.0]).is_err());
        // the logarithm of a log-normal target predicts its median; the factor makes it the mean
        let curve = TargetCurve::Log { shift: 0.0, factor: 1.0 };
        let target = Target { curve, ..Target::plain("y", 0.0, 1.0) };
        let noise = [-1.0, 0.0, 1.0_f64];
        let rows = noise.map(|e| [2.0, 2.0 + e, 1.0]);
        let fitted = target.with_mean_of(&rows);
        let mean = noise.iter().map(|e| (2.0 + e).exp()).sum::<f64>() / 3.0;
        assert!((fitted.curve.mean(2.0) - mean).abs() < 1e-12);
        let drifted = target.with_mean_of(&rows.map(|[f, y, weight]| [f, y + 5.0, weight]));
        assert!((drifted.curve.mean(2.0) - mean).abs() < 1e-12);
    }

    /// In standard units a target of 0 is a number that comes back as ±1e-17.
    #[test]
    fn the_factor_of_roots_counts_targets_of_zero() {
        let (mean, scale) = (0.7, 1.3);
        let curve = TargetCurve::Root { factor: 1.0 };
        let target = Target { curve, ..Target::plain("y", mean, scale) };
        let y = [0.0, 0.0, 1.0, 4.0, 9.0_f64];
        let f = (y.iter().map(|y| y.sqrt()).sum::<f64>() / 5.0 - mean) / scale; // the mean root
        let rows = y.map(|y| [f, (y.sqrt() - mean) / scale, 1.0]);
        // roots 0, 0, 1, 2, 3 have the mean 1.2; the mean of y is 2.8
        let found = target.with_mean_of(&rows).curve.mean(mean + scale * f);
        assert!((found - 2.8).abs() < 1e-12, "{found}");
    }
}
