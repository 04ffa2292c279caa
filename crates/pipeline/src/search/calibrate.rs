//! Results of the chosen candidate on validation rows: predictions and truth, probabilities, sizes
//! of residuals, and standard deviations.

use super::candidate::Candidate;
use super::solve::{gather, shifted, stacked};
use super::{Search, Validated};
use crate::classes::{Calibration, ClassErrors, Classes};
use crate::error::Result;
use crate::examples::Examples;
use crate::intervals::{Calibrate, Left, ResidualSizes, Variances, posterior, spread_of};
use crate::kernel::{AnyKernel, Family};
use crate::report::{Centers, TargetError, Trial};
use crate::split::Split;
use crate::target::{TargetScale, in_units};
use crate::validation::{Compared, Confusion, Validation};
use nystrom::faer::{Mat, MatRef};
use nystrom::krr::lambda_grid;
use nystrom::prelude::*;

/// The largest number of landmarks in the fit of sizes.
const SIZE_LANDMARKS: usize = 300;

impl Search<'_> {
    /// Stores the predictions of a trial at full size for validation rows, in units of the target.
    /// Each fold has its own model.
    pub(super) fn validate(
        &mut self,
        candidate: Candidate,
        centers: Centers,
        models: &[KrrModel<AnyKernel, f64>],
    ) -> Result<()> {
        let folds = models.iter().zip(&self.validation[..self.partition]).enumerate();
        let folds = folds.map(|(fold, (model, validation))| {
            let x = self.rows(&candidate, Some(fold), validation);
            let values = model.predict(x.points())?;
            Ok(shifted(values, self.offsets.get(fold), 1.0))
        });
        let folds = folds.collect::<nystrom::Result<Vec<_>>>()?;
        let f = stacked(&folds);
        let targets = match self.scale() {
            TargetScale::Plain => self.problem.targets.clone(),
            _ => self.with_means(&f, &self.validated_rows()),
        };
        let values = in_units(f.clone(), &targets);
        self.validated.push(Validated { candidate, centers, f, values, targets });
        Ok(())
    }

    /// The targets of all validation rows in their units, and the numbers of these rows.
    pub(super) fn actual(&self) -> (Mat<f64>, Vec<usize>) {
        let rows = self.validated_rows();
        let (y, targets) = self.own_targets();
        (in_units(gather(y.as_ref(), &rows), targets), rows)
    }

    /// The stored predictions of the chosen candidate with the true values.
    pub(super) fn validation(
        &self,
        chosen: &Candidate,
        centers: Centers,
        classes: Option<&Classes>,
    ) -> Option<Validation> {
        let values = self.validated(chosen, centers)?;
        let (actual, rows) = self.actual();
        let confusion = self.problem.labels.as_ref().zip(classes).map(|(labels, classes)| {
            let truth: Vec<usize> = rows.iter().map(|&row| labels.of[row]).collect();
            let p = classes.probabilities(values.as_ref());
            let weights = self.weights_of(&rows);
            Confusion::of(&classes.names, p.as_ref(), &truth, weights.as_deref())
        });
        let compared = |j: usize| Compared {
            target: self.problem.targets[j].label(),
            actual: actual.col(j).iter().copied().collect(),
            predicted: values.col(j).iter().copied().collect(),
        };
        let numbers = if confusion.is_some() { 0 } else { self.problem.targets.len() };
        Some(Validation {
            rows: rows.len(),
            folds: self.partition,
            split: match &self.fit.split {
                Split::Random => "random".to_owned(),
                Split::Group(column) => format!("group {column}"),
                Split::Time(column) => format!("time {column}"),
            },
            targets: (0..numbers).map(compared).collect(),
            classes: confusion,
        })
    }

    /// The error of each target of a regression for the predictions that [`validation`] has.
    ///
    /// [`validation`]: Self::validation
    pub(super) fn errors(&self, validation: Option<&Validation>) -> Vec<TargetError> {
        let rows = self.validated_rows();
        let weights = self.weights_of(&rows).unwrap_or_else(|| vec![1.0; rows.len()]);
        let targets = validation.iter().flat_map(|validation| &validation.targets);
        let of = |Compared { target, actual, predicted }: &Compared| {
            TargetError::of(target, actual, predicted, &weights)
        };
        targets.map(of).collect()
    }

    /// The classes with probabilities calibrated on the stored predictions, and the errors of these
    /// probabilities; `None` for a regression.
    pub(super) fn calibrate(
        &self,
        chosen: &Candidate,
        centers: Centers,
    ) -> Option<(Classes, ClassErrors)> {
        let labels = self.problem.labels.as_ref()?;
        let values = self.validated(chosen, centers)?;
        let rows = self.validated_rows();
        let (calibration, errors) = self.calibrated(values.as_ref(), &rows);
        Some((labels.classes(calibration), errors))
    }

    /// The calibration on the values of some rows, and the errors of its probabilities there, both
    /// weighted.
    pub(super) fn calibrated(
        &self,
        values: MatRef<'_, f64>,
        rows: &[usize],
    ) -> (Calibration, ClassErrors) {
        let labels = self.problem.labels.as_ref();
        let truth: Vec<usize> =
            rows.iter().filter_map(|&row| labels.map(|labels| labels.of[row])).collect();
        let weights = self.weights_of(rows);
        let count = labels.map_or(2, |labels| labels.names.len());
        Calibration::with_errors(values, &truth, weights.as_deref(), count)
    }

    /// The weights of these rows, if rows have weights.
    pub(super) fn weights_of(&self, rows: &[usize]) -> Option<Vec<f64>> {
        let weights = self.problem.weights.as_ref();
        weights.map(|w| rows.iter().map(|&row| w[row]).collect())
    }

    /// The residuals y − f of the stored predictions, in units of the targets, and the rows.
    fn residuals(&self, chosen: &Candidate, centers: Centers) -> Option<(Mat<f64>, Vec<usize>)> {
        let values = self.validated(chosen, centers)?;
        let (actual, rows) = self.actual();
        let residual = |i, j| actual[(i, j)] - values[(i, j)];
        Some((Mat::from_fn(rows.len(), values.ncols(), residual), rows))
    }

    /// The second fit of intervals: the size of the residuals of the stored predictions.
    pub(super) fn sizes(
        &self,
        chosen: &Candidate,
        centers: Centers,
    ) -> Result<Option<ResidualSizes>> {
        let is_share = matches!(self.fit.calibrate, Some(Calibrate::Share(_)));
        let (residuals, rows) = match self.residuals(chosen, centers) {
            Some(found) if is_share && self.problem.labels.is_none() => found,
            _ => return Ok(None),
        };
        let (logs, ranges) = ResidualSizes::logarithms(residuals.as_ref());
        let family = if chosen.family.takes_bits() { chosen.family } else { Family::Gaussian };
        let smooth = Candidate { family, multiple: 1.0, ..*chosen };
        let x = self.rows(chosen, None, &rows);
        let kernel = smooth.kernel(self.medians(chosen, None), x.points().dim())?;
        let kernel = kernel.with_meter(self.progress.meter());
        let sizes = Examples { x, y: logs, weights: self.weights_of(&rows) };
        let few = (0..rows.len().div_ceil(2).min(SIZE_LANDMARKS)).collect();
        let landmarks = Landmarks::new(rows.len(), few)?;
        let ridges = lambda_grid(1.0, 1e-8, 17)?;
        let path = NystromKrr::without_ridge(kernel).path(sizes.problem(), &landmarks, &ridges)?;
        let regression = path.model_at(path.best_by_loo().ridge)?;
        Ok(Some(ResidualSizes { regression, ranges }))
    }

    /// The variances of function and noise, if standard deviations are requested: estimated from
    /// the residuals of validation rows, each predicted by a fit without it.
    pub(super) fn variances(&self, chosen: &Candidate, trial: &Trial) -> Result<Option<Variances>> {
        let (mut residuals, validation) = match self.residuals(chosen, trial.centers) {
            Some(found) if self.fit.deviations => found,
            _ => return Ok(None),
        };
        let (mut parts, mut spread) = (Vec::new(), 0.0);
        let partition = self.partition;
        let folds = self.orders.iter().zip(&self.validation[..partition]);
        for (fold, (train, validation)) in folds.enumerate() {
            let train = self.part(chosen, Some(fold), train);
            let kernel = self.kernel(chosen, Some(fold), train.points().dim())?;
            spread += spread_of(&kernel, train.points()) / partition as f64;
            let order: Vec<usize> = (0..train.points().len()).collect();
            let posterior = posterior(&kernel, train.problem(), &order, trial.mu)?;
            let x = self.rows(chosen, Some(fold), validation);
            parts.extend(posterior.parts(x.points())?);
        }
        let scales: Vec<f64> = self.problem.targets.iter().map(|target| target.scale).collect();
        for (j, scale) in scales.iter().enumerate() {
            residuals.col_mut(j).iter_mut().for_each(|residual| *residual /= scale);
        }
        let weights = self.weights_of(&validation).unwrap_or_else(|| vec![1.0; validation.len()]);
        let (residuals, weights, parts) = (&residuals, &weights[..], &parts[..]);
        let left = Left { residuals, parts, weights, spread, rows: self.n() };
        let mut found = Variances::default();
        for (j, scale) in scales.into_iter().enumerate() {
            let [function, noise] = left.variances(j).map(|v| v * scale * scale);
            found.function.push(function);
            found.noise.push(noise);
        }
        Ok(Some(found))
    }

    /// The stored predictions of the chosen candidate for validation rows.
    pub(super) fn validated(&self, chosen: &Candidate, centers: Centers) -> Option<&Mat<f64>> {
        if let Some((_, Some(odds))) = &self.logistic {
            return Some(odds);
        }
        self.validated_as(chosen, centers).map(|found| &found.values)
    }

    /// What is stored of the fit of a candidate at full size.
    pub(super) fn validated_as(&self, chosen: &Candidate, centers: Centers) -> Option<&Validated> {
        self.validated.iter().find(|other| other.is(chosen, centers))
    }
}
