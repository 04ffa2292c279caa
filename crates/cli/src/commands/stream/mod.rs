//! Tables that are read block by block: in several files, or too large for the memory.

pub mod agree;
mod certify;
mod checkpoint;
pub mod fit;
mod input;
mod iterate;
mod job;
pub mod landmarks;
mod model_rows;
mod passes;
mod points;
pub mod predict;
pub mod scores;
mod share;
mod sizes;
mod to;
mod watch;

use crate::args::{DataArgs, RunArgs};
use crate::failure::{Failure, Result};
use std::path::Path;

/// Smaller files are read as a whole whatever `--memory` says.
const SMALL: u64 = 64 << 20;
/// Bytes that work in memory takes for each byte of a file, and more if that is compressed.
const IN_MEMORY: u64 = 4;
const COMPRESSED: u64 = 20;

/// Whether a table is in several files.
pub fn is_many(data: &DataArgs) -> bool {
    let is_pattern = data.data.to_string_lossy().contains(['*', '?', '[']) && !data.data.exists();
    data.data.is_dir() || is_pattern
}

/// Whether a command has to read its table block by block; `asked` if an option says so.
pub fn is_due(data: &DataArgs, asked: bool, run: &RunArgs) -> Result<bool> {
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

/// Refuses what cannot be read twice.
pub fn check_again(data: &DataArgs) -> Result<()> {
    if data.data == Path::new("-") {
        let text = "standard input cannot be read twice; save it to a file";
        return Err(Failure::Usage(text.into()).into());
    }
    Ok(())
}
