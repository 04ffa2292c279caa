//! Probabilities of classes that fit the last model.

use super::Recipe;
use super::class_sample::{ClassSample, key};
use crate::classes::{Calibration, ClassErrors};
use crate::target::in_units;
use nystrom::faer::{Mat, MatRef};

impl Recipe {
    /// The recipe whose fit leaves out the rows of the sample that an iterative fit calibrates
    /// probabilities on; nothing of a regression.
    pub(super) fn with_held_out(&self) -> Option<Recipe> {
        let held = self.sample.as_ref()?.to_hold();
        Some(Recipe { held, ..self.clone() })
    }

    /// Weights that are 0 in rows to be left out.
    pub(super) fn without_held(
        &self,
        x: MatRef<'_, f64>,
        of: &[usize],
        weights: Option<Vec<f64>>,
    ) -> Option<Vec<f64>> {
        if self.held.is_empty() {
            return weights;
        }
        let mut weights = weights.unwrap_or_else(|| vec![1.0; of.len()]);
        for (row, weight) in weights.iter_mut().enumerate() {
            if self.held.contains(&key(x.row(row).iter(), of[row])) {
                *weight = 0.0;
            }
        }
        Some(weights)
    }

    /// The probabilities of these values (in standard units) of a sample, and their errors.
    pub(super) fn calibrated(
        &self,
        sample: &ClassSample,
        values: Mat<f64>,
    ) -> (Calibration, ClassErrors) {
        let values = in_units(values, &self.facts.targets);
        let classes = self.model.classes.as_ref().map_or(2, |classes| classes.names.len());
        let weights = Some(&sample.weights[..]);
        Calibration::with_errors(values.as_ref(), sample.labels(), weights, classes)
    }
}
