//! The progress bar on standard error, with the remaining time; shown only on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;

pub struct TerminalBar {
    bar: ProgressBar,
    shown: bool,
}

impl TerminalBar {
    /// A bar that is hidden if `quiet` or if standard error is not a terminal.
    pub fn new(quiet: bool) -> Self {
        let shown = !quiet && stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        TerminalBar { bar: ProgressBar::with_draw_target(None, target), shown }
    }

    /// Whether the bar is visible.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    /// Shows `what` and the share `done` of it, from 0 to 1.
    pub fn share(&self, what: &str, done: f64) {
        if self.bar.length() != Some(1000) {
            self.stage(what, Some(1000.0));
        }
        self.bar.set_message(what.to_owned());
        self.bar.set_position((1000.0 * done.clamp(0.0, 1.0)) as u64);
    }

    /// A function that advances the bar by a number of kernel values.
    pub fn meter(&self) -> impl Fn(usize) + Send + Sync + use<> {
        let bar = self.bar.clone();
        move |values| bar.inc(values as u64)
    }

    /// Starts the bar of the next step, which evaluates `values` kernel values if that number is
    /// known.
    pub fn stage(&self, what: &str, values: Option<f64>) {
        let template = match values {
            Some(_) => "{msg} {wide_bar} {percent} %, {elapsed} gone, {eta} to go",
            None => "{spinner} {msg}, {elapsed} gone",
        };
        self.bar.reset();
        self.bar.set_message(what.to_owned());
        match values {
            Some(values) => self.bar.set_length((values as u64).max(1)),
            None => self.bar.unset_length(),
        }
        self.bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        if self.shown {
            // redraw the elapsed time during long steps
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Changes the text beside the bar.
    pub fn tell(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Removes the bar, so that something can be printed.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
