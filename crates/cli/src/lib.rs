//! `nystrom`: the library for people who do not write Rust.
//!
//! Read `args/` for what can be said, and `commands/` for what is done, a file for each subcommand.
//! Read `input.rs` for how files become matrices, `model_file.rs` for what is saved. No algorithm
//! is here: everything is a call of the crate `nystrom`.
//!
//! It is a library so that other programs say the same with the same words. `crates/mpi` runs the
//! commands that read tables block by block over the processes of a job. All of `nystrom` is
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     nystrom_cli::main()
//! }
//! ```
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::disallowed_types, clippy::too_many_lines))]

mod args;
mod commands;
mod failure;
mod format;
mod input;
mod json;
mod kernel;

mod model_file;
mod output;
mod over;
mod plan;
mod progress;
mod search;
mod session;
mod speed;
mod summary;
mod text;

pub use nystrom::linalg_core::LargePages;
pub use over::main_over;

use clap::Parser;
use std::process::ExitCode;

/// The program `nystrom`: does what the command line says, and tells how it went.
pub fn main() -> ExitCode {
    let cli = args::Cli::parse(); // a wrong command line ends here, with status 2
    match commands::run(&cli.command) {
        Ok(status) => ExitCode::from(status),
        // the reader of standard output has seen enough
        Err(error) if failure::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(failure::report(&error)),
    }
}
