//! Calibrated probabilities: multinomial temperature scaling with an offset for each class.

use super::ClassErrors;
use nystrom::faer::{Mat, MatRef};
use nystrom::linalg_core::Cholesky;
use serde::{Deserialize, Serialize};

/// The largest number of Newton steps.
const STEPS: usize = 60;
/// The largest number of halvings of a step.
const HALVINGS: usize = 40;
/// Newton's method ends at a step that decreases the loss by less than this.
const ENOUGH: f64 = 1e-12;

/// Turns the values f_k of K classes into probabilities p_k = e^{z_k} / Σ_l e^{z_l}, where
/// z_k = a·f_k + b_k.
///
/// With two classes, the first class has f = 0 and the second has the only function: p = 1/(1 +
/// e^{−af−b}), Platt scaling. With more classes, this is temperature scaling with offsets. The
/// first offset is 0.
///
/// ```
/// use nystrom::faer::mat;
/// use nystrom_pipeline::Calibration;
/// let f = mat![[-0.9], [-0.2], [0.1], [0.8], [-0.3], [0.2]];
/// let fit = Calibration::fit(f.as_ref(), &[0, 0, 0, 1, 1, 1], None, 2);
/// let p = fit.probabilities(f.as_ref());
/// assert!(p[(3, 1)] > 0.5 && p[(0, 1)] < 0.5);
/// assert!((p[(3, 0)] + p[(3, 1)] - 1.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Calibration {
    /// a, the inverse temperature.
    pub slope: f64,
    /// b_k, one offset for each class.
    pub offsets: Vec<f64>,
}

impl Calibration {
    /// Minimises the logarithmic loss on rows with known classes, by Newton's method.
    ///
    /// `values` is n × t (t = 1 for two classes); `labels` are the classes of the rows, from 0. As
    /// in Platt's method, a row of a class with n_k rows has that class with target probability
    /// (n_k + 1)/(n_k + 2) instead of 1, so that a minimum exists even if the classes are
    /// separated.
    ///
    /// # Cost
    /// O(nK²) per Newton step.
    ///
    /// # Source
    /// Platt, 1999; Guo, Pleiss, Sun & Weinberger, *On calibration of modern neural networks*,
    /// ICML 2017.
    pub fn fit(
        values: MatRef<'_, f64>,
        labels: &[usize],
        weights: Option<&[f64]>,
        classes: usize,
    ) -> Calibration {
        let problem = LabelledValues::new(values, labels, weights, classes);
        let mut at = vec![0.0; classes]; // (a, b_1, …, b_{K−1})
        let mut loss = problem.loss(&at);
        for _ in 0..STEPS {
            let Some(step) = problem.step(&at) else { break };
            let along =
                |t: f64| -> Vec<f64> { at.iter().zip(&step).map(|(x, s)| x - t * s).collect() };
            let shorter = (0..HALVINGS).map(|halvings| along(0.5_f64.powi(halvings as i32)));
            let better = shorter.map(|next| (problem.loss(&next), next)).find(|(l, _)| *l < loss);
            let Some((less, next)) = better else { break };
            let ended = loss - less < ENOUGH;
            (loss, at) = (less, next);
            if ended {
                break;
            }
        }
        Calibration::of(&at)
    }

    /// Like [`fit`](Self::fit), also returns the errors of the probabilities on the same rows with
    /// the same weights.
    pub(crate) fn with_errors(
        values: MatRef<'_, f64>,
        labels: &[usize],
        weights: Option<&[f64]>,
        classes: usize,
    ) -> (Calibration, ClassErrors) {
        let calibration = Calibration::fit(values, labels, weights, classes);
        let p = calibration.probabilities(values);
        let errors = ClassErrors::of(p.as_ref(), labels, weights);
        (calibration, errors)
    }

    /// The probabilities, n × K, from values n × t. Each row sums to 1.
    pub fn probabilities(&self, values: MatRef<'_, f64>) -> Mat<f64> {
        let classes = self.offsets.len();
        let mut out = Mat::zeros(values.nrows(), classes);
        let mut p = vec![0.0; classes];
        for i in 0..values.nrows() {
            self.row(values, i, &mut p);
            (0..classes).for_each(|k| out[(i, k)] = p[k]);
        }
        out
    }

    fn of(at: &[f64]) -> Calibration {
        let offsets = [0.0].into_iter().chain(at[1..].iter().copied()).collect();
        Calibration { slope: at[0], offsets }
    }

    /// Writes the probabilities of row i to `p` and returns ln Σ_k e^{z_k}.
    fn row(&self, values: MatRef<'_, f64>, i: usize, p: &mut [f64]) -> f64 {
        let classes = p.len();
        let z = |k: usize| self.slope * value(values, i, k, classes) + self.offsets[k];
        let largest = (0..classes).map(z).fold(f64::NEG_INFINITY, f64::max);
        p.iter_mut().enumerate().for_each(|(k, p)| *p = (z(k) - largest).exp());
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        largest + sum.ln()
    }
}

/// The value f_k of row i; 0 for the first of two classes, which has no function.
fn value(values: MatRef<'_, f64>, i: usize, k: usize, classes: usize) -> f64 {
    match (classes, k) {
        (2, 0) => 0.0,
        (2, _) => values[(i, 0)],
        _ => values[(i, k)],
    }
}

/// The values of rows whose classes are known.
struct LabelledValues<'a> {
    values: MatRef<'a, f64>,
    labels: &'a [usize],
    /// The weights of the rows, with sum 1.
    weights: Vec<f64>,
    /// The target probability of the class of a row, for each class.
    sure: Vec<f64>,
}

