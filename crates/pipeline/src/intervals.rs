//! Intervals by split conformal prediction, with residuals normalised by their predicted size.

use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::split::Split;
use nystrom::faer::{Mat, MatRef};
use nystrom::linalg_core::random;
use nystrom::prelude::*;
use nystrom_data::Table;

/// What intervals are made of.
///
/// A second fit predicts ln |y − f(x)|; its exponential is the size s(x). Of calibration rows,
/// which no choice and no fit has seen, the scores |y − f(x)|/s(x) are kept. Of n of them q is the
/// ⌈(n + 1)(1 − α)⌉-th smallest, and f(x) ± q·s(x) holds y of a new row with probability at least
/// 1 − α, on average over rows and calibrations, if rows are exchangeable (Lei, G'Sell, Rinaldo,
/// Tibshirani & Wasserman, 2018).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conformal {
    pub sizes: Sizes,
    /// For each target its scores, increasing.
    pub scores: Vec<Vec<f64>>,
}

/// The size of residuals: mapped features → ln s, of each target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sizes {
    pub regression: KrrModel<AnyKernel, f64>,
    /// For each target the smallest and the largest ln s.
    pub ranges: Vec<[f64; 2]>,
}

/// Below this share of their mean, residuals have the same size.
const LEAST: f64 = 0.05;

impl Sizes {
    /// ln |y − f|, and what it lies between.
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

    /// s at mapped features, n × t.
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
    /// What no fit would have made of d features and t targets, in words.
    pub fn problem(&self, d: usize, t: usize) -> Option<String> {
        let Sizes { regression, ranges } = &self.sizes;
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

    /// q of each target at a level 1 − α.
    pub fn quantiles(&self, level: f64) -> Result<Vec<f64>> {
        check_level(level)?;
        let rows = self.scores.iter().map(Vec::len).min().unwrap_or(0);
        let needed = needed(level);
        if rows < needed {
            return Err(Error::FewCalibrationRows { level, rows, needed });
        }
        // the product may be an integer but for rounding
        let rank = |n: usize| ((n + 1) as f64 * level - 1e-9).ceil().max(1.0) as usize;
        Ok(self
            .scores
            .iter()
            .map(|scores| scores[rank(scores.len()).min(scores.len()) - 1])
            .collect())
    }
}

/// The fewest calibration rows for intervals of a level: 1/α.
fn needed(level: f64) -> usize {
    (1.0 / (1.0 - level) - 1e-9).ceil() as usize
}

fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    let problem =
        format!("{level} is no level of an interval; take one between 0 and 1, such as 0.9");
    Err(Error::Option { option: "interval", problem })
}

/// The rows that are fitted and those set aside for calibration.
///
/// # Randomness
/// The rows set aside; nothing is drawn if there are none.
pub(crate) fn set_aside(
    share: Option<f64>,
    split: &Split,
    table: &Table,
    rng: &mut dyn Rng,
) -> Result<Option<(Table, Table)>> {
    let Some(share) = share else { return Ok(None) };
    let wrong = |problem: String| Err(Error::Option { option: "calibrate", problem });
    if let Some(column) = split.column() {
        return wrong(format!(
            "intervals hold for rows at random, and rows are split by {column:?}; leave one out"
        ));
    }
    let (n, out) = (table.rows(), (share * table.rows() as f64).round());
    if !(share > 0.0 && share < 1.0 && out >= 1.0 && (out as usize) < n) {
        return wrong(format!(
            "{share} of {n} rows leaves no row on one side; take a share such as 0.1"
        ));
    }
    let mut aside = vec![false; n];
    random::uniform_subset(n, out as usize, rng)?.into_iter().for_each(|row| aside[row] = true);
    let part = |wanted: bool| -> Result<Table> {
        let rows: Vec<usize> = (0..n).filter(|&row| aside[row] == wanted).collect();
        Ok(table.select_rows(&rows)?)
    };
    Ok(Some((part(false)?, part(true)?)))
}
