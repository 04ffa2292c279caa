//! A run of conjugate gradients, watched by the caller's monitor.

use super::{Extras, Iteration, IterationReport, IterativeFit, IterativeOptions, MemoryPlan};
use crate::KrrModel;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{ConjugateGradients, LinearSystem, Result, Stop};
use std::ops::ControlFlow;

/// The model of an iterate, from it, the condition estimate and a reason for the report.
type MakeModel<'a, K, T> = dyn Fn(MatRef<'_, f64>, f64, String) -> Result<KrrModel<K, T>> + 'a;

/// Solves the system for b from a start, watched by the caller's monitor. The passes over the rows
/// are for the caller to add to the report.
pub(crate) fn run<K, T>(
    system: &mut dyn LinearSystem,
    (b, start): (MatRef<'_, f64>, Option<Mat<f64>>),
    extras: Extras<'_, K, T>,
    options: &IterativeOptions,
    memory: MemoryPlan,
    model: &MakeModel<'_, K, T>,
) -> Result<IterativeFit<K, T>> {
    let Extras { resume, mut monitor, .. } = extras;
    let mut look = |cg: &ConjugateGradients| {
        let monitor = monitor.as_mut()?;
        let (number, condition) = (cg.iterations(), cg.condition());
        let model = || model(cg.x(), condition, format!("iteration {number}, before the end"));
        let residual = cg.residual();
        match monitor(&Iteration { number, residual, condition, cg, model: &model }) {
            Ok(ControlFlow::Continue(())) => None,
            Ok(ControlFlow::Break(())) => Some(Stop::Asked),
            Err(problem) => Some(Stop::MonitorFailed(problem.to_string())),
        }
    };
    let mut cg = match resume {
        Some(saved) => ConjugateGradients::resume(saved, system, b)?,
        None => ConjugateGradients::start(system, b, start.as_ref().map(Mat::as_ref))?,
    };
    let IterativeOptions { tolerance, max_iterations, .. } = *options;
    let stop = cg.run(system, b, tolerance, max_iterations, &mut look)?;
    let mut report = IterationReport::of(&cg, stop, options, memory);
    let model = model(cg.x(), report.condition, report.reason())?;
    report.kernel_entries = model.report.kernel_entries;
    Ok(IterativeFit { model, report })
}
