//! The options and commands of the command line.

mod certify;
mod commands;
mod data;
mod embed;
mod gpu;
mod install;
mod kernel;
mod lambda;
mod landmarks;
mod output;
mod run;
mod sample;
mod search;
mod stream;
mod units;

pub use certify::Certify;
pub use commands::{Evaluate, FitArgs, Inspect, LandmarksCommand, Predict, Scores, TestArgs};
pub use data::{DataArgs, Delimiter, FileFormat, RegressionArgs, SparseArgs, list, lists};
pub use embed::{Embed, EmbedMethod};
pub use gpu::GpuArgs;
pub use install::{Completions, Manual};
pub use kernel::{Bandwidth, KernelArgs, KernelName};
pub use lambda::{Lambda, LambdaRange};
pub use landmarks::{LandmarkSpec, LeverageArgs, ScoreMethod, Selection};
pub use output::Output;
pub use run::{ModelArgs, PointArgs, RunArgs};
pub use sample::{Sample, Sampler};
pub use search::SearchArgs;
pub use stream::{BlockArgs, StreamArgs};
pub use units::Bytes;

use clap::{Parser, Subcommand};
use nystrom::linalg_core::instruction_set;
use std::sync::LazyLock;

/// Kernel methods on large tables: regression, leverage scores, landmarks, diverse samples,
/// pictures
#[derive(Parser)]
#[command(name = "nystrom", version = VERSION.as_str())]
#[command(after_help = OVERVIEW, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The instruction set determines how sums are rounded, and with it the last digits of results.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{} (instruction set {})", env!("CARGO_PKG_VERSION"), instruction_set())
});

/// What the program prints if it is called without arguments.
pub const FIRST_STEPS: &str = "\
nystrom learns from a table in a file, such as CSV: it predicts a column of
numbers or classes, and finds the rows that matter.

Fit a model of the column `price`; keep a fifth of the rows to measure its error:
  nystrom fit houses.csv --target price --hold-out 0.2 -o houses.model

Predict the prices of other houses:
  nystrom predict houses.model new-houses.csv -o prices.csv

Choose 50 houses that differ from one another:
  nystrom sample houses.csv --drop price --size 50 -o diverse.csv

Read on:
  nystrom --help        all commands, and the exit status
  nystrom fit --help    the options of a command, with examples
";

const OVERVIEW: &str = "\
Examples:
  nystrom fit houses.csv --target price -o houses.json
  nystrom predict houses.json new-houses.csv -o prices.csv
  nystrom evaluate houses.json test-houses.csv
  nystrom scores houses.csv --drop price --lambda 1e-4 -o scores.csv
  nystrom landmarks houses.csv --drop price --landmarks rpcholesky:100 -o rows.csv
  nystrom sample houses.csv --drop price --size 50 -o diverse.csv
  nystrom test january.csv february.csv
  nystrom embed houses.csv --drop price -o picture.csv

Results go to standard output; the plan, notes and progress go to standard error. Line numbers in \
messages are those of an editor: they start at 1 and count the header. The column `row` of results \
counts data rows from 0.

With --json, the result is one JSON object on standard output. `schema` is the version of its \
layout, raised whenever a key changes its meaning; `version` and `command` name the program \
version and the command. NaN and infinities, which JSON lacks, are the strings \"NaN\", \"inf\" \
and \"-inf\"; null means that there is no value.

Exit status:
  0  success
  1  a failure not listed below, such as a file that cannot be written
  2  the command line is wrong
  3  the data or the model file is wrong; the message says where and what to do
  4  the computation needs more memory than allowed
  5  an iterative fit stopped before it reached its tolerance (the model is written)

`nystrom COMMAND --help` lists the options of a command, with examples.";

#[derive(Subcommand)]
pub enum Command {
    /// Find the best fit for a table and save it
    #[command(visible_alias = "tune")]
    Fit(Box<FitArgs>),
    /// Predict with a saved model
    Predict(Predict),
    /// Compute the error of a saved model on rows whose target is known
    Evaluate(Evaluate),
    /// Describe a saved model and how it was fitted
    Inspect(Inspect),
    /// Compute ridge leverage scores: which rows matter
    Scores(Scores),
    /// Choose landmark rows that represent all rows
    Landmarks(LandmarksCommand),
    /// Draw diverse subsets of rows from a k-DPP
    Sample(Sample),
    /// Test whether the rows of two tables come from the same distribution
    Test(TestArgs),
    /// Coordinates for a picture, or clusters: kernel PCA, spectral embedding, kernel k-means
    Embed(Embed),
    /// Print shell completions
    Completions(Completions),
    /// Write the manual pages
    Manual(Manual),
}
