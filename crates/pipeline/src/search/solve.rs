//! The regressions of trials and of the final fit.

use super::Search;
use crate::error::Result;
use crate::examples::Examples;
pub(super) use crate::examples::gather;
use crate::kernel::AnyKernel;
use crate::report::Iterations;
use crate::split::Split;
use nystrom::faer::Mat;
use nystrom::krr::{Device, Extras, FullPath, IterativeOptions, Problem};
use nystrom::prelude::*;

/// Systems of at most this many rows are solved directly.
pub(super) const DIRECT: usize = 600;
/// A ridge below rounding errors is raised tenfold at most this many times.
const RAISED: usize = 12;
/// The largest number of iterations of a trial, which does not need the last digits.
const ITERATIONS: usize = 45;
/// The largest number of iterations of the final fit, which has more rows than its trial.
const FINAL_ITERATIONS: usize = 2 * ITERATIONS;

type OptionalDevice<'a> = Option<&'a dyn Device<AnyKernel, f64>>;

/// Fits with all rows as centres at several ridges, compared on validation rows.
pub(super) struct Solved {
    /// The model at the best ridge.
    pub model: KrrModel<AnyKernel, f64>,
    /// The mean square error on the validation rows at each ridge.
    pub squares: Vec<f64>,
    /// The relative residual at which the fit is accurate enough; `None` if it was solved directly.
    pub residual: Option<f64>,
}

impl Search<'_> {
    /// Fits at each μ = nλ of `mus`, with the errors on the rows of `validation`.
    pub(super) fn solve(
        &self,
        kernel: &AnyKernel,
        train: &Examples,
        validation: &Examples,
        mus: &[f64],
    ) -> Result<Solved> {
        if train.y.nrows() <= DIRECT {
            return one_by_one(kernel, train, validation, mus);
        }
        let ridges: Vec<Ridge<f64>> = mus.iter().copied().map(Ridge::Absolute).collect();
        let path =
            FullPath { options: self.options(1e-4), ..FullPath::new(kernel.clone(), &ridges) };
        let (train, validation) = (train.problem(), validation.problem());
        let found =
            self.fit_on(|device| path.fit_on(device, train, validation, &mut self.stream(2)))?;
        self.note_of_device(found.fit.report.notice);
        Ok(Solved {
            squares: found.errors.iter().map(|error| error * error).collect(),
            residual: Some(found.enough),
            model: found.fit.model,
        })
    }

    /// The fit with all rows of a problem as centres at μ = nλ, from the coefficients `start`; and
    /// the outcome of its iterations, if it has any.
    pub(super) fn full(
        &self,
        kernel: &AnyKernel,
        problem: Problem<'_, f64>,
        (mu, residual): (f64, f64),
        start: Option<Mat<f64>>,
    ) -> Result<(KrrModel<AnyKernel, f64>, Option<Iterations>)> {
        if problem.x.len() <= DIRECT {
            return Ok((direct(kernel, problem, mu)?, None));
        }
        let ridge = Ridge::Absolute(mu);
        let options =
            IterativeOptions { max_iterations: FINAL_ITERATIONS, ..self.options(residual) };
        let krr = FullKrr { options, ..FullKrr::new(kernel.clone(), ridge) };
        let start = start.as_ref().map(Mat::as_ref);
        let fit = self.fit_on(|device| {
            let extras = Extras { start, device, ..Extras::default() };
            krr.fit_with(problem, extras, &mut self.stream(3))
        })?;
        let iterations = Iterations::of(&fit.report);
        self.note_of_device(fit.report.notice);
        Ok((fit.model, Some(iterations)))
    }

    /// The outcome of `fit` on the device of fits with all rows as centres, or on the CPU if the
    /// device fails: the search keeps what it has found.
    fn fit_on<R>(
        &self,
        fit: impl Fn(OptionalDevice<'_>) -> nystrom::Result<R>,
    ) -> nystrom::Result<R> {
        // points of a device are dense
        let device = self.fit.device.as_ref().filter(|_| !self.is_sparse());
        match fit(device.map(|device| &**device as _)) {
            Err(nystrom::Error::Device { problem }) => {
                self.note_of_device(Some(problem));
                fit(None)
            }
            outcome => outcome,
        }
    }

    /// Notes why the CPU computed a fit, or a part of it, in place of the device.
    fn note_of_device(&self, notice: Option<String>) {
        self.device_notices.borrow_mut().extend(notice);
    }

    /// The note on the fits that the CPU computed in place of the device, if there are any.
    pub(super) fn device_note(&self) -> Option<String> {
        let notices = self.device_notices.borrow();
        let (first, count) = (notices.first()?, notices.len());
        let fits = if count == 1 { "a fit" } else { &*format!("{count} fits") };
        Some(format!(
            "the CPU computed all or a part of {fits} in place of the device. The first reason: \
             {first}"
        ))
    }

    pub(super) fn options(&self, tolerance: f64) -> IterativeOptions {
        IterativeOptions { tolerance, max_iterations: ITERATIONS, memory: self.fit.memory }
    }

    /// The mean of the training rows of a fold minus that of all rows, for each target. For random
    /// folds the difference is chance, and the result is 0.
    pub(super) fn offset(&self, train: &[usize]) -> Vec<f64> {
        let y = self.y();
        if self.fit.split == Split::Random {
            return vec![0.0; y.ncols()];
        }
        let weight = |row: usize| self.problem.weights.as_ref().map_or(1.0, |w| w[row]);
        let total: f64 = train.iter().map(|&row| weight(row)).sum();
        let sum = |j: usize| -> f64 { train.iter().map(|&row| weight(row) * y[(row, j)]).sum() };
        (0..y.ncols()).map(|j| if total > 0.0 { sum(j) / total } else { 0.0 }).collect()
    }
}

