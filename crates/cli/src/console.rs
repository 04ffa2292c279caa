//! Standard error: messages, and a progress bar with the remaining time, shown only on a terminal.

use crate::text;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::{Display, Write};
use std::time::Duration;

/// The line of a task whose steps take unequal times. `what` is cut at the width of the terminal.
const STEPS: &str = "{spinner} {left}{wide_msg}";
/// The smallest share of a task from which the time of the rest is estimated.
const ENOUGH: f64 = 0.02;

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
        Console::on(target, quiet)
    }

    fn on(target: ProgressDrawTarget, quiet: bool) -> Self {
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

    /// Starts a task whose steps are shown by [`next`](Self::next).
    pub fn steps(&self, what: &str) {
        self.stage(what, None);
        self.next(what, 0.0);
    }

    /// Shows the next step of a task, of which the share `done` is done, and the time that the rest
    /// takes, if the task does all of its work. This time counts down until the next step.
    pub fn next(&self, what: &str, done: f64) {
        let at = self.bar.elapsed();
        let left = move |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&time_left(done, at, state.elapsed()));
        };
        let style = ProgressStyle::with_template(STEPS);
        self.bar.set_style(
            style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("left", left),
        );
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
        eprintln!("{}", for_terminal(text));
    }
}

/// A message with its lines broken between words at the width of the terminal, if standard error is
/// one.
pub fn for_terminal(text: &str) -> String {
    let width = terminal_size::terminal_size_of(std::io::stderr());
    let broken = |line| match width {
        Some((terminal_size::Width(columns), _)) => text::wrapped(line, columns.into()).join("\n"),
        None => line.to_owned(),
    };
    text.lines().map(broken).collect::<Vec<_>>().join("\n")
}

/// `at most about 40 s to go: `, now that a task has taken `now`, and had done the share `done` of
/// its work at the time `at`; empty if that share is too small for an estimate.
fn time_left(done: f64, at: Duration, now: Duration) -> String {
    if done < ENOUGH {
        return String::new();
    }
    let [at, now] = [at, now].map(|time| time.as_secs_f64());
    let left = at / done - now;
    let most = if left < 1.0 { "" } else { "at most " };
    format!("{most}{} to go: ", text::duration(left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io::Result;
    use std::sync::{Arc, Mutex};

    /// A terminal that stores all that is written.
    #[derive(Debug, Clone)]
    struct Terminal(u16, Arc<Mutex<Vec<String>>>);

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            self.0
        }
        fn move_cursor_up(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> Result<()> {
            self.write_str(line)
        }
        fn write_str(&self, text: &str) -> Result<()> {
            self.1.lock().unwrap().push(text.to_owned());
            Ok(())
        }
        fn clear_line(&self) -> Result<()> {
            Ok(())
        }
        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_time_left_counts_down() {
        let seconds = Duration::from_secs;
        // a quarter took 10 s, so 30 s are left
        assert_eq!(time_left(0.25, seconds(10), seconds(10)), "at most about 30 s to go: ");
        assert_eq!(time_left(0.25, seconds(10), seconds(25)), "at most about 15 s to go: ");
        assert_eq!(time_left(0.25, seconds(10), seconds(99)), "under a second to go: ");
        assert_eq!(time_left(0.01, seconds(10), seconds(10)), "");
    }

    #[test]
    fn a_step_fits_the_width_of_the_terminal() {
        for width in [30, 60, 80, 200] {
            let terminal = Terminal(width, Arc::default());
            let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
            let console = Console::on(target, false);
            console.steps("searching");
            console.next(&format!("error 45 % below: {}", "matern, ".repeat(9)), 0.5);
            console.bar.force_draw();
            let written = terminal.1.lock().unwrap().concat();
            assert!(written.contains("under a second to go: "), "{written}");
            let seen = written.contains("error 45 % below: matern, matern");
            assert_eq!(seen, width >= 60, "{width}: {written}");
            for line in terminal.1.lock().unwrap().iter() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
            }
        }
    }

    #[test]
    fn a_quiet_console_draws_nothing() {
        assert!(!Console::new(true).is_shown());
    }
}
