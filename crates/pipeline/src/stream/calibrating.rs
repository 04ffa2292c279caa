//! Calibrates the probabilities of classes for the model of all rows.

use super::Recipe;
use super::class_sample::{ClassSample, key};
use crate::classes::{Calibration, ClassErrors};
use crate::target::in_units;
use nystrom::faer::{Mat, MatRef};

impl Recipe {
    /// The same recipe without the rows of the sample on which an iterative fit calibrates
    /// probabilities; `None` for a regression.
    pub(super) fn with_held_out(&self) -> Option<Recipe> {
        let held = self.sample.as_ref()?.to_hold();
        Some(Recipe { held, ..self.clone() })
    }

    /// The weights of these rows, 0 for the rows to leave out.
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

    /// The calibration on the values of a sample in standard units, and the errors of its
    /// probabilities.
    pub(super) fn calibrated(
        &self,
        sample: &ClassSample,
        values: Mat<f64>,
    ) -> (Calibration, ClassErrors) {
        let values = in_units(values, &self.facts.targets);
        let classes = self.model.classes.as_ref().map_or(2, |classes| classes.names.len());
        let weights = Some(&sample.weights[..]);
        Calibration::with_errors(values.as_ref(), &sample.labels, weights, classes)
    }
}
