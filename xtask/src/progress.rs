//! Progress: bars with a time to go on a terminal, lines elsewhere.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::number::duration;

/// The time between two lines of one stage where there are no bars.
const QUIET: Duration = Duration::from_secs(5);

const BAR: &str = "  {msg} {wide_bar} {pos}/{len}, {elapsed} gone, {eta} to go";

/// Where progress goes: standard error.
#[derive(Clone, Default)]
pub struct Progress {
    /// Hidden unless standard error is a terminal.
    bars: MultiProgress,
    /// What stages are labelled with, such as `li-fig1: `.
    prefix: String,
    /// All lines so far, for tests.
    said: Option<Arc<Mutex<Vec<String>>>>,
}

impl Progress {
    /// Kept in memory, for tests.
    #[cfg(test)]
    pub fn captured() -> Self {
        let nowhere = indicatif::ProgressDrawTarget::hidden();
        let bars = MultiProgress::with_draw_target(nowhere);
        Progress { bars, said: Some(Arc::default()), ..Self::default() }
    }

    /// What was said so far, for tests.
    #[cfg(test)]
    pub fn lines(&self) -> Vec<String> {
        self.said.as_ref().unwrap().lock().unwrap().clone()
    }

    /// The same for the stages of one experiment.
    pub fn of(&self, experiment: &str) -> Self {
        Progress { prefix: format!("{experiment}: "), ..self.clone() }
    }

    /// Opens a stage of `total` steps. It may be shared among threads, and ends when it is dropped.
    pub fn begin(&self, what: &str, total: usize) -> Stage<'_> {
        let style = ProgressStyle::with_template(BAR);
        let bar = ProgressBar::new(total as u64)
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
            .with_message(format!("{}{what}", self.prefix));
        let bar = self.bars.add(bar);
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(500)); // also during a long step
        }
        Stage { progress: self, bar, last_line: Mutex::new(Instant::now()) }
    }

    /// Prints a line; on a terminal, above the bars.
    pub fn say(&self, line: &str) {
        if let Some(said) = &self.said {
            said.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(line.to_owned());
        } else {
            self.bars.suspend(|| eprintln!("{line}"));
        }
    }
}

/// A stage of an experiment in progress.
pub struct Stage<'a> {
    progress: &'a Progress,
    bar: ProgressBar,
    last_line: Mutex<Instant>,
}

impl Stage<'_> {
    /// `steps` more are done. Where there are no bars, a line says so every five seconds.
    pub fn inc(&self, steps: usize) {
        self.bar.inc(steps as u64);
        if self.bar.is_hidden()
            && let Ok(mut last) = self.last_line.try_lock()
            && last.elapsed() >= QUIET
        {
            *last = Instant::now();
            let (bar, to_go) = (&self.bar, duration(self.bar.eta().as_secs_f64()));
            let [done, total] = [bar.position(), bar.length().unwrap_or(0)];
            self.progress.say(&format!("{} {done}/{total}, about {to_go} to go", bar.message()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_at_most_every_five_seconds_and_count_across_threads() {
        let progress = Progress::captured().of("self-check");
        let stage = progress.begin("steps", 400);
        let work = || (0..100).for_each(|_| stage.inc(1));
        std::thread::scope(|scope| {
            for work in [work; 3] {
                scope.spawn(work);
            }
        });
        assert!(progress.lines().is_empty());
        *stage.last_line.lock().unwrap() -= QUIET;
        work();
        let lines = progress.lines();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("self-check: steps 301/400, about "), "{lines:?}");
    }
}
