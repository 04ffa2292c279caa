//! Which ridge λ in K + nλI.

use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lambda {
    /// The smallest leave-one-out error of a grid.
    Auto,
    /// The smallest generalised cross-validation error of a grid.
    Gcv,
    Given(f64),
}

impl FromStr for Lambda {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" | "loo" => Ok(Lambda::Auto),
            "gcv" => Ok(Lambda::Gcv),
            _ => positive(text).map(Lambda::Given),
        }
    }
}

/// `LARGEST:SMALLEST:COUNT`, equally spaced in the logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LambdaRange {
    pub largest: f64,
    pub smallest: f64,
    pub count: usize,
}

impl FromStr for LambdaRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected LARGEST:SMALLEST:COUNT, such as 1e-1:1e-9:17".to_owned();
        let [largest, smallest, count] = text.split(':').collect::<Vec<_>>()[..] else { return Err(expected()) };
        let (a, b) = (positive(largest)?, positive(smallest)?);
        let count = count.parse().map_err(|_| expected())?;
        if a == b || !(2..=1000).contains(&count) {
            return Err("the two ends must differ, and there must be 2 to 1000 values".into());
        }
        Ok(LambdaRange { largest: a.max(b), smallest: a.min(b), count })
    }
}

pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("{text:?} is not a positive number, such as 1e-6")),
    }
}
