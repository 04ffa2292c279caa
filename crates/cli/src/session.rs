//! State of every command: threads, memory limit, console and processes.

use crate::args::{ModelArgs, RunArgs};
use crate::console::Console;
use crate::failure::Result;
use anyhow::Context;
use nystrom::prelude::*;
use nystrom_pipeline::Ranks;
use std::ops::Deref;

pub struct Session<'a> {
    console: Console,
    pub json: bool,
    pub memory: Option<u64>,
    /// The processes of the job. There is one, unless the program is `nystrom-mpi`.
    pub ranks: &'a dyn Ranks,
}

impl Deref for Session<'_> {
    type Target = Console;

    fn deref(&self) -> &Console {
        &self.console
    }
}

/// The command line of this run, quoted for a shell, without these options and their values. With
/// --gpu its program is `nystrom-gpu`.
pub fn command_line(without: &[&str]) -> String {
    let words = words_without(without, &[]);
    let on_card = words.iter().any(|word| word == "--gpu" || word.starts_with("--gpu="));
    let program = if on_card { "nystrom-gpu" } else { "nystrom" };
    let words = [program].into_iter().chain(words.iter().map(String::as_str));
    shlex::try_join(words).unwrap_or_default() // no argument of a program has a NUL byte
}

/// The arguments of this run, without the options `valued` and their values, and without `flags`.
pub fn words_without(valued: &[&str], flags: &[&str]) -> Vec<String> {
    let (mut words, mut skip) = (Vec::new(), false);
    for word in std::env::args().skip(1) {
        let names = |option: &&&str| match option.starts_with("--") {
            true => word == **option || word.starts_with(&format!("{option}=")),
            false => word.starts_with(**option) && !word.starts_with("--"),
        };
        match valued.iter().find(names) {
            Some(option) => skip = word == **option,
            None if skip || flags.contains(&&*word) => skip = false,
            None => words.push(word),
        }
    }
    words
}

impl<'a> Session<'a> {
    /// Starts rayon's global thread pool, which the library and faer use. The calling thread is
    /// part of the pool: otherwise it would wake another thread for every matrix product and sleep
    /// meanwhile, which takes a twentieth of the time of a fit.
    ///
    /// Of the processes of a job, only process 0 prints.
    pub fn new(
        threads: Option<u16>,
        json: bool,
        quiet: bool,
        ranks: &'a dyn Ranks,
    ) -> Result<Self> {
        let threads = threads.map_or(0, usize::from); // 0: as many as there are cores
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
        pool.build_global().context("cannot start the threads; write a smaller --threads")?;
        let console = Console::new(quiet || ranks.rank() > 0);
        Ok(Session { console, json, memory: None, ranks })
    }

    /// The session of a command that applies a model.
    pub fn of_model(args: &ModelArgs, ranks: &'a dyn Ranks) -> Result<Self> {
        Session::new(args.threads, args.json, args.quiet, ranks)
    }

    /// Whether this is process 0 of the job, which searches, solves and writes.
    pub fn is_first(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// The session of a command that draws random numbers, and their generator.
    pub fn start(args: &RunArgs, ranks: &'a dyn Ranks) -> Result<(Self, Pcg64)> {
        let session = Session::new(args.threads, args.json, args.quiet, ranks)?;
        let memory = args.memory.map(|bytes| bytes.0);
        Ok((Session { memory, ..session }, Pcg64::seed_from_u64(args.seed)))
    }
}
