//! The fits at full size, and the model of the best.

use super::candidate::{Candidate, best};
use super::solve::gather;
use super::trial::NEAREST;
use super::{Fitted, Search, Validated};
use crate::cost::{
    full_bytes, full_least_bytes, full_work, largest_fitting, path_landmarks, path_work,
};
use crate::error::{Error, Result};
use crate::examples::landmark_path;
use crate::intervals::Calibrate;
use crate::kernel::AnyKernel;
use crate::model::{Made, Model};
use crate::report::{Centers, LogisticTrial, Report, Trial};
use crate::split::Split;
use nystrom::faer::Mat;
use nystrom::krr::LambdaPath;
use nystrom::prelude::*;

/// The number of landmarks of the plain default, and of the fit after a search was stopped.
const PLAIN_LANDMARKS: usize = 500;
/// Random landmarks and pivots are compared with one in this many of the landmarks.
const PART: usize = 3;
/// The cost of a trial and of that comparison, relative to the cost of the trial.
const COMPARING: f64 = 1.25;
/// Pivots replace random landmarks if they reduce the error by this factor.
const WORTHWHILE: f64 = 0.999;
/// Pivots are chosen from this many random rows for each pivot.
const POOL: usize = 10;
/// The largest share of the work for the explanation of the model.
const EXPLAINING: f64 = 0.03;
/// The largest share of the memory for vectors and blocks of a fit to all rows; the rest is for its
/// preconditioner.
const VECTORS: f64 = 0.6;
/// For two classes and for more, the share of the work for squares. The rest is for the logistic
/// loss, which fits each class by itself. Other losses have the share of two classes.
const OF_SQUARES: [f64; 2] = [0.5, 0.8];
/// The smallest and the largest relative residual at which a fit to all rows stops.
const RESIDUALS: (f64, f64) = (1e-5, 1e-2);
/// The relative residual at which it stops if its trial was solved directly.
const AFTER_DIRECT: f64 = 1e-4;

