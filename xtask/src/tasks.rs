//! The project's tasks but the tests, run as `cargo xtask <task>`: rerun the papers, check the
//! house rules, list, measure, fetch data, write docs.
//!
//! Read `experiment.rs` for what an experiment is, `lab/` for what its settings, cells and results
//! are. `experiments/` has the experiments, `runner.rs` runs them, `report/` is what is made of
//! their outcomes, `reference.rs` compares them with an earlier run. `tidy/` has the house rules,
//! `bench/` what is measured, `numbers.rs` the measured numbers in documents.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod atomic;
mod bench;
mod claim;
mod cli;
mod context;
mod datasets;
mod experiment;
mod experiments;
mod fetch;
mod lab;
mod listing;
mod machine;
mod memory;
mod method;
mod numbers;
mod pages;
mod peers;
mod progress;
mod record;
mod reference;
mod report;
mod runner;
mod statistics;
#[cfg(test)]
mod testing;
mod tidy;
mod width;
mod workspace;

use nystrom_page::{number, plot, table};
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
