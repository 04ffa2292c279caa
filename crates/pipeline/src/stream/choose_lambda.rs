//! The choice of λ, and the model, from the sums over all rows.

use super::processes::{Alone, Ranks};
use super::summing::{Folded, State};
use super::{Recipe, Summing};
use crate::classes::{Calibration, ClassErrors, Classes};
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::model::{Made, Model};
use nystrom::krr::{PathErrors, StatePath, StatePoint};
use nystrom::prelude::*;
use serde::Serialize;

/// The report of a fit to all rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct StreamReport {
    /// The number of rows used.
    pub rows: u64,
    /// The number of centres.
    pub landmarks: usize,
    /// λ in K + nλI.
    pub lambda: f64,
    /// Whether λ is the smallest or largest that was tried.
    pub at_edge: bool,
    /// The effective dimension; `None` for an iterative fit.
    pub effective_dimension: Option<f64>,
    /// Root mean square of the residuals, in standard deviations of the target; `None` for an
    /// iterative fit.
    pub training: Option<f64>,
    /// Root of the generalised cross-validation error, in standard deviations of the target;
    /// `None` for an iterative fit.
    pub gcv: Option<f64>,
    /// Root mean square leave-one-out error, in standard deviations of the target, if a third pass
    /// computed it.
    pub leave_one_out: Option<f64>,
    /// Root mean square error by cross-validation, in standard deviations of the target, if there
    /// were folds.
    pub cross_validation: Option<f64>,
    /// For classes: the errors of the probabilities in rows of the sample, each predicted by a fit
    /// without that row.
    pub classes: Option<ClassErrors>,
    /// For classes: the logarithmic loss in the same rows of the fit to squared errors, if the
    /// logistic loss was tried.
    pub squares_log_loss: Option<f64>,
}

impl StreamReport {
    /// The report of a fit whose errors are unknown.
    pub(super) fn at(recipe: &Recipe, lambda: f64) -> Self {
        let (rows, landmarks) = (recipe.rows(), recipe.landmarks());
        StreamReport { rows, landmarks, lambda, ..StreamReport::default() }
    }
}

/// The fits to all rows at every λ, from the sums of one pass.
#[derive(Debug)]
pub struct StreamPath<'a> {
    recipe: &'a Recipe,
    path: StatePath<AnyKernel, f64>,
}

impl<'a> Summing<'a> {
    /// The fits at all `lambdas`, which must decrease.
    ///
    /// # Errors
    /// Those of [`FitState::path`](nystrom::krr::FitState::path);
    /// [`Error::TooFewRows`](crate::Error::TooFewRows) if the pass is not complete.
    pub fn path(self, lambdas: &[f64]) -> Result<StreamPath<'a>> {
        self.path_over(&Alone, lambdas)
    }

    /// Like [`path`](Self::path), on every process of a job: the sums of all processes are merged,
    /// each process receives 4m² bytes and decomposes the merged sums.
    ///
    /// # Errors
    /// Those of [`path`](Self::path), and [`Incompatible`](nystrom::Error::Incompatible) for sums
    /// made with another instruction set.
    pub fn path_over(self, ranks: &dyn Ranks, lambdas: &[f64]) -> Result<StreamPath<'a>> {
        let recipe = self.recipe;
        StreamPath::of(recipe, self.everywhere(ranks)?, lambdas)
    }

    /// The model at the λ with the smallest generalised cross-validation error; `lambdas` must
    /// decrease.
    ///
    /// # Errors
    /// Those of [`path`](Self::path); [`Error::File`](crate::Error::File) if the model is not
    /// finite.
    pub fn finish(self, lambdas: &[f64]) -> Result<(Model, StreamReport)> {
        self.path(lambdas)?.by_gcv()
    }
}

impl Summing<'_, Folded> {
    /// The model at the λ with the smallest cross-validation error; `lambdas` must decrease.
    ///
    /// # Errors
    /// Those of [`FoldedEquations::scores`](nystrom::krr::FoldedEquations::scores) and of
    /// [`finish`](Summing::finish).
    pub fn by_folds(self, lambdas: &[f64]) -> Result<(Model, StreamReport)> {
        let recipe = self.recipe;
        let folded = self.whole()?;
        let ridges: Vec<Ridge<f64>> = lambdas.iter().copied().map(Ridge::PerSample).collect();
        let scores = folded.scores(&ridges)?;
        let path = StreamPath::of(recipe, folded.together()?, lambdas)?;
        let best = best(scores.iter().map(|of| (of.score.mean, of.rounding <= of.score.mean)));
        let error = scores[best].score.mean.sqrt();
        path.model(best, |report| StreamReport { cross_validation: Some(error), ..report })
    }
}

impl<'a> StreamPath<'a> {
    fn of(recipe: &'a Recipe, sum: State, lambdas: &[f64]) -> Result<Self> {
        let ridges: Vec<Ridge<f64>> = lambdas.iter().copied().map(Ridge::PerSample).collect();
        Ok(StreamPath { recipe, path: sum.path(&ridges)? })
    }

