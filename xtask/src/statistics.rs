//! Every summary that experiments report: estimates with their standard errors, and what is made of
//! them.

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
    /// NaN: nothing was measured.
    pub const NONE: Estimate = Estimate { value: f64::NAN, error: None, time: false };

    /// Draws that are all the same, to rounding, do not depend on chance.
    fn with_error(value: f64, error: f64, time: bool) -> Self {
        let by_chance = error.is_finite() && error > 1e-12 * value.abs();
        Estimate { value, error: by_chance.then_some(error), time }
    }

    /// f(value), with the error scaled by |f'(value)|: the delta method.
    pub fn map(self, f: impl Fn(f64) -> f64, derivative: f64) -> Self {
        Estimate { value: f(self.value), error: self.error.map(|e| e * derivative.abs()), ..self }
    }

    /// |value − centre|.
    pub fn off(self, centre: f64) -> Self {
        self.map(|v| (v - centre).abs(), 1.0)
    }

    /// The quotient of two estimates from independent draws.
    pub fn over(self, other: impl Into<Estimate>) -> Self {
        let other = other.into();
        let ratio = self.value / other.value;
        let relative = |e: &Estimate| e.error.map(|error| error / e.value);
        self.joined(
            other,
            ratio,
            [relative(&self).map(|e| e * ratio), relative(&other).map(|e| e * ratio)],
        )
    }

    /// The difference of two estimates from independent draws.
    pub fn minus(self, other: impl Into<Estimate>) -> Self {
        let other = other.into();
        self.joined(other, self.value - other.value, [self.error, other.error])
    }

    fn joined(self, other: Estimate, value: f64, parts: [Option<f64>; 2]) -> Self {
        Estimate { value, error: in_quadrature(parts), time: self.time || other.time }
    }
}

/// √Σe² over the errors that are there; none if none is.
fn in_quadrature(errors: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let errors: Vec<f64> = errors.into_iter().flatten().collect();
    (!errors.is_empty()).then(|| errors.iter().map(|e| e * e).sum::<f64>().sqrt())
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

    /// The mean of numbers. The median of times, which a busy moment does not move; its error is
    /// that of normal draws.
    pub fn estimate(&self) -> Estimate {
        if self.time { self.median() } else { self.mean() }
    }

    /// Mean and standard error.
    pub fn mean(&self) -> Estimate {
        let (mean, error) = mean_and_error(&self.values());
        Estimate::with_error(mean, error, self.time)
    }

    /// Median, with √(π/2) times the standard error of the mean of normal draws with these
    /// quartiles: one busy moment moves neither.
    pub fn median(&self) -> Estimate {
        // quartiles of a normal law are ±0.6745σ
        let deviation = (self.quantile(0.75) - self.quantile(0.25)) / 1.349;
        let error =
            deviation / (self.draws.len() as f64).sqrt() * std::f64::consts::FRAC_PI_2.sqrt();
        Estimate::with_error(self.quantile(0.5), error, self.time)
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
    let error = in_quadrature(all.iter().map(|e| e.error.map(|error| error / e.value / n * value)));
    Estimate { value, error, time: all.iter().any(|e| e.time) }
}

/// The smallest of several estimates, by value.
pub fn smallest(estimates: impl IntoIterator<Item = Estimate>) -> Estimate {
    estimates.into_iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or(Estimate::NONE)
}

/// The largest of several estimates, by value.
pub fn largest(estimates: impl IntoIterator<Item = Estimate>) -> Estimate {
    estimates.into_iter().max_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or(Estimate::NONE)
}

/// The exponent b of the least-squares fit ln y = a + b ln x to independent estimates; NaN for
/// fewer than two.
pub fn exponent(points: &[(f64, Estimate)]) -> Estimate {
    let logs: Vec<f64> = points.iter().map(|(x, _)| x.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let spread: f64 = logs.iter().map(|x| (x - mean).powi(2)).sum();
    let weight = |x: f64| (x.ln() - mean) / spread;
    let value = points.iter().map(|(x, y)| weight(*x) * y.value.ln()).sum::<f64>();
    let error =
        in_quadrature(points.iter().map(|(x, y)| y.error.map(|e| weight(*x) * e / y.value)));
    Estimate {
        value: if points.len() < 2 { f64::NAN } else { value },
        error,
        time: points.iter().any(|p| p.1.time),
    }
}

/// [`exponent`] of values without errors.
pub fn fitted_exponent(points: &[(f64, f64)]) -> f64 {
    exponent(&points.iter().map(|&(x, y)| (x, y.into())).collect::<Vec<_>>()).value
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

    fn sample(values: &[f64]) -> Sample {
        Sample { draws: values.iter().copied().enumerate().collect(), time: false }
    }

    #[test]
    fn quantiles_interpolate() {
        let v = [1.0, 2.0, 4.0];
        assert_eq!(
            (quantile(&v, 0.0), quantile(&v, 0.5), quantile(&v, 0.75), quantile(&v, 1.0)),
            (1.0, 2.0, 3.0, 4.0)
        );
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn means_and_exponents() {
        assert_eq!(mean_and_error(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(mean_and_deviation(&[1.0, 5.0]), (3.0, 2.0));
        let one = sample(&[5.0]).mean();
        assert_eq!((one.value, one.error), (5.0, None), "one draw has no standard error");
        let cubic: Vec<_> = [1.0, 2.0, 5.0].map(|x: f64| (x, 7.0 * x.powi(3))).into();
        assert!((fitted_exponent(&cubic) - 3.0).abs() < 1e-12);
        assert!(fitted_exponent(&cubic[..1]).is_nan());
        // two points: b = (ln y2 − ln y1)/ln 2, each error 0.1 relative
        let y = |value| Estimate { value, error: Some(0.1 * value), time: false };
        let b = exponent(&[(1.0, y(1.0)), (2.0, y(4.0))]);
        assert!((b.error.unwrap() - 0.1 * 2.0_f64.sqrt() / 2.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_paired_ratio_has_no_error_from_what_the_draws_share() {
        let (a, b) = (sample(&[2.0, 4.0, 8.0]), sample(&[1.0, 2.0, 4.0]));
        let paired = a.over(&b);
        assert!(
            (paired.value - 2.0).abs() < 1e-15 && paired.error.is_none_or(|error| error < 1e-15)
        );
        let others = Sample { draws: vec![(7, 1.0), (8, 2.0), (9, 4.0)], time: false };
        assert!(a.over(&others).error.unwrap() > 0.5);
        // by hand: a = (1, 3), b = (1, 1): r = 2, residuals ∓1, error 1
        let r = sample(&[1.0, 3.0]).over(&sample(&[1.0, 1.0]));
        assert_eq!((r.value, r.error), (2.0, Some(1.0)));
    }

    #[test]
    fn errors_of_independent_estimates_add_in_quadrature() {
        let e = |value, error| Estimate { value, error: Some(error), time: false };
        assert_eq!(e(5.0, 3.0).minus(e(1.0, 4.0)).error, Some(5.0));
        let ratio = e(10.0, 0.3).over(e(10.0, 0.4));
        assert!((ratio.error.unwrap() - 0.05).abs() < 1e-15);
        let mean = geometric_mean([e(1.0, 0.1), e(4.0, 0.0)]);
        assert!((mean.value - 2.0).abs() < 1e-15 && (mean.error.unwrap() - 0.1).abs() < 1e-15);
        assert_eq!(e(1.0, 0.1).minus(3.0).error, Some(0.1));
        assert_eq!(smallest([e(2.0, 0.1), e(1.0, 0.2)]).error, Some(0.2));
    }
}
