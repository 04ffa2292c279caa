//! How wrong classes and their probabilities are.

use super::Classes;
use nystrom::faer::MatRef;
use serde::{Deserialize, Serialize};

/// Bins of the calibration error, with as many rows each.
const BINS: usize = 15;
/// Probabilities below count as this in the logarithmic loss.
const LEAST: f64 = f64::EPSILON;

/// Errors of probabilities on rows whose class is known.
///
/// ```
/// use nystrom::faer::mat;
/// use nystrom_pipeline::ClassErrors;
/// let p = mat![[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.8, 0.2]];
/// let errors = ClassErrors::of(p.as_ref(), &[0, 0, 1, 1]);
/// assert_eq!((errors.error_rate, errors.auc), (0.25, Some(0.75)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClassErrors {
    /// Rows compared.
    pub rows: usize,
    /// The share of rows whose likeliest class is not theirs.
    pub error_rate: f64,
    /// The mean of −ln p of the class of each row, p at least 2.2e-16.
    pub log_loss: f64,
    /// Of two classes, if both occur: how often a row of the second has a larger p than one of the
    /// first.
    pub auc: Option<f64>,
    /// The mean distance between the p of the likeliest class and the share of rows that are right.
    /// It is taken over 15 bins of equally many rows, by that p.
    pub calibration_error: f64,
}

impl ClassErrors {
    /// Of probabilities n × K against the class of each row, from 0. All are NaN without rows.
    ///
    /// # Cost
    /// O(n log n + nK).
    pub fn of(probabilities: MatRef<'_, f64>, labels: &[usize]) -> ClassErrors {
        let n = labels.len();
        let likeliest = Classes::likeliest(probabilities);
        let right: Vec<bool> = likeliest.iter().zip(labels).map(|(a, b)| a == b).collect();
        let loss = |(i, &class): (usize, &usize)| -probabilities[(i, class)].max(LEAST).ln();
        let sure: Vec<f64> =
            likeliest.iter().enumerate().map(|(i, &k)| probabilities[(i, k)]).collect();
        ClassErrors {
            rows: n,
            error_rate: right.iter().filter(|right| !**right).count() as f64 / n as f64,
            log_loss: labels.iter().enumerate().map(loss).sum::<f64>() / n as f64,
            auc: (probabilities.ncols() == 2).then(|| auc(probabilities, labels)).flatten(),
            calibration_error: calibration(&sure, &right),
        }
    }
}

/// The Mann–Whitney statistic; rows as likely count a half.
fn auc(probabilities: MatRef<'_, f64>, labels: &[usize]) -> Option<f64> {
    let p = |i: usize| probabilities[(i, 1)];
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| p(a).total_cmp(&p(b)));
    let (mut below, mut wins) = (0.0, 0.0);
    for tied in order.chunk_by(|&a, &b| p(a) == p(b)) {
        let second = tied.iter().filter(|&&i| labels[i] == 1).count() as f64;
        let first = tied.len() as f64 - second;
        wins += second * (below + 0.5 * first);
        below += first;
    }
    let pairs = below * (labels.len() as f64 - below);
    (pairs > 0.0).then(|| wins / pairs)
}

fn calibration(sure: &[f64], right: &[bool]) -> f64 {
    let n = sure.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| sure[a].total_cmp(&sure[b]));
    let gap = |bin: usize| {
        let rows = &order[bin * n / BINS..(bin + 1) * n / BINS];
        rows.iter().map(|&i| sure[i] - f64::from(u8::from(right[i]))).sum::<f64>().abs()
    };
    (0..BINS).map(gap).sum::<f64>() / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom::faer::Mat;
    use nystrom::prelude::*;
    use proptest::prelude::*;

    proptest! {
        /// AUC by its definition, over all pairs.
        #[test]
        fn auc_counts_pairs(rows in prop::collection::vec((0..8_u8, 0..2_usize), 1..40)) {
            let p = Mat::from_fn(rows.len(), 2, |i, k| {
                let p = f64::from(rows[i].0) / 8.0;
                if k == 1 { p } else { 1.0 - p }
            });
            let labels: Vec<usize> = rows.iter().map(|row| row.1).collect();
            let of = |class: usize| rows.iter().filter(move |row| row.1 == class);
            let win = |a: u8, b: u8| if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
            let pairs = of(1).flat_map(|one| of(0).map(|zero| win(one.0, zero.0)));
            let wins: Vec<f64> = pairs.collect();
            let wanted = (!wins.is_empty()).then(|| wins.iter().sum::<f64>() / wins.len() as f64);
            let found = ClassErrors::of(p.as_ref(), &labels).auc;
            prop_assert_eq!(found.is_some(), wanted.is_some());
            prop_assert!((found.unwrap_or(0.0) - wanted.unwrap_or(0.0)).abs() < 1e-12);
        }
    }

    /// Right probabilities have a small calibration error, squared ones a large one.
    #[test]
    fn calibration_error_tells_right_probabilities_from_wrong_ones() {
        let rng = &mut Pcg64::seed_from_u64(2);
        let n = 15_000;
        let p: Vec<f64> = (0..n).map(|_| rng.random()).collect();
        let labels: Vec<usize> = p.iter().map(|p| usize::from(rng.random::<f64>() < *p)).collect();
        let error = |power: f64| {
            let bent = |p: f64| p.powf(power) / (p.powf(power) + (1.0 - p).powf(power));
            let of = |i: usize, k: usize| if k == 1 { bent(p[i]) } else { 1.0 - bent(p[i]) };
            let p = Mat::from_fn(n, 2, of);
            ClassErrors::of(p.as_ref(), &labels).calibration_error
        };
        // a bin of 1000 rows is off by at most 0.5/√1000 = 0.016 in the mean square
        assert!(error(1.0) < 0.016, "{}", error(1.0));
        assert!(error(3.0) > 0.05, "{}", error(3.0));
    }
}
