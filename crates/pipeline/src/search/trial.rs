//! One candidate on some rows: its error on the validation rows of each fold.

use super::candidate::Candidate;
use super::{Learnt, Search};
use crate::effort::Size;
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::model::mapped;
use crate::report::{Centers, Trial};
use nystrom::faer::{Mat, MatRef};
use nystrom::prelude::*;

impl Search<'_> {
    /// Features of a candidate in some rows, mapped as the fold has learnt it.
    pub(super) fn rows(&self, candidate: &Candidate, fold: usize, rows: &[usize]) -> Mat<f64> {
        let x = gather(self.shaped(candidate.shape).x.as_ref(), rows);
        match self.learnt(candidate, fold) {
            Some(learnt) => mapped(x.as_ref(), learnt.map.as_ref()),
            None => x,
        }
    }

    pub(super) fn learnt(&self, candidate: &Candidate, fold: usize) -> Option<&Learnt> {
        self.maps.iter().find(|learnt| {
            learnt.metric == candidate.metric
                && learnt.shape == candidate.shape
                && learnt.fold == fold
        })
    }

    /// The candidate's error at this size; its λ and length scale are those of the first fold.
    pub(super) fn trial(&mut self, candidate: Candidate, size: Size) -> Result<Trial> {
        let mut squares = 0.0;
        let mut first = None;
        for fold in 0..self.orders.len() {
            let rows = &self.orders[fold][..size.rows.min(self.orders[fold].len())];
            let x = self.rows(&candidate, fold, rows);
            let kernel = candidate.kernel(self.medians(&candidate, fold), x.ncols())?;
            let path = self.path(&kernel, x.as_ref(), rows, size.landmarks)?;
            let best = path.best_by_loo();
            squares += self.error(&path.model_at(best.ridge)?, &candidate, fold)?;
            first.get_or_insert((best.ridge.per_sample(rows.len())?, kernel.bandwidth()));
            self.counts(size);
        }
        let (lambda, bandwidth) = first.unwrap_or((0.0, None));
        let trial = Trial {
            shape: candidate.shape,
            family: candidate.family,
            metric: candidate.metric,
            bandwidth: bandwidth.unwrap_or(0.0),
            lambda,
            rows: size.rows,
            centers: Centers::Uniform(size.landmarks),
            error: (squares / self.orders.len() as f64).sqrt(),
        };
        self.trials.push(trial.clone());
        Ok(trial)
    }

    /// Mean square error on the validation rows of a fold, over targets.
    pub(super) fn error(
        &self,
        model: &KrrModel<AnyKernel, f64>,
        candidate: &Candidate,
        fold: usize,
    ) -> Result<f64> {
        let rows = &self.problem.folds[fold].validation;
        let x = self.rows(candidate, fold, rows);
        let f = model.predict(Points::from_rows(x.as_ref()))?;
        Ok(self.mean_square(f.as_ref(), rows))
    }

    /// Mean square (by weight) of f − y in these rows.
    pub(super) fn mean_square(&self, f: MatRef<'_, f64>, rows: &[usize]) -> f64 {
        let (y, t) = (&self.problem.y, self.problem.y.ncols());
        let weight = |row: usize| self.problem.weights.as_ref().map_or(1.0, |w| w[row]);
        let square = |(i, &row): (usize, &usize)| {
            weight(row) * (0..t).map(|j| (f[(i, j)] - y[(row, j)]).powi(2)).sum::<f64>()
        };
        let total: f64 = rows.iter().map(|&row| weight(row)).sum();
        rows.iter().enumerate().map(square).sum::<f64>() / (t as f64 * total)
    }
}

/// These rows of a matrix.
pub(super) fn gather(x: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)])
}
