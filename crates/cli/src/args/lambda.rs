//! The ridge λ in K + nλI: a number, or the rule that chooses it from a grid.

use crate::text::rounded;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lambda {
    /// The value of the grid with the smallest leave-one-out error.
    Auto,
    /// The value of the grid with the smallest generalised cross-validation error.
    Gcv,
    /// The value of the grid with the smallest error by cross-validation with this many folds.
    Folds(usize),
    Given(f64),
}

/// Reads the value of --lambda.
pub fn lambda(text: &str) -> Result<Lambda, String> {
    if let Some(folds) = text.strip_prefix("cv:") {
        return match folds.parse() {
            Ok(folds @ 2..=1000) => Ok(Lambda::Folds(folds)),
            _ => Err(format!("{folds:?} is not a number of folds from 2 to 1000, such as cv:5")),
        };
    }
    match text {
        "auto" | "loo" => Ok(Lambda::Auto),
        "gcv" => Ok(Lambda::Gcv),
        _ => positive(text).map(Lambda::Given),
    }
}

/// `LARGEST:SMALLEST:COUNT`, equally spaced in the logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LambdaRange {
    pub largest: f64,
    pub smallest: f64,
    pub count: usize,
}

impl LambdaRange {
    /// The default of `--lambdas`.
    pub const USUAL: LambdaRange = LambdaRange { largest: 1e-1, smallest: 1e-10, count: 28 };

    /// The values, largest first, rounded to twelve digits: a grid value such as 1e-6 is then
    /// exactly the number that is printed and fitted.
    pub fn values(self) -> Vec<f64> {
        let (first, last) = (self.largest.ln(), self.smallest.ln());
        let value = |i: usize| match i {
            0 => self.largest,
            _ if i + 1 == self.count => self.smallest,
            _ => rounded((first + (last - first) * i as f64 / (self.count - 1) as f64).exp(), 12),
        };
        (0..self.count).map(value).collect()
    }
}

/// Reads the value of --lambdas.
pub fn lambda_range(text: &str) -> Result<LambdaRange, String> {
    let expected = || "expected LARGEST:SMALLEST:COUNT, such as 1e-1:1e-9:17".to_owned();
    let [largest, smallest, count] = text.split(':').collect::<Vec<_>>()[..] else {
        return Err(expected());
    };
    let (a, b) = (positive(largest)?, positive(smallest)?);
    let count = count.parse().map_err(|_| expected())?;
    if a == b || !(2..=1000).contains(&count) {
        return Err("the two ends must differ, and COUNT must be from 2 to 1000".into());
    }
    Ok(LambdaRange { largest: a.max(b), smallest: a.min(b), count })
}

pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("{text:?} is not a positive number, such as 1e-6")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Lambda, lambda, lambda_range};

    #[test]
    fn folds_are_counted() {
        assert_eq!(lambda("cv:5"), Ok(Lambda::Folds(5)));
        for text in ["cv:1", "cv:", "cv:x", "cv:-3", "cv:5.5"] {
            assert!(lambda(text).is_err_and(|error| error.contains("cv:5")), "{text}");
        }
    }

    #[test]
    fn decades_are_decades() {
        let range = lambda_range("1e-9:1e-1:9").unwrap();
        assert_eq!(range.values(), [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]);
        let range = lambda_range("1e300:1e-300:3").unwrap();
        assert_eq!(range.values(), [1e300, 1.0, 1e-300]);
    }
}