impl Search<'_> {
    /// Compares the finalists and the plain default at full size, and fits the best to all rows.
    pub(super) fn finish(mut self, finalists: Vec<Candidate>) -> Result<Fitted> {
        self.aim_at(None);
        let left = (self.allowed - self.work).max(0.0);
        let of_squares = match (self.may_be_logistic(), self.problem.y.ncols()) {
            _ if self.has_loss() => OF_SQUARES[0],
            (false, _) => 1.0,
            (true, 1) => OF_SQUARES[0],
            _ => OF_SQUARES[1],
        };
        self.until = self.work + of_squares * left;
        let default = Centers::Uniform(PLAIN_LANDMARKS);
        let plain = self.with_landmarks(self.plain_default(), default, "the plain default")?;
        let plain_error = plain.error;
        let mut trials = Vec::new();
        let affordable = if self.landmarks_only { 0 } else { self.affordable(&finalists) };
        for &candidate in &finalists[..affordable] {
            if self.goes_on(&format!("{}, on all rows", candidate.what())) {
                let (trial, models) = self.trial_of(candidate, self.train_rows())?;
                self.validate(candidate, trial.centers, &models)?;
                self.begun.push((candidate, self.joined(&models)));
                trials.push(trial);
            }
        }
        if let (true, Some(&first)) = (trials.is_empty(), finalists.first()) {
            let centers = if self.stopped { default } else { self.landmarks(first)? };
            trials.push(self.with_landmarks(first, centers, "the best so far")?);
        }
        let trial = match best(&trials) {
            Some(trial) if trial.error <= plain_error => trial.clone(),
            _ => plain,
        };
        let chosen = Candidate::of(&trial);
        if let Some(Validated { targets, .. }) = self.validated_as(&chosen, trial.centers) {
            self.problem.targets = targets.clone();
        }
        self.whole(chosen.shape)?;
        let other = match self.with_loss(&chosen, &trial)? {
            None => self.logistic(&chosen, &trial)?,
            found => found,
        };
        let regression = match other {
            Some(regression) => regression,
            None => self.fit_all(chosen, &trial)?,
        };
        self.model(chosen, trial, plain_error, regression)
    }

    /// The number of finalists that can be fitted to all training rows, with enough work left for a
    /// fit of the best to all rows.
    fn affordable(&self, finalists: &[Candidate]) -> usize {
        let (n, d, t) = (self.n(), self.d(), self.problem.y.ncols());
        let kept = |n: usize| self.fit.memory.is_some_and(|bytes| full_bytes(n, t) <= bytes);
        let validation = self.validation.iter().map(Vec::len).max().unwrap_or(0);
        let (folds, train) = (self.orders.len() as f64, self.train_rows());
        let last = self.last_work(|n| full_work(n, d, t, 0, kept(n)));
        let (mut work, mut count) = (last, 0);
        for candidate in finalists {
            let columns = self.mus(candidate, train).len() * t;
            work += folds * full_work(train, d, columns, validation, kept(n));
            let least = full_least_bytes(n, columns) as f64;
            let holds = self.fit.memory.is_none_or(|bytes| least <= VECTORS * bytes as f64);
            if work > self.until - self.work || !holds {
                break;
            }
            count += 1;
        }
        count
    }

    /// The operations of the plain default, of a finalist on all training rows and of the fits with
    /// the final choices.
    pub(super) fn work_of_full_size(&self) -> f64 {
        let (train, d, t) = (self.train_rows(), self.d(), self.problem.y.ncols());
        let validation = self.validation.iter().map(Vec::len).max().unwrap_or(0);
        let plain = path_work(train as f64, PLAIN_LANDMARKS as f64, d, t);
        let trial = full_work(train, d, NEAREST.len() * t, validation, true);
        let last = self.last_work(|n| full_work(n, d, t, 0, true));
        self.orders.len() as f64 * (plain + trial) + last
    }

    /// The operations of the fits with the final choices, where `fit` counts one to this many rows:
    /// one fit, and for CV+ one more to all rows and one without each part of the rows set aside.
    pub(super) fn last_work(&self, fit: impl Fn(usize) -> f64) -> f64 {
        let aside = self.problem.aside.as_ref().map_or(0, |aside| aside.table.rows());
        let more = match self.fit.calibrate {
            Some(Calibrate::Cross(parts)) => (1 + parts) as f64 * fit(self.n() + aside),
            _ => 0.0,
        };
        fit(self.n()) + more
    }

    /// As many landmarks as the remaining work and the memory allow, random rows or pivots,
    /// whichever is better with a part of them.
    fn landmarks(&mut self, candidate: Candidate) -> Result<Centers> {
        let (n, d, t) = (self.n(), self.d(), self.problem.y.ncols());
        let left = (self.until - self.work).max(0.0);
        let memory = path_landmarks(self.fit.memory);
        // by group or time, λ is chosen by paths of their own
        let paths = if self.fit.split == Split::Random { 1.0 } else { 2.0 };
        let compared = COMPARING * paths * self.orders.len() as f64;
        let affords = |m: usize| {
            let path = |n: usize| path_work(n as f64, m as f64, d, t);
            compared * path(n) + self.last_work(path) <= left && m as f64 <= memory
        };
        let m = largest_fitting(PLAIN_LANDMARKS.min(self.n()), self.n(), affords);
        let few = m.div_ceil(PART);
        let [random, pivots] = [Centers::Uniform(few), Centers::Pivots(few)]
            .map(|centers| self.with_landmarks(candidate, centers, &format!("{centers}")));
        let better = pivots?.error < WORTHWHILE * random?.error;
        Ok(if better { Centers::Pivots(m) } else { Centers::Uniform(m) })
    }

    /// The landmarks among rows that are in random order, at x.
    pub(super) fn landmarks_of(
        &self,
        centers: Centers,
        kernel: &AnyKernel,
        x: Points<'_, f64>,
    ) -> Result<Landmarks> {
        let n = x.len();
        let chosen = match centers {
            Centers::All => (0..n).collect(),
            Centers::Uniform(m) => (0..m.min(n)).collect(),
            Centers::Pivots(m) => {
                let kernels = KernelMatrix::new(kernel, x.slice(0..n.min(POOL * m)))?;
                let pivots = RpCholesky::default();
                pivots
                    .select(&kernels, m.min(kernels.dim()), &mut self.stream(4))?
                    .indices()
                    .to_vec()
            }
        };
        Ok(Landmarks::new(n, chosen)?)
    }

    /// The path of λ with landmarks, on the first `count` training rows of a fold (`None`: of all
    /// rows).
    pub(super) fn path(
        &mut self,
        candidate: &Candidate,
        fold: Option<usize>,
        count: usize,
        centers: Centers,
    ) -> Result<LambdaPath<AnyKernel, f64>> {
        let order = fold.map_or(&self.everything, |fold| &self.orders[fold]);
        let train = self.part(candidate, fold, &order[..count]);
        let x = train.points();
        let kernel = self.kernel(candidate, fold, x.dim())?;
        let landmarks = self.landmarks_of(centers, &kernel, x)?;
        let path = landmark_path(kernel, train.problem(), &landmarks)?;
        let (m, t) = (landmarks.len() as f64, train.y.ncols());
        self.work += path_work(count as f64, m, x.mean_stored(), t);
        Ok(path)
    }

    /// For a split by group or time, the λ with the smallest error on the validation rows of all
    /// folds: leave-one-out would keep the other rows of the group.
    fn lambda_by_folds(&mut self, candidate: Candidate, centers: Centers) -> Result<Option<f64>> {
        if self.fit.split == Split::Random {
            return Ok(None);
        }
        let (mut lambdas, mut squares) = (Vec::new(), Vec::new());
        for fold in 0..self.orders.len() {
            let n = self.orders[fold].len();
            let path = self.path(&candidate, Some(fold), n, centers)?;
            let validation = self.held_out(&candidate, fold);
            squares.resize(path.points().len(), 0.0);
            lambdas = path.points().iter().map(|point| point.mu / n as f64).collect();
            for (sum, point) in squares.iter_mut().zip(path.points()) {
                *sum += validation.mean_square(&path.model_at(point.ridge)?)?;
            }
        }
        let least = (0..squares.len()).min_by(|&a, &b| squares[a].total_cmp(&squares[b]));
        Ok(least.map(|r| lambdas[r]))
    }

    /// A trial with landmarks and λ by leave-one-out or by folds, on all training rows.
    fn with_landmarks(
        &mut self,
        candidate: Candidate,
        centers: Centers,
        what: &str,
    ) -> Result<Trial> {
        self.goes_on(what);
        let (folds, mut square, mut first) = (self.orders.len(), 0.0, None);
        let (mut models, before) = (Vec::new(), self.work);
        let lambda = self.lambda_by_folds(candidate, centers)?;
        for fold in 0..folds {
            let n = self.orders[fold].len();
            let path = self.path(&candidate, Some(fold), n, centers)?;
            let of_rows = |lambda: f64| Ridge::Absolute(lambda * n as f64);
            let ridge = lambda.map_or(path.best_by_loo().ridge, of_rows);
            let model = path.model_at(ridge)?;
            square += self.square(&candidate, fold, &self.validation[fold], &model)? / folds as f64;
            let mu = ridge.absolute(n)?;
            first.get_or_insert_with(|| {
                let errors = path.points().iter().map(|point| [point.mu, point.loo.sqrt()]);
                (model.kernel().bandwidth(), mu, errors.collect())
            });
            models.push(model);
        }
        let (bandwidth, mu, errors) = first.unwrap_or_default();
        let trial = Trial {
            bandwidth: bandwidth.unwrap_or(0.0),
            mu,
            error: square.sqrt(),
            errors,
            work: self.work - before,
            target: self.scale(),
            ..candidate.trial(self.train_rows(), centers)
        };
        self.saw(&trial);
        self.validate(candidate, trial.centers, &models)?;
        Ok(trial)
    }

    /// The fit of a candidate to all rows, with the kind of centres of its trial.
    fn fit_all(&mut self, chosen: Candidate, trial: &Trial) -> Result<KrrModel<AnyKernel, f64>> {
        self.goes_on("the final fit");
        self.mean_map(&chosen)?;
        let n = self.n();
        if trial.centers != Centers::All {
            let path = self.path(&chosen, None, n, trial.centers)?;
            let ridge = match self.fit.split {
                Split::Random => path.best_by_loo().ridge,
                _ => Ridge::Absolute(trial.mu * n as f64 / self.orders[0].len() as f64),
            };
            return Ok(path.model_at(ridge)?);
        }
        let all = self.part(&chosen, None, &self.everything);
        let kernel = self.kernel(&chosen, None, all.points().dim())?;
        self.bytes = full_bytes(n, all.y.ncols());
        self.work += full_work(n, all.points().mean_stored(), all.y.ncols(), 0, true);
        let start = self.begun.iter().find(|(begun, _)| *begun == chosen);
        let start = start.map(|(_, alpha)| gather(alpha.as_ref(), &self.everything));
        let how = (trial.mu, full_residual(trial));
        let (model, iterations) = self.full(&kernel, all.problem(), how, start)?;
        self.iterations = iterations;
        Ok(model)
    }

    /// The coefficient of each row, averaged over the folds whose models have the row.
    fn joined(&self, models: &[KrrModel<AnyKernel, f64>]) -> Mat<f64> {
        let mut alpha = Mat::zeros(self.n(), self.problem.y.ncols());
        // each partition leaves a row out once, but for the only fold of a large table
        let partitions = models.len() / self.partition;
        let share = 1.0 / (models.len() - partitions).max(1) as f64;
        for (order, model) in self.orders.iter().zip(models) {
            let own = model.coefficients(); //              of as many rows in each fold, the first
            for (i, &row) in order[..own.nrows()].iter().enumerate() {
                for j in 0..alpha.ncols() {
                    alpha[(row, j)] += share * own[(i, j)];
                }
            }
        }
        alpha
    }

    fn model(
        mut self,
        chosen: Candidate,
        trial: Trial,
        plain_error: f64,
        regression: KrrModel<AnyKernel, f64>,
    ) -> Result<Fitted> {
        let n = self.n();
        let classes = self.calibrate(&chosen, trial.centers);
        let curves = self.curves(&chosen, &trial)?;
        let validation =
            self.validation(&chosen, trial.centers, classes.as_ref().map(|(classes, _)| classes));
        let (columns, map) =
            (self.shaped(chosen.shape, None).columns.clone(), self.learnt(&chosen, None));
        let made = self.made(&trial, &regression);
        let layout = self.problem.table.names().map(str::to_owned).collect();
        let mut report = Report {
            rows: n,
            features: columns.features(),
            dropped: columns.dropped().to_vec(),
            notes: self.problem.notes.clone(),
            chosen: trial,
            plain_error,
            calibration_rows: self.problem.aside.as_ref().map(|aside| aside.table.rows()),
            coverage: Vec::new(),
            errors: self.errors(validation.as_ref()),
            validation,
            curves,
            classes: classes.as_ref().map(|(_, errors)| *errors),
            logistic: self.logistic.as_ref().map(|(trial, _)| *trial),
            loss: self.loss,
            work: self.work,
            work_allowed: self.allowed,
            bytes: self.bytes,
            stopped: self.stopped,
            iterations: self.iterations,
            trials: self.trials.clone(),
        };
        let map = map.map(|learnt| learnt.map.clone());
        let targets = self.problem.targets.clone();
        let classes = classes.map(|(classes, _)| classes);
        let mut model = Model::new(columns, layout, targets, map, regression, made)
            .and_then(|model| model.with_classes(classes))
            .map_err(|_| Error::File { problem: "the fit gave no finite model".into() })?;
        self.certain(&chosen, &mut model, &mut report)?;
        report.notes.extend(self.device_note());
        model.made.errors = Some(report.search_errors());
        self.explain(&mut model)?;
        Ok(Fitted { model, report })
    }

    /// The record of how the model was made.
    fn made(&self, trial: &Trial, regression: &KrrModel<AnyKernel, f64>) -> Made {
        let logistic = self.logistic.as_ref().map(|(logistic, _)| *logistic);
        let logistic = logistic.filter(LogisticTrial::is_better);
        let other = logistic.map(|of| of.centers).or(self.loss.map(|of| of.centers));
        let centers = other.unwrap_or(trial.centers);
        Made {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            centers: centers.to_string(),
            logistic: logistic.is_some(),
            loss: self.fit.loss.clone(),
            lambda: regression.report().ridge / self.n() as f64,
            validation_error: Some(trial.error).filter(|error| error.is_finite()),
            holds_all_rows: centers == Centers::All,
            ..Made::default()
        }
    }

    /// Adds what quantifies the uncertainty of the model: probabilities, intervals and standard
    /// deviations.
    fn certain(&self, chosen: &Candidate, model: &mut Model, report: &mut Report) -> Result<()> {
        let centers = report.chosen.centers;
        if let (Some(_), Some(aside)) = (&model.classes, &self.problem.aside) {
            report.classes = Some(model.calibrate_classes(aside)?);
        }
        if let (Some(sizes), Some(aside)) = (self.sizes(chosen, centers)?, &self.problem.aside) {
            report.coverage = model.calibrate(sizes, &aside.table)?;
        }
        let variances = self.variances(chosen, &report.chosen)?;
        self.leave_out(chosen, model, report)?;
        let uncertainty = |found| self.uncertainty(chosen, model, found);
        model.uncertainty = variances.map(uncertainty).transpose()?;
        Ok(())
    }

    /// Explains the model by some of the fitted rows.
    fn explain(&self, model: &mut Model) -> Result<()> {
        let rows = model.rows_to_explain(EXPLAINING * self.allowed).min(self.n());
        model.explained(&self.problem.table.select_rows(&self.everything[..rows])?)
    }
}

/// The relative residual at which the fit to all rows after this trial stops.
pub(super) fn full_residual(trial: &Trial) -> f64 {
    trial.residual.unwrap_or(AFTER_DIRECT).clamp(RESIDUALS.0, RESIDUALS.1)
}
