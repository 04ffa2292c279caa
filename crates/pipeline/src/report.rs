//! The report of a search: the candidates it tried, and its choice.

use crate::classes::ClassErrors;
use crate::columns::{Dropped, Shape};
use crate::kernel::Family;
use crate::target::TargetScale;
use crate::validation::{Coverage, Validation};
use nystrom::krr::{IterationReport, Stop};
use serde::{Deserialize, Serialize};

/// The kind of linear map that is learnt and applied before the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// No map.
    None,
    /// A weight for each feature.
    Diagonal {
        /// The power of the average gradient outer product's root.
        power: f64,
    },
    /// A full matrix.
    Full {
        /// The power of the average gradient outer product's root.
        power: f64,
    },
}

impl std::fmt::Display for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Metric::None => f.write_str("as scaled"),
            Metric::Diagonal { power } => write!(f, "weights, power {power}"),
            Metric::Full { power } => write!(f, "learned metric, power {power}"),
        }
    }
}

/// The centres of a fit: the rows z_j in Σ_j θ_j k(·, z_j).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centers {
    /// This many random rows.
    Uniform(usize),
    /// This many rows, chosen by randomly pivoted Cholesky from ten times as many random rows.
    Pivots(usize),
    /// All rows.
    All,
}

impl std::fmt::Display for Centers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Centers::Uniform(m) => write!(f, "{m} rows at random"),
            Centers::Pivots(m) => write!(f, "{m} rows by RPCholesky"),
            Centers::All => f.write_str("all rows"),
        }
    }
}

/// A candidate that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trial {
    /// The treatment of the columns.
    pub shape: Shape,
    /// The kernel family.
    pub family: Family,
    /// The kind of linear map before the kernel.
    pub metric: Metric,
    /// The length scale of the kernel.
    pub bandwidth: f64,
    /// The length scale as a multiple of the median distance of rows.
    pub multiple: f64,
    /// μ = nλ in K + μI.
    pub mu: f64,
    /// The number of rows fitted.
    pub rows: usize,
    /// The centres of the fit.
    pub centers: Centers,
    /// Root mean square error on validation rows, in standard deviations of the target. Only trials
    /// with the same rows and centres can be compared.
    pub error: f64,
    /// Each μ that was tried, with its error on the scale of the fit: if all rows are centres, the
    /// error on validation rows, otherwise the leave-one-out error on the fitted rows.
    pub errors: Vec<[f64; 2]>,
    /// The number of operations counted for this trial.
    pub work: f64,
    /// For a trial solved by iterations: the largest relative residual below which the validation
    /// error of the best μ no longer changed, minimised over the folds.
    pub residual: Option<f64>,
    /// Whether the error is that of random combinations of many targets.
    pub combined: bool,
    /// The scale on which the targets were fitted. Errors are in their own units.
    pub target: TargetScale,
}

/// The outcome of the iterations of a fit to all rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Iterations {
    /// The number of iterations.
    pub iterations: usize,
    /// The final relative residual, the largest over the targets.
    pub residual: f64,
    /// The relative residual at which the iterations stop.
    pub tolerance: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

impl Iterations {
    pub(crate) fn of(report: &IterationReport) -> Self {
        let IterationReport { iterations, residual, tolerance, ref stop, .. } = *report;
        let converged = matches!(stop, Stop::Converged | Stop::Asked);
        Iterations { iterations, residual, tolerance, converged }
    }
}

/// Learning curves of the chosen candidate. Each point chooses λ by leave-one-out; if rows are set
/// aside by group or time, each point uses the λ of the search instead.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Curves {
    /// The error against the number of rows.
    pub rows: Vec<CurvePoint>,
    /// The error against the number of landmarks.
    pub landmarks: Vec<CurvePoint>,
}

/// A fit of the chosen candidate with random landmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurvePoint {
    /// The number of rows fitted.
    pub rows: usize,
    /// The number of landmarks.
    pub landmarks: usize,
    /// Root mean square error on the validation rows of the first fold, in standard deviations of
    /// the target.
    pub error: f64,
}

/// A trial of the logistic loss instead of squared errors, with the same kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogisticTrial {
    /// The centres of the trial.
    pub centers: Centers,
    /// The λ of the trial, whose objective is the mean loss over rows plus the λ term.
    pub lambda: f64,
    /// The mean logarithmic loss of this trial on validation rows.
    pub log_loss: f64,
    /// The mean logarithmic loss on validation rows of the fit to squared errors.
    pub squares: f64,
}

impl LogisticTrial {
    /// Whether the logistic loss has the smaller logarithmic loss, so that the model uses it.
    pub fn is_better(&self) -> bool {
        self.log_loss < self.squares
    }
}

/// The fit with another loss than squares, with the same kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LossTrial {
    /// The centres of the fit.
    pub centers: Centers,
    /// The λ of the fit, whose objective is the mean loss over rows, in units of the median size of
    /// residuals, plus the λ term.
    pub lambda: f64,
    /// The mean loss on validation rows, in standard deviations of the target: the pinball loss for
    /// quantiles, otherwise the absolute value. Over several functions it is the mean.
    pub error: f64,
    /// The mean of the same loss for predictions by the fit to squares.
    pub squares: f64,
}

