//! The project's tasks, run as `cargo xtask <task>`: rerun the papers, test, check the house rules, list, measure, write docs.
//!
//! Read `experiment.rs` for what an experiment is, `experiments/` for the experiments, `runner.rs` for how they are run,
//! `report/` for what is made of their outcomes, `tidy/` for the house rules, `bench/` for
//! what is measured.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program talks to its user

mod atomic;
mod bench;
mod cli;
mod context;
mod datasets;
mod experiment;
mod experiments;
mod fetch;
mod listing;
mod machine;
mod memory;
mod number;
mod plot;
mod progress;
mod record;
mod report;
mod resume;
mod runner;
mod table;
#[cfg(test)]
mod testing;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