    /// A third pass, which computes the leave-one-out errors at every λ. Run and merge it like the
    /// second pass.
    ///
    /// # Errors
    /// [`Error::Option`] if some rows are copies of others: leaving out a row would keep its
    /// copies.
    pub fn errors_over(
        &self,
        ranks: &dyn Ranks,
    ) -> Result<Summing<'a, PathErrors<AnyKernel, f64>>> {
        self.recipe.check_leave_one_out()?;
        Summing::of(self.path.errors(), self.recipe, ranks, &[])
    }

    /// The model with the smallest generalised cross-validation error.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) if the model is not finite.
    pub fn by_gcv(&self) -> Result<(Model, StreamReport)> {
        let points = self.path.points().iter();
        let known = |point: &StatePoint<f64>| point.training >= point.rounding;
        let best = best(points.map(|point| (self.gcv(point), known(point))));
        self.model(best, |report| report)
    }

    /// The model with the smallest leave-one-out error, from the third pass. These errors are
    /// accurate even where errors from the sums of the second pass would be all rounding.
    ///
    /// # Errors
    /// [`Error::TooFewRows`](crate::Error::TooFewRows) if the third pass is not complete; those of
    /// [`by_gcv`](Self::by_gcv).
    pub fn by_leave_one_out(
        &self,
        errors: Summing<'a, PathErrors<AnyKernel, f64>>,
    ) -> Result<(Model, StreamReport)> {
        let errors = errors.whole()?;
        let (training, errors) = (errors.training()?, errors.leave_one_out()?);
        let best = best(errors.iter().map(|error| (*error, true)));
        let root = |errors: &[f64]| Some(errors[best].sqrt());
        self.model(best, |report| StreamReport {
            leave_one_out: root(&errors),
            training: root(&training),
            ..report
        })
    }

    /// The generalised cross-validation error; if rows are copied, that of the different rows with
    /// the numbers of their copies as weights, which is infinite without degrees of freedom.
    fn gcv(&self, point: &StatePoint<f64>) -> f64 {
        let Some(different) = self.recipe.facts.different else { return point.gcv };
        let left = 1.0 - point.d_eff / different;
        if left > 0.0 { point.training / left.powi(2) } else { f64::INFINITY }
    }

    /// The model at the ridge `best` of the path, and its report, which `and` completes.
    fn model(
        &self,
        best: usize,
        and: impl FnOnce(StreamReport) -> StreamReport,
    ) -> Result<(Model, StreamReport)> {
        let StreamPath { recipe, path } = self;
        let point = &path.points()[best];
        let last = path.points().len() - 1;
        let report = and(StreamReport {
            at_edge: last > 0 && (best == 0 || best == last),
            effective_dimension: Some(point.d_eff),
            training: Some(point.training.sqrt()),
            gcv: Some(self.gcv(point).sqrt()),
            ..StreamReport::at(recipe, point.mu / recipe.rows() as f64)
        });
        let calibrated = recipe.sample.as_ref().map(|sample| -> Result<_> {
            let y = recipe.indicators(&sample.labels);
            let residuals = path.leave_one_out(point.ridge, sample.problem(&y))?;
            Ok(recipe.calibrated(sample, &y - residuals))
        });
        recipe.made(path.model_at(point.ridge)?, report, calibrated.transpose()?)
    }
}

impl Recipe {
    /// Checks that leave-one-out errors can be computed.
    ///
    /// # Errors
    /// [`Error::Option`] if some rows are copies of others: leaving out a row would keep its
    /// copies.
    pub fn check_leave_one_out(&self) -> Result<()> {
        let Some(different) = self.facts.different else { return Ok(()) };
        let problem = format!(
            "some rows are copies of others (about {different:.0} of {} differ), and leaving out a \
             row would keep its copies; write --lambda gcv or --lambda cv:10",
            self.rows()
        );
        Err(Error::Option { option: "lambda", problem })
    }

    /// The model with this regression and, for classes, these calibrated probabilities.
    pub(super) fn made(
        &self,
        regression: KrrModel<AnyKernel, f64>,
        report: StreamReport,
        calibrated: Option<(Calibration, ClassErrors)>,
    ) -> Result<(Model, StreamReport)> {
        let Model { columns, layout, map, classes, made, .. } = self.model.clone();
        let one = match &self.facts.targets[..] {
            [one] if classes.is_none() => report.training.map(|training| training * one.scale),
            _ => None,
        };
        let centers = if self.is_of_all() || self.sketch.is_some() {
            self.facts.chosen_by.clone()
        } else {
            format!("{}:{}", self.facts.chosen_by, report.landmarks)
        };
        let made = Made {
            centers,
            lambda: report.lambda,
            training_rmse: one.filter(|rmse| rmse.is_finite()),
            holds_all_rows: self.is_of_all(),
            logistic: false,
            held_out: self.held.len(),
            ..made
        };
        let targets = self.facts.targets.clone();
        let model = Model::new(columns, layout, targets, map, regression, made)?;
        let of_classes = classes
            .zip(calibrated)
            .map(|(classes, (calibration, errors))| (Classes { calibration, ..classes }, errors));
        let (classes, errors) = of_classes.unzip();
        Ok((model.with_classes(classes)?, StreamReport { classes: errors, ..report }))
    }
}

/// The position of the smallest error among those that are known, that is above rounding errors.
fn best(errors: impl Iterator<Item = (f64, bool)>) -> usize {
    let known = errors.enumerate().filter(|(_, (_, known))| *known);
    known.min_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b)).map_or(0, |(best, _)| best)
}
