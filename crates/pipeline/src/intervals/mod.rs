//! Intervals by split conformal prediction, with residuals normalised by their predicted size; in
//! `plus.rs` by models that leave rows out.

mod plus;
mod uncertainty;

pub(crate) use plus::Plus;
pub use uncertainty::Uncertainty;
pub(crate) use uncertainty::{Left, Variances, posterior, spread_of};

use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::split::{Fold, Split};
use nystrom::faer::{Mat, MatRef};
use nystrom::prelude::*;

/// How [`Model::intervals`](crate::Model::intervals) are calibrated. In every case they are
/// calibrated on rows that no choice of the search depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Calibrate {
    /// Split conformal prediction: neither search nor fit use this share of the rows. An interval
    /// of level 1 − α contains the true value with probability at least 1 − α. Its width is
    /// proportional to the predicted size of the residual. Probabilities of classes are calibrated
    /// on these rows as well, instead of on validation rows.
    Share(f64),
    /// CV+ with this many parts. The search uses one half of the rows. There is one fit for each
    /// part of the other half, to all rows but that part, and one fit to all rows. An interval of
    /// level 1 − α contains the true value with probability at least 1 − 2α − √(2/n), in practice
    /// about 1 − α.
    Cross(usize),
    /// Jackknife+: CV+ with one part for each row, in closed form, for a fit with at most 500
    /// centres among the rows of the search. An interval of level 1 − α contains the true value
    /// with probability at least 1 − 2α. The model stores one number for each centre and row, and
    /// a prediction takes as many operations.
    LeaveOneOut,
}

/// A share such as `0.1`, `cv:10`, or `loo`.
impl std::str::FromStr for Calibrate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.strip_prefix("cv:").and_then(|parts| parts.parse().ok());
        match (text, parts, text.parse()) {
            ("loo", _, _) => Ok(Calibrate::LeaveOneOut),
            (_, Some(parts), _) => Ok(Calibrate::Cross(parts)),
            (_, None, Ok(share)) => Ok(Calibrate::Share(share)),
            _ => {
                let problem =
                    format!("{text:?} is neither a share such as 0.1, nor cv:10, nor loo");
                Err(Error::Option { option: "calibrate", problem })
            }
        }
    }
}

/// The share of the rows that the search does not use if all rows are fitted.
const HALF: f64 = 0.5;
/// The level for which a message states the number of rows that intervals need.
const USUAL: f64 = 0.9;

/// Split conformal prediction.
///
/// A second fit predicts ln |y − f(x)|; its exponential is the size s(x). Calibration rows, on
/// which no choice and no fit depends, have scores |y − f(x)|/s(x); q is the ⌈(n + 1)(1 − α)⌉-th
/// smallest of the n scores. If rows are exchangeable, f(x) ± q·s(x) contains y of a new row with
/// probability at least 1 − α, on average over rows and calibrations (Lei, G'Sell, Rinaldo,
/// Tibshirani & Wasserman, 2018).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conformal {
    pub sizes: ResidualSizes,
    /// The scores of each target, in increasing order.
    pub scores: Vec<Vec<f64>>,
}

/// The sizes s of the residuals of each target: a regression of ln s on mapped features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResidualSizes {
    pub regression: KrrModel<AnyKernel, f64>,
    /// The smallest and the largest ln s of each target.
    pub ranges: Vec<[f64; 2]>,
}

/// The least size of a residual, as a share of the mean size.
const LEAST: f64 = 0.05;

impl ResidualSizes {
    /// ln |y − f| of each residual, and its range for each target.
    pub fn logarithms(residuals: MatRef<'_, f64>) -> (Mat<f64>, Vec<[f64; 2]>) {
        let n = residuals.nrows();
        let mut logs = Mat::zeros(n, residuals.ncols());
        let mut ranges = Vec::new();
        for j in 0..residuals.ncols() {
            let mean = (0..n).map(|i| residuals[(i, j)].abs()).sum::<f64>() / n as f64;
            let least = if mean > 0.0 { LEAST * mean } else { 1.0 };
            (0..n).for_each(|i| logs[(i, j)] = (residuals[(i, j)].abs() + least).ln());
            let extreme = |f: fn(f64, f64) -> f64| {
                (1..n).fold(logs[(0, j)], |extreme, i| f(extreme, logs[(i, j)]))
            };
            ranges.push([extreme(f64::min), extreme(f64::max)]);
        }
        (logs, ranges)
    }

    /// The sizes s at mapped features, n × t.
    pub fn at(&self, x: Points<'_, f64>) -> Result<Mat<f64>> {
        let logs = self.regression.predict(x)?;
        let size = |i, j: usize| {
            let [low, high] = self.ranges[j];
            logs[(i, j)].max(low).min(high).exp()
        };
        Ok(Mat::from_fn(logs.nrows(), logs.ncols(), size))
    }
}

