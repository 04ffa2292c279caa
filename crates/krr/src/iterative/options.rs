//! What a caller says about an iterative fit beyond kernel and ridge.

use crate::KrrModel;
use faer::MatRef;
use nystrom_linalg_core::{Result, SavedSolve, Scalar, Solve, validate};
use std::fmt;
use std::ops::ControlFlow;

/// When an iterative fit stops, and what memory it may take.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IterativeOptions {
    /// The *true* relative residual that every target must reach; each method says in which norm.
    pub tolerance: f64,
    /// Most iterations.
    pub max_iterations: usize,
    /// Bytes the fit may take beyond its input and its model. What is left of them after the
    /// factorisations keeps rows of K_nm, which are then evaluated once. (For all data: one
    /// triangle of K in `f32`.) `None`: nothing is kept, nothing is refused.
    pub memory: Option<u64>,
}

impl Default for IterativeOptions {
    /// 1e-6 within 100 iterations, nothing kept. In `f64`, rounding leaves a relative residual of
    /// up to about 1e-7 where K_mm is numerically singular, and 1e-12 where it is not. A smaller
    /// tolerance ends in [`Stop::Stalled`](crate::Stop::Stalled).
    fn default() -> Self {
        IterativeOptions { tolerance: 1e-6, max_iterations: 100, memory: None }
    }
}

impl IterativeOptions {
    pub(crate) fn check(&self) -> Result<()> {
        validate::positive("tolerance", self.tolerance)
    }
}

/// What a monitor answers: `Continue`, `Break` to stop with the model so far, or an error of any
/// kind. An error stops too and keeps the model so far
/// ([`Stop::MonitorFailed`](crate::Stop::MonitorFailed)).
pub type Verdict = Result<ControlFlow<()>, Box<dyn std::error::Error + Send + Sync>>;

/// A caller's look at every iteration, to stop on a validation error or on a clock of its own.
pub type Monitor<'a, K, T> = dyn FnMut(&Iteration<'_, K, T>) -> Verdict + Send + 'a;

/// What a fit may be given beyond problem and centres.
pub struct Extras<'a, K, T> {
    /// Coefficients to start from, m × t: those of an earlier fit with the same centres, say at
    /// another λ.
    pub start: Option<MatRef<'a, T>>,
    /// The [state](Iteration::state) of an interrupted fit of the same method to the same problem,
    /// to go on with. The result has the bits of a fit that was not interrupted. It stands in for
    /// `start`.
    pub resume: Option<&'a SavedSolve<f64>>,
    /// Called after every iteration.
    pub monitor: Option<&'a mut Monitor<'a, K, T>>,
}

impl<K, T> fmt::Debug for Extras<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = [self.start.is_some(), self.resume.is_some(), self.monitor.is_some()];
        write!(f, "Extras {{ start, resume, monitor: {given:?} }}")
    }
}

impl<K, T: Scalar> Extras<'_, K, T> {
    /// Typed errors for a start that is not `rows` × t, which `what` says against what.
    pub(crate) fn check_start(&self, what: &'static str, rows: usize, t: usize) -> Result<()> {
        let Some(start) = self.start else { return Ok(()) };
        validate::same_size(what, rows, start.nrows())?;
        validate::same_size("columns of the start against targets", t, start.ncols())?;
        validate::finite("start", start)
    }
}

impl<K, T> Default for Extras<'_, K, T> {
    /// None of them.
    fn default() -> Self {
        Extras { start: None, resume: None, monitor: None }
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
    pub(crate) solve: &'a Solve<f64>,
    pub(crate) model: &'a dyn Fn() -> Result<KrrModel<K, T>>,
}

impl<K, T> fmt::Debug for Iteration<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Iteration { number, residual, condition, .. } = self;
        write!(f, "Iteration {{ {number}: residual {residual:e}, condition {condition:e} }}")
    }
}

impl<K, T> Iteration<'_, K, T> {
    /// The model so far. O(m²t) flops.
    ///
    /// # Errors
    /// `NonFinite` if a coefficient overflowed.
    pub fn model(&self) -> Result<KrrModel<K, T>> {
        (self.model)()
    }

    /// The state after this iteration, for [`Extras::resume`]: a copy of 3mt numbers (3nt on all
    /// data). They become bytes, or what serde makes of them (feature `serde`).
    #[must_use]
    pub fn state(&self) -> SavedSolve<f64> {
        self.solve.save()
    }
}
