//! Errors of predicted classes and their probabilities.

use super::Classes;
use nystrom::faer::MatRef;
use serde::{Deserialize, Serialize};

/// The number of bins of the calibration error, which have equal weights.
const BINS: usize = 15;
/// The smallest probability in the logarithmic loss.
const LEAST: f64 = f64::EPSILON;

/// Errors of predicted probabilities on rows whose class is known.
///
/// ```
/// use nystrom::faer::mat;
/// use nystrom_pipeline::ClassErrors;
/// let p = mat![[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.8, 0.2]];
/// let errors = ClassErrors::of(p.as_ref(), &[0, 0, 1, 1], None);
/// assert_eq!((errors.error_rate, errors.auc), (0.25, Some(0.75)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClassErrors {
    /// The number of rows.
    pub rows: usize,
    /// The share of rows whose likeliest class is wrong.
    pub error_rate: f64,
    /// The mean of −ln p over the rows, where p is the probability of the true class, at least
    /// 2.2e-16.
    pub log_loss: f64,
    /// For two classes, if both occur: the area under the ROC curve, the probability that a row of
    /// the second class has a larger p than a row of the first.
    pub auc: Option<f64>,
    /// The mean distance between the probability of the likeliest class and the share of rows that
    /// have this class, over 15 bins of equally many rows sorted by that probability.
    pub calibration_error: f64,
    /// The error rate if the most frequent class of these rows is predicted for every row.
    pub constant_error_rate: f64,
    /// The logarithmic loss if the shares of the classes in these rows are predicted for every row.
    pub constant_log_loss: f64,
}

impl ClassErrors {
    /// The errors of `probabilities` (n × K), where `labels` are the true classes, from 0. With
    /// weights, a row of weight 3 counts like three rows, and the field `rows` is still the number
    /// of rows. Without rows, all errors are NaN.
    ///
    /// # Cost
    /// O(n log n + nK).
    ///
    /// ```
    /// use nystrom::faer::mat;
    /// use nystrom_pipeline::ClassErrors;
    /// let p = mat![[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]];
    /// let errors = ClassErrors::of(p.as_ref(), &[0, 1, 1], Some(&[1.0, 2.0, 1.0]));
    /// assert_eq!(errors.error_rate, 0.5);
    /// ```
    pub fn of(
        probabilities: MatRef<'_, f64>,
        labels: &[usize],
        weights: Option<&[f64]>,
    ) -> ClassErrors {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..labels.len()).map(weight).sum();
        let likeliest = Classes::likeliest(probabilities);
        let outcome = |(i, &class): (usize, &usize)| Outcome {
            weight: weight(i),
            sure: probabilities[(i, class)],
            right: class == labels[i],
        };
        let outcomes: Vec<Outcome> = likeliest.iter().enumerate().map(outcome).collect();
        let wrong = outcomes.iter().filter(|outcome| !outcome.right);
        let loss = |i: usize| -weight(i) * probabilities[(i, labels[i])].max(LEAST).ln();
        let shares = shares(labels, probabilities.ncols(), weight);
        ClassErrors {
            rows: labels.len(),
            // a sum of nothing is −0
            error_rate: wrong.map(|outcome| outcome.weight).sum::<f64>().abs() / total,
            log_loss: (0..labels.len()).map(loss).sum::<f64>() / total,
            auc: (probabilities.ncols() == 2).then(|| auc(probabilities, labels, weight)).flatten(),
            calibration_error: calibration(outcomes, total),
            constant_error_rate: 1.0 - shares.iter().copied().fold(f64::NAN, f64::max),
            // p ln p is 0 at p = 0, and −0 at p = 1
            constant_log_loss: shares
                .iter()
                .filter(|p| **p != 0.0)
                .map(|p| p * p.ln())
                .sum::<f64>()
                .abs(),
        }
    }
}

/// The share of each of K classes in the weight of the rows.
fn shares(labels: &[usize], classes: usize, weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; classes];
    labels.iter().enumerate().for_each(|(i, &class)| sums[class] += weight(i));
    let total: f64 = sums.iter().sum();
    sums.into_iter().map(|sum| sum / total).collect()
}

/// A row, the probability of its likeliest class, and whether that is its class.
#[derive(Clone, Copy)]
struct Outcome {
    weight: f64,
    sure: f64,
    right: bool,
}