impl Conformal {
    /// A description of what is wrong, if no fit with d features and t targets makes these scores.
    pub fn problem(&self, d: usize, t: usize) -> Option<String> {
        let ResidualSizes { regression, ranges } = &self.sizes;
        let increasing = |scores: &Vec<f64>| {
            scores.iter().all(|s| s.is_finite() && *s >= 0.0) && scores.is_sorted()
        };
        let bounded = |[low, high]: &[f64; 2]| low.is_finite() && high.is_finite() && low <= high;
        let sound = regression.centers().dim() == d
            && (regression.coefficients().ncols(), ranges.len(), self.scores.len()) == (t, t, t)
            && ranges.iter().all(bounded)
            && self.scores.iter().all(increasing);
        (!sound).then(|| "its intervals are not calibrated".into())
    }

    /// The ends f ± q·s of the intervals at mapped features.
    pub fn ends(&self, values: &Mat<f64>, x: Points<'_, f64>, level: f64) -> Result<[Mat<f64>; 2]> {
        let (quantiles, sizes) = (self.quantiles(level)?, self.sizes.at(x)?);
        Ok([-1.0, 1.0].map(|sign| {
            let end = |i, j: usize| values[(i, j)] + sign * quantiles[j] * sizes[(i, j)];
            Mat::from_fn(values.nrows(), values.ncols(), end)
        }))
    }

    /// The quantile q of each target at a level 1 − α.
    pub fn quantiles(&self, level: f64) -> Result<Vec<f64>> {
        check_level(level)?;
        let rows = self.scores.iter().map(Vec::len).min().unwrap_or(0);
        let needed = needed(level);
        if rows < needed {
            return Err(Error::FewCalibrationRows { level, rows, needed });
        }
        let of = |scores: &Vec<f64>| scores[rank(scores.len(), level).min(scores.len()) - 1];
        Ok(self.scores.iter().map(of).collect())
    }
}

/// The fewest calibration rows n for intervals of a level 1 − α: (n + 1)(1 − α) ≤ n.
fn needed(level: f64) -> usize {
    whole(level / (1.0 - level))
}

/// The rank of the quantile 1 − α of n scores and one more, from 1.
pub(crate) fn rank(n: usize, level: f64) -> usize {
    whole((n + 1) as f64 * level)
}

/// The smallest whole number, at least 1, that is not below the value, up to rounding.
fn whole(value: f64) -> usize {
    (value - 1e-9).ceil().max(1.0) as usize
}

fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    let problem =
        format!("{level} is no level of an interval; take one between 0 and 1, such as 0.9");
    Err(Error::Option { option: "interval", problem })
}

/// The rows that are fitted and those set aside for calibration, as a fold of n rows.
///
/// # Randomness
/// The rows set aside; nothing is drawn if there are none.
pub(crate) fn set_aside(
    how: Option<Calibrate>,
    split: &Split,
    n: usize,
    rng: &mut dyn Rng,
) -> Result<Option<Fold>> {
    let share = match how {
        None => return Ok(None),
        Some(Calibrate::Share(share)) => share,
        Some(Calibrate::Cross(_) | Calibrate::LeaveOneOut) => HALF,
    };
    let wrong = |problem: String| Err(Error::Option { option: "calibrate", problem });
    if let Some(column) = split.column() {
        return wrong(format!(
            "intervals need rows that are set aside at random, and rows are split by {column:?}; \
             leave out one of the two"
        ));
    }
    if let Some(Calibrate::Cross(parts)) = how
        && !(2..=n / 2).contains(&parts)
    {
        return wrong(format!("{n} rows cannot be cut into {parts} parts; take 2 to {}", n / 2));
    }
    if !(share > 0.0 && share < 1.0) {
        return wrong(format!("{share} is no share of the rows; take one such as 0.1"));
    }
    let fold = Fold::at_random(n, share, rng)?;
    if fold.is_none() {
        let least = (0.5 / share).ceil().max((0.5 / (1.0 - share)).floor() + 1.0);
        let usual = (needed(USUAL) as f64 / share).ceil();
        return wrong(format!(
            "{share} of {n} rows leaves no row on one side: it takes {least} rows, and {usual} for \
             intervals of level {USUAL}"
        ));
    }
    Ok(fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_among_the_scores_from_the_needed_number_on() {
        assert_eq!((needed(0.9), rank(9, 0.9), rank(19, 0.95)), (9, 9, 19));
        for level in [1e-12, 0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
            for n in 1..2000 {
                let found = rank(n, level);
                assert!(found >= 1 && (found <= n) == (n >= needed(level)), "{n} at {level}");
            }
        }
    }
}
