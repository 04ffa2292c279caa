//! The logistic loss over rows that are read again for every Newton step.

use super::choose_lambda::StreamReport;
use super::class_sample::ClassSample;
use super::iterating::Passes;
use super::processes::Ranks;
use super::{Recipe, TableSource};
use crate::classes::{Calibration, ClassErrors};
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::model::Model;
use crate::target::Target;
use nystrom::faer::Mat;
use nystrom::krr::{Problem, RowPasses, StatePath, step_of_newton};
use nystrom::prelude::*;

/// The largest number of Newton steps.
const STEPS: usize = 8;
/// The steps end when the loss decreases by less than this share.
const ENOUGH: f64 = 1e-3;

/// The model of the log-odds after a Newton step.
struct NewtonStep {
    odds: KrrModel<AnyKernel, f64>,
    lambda: f64,
    calibration: Calibration,
    /// The errors on the sample, where each row is predicted by a step without it and its copies.
    errors: ClassErrors,
}

impl Recipe {
    /// Whether the caller should try [`logistic_over`](Self::logistic_over): the targets are
    /// classes, not every row is a centre, the steps take at most the work that the search may do,
    /// and the sums fit into the memory of the search.
    pub fn tries_logistic(&self) -> bool {
        let (m, t) = (self.dimensions(), self.facts.targets.len());
        let flops = 2.0 * (STEPS * t) as f64 * self.rows() as f64 * (m as f64).powi(2);
        let bytes = Recipe::bytes(m, self.facts.used.leaves, t);
        self.sample.is_some()
            && !self.is_of_all()
            && self.fit.checked_work().is_ok_and(|work| flops <= work)
            && self.fit.memory.is_none_or(|memory| bytes <= memory)
    }

