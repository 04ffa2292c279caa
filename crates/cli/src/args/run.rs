//! Options that many commands share.

use super::{BlockArgs, Bytes, DataArgs, KernelArgs};
use clap::Args;
use std::path::PathBuf;

// Of commands that apply a saved model to a table.
#[derive(Args)]
pub struct ModelArgs {
    /// Model file
    pub model: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// Read the table block by block even if it is one file that fits in memory
    #[arg(long, help_heading = "Beyond memory")]
    pub stream: bool,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Run")]
    pub threads: Option<u16>,
    /// Print the result as JSON
    #[arg(long, help_heading = "Run")]
    pub json: bool,
    /// Print no notes and no progress
    #[arg(short, long, help_heading = "Run")]
    pub quiet: bool,
}

// Of commands on rows without a target.
#[derive(Args)]
pub struct PointArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub kernel: KernelArgs,
    #[command(flatten)]
    pub blocks: BlockArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

// Of commands that evaluate a kernel on a table.
#[derive(Args)]
pub struct RunArgs {
    /// Seed of all random numbers; the same seed gives the same result with any number of threads
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Run")]
    pub seed: u64,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Run")]
    pub threads: Option<u16>,
    /// Limit of the memory used beside the data (block by block: of all memory), such as 2GB (2·10⁹
    /// bytes) or 512MiB; a computation that needs more is refused before it starts
    #[arg(long, value_name = "BYTES", value_parser = super::units::bytes, help_heading = "Run")]
    pub memory: Option<Bytes>,
    /// Do not standardise the features to mean 0 and standard deviation 1
    #[arg(long, help_heading = "Data")]
    pub no_standardize: bool,
    /// Print the result as JSON
    #[arg(long, help_heading = "Run")]
    pub json: bool,
    /// Print no plan, notes or progress; warnings are still printed
    #[arg(short, long, help_heading = "Run")]
    pub quiet: bool,
}
