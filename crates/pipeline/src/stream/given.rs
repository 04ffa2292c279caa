//! A kernel that was named, in the place of a search.

use super::{StreamFit, Survey, problem};
use crate::columns::Shape;
use crate::error::{Error, Result};
use crate::kernel::Family;
use crate::model::{Made, Model};
use nystrom::kernels::median_heuristic;
use nystrom::krr::lambda_grid;
use nystrom::linalg_core::random;
use nystrom::prelude::*;

/// Landmarks of the fit to the reservoir.
const FEW: usize = 300;
/// Pairs of rows for a median distance.
const PAIRS: usize = 1000;

impl StreamFit {
    /// The model of the reservoir with a kernel of this family and length scale (none: the median
    /// distance), λ by leave-one-out.
    ///
    /// # Errors
    /// As [`search`](Self::search); [`Error::Option`] for classes, whose probabilities a search
    /// finds.
    ///
    /// # Randomness
    /// As [`search`](Self::search), the pairs of the median distance, and landmarks.
    pub fn given(
        &self,
        survey: &Survey,
        (family, scale): (Family, Option<f64>),
        rng: &mut dyn Rng,
    ) -> Result<Model> {
        let problem = problem(&self.fit, survey, rng)?;
        if problem.labels.is_some() {
            let problem = "with a given kernel there are no probabilities of classes; leave the \
                           kernel out, or take the classes for numbers";
            return Err(Error::Option { option: "task", problem: problem.into() });
        }
        let (columns, x) = problem.features(&self.fit.columns, Shape::Plain)?;
        let points = Points::from_rows(x.as_ref());
        let scale = match scale {
            Some(scale) => scale,
            None if family.has_scale() => median_heuristic(points, PAIRS, rng)?,
            None => 1.0,
        };
        let kernel = family.kernel(scale, x.ncols())?;
        let n = x.nrows();
        let landmarks = Landmarks::new(n, random::uniform_subset(n, FEW.min(n), rng)?)?;
        let y = nystrom::krr::Problem {
            x: points,
            y: problem.y.as_ref(),
            weights: problem.weights.as_deref(),
        };
        let ridges = lambda_grid(1e-1, 1e-10, 28)?;
        let path = NystromKrr::without_ridge(kernel).path(y, &landmarks, &ridges)?;
        let regression = path.model_at(path.best_by_loo().ridge)?;
        let layout = problem.table.names().map(str::to_owned).collect();
        let made = Made { version: env!("CARGO_PKG_VERSION").to_owned(), ..Made::default() };
        Model::new(columns, layout, problem.targets, None, regression, made)
    }
}
