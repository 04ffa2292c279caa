//! The errors of predictions on rows whose target is known.

use super::classes;
use crate::summary::Summary;
use crate::text::{against_mean, few, number, rows_of};
use nystrom::faer::MatRef;
use nystrom_pipeline::{ClassErrors, ExactSum, Model};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Exact sums that determine the errors. Their bits depend neither on the order of the rows nor on
/// how processes share them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ErrorSums {
    rows: usize,
    /// Numbers are divided by `unit` before they are summed, so that their squares stay in the
    /// range of `f64`.
    unit: f64,
    /// The sum of the weights, by which all other sums are weighted.
    weight: ExactSum,
    /// The sum of the squared errors.
    sum: ExactSum,
    /// The sum of the true values.
    truth: ExactSum,
    /// The sum of the squared true values.
    squares: ExactSum,
    /// The sums of residuals y − f above 0, and of −(y − f) for those below.
    sides: [ExactSum; 2],
    /// The sum over the rows whose true value is not above the prediction.
    below: ExactSum,
    /// For a quantile: its share.
    share: Option<f64>,
}

impl ErrorSums {
    /// Sums over no rows, for a target of this scale, and the share of a quantile.
    pub fn new(scale: f64, share: Option<f64>) -> ErrorSums {
        let unit = match scale {
            0.0 | 1e-100..=1e100 | f64::INFINITY => 1.0,
            scale => scale,
        };
        ErrorSums { unit, share, ..ErrorSums::default() }
    }

    pub fn add(&mut self, predicted: f64, actual: f64, weight: f64) {
        self.rows += 1;
        self.weight.add(weight);
        let [predicted, actual] = [predicted, actual].map(|value| value / self.unit);
        self.sum.add(weight * (predicted - actual).powi(2));
        self.truth.add_product(weight, actual);
        self.squares.add_square(weight, actual);
        self.sides[0].add(weight * (actual - predicted).max(0.0));
        self.sides[1].add(weight * (predicted - actual).max(0.0));
        if actual <= predicted {
            self.below.add(weight);
        }
    }

    pub fn merge(&mut self, other: &ErrorSums) {
        self.rows += other.rows;
        self.weight.merge(&other.weight);
        self.sum.merge(&other.sum);
        self.truth.merge(&other.truth);
        self.squares.merge(&other.squares);
        self.sides.iter_mut().zip(&other.sides).for_each(|(ours, sums)| ours.merge(sums));
        self.below.merge(&other.below);
    }

    /// The errors; none without rows.
    pub fn errors(&self) -> Option<Errors> {
        if self.rows == 0 {
            return None;
        }
        let [weight, sum, truth, below] =
            [&self.weight, &self.sum, &self.truth, &self.below].map(ExactSum::value);
        let square = self.squares.squares_about(truth / weight, &self.truth, &self.weight);
        let r2 = (square > 0.0).then(|| 1.0 - sum / square);
        let [rmse, mean_rmse] = [sum, square].map(|sum| self.unit * (sum / weight).sqrt());
        let [above, under] = [0, 1].map(|side| self.unit * self.sides[side].value() / weight);
        let quantile = self.share.map(|share| {
            let pinball = share * above + (1.0 - share) * under;
            OfQuantile { share, below: below / weight, pinball }
        });
        Some(Errors { rows: self.rows, rmse, mae: above + under, r2, mean_rmse, quantile })
    }
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
    /// The errors of n × 1 predictions, of a quantile if there is a `share`, on the rows whose
    /// target is not NaN; none if none of these has a positive weight.
    pub fn of(
        predicted: MatRef<'_, f64>,
        actual: &[f64],
        weights: Option<&[f64]>,
        share: Option<f64>,
    ) -> Option<Errors> {
        let known = (0..actual.len()).filter(|&i| !actual[i].is_nan());
        let rows = known.clone().count();
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let counting = known.filter(|&i| weight(i) > 0.0);
        let mean = counting.clone().map(weight).sum::<f64>() / rows as f64;
        let largest = counting.clone().map(|i| predicted[(i, 0)].abs().max(actual[i].abs()));
        let mut sums = ErrorSums::new(largest.fold(0.0, f64::max), share);
        counting.for_each(|i| sums.add(predicted[(i, 0)], actual[i], weight(i) / mean));
        Some(Errors { rows, ..sums.errors()? })
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
            let mut sums = ErrorSums::new(scale, Some(0.9));
            pairs.iter().for_each(|(f, y)| sums.add(f * scale, y * scale, 1.0));
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

    #[test]
    fn weights_count_in_any_unit_and_rows_of_weight_0_only_as_rows() {
        let (f, y) = (
            nystrom::faer::mat![[1.0], [3.0], [2.0], [0.0], [0.0]],
            [2.0, 3.0, 5.0, 1e200, f64::NAN],
        );
        for unit in [1.0, 1e-300, 1e300] {
            let weights = [1.0, 2.0, 1.0, 0.0, 5.0].map(|weight| weight * unit);
            let errors = Errors::of(f.as_ref(), &y, Some(&weights), None).unwrap();
            // Σw(f − y)² = 10, Σw = 4
            assert!(errors.rows == 4 && (errors.rmse - 2.5f64.sqrt()).abs() < 1e-12, "{errors:?}");
            assert!((errors.mae - 1.0).abs() < 1e-12, "{errors:?}");
        }
        assert!(Errors::of(f.as_ref(), &y, Some(&[0.0; 5]), None).is_none());
        assert!(Errors::of(f.as_ref(), &[f64::NAN; 5], None, None).is_none());
    }
}
