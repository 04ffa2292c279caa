//! Options of tables that are read block by block.

use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct StreamArgs {
    /// Read the table block by block even if it would fit in memory. A folder, a pattern or a table
    /// too large for --memory is always read block by block
    #[arg(long, help_heading = "Beyond memory")]
    pub stream: bool,
    /// Number of rows in the uniform sample that the search uses [default: 50000, or fewer if
    /// memory is short]
    #[arg(long, value_name = "ROWS", help_heading = "Beyond memory")]
    pub reservoir: Option<usize>,
    /// Number of parts into which the rows are cut for the sums of the second pass; at most this
    /// many processes of `nystrom-mpi` can share it. The last digits of the model depend on this
    /// number [default: 8]
    #[arg(long, value_name = "COUNT", help_heading = "Beyond memory",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub leaves: Option<usize>,
    /// Use every row as a centre: exact kernel ridge regression, solved by iterations with one pass
    /// each; needs a number for --lambda. Every process holds all rows and evaluates its share of
    /// the n² kernel values of a pass
    #[arg(long, conflicts_with_all = ["landmarks", "leverage_lambda"],
        help_heading = "Beyond memory")]
    pub all_rows: bool,
    /// Folder for checkpoints: if the command is killed, the same command continues from the last
    #[arg(long, value_name = "DIR", help_heading = "Beyond memory")]
    pub checkpoint: Option<PathBuf>,
    /// Time between checkpoints [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = super::units::seconds,
        requires = "checkpoint", help_heading = "Beyond memory")]
    pub checkpoint_every: Option<f64>,
}

impl StreamArgs {
    /// Whether one of these options asks for reading block by block.
    pub fn is_asked(&self) -> bool {
        self.stream
            || self.all_rows
            || self.leaves.is_some()
            || self.reservoir.is_some()
            || self.checkpoint.is_some()
    }
}

/// Options of commands on rows without a target.
#[derive(Args)]
pub struct BlockArgs {
    /// Read the table block by block even if it would fit in memory. A folder, a pattern or a table
    /// too large for --memory is always read block by block
    #[arg(long, help_heading = "Beyond memory")]
    pub stream: bool,
    /// Number of rows in the uniform sample. `--bandwidth auto` is computed from the sample, and
    /// scores and landmarks by other methods than squeak from its rows [default: 50000, or fewer if
    /// memory is short]
    #[arg(long, value_name = "ROWS", help_heading = "Beyond memory")]
    pub reservoir: Option<usize>,
    /// Number of parts of the rows: squeak makes a dictionary of each before it merges them, and
    /// `sample --method greedy` chooses rows from each. At most this many processes of
    /// `nystrom-mpi` can share that pass. The result depends on this number [default: 8; with
    /// greedy as few as --memory allows]
    #[arg(long, value_name = "COUNT", help_heading = "Beyond memory",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub leaves: Option<usize>,
}

impl BlockArgs {
    /// Whether one of these options asks for reading block by block.
    pub fn is_asked(&self) -> bool {
        self.stream || self.leaves.is_some() || self.reservoir.is_some()
    }
}
