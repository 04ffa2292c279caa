//! The errors of predictions on rows whose target is known.

use super::classes;
use crate::failure::Result;
use crate::summary::Summary;
use crate::text::{against_mean, few, number, rows_of};
use nystrom::faer::{Mat, MatRef};
use nystrom::krr::metrics;
use nystrom_pipeline::ExactSum;
use nystrom_pipeline::{ClassErrors, Model};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Exact sums that determine the errors. Their bits depend neither on the order of the rows nor on
/// how processes share them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Running {
    rows: usize,
    /// Numbers are divided by `unit` before they are summed, so that their squares stay in the
    /// range of `f64`.
    unit: f64,
    /// The sum of the squared errors.
    sum: ExactSum,
    /// The sum of the true values.
    truth: ExactSum,
    /// The sum of the squared true values.
    squares: ExactSum,
    /// The sums of residuals y − f above 0, and of −(y − f) for those below.
    sides: [ExactSum; 2],
    /// The number of rows whose true value is not above the prediction.
    below: usize,
    /// For a quantile: its share.
    share: Option<f64>,
}

impl Running {
    /// Sums over no rows, for a target of this scale, and the share of a quantile.
    pub fn new(scale: f64, share: Option<f64>) -> Running {
        let unit = if (1e-100..=1e100).contains(&scale) { 1.0 } else { scale };
        let [sum, truth, squares] = [(); 3].map(|()| ExactSum::default());
        let sides = [ExactSum::default(), ExactSum::default()];
        Running { rows: 0, unit, sum, truth, squares, sides, below: 0, share }
    }

    pub fn add(&mut self, predicted: f64, actual: f64) {
        self.rows += 1;
        let [predicted, actual] = [predicted, actual].map(|value| value / self.unit);
        self.sum.add((predicted - actual).powi(2));
        self.truth.add(actual);
        self.squares.add_product(actual, actual);
        self.sides[0].add((actual - predicted).max(0.0));
        self.sides[1].add((predicted - actual).max(0.0));
        self.below += usize::from(actual <= predicted);
    }

    pub fn merge(&mut self, other: &Running) {
        self.rows += other.rows;
        self.sum.merge(&other.sum);
        self.truth.merge(&other.truth);
        self.squares.merge(&other.squares);
        self.sides.iter_mut().zip(&other.sides).for_each(|(ours, sums)| ours.merge(sums));
        self.below += other.below;
    }

    /// The errors; none without rows.
    pub fn errors(&self) -> Option<Errors> {
        if self.rows == 0 {
            return None;
        }
        let (rows, sum) = (self.rows as f64, self.sum.value());
        let mut weight = ExactSum::default();
        weight.add(rows);
        let square = self.squares.squares_about(self.truth.value() / rows, &self.truth, &weight);
        let r2 = (square > 0.0).then(|| 1.0 - sum / square);
        let [rmse, mean_rmse] = [sum, square].map(|sum| self.unit * (sum / rows).max(0.0).sqrt());
        let sides = [0, 1].map(|side| self.unit * self.sides[side].value() / rows);
        let (mae, quantile) = sided(sides, self.below as f64 / rows, self.share);
        Some(Errors { rows: self.rows, rmse, mae, r2, mean_rmse, quantile })
    }
}

/// The mean absolute error and the errors of a quantile, from the means of residuals above and
/// below 0 and the share of true values that are not above the prediction.
fn sided([above, under]: [f64; 2], below: f64, share: Option<f64>) -> (f64, Option<OfQuantile>) {
    let pinball = |share: f64| share * above + (1.0 - share) * under;
    let quantile = share.map(|share| OfQuantile { share, below, pinball: pinball(share) });
    (above + under, quantile)
}

/// Errors of predictions of a number.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Errors {
    pub rows: usize,
    pub rmse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// R²; none if the target is constant.
    pub r2: Option<f64>,
    /// The root mean square error of predicting the mean of the same rows.
    pub mean_rmse: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantile: Option<OfQuantile>,
}

