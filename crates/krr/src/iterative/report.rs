//! The report of an iterative fit.

use super::IterativeOptions;
use crate::{KrrModel, MemoryPlan};
use nystrom_linalg_core::{ConjugateGradients, Error, Result, Stop};

/// The course of an iterative fit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IterationReport {
    /// Why it ended.
    pub stop: Stop,
    /// Iterations done.
    pub iterations: usize,
    /// The true relative residual at the end, the largest over the targets; a bound on it where K
    /// is kept in `f32`.
    pub residual: f64,
    /// The tolerance of the caller.
    pub tolerance: f64,
    /// The recurrence's relative residual, the largest over the targets, after each iteration.
    pub history: Vec<f64>,
    /// Passes over the kernel matrix: one for the right-hand side, one for each iteration, one for
    /// each computation of the true residual, one for a start that is not 0, and one for KRILL's
    /// sketch.
    pub passes: usize,
    /// Condition number of the preconditioned system, estimated from below by the Ritz values of
    /// conjugate gradients.
    pub condition: f64,
    /// Kernel values evaluated.
    pub kernel_entries: u64,
    /// The memory used.
    pub memory: MemoryPlan,
    /// What a [device](crate::Device) says about its products, such as that it was lost and the CPU
    /// computed the rest.
    pub notice: Option<String>,
}

impl IterationReport {
    /// But for what the iterations do not know: kernel values, passes, notices.
    pub(super) fn of(
        cg: &ConjugateGradients,
        stop: Stop,
        options: &IterativeOptions,
        memory: MemoryPlan,
    ) -> Self {
        IterationReport {
            stop,
            iterations: cg.iterations(),
            residual: cg.residual(),
            tolerance: options.tolerance,
            history: cg.history().to_vec(),
            passes: 0,
            condition: cg.condition(),
            kernel_entries: 0,
            memory,
            notice: None,
        }
    }

    /// How the run ended, in words, for the model's report.
    pub(super) fn reason(&self) -> String {
        let why = match &self.stop {
            Stop::Converged => "converged",
            Stop::IterationLimit => "not converged, the iteration limit was reached",
            Stop::Stalled => "not converged, stalled on rounding errors",
            Stop::Asked => "stopped by the monitor",
            _ => "the monitor failed",
        };
        let IterationReport { residual, iterations, .. } = self;
        format!("{why}: true relative residual {residual:.1e} after {iterations} iterations")
    }

    /// One course of a fit that was continued by `next`.
    pub(crate) fn then(self, next: IterationReport) -> IterationReport {
        IterationReport {
            iterations: self.iterations + next.iterations,
            history: [self.history, next.history].concat(),
            passes: self.passes + next.passes,
            kernel_entries: self.kernel_entries + next.kernel_entries,
            ..next
        }
    }
}

/// A model with the report of its iterations. The model can be used whether or not they converged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct IterativeFit<K, T> {
    /// The model at the last iterate.
    pub model: KrrModel<K, T>,
    /// The report of the iterations.
    pub report: IterationReport,
}

impl<K, T> IterativeFit<K, T> {
    /// Whether the tolerance was reached.
    pub fn converged(&self) -> bool {
        self.report.stop == Stop::Converged
    }

    /// The model, if the tolerance was reached or the monitor asked to stop.
    ///
    /// # Errors
    /// [`Error::NotConverged`] with the true residual; [`Error::MonitorFailed`].
    pub fn into_model(self) -> Result<KrrModel<K, T>> {
        let IterationReport { iterations, residual, tolerance, stop, .. } = self.report;
        match stop {
            Stop::Converged | Stop::Asked => Ok(self.model),
            Stop::MonitorFailed(problem) => {
                Err(Error::MonitorFailed { iteration: iterations, problem })
            }
            _ => Err(Error::NotConverged { iterations, residual, tolerance }),
        }
    }
}
