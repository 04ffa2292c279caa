//! What a fit to numbers minimises, and so what it predicts.

use crate::error::{Error, Result};
use nystrom::krr::Loss;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a fit to numbers minimises, and so what it predicts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetLoss {
    /// Squares of residuals: predictions are means.
    #[default]
    Squares,
    /// Absolute residuals: predictions are medians.
    Absolute,
    /// Huber's loss: squares of residuals up to twice their median size, beyond that absolute
    /// values. Predictions are means that hardly depend on outliers.
    Huber,
    /// The pinball loss: predictions are quantiles, the shares of targets below which are these,
    /// in increasing order.
    Quantiles(Vec<f64>),
}

/// The smoothing of a quantile's loss, in median sizes of residuals.
const WIDTH: f64 = 0.05;
/// Huber's threshold in median sizes of residuals: 1.345 standard deviations of a normal
/// distribution, at which the estimate of its mean has 95 % efficiency.
const THRESHOLD: f64 = 1.345 / 0.6745;

impl TargetLoss {
    /// The shares of targets below the predictions; none for means.
    pub fn shares(&self) -> &[f64] {
        match self {
            TargetLoss::Absolute => &[0.5],
            TargetLoss::Quantiles(shares) => shares,
            TargetLoss::Squares | TargetLoss::Huber => &[],
        }
    }

    /// The losses of the functions of one target, in units of the median size of its residuals.
    pub(crate) fn losses(&self) -> Vec<Loss> {
        match self {
            TargetLoss::Squares => Vec::new(),
            TargetLoss::Huber => vec![Loss::Huber { threshold: THRESHOLD }],
            TargetLoss::Absolute | TargetLoss::Quantiles(_) => {
                let of = |share: &f64| Loss::Quantile { share: *share, width: WIDTH };
                self.shares().iter().map(of).collect()
            }
        }
    }

    /// # Errors
    /// [`Error::Option`] without shares, and for shares that are not increasing numbers in (0, 1).
    pub(crate) fn check(&self) -> Result<()> {
        let TargetLoss::Quantiles(shares) = self else { return Ok(()) };
        let wrong = shares.iter().find(|share| !(**share > 0.0 && **share < 1.0));
        let problem = match wrong {
            Some(share) => format!("the share {share} of a quantile is not between 0 and 1"),
            None if shares.is_empty() => "quantiles need shares, such as quantile:0.1,0.9".into(),
            None if !shares.is_sorted_by(|a, b| a < b) => {
                "the shares of quantiles must increase, as in quantile:0.1,0.5,0.9".into()
            }
            None => return Ok(()),
        };
        Err(Error::Option { option: "loss", problem })
    }
}

impl fmt::Display for TargetLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetLoss::Squares => f.write_str("squares"),
            TargetLoss::Absolute => f.write_str("absolute"),
            TargetLoss::Huber => f.write_str("huber"),
            TargetLoss::Quantiles(shares) => {
                let shares: Vec<String> = shares.iter().map(f64::to_string).collect();
                write!(f, "quantile:{}", shares.join(","))
            }
        }
    }
}

/// ```
/// use nystrom_pipeline::TargetLoss;
/// let loss: TargetLoss = "quantile:0.1,0.9".parse()?;
/// assert_eq!(loss, TargetLoss::Quantiles(vec![0.1, 0.9]));
/// assert!("quantile:2".parse::<TargetLoss>().is_err());
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
impl FromStr for TargetLoss {
    type Err = Error;

    fn from_str(text: &str) -> Result<TargetLoss> {
        let unknown = || Error::Option {
            option: "loss",
            problem: format!("{text:?} is none of squares, absolute, huber, quantile:SHARE,…"),
        };
        let loss = match text.split_once(':') {
            None => match text {
                "squares" => TargetLoss::Squares,
                "absolute" => TargetLoss::Absolute,
                "huber" => TargetLoss::Huber,
                _ => return Err(unknown()),
            },
            Some(("quantile", shares)) => {
                let shares = shares.split(',').map(|share| share.trim().parse::<f64>());
                let shares = shares.collect::<std::result::Result<Vec<f64>, _>>();
                TargetLoss::Quantiles(shares.map_err(|_| unknown())?)
            }
            Some(_) => return Err(unknown()),
        };
        loss.check()?;
        Ok(loss)
    }
}

/// The mean of a loss over rows that are given by their residuals y − f and weights: the pinball
/// loss for a share, otherwise the absolute value.
pub(crate) fn mean_loss(share: Option<f64>, residuals: impl Iterator<Item = (f64, f64)>) -> f64 {
    let of = |r: f64| match share {
        Some(share) => (share * r).max((share - 1.0) * r),
        None => r.abs(),
    };
    let (sum, total) =
        residuals.fold((0.0, 0.0), |(sum, total), (r, w)| (sum + w * of(r), total + w));
    sum / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in ["squares", "absolute", "huber", "quantile:0.9", "quantile:0.1,0.5,0.9"] {
            assert_eq!(text.parse::<TargetLoss>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "square",
            "quantile",
            "quantile:",
            "quantile:0",
            "quantile:1",
            "mean:0.5",
            "quantile:NaN",
            "quantile:0.9,0.1",
            "quantile:0.5,0.5",
            "quantile:a",
        ] {
            assert!(text.parse::<TargetLoss>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_pinball_loss_weighs_both_sides() {
        let rows = || [(2.0, 1.0), (-1.0, 3.0)].into_iter(); // residuals and weights
        assert!((mean_loss(Some(0.9), rows()) - (1.8 + 3.0 * 0.1) / 4.0).abs() < 1e-15);
        assert_eq!(mean_loss(None, rows()), 5.0 / 4.0);
    }
}
