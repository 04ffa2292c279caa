//! Commands on tables that are read block by block, since they are in several files or too large
//! for memory, and on the processes of an MPI job.
//!
//! [`is_due`] tells whether a command needs this folder instead of its file in `commands/`. Every
//! command opens the files (`input.rs`). All others but `predict` and `evaluate` divide the
//! memory allowed (`sizes.rs`) and make a first pass (`block_fit.rs`), which surveys the columns
//! and draws a uniform sample; kernel and landmarks are chosen from this sample. Later passes
//! compute sums (`passes.rs`), iterate (`iterate.rs`), bound the distance to exact regression
//! (`certify.rs`), or make a dictionary (`points.rs`); `checkpoint.rs` saves the work of a fit.
//! With several processes, each reads a part of the files and all learn whether a step failed on
//! one of them (`process_files.rs`), and process 0 writes the results in the order of the rows
//! (`ordered_output.rs`). The program `nystrom` runs the same code on one process.

mod block_fit;
mod certify;
mod checkpoint;
mod embed;
mod fit;
mod input;
mod iterate;
mod landmarks;
mod ordered_output;
mod passes;
mod points;
mod predict;
mod process_files;
mod sample;
mod scores;
mod sizes;
mod two_sample;
mod watch;

use crate::args::{Bytes, Command, Evaluate, PointArgs, Predict, Sampler};
use crate::failure::{self, Result, usage};
use nystrom_pipeline::Ranks;
use std::path::Path;

/// Files up to this many bytes are read as a whole, whatever the value of `--memory`.
const SMALL: u64 = 64 << 20;
/// The bytes of memory assumed for each byte of an uncompressed file.
const IN_MEMORY: u64 = 4;
/// The bytes of memory assumed for each byte of a compressed file.
const COMPRESSED: u64 = 20;

/// Runs a command on the processes of a job, and returns the exit status.
pub fn run_on_ranks(command: &Command, ranks: &dyn Ranks) -> Result<u8> {
    match command {
        Command::Fit(args) => return fit::run_on_ranks(args, ranks),
        Command::Predict(args) => predict::predict_on_ranks(args, ranks)?,
        Command::Evaluate(args) => predict::evaluate_on_ranks(args, ranks)?,
        Command::Scores(args) => scores::run_on_ranks(args, ranks)?,
        Command::Landmarks(args) => landmarks::run_on_ranks(args, ranks)?,
        Command::Sample(args) => sample::run_on_ranks(args, ranks)?,
        Command::Embed(args) => embed::run_on_ranks(args, ranks)?,
        Command::Test(args) => two_sample::run_on_ranks(args, ranks)?,
        _ => {
            // all processes find the same error; one of them prints it
            if ranks.rank() == 0 {
                failure::report(&usage(
                    "on several processes there are `fit`, `predict`, `evaluate`, `scores`, \
                     `landmarks`, `sample`, `embed` and `test`; use `nystrom` for the other \
                     commands",
                ));
            }
            return Ok(failure::USAGE);
        }
    }
    Ok(0)
}

/// Whether DATA is a folder or a pattern.
fn is_many(data: &Path) -> bool {
    let is_pattern = data.to_string_lossy().contains(['*', '?', '[']) && !data.exists();
    data.is_dir() || is_pattern
}

/// Whether a command reads its table block by block.
pub fn is_due(command: &Command) -> Result<bool> {
    let of_points = |args: &PointArgs| (args.blocks.is_asked(), args.run.memory);
    // the last: whether a table in one file is read so if it exceeds --memory
    let ((asked, memory), data, by_size) = match command {
        Command::Fit(args) => {
            ((args.stream.is_asked(), args.run.memory), &args.data, !args.rows.sparse)
        }
        Command::Scores(args) => (of_points(&args.of), &args.of.data, !args.rows.sparse),
        Command::Landmarks(args) => (of_points(&args.of), &args.of.data, !args.rows.sparse),
        Command::Embed(args) => (of_points(&args.of), &args.of.data, !args.rows.sparse),
        Command::Sample(args) => {
            let by_size = !args.rows.sparse && args.method == Sampler::Greedy;
            (of_points(&args.of), &args.of.data, by_size)
        }
        Command::Test(args) => (of_points(&args.of), &args.of.data, true),
        Command::Predict(Predict { of, .. }) | Command::Evaluate(Evaluate { of, .. }) => {
            ((of.stream, None), &of.data, false)
        }
        _ => return Ok(false),
    };
    let mut tables = vec![&*data.data];
    if let Command::Test(args) = command {
        tables.push(&args.other);
    }
    let asked = asked || tables.iter().any(|table| is_many(table));
    if asked && by_size {
        tables.iter().try_for_each(|table| check_again(table))?;
    }
    let exceeds = |memory: Bytes| by_size && exceed(&tables, memory.0);
    Ok(asked || memory.is_some_and(exceeds))
}

/// Whether tables need more than the memory allowed.
fn exceed(tables: &[&Path], memory: u64) -> bool {
    let bytes = |table: &&Path| std::fs::metadata(table).map_or(0, |metadata| metadata.len());
    let needed = |table: &&Path| {
        let compressed =
            table.extension().is_some_and(|e| e == "gz" || e == "zst" || e == "parquet");
        bytes(table).saturating_mul(if compressed { COMPRESSED } else { IN_MEMORY })
    };
    let sum = |of: &dyn Fn(&&Path) -> u64| tables.iter().map(of).fold(0, u64::saturating_add);
    sum(&bytes) > SMALL && sum(&needed) > memory
}

/// Refuses standard input, which cannot be read twice.
pub fn check_again(data: &Path) -> Result<()> {
    if data == Path::new("-") {
        return Err(usage("standard input cannot be read twice; save it to a file"));
    }
    Ok(())
}
