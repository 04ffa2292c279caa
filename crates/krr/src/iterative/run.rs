//! A run of conjugate gradients, watched by the caller's monitor.

use crate::KrrModel;
use crate::iterative::{
    Iteration, IterationReport, IterativeFit, IterativeOptions, MemoryPlan, Monitor, Stop,
};
use faer::{Mat, MatRef};
use nystrom_linalg_core::{LinearSystem, PcgEnd, PcgReport, Result, SavedSolve, Solve};
use std::ops::ControlFlow;

/// How a run ended.
pub(crate) struct Run {
    pub stop: Stop,
    pub residual: f64,
    pub history: Vec<f64>,
    pub condition: f64,
}

/// The model of an iterate, from it, the condition estimate and a reason for the report.
type MakeModel<'a, K, T> = dyn Fn(MatRef<'_, f64>, f64, String) -> Result<KrrModel<K, T>> + 'a;

/// Where a run begins, and who looks on.
pub(crate) struct Watch<'a, K, T> {
    pub start: Option<Mat<f64>>,
    pub resume: Option<&'a SavedSolve<f64>>,
    pub monitor: Option<&'a mut Monitor<'a, K, T>>,
}

/// Solves the system for b, watched by a caller's monitor.
pub(crate) fn run_watched<K, T>(
    system: &mut dyn LinearSystem<f64>,
    b: MatRef<'_, f64>,
    watch: Watch<'_, K, T>,
    options: &IterativeOptions,
    model: &MakeModel<'_, K, T>,
) -> Result<(KrrModel<K, T>, Run)> {
    let Watch { start, resume, mut monitor } = watch;
    let mut asked = None;
    let mut look = |solve: &Solve<f64>| {
        let Some(monitor) = monitor.as_mut() else { return false };
        let (cg, number) = (solve.cg(), solve.iterations());
        let condition = cg.condition();
        let model = || model(cg.x(), condition, format!("iteration {number}, before the end"));
        let residual = cg.residual();
        asked = match monitor(&Iteration { number, residual, condition, solve, model: &model }) {
            Ok(ControlFlow::Continue(())) => None,
            Ok(ControlFlow::Break(())) => Some(Stop::Asked),
            Err(problem) => Some(Stop::MonitorFailed(problem.to_string())),
        };
        asked.is_some()
    };
    let mut solve = match resume {
        Some(saved) => Solve::resume(saved, system, b)?,
        None => Solve::start(system, b, start.as_ref().map(Mat::as_ref))?,
    };
    let report = solve.run(system, b, &options.pcg(), &mut look)?;
    let ran = Run::new(&solve, report, asked);
    Ok((model(solve.cg().x(), ran.condition, ran.reason())?, ran))
}

impl Run {
    /// `asked`: why it was stopped, if it was.
    pub fn new(solve: &Solve<f64>, report: PcgReport, asked: Option<Stop>) -> Self {
        let stop = match report.end {
            PcgEnd::Converged => Stop::Converged,
            PcgEnd::IterationLimit => Stop::IterationLimit,
            PcgEnd::Stalled => Stop::Stalled,
            PcgEnd::Stopped => asked.unwrap_or(Stop::Asked),
        };
        let PcgReport { residual, history, .. } = report;
        Run { stop, residual, history, condition: solve.cg().condition() }
    }

    /// In words, for the model's report.
    pub fn reason(&self) -> String {
        let why = match &self.stop {
            Stop::Converged => "converged",
            Stop::IterationLimit => "not converged, the iteration limit was reached",
            Stop::Stalled => "not converged, stalled on rounding errors",
            Stop::Asked => "stopped by the monitor",
            Stop::MonitorFailed(_) => "the monitor failed",
        };
        format!(
            "{why}: true relative residual {:.1e} after {} iterations",
            self.residual,
            self.history.len()
        )
    }

    /// The model with its report.
    pub fn finish<K, T>(
        self,
        model: KrrModel<K, T>,
        options: &IterativeOptions,
        passes: usize,
        memory: MemoryPlan,
    ) -> IterativeFit<K, T> {
        let report = IterationReport {
            stop: self.stop,
            iterations: self.history.len(),
            residual: self.residual,
            tolerance: options.tolerance,
            history: self.history,
            passes,
            condition: self.condition,
            kernel_entries: model.report.kernel_entries,
            memory,
        };
        IterativeFit { model, report }
    }
}
