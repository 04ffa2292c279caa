//! A file for each command.

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

use crate::args::Command;
use crate::failure::Result;
use std::process::ExitCode;
use stream::{is_due, is_many};

/// Does it, with the table in memory or block by block.
pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Fit(args) if is_due(&args.data, args.stream.is_asked(), &args.run)? => {
            stream::fit::run(&args)
        }
        Command::Fit(args) => fit::run(&args),
        Command::Predict(args) if args.stream || is_many(&args.data) => {
            stream::predict::predict(&args)
        }
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) if args.stream || is_many(&args.data) => {
            stream::predict::evaluate(&args)
        }
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Scores(args) if is_due(&args.data, args.blocks.is_asked(), &args.run)? => {
            stream::scores::run(&args)
        }
        Command::Scores(args) => scores::run(&args),
        Command::Landmarks(args) if is_due(&args.data, args.blocks.is_asked(), &args.run)? => {
            stream::landmarks::run(&args)
        }
        Command::Landmarks(args) => landmarks::run(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}
