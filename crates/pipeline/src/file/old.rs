//! Formats 1 and 2: one JSON object, numbers only, one target.

use super::{damaged, other_format};
use crate::columns::{Aspect, Columns, Curve, Marks, Part, Reading, Treated, Treatment};
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::model::{Made, Model};
use crate::target::Target;
use nystrom::prelude::*;
use nystrom_data::Standardizer;
use serde::Deserialize;

/// What the program called itself in its files.
const PROGRAM: &str = "nystrom";

/// What is read first, so that the wrong file is told from a damaged one.
#[derive(Deserialize)]
struct Header {
    program: Option<String>,
    format: Option<u32>,
}

#[derive(Deserialize)]
struct Old {
    target: String,
    features: Vec<String>,
    /// Since format 2.
    #[serde(default)]
    columns: Vec<String>,
    /// The target's place among the columns; in format 1 only.
    #[serde(default)]
    target_position: usize,
    standardization: Option<Standardizer>,
    made: OldMade,
    model: KrrModel<AnyKernel, f64>,
}

#[derive(Deserialize)]
struct OldMade {
    version: String,
    seed: u64,
    landmarks: String,
    lambda: f64,
    training_rmse: f64,
}

pub(super) fn model(bytes: &[u8]) -> Result<Model> {
    let wrong = |problem: String| Error::File { problem };
    let header: Header = serde_json::from_slice(bytes).map_err(|error| {
        wrong(format!("is not a whole model file ({error}); fit the model again"))
    })?;
    match header {
        Header { program: Some(program), format: Some(1 | 2) } if program == PROGRAM => {}
        Header { program: Some(program), format: Some(found) } if program == PROGRAM => {
            return Err(other_format(found));
        }
        _ => {
            let text =
                "is JSON, but no model of `nystrom fit`; name the model first, then the data";
            return Err(wrong(text.into()));
        }
    }
    let old: Old = serde_json::from_slice(bytes).map_err(damaged)?;
    let mut layout = old.columns;
    if layout.is_empty() {
        layout.clone_from(&old.features);
        layout.insert(old.target_position.min(layout.len()), old.target.clone());
    }
    let OldMade { version, seed, landmarks, lambda, training_rmse } = old.made;
    Ok(Model {
        columns: columns(old.features, old.standardization)?,
        layout,
        targets: vec![Target { name: old.target, mean: 0.0, scale: 1.0 }],
        classes: None,
        conformal: None,
        explanation: None,
        plus: None,
        uncertainty: None,
        map: None,
        regression: old.model,
        made: Made {
            version,
            seed: Some(seed),
            centers: landmarks,
            lambda,
            training_rmse: Some(training_rmse),
            ..Made::default()
        },
    })
}

/// Numbers, standardised if they were.
fn columns(features: Vec<String>, scaling: Option<Standardizer>) -> Result<Columns> {
    let d = features.len();
    let Standardizer { means, scales } =
        scaling.unwrap_or_else(|| Standardizer { means: vec![0.0; d], scales: vec![1.0; d] });
    if means.len() != d {
        return Err(damaged(format!("it standardises {} features, not {d}", means.len())));
    }
    Ok(Columns::numbers(features, &means, &scales))
}

impl Columns {
    /// Numbers that are standardised by these means and scales, one each for a name.
    pub fn numbers(names: Vec<String>, means: &[f64], scales: &[f64]) -> Columns {
        let column = |((name, &mean), &scale): ((String, &f64), &f64)| Treated {
            name,
            reading: Reading::PLAIN,
            parts: vec![Part {
                aspect: Aspect::Number,
                treatment: Treatment::Number {
                    curve: Curve::Plain,
                    fill: None,
                    mean,
                    scale,
                    missing: None,
                },
            }],
        };
        let columns = names.into_iter().zip(means).zip(scales).map(column).collect();
        Columns { columns, dropped: Vec::new(), marks: Marks::default(), targets: Vec::new() }
    }
}
