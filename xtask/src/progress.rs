//! Progress: bars with a time to go on a terminal, timestamped lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::number::duration;

/// Between two lines of one stage on something that is not a terminal.
const QUIET: Duration = Duration::from_secs(5);

/// Where progress goes; one per run.
pub struct Progress {
    started: Instant,
    output: Output,
    experiment: Mutex<String>,
}

enum Output {
    Bars(MultiProgress),
    Lines,
    #[cfg(test)]
    Captured(Mutex<Vec<String>>),
}

impl Progress {
    /// Bars if standard error is a terminal, lines if it is not.
    pub fn new() -> Self {
        let output =
            if stderr().is_terminal() { Output::Bars(MultiProgress::new()) } else { Output::Lines };
        Progress { started: Instant::now(), output, experiment: Mutex::default() }
    }

    /// Kept in memory, for tests.
    #[cfg(test)]
    pub fn captured() -> Self {
        let output = Output::Captured(Mutex::default());
        Progress { started: Instant::now(), output, experiment: Mutex::default() }
    }

    /// What was printed so far, for tests.
    #[cfg(test)]
    pub fn lines(&self) -> Vec<String> {
        match &self.output {
            Output::Captured(lines) => lines.lock().unwrap().clone(),
            _ => Vec::new(),
        }
    }

    /// Names the experiment that the following stages belong to.
    pub fn experiment(&self, name: &str) {
        *self.experiment.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = name.into();
    }

    /// Opens a stage of `total` steps. It may be shared among threads, and ends when it is dropped.
    pub fn begin(&self, what: &str, total: usize) -> Stage<'_> {
        let experiment =
            self.experiment.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        let label =
            if experiment.is_empty() { what.to_owned() } else { format!("{experiment}: {what}") };
        let bar = match &self.output {
            Output::Bars(all) => {
                let bar = all.add(bar(&label, total as u64));
                // the clock runs on through long steps
                bar.enable_steady_tick(Duration::from_millis(500));
                Some(bar)
            }
            _ => None,
        };
        let now = Instant::now();
        Stage {
            progress: self,
            label,
            total,
            done: AtomicU64::new(0),
            began: now,
            last: Mutex::new(now),
            bar,
        }
    }

    /// Says something once; on a terminal, between the bars.
    pub fn say(&self, line: &str) {
        match &self.output {
            Output::Bars(all) => all.suspend(|| eprintln!("{line}")),
            Output::Lines => eprintln!("[{:>7.1} s] {line}", self.started.elapsed().as_secs_f64()),
            #[cfg(test)]
            Output::Captured(lines) => lines.lock().unwrap().push(line.to_owned()),
        }
    }
}

fn bar(label: &str, total: u64) -> ProgressBar {
    let template = "  {msg} {wide_bar} {pos}/{len}, {elapsed} gone, {eta} to go";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total).with_style(style).with_message(label.to_owned())
}

/// A stage of an experiment in progress.
pub struct Stage<'a> {
    progress: &'a Progress,
    label: String,
    total: usize,
    done: AtomicU64,
    began: Instant,
    last: Mutex<Instant>,
    bar: Option<ProgressBar>,
}

impl Stage<'_> {
    /// `steps` more are done.
    pub fn inc(&self, steps: usize) {
        let done = self.done.fetch_add(steps as u64, Relaxed) + steps as u64;
        match &self.bar {
            Some(bar) => bar.set_position(done),
            None => self.line(done, Instant::now()),
        }
    }

    /// Prints a line, unless one was printed less than five seconds ago.
    fn line(&self, done: u64, now: Instant) {
        let Ok(mut last) = self.last.try_lock() else { return };
        if now.duration_since(*last) < QUIET {
            return;
        }
        *last = now;
        let gone = now.duration_since(self.began).as_secs_f64();
        let to_go = gone / done as f64 * (self.total as u64).saturating_sub(done) as f64;
        self.progress.say(&format!(
            "{} {done}/{}, about {} to go",
            self.label,
            self.total,
            duration(to_go)
        ));
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_at_most_every_five_seconds() {
        let progress = Progress::captured();
        progress.experiment("self-check");
        let stage = progress.begin("steps", 100);
        let began = stage.began;
        for tenth in 1..=100_u32 {
            stage.line(tenth.into(), began + Duration::from_millis(100) * tenth);
        }
        assert_eq!(
            progress.lines(),
            [
                "self-check: steps 50/100, about 5.00 s to go",
                "self-check: steps 100/100, about 0.00 s to go"
            ]
        );
    }

    #[test]
    fn a_stage_counts_across_threads() {
        let progress = Progress::captured();
        let stage = progress.begin("steps", 400);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| stage.inc(1)));
            }
        });
        assert_eq!(stage.done.load(Relaxed), 400);
    }
}