impl<'a> LabelledValues<'a> {
    fn new(
        values: MatRef<'a, f64>,
        labels: &'a [usize],
        weights: Option<&[f64]>,
        classes: usize,
    ) -> Self {
        let mut counts = vec![0.0; classes];
        labels.iter().for_each(|&class| counts[class] += 1.0);
        let sure = counts.iter().map(|count| (count + 1.0) / (count + 2.0)).collect();
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..labels.len()).map(weight).sum();
        let weights = (0..labels.len()).map(|i| weight(i) / total).collect();
        LabelledValues { values, labels, weights, sure }
    }

    /// The target probability of class k in row i.
    fn wanted(&self, i: usize, k: usize) -> f64 {
        let (class, others) = (self.labels[i], self.sure.len() - 1);
        if k == class { self.sure[k] } else { (1.0 - self.sure[class]) / others as f64 }
    }

    /// −Σ w_i Σ_k t_ik ln p_ik.
    fn loss(&self, at: &[f64]) -> f64 {
        let (calibration, classes) = (Calibration::of(at), at.len());
        let mut p = vec![0.0; classes];
        let row = |i: usize, p: &mut [f64]| {
            let divisor = calibration.row(self.values, i, p);
            let z =
                |k| calibration.slope * value(self.values, i, k, classes) + calibration.offsets[k];
            let inner: f64 = (0..classes).map(|k| self.wanted(i, k) * z(k)).sum();
            self.weights[i] * (divisor - inner)
        };
        (0..self.labels.len()).map(|i| row(i, &mut p)).sum()
    }

    /// Newton's step H⁻¹g; `None` if the loss has no curvature.
    fn step(&self, at: &[f64]) -> Option<Vec<f64>> {
        let (calibration, classes) = (Calibration::of(at), at.len());
        let (mut g, mut h) = (Mat::zeros(classes, 1), Mat::<f64>::zeros(classes, classes));
        let mut p = vec![0.0; classes];
        for (i, &w) in self.weights.iter().enumerate() {
            calibration.row(self.values, i, &mut p);
            let f = |k| value(self.values, i, k, classes);
            let mean: f64 = (0..classes).map(|k| p[k] * f(k)).sum();
            for k in 0..classes {
                let gap = w * (p[k] - self.wanted(i, k));
                g[(0, 0)] += gap * f(k);
                h[(0, 0)] += w * p[k] * (f(k) - mean).powi(2);
                if k > 0 {
                    g[(k, 0)] += gap;
                    h[(k, 0)] += w * p[k] * (f(k) - mean);
                    h[(k, k)] += w * p[k];
                    (1..=k).for_each(|l| h[(k, l)] -= w * p[k] * p[l]);
                }
            }
        }
        let trace: f64 = (0..classes).map(|k| h[(k, k)]).sum();
        (0..classes).for_each(|k| h[(k, k)] += 1e-12 * trace + f64::MIN_POSITIVE);
        let full = Mat::from_fn(classes, classes, |k, l| h[(k.max(l), k.min(l))]);
        Cholesky::new(full.as_ref()).ok()?.solve_in_place(g.as_mut());
        let step: Vec<f64> = (0..classes).map(|k| g[(k, 0)]).collect();
        step.iter().all(|s| s.is_finite()).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom::prelude::*;

    /// Labels drawn with the probabilities of a calibration give that calibration back.
    #[test]
    fn what_was_drawn_is_found() {
        let rng = &mut Pcg64::seed_from_u64(1);
        let (n, truth) = (40_000, Calibration { slope: 2.5, offsets: vec![0.0, -0.7, 0.4] });
        let f = Mat::from_fn(n, 3, |_, _| 2.0 * rng.random::<f64>() - 1.0);
        let p = truth.probabilities(f.as_ref());
        let labels: Vec<usize> = (0..n)
            .map(|i| {
                let u = rng.random::<f64>();
                usize::from(u > p[(i, 0)]) + usize::from(u > p[(i, 0)] + p[(i, 1)])
            })
            .collect();
        let found = Calibration::fit(f.as_ref(), &labels, None, 3);
        // standard errors are below 3 / √n
        let tolerance = 12.0 / (n as f64).sqrt();
        assert!((found.slope - truth.slope).abs() < tolerance, "{found:?}");
        let gap = |k: usize| (found.offsets[k] - truth.offsets[k]).abs();
        assert!((0..3).all(|k| gap(k) < tolerance), "{found:?}");
    }

    #[test]
    fn the_minimum_has_no_gradient_also_where_classes_are_separated() {
        let f = Mat::from_fn(60, 1, |i, _| if i < 20 { -1.0 } else { 1.0 } + 0.01 * i as f64);
        let labels: Vec<usize> = (0..60).map(|i| usize::from(i >= 20)).collect();
        let found = Calibration::fit(f.as_ref(), &labels, None, 2);
        let p = found.probabilities(f.as_ref());
        let wanted = |i: usize| if labels[i] == 1 { 41.0 / 42.0 } else { 1.0 / 22.0 };
        let gap = |i: usize| p[(i, 1)] - wanted(i);
        let by_offset: f64 = (0..60).map(gap).sum();
        let by_slope: f64 = (0..60).map(|i| f[(i, 0)] * gap(i)).sum();
        assert!(by_offset.abs() < 1e-5 && by_slope.abs() < 1e-5, "{by_offset} {by_slope}");
    }
}
