//! Standard error: messages, and a progress bar with the remaining time, shown only on a terminal.

use crate::text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::time::Duration;

/// Messages and a progress bar on standard error.
pub struct Console {
    bar: ProgressBar,
    quiet: bool,
}

impl Console {
    /// The console; with `quiet`, it shows only warnings.
    pub fn new(quiet: bool) -> Self {
        // indicatif hides the bar if standard error is not a terminal
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Console { bar: ProgressBar::with_draw_target(None, target), quiet }
    }

    /// Whether the bar is visible.
    pub fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
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
        if self.is_shown() {
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

    /// Prints a line on standard error, unless `--quiet` is given.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.warn(text);
        }
    }

    /// Prints notes on standard error, unless `--quiet` is given; very many notes in one line.
    pub fn notes(&self, notes: impl IntoIterator<Item = impl Display>) {
        let notes = notes.into_iter().collect::<Vec<_>>();
        text::few(&notes, "notes").iter().for_each(|note| self.say(&format!("note: {note}")));
    }

    /// Prints a line on standard error even if `--quiet` is given.
    pub fn warn(&self, text: &str) {
        self.clear();
        eprintln!("{text}");
    }
}