/// The exact fits at each μ.
fn one_by_one(
    kernel: &AnyKernel,
    train: &Examples,
    validation: &Examples,
    mus: &[f64],
) -> Result<Solved> {
    let mut squares = Vec::new();
    let mut best: Option<(f64, KrrModel<AnyKernel, f64>)> = None;
    for &mu in mus {
        let model = direct(kernel, train.problem(), mu)?;
        let square = validation.mean_square(&model)?;
        squares.push(square);
        if best.as_ref().is_none_or(|(least, _)| square < *least) {
            best = Some((square, model));
        }
    }
    let (_, model) = best.ok_or(nystrom::Error::Empty { what: "ridges" })?;
    Ok(Solved { model, squares, residual: None })
}

/// The exact fit at μ. While μ is below the rounding errors of K, as with repeated rows, it is
/// raised tenfold.
pub(super) fn direct(
    kernel: &AnyKernel,
    problem: Problem<'_, f64>,
    mut mu: f64,
) -> Result<KrrModel<AnyKernel, f64>> {
    for _ in 0..RAISED {
        match ExactKrr::new(kernel.clone(), Ridge::Absolute(mu)).fit(problem) {
            Err(nystrom::Error::NotPositiveDefinite { .. }) => mu *= 10.0,
            other => return Ok(other?),
        }
    }
    Ok(ExactKrr::new(kernel.clone(), Ridge::Absolute(mu)).fit(problem)?)
}

/// These matrices, which have the same number of columns, one below another.
pub(super) fn stacked<'a>(parts: impl IntoIterator<Item = &'a Mat<f64>> + Clone) -> Mat<f64> {
    let (rows, columns) =
        parts.clone().into_iter().fold((0, 0), |(n, _), a| (n + a.nrows(), a.ncols()));
    let (mut out, mut start) = (Mat::zeros(rows, columns), 0);
    for part in parts {
        out.as_mut().subrows_mut(start, part.nrows()).copy_from(part);
        start += part.nrows();
    }
    out
}

/// Values (n × t) plus `times` times the offset of each column.
pub(super) fn shifted(mut values: Mat<f64>, offset: Option<&Vec<f64>>, times: f64) -> Mat<f64> {
    for (j, offset) in offset.into_iter().flatten().enumerate() {
        values.col_mut(j).iter_mut().for_each(|value| *value += times * offset);
    }
    values
}