/// Errors of predictions of a quantile.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OfQuantile {
    /// The share of true values that should be below the prediction.
    pub share: f64,
    /// The share that is.
    pub below: f64,
    /// The mean pinball loss.
    pub pinball: f64,
}

impl Errors {
    /// The errors of n × 1 predictions, of a quantile if there is a `share`, weighted by `weights`,
    /// which have mean 1.
    pub fn of(
        predicted: MatRef<'_, f64>,
        actual: MatRef<'_, f64>,
        weights: Option<&[f64]>,
        share: Option<f64>,
    ) -> Result<Errors> {
        let rows = actual.nrows();
        let mean_of = |of: &dyn Fn(f64) -> f64| {
            let weight = |i: usize| weights.map_or(1.0, |w| w[i]) / rows as f64;
            (0..rows).map(|i| weight(i) * of(actual[(i, 0)] - predicted[(i, 0)])).sum::<f64>()
        };
        let sides = [mean_of(&|r| r.max(0.0)), mean_of(&|r| (-r).max(0.0))];
        let below = mean_of(&|r| f64::from(u8::from(r <= 0.0)));
        let (mae, quantile) = sided(sides, below, share);
        let Some(weights) = weights else {
            let (rmse, r2) = (metrics::rmse(predicted, actual)?, metrics::r2(predicted, actual));
            let mean = actual.col(0).iter().map(|y| y / rows as f64).sum::<f64>();
            let mean = Mat::from_fn(rows, 1, |_, _| mean);
            let mean_rmse = metrics::rmse(mean.as_ref(), actual)?;
            return Ok(Errors { rows, rmse, mae, r2: r2.ok(), mean_rmse, quantile });
        };
        let mean = (0..rows).map(|i| weights[i] * actual[(i, 0)]).sum::<f64>() / rows as f64;
        let root = |i: usize| weights[i].sqrt();
        let f = Mat::from_fn(rows, 1, |i, _| root(i) * (predicted[(i, 0)] - mean));
        let y = Mat::from_fn(rows, 1, |i, _| root(i) * (actual[(i, 0)] - mean));
        let zero = Mat::zeros(rows, 1);
        let [rmse, spread] = [&f, &zero].map(|of| metrics::rmse(of.as_ref(), y.as_ref()));
        let (rmse, mean_rmse) = (rmse?, spread?);
        let r2 = (mean_rmse > 0.0).then(|| 1.0 - (rmse / mean_rmse).powi(2));
        Ok(Errors { rows, rmse, mae, r2, mean_rmse, quantile })
    }

    /// The errors of n × 1 predictions on the rows whose target is not NaN and whose weight is
    /// positive; none if there are no such rows.
    pub fn where_known(
        predicted: MatRef<'_, f64>,
        actual: &[f64],
        weights: Option<&[f64]>,
        share: Option<f64>,
    ) -> Result<Option<Errors>> {
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let is_known = |i: &usize| !actual[*i].is_nan() && weight(*i) > 0.0;
        let known: Vec<usize> = (0..predicted.nrows()).filter(is_known).collect();
        if known.is_empty() {
            return Ok(None);
        }
        let mean = known.iter().map(|&i| weight(i)).sum::<f64>() / known.len() as f64;
        let weights = weights.map(|all| known.iter().map(|&i| all[i] / mean).collect::<Vec<_>>());
        let y = Mat::from_fn(known.len(), 1, |i, _| actual[known[i]]);
        let f = Mat::from_fn(known.len(), 1, |i, _| predicted[(known[i], 0)]);
        Errors::of(f.as_ref(), y.as_ref(), weights.as_deref(), share).map(Some)
    }

    /// Adds the errors of a target in two lines, the first with the label `label`; `on` says on
    /// which rows.
    pub fn describe(&self, label: &'static str, target: &str, on: &str, summary: &mut Summary) {
        summary.line(label, self.lead(target));
        let r2 = self.r2.map_or_else(|| "not defined: the target is constant".into(), number);
        let more = match self.quantile {
            Some(_) => format!("MAE {}", number(self.mae)),
            None => format!("R² {r2}"),
        };
        summary.line("", format!("on {on}, {more}"));
    }