    /// For classes, the better of the model `found`, which process 0 passes, and the model with
    /// logistic loss. They are compared by their logarithmic losses in rows of the sample, each
    /// predicted without that row. The result is on process 0.
    ///
    /// Each Newton step is a pass over the rows and uses the λ of `lambdas` with the smallest loss.
    /// The steps start at f = 0 and stop when the loss no longer falls.
    ///
    /// # Cost
    /// For t functions of classes: t times a pass of [`sum_after`](Self::sum_after) for each step,
    /// up to eight steps; the memory of [`bytes`](Self::bytes) with t folds.
    ///
    /// # Errors
    /// Those of the source and of the regressions.
    pub fn logistic_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        found: Option<(Model, StreamReport)>,
        lambdas: &[f64],
    ) -> Result<Option<(Model, StreamReport)>> {
        let Some(sample) = &self.sample else { return Ok(found) };
        let recipe = self.of_odds();
        let best = recipe.newton(ranks, source, sample, lambdas)?;
        let (Some((model, report)), Some(best)) = (found, best) else { return Ok(None) };
        let squares = report.classes.map_or(f64::INFINITY, |errors| errors.log_loss);
        let squares_log_loss = Some(squares);
        if best.errors.log_loss.total_cmp(&squares).is_ge() {
            return Ok(Some((model, StreamReport { squares_log_loss, ..report })));
        }
        let report = StreamReport { squares_log_loss, ..StreamReport::at(self, best.lambda) };
        let calibrated = Some((best.calibration, best.errors));
        let (mut model, report) = recipe.made(best.odds, report, calibrated)?;
        model.made.logistic = true;
        Ok(Some((model, report)))
    }

    /// The same recipe for log-odds, which are not standardised.
    fn of_odds(&self) -> Recipe {
        let plain = |target: &Target| Target { mean: 0.0, scale: 1.0, ..target.clone() };
        let mut recipe = self.clone();
        recipe.facts.targets = self.facts.targets.iter().map(plain).collect();
        recipe
    }

    /// The Newton steps; the result is the best of them, on every process.
    fn newton(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        sample: &ClassSample,
        lambdas: &[f64],
    ) -> Result<Option<NewtonStep>> {
        let ridges: Vec<Ridge<f64>> = lambdas.iter().copied().map(Ridge::PerSample).collect();
        let empty = self.empty_for(1)?;
        let mut passes = Passes::new(self, ranks, source);
        let mut best: Option<NewtonStep> = None;
        for _ in 0..STEPS {
            let at = best.as_ref().map(|step| step.odds.clone());
            let sums = match passes.pass(empty.newton(self.facts.targets.len(), at.clone())?) {
                Ok(sums) => sums,
                failed => return passes.unless_failed(failed).map(|_| best),
            };
            let paths = sums.paths(&ridges)?;
            let next = self.least(&paths, &ridges, sample, at.as_ref())?;
            let before = best.as_ref().map_or(f64::INFINITY, |step| step.errors.log_loss);
            let Some(next) = next.filter(|next| next.errors.log_loss < before) else { break };
            let is_last = next.errors.log_loss > (1.0 - ENOUGH) * before;
            best = Some(next);
            if is_last {
                break;
            }
        }
        Ok(best)
    }

    /// The result of a step at the λ with the smallest loss on the sample; `None` if none is
    /// finite.
    fn least(
        &self,
        paths: &[StatePath<AnyKernel, f64>],
        ridges: &[Ridge<f64>],
        sample: &ClassSample,
        at: Option<&KrrModel<AnyKernel, f64>>,
    ) -> Result<Option<NewtonStep>> {
        let y = self.indicators(&sample.labels);
        let (n, t) = y.shape();
        let f = match at {
            Some(at) => at.predict(sample.points())?,
            None => Mat::zeros(n, t),
        };
        let all = sample.problem(&y);
        let mut least: Option<(usize, Calibration, ClassErrors)> = None;
        for (l, ridge) in ridges.iter().enumerate() {
            let mut values = Mat::zeros(n, t);
            for (j, path) in paths.iter().enumerate() {
                let step = |i: usize| step_of_newton(f[(i, j)], y[(i, j)] > 0.0);
                let copies = |i: usize| all.weights.map_or(1.0, |w| w[i]);
                let h: Vec<f64> = (0..n).map(|i| copies(i) * step(i).0).collect();
                let z = Mat::from_fn(n, 1, |i, _| step(i).1);
                let problem = Problem::new(all.x, z.as_ref()).weighted(&h);
                let residuals = path.leave_one_out(*ridge, problem)?;
                (0..n).for_each(|i| values[(i, j)] = z[(i, 0)] - residuals[(i, 0)]);
            }
            let (calibration, errors) = self.calibrated(sample, values);
            let before = least.as_ref().map_or(f64::INFINITY, |(.., least)| least.log_loss);
            if errors.log_loss < before {
                least = Some((l, calibration, errors));
            }
        }
        let Some((l, calibration, errors)) = least else { return Ok(None) };
        let lambda = paths[0].points()[l].mu / self.rows() as f64;
        let odds = side_by_side(paths, ridges[l])?;
        Ok(Some(NewtonStep { odds, lambda, calibration, errors }))
    }
}

/// The models of all columns at a ridge, as one.
fn side_by_side(
    paths: &[StatePath<AnyKernel, f64>],
    ridge: Ridge<f64>,
) -> Result<KrrModel<AnyKernel, f64>> {
    let columns = paths.iter().map(|path| path.model_at(ridge));
    let columns = columns.collect::<nystrom::Result<Vec<_>>>()?;
    let (first, t) = (&columns[0], columns.len());
    let theta = Mat::from_fn(first.centers().len(), t, |i, j| columns[j].coefficients()[(i, 0)]);
    let mut report = first.report().clone();
    report.t = t;
    let centers = first.centers().as_cols().to_owned();
    Ok(KrrModel::new(first.kernel().clone(), centers, theta, vec![0.0; t], report)?)
}
