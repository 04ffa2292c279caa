//! What a search tried and found.

use crate::classes::ClassErrors;
use crate::columns::{Dropped, Shape};
use crate::kernel::Family;
use crate::validation::{Coverage, Validation};
use nystrom::krr::{IterationReport, Stop};
use serde::{Deserialize, Serialize};

/// Which linear map is learnt before the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// None.
    None,
    /// A weight for each feature.
    Diagonal {
        /// The power of the average gradient outer product's root.
        power: f64,
    },
    /// Any linear map.
    Full {
        /// As above.
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

/// Which points the functions of a fit are centred on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centers {
    /// So many rows at random.
    Uniform(usize),
    /// So many rows by randomly pivoted Cholesky, of ten times as many at random.
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
    /// What was done with skewed columns.
    pub shape: Shape,
    /// The kernel's family.
    pub family: Family,
    /// The linear map before it.
    pub metric: Metric,
    /// The kernel's length scale.
    pub bandwidth: f64,
    /// The same as a multiple of the median distance of rows.
    pub multiple: f64,
    /// μ in K + μI: nλ.
    pub mu: f64,
    /// Rows fitted.
    pub rows: usize,
    /// Its centres.
    pub centers: Centers,
    /// Root mean square error on validation rows, in standard deviations of the target. Only trials
    /// of the same rows and centres can be compared.
    pub error: f64,
    /// All μ that were tried with the error of each. Where centres are all rows it is that on
    /// validation rows; else the leave-one-out error on the rows that were fitted.
    pub errors: Vec<[f64; 2]>,
    /// Operations counted for it.
    pub work: f64,
    /// Where iterations solved it: the largest relative residual from which on the validation error
    /// of the best μ stayed the same, the least over the folds.
    #[serde(default)]
    pub residual: Option<f64>,
}

/// How the iterations of a fit to all rows ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Iterations {
    /// Iterations done.
    pub iterations: usize,
    /// The relative residual at the end, the largest over the targets.
    pub residual: f64,
    /// The residual at which they were to end.
    pub tolerance: f64,
    /// Whether they came to it.
    pub converged: bool,
}

impl Iterations {
    pub(crate) fn of(report: &IterationReport) -> Self {
        let IterationReport { iterations, residual, tolerance, ref stop, .. } = *report;
        let converged = matches!(stop, Stop::Converged | Stop::Asked);
        Iterations { iterations, residual, tolerance, converged }
    }
}

/// How the error of the chosen candidate falls, with λ by leave-one-out; where rows of a group or
/// after a time are set aside, with the λ that was chosen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Curves {
    /// With rows.
    pub rows: Vec<CurvePoint>,
    /// With landmarks.
    pub landmarks: Vec<CurvePoint>,
}

/// A fit of the chosen candidate with random landmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurvePoint {
    /// Rows fitted.
    pub rows: usize,
    /// Landmarks.
    pub landmarks: usize,
    /// Root mean square error on the validation rows of the first fold, in standard deviations of
    /// the target.
    pub error: f64,
}

/// The logistic loss in place of squares, with the same kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogisticTrial {
    /// Its centres.
    pub centers: Centers,
    /// λ of a sum over rows, divided by their number.
    pub lambda: f64,
    /// Its mean logarithmic loss on validation rows, …
    pub log_loss: f64,
    /// … and that of squares.
    pub squares: f64,
}

impl LogisticTrial {
    /// Whether it took the place of squares.
    pub fn is_better(&self) -> bool {
        self.log_loss < self.squares
    }
}

/// What a search did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Report {
    /// Rows of the table that were used.
    pub rows: usize,
    /// The names of the features.
    pub features: Vec<String>,
    /// Columns left out, and why.
    pub dropped: Vec<Dropped>,
    /// What else was decided about the table, in words.
    pub notes: Vec<String>,
    /// All candidates, in the order in which they were tried.
    pub trials: Vec<Trial>,
    /// What was chosen, with its error on validation rows.
    pub chosen: Trial,
    /// The same error of the plain default: Gaussian kernel, median distance, 500 landmarks.
    pub plain_error: f64,
    /// Of classes: the errors of the chosen candidate on validation rows, to which its
    /// probabilities were fitted.
    pub classes: Option<ClassErrors>,
    /// Of classes: the logistic loss beside squares, if that was tried.
    pub logistic: Option<LogisticTrial>,
    /// Rows set aside for intervals, if that was asked for.
    pub calibration_rows: Option<usize>,
    /// How many of them are in intervals that were made of the others, for each target.
    pub coverage: Vec<Coverage>,
    /// What the chosen candidate gave on validation rows.
    pub validation: Option<Validation>,
    /// Its error with fewer rows and with fewer landmarks.
    pub curves: Curves,
    /// Operations counted.
    pub work: f64,
    /// Operations allowed.
    pub work_allowed: f64,
    /// The most memory planned beside the data, in bytes.
    pub bytes: u64,
    /// Whether the search was told to stop.
    pub stopped: bool,
    /// How the iterations of the final fit ended, if it had any: of those of cross-validation, if
    /// they were asked for, the last that did not converge.
    #[serde(default)]
    pub iterations: Option<Iterations>,
}
