//! Options of `nystrom sample`.

use super::{Output, PointArgs, SparseArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sampler {
    /// `exact` for up to n = 2000 rows, else `rejection` for subsets of up to √n rows, else `swap`;
    /// with --quota `swap`
    Auto,
    /// Exact draws, from an eigendecomposition of the n × n matrix K
    Exact,
    /// Exact draws by rejection, without an n × n matrix; for subsets of up to about 100 rows
    Rejection,
    /// Approximate draws by a Markov chain of swaps; O(size²) operations per step for any n
    Swap,
    /// No random draw: always the row that raises ln det K_CC most
    Greedy,
}

const SAMPLE: &str = "\
Examples:
  nystrom sample houses.csv --drop price --size 50 -o diverse.csv
  nystrom sample houses.csv --drop price --size 20 --draws 10 --method exact > draws.csv
  nystrom sample million.csv --size 50 --method rejection -o diverse.csv
  nystrom sample large.csv --size 100 --method swap --steps 20000 --json -o diverse.csv
  nystrom sample molecules.csv --size 96 --quality activity --given tested.csv -o next.csv
  nystrom sample houses.csv --drop price --size 20 --inclusion often.csv > diverse.csv
  nystrom sample houses.csv --drop price --size 30 --quota town:Brest=10,Paris=20 > diverse.csv
  nystrom sample 'shards/*.csv' --size 100 --method greedy -o diverse.csv

Column `row` counts data rows from 0, as NumPy does; column `line` is the line in an editor. Rows \
of --given come first.

A folder or a pattern, and with --method greedy a table too large for --memory, is read block by \
block, in two passes: rows are chosen greedily from each of --leaves parts of the rows, then among \
the rows chosen from all parts (GreeDi). Then there is only --method greedy, without --quality, \
--given and --quota.";

/// Draw diverse subsets of rows from a k-DPP, Pr(C) ∝ det K_CC
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = SAMPLE)]
pub struct Sample {
    #[command(flatten)]
    pub of: PointArgs,
    #[command(flatten)]
    pub rows: SparseArgs,
    /// Number of rows in a subset
    #[arg(long, value_name = "K")]
    pub size: usize,
    /// Number of subsets
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub draws: usize,
    /// Method that draws the subsets
    #[arg(long, value_enum, default_value_t = Sampler::Auto)]
    pub method: Sampler,
    /// Steps of the swap chain before each draw [default: 3000]
    #[arg(long, value_name = "N")]
    pub steps: Option<usize>,
    /// With --method swap: take enough steps that the chain is within this total-variation distance
    /// of the k-DPP. Coupled chains, one of each pair started at an exact draw, bound the distance
    /// with 95 % confidence
    #[arg(long, value_name = "DISTANCE", conflicts_with_all = ["steps", "quota"])]
    pub within: Option<f64>,
    /// Column with the quality q > 0 of each row, which is then no feature: K_ij becomes
    /// q_i·K_ij·q_j, so that good rows are drawn more often
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, help_heading = "Subset")]
    pub quality: Option<String>,
    /// File with rows that every subset includes: a CSV file with a column `row`, as `nystrom
    /// landmarks` and `nystrom sample` write, or a .npy file with one column. They count in --size
    #[arg(long, value_name = "FILE", help_heading = "Subset")]
    pub given: Option<PathBuf>,
    /// Column with the group of each row, which is then no feature, and the number of rows of each
    /// group; other groups have none. Without numbers, the rows are shared in proportion to the
    /// sizes of the groups, by largest remainders
    #[arg(
        long,
        value_name = "COLUMN[:GROUP=N,…]",
        allow_hyphen_values = true,
        help_heading = "Subset"
    )]
    pub quota: Option<String>,
    /// Also write the probability of each row to be in a subset to this file, .csv or .npy. Needs
    /// exact draws, from an eigendecomposition of the n × n matrix K
    #[arg(long, value_name = "FILE", conflicts_with = "quota", help_heading = "Subset")]
    pub inclusion: Option<Output>,
    /// File for the rows, .csv or .npy; `-` is standard output, as CSV or inside --json
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Output,
}
