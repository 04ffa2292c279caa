//! What can be said of tables that are read block by block.

use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct StreamArgs {
    /// Read the table block by block although it would fit in memory. Folders, patterns of several
    /// files and tables too large for --memory are read so in any case
    #[arg(long, help_heading = "Beyond memory")]
    pub stream: bool,
    /// Rows of the uniform sample on which the search works [default: 50000, or fewer where memory
    /// is short]
    #[arg(long, value_name = "ROWS", help_heading = "Beyond memory")]
    pub reservoir: Option<usize>,
    /// Parts of the rows that are summed one by one: as many processes of `nystrom-mpi` can share
    /// the second pass. The last digits of the model depend on it [default: 8]
    #[arg(long, value_name = "COUNT", help_heading = "Beyond memory",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub leaves: Option<usize>,
    /// Every row is a centre: regression on all the data, with a pass for each iteration, of a
    /// given --lambda. Every process holds all rows; n² kernel values a pass are shared out
    #[arg(long, conflicts_with_all = ["landmarks", "leverage_lambda"],
        help_heading = "Beyond memory")]
    pub all_rows: bool,
    /// Folder for what is done so far: the same command goes on from there if it was killed
    #[arg(long, value_name = "DIR", help_heading = "Beyond memory")]
    pub checkpoint: Option<PathBuf>,
    /// Time between checkpoints [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = super::search::seconds,
        requires = "checkpoint", help_heading = "Beyond memory")]
    pub checkpoint_every: Option<f64>,
}

impl StreamArgs {
    /// Whether anything asks for blocks.
    pub fn is_asked(&self) -> bool {
        self.stream
            || self.all_rows
            || self.leaves.is_some()
            || self.reservoir.is_some()
            || self.checkpoint.is_some()
    }
}

/// Of commands that look at rows without a target.
#[derive(Args)]
pub struct BlockArgs {
    /// Read the table block by block although it would fit in memory. Folders, patterns of several
    /// files and tables too large for --memory are read so in any case
    #[arg(long, help_heading = "Beyond memory")]
    pub stream: bool,
    /// Rows of the uniform sample, which gives the bandwidth. Methods other than squeak choose from
    /// it [default: 50000, or fewer where memory is short]
    #[arg(long, value_name = "ROWS", help_heading = "Beyond memory")]
    pub reservoir: Option<usize>,
    /// Parts of the rows of which squeak makes a dictionary each, to merge them: as many processes
    /// of `nystrom-mpi` can share that pass. What is found depends on it [default: 8]
    #[arg(long, value_name = "COUNT", help_heading = "Beyond memory",
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub leaves: Option<usize>,
}

impl BlockArgs {
    /// Whether anything asks for blocks.
    pub fn is_asked(&self) -> bool {
        self.stream || self.leaves.is_some() || self.reservoir.is_some()
    }
}
