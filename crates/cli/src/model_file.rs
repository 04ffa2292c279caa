//! Writing and reading model files.

use crate::args::Output;
use crate::failure::{Failure, Result};
use nystrom_pipeline::Model;
use std::path::Path;

/// Writes the whole model file or leaves `output` as it was; returns the size of the file in bytes.
pub fn save(model: &Model, output: &Output) -> Result<u64> {
    let bytes = model.to_bytes()?;
    crate::output::write(output, &bytes)?;
    Ok(bytes.len() as u64)
}

/// Reads a model file of this version or an earlier one.
pub fn load(path: &Path) -> Result<Model> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        let problem = format!("cannot be read ({error}); check the path");
        Failure::Model { file: file.clone(), problem }
    })?;
    Model::from_bytes(&bytes)
        .map_err(|error| Failure::Model { file, problem: error.to_string() }.into())
}
