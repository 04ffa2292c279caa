//! Reporting the steps of a search to the caller, who can stop it.

use crate::kernel::Meter;
use crate::report::Trial;
use std::ops::ControlFlow;

/// The next step of a search.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Event<'a> {
    /// A description of the step.
    pub what: &'a str,
    /// The share of the work that is already done, from 0 to 1.
    pub done: f64,
    /// The best candidate so far.
    pub best: Option<&'a Trial>,
}

/// Receives every step of a search, to show it or to stop the search. If it returns `Break`, the
/// search ends with the best candidate so far, which is then fitted quickly.
///
/// `()` ignores every step and never stops a search.
///
/// ```
/// use nystrom_pipeline::{Event, Progress};
/// use std::ops::ControlFlow;
/// struct Impatient(usize);
/// impl Progress for Impatient {
///     fn told(&mut self, _: Event<'_>) -> ControlFlow<()> {
///         self.0 += 1;
///         if self.0 > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
///     }
/// }
/// ```
pub trait Progress {
    /// Called before every step; `Break` stops the search.
    fn told(&mut self, event: Event<'_>) -> ControlFlow<()>;

    /// A function that is called with the number of kernel values of every evaluated block, from
    /// any thread. A step may take minutes and a block milliseconds, so a meter that panics stops
    /// the search sooner than [`told`](Self::told) does.
    fn meter(&self) -> Option<Meter> {
        None
    }
}

impl Progress for () {
    fn told(&mut self, _: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
