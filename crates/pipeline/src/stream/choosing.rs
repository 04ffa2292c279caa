//! λ, and the model: what follows from the sums over all rows.

use super::ranks::Ranks;
use super::{Recipe, Summing};
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::model::{Made, Model};
use nystrom::krr::{PathErrors, StatePath};
use nystrom::prelude::*;
use serde::Serialize;

/// How a fit to all rows came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StreamReport {
    /// Rows that were used.
    pub rows: u64,
    /// Centres.
    pub landmarks: usize,
    /// λ in K + nλI, by the smaller of the errors below that are known.
    pub lambda: f64,
    /// Whether a smaller or larger one was not tried.
    pub at_edge: bool,
    /// Effective dimension.
    pub effective_dimension: f64,
    /// Root mean square of the residuals, in standard deviations of the target.
    pub training: f64,
    /// Root of the generalised cross-validation error, in the same unit.
    pub gcv: f64,
    /// Root of the leave-one-out error, in the same unit, if a third pass found it.
    pub leave_one_out: Option<f64>,
}

/// The fits to all rows at every λ, without another pass.
#[derive(Debug)]
pub struct StreamPath<'a> {
    recipe: &'a Recipe,
    path: StatePath<AnyKernel, f64>,
}

impl<'a> Summing<'a> {
    /// The fits at all of `lambdas`, in decreasing order.
    ///
    /// # Errors
    /// Those of [`FitState::path`](nystrom::krr::FitState::path);
    /// [`Error::TooFewRows`](crate::Error::TooFewRows) if the pass is not over.
    pub fn path(self, lambdas: &[f64]) -> Result<StreamPath<'a>> {
        let recipe = self.recipe;
        let ridges: Vec<Ridge<f64>> = lambdas.iter().copied().map(Ridge::PerSample).collect();
        Ok(StreamPath { recipe, path: self.whole()?.path(&ridges)? })
    }

    /// The same on every process of a job, after [`merge_over`](Self::merge_over): 4m² bytes go to
    /// each, and each decomposes them.
    ///
    /// # Errors
    /// As [`path`](Self::path), and
    /// [`Incompatible`](nystrom::Error::Incompatible) for other instruction sets.
    pub fn path_over(mut self, ranks: &dyn Ranks, lambdas: &[f64]) -> Result<StreamPath<'a>> {
        if ranks.size() > 1 {
            let all = 0..self.tree.leaves();
            let bytes = match self.done.last_mut() {
                Some((leaves, sum)) if *leaves == all => sum.to_bytes(),
                _ => Vec::new(),
            };
            let bytes = ranks.broadcast(bytes);
            if ranks.rank() > 0 {
                self.done = vec![(all, self.empty.from_bytes(&bytes)?)];
            }
        }
        self.path(lambdas)
    }

    /// The model with the λ of `lambdas`, in decreasing order, whose generalised cross-validation
    /// error is the smallest.
    ///
    /// # Errors
    /// As [`path`](Self::path); [`Error::File`](crate::Error::File) if the model is not finite.
    pub fn finish(self, lambdas: &[f64]) -> Result<(Model, StreamReport)> {
        self.path(lambdas)?.by_gcv()
    }
}

impl<'a> StreamPath<'a> {
    /// A third pass, for the leave-one-out errors at every λ: to be run and merged as the second.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn errors_over(
        &self,
        ranks: &dyn Ranks,
    ) -> Result<Summing<'a, PathErrors<AnyKernel, f64>>> {
        Summing::of(self.path.errors(), self.recipe, (ranks.rank(), ranks.size()), &[])
    }

    /// The model with the smallest generalised cross-validation error.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) if it is not finite.
    pub fn by_gcv(&self) -> Result<(Model, StreamReport)> {
        let errors: Vec<f64> = self.path.points.iter().map(|point| point.gcv).collect();
        self.model(best(&self.path, &errors), None)
    }

    /// The model with the smallest leave-one-out error, by the third pass.
    ///
    /// # Errors
    /// [`Error::TooFewRows`](crate::Error::TooFewRows) if that pass is not over, and as
    /// [`by_gcv`](Self::by_gcv).
    pub fn by_leave_one_out(
        &self,
        errors: Summing<'a, PathErrors<AnyKernel, f64>>,
    ) -> Result<(Model, StreamReport)> {
        let errors = errors.whole()?.leave_one_out()?;
        let best = best(&self.path, &errors);
        self.model(best, Some(errors[best].sqrt()))
    }

    fn model(&self, best: usize, leave_one_out: Option<f64>) -> Result<(Model, StreamReport)> {
        let StreamPath { recipe, path } = self;
        let point = &path.points[best];
        let regression = path.model_at(point.ridge)?;
        let last = path.points.len() - 1;
        let report = StreamReport {
            rows: recipe.rows,
            landmarks: recipe.landmarks(),
            lambda: point.mu / recipe.rows as f64,
            at_edge: last > 0 && (best == 0 || best == last),
            effective_dimension: point.d_eff,
            training: point.training.sqrt(),
            gcv: point.gcv.sqrt(),
            leave_one_out,
        };
        let Model { columns, layout, map, classes, made, .. } = recipe.model.clone();
        let one = match &recipe.targets[..] {
            [one] if classes.is_none() => Some(report.training * one.scale),
            _ => None,
        };
        let made = Made {
            centers: format!("{}:{}", recipe.chosen_by, report.landmarks),
            lambda: report.lambda,
            training_rmse: one.filter(|rmse| rmse.is_finite()),
            holds_all_rows: false,
            ..made
        };
        let model = Model::new(columns, layout, recipe.targets.clone(), map, regression, made)?;
        let model = match classes {
            Some(classes) => model.with_classes(classes)?,
            None => model,
        };
        Ok((model, report))
    }
}

/// The place of the smallest error among those that are above the level of rounding.
fn best(path: &StatePath<AnyKernel, f64>, errors: &[f64]) -> usize {
    let points = path.points.iter().zip(errors).enumerate();
    let known = points.filter(|(_, (point, _))| point.training >= point.rounding);
    known.min_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b)).map_or(0, |(best, _)| best)
}
