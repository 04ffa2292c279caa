//! The score by which candidates are compared, and its better direction.

use crate::metrics;
use faer::MatRef;
use nystrom_linalg_core::{Result, Scalar};

/// A function of predictions and actual values, both n × t, and n weights (`None`: 1 each).
type Measure<T> = fn(MatRef<'_, T>, MatRef<'_, T>, Option<&[T]>) -> Result<f64>;

/// Which of two scores is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Better {
    /// The lower one, as of an error.
    #[default]
    Lower,
    /// The higher one, as of R².
    Higher,
}

/// A function that scores predictions, with the better direction.
///
/// ```
/// use nystrom_krr::{Better, CrossValidation, Score};
/// let by_r2 = CrossValidation::<f64> { score: Score::r2(), ..CrossValidation::default() };
/// assert_eq!(by_r2.score.better(), Better::Higher);
/// // of predictions, actual values and weights
/// let worst = Score::<f64>::lower_is_better(|f, y, _| Ok((f - y).norm_max()));
/// let by_largest_error = CrossValidation { score: worst, ..by_r2 };
/// ```
///
/// A function without a direction is not accepted:
///
/// ```compile_fail,E0308
/// use nystrom_krr::{CrossValidation, metrics};
/// CrossValidation::<f64> { score: metrics::r2, ..CrossValidation::default() };
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Score<T: Scalar> {
    measure: Measure<T>,
    better: Better,
}

impl<T: Scalar> Score<T> {
    /// [`metrics::weighted_mse`], minimised.
    pub fn mse() -> Self {
        Score::lower_is_better(metrics::weighted_mse)
    }

    /// [`metrics::weighted_rmse`], minimised: the mean over the folds of the root of each.
    pub fn rmse() -> Self {
        Score::lower_is_better(metrics::weighted_rmse)
    }

    /// [`metrics::weighted_r2`], maximised. Every fold needs actual values that differ, hence two
    /// rows.
    pub fn r2() -> Self {
        Score::higher_is_better(metrics::weighted_r2)
    }

    /// Your own loss, `measure(predicted, actual, weights)`.
    pub fn lower_is_better(measure: Measure<T>) -> Self {
        Score { measure, better: Better::Lower }
    }

    /// Your own measure of success, `measure(predicted, actual, weights)`.
    pub fn higher_is_better(measure: Measure<T>) -> Self {
        Score { measure, better: Better::Higher }
    }

    /// The direction.
    pub fn better(&self) -> Better {
        self.better
    }

    /// The score of these predictions.
    ///
    /// # Errors
    /// Those of the function.
    pub fn of(
        &self,
        predicted: MatRef<'_, T>,
        actual: MatRef<'_, T>,
        weights: Option<&[T]>,
    ) -> Result<f64> {
        (self.measure)(predicted, actual, weights)
    }
}

impl Better {
    /// The score if lower is better, its negative otherwise: what is to be minimised.
    pub(super) fn loss(self, score: f64) -> f64 {
        match self {
            Better::Lower => score,
            Better::Higher => -score,
        }
    }
}
