//! Telling what happens, and being told to stop.

use crate::kernel::Meter;
use crate::report::Trial;
use std::ops::ControlFlow;

/// The step that a search comes to.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Event<'a> {
    /// What comes next, in words.
    pub what: &'a str,
    /// The share of the work that is done, from 0 to 1.
    pub done: f64,
    /// The best candidate so far.
    pub best: Option<&'a Trial>,
}

/// Hears of every step of a search, to show it or to end it. What it answers decides whether the
/// search goes on: `Break` ends it with the best candidate so far, which is then fitted quickly.
///
/// `()` hears nothing and always goes on.
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
    /// The next step.
    fn told(&mut self, event: Event<'_>) -> ControlFlow<()>;

    /// What is called with the number of values of every block of kernel values, from any thread.
    /// A step may take minutes, a block takes milliseconds: one that unwinds ends the search there.
    fn meter(&self) -> Option<Meter> {
        None
    }
}

impl Progress for () {
    fn told(&mut self, _: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
