//! Summaries that several experiments need.

/// The q-quantile of sorted values, interpolated linearly between order statistics (type 7 of Hyndman & Fan 1996, NumPy's default).
///
/// NaN for no values.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = q * last as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// Mean and its standard error; NaN where there are too few values.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// The exponent b of the least-squares fit ln y = a + b ln x; NaN for fewer than two points.
pub fn fitted_exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let cov: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let var: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    cov / var
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let v = [1.0, 2.0, 4.0];
        assert_eq!((quantile(&v, 0.0), quantile(&v, 0.5), quantile(&v, 0.75), quantile(&v, 1.0)), (1.0, 2.0, 3.0, 4.0));
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn means_and_exponents() {
        let (mean, error) = mean_and_error(&[1.0, 3.0]);
        assert_eq!((mean, error), (2.0, 1.0));
        let cubic: Vec<_> = [1.0, 2.0, 5.0].map(|x: f64| (x, 7.0 * x.powi(3))).into();
        assert!((fitted_exponent(&cubic) - 3.0).abs() < 1e-12);
    }
}