/// The Mann–Whitney statistic; pairs of rows with the same probability count one half.
fn auc(
    probabilities: MatRef<'_, f64>,
    labels: &[usize],
    weight: impl Fn(usize) -> f64,
) -> Option<f64> {
    let p = |i: usize| probabilities[(i, 1)];
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| p(a).total_cmp(&p(b)));
    let (mut below, mut above, mut wins) = (0.0, 0.0, 0.0);
    for tied in order.chunk_by(|&a, &b| p(a) == p(b)) {
        let of = |class: usize| tied.iter().filter(move |&&i| labels[i] == class);
        let [first, second] = [0, 1].map(|class| of(class).map(|&i| weight(i)).sum::<f64>());
        wins += second * (below + 0.5 * first);
        below += first;
        above += second;
    }
    (below * above > 0.0).then(|| wins / (below * above))
}

/// The mean gap between probability and share over bins of equal weight.
fn calibration(mut outcomes: Vec<Outcome>, total: f64) -> f64 {
    outcomes.sort_by(|a, b| a.sure.total_cmp(&b.sure));
    let (mut gaps, mut before) = ([0.0; BINS], 0.0);
    for Outcome { weight, sure, right } in outcomes {
        before += weight;
        // a row is in the bin in which its weight ends; whole numbers of rows are exact
        let bin = (before * BINS as f64 / total - 1e-9).ceil().max(1.0) as usize - 1;
        gaps[bin.min(BINS - 1)] += weight * (sure - f64::from(u8::from(right)));
    }
    gaps.iter().map(|gap| gap.abs()).sum::<f64>() / total
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
            let found = ClassErrors::of(p.as_ref(), &labels, None).auc;
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
            ClassErrors::of(p.as_ref(), &labels, None).calibration_error
        };
        // a bin of 1000 rows is off by at most 0.5/√1000 = 0.016 in the mean square
        assert!(error(1.0) < 0.016, "{}", error(1.0));
        assert!(error(3.0) > 0.05, "{}", error(3.0));
    }

    /// The errors of constant predictions are those of probabilities that are the shares.
    #[test]
    fn constant_errors_are_those_of_the_shares() {
        let labels = [0, 2, 2, 1, 2, 0];
        let weights = [1.0, 2.0, 0.5, 1.5, 1.0, 2.0];
        let by_weight = [3.0 / 8.0, 1.5 / 8.0, 3.5 / 8.0];
        let by_rows = [2.0 / 6.0, 1.0 / 6.0, 3.0 / 6.0];
        for (shares, weights) in [(by_weight, Some(&weights[..])), (by_rows, None)] {
            let p = Mat::from_fn(labels.len(), 3, |_, k| shares[k]);
            let errors = ClassErrors::of(p.as_ref(), &labels, weights);
            assert!((errors.constant_error_rate - errors.error_rate).abs() < 1e-12, "{errors:?}");
            assert!((errors.constant_log_loss - errors.log_loss).abs() < 1e-12, "{errors:?}");
        }
        let none = ClassErrors::of(Mat::zeros(0, 2).as_ref(), &[], None);
        assert!(none.constant_error_rate.is_nan() && none.constant_log_loss.is_nan());
    }

    /// A row of weight w is as w rows, in every error but that of bins, which cut rows apart.
    #[test]
    fn a_weight_is_a_number_of_rows() {
        let rng = &mut Pcg64::seed_from_u64(3);
        for classes in [2, 4] {
            let n = 300;
            let raw = Mat::from_fn(n, classes, |_, _| rng.random::<f64>());
            let sum = |i: usize| (0..classes).map(|k| raw[(i, k)]).sum::<f64>();
            let p = Mat::from_fn(n, classes, |i, k| raw[(i, k)] / sum(i));
            let labels: Vec<usize> = (0..n).map(|i| i * i % classes).collect();
            let times = |i: usize| 1 + i % 3;
            let rows: Vec<usize> = (0..n).flat_map(|i| vec![i; times(i)]).collect();
            let many = Mat::from_fn(rows.len(), classes, |i, k| p[(rows[i], k)]);
            let of_many: Vec<usize> = rows.iter().map(|&i| labels[i]).collect();
            let weights: Vec<f64> = (0..n).map(|i| 0.25 * times(i) as f64).collect();
            let ours = ClassErrors::of(p.as_ref(), &labels, Some(&weights));
            let theirs = ClassErrors::of(many.as_ref(), &of_many, None);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
            assert!(close(ours.error_rate, theirs.error_rate), "{ours:?} {theirs:?}");
            assert!(close(ours.log_loss, theirs.log_loss), "{ours:?} {theirs:?}");
            assert!(close(ours.auc.unwrap_or(0.0), theirs.auc.unwrap_or(0.0)));
            // at most a row of weight 3 of 600 moves over each edge of 15 bins
            let gap = (ours.calibration_error - theirs.calibration_error).abs();
            assert!(gap < 15.0 * 3.0 / 600.0, "{ours:?} {theirs:?}");
        }
    }
}
