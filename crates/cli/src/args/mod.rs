//! What can be said on the command line.

mod bytes;
mod certify;
mod commands;
mod data;
mod kernel;
mod lambda;
mod landmarks;
mod output;
mod run;
mod search;
mod stream;

pub use bytes::Bytes;
pub use certify::Certify;
pub use commands::{
    Completions, Evaluate, Fit, Inspect, LandmarksCommand, Predict, Sample, Sampler, Scores,
};
pub use data::{DataArgs, Delimiter, FileFormat, RegressionArgs, list};
pub use kernel::{Bandwidth, KernelArgs, KernelName};
pub use lambda::{Lambda, LambdaRange};
pub use landmarks::{LandmarkSpec, LeverageArgs, ScoreMethod, Selection};
pub use output::Output;
pub use run::RunArgs;
pub use search::{SearchArgs, TaskName};
pub use stream::{BlockArgs, StreamArgs};

use clap::{Parser, Subcommand};
use nystrom::linalg_core::instruction_set;
use std::sync::LazyLock;

/// Kernel methods on large tables: regression, leverage scores, landmarks, diverse samples
#[derive(Parser)]
#[command(name = "nystrom", version = VERSION.as_str(), after_help = OVERVIEW)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The instruction set decides how sums are rounded, and with that the last digits of results.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{} (instruction set {})", env!("CARGO_PKG_VERSION"), instruction_set())
});

const OVERVIEW: &str = "\
Examples:
  nystrom fit houses.csv --target price -o houses.json
  nystrom predict houses.json new-houses.csv -o prices.csv
  nystrom evaluate houses.json test-houses.csv
  nystrom scores houses.csv --drop price --lambda 1e-4 -o scores.csv
  nystrom landmarks houses.csv --drop price --landmarks rpcholesky:100 -o rows.csv
  nystrom sample houses.csv --drop price --size 50 -o diverse.csv

Results go to standard output, the plan, notes and the progress to standard error. Messages count \
lines
as editors do: from 1, with the header. The column `row` of results counts rows of data from 0.

With --json the outcome is one object on standard output. Its `schema` is the version of its layout,
raised whenever a key changes its meaning; `version` and `command` say what wrote it. NaN and
infinities, which are no numbers in JSON, are the strings \"NaN\", \"inf\" and \"-inf\"; null means
that there is no such value.

Exit status:
  0  done
  1  something failed that is none of the below, such as a file that cannot be written
  2  the command line is wrong
  3  the data or the model file are wrong: the message says where and what to do
  4  the memory allowed is not enough
  5  an iterative fit ended before its tolerance was reached (the model is written)

`nystrom COMMAND --help` has the options and an example of each command.";

#[derive(Subcommand)]
pub enum Command {
    /// Find the best fit for a table and save it
    #[command(visible_alias = "tune")]
    Fit(Box<Fit>),
    /// Predict with a saved model
    Predict(Predict),
    /// The error of a saved model on rows whose target is known
    Evaluate(Evaluate),
    /// What a saved model is, and how it was made
    Inspect(Inspect),
    /// Ridge leverage scores: which rows matter
    Scores(Scores),
    /// Choose rows that stand for all
    Landmarks(LandmarksCommand),
    /// Draw diverse rows: a k-DPP
    Sample(Sample),
    /// Print shell completions
    Completions(Completions),
}
