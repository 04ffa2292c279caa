//! Every summary that experiments report: estimates with their standard errors, and what is made of
//! them.

use std::f64::consts::FRAC_PI_2;

/// A measured value, with its standard error over draws where there are at least two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its standard error; none for what does not depend on chance.
    pub error: Option<f64>,
    /// True if a clock was read: such values differ from machine to machine.
    pub time: bool,
}

impl From<f64> for Estimate {
    fn from(value: f64) -> Self {
        Estimate { value, error: None, time: false }
    }
}

impl Estimate {
    /// Draws that are all the same, to rounding, do not depend on chance.
    fn with_error(value: f64, error: f64, time: bool) -> Self {
        let by_chance = error.is_finite() && error > 1e-12 * value.abs();
        Estimate { value, error: by_chance.then_some(error), time }
    }

    /// A value computed from independent estimates. Each of the `parts` has the error that this one
    /// estimate alone causes in the value.
    fn of_parts(value: f64, parts: impl IntoIterator<Item = Estimate>) -> Self {
        let parts: Vec<Estimate> = parts.into_iter().collect();
        let errors: Vec<f64> = parts.iter().filter_map(|part| part.error).collect();
        let error = errors.iter().map(|e| e * e).sum::<f64>().sqrt();
        let time = parts.iter().any(|part| part.time);
        Estimate { value, error: (!errors.is_empty()).then_some(error), time }
    }

    /// The same value with another error.
    fn map_error(self, f: impl Fn(f64) -> f64) -> Self {
        Estimate { error: self.error.map(f), ..self }
    }

    /// f(value), with the error scaled by |f'(value)|: the delta method.
    pub fn map(self, f: impl Fn(f64) -> f64, derivative: f64) -> Self {
        Estimate { value: f(self.value), ..self.map_error(|e| e * derivative.abs()) }
    }

    /// |value − centre|.
    pub fn off(self, centre: f64) -> Self {
        self.map(|v| (v - centre).abs(), 1.0)
    }

    /// The quotient of two estimates from independent draws.
    pub fn over(self, other: impl Into<Estimate>) -> Self {
        let other = other.into();
        let ratio = self.value / other.value;
        let part = |estimate: Estimate| estimate.map_error(|e| e / estimate.value * ratio);
        Estimate::of_parts(ratio, [self, other].map(part))
    }

    /// The difference of two estimates from independent draws.
    pub fn minus(self, other: impl Into<Estimate>) -> Self {
        let other = other.into();
        Estimate::of_parts(self.value - other.value, [self, other])
    }
}

/// The values of one measure in one cell, each with the number of its repetition.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// Repetition and value, in the order of the repetitions.
    pub draws: Vec<(usize, f64)>,
    /// True if they are times.
    pub time: bool,
}

impl Sample {
    /// The values alone.
    pub fn values(&self) -> Vec<f64> {
        self.draws.iter().map(|(_, value)| *value).collect()
    }

    /// The mean of numbers, with its standard error. Of times the median, with √(π/2) times the
    /// standard error of the mean of normal draws with these quartiles: one busy moment moves
    /// neither.
    pub fn estimate(&self) -> Estimate {
        let (mut value, mut error) = mean_and_error(&self.values());
        if self.time {
            // quartiles of a normal law are ±0.6745σ
            let deviation = (self.quantile(0.75) - self.quantile(0.25)) / 1.349;
            value = self.quantile(0.5);
            error = deviation / (self.draws.len() as f64).sqrt() * FRAC_PI_2.sqrt();
        }
        Estimate::with_error(value, error, self.time)
    }

    /// A quantile of the draws.
    pub fn quantile(&self, q: f64) -> f64 {
        let mut sorted = self.values();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, q)
    }

    /// Ratio of means. Paired where both have the same repetitions, so that what the draws share
    /// cancels.
    ///
    /// The delta method: the error of ā/b̄ is that of the mean of (a − rb)/b̄.
    pub fn over(&self, other: &Sample) -> Estimate {
        let paired =
            !self.time && self.draws.iter().map(|d| d.0).eq(other.draws.iter().map(|d| d.0));
        if !paired {
            return self.estimate().over(other.estimate());
        }
        let (a, b) = (self.values(), other.values());
        let mean_b = mean_and_error(&b).0;
        let ratio = mean_and_error(&a).0 / mean_b;
        let residuals: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a - ratio * b) / mean_b).collect();
        Estimate::with_error(ratio, mean_and_error(&residuals).1, other.time)
    }
}

