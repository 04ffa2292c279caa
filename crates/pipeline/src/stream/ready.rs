//! Blocks as a regression takes them.

use super::features::features;
use super::recipe::Recipe;
use super::survey::weights;
use crate::error::Result;
use crate::problem::{taken, usable};
use crate::target::in_standard_units;
use nystrom::faer::Mat;
use nystrom::krr::Problem;
use nystrom::prelude::*;
use nystrom_data::Table;
use std::ops::Range;

/// The rows of a block that are used.
pub(super) struct Ready {
    x: Mat<f64>,
    y: Mat<f64>,
    weights: Option<Vec<f64>>,
    /// Their numbers in the block.
    pub rows: Vec<usize>,
}

impl Ready {
    pub fn problem(&self, rows: Range<usize>) -> Problem<'_, f64> {
        Problem {
            x: Points::from_rows(self.x.as_ref()).slice(rows.clone()),
            y: self.y.as_ref().subrows(rows.start, rows.len()),
            weights: self.weights.as_ref().map(|w| &w[rows]),
        }
    }
}

impl Recipe {
    /// Features, mapped, targets about 0 and weights about 1.
    pub(super) fn ready(&self, block: &Table) -> Result<Ready> {
        let (fit, model) = (&self.fit, &self.model);
        let names = self.names();
        let taken = taken(fit, &names)?;
        let (rows, _) = usable(fit, block, &names, &taken, model.classes.is_some())?;
        let chosen = block.select_rows(&rows)?;
        let x = features(&model.columns, &chosen)?;
        let weights = weights(fit, block, &rows)?;
        let weights = weights.map(|w| w.into_iter().map(|w| w / self.mean_weight).collect());
        let (y, weights) = match &model.classes {
            Some(classes) => {
                let of = classes.of(chosen.column(classes.target.as_str())?)?;
                (self.indicators(&of), self.without_held(x.as_ref(), &of, weights))
            }
            None => (in_standard_units(&chosen, &self.targets)?, weights),
        };
        Ok(Ready { x: model.mapped(x), y, weights, rows })
    }

    /// ±1 for each function, in the scale of the target, of rows of these classes.
    pub(super) fn indicators(&self, of: &[usize]) -> Mat<f64> {
        let classes = self.model.classes.as_ref().map_or(0, |classes| classes.names.len());
        let first = classes - self.targets.len().min(classes);
        let sign = |i: usize, j: usize| if of[i] == first + j { 1.0 } else { -1.0 };
        let scaled = |i, j: usize| (sign(i, j) - self.targets[j].mean) / self.targets[j].scale;
        Mat::from_fn(of.len(), self.targets.len(), scaled)
    }
}