    /// The error against that of the mean; for a quantile, its loss and its share.
    fn lead(&self, target: &str) -> String {
        let Some(OfQuantile { share, below, pinball }) = self.quantile else {
            return against_mean(target, self.rmse, self.mean_rmse);
        };
        let [below, share] = [below, share].map(|share| number(100.0 * share));
        format!("{target}: pinball loss {}, {below} % below (aim {share} %)", number(pinball))
    }
}

/// The errors of a model on the rows whose target is known.
pub enum ModelErrors {
    /// The errors of each target; none for a target that no row has.
    Numbers(Vec<Option<Errors>>),
    /// The errors of the classes; none if no row has a class. An error for a class that no fitted
    /// row had.
    Classes(nystrom_pipeline::Result<Option<ClassErrors>>),
}

impl ModelErrors {
    /// The name of the first target that no row has.
    pub fn absent<'a>(&self, model: &'a Model) -> Option<&'a str> {
        let place = match self {
            ModelErrors::Numbers(all) => all.iter().position(Option::is_none),
            ModelErrors::Classes(errors) => matches!(errors, Ok(None)).then_some(0),
        };
        place.map(|place| &model.targets()[place].name[..])
    }

    /// Adds the errors as lines, the first with the label `error`, and as the JSON key `key`; of
    /// several targets as the key `several`, an object with a key for each target. The rows are
    /// named by the words `rows` behind their number.
    pub fn report(
        self,
        model: &Model,
        (rows, key, several): (&'static str, &str, &str),
        summary: &mut Summary,
    ) {
        let all = match self {
            ModelErrors::Numbers(all) => all,
            ModelErrors::Classes(errors) => return classes::report(errors, rows, key, summary),
        };
        let names = model.output_names();
        let known = names.iter().zip(all).filter_map(|(name, errors)| Some((&name[..], errors?)));
        let known: Vec<(&str, Errors)> = known.collect();
        if let ([_], [(name, errors)]) = (&names[..], &known[..]) {
            errors.describe("error", name, &rows_of(errors.rows, rows), summary);
            return summary.value(key, errors);
        }
        let same = known.windows(2).all(|two| two[0].1.rows == two[1].1.rows);
        let lines = known.iter().map(|(name, errors)| {
            let text = errors.lead(name);
            match same {
                true => text,
                false => format!("{text}, {}", rows_of(errors.rows, rows)),
            }
        });
        let lines = few(&lines.collect::<Vec<_>>(), "targets");
        lines.into_iter().for_each(|text| summary.line("error", text));
        if let Some((_, errors)) = known.first().filter(|_| same) {
            summary.line("", format!("on {}", rows_of(errors.rows, rows)));
        }
        summary.value(several, known.into_iter().collect::<BTreeMap<_, _>>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares of errors leave the range of `f64` long before the errors do.
    #[test]
    fn running_errors_are_in_the_unit_of_the_target() {
        let pairs = [(1.0, 2.0), (3.0, 3.0), (2.0, 5.0), (-1.0, -1.0)];
        // Σ(f − y)² = 10; Σ(y − 2.25)² = 18.75
        for scale in [1.0, 1e-300, 1e-160, 1e160, 1e300] {
            let mut sums = Running::new(scale, Some(0.9));
            pairs.iter().for_each(|(f, y)| sums.add(f * scale, y * scale));
            let errors = sums.errors().unwrap();
            assert!((errors.rmse / scale - 2.5f64.sqrt()).abs() < 1e-12, "{errors:?}");
            assert!((errors.r2.unwrap() - (1.0 - 10.0 / 18.75)).abs() < 1e-12, "{errors:?}");
            let mean = (18.75_f64 / 4.0).sqrt();
            assert!((errors.mean_rmse / scale - mean).abs() < 1e-12, "{errors:?}");
            // residuals 1, 0, 3, 0: two targets are not above their predictions
            let of = errors.quantile.unwrap();
            assert!((errors.mae / scale - 1.0).abs() < 1e-12 && of.below == 0.5, "{errors:?}");
            assert!((of.pinball / scale - 0.9).abs() < 1e-12, "{errors:?}");
        }
    }
}
