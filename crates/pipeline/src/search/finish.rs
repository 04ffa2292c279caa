//! The fits at full size, and the model of the best.

use super::candidate::{Candidate, best};
use super::{PLAIN_LANDMARKS, Search};
use crate::effort::{Size, path_work};
use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::kernel::AnyKernel;
use crate::model::{Made, Model};
use crate::report::{Centers, Report, Trial};
use nystrom::faer::Mat;
use nystrom::prelude::*;

/// Landmarks of the fit when the search was told to stop.
const HASTY_LANDMARKS: usize = 500;

impl Search<'_> {
    /// Compares the finalists and the plain default at full size, and fits the best to all rows.
    pub(super) fn finish(mut self, finalists: Vec<Candidate>) -> Result<Fitted> {
        let (rows, train) = (self.n(), self.train_rows());
        let landmarks = self.final_landmarks(finalists.len());
        let plain = Size { rows: train, landmarks: PLAIN_LANDMARKS.min(train) };
        let plain = (Candidate::PLAIN, self.trial(Candidate::PLAIN, plain)?);
        let mut trials = Vec::new();
        if !self.stopped {
            trials = self.try_all(&finalists, Size { rows: train, landmarks })?;
        }
        let plain_error = plain.1.error;
        let (chosen, trial) = match best(&trials) {
            Some((candidate, trial)) if trial.error <= plain_error => (*candidate, trial.clone()),
            // told to stop before they were compared
            None if !finalists.is_empty() && self.stopped => {
                let hasty = Size { rows: train, landmarks: HASTY_LANDMARKS.min(train) };
                (finalists[0], self.trial(finalists[0], hasty)?)
            }
            _ => plain,
        };
        let landmarks = match trial.centers {
            Centers::Uniform(m) | Centers::RpCholesky(m) => m.min(rows),
            Centers::All => rows,
        };
        let fitted = self.fit_all(chosen, landmarks)?;
        self.model(chosen, trial, plain_error, fitted)
    }

    /// As many landmarks as what is left of the work and the memory affords.
    fn final_landmarks(&self, finalists: usize) -> usize {
        let (n, d) = (self.n() as f64, self.d());
        let fits = (finalists * self.orders.len() + 1) as f64;
        let left = (self.allowed - self.work).max(0.2 * self.allowed) / fits;
        let memory = self.fit.memory.map_or(f64::INFINITY, |bytes| (bytes as f64 / 100.0).sqrt());
        let affords = |m: usize| path_work(n, m as f64, d) <= left && m as f64 <= memory;
        let most = self.train_rows();
        let (mut low, mut high) = (PLAIN_LANDMARKS.min(most), most + 1);
        while high - low > 1 {
            let middle = low.midpoint(high);
            *(if affords(middle) { &mut low } else { &mut high }) = middle;
        }
        low
    }

    /// The fit of a candidate to all rows, λ by leave-one-out.
    fn fit_all(&mut self, chosen: Candidate, m: usize) -> Result<KrrModel<AnyKernel, f64>> {
        self.goes_on("the final fit, on all rows");
        let rows: Vec<usize> = (0..self.n()).collect();
        let x = self.rows(&chosen, 0, &rows);
        let kernel = chosen.kernel(self.medians(&chosen, 0), x.ncols())?;
        let matrix = KernelMatrix::new(&kernel, Points::from_rows(x.as_ref()))?;
        let landmarks = Uniform::default().select(&matrix, m, &mut self.stream(1))?;
        let path = self.path_at(&kernel, x.as_ref(), &rows, &landmarks)?;
        self.counts(Size { rows: rows.len(), landmarks: m });
        Ok(path.model_at(path.best_by_loo().ridge)?)
    }

    fn model(
        self,
        chosen: Candidate,
        trial: Trial,
        plain_error: f64,
        regression: KrrModel<AnyKernel, f64>,
    ) -> Result<Fitted> {
        let rows: Vec<usize> = (0..self.n()).collect();
        let x = self.rows(&chosen, 0, &rows);
        let f = regression.predict(Points::from_rows(x.as_ref()))?;
        let training = self.mean_square(f.as_ref(), &rows).sqrt();
        let lambda = regression.report().ridge / rows.len() as f64;
        let map: Option<Mat<f64>> = self.learnt(&chosen, 0).map(|learnt| learnt.map.clone());
        let chosen_trial = Trial { lambda, ..trial };
        let made = Made {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            centers: chosen_trial.centers.to_string(),
            lambda,
            training_rmse: Some(training).filter(|rmse| rmse.is_finite()),
            validation_error: Some(chosen_trial.error).filter(|error| error.is_finite()),
            holds_all_rows: regression.centers().len() == rows.len(),
            ..Made::default()
        };
        let columns = self.shaped(chosen.shape).columns.clone();
        let report = Report {
            rows: rows.len(),
            features: columns.features(),
            dropped: columns.dropped().to_vec(),
            notes: self.problem.notes.clone(),
            trials: self.trials,
            chosen: chosen_trial,
            plain_error,
            work: self.work,
            work_allowed: self.allowed,
            bytes: self.bytes,
            stopped: self.stopped,
        };
        let layout = self.problem.table.names().map(str::to_owned).collect();
        let model = Model::new(columns, layout, self.problem.targets, map, regression, made)
            .map_err(|_| Error::File { problem: "the fit gave no finite model".into() })?;
        Ok(Fitted { model, report })
    }
}
