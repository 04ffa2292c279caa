//! Options of an iterative fit: tolerance, memory, start, monitor.

use crate::{Device, KrrModel};
use faer::MatRef;
use nystrom_linalg_core::{ConjugateGradients, Result, SavedSolve, Scalar, validate};
use std::fmt;
use std::ops::ControlFlow;

/// When an iterative fit stops, and how much memory it may use.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IterativeOptions {
    /// The *true* relative residual that every target must reach, in the norm of the method.
    pub tolerance: f64,
    /// Most iterations.
    pub max_iterations: usize,
    /// Bytes that the fit may use beyond its input and its model. Those left after the
    /// factorisations store rows of K_nm, which are then evaluated once; regression on all the data
    /// stores one triangle of K in `f32`. `None`: no limit, and no kernel values are stored.
    pub memory: Option<u64>,
}

impl Default for IterativeOptions {
    /// 1e-6 within 100 iterations, no kernel values stored. In `f64`, rounding errors leave a
    /// relative residual of about 1e-7 where K_mm is numerically singular, and of 1e-12 where it is
    /// not. A smaller tolerance ends in [`Stop::Stalled`](crate::Stop::Stalled).
    fn default() -> Self {
        IterativeOptions { tolerance: 1e-6, max_iterations: 100, memory: None }
    }
}

impl IterativeOptions {
    pub(crate) fn check(&self) -> Result<()> {
        validate::positive("tolerance", self.tolerance)
    }
}

/// The answer of a monitor: `Continue`, or `Break` to stop with the present model. An error of any
/// kind also stops with the present model ([`Stop::MonitorFailed`](crate::Stop::MonitorFailed)).
pub type Verdict = Result<ControlFlow<()>, Box<dyn std::error::Error + Send + Sync>>;

/// A caller's function that sees every iteration and can stop the run, by a validation error or a
/// time limit for example.
pub type Monitor<'a, K, T> = dyn FnMut(&Iteration<'_, K, T>) -> Verdict + Send + 'a;

/// Optional arguments of a fit: where it starts, a monitor, and a device.
pub struct Extras<'a, K, T> {
    /// Coefficients to start from, m × t: those of an earlier fit with the same centres, for
    /// example at another λ.
    pub start: Option<MatRef<'a, T>>,
    /// The [state](Iteration::state) of an interrupted fit of the same method to the same problem,
    /// from which the fit continues. The result has the bits of an uninterrupted fit. With it,
    /// `start` is not used.
    pub resume: Option<&'a SavedSolve>,
    /// Called after every iteration.
    pub monitor: Option<&'a mut Monitor<'a, K, T>>,
    /// Where products with K are computed; `None`: on the CPU. Falkon and KRILL of rows in memory
    /// compute every iteration on it. The CPU checks their residuals with exact values, one more
    /// pass for each check, and replaces a device that returns an error, or whose precision does
    /// not reach the tolerance. Kernel values of a device are not counted. Points must be dense.
    /// Rows that they read in passes, and sketches, are the CPU's in any case.
    pub device: Option<&'a dyn Device<K, T>>,
}

impl<K, T> fmt::Debug for Extras<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = [self.start.is_some(), self.resume.is_some(), self.monitor.is_some()];
        write!(f, "Extras {{ start, resume, monitor: {given:?}, ")?;
        write!(f, "device: {} }}", self.device.is_some())
    }
}

impl<K, T: Scalar> Extras<'_, K, T> {
    /// Typed errors for a start that is not `rows` × t, which `what` says against what.
    pub(crate) fn check_start(&self, what: &'static str, rows: usize, t: usize) -> Result<()> {
        let Some(start) = self.start else { return Ok(()) };
        validate::same_size(what, rows, start.nrows())?;
        self.check_columns(t)
    }

    /// What [`check_start`](Self::check_start) checks that needs no number of rows.
    pub(crate) fn check_columns(&self, t: usize) -> Result<()> {
        let Some(start) = self.start else { return Ok(()) };
        validate::same_size("columns of the start against targets", t, start.ncols())?;
        validate::finite("start", start)
    }

    /// Typed errors for a saved state of another run than one with `rows` × `columns` unknowns.
    pub(crate) fn check_resume(&self, rows: usize, columns: usize) -> Result<()> {
        self.resume.map_or(Ok(()), |saved| saved.check(rows, columns))
    }
}

impl<K, T> Default for Extras<'_, K, T> {
    /// No start, no state, no monitor, no device.
    fn default() -> Self {
        Extras { start: None, resume: None, monitor: None, device: None }
    }
}

/// The state of a fit after an iteration.
pub struct Iteration<'a, K, T> {
    /// 1 for the first.
    pub number: usize,
    /// The relative residual by the recurrence of conjugate gradients, the largest over the
    /// targets.
    pub residual: f64,
    /// The condition number of the preconditioned system so far, estimated from below.
    pub condition: f64,
    pub(crate) cg: &'a ConjugateGradients,
    pub(crate) model: &'a dyn Fn() -> Result<KrrModel<K, T>>,
}

impl<K, T> fmt::Debug for Iteration<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Iteration { number, residual, condition, .. } = self;
        write!(f, "Iteration {{ {number}: residual {residual:e}, condition {condition:e} }}")
    }
}

impl<K, T> Iteration<'_, K, T> {
    /// The present model. O(m²t) flops.
    ///
    /// # Errors
    /// `NonFinite` if a coefficient overflowed.
    pub fn model(&self) -> Result<KrrModel<K, T>> {
        (self.model)()
    }

    /// The state after this iteration, for [`Extras::resume`]: a copy of 3mt numbers (3nt for all
    /// data). It can be written to bytes, or serialised with the feature `serde`.
    #[must_use]
    pub fn state(&self) -> SavedSolve {
        self.cg.save()
    }
}
