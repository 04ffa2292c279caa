//! `nystrom`: the library for people who do not write Rust.
//!
//! Read `args/` for what can be said, `commands/` for what is done (a file for each subcommand),
//! `input.rs` for how files become matrices, `model_file.rs` for what is saved. No algorithm is
//! here: everything is a call of the crate `nystrom`.
#![deny(clippy::too_many_lines)]

mod args;
mod commands;
mod diagnosis;
mod failure;
mod format;
mod input;
mod json;
mod kernel;
mod large_pages;
mod mixed;
mod model_file;
mod output;
mod plan;
mod progress;
mod search;
mod session;
mod speed;
mod summary;
mod text;

use clap::Parser;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: large_pages::LargePages = large_pages::LargePages;

fn main() -> ExitCode {
    let cli = args::Cli::parse(); // a wrong command line ends here, with status 2
    match commands::run(cli.command) {
        Ok(code) => code,
        // the reader of standard output has seen enough
        Err(error) if failure::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
