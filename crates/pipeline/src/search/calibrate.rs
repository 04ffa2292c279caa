//! Probabilities of the candidate that was chosen, from rows that its trial was not fitted to.

use super::Search;
use super::candidate::Candidate;
use crate::classes::{Calibration, ClassErrors, Classes};
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::report::Centers;
use nystrom::faer::Mat;
use nystrom::prelude::*;

impl Search<'_> {
    /// Keeps what the models of a trial at full size, one for each fold, give on the validation
    /// rows of their folds, in units of the target; of classes only.
    pub(super) fn validate(
        &mut self,
        candidate: Candidate,
        centers: Centers,
        models: &[KrrModel<AnyKernel, f64>],
    ) -> Result<()> {
        if self.problem.labels.is_none() {
            return Ok(());
        }
        let targets = &self.problem.targets;
        let rows = self.validation.iter().map(Vec::len).sum();
        let (mut values, mut first) = (Mat::zeros(rows, targets.len()), 0);
        for (fold, (model, validation)) in models.iter().zip(&self.validation).enumerate() {
            let x = self.rows(&candidate, Some(fold), validation);
            let f = model.predict(Points::from_rows(x.as_ref()))?;
            for (j, target) in targets.iter().enumerate() {
                for i in 0..validation.len() {
                    values[(first + i, j)] = target.mean + target.scale * f[(i, j)];
                }
            }
            first += validation.len();
        }
        self.validated.push((candidate, centers, values));
        Ok(())
    }

    /// The classes with probabilities calibrated on the values that were kept, and the errors of
    /// those probabilities; nothing of a regression.
    pub(super) fn calibrate(
        &self,
        chosen: &Candidate,
        centers: Centers,
    ) -> Option<(Classes, ClassErrors)> {
        let labels = self.problem.labels.as_ref()?;
        let of = |(candidate, of, _): &&(Candidate, Centers, Mat<f64>)| {
            (candidate, *of) == (chosen, centers)
        };
        let (_, _, values) = self.validated.iter().find(of)?;
        let rows = self.validation.concat();
        let truth: Vec<usize> = rows.iter().map(|&row| labels.of[row]).collect();
        let weights: Option<Vec<f64>> =
            self.problem.weights.as_ref().map(|w| rows.iter().map(|&row| w[row]).collect());
        let (values, count) = (values.as_ref(), labels.names.len());
        let calibration = Calibration::fit(values, &truth, weights.as_deref(), count);
        let errors = ClassErrors::of(calibration.probabilities(values).as_ref(), &truth);
        let classes = Classes {
            target: labels.target.clone(),
            names: labels.names.clone(),
            numbers: labels.numbers,
            calibration,
        };
        Some((classes, errors))
    }
}
