//! One file for each command.

mod basis;
mod certify;
mod classes;
mod column_uses;
mod coverage;
mod embed;
mod errors;
mod evaluate;
mod fit;
mod fit_output;
mod fit_plan;
mod fit_search;
pub mod gpu;
mod hold_out;
mod inspect;
mod install;
mod landmarks;
mod model_columns;
mod predict;
mod sample;
mod scores;
mod search_report;
mod select;
pub mod stream;
mod subset;
mod two_sample;

use crate::args::Command;
use crate::failure::Result;
use nystrom_pipeline::Alone;

/// Runs a command, with the table in memory or block by block, and returns the exit status.
pub fn run(command: &Command) -> Result<u8> {
    gpu::check(command)?;
    if stream::is_due(command)? {
        return stream::run_on_ranks(command, &Alone);
    }
    match command {
        Command::Fit(args) => return fit::run(args),
        Command::Predict(args) => predict::run(args)?,
        Command::Evaluate(args) => evaluate::run(args)?,
        Command::Inspect(args) => inspect::run(args)?,
        Command::Scores(args) => scores::run(args)?,
        Command::Landmarks(args) => landmarks::run(args)?,
        Command::Sample(args) => sample::run(args)?,
        Command::Test(args) => two_sample::run(args)?,
        Command::Embed(args) => embed::run(args)?,
        Command::Completions(args) => install::completions(args)?,
        Command::Manual(args) => install::manual(args)?,
    }
    Ok(0)
}
