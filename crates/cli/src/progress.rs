//! One bar on standard error with a time to go, if that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;

pub struct Progress {
    bar: ProgressBar,
    shown: bool,
}

impl Progress {
    /// Silent unless standard error is a terminal.
    pub fn new(quiet: bool) -> Self {
        let shown = !quiet && stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Progress { bar: ProgressBar::with_draw_target(None, target), shown }
    }

    /// Whether there is a bar.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    /// The next piece of work, of which shares of a thousand are told.
    pub fn share(&self, what: &str, done: f64) {
        if self.bar.length() != Some(1000) {
            self.stage(what, Some(1000.0));
        }
        self.bar.set_message(what.to_owned());
        self.bar.set_position((1000.0 * done.clamp(0.0, 1.0)) as u64);
    }

    /// What counts kernel values.
    pub fn meter(&self) -> impl Fn(usize) + Send + Sync + use<> {
        let bar = self.bar.clone();
        move |values| bar.inc(values as u64)
    }

    /// The next piece of work, and the number of kernel values it takes if that is known.
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
            // the clock runs on through long steps
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Other words for the piece of work under way.
    pub fn tell(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Takes the bar away, so that something can be printed.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
