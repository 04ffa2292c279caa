//! A run of conjugate gradients, watched by the caller's monitor.

use super::{Extras, Iteration, IterationReport, IterativeFit, IterativeOptions, MemoryPlan};
use crate::KrrModel;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{LinearSystem, PcgReport, Result, Solve, Stop};
use std::ops::ControlFlow;

/// The model of an iterate, from it, the condition estimate and a reason for the report.
type MakeModel<'a, K, T> = dyn Fn(MatRef<'_, f64>, f64, String) -> Result<KrrModel<K, T>> + 'a;

/// Solves the system for b from a start, watched by the caller's monitor. The passes over the rows
/// are for the caller to add to the report.
pub(crate) fn run<K, T>(
    system: &mut dyn LinearSystem<f64>,
    (b, start): (MatRef<'_, f64>, Option<Mat<f64>>),
    extras: Extras<'_, K, T>,
    options: &IterativeOptions,
    memory: MemoryPlan,
    model: &MakeModel<'_, K, T>,
) -> Result<IterativeFit<K, T>> {
    let Extras { resume, mut monitor, .. } = extras;
    let mut look = |solve: &Solve<f64>| {
        let monitor = monitor.as_mut()?;
        let (cg, number) = (solve.cg(), solve.iterations());
        let condition = cg.condition();
        let model = || model(cg.x(), condition, format!("iteration {number}, before the end"));
        let residual = cg.residual();
        match monitor(&Iteration { number, residual, condition, solve, model: &model }) {
            Ok(ControlFlow::Continue(())) => None,
            Ok(ControlFlow::Break(())) => Some(Stop::Asked),
            Err(problem) => Some(Stop::MonitorFailed(problem.to_string())),
        }
    };
    let mut solve = match resume {
        Some(saved) => Solve::resume(saved, system, b)?,
        None => Solve::start(system, b, start.as_ref().map(Mat::as_ref))?,
    };
    let IterativeOptions { tolerance, max_iterations, .. } = *options;
    let solved = solve.run(system, b, tolerance, max_iterations, &mut look)?;
    let model = model(solve.cg().x(), solved.condition, reason(&solved))?;
    Ok(finished(model, solved, options, memory))
}

/// How a run ended, in words, for the model's report.
pub(crate) fn reason(solved: &PcgReport) -> String {
    let why = match &solved.stop {
        Stop::Converged => "converged",
        Stop::IterationLimit => "not converged, the iteration limit was reached",
        Stop::Stalled => "not converged, stalled on rounding errors",
        Stop::Asked => "stopped by the monitor",
        _ => "the monitor failed",
    };
    let PcgReport { residual, iterations, .. } = solved;
    format!("{why}: true relative residual {residual:.1e} after {iterations} iterations")
}

/// The model with its report, but for the passes.
pub(crate) fn finished<K, T>(
    model: KrrModel<K, T>,
    solved: PcgReport,
    options: &IterativeOptions,
    memory: MemoryPlan,
) -> IterativeFit<K, T> {
    let PcgReport { stop, iterations, residual, history, condition, .. } = solved;
    let (tolerance, kernel_entries, passes) = (options.tolerance, model.report.kernel_entries, 0);
    let report = IterationReport {
        stop,
        iterations,
        residual,
        tolerance,
        history,
        passes,
        condition,
        kernel_entries,
        memory,
        notice: None,
    };
    IterativeFit { model, report }
}
