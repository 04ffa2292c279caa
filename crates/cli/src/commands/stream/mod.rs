//! Commands on tables that are read block by block: in several files, or too large for memory.

mod agree;
mod certify;
mod checkpoint;
mod fit;
mod input;
mod iterate;
mod job;
mod landmarks;
mod model_rows;
mod ordered_output;
mod passes;
mod points;
mod predict;
mod scores;
mod share;
mod sizes;
mod watch;

use crate::args::{Command, DataArgs};
use crate::failure::{Failure, Result};
use agree::agree;
use nystrom_pipeline::Ranks;
use std::path::Path;

/// Files up to this many bytes are read as a whole, whatever the value of `--memory`.
const SMALL: u64 = 64 << 20;
/// The bytes of memory assumed for each byte of an uncompressed file.
const IN_MEMORY: u64 = 4;
/// The bytes of memory assumed for each byte of a compressed file.
const COMPRESSED: u64 = 20;

/// Runs a command on the processes of a job, and returns the exit status.
pub fn run_over(command: &Command, ranks: &dyn Ranks) -> Result<u8> {
    match command {
        Command::Fit(args) => return fit::run_over(args, ranks),
        Command::Predict(args) => predict::predict_over(args, ranks)?,
        Command::Evaluate(args) => predict::evaluate_over(args, ranks)?,
        Command::Scores(args) => scores::run_over(args, ranks)?,
        Command::Landmarks(args) => landmarks::run_over(args, ranks)?,
        _ => {
            let text = "on several processes there are `fit`, `predict`, `evaluate`, `scores` and \
                        `landmarks`; use `nystrom` for the other commands";
            agree::<()>(ranks, Err(Failure::Usage(text.into()).into()))?;
        }
    }
    Ok(0)
}

/// Whether DATA is a folder or a pattern.
fn is_many(data: &DataArgs) -> bool {
    let is_pattern = data.data.to_string_lossy().contains(['*', '?', '[']) && !data.data.exists();
    data.data.is_dir() || is_pattern
}

/// Whether a command reads its table block by block.
pub fn is_due(command: &Command) -> Result<bool> {
    let (data, asked, run) = match command {
        Command::Fit(args) => (&args.data, args.stream.is_asked(), &args.run),
        Command::Scores(args) => (&args.data, args.blocks.is_asked(), &args.run),
        Command::Landmarks(args) => (&args.data, args.blocks.is_asked(), &args.run),
        Command::Predict(args) => return Ok(args.stream || is_many(&args.data)),
        Command::Evaluate(args) => return Ok(args.stream || is_many(&args.data)),
        _ => return Ok(false),
    };
    let asked = asked || is_many(data);
    if asked {
        check_again(data)?;
    }
    let Some(memory) = run.memory else { return Ok(asked) };
    let bytes = std::fs::metadata(&data.data).map_or(0, |metadata| metadata.len());
    let compressed =
        data.data.extension().is_some_and(|e| e == "gz" || e == "zst" || e == "parquet");
    let needed = bytes.saturating_mul(if compressed { COMPRESSED } else { IN_MEMORY });
    Ok(asked || (bytes > SMALL && needed > memory.0))
}

/// Refuses standard input, which cannot be read twice.
pub fn check_again(data: &DataArgs) -> Result<()> {
    if data.data == Path::new("-") {
        let text = "standard input cannot be read twice; save it to a file";
        return Err(Failure::Usage(text.into()).into());
    }
    Ok(())
}
