//! The commands that run over the processes of a job.

use crate::args::Cli;
use crate::commands::stream;
use crate::failure::{self, Failure};
use clap::{CommandFactory, FromArgMatches};
use nystrom_pipeline::Ranks;

/// Of a program that runs over processes.
const ABOUT: &str = "\
`fit`, `predict`, `evaluate`, `scores` and `landmarks` with the options and the results of `nystrom
--stream`, by all processes of a job: each reads a part of the files. --threads and --memory are
those of a process; process 0 writes what is written.

  mpirun -n 4 --bind-to none nystrom-mpi fit 'shards/*.csv' --target price -o houses.json";

/// The program `nystrom-mpi`: does what the command line says over all processes of a job, each of
/// which calls this. Process 0 speaks. The number is the status to end with.
///
/// # Errors
/// The status to end the whole job with at once: something failed here, and others may wait. It has
/// been told, with the rank of this process.
pub fn main_over(ranks: &dyn Ranks) -> std::result::Result<u8, u8> {
    let name = "nystrom-mpi";
    let command = Cli::command().name(name).bin_name(name).about(ABOUT).after_help(None::<&str>);
    let command = command.mut_subcommand("fit", |fit| fit.about("Fit a model to all files"));
    let parsed = command.try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // which all processes find
            if ranks.rank() == 0 {
                let _ = error.print();
            }
            return Ok(u8::try_from(error.exit_code()).unwrap_or(failure::USAGE));
        }
    };
    match stream::run_over(&cli.command, ranks) {
        Ok(status) => Ok(status),
        Err(error) => match error.downcast_ref() {
            // which has been told
            Some(Failure::Elsewhere(status)) => Ok(*status),
            _ => Err(failure::report(&of_rank(ranks, error))),
        },
    }
}

/// An error of which the others have not heard: with the rank, if there are others.
fn of_rank(ranks: &dyn Ranks, error: anyhow::Error) -> anyhow::Error {
    match ranks.size() {
        1 => error,
        _ => error.context(format!("rank {}", ranks.rank())),
    }
}
