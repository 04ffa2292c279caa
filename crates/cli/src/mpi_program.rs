//! The program `nystrom-mpi`: the commands that run on several processes of one job.

use crate::args::Cli;
use crate::commands::{gpu, stream};
use crate::failure::{self, Failure};
use clap::{CommandFactory, FromArgMatches};
use nystrom_pipeline::Ranks;

/// The description of the program in its help.
const ABOUT: &str = "\
The commands `fit`, `predict`, `evaluate`, `scores`, `landmarks` and `sample --method greedy` on all
processes of an MPI job, with the options and results of `nystrom` with --stream. Each process reads
a part of the files. --threads and --memory apply to each process; process 0 writes the results.

  mpirun -n 4 --bind-to none nystrom-mpi fit 'shards/*.csv' --target price -o houses.json";

/// The program `nystrom-mpi`: runs the command of the command line on the processes of a job. Every
/// process calls this function; process 0 prints. Returns the exit status.
///
/// # Errors
/// The status with which the caller must abort the whole job: this process failed while others may
/// be waiting for it. The error is already printed, with the rank of this process.
pub fn main_on_ranks(ranks: &dyn Ranks) -> std::result::Result<u8, u8> {
    let name = "nystrom-mpi";
    let command = Cli::command().name(name).bin_name(name).about(ABOUT).after_help(None::<&str>);
    let command = command.mut_subcommand("fit", |fit| fit.about("Fit a model to all files"));
    let parsed = command.try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // all processes find the same error; one of them prints it
            if ranks.rank() == 0 {
                let _ = error.print();
            }
            return Ok(u8::try_from(error.exit_code()).unwrap_or(failure::USAGE));
        }
    };
    if let Err(error) = gpu::check(&cli.command) {
        return Ok(if ranks.rank() == 0 { failure::report(&error) } else { failure::USAGE });
    }
    match stream::run_on_ranks(&cli.command, ranks) {
        Ok(status) => Ok(status),
        Err(error) => match error.downcast_ref() {
            // the process that failed has printed the error
            Some(Failure::Elsewhere(status)) => Ok(*status),
            _ => Err(failure::report(&of_rank(ranks, error))),
        },
    }
}

/// An error that only this process knows, with its rank if there are other processes.
fn of_rank(ranks: &dyn Ranks, error: anyhow::Error) -> anyhow::Error {
    match ranks.size() {
        1 => error,
        _ => error.context(format!("rank {}", ranks.rank())),
    }
}
