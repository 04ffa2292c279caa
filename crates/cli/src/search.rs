//! The limits of a search, and its progress on the terminal.

use crate::args;
use crate::failure::Result;
use crate::session::Session;
use crate::text::{self, number};
use nystrom_pipeline::{Event, Fit, Progress, half_of_free_memory, work_in};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The limits of work and memory of a search.
pub struct Budget {
    /// A fit with these limits.
    limits: Fit,
    /// The reason for the limit of memory, for the plan.
    source: &'static str,
    /// The seconds asked for.
    time: Option<f64>,
}

impl Budget {
    /// The limits of the command line; without `--memory`, half of the memory that is free.
    pub fn new(args: &args::FitArgs, memory: Option<u64>) -> Result<Budget> {
        let search = &args.search;
        let work = match search.time {
            Some(seconds) => Some(work_here(seconds)?),
            None => search.work,
        };
        let (memory, source) = match memory {
            Some(memory) => (Some(memory), "as allowed"),
            None => (half_of_free_memory(), "half of the free memory"),
        };
        let effort = search.effort.unwrap_or_default();
        let limits = Fit { effort, work, memory, ..Fit::default() };
        Ok(Budget { limits, source, time: search.time })
    }

    /// The operations allowed.
    pub fn work(&self) -> f64 {
        self.limits.work.unwrap_or(self.limits.effort.work())
    }

    /// The bytes allowed, if they are limited.
    pub fn memory(&self) -> Option<u64> {
        self.limits.memory
    }

    /// The seconds that the search takes at most on this machine: those asked for, or an estimate,
    /// for which a small search is timed.
    pub fn seconds(&self) -> Result<f64> {
        self.time.map_or_else(|| Ok(self.work() / work_here(1.0)?), Ok)
    }

    /// `fit` with these limits.
    pub fn fit(&self, fit: &Fit) -> Fit {
        let Fit { effort, work, memory, .. } = self.limits;
        Fit { effort, work, memory, ..fit.clone() }
    }

    /// The options of the command line that repeat a search with these limits.
    pub fn settings(&self, seed: u64) -> String {
        self.limits.settings(seed)
    }

    /// The limits and the planned seconds, for the plan.
    pub fn describe(&self, seconds: f64) -> String {
        let memory = match self.memory() {
            Some(memory) => format!("{} of memory ({})", text::bytes(memory), self.source),
            None => "no kernel values kept".into(),
        };
        let time = text::duration(seconds);
        format!("at most {} operations, {time}; {memory}", number(self.work()))
    }
}

/// The operations that a search does in this many seconds on this machine.
fn work_here(seconds: f64) -> Result<f64> {
    let start = Instant::now();
    Ok(work_in(seconds, || start.elapsed().as_secs_f64())?)
}

/// Whether Ctrl-C was pressed.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Shows the step of the search and its progress. Ctrl-C ends the search with the best candidate so
/// far; a second Ctrl-C ends the program.
pub struct SearchWatch<'a> {
    session: &'a Session<'a>,
}

impl<'a> SearchWatch<'a> {
    pub fn new(session: &'a Session<'a>) -> Self {
        let pressed = || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        };
        // without a handler Ctrl-C ends the program, as usual
        let _ = ctrlc::set_handler(pressed);
        session.steps("searching");
        SearchWatch { session }
    }
}

impl Progress for SearchWatch<'_> {
    fn told(&mut self, event: Event<'_>) -> ControlFlow<()> {
        let best = event.best.map(|trial| trial.error);
        self.session.next(&step(event.what, best), event.done);
        if INTERRUPTED.load(Ordering::Relaxed) {
            self.session.warn(
                "interrupted: fitting the best candidate so far; press Ctrl-C again to stop now",
            );
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// `best error 45 % below the mean's; the final fit`: a step and the smallest error so far, in
/// standard deviations of the target, that is in units of the error of predicting the mean.
fn step(what: &str, best: Option<f64>) -> String {
    match best.and_then(|error| text::compared(error, 1.0)) {
        Some(than) => format!("best error {than} the mean's; {what}"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn a_step_tells_the_best_error() {
        assert_eq!(
            step("the final fit", Some(0.55)),
            "best error 45 % below the mean's; the final fit"
        );
        assert_eq!(step("the final fit", None), "the final fit");
    }
}
