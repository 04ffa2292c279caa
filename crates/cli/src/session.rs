//! State of every command: threads, memory limit, progress bar and messages.

use crate::args::RunArgs;
use crate::failure::Result;
use crate::progress::Progress;
use crate::text;
use anyhow::Context;
use nystrom::prelude::*;
use nystrom_pipeline::{Alone, Ranks};
use std::fmt::Display;

pub struct Session {
    pub progress: Progress,
    pub json: bool,
    pub memory: Option<u64>,
    quiet: bool,
}

/// The command line of this run, quoted for a shell.
pub fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| crate::text::shell(&word));
    [String::from("nystrom")].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

impl Session {
    /// Starts rayon's global thread pool, which the library and faer use. The calling thread is
    /// part of the pool: otherwise it would wake another thread for every matrix product and sleep
    /// meanwhile, which takes a twentieth of the time of a fit.
    pub fn new(threads: Option<u16>, json: bool, quiet: bool) -> Result<Self> {
        let threads = threads.map_or(0, usize::from); // 0: as many as there are cores
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
        pool.build_global().context("cannot start the threads; write a smaller --threads")?;
        Ok(Session { progress: Progress::new(quiet), json, memory: None, quiet })
    }

    /// The session of a command that draws random numbers, and their generator.
    pub fn start(args: &RunArgs) -> Result<(Self, Pcg64)> {
        Session::of_process(args, &Alone)
    }

    /// The session of one process of a job, in which only process 0 prints.
    pub fn of_process(args: &RunArgs, ranks: &dyn Ranks) -> Result<(Self, Pcg64)> {
        let quiet = args.quiet || ranks.rank() > 0;
        let session = Session::new(args.threads, args.json, quiet)?;
        let memory = args.memory.map(|bytes| bytes.0);
        Ok((Session { memory, ..session }, Pcg64::seed_from_u64(args.seed)))
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
        self.progress.clear();
        eprintln!("{text}");
    }
}
