//! Fits with another loss than squares, with the kernel that the search found with squares.

use super::candidate::Candidate;
use super::logistic::path_from;
use super::solve::{gather, shifted, stacked};
use super::{Search, Validated};
use crate::cost::{largest_fitting, newton_work};
use crate::error::{Error, Result};
use crate::intervals::Calibrate;
use crate::kernel::AnyKernel;
use crate::loss::{TargetLoss, mean_loss};
use crate::report::{Centers, LossTrial, Trial};
use crate::target::{Target, TargetScale, in_units};
use nystrom::faer::Mat;
use nystrom::krr::{FitReport, Loss, LossKrr};
use nystrom::prelude::*;

/// The planned number of steps for each function: for the path of λ, and for the final fit.
const STEPS_OF_PATH: f64 = 40.0;
const STEPS_OF_FIT: f64 = 48.0;
/// Steps end when the objective decreases by less than this share.
const ENOUGH: f64 = 1e-5;
/// The fewest and the most landmarks.
const LANDMARKS: [usize; 2] = [100, 4000];
/// The path ends after this many λ in a row that are worse than the best.
const WORSE: usize = 2;

impl Search<'_> {
    /// Whether the final fit has another loss than squares.
    pub(super) fn has_loss(&self) -> bool {
        self.fit.loss != TargetLoss::Squares
    }

    /// Refuses what a loss cannot be combined with, before any fit.
    pub(super) fn check_loss(&self) -> Result<()> {
        self.fit.loss.check()?;
        let squares = "is for squares; leave out the loss, or the option";
        let scale = self.fit.target_scale.unwrap_or_default();
        let cross = self.fit.calibrate.is_some_and(|how| !matches!(how, Calibrate::Share(_)));
        let refused = [
            (self.problem.labels.is_some(), "loss", "is for numbers; the target has classes"),
            (self.fit.deviations, "std", squares),
            (cross, "calibrate", "cv and loo are for squares; set a share aside, such as 0.1"),
            (
                self.fit.loss == TargetLoss::Huber && scale != TargetScale::Plain,
                "target-scale",
                "Huber's loss is that of the target as it is; try the loss `absolute`",
            ),
        ];
        match refused.into_iter().find(|(is_wrong, ..)| self.has_loss() && *is_wrong) {
            Some((_, option, problem)) => Err(Error::Option { option, problem: problem.into() }),
            None => Ok(()),
        }
    }

    /// The chosen candidate with the loss of the fit, fitted to all rows with landmarks; `None` for
    /// squares.
    pub(super) fn with_loss(
        &mut self,
        chosen: &Candidate,
        squares: &Trial,
    ) -> Result<Option<KrrModel<AnyKernel, f64>>> {
        let place = self.validated.iter().position(|of| of.is(chosen, squares.centers));
        let Some(place) = place.filter(|_| self.has_loss()) else { return Ok(None) };
        let spread: Vec<f64> = self.own_targets().1.iter().map(|target| target.scale).collect();
        let Validated { f, values, .. } = self.validated.swap_remove(place);
        self.one_target_for_each_function(&f);
        let of_squares = self.mean_error(&self.for_each_function(&values), &spread);
        let over = self.loss_centers(squares.centers);
        self.goes_on(&format!("the loss {}", self.fit.loss));
        let (lambda, f) = self.best_of_path(chosen, over, squares)?;
        let (targets, values) =
            (self.problem.targets.clone(), in_units(f.clone(), &self.problem.targets));
        let error = self.mean_error(&values, &spread);
        self.loss = Some(LossTrial { centers: over, lambda, error, squares: of_squares });
        let (candidate, centers) = (*chosen, squares.centers);
        self.validated.push(Validated { candidate, centers, f, values, targets });
        self.goes_on("the final fit");
        self.mean_map(chosen)?;
        let all = self.part(chosen, None, &self.everything);
        let kernel = self.kernel(chosen, None, all.points().dim())?;
        let landmarks = self.landmarks_of(over, &kernel, all.points())?;
        let krr = self.loss_krr(kernel, Ridge::PerSample(lambda));
        let model = krr.fit(all.problem(), &landmarks)?;
        self.count_steps(model.report());
        Ok(Some(model))
    }

    /// Makes one target of each function (several quantiles are several functions of a target), in
    /// units of the size of the residuals of squares, whose f for validation rows is given.
    fn one_target_for_each_function(&mut self, f: &Mat<f64>) {
        let y = gather(self.problem.y.as_ref(), &self.validated_rows());
        let sizes: Vec<f64> = (0..y.ncols()).map(|j| size(&y, f, j)).collect();
        let shares: Vec<Option<f64>> = match &self.fit.loss {
            TargetLoss::Quantiles(shares) => shares.iter().copied().map(Some).collect(),
            _ => vec![None],
        };
        let of = |(target, size): (&Target, &f64)| -> Vec<Target> {
            let target = Target { scale: target.scale * size, ..target.as_inverse() };
            shares.iter().map(|share| Target { share: *share, ..target.clone() }).collect()
        };
        let targets = self.problem.targets.iter().zip(&sizes).flat_map(of).collect();
        let y = self.for_each_function(&self.problem.y);
        let count = shares.len();
        let y = Mat::from_fn(y.nrows(), y.ncols(), |i, j| y[(i, j)] / sizes[j / count]);
        self.own = self.own.take().map(|(y, targets)| {
            let repeated = targets.iter().flat_map(|target| vec![target.clone(); count]);
            (self.for_each_function(&y), repeated.collect())
        });
        (self.problem.y, self.problem.targets) = (y, targets);
        self.offsets = self.orders.iter().map(|train| self.offset(train)).collect();
    }

    /// The columns of targets, each as often as it has functions.
    fn for_each_function(&self, of_targets: &Mat<f64>) -> Mat<f64> {
        let count = self.fit.loss.losses().len();
        let (n, t) = of_targets.shape();
        Mat::from_fn(n, t * count, |i, j| of_targets[(i, j / count)])
    }

    /// The losses of all functions.
    fn losses(&self) -> Vec<Loss> {
        let of_one = self.fit.loss.losses();
        of_one.iter().copied().cycle().take(self.problem.targets.len()).collect()
    }

    fn loss_krr<R>(&self, kernel: AnyKernel, ridge: R) -> LossKrr<AnyKernel, R> {
        let memory = self.memory_for_values();
        LossKrr { memory, tolerance: ENOUGH, ..LossKrr::new(kernel, self.losses(), ridge) }
    }

    /// The mean loss of predictions for the validation rows over all functions, in standard
    /// deviations of the targets, of which each has as many functions.
    fn mean_error(&self, values: &Mat<f64>, spread: &[f64]) -> f64 {
        let ((actual, rows), (n, t)) = (self.actual(), values.shape());
        let weights = self.weights_of(&rows).unwrap_or_else(|| vec![1.0; n]);
        let of = |j: usize| {
            let share = self.problem.targets[j].share;
            let scale = spread[j * spread.len() / t];
            let residual = |i: usize| (actual[(i, j)] - values[(i, j)]) / scale;
            mean_loss(share, (0..n).map(|i| (residual(i), weights[i])))
        };
        (0..t).map(of).sum::<f64>() / t as f64
    }

    /// As many landmarks as the remaining work allows, of the kind that squares have.
    fn loss_centers(&self, of_squares: Centers) -> Centers {
        let (n, d, t) = (self.n(), self.d(), self.problem.y.ncols() as f64);
        let (left, folds) = (self.allowed - self.work, self.partition as f64);
        let affords = |m: usize| {
            let steps = |count: f64| newton_work(count * t, [n, m, d], self.kept_rows(m));
            folds * steps(STEPS_OF_PATH) + steps(STEPS_OF_FIT) <= left
        };
        let [fewest, most] = LANDMARKS.map(|m| m.min(self.train_rows()));
        let m = largest_fitting(fewest, most, affords);
        match of_squares {
            Centers::Uniform(_) => Centers::Uniform(m),
            _ => Centers::Pivots(m),
        }
    }

    /// The λ with the smallest mean loss on the validation rows of the first partition, and f for
    /// these rows. The first fold determines where the path ends.
    fn best_of_path(
        &mut self,
        chosen: &Candidate,
        over: Centers,
        squares: &Trial,
    ) -> Result<(f64, Mat<f64>)> {
        let mut path = path_from(squares, over);
        let mut of_folds: Vec<Vec<Mat<f64>>> = Vec::new();
        for fold in 0..self.partition {
            of_folds.push(self.path_of(chosen, fold, over, &path)?);
            path.truncate(of_folds[0].len());
        }
        let rows = self.validated_rows();
        let at = |r: usize| {
            let f = stacked(of_folds.iter().filter_map(|of_fold| of_fold.get(r)));
            (self.loss_on(&f, &rows), path[r], f)
        };
        let best = (0..path.len()).map(at).min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, lambda, f) = best.ok_or(nystrom::Error::Empty { what: "ridges" })?;
        Ok((lambda, f))
    }

    /// f for the validation rows of a fold at each λ of the path. In the first fold, the path ends
    /// after [`WORSE`] λ in a row that do not reduce the loss.
    fn path_of(
        &mut self,
        chosen: &Candidate,
        fold: usize,
        over: Centers,
        path: &[f64],
    ) -> Result<Vec<Mat<f64>>> {
        let train = self.part(chosen, Some(fold), &self.orders[fold]);
        let rows = &self.validation[fold];
        let x = self.rows(chosen, Some(fold), rows);
        let kernel = self.kernel(chosen, Some(fold), train.points().dim())?;
        let landmarks = self.landmarks_of(over, &kernel, train.points())?;
        let ridges: Vec<Ridge<f64>> = path.iter().copied().map(Ridge::PerSample).collect();
        let (mut found, mut least, mut worse, mut last) = (Vec::new(), f64::INFINITY, 0, None);
        let most = STEPS_OF_PATH * train.y.ncols() as f64;
        let goes_on = |model: KrrModel<AnyKernel, f64>| {
            let Ok(f) = model.predict(x.points()) else { return false };
            let f = shifted(f, self.offsets.get(fold), 1.0);
            let loss = self.loss_on(&f, rows);
            worse = if loss < least { 0 } else { worse + 1 };
            least = least.min(loss);
            found.push(f);
            last = Some(model.report().clone());
            fold > 0 || worse < WORSE && (model.report().steps as f64) < most
        };
        self.loss_krr(kernel, ()).path(train.problem(), &landmarks, &ridges, goes_on)?;
        if let Some(report) = last {
            self.count_steps(&report);
        }
        Ok(found)
    }

    /// The mean of the losses of f for these rows, in the units of the fit.
    fn loss_on(&self, f: &Mat<f64>, rows: &[usize]) -> f64 {
        let (y, losses) = (gather(self.problem.y.as_ref(), rows), self.losses());
        let weights = self.weights_of(rows).unwrap_or_else(|| vec![1.0; rows.len()]);
        let of = |i: usize| -> f64 {
            losses.iter().enumerate().map(|(j, loss)| loss.at(y[(i, j)] - f[(i, j)])).sum()
        };
        let sum: f64 = (0..rows.len()).map(|i| weights[i] * of(i)).sum();
        sum / weights.iter().sum::<f64>()
    }

    /// Counts the work of a fit.
    fn count_steps(&mut self, report: &FitReport) {
        let FitReport { n, m, d, steps, .. } = *report;
        self.work += newton_work(steps as f64, [n, m, d], self.kept_rows(m));
    }
}

/// The median distance of the residuals of a target from their median, which outliers hardly
/// change, or another scale where it is 0.
fn size(y: &Mat<f64>, f: &Mat<f64>, j: usize) -> f64 {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let residuals: Vec<f64> = (0..y.nrows()).map(|i| y[(i, j)] - f[(i, j)]).collect();
    let square = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
    let middle = median(residuals.clone());
    let sizes = [median(residuals.iter().map(|r| (r - middle).abs()).collect()), square.sqrt()];
    sizes.into_iter().find(|size| *size > 0.0 && size.is_finite()).unwrap_or(1.0)
}