/// The error of the chosen candidate on validation rows, for one target in its own units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TargetError {
    /// The name of the target.
    pub target: String,
    /// The root mean square error, weighted if rows have weights.
    pub rmse: f64,
    /// The root mean square error of predicting the mean of the same rows.
    pub mean_rmse: f64,
}

impl TargetError {
    /// The error of predictions, which are as many as the true values, each of which counts by its
    /// weight.
    pub(crate) fn of(target: &str, actual: &[f64], predicted: &[f64], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mean = weights.iter().zip(actual).map(|(w, y)| w / total * y).sum::<f64>();
        // divided by the largest difference, whose square may leave the range of `f64`
        let root = |difference: &dyn Fn(usize) -> f64| {
            let largest = (0..weights.len()).map(|i| difference(i).abs()).fold(0.0, f64::max);
            let unit = if largest > 0.0 { largest } else { 1.0 };
            let square = |i: usize| weights[i] / total * (difference(i) / unit).powi(2);
            unit * (0..weights.len()).map(square).sum::<f64>().sqrt()
        };
        TargetError {
            target: target.to_owned(),
            rmse: root(&|i| predicted[i] - actual[i]),
            mean_rmse: root(&|i| actual[i] - mean),
        }
    }
}

/// The report of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Report {
    /// The number of rows of the table that were used.
    pub rows: usize,
    /// The names of the features.
    pub features: Vec<String>,
    /// The columns that were left out, with reasons.
    pub dropped: Vec<Dropped>,
    /// Notes for the user about other decisions on the table.
    pub notes: Vec<String>,
    /// All candidates, in the order in which they were tried.
    pub trials: Vec<Trial>,
    /// The chosen candidate, with its error on validation rows.
    pub chosen: Trial,
    /// The error on validation rows of the plain default: Gaussian kernel, median distance, 500
    /// landmarks.
    pub plain_error: f64,
    /// For a regression: the error of each target on the validation rows, in its own units.
    pub errors: Vec<TargetError>,
    /// For classes: the errors of the chosen candidate on the validation rows. Its probabilities
    /// were calibrated on the same rows.
    pub classes: Option<ClassErrors>,
    /// For classes: the trial of the logistic loss, if there was one.
    pub logistic: Option<LogisticTrial>,
    /// The fit with another loss than squares, if one was asked for.
    pub loss: Option<LossTrial>,
    /// The number of rows set aside for intervals, if intervals are calibrated.
    pub calibration_rows: Option<usize>,
    /// For each target: how many calibration rows are in intervals calibrated on the others.
    pub coverage: Vec<Coverage>,
    /// The predictions of the chosen candidate for validation rows.
    pub validation: Option<Validation>,
    /// The error of the chosen candidate with fewer rows and with fewer landmarks.
    pub curves: Curves,
    /// The number of operations counted.
    pub work: f64,
    /// The number of operations allowed.
    pub work_allowed: f64,
    /// The peak of the planned memory beside the data, in bytes.
    pub bytes: u64,
    /// Whether [`Progress`](crate::Progress) stopped the search.
    pub stopped: bool,
    /// The outcome of the iterations of the final fit, if it is iterative. With
    /// [`Calibrate::Cross`](crate::Calibrate::Cross) there are several fits: the outcome is that of
    /// the last fit that did not converge, otherwise that of the fit to all rows.
    pub iterations: Option<Iterations>,
}

/// The errors of the chosen candidate on rows that were not fitted, as a model file keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchErrors {
    /// The number of these rows.
    pub rows: usize,
    /// Whether the rows are calibration rows, which the search did not use, instead of validation
    /// rows.
    pub calibration: bool,
    /// For a regression: the error of each target, in its own units.
    pub targets: Vec<TargetError>,
    /// For classes: the errors.
    pub classes: Option<ClassErrors>,
    /// For another loss than squares: its errors.
    pub loss: Option<LossTrial>,
}

impl Report {
    /// The errors of the chosen candidate, without the rest of the report.
    pub fn search_errors(&self) -> SearchErrors {
        let validated = self.validation.as_ref().map_or(0, |validation| validation.rows);
        SearchErrors {
            rows: self.classes.map_or(validated, |errors| errors.rows),
            calibration: self.classes.is_some() && self.calibration_rows.is_some(),
            targets: self.errors.clone(),
            classes: self.classes,
            loss: self.loss,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TargetError;

    /// A row of weight 2 counts like two rows, and errors are in the unit of the target.
    #[test]
    fn errors_are_weighted_and_in_the_unit_of_the_target() {
        let (actual, predicted, weights) = ([1.0, 3.0, 5.0], [2.0, 3.0, 4.0], [2.0, 1.0, 1.0]);
        // mean 2.5; Σ w (f − y)² = 3, Σ w (y − 2.5)² = 11
        for unit in [1e-200, 1.0, 1e150] {
            let times = |values: [f64; 3]| values.map(|value| unit * value);
            let found = TargetError::of("y", &times(actual), &times(predicted), &weights);
            assert!((found.rmse / unit - 0.75_f64.sqrt()).abs() < 1e-12, "{found:?}");
            assert!((found.mean_rmse / unit - 2.75_f64.sqrt()).abs() < 1e-12, "{found:?}");
        }
    }
}
