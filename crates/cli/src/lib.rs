//! The program `nystrom`: the library's methods on the command line.
//!
//! `args/` declares the options. `commands/` has one file for each subcommand. `input.rs` turns
//! files into matrices, and `model_file.rs` saves models. This crate implements no algorithm: it
//! calls the crate `nystrom`.
//!
//! The program is a library so that other programs can have the same options and messages:
//! `crates/mpi` runs the commands that read tables block by block on the processes of an MPI job,
//! `crates/gpu` computes on graphics cards.
//! The program `nystrom` itself is
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     nystrom_cli::main()
//! }
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]

mod args;
mod card;
mod column_names;
mod commands;
mod console;
mod failure;
mod format;
mod gpu_program;
mod input;
mod json;
mod kernel;
mod model_file;
mod mpi_program;
mod output;
mod plan;
mod search;
mod session;
mod speed;
mod summary;
mod text;

pub use card::{Card, OpenCard};
pub use gpu_program::main_with_cards;
pub use mpi_program::main_on_ranks;
pub use nystrom::linalg_core::LargePages;

use clap::Parser;
use std::process::ExitCode;

/// The program `nystrom`: runs the command of the command line and returns the exit status. Without
/// arguments it prints the first steps to standard error.
pub fn main() -> ExitCode {
    if std::env::args_os().len() < 2 {
        eprint!("{}", args::FIRST_STEPS);
        return ExitCode::from(failure::USAGE);
    }
    let cli = args::Cli::parse(); // exits with status 2 if the command line is wrong
    ended(commands::run(&cli.command))
}

/// The exit status of a command that ended like this; an error is printed.
fn ended(outcome: failure::Result<u8>) -> ExitCode {
    match outcome {
        Ok(status) => ExitCode::from(status),
        // the reader of standard output has closed the pipe
        Err(error) if failure::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(failure::report(&error)),
    }
}
