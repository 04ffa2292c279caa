//! Predictions of the chosen candidate for validation rows.

use crate::classes::Classes;
use crate::intervals::rank;
use nystrom::faer::MatRef;
use serde::{Deserialize, Serialize};

mod saved;

/// Predictions for validation rows, each by a fit to other rows.
///
/// The candidate was chosen by its error on the same rows, so this error is slightly too small. The
/// error on held-out rows ([`Fit::hold_out`](crate::Fit::hold_out)) is unbiased.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// The number of rows predicted.
    pub rows: usize,
    /// The number of folds; the validation rows of several folds are together all rows.
    pub folds: usize,
    /// How rows were set aside: `random`, or `group` or `time` followed by the column.
    pub split: String,
    /// For a regression: true and predicted values of each target.
    pub targets: Vec<Compared>,
    /// For classes: true and predicted classes.
    pub classes: Option<Confusion>,
}

/// True and predicted values of a target for each row, in the units of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "saved::Compared")]
pub struct Compared {
    /// The name of the target.
    pub target: String,
    /// The true values.
    pub actual: Vec<f64>,
    /// The predicted values.
    pub predicted: Vec<f64>,
}

/// The confusion matrix of K classes, and the calibration of their probabilities.
///
/// The K parameters of the probabilities were fitted on the same rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "saved::Confusion")]
#[non_exhaustive]
pub struct Confusion {
    /// The names of the classes.
    pub names: Vec<String>,
    /// `counts[k][l]`: the number of rows of class k that were predicted as class l.
    pub counts: Vec<Vec<usize>>,
    /// Bins by the probability of the second class if there are two classes, otherwise by the
    /// probability of the likeliest class.
    pub bins: Vec<Bin>,
}

/// A bin of a calibration plot: rows with similar probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bin {
    /// The weighted mean of the probabilities.
    pub probability: f64,
    /// The weighted share of rows that have the class.
    pub share: f64,
    /// The number of rows.
    pub rows: usize,
}

/// How often intervals contain the true value, measured on the calibration rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Coverage {
    /// The name of the target.
    pub target: String,
    /// The number of calibration rows. Each half of them is compared with intervals that are
    /// calibrated on the other half.
    pub rows: usize,
    /// Levels, each with the share of rows that its intervals contain.
    pub levels: Vec<[f64; 2]>,
}

/// The largest number of bins, which have the same number of rows.
const BINS: usize = 15;
/// The levels at which coverage is measured.
const LEVELS: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

impl Confusion {
    /// Compares probabilities (n × K) with the class of each row. The bins count rows by weight.
    pub(crate) fn of(
        names: &[String],
        probabilities: MatRef<'_, f64>,
        labels: &[usize],
        weights: Option<&[f64]>,
    ) -> Self {
        let count = names.len();
        let likeliest = Classes::likeliest(probabilities);
        let mut counts = vec![vec![0; count]; count];
        labels.iter().zip(&likeliest).for_each(|(&class, &taken)| counts[class][taken] += 1);
        let outcome = |i: usize| {
            let weight = weights.map_or(1.0, |w| w[i]);
            match count {
                2 => (probabilities[(i, 1)], labels[i] == 1, weight),
                _ => (probabilities[(i, likeliest[i])], labels[i] == likeliest[i], weight),
            }
        };
        let outcomes = (0..labels.len()).map(outcome).collect();
        Confusion { names: names.to_vec(), counts, bins: bins(outcomes) }
    }
}

/// Bins of neighbouring probabilities. An outcome is a probability, whether the row has the class,
/// and a weight.
fn bins(mut outcomes: Vec<(f64, bool, f64)>) -> Vec<Bin> {
    outcomes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (n, bins) = (outcomes.len(), BINS.min(outcomes.len()));
    let bin = |b: usize| {
        let rows = &outcomes[b * n / bins..(b + 1) * n / bins];
        let total: f64 = rows.iter().map(|row| row.2).sum();
        let mean = |of: &dyn Fn(&(f64, bool, f64)) -> f64| {
            rows.iter().map(|row| row.2 * of(row)).sum::<f64>() / total
        };
        Bin {
            probability: mean(&|row| row.0),
            share: mean(&|row| f64::from(u8::from(row.1))),
            rows: rows.len(),
        }
    };
    (0..bins).map(bin).collect()
}

impl Coverage {
    /// Compares the scores of rows at even positions with those at odd positions, and the other way
    /// round. Levels for which half of the rows are too few are left out.
    pub(crate) fn of(target: &str, scores: &[f64]) -> Coverage {
        let half = |odd: usize| {
            let mut half: Vec<f64> = scores.iter().skip(odd).step_by(2).copied().collect();
            half.sort_by(f64::total_cmp);
            half
        };
        let halves = [half(0), half(1)];
        let within = |level: f64| {
            let covered = |a: &[f64], b: &[f64]| {
                b.get(rank(b.len(), level) - 1).map(|q| a.partition_point(|score| score <= q))
            };
            let [first, second] = &halves;
            let both = covered(first, second)? + covered(second, first)?;
            Some([level, both as f64 / scores.len() as f64])
        };
        let levels = LEVELS.into_iter().filter_map(within).collect();
        Coverage { target: target.to_owned(), rows: scores.len(), levels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom::prelude::*;

    #[test]
    fn coverage_of_halves_is_near_its_level() {
        let rng = &mut Pcg64::seed_from_u64(1);
        let scores: Vec<f64> = (0..4000).map(|_| rng.random::<f64>()).collect();
        let coverage = Coverage::of("y", &scores);
        assert_eq!(coverage.levels.len(), LEVELS.len());
        for [level, covered] in coverage.levels {
            // two shares of 2000 rows against quantiles of 2000: 5 standard deviations of the sum
            let sd = (level * (1.0 - level) * (1.0 / 4000.0 + 1.0 / 2000.0)).sqrt();
            assert!((covered - level).abs() < 5.0 * sd, "{level} {covered}");
        }
        assert!(Coverage::of("y", &[1.0, 2.0]).levels.iter().all(|[level, _]| *level <= 0.5));
        assert!(Coverage::of("y", &[1.0]).levels.is_empty());
    }

    #[test]
    fn bins_hold_all_rows() {
        let outcomes = |n: usize| {
            let outcome = |i: usize| (i as f64 / n as f64, i.is_multiple_of(2), 1.0);
            (0..n).map(outcome).collect()
        };
        assert!(bins(Vec::new()).is_empty());
        assert_eq!(bins(outcomes(4)).len(), 4);
        let all = bins(outcomes(100));
        assert_eq!((all.len(), all.iter().map(|bin| bin.rows).sum::<usize>()), (15, 100));
        assert!(all.is_sorted_by(|a, b| a.probability < b.probability));
    }
}
