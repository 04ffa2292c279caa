//! Commands on tables that are read block by block, since they are in several files or too large
//! for memory, and on the processes of an MPI job.
//!
//! [`is_due`] tells whether a command needs this folder instead of its file in `commands/`. Every
//! command opens the files (`input.rs`). all others but `predict` and `evaluate` divide the
//! memory allowed (`sizes.rs`) and make a first pass (`block_fit.rs`), which surveys the columns
//! and draws a uniform sample; kernel and landmarks are chosen from this sample. Later passes
//! compute sums (`passes.rs`), iterate (`iterate.rs`), bound the distance to exact regression
//! (`certify.rs`), or make a dictionary (`points.rs`); `checkpoint.rs` saves the work of a fit.
//! With several processes, each reads a part of the files (`process_files.rs`), all learn whether
//! a step failed on one of them (`agreement.rs`), and process 0 writes the results in the order of
//! the rows (`ordered_output.rs`). The program `nystrom` runs the same code on one process.

mod agreement;
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

use crate::args::{Command, Embed, Evaluate, LandmarksCommand, Predict, Sample, Sampler, Scores};
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
    let (data, asked, run) = match command {
        Command::Scores(Scores { data, blocks, rows, .. })
        | Command::Landmarks(LandmarksCommand { data, blocks, rows, .. })
        | Command::Sample(Sample { data, blocks, rows, .. })
        | Command::Embed(Embed { data, blocks, rows, .. })
            if rows.sparse =>
        {
            return Ok(blocks.is_asked() || is_many(&data.data));
        }
        Command::Fit(args) if args.rows.sparse => {
            return Ok(args.stream.is_asked() || is_many(&args.data.data));
        }
        Command::Fit(args) => (&args.data, args.stream.is_asked(), &args.run),
        Command::Scores(args) => (&args.data, args.blocks.is_asked(), &args.run),
        Command::Landmarks(args) => (&args.data, args.blocks.is_asked(), &args.run),
        Command::Embed(args) => (&args.data, args.blocks.is_asked(), &args.run),
        Command::Test(args) => {
            let tables = [&*args.data.data, &*args.other];
            let asked = args.blocks.is_asked() || tables.iter().any(|table| is_many(table));
            if asked {
                tables.into_iter().try_for_each(check_again)?;
            }
            return Ok(asked || args.run.memory.is_some_and(|memory| exceed(&tables, memory.0)));
        }
        Command::Sample(args) if args.method == Sampler::Greedy => {
            (&args.data, args.blocks.is_asked(), &args.run)
        }
        Command::Sample(args) => {
            let due = args.blocks.is_asked() || is_many(&args.data.data);
            return Ok(due);
        }
        Command::Predict(Predict { of, .. }) | Command::Evaluate(Evaluate { of, .. }) => {
            return Ok(of.stream || is_many(&of.data.data));
        }
        _ => return Ok(false),
    };
    let asked = asked || is_many(&data.data);
    if asked {
        check_again(&data.data)?;
    }
    Ok(asked || run.memory.is_some_and(|memory| exceed(&[&data.data], memory.0)))
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
