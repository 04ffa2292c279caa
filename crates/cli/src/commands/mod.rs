//! One file for each command.

mod arrange;
mod auto;
mod auto_report;
mod certify;
mod classes;
mod completions;
mod errors;
mod evaluate;
mod fit;
mod fit_plan;
mod hold_out;
mod inspect;
mod landmarks;
mod page;
mod predict;
mod sample;
mod scores;
mod select;
mod span;
pub mod stream;
mod wanted;

use crate::args::Command;
use crate::failure::Result;
use nystrom_pipeline::Alone;

/// Runs a command, with the table in memory or block by block, and returns the exit status.
pub fn run(command: &Command) -> Result<u8> {
    if stream::is_due(command)? {
        return stream::run_over(command, &Alone);
    }
    match command {
        Command::Fit(args) => return fit::run(args),
        Command::Predict(args) => predict::run(args)?,
        Command::Evaluate(args) => evaluate::run(args)?,
        Command::Inspect(args) => inspect::run(args)?,
        Command::Scores(args) => scores::run(args)?,
        Command::Landmarks(args) => landmarks::run(args)?,
        Command::Sample(args) => sample::run(args)?,
        Command::Completions(args) => completions::run(args)?,
    }
    Ok(0)
}
