//! The model file: everything that a prediction needs, in one JSON object.

use crate::failure::{Failure, Result};
use crate::input::Scaling;
use crate::kernel::AnyKernel;
use nystrom::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;

const PROGRAM: &str = "nystrom";
/// Version of the layout; raised whenever that changes. The model inside has one of its own.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
pub struct ModelFile {
    program: String,
    format: u32,
    /// The name of the column that was fitted.
    pub target: String,
    /// Its place among the columns, from 0: where to look for it in a file without names.
    pub target_position: usize,
    /// The names of the features, in the order of the model.
    pub features: Vec<String>,
    /// Applied to the features first.
    pub standardization: Option<Scaling>,
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
        (target, target_position): (String, usize),
        features: Vec<String>,
        standardization: Option<Scaling>,
        made: Made,
    ) -> Self {
        let program = PROGRAM.to_owned();
        ModelFile { program, format: FORMAT, target, target_position, features, standardization, made, model }
    }

    /// Writes it whole or not at all; returns its size.
    pub fn save(&self, path: &Path) -> Result<u64> {
        let bytes = serde_json::to_vec(self)?;
        crate::output::write(path, &bytes)?;
        Ok(bytes.len() as u64)
    }

    pub fn load(path: &Path) -> Result<ModelFile> {
        let wrong = |problem: String| Failure::Model { file: path.display().to_string(), problem };
        let bytes = std::fs::read(path).map_err(|e| wrong(format!("cannot be read ({e}); check the path")))?;
        let header: Header = serde_json::from_slice(&bytes)
            .map_err(|e| wrong(format!("is not a whole model file ({e}); fit the model again")))?;
        match header {
            Header { program: Some(program), format: Some(FORMAT) } if program == PROGRAM => {}
            Header { program: Some(program), format: Some(found) } if program == PROGRAM => {
                let text = format!(
                    "has layout {found}, this program reads {FORMAT}; fit the model again, or use the version that wrote it"
                );
                return Err(wrong(text).into());
            }
            _ => {
                return Err(wrong(
                    "is JSON, but no model of `nystrom fit`; name the model first, then the data".into(),
                )
                .into());
            }
        }
        let model: ModelFile =
            serde_json::from_slice(&bytes).map_err(|e| wrong(format!("is damaged ({e}); fit the model again")))?;
        model.check().map_err(|problem| wrong(format!("is damaged ({problem}); fit the model again")))?;
        Ok(model)
    }

    fn check(&self) -> std::result::Result<(), String> {
        let d = self.model.centers().dim();
        if self.features.len() != d {
            return Err(format!("it names {} features, its centres have {d}", self.features.len()));
        }
        if self.target_position > d {
            return Err(format!("the target is column {} of {}", self.target_position + 1, d + 1));
        }
        if self.model.coefficients().ncols() != 1 {
            return Err(format!("it has {} targets, not one", self.model.coefficients().ncols()));
        }
        let Some(Scaling { means, scales }) = &self.standardization else { return Ok(()) };
        if means.len() != d || scales.len() != d {
            return Err(format!("it standardises {} and {} features, not {d}", means.len(), scales.len()));
        }
        let fine = |(mean, scale): (&f64, &f64)| mean.is_finite() && scale.is_finite() && *scale > 0.0;
        match means.iter().zip(scales).position(|pair| !fine(pair)) {
            Some(j) => Err(format!("feature {:?} has no positive scale", self.features[j])),
            None => Ok(()),
        }
    }
}