/// Geometric mean of positive estimates from independent draws. The things averaged over, sets say,
/// count as fixed.
pub fn geometric_mean(estimates: impl IntoIterator<Item = Estimate>) -> Estimate {
    let all: Vec<Estimate> = estimates.into_iter().collect();
    let n = all.len() as f64;
    let value = (all.iter().map(|e| e.value.ln()).sum::<f64>() / n).exp();
    Estimate::of_parts(value, all.iter().map(|x| x.map_error(|e| e / x.value / n * value)))
}

/// The smallest of several estimates, by value.
pub fn smallest(estimates: impl IntoIterator<Item = Estimate>) -> Estimate {
    estimates.into_iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or(f64::NAN.into())
}

/// The largest of several estimates, by value.
pub fn largest(estimates: impl IntoIterator<Item = Estimate>) -> Estimate {
    estimates.into_iter().max_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or(f64::NAN.into())
}

/// The exponent b of the least-squares fit ln y = a + b ln x to independent estimates; NaN for
/// fewer than two.
pub fn exponent(points: &[(f64, impl Into<Estimate> + Copy)]) -> Estimate {
    let points: Vec<(f64, Estimate)> = points.iter().map(|&(x, y)| (x, y.into())).collect();
    let logs: Vec<f64> = points.iter().map(|(x, _)| x.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let spread: f64 = logs.iter().map(|x| (x - mean).powi(2)).sum();
    let weight = |x: f64| (x.ln() - mean) / spread;
    let value = points.iter().map(|(x, y)| weight(*x) * y.value.ln()).sum::<f64>();
    let part = |(x, y): &(f64, Estimate)| y.map_error(|e| weight(*x) * e / y.value);
    let value = if points.len() < 2 { f64::NAN } else { value };
    Estimate::of_parts(value, points.iter().map(part))
}

/// The q-quantile of sorted values, linear between order statistics (type 7 of Hyndman & Fan 1996,
/// NumPy's default).
///
/// NaN for no values.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = q * last as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// Mean and standard deviation, of divisor n.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// Mean and its standard error; NaN where there are too few values.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::estimate;

    fn sample(values: &[f64]) -> Sample {
        Sample { draws: values.iter().copied().enumerate().collect(), time: false }
    }

    #[test]
    fn means_quantiles_and_exponents() {
        let quantiles = [0.0, 0.5, 0.75, 1.0].map(|q| quantile(&[1.0, 2.0, 4.0], q));
        assert_eq!(quantiles, [1.0, 2.0, 3.0, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!(mean_and_error(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(mean_and_deviation(&[1.0, 5.0]), (3.0, 2.0));
        assert_eq!(sample(&[5.0]).estimate(), 5.0.into(), "one draw has no standard error");
        let cubic = [1.0, 2.0, 5.0].map(|x: f64| (x, 7.0 * x.powi(3)));
        assert!((exponent(&cubic).value - 3.0).abs() < 1e-12);
        assert!(exponent(&cubic[..1]).value.is_nan());
        // two points: b = (ln y2 − ln y1)/ln 2, each error 0.1 relative
        let b = exponent(&[(1.0, estimate(1.0, 0.1)), (2.0, estimate(4.0, 0.4))]);
        assert!((b.error.unwrap() - 0.1 * 2.0_f64.sqrt() / 2.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_paired_ratio_has_no_error_from_what_the_draws_share() {
        let (a, b) = (sample(&[2.0, 4.0, 8.0]), sample(&[1.0, 2.0, 4.0]));
        assert_eq!(a.over(&b), 2.0.into());
        let others = Sample { draws: vec![(7, 1.0), (8, 2.0), (9, 4.0)], time: false };
        assert!(a.over(&others).error.unwrap() > 0.5);
        // by hand: a = (1, 3), b = (1, 1): r = 2, residuals ∓1, error 1
        assert_eq!(sample(&[1.0, 3.0]).over(&sample(&[1.0, 1.0])), estimate(2.0, 1.0));
    }

    #[test]
    fn errors_of_independent_estimates_add_in_quadrature() {
        assert_eq!(estimate(5.0, 3.0).minus(estimate(1.0, 4.0)), estimate(4.0, 5.0));
        let ratio = estimate(10.0, 0.3).over(estimate(10.0, 0.4));
        assert!((ratio.error.unwrap() - 0.05).abs() < 1e-15);
        let mean = geometric_mean([estimate(1.0, 0.1), estimate(4.0, 0.0)]);
        assert!((mean.value - 2.0).abs() < 1e-15 && (mean.error.unwrap() - 0.1).abs() < 1e-15);
        assert_eq!(estimate(1.5, 0.1).minus(1.0), estimate(0.5, 0.1));
        assert_eq!(smallest([estimate(2.0, 0.1), estimate(1.0, 0.2)]), estimate(1.0, 0.2));
    }
}
