//! The model file: everything that a prediction needs, in one JSON object.

use crate::args::Output;
use crate::failure::{Failure, Result};
use crate::input::Features;
use crate::kernel::AnyKernel;
use nystrom::prelude::*;
use nystrom_data::Standardizer;
use serde::{Deserialize, Serialize};
use std::path::Path;

const PROGRAM: &str = "nystrom";
/// Version of the layout; raised whenever that changes. The model inside has one of its own.
const FORMAT: u32 = 2;
/// The layout before, which had the target's place instead of all columns. It is still read.
const WITHOUT_COLUMNS: u32 = 1;

#[derive(Serialize, Deserialize)]
pub struct ModelFile {
    program: String,
    format: u32,
    /// The name of the column that was fitted.
    pub target: String,
    /// The names of the features, in the order of the model.
    pub features: Vec<String>,
    /// The names of all columns, features, target and those left out for being constant, in the
    /// order of the file that was fitted: what a file without names is taken to hold.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The target's place among the columns, from 0; in files of the layout before only.
    #[serde(default, skip_serializing)]
    target_position: usize,
    /// Applied to the features first.
    pub standardization: Option<Standardizer>,
    /// How it was made.
    pub made: Made,
    pub model: KrrModel<AnyKernel, f64>,
}

/// How a model was made; nothing that differs from run to run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Made {
    pub version: String,
    pub seed: u64,
    pub landmarks: String,
    pub lambda: f64,
    pub training_rmse: f64,
}

/// What is read first, so that the wrong file is told from a damaged one.
#[derive(Deserialize)]
struct Header {
    program: Option<String>,
    format: Option<u32>,
}

impl ModelFile {
    pub fn new(
        model: KrrModel<AnyKernel, f64>,
        target: String,
        columns: Vec<String>,
        features: Features,
        made: Made,
    ) -> Self {
        let program = PROGRAM.to_owned();
        let (format, target_position) = (FORMAT, 0);
        let Features { names: features, scaling: standardization, .. } = features;
        ModelFile {
            program,
            format,
            target,
            features,
            columns,
            target_position,
            standardization,
            made,
            model,
        }
    }

    /// Writes it whole or not at all; returns its size.
    pub fn save(&self, output: &Output) -> Result<u64> {
        let bytes = serde_json::to_vec(self)?;
        match output.file() {
            Some(path) => crate::output::write(path, &bytes)?,
            None => crate::output::print(&bytes)?,
        }
        Ok(bytes.len() as u64)
    }

    pub fn load(path: &Path) -> Result<ModelFile> {
        let wrong = |problem: String| Failure::Model { file: path.display().to_string(), problem };
        let bytes = std::fs::read(path)
            .map_err(|e| wrong(format!("cannot be read ({e}); check the path")))?;
        let header: Header = serde_json::from_slice(&bytes)
            .map_err(|e| wrong(format!("is not a whole model file ({e}); fit the model again")))?;
        match header {
            Header { program: Some(program), format: Some(FORMAT | WITHOUT_COLUMNS) }
                if program == PROGRAM => {}
            Header { program: Some(program), format: Some(found) } if program == PROGRAM => {
                let text = format!(
                    "has layout {found}, this program reads {FORMAT}; fit the model again, or use \
                     the version that wrote it"
                );
                return Err(wrong(text).into());
            }
            _ => {
                return Err(wrong(
                    "is JSON, but no model of `nystrom fit`; name the model first, then the data"
                        .into(),
                )
                .into());
            }
        }
        let mut model: ModelFile = serde_json::from_slice(&bytes)
            .map_err(|e| wrong(format!("is damaged ({e}); fit the model again")))?;
        if model.format == WITHOUT_COLUMNS {
            model.columns.clone_from(&model.features);
            model
                .columns
                .insert(model.target_position.min(model.features.len()), model.target.clone());
        }
        model
            .check()
            .map_err(|problem| wrong(format!("is damaged ({problem}); fit the model again")))?;
        Ok(model)
    }

    fn check(&self) -> std::result::Result<(), String> {
        let d = self.model.centers().dim();
        if self.features.len() != d {
            return Err(format!("it names {} features, its centres have {d}", self.features.len()));
        }
        if let Some(name) =
            self.features.iter().chain([&self.target]).find(|name| !self.columns.contains(name))
        {
            return Err(format!("{name:?} is not among its columns"));
        }
        if self.model.coefficients().ncols() != 1 {
            return Err(format!("it has {} targets, not one", self.model.coefficients().ncols()));
        }
        match &self.standardization {
            Some(scaling) if scaling.means.len() != d => {
                Err(format!("it standardises {} features, not {d}", scaling.means.len()))
            }
            _ => Ok(()),
        }
    }
}
