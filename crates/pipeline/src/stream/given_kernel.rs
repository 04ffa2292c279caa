//! The model of the reservoir with a given kernel, without a search.

use super::{StreamFit, TableSurvey, problem};
use crate::classes::{Calibration, Classes};
use crate::columns::Shape;
use crate::error::Result;
use crate::examples::landmark_path;
use crate::kernel::Family;
use crate::model::{Made, Model};
use crate::target::in_units;
use nystrom::linalg_core::random;
use nystrom::prelude::*;

/// The largest number of landmarks of the fit to the reservoir.
const FEW: usize = 300;

impl StreamFit {
    /// The model of the reservoir with a kernel of this family and length scale (`None`: the median
    /// distance) and λ by leave-one-out, and notes for the user about decisions on the table.
    ///
    /// # Errors
    /// Those of [`search`](Self::search).
    ///
    /// # Randomness
    /// That of [`search`](Self::search), the random pairs of the median distance, and landmarks.
    pub fn with_kernel(
        &self,
        survey: &TableSurvey,
        (family, scale): (Family, Option<f64>),
        rng: &mut dyn Rng,
    ) -> Result<(Model, Vec<String>)> {
        let problem = problem(&self.fit, survey, rng)?;
        let (columns, x) = problem.features(&self.fit.columns, Shape::PLAIN, None)?;
        let points = x.points();
        let kernel = family.kernel_for(points, scale, rng)?;
        let n = points.len();
        let landmarks = Landmarks::new(n, random::uniform_subset(n, FEW.min(n), rng)?)?;
        let y = nystrom::krr::Problem {
            x: points,
            y: problem.y.as_ref(),
            weights: problem.weights.as_deref(),
        };
        let path = landmark_path(kernel, y, &landmarks)?;
        let ridge = path.best_by_loo().ridge; // of the model of the sample; all rows have their own
        let regression = path.model_at(ridge)?;
        let classes = problem.labels.as_ref().map(|labels| -> Result<Classes> {
            let values = &problem.y - path.leave_one_out(ridge, y)?;
            let values = in_units(values, &problem.targets);
            let (weights, count) = (problem.weights.as_deref(), labels.names.len());
            let calibration = Calibration::fit(values.as_ref(), &labels.of, weights, count);
            Ok(labels.classes(calibration))
        });
        let classes = classes.transpose()?;
        let dropped = columns.dropped().iter().map(ToString::to_string);
        let notes = problem.notes.iter().cloned().chain(dropped).collect();
        let layout = problem.table.names().map(str::to_owned).collect();
        let made = Made { version: env!("CARGO_PKG_VERSION").to_owned(), ..Made::default() };
        let model = Model::new(columns, layout, problem.targets, None, regression, made)?;
        Ok((model.with_classes(classes)?, notes))
    }
}
