//! The loop: step, look, verify.

use crate::KrrModel;
use crate::iterative::{
    Iteration, IterationReport, IterativeFit, IterativeOptions, MemoryPlan, Monitor, Stop,
};
use faer::{Mat, MatRef};
use nystrom_linalg_core::{ConjugateGradients, LinearSystem, Result};
use std::ops::ControlFlow;

/// How a run ended.
pub(crate) struct Run {
    pub stop: Stop,
    pub residual: f64,
    pub history: Vec<f64>,
    pub condition: f64,
}

/// Conjugate gradients on A·X = B from `x0` until the *true* relative residual of every column is
/// within the tolerance.
///
/// The recurrence's residual drifts from the true one by rounding. Where it claims convergence the
/// true one is computed; if that is too large, the run begins again from there (with what it has),
/// and has stalled if such a round does not halve the true residual. `look` sees every iterate and
/// may stop the run.
fn run(
    system: &mut dyn LinearSystem<f64>,
    b: MatRef<'_, f64>,
    x0: Option<MatRef<'_, f64>>,
    options: &IterativeOptions,
    look: &mut dyn FnMut(usize, &ConjugateGradients<f64>) -> Option<Stop>,
) -> Result<(Mat<f64>, Run)> {
    let mut cg = ConjugateGradients::start(system, b, x0)?;
    let (mut history, mut verified) = (Vec::new(), f64::INFINITY);
    let mut is_true = true; // whether the residual at hand is b − Ax
    let stop = loop {
        if cg.residual() <= options.tolerance {
            if !is_true {
                cg.true_residual(system, b);
            }
            is_true = true;
            match cg.residual() {
                residual if residual <= options.tolerance => break Stop::Converged,
                residual if !(residual <= verified / 2.0) => break Stop::Stalled,
                residual => verified = residual,
            }
            cg.restart(system);
        }
        if history.len() == options.max_iterations {
            break Stop::IterationLimit;
        }
        if !cg.step(system, options.tolerance) {
            break Stop::Stalled;
        }
        is_true = false;
        history.push(cg.residual());
        if let Some(stop) = look(history.len(), &cg) {
            break stop;
        }
    };
    let residual = if is_true { cg.residual() } else { cg.true_residual(system, b) };
    let condition = cg.condition();
    Ok((cg.into_x(), Run { stop, residual, history, condition }))
}

/// The model of an iterate, from it, the condition estimate and a reason for the report.
type MakeModel<'a, K, T> = dyn Fn(MatRef<'_, f64>, f64, String) -> Result<KrrModel<K, T>> + 'a;

/// [`run`] with a caller's monitor.
pub(crate) fn run_watched<K, T>(
    system: &mut dyn LinearSystem<f64>,
    b: MatRef<'_, f64>,
    x0: Option<Mat<f64>>,
    options: &IterativeOptions,
    mut monitor: Option<&mut Monitor<'_, K, T>>,
    model: &MakeModel<'_, K, T>,
) -> Result<(KrrModel<K, T>, Run)> {
    let mut look = |number: usize, cg: &ConjugateGradients<f64>| {
        let monitor = monitor.as_mut()?;
        let condition = cg.condition();
        let model = || model(cg.x(), condition, format!("iteration {number}, before the end"));
        match monitor(&Iteration { number, residual: cg.residual(), condition, model: &model }) {
            Ok(ControlFlow::Continue(())) => None,
            Ok(ControlFlow::Break(())) => Some(Stop::Asked),
            Err(problem) => Some(Stop::MonitorFailed(problem.to_string())),
        }
    };
    let (x, ran) = run(system, b, x0.as_ref().map(Mat::as_ref), options, &mut look)?;
    Ok((model(x.as_ref(), ran.condition, ran.reason())?, ran))
}

impl Run {
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
