//! What all commands share: threads, memory allowed, progress, and where words go.

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

/// What was said to start the program, as a shell takes it.
pub fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| crate::text::shell(&word));
    [String::from("nystrom")].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

impl Session {
    /// Starts the threads, rayon's global pool, which the library and faer use. This thread is one
    /// of them. Otherwise it would wake another for every product and sleep meanwhile. That took a
    /// twentieth of the time of a fit.
    pub fn new(threads: Option<u16>, json: bool, quiet: bool) -> Result<Self> {
        let threads = threads.map_or(0, usize::from); // 0: as many as there are cores
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
        pool.build_global().context("cannot start the threads; ask for fewer")?;
        Ok(Session { progress: Progress::new(quiet), json, memory: None, quiet })
    }

    /// The session of a command that computes, and its generator.
    pub fn start(args: &RunArgs) -> Result<(Self, Pcg64)> {
        Session::over(args, &Alone)
    }

    /// That of one process of several, of which only the first speaks.
    pub fn over(args: &RunArgs, ranks: &dyn Ranks) -> Result<(Self, Pcg64)> {
        let quiet = args.quiet || ranks.rank() > 0;
        let session = Session::new(args.threads, args.json, quiet)?;
        let memory = args.memory.map(|bytes| bytes.0);
        Ok((Session { memory, ..session }, Pcg64::seed_from_u64(args.seed)))
    }

    /// Says something on standard error, unless it is to be quiet.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.warn(text);
        }
    }

    /// Says what was found or decided; thousands of notes in a line.
    pub fn notes(&self, notes: impl IntoIterator<Item = impl Display>) {
        let notes = notes.into_iter().collect::<Vec<_>>();
        text::few(&notes, "notes").iter().for_each(|note| self.say(&format!("note: {note}")));
    }

    /// Says on standard error what nobody may miss, quiet or not.
    pub fn warn(&self, text: &str) {
        self.progress.clear();
        eprintln!("{text}");
    }
}
