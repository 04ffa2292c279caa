//! Prepares blocks for a regression.

use super::features::features;
use super::first_pass::place;
use super::recipe::Recipe;
use crate::columns::{Applied, Known, Note};
use crate::error::Result;
use crate::examples::Examples;
use crate::numbers::{weights_of, with_numbers};
use crate::problem::{taken, usable};
use crate::target::{in_standard_units, indicators};
use nystrom::faer::Mat;
use nystrom_data::Table;
use std::borrow::Cow;

/// The rows of a block that are used.
pub(super) struct PreparedBlock {
    pub examples: Examples,
    /// Notes about unexpected cells.
    pub notes: Vec<Note>,
}

/// The rows of a block that are used, with their targets and weights.
pub(super) struct TargetRows {
    pub table: Table,
    /// The targets in standard units.
    pub y: Mat<f64>,
    /// The weights, with mean 1 over all rows.
    pub weights: Option<Vec<f64>>,
    /// The class of each row, if the target has classes.
    labels: Option<Vec<usize>>,
}

impl Recipe {
    /// The numbers of the used rows of a block, and the rows with their targets.
    pub(super) fn targets_of(&self, block: &Table) -> Result<(Vec<usize>, TargetRows)> {
        let (fit, model) = (&self.fit, &self.model);
        let names = self.names();
        let taken = taken(fit, &names)?;
        let block = match model.classes {
            Some(_) => Cow::Borrowed(block),
            None => with_numbers(block, &names)?,
        };
        let (rows, _) = usable(fit, &block, (&names, &taken), model.classes.is_some(), None)?;
        let table = block.select_rows(&rows)?;
        let weights = weights_of(fit, &block, &rows, place)?;
        let weights = weights.map(|w| w.into_iter().map(|w| w / self.facts.mean_weight).collect());
        let of_classes = model.classes.as_ref();
        let labels = of_classes.map(|classes| classes.of(table.column(classes.target.as_str())?));
        let labels = labels.transpose()?;
        let y = match &labels {
            Some(labels) => self.indicators(labels),
            None => in_standard_units(&table, &self.facts.targets)?,
        };
        Ok((rows, TargetRows { table, y, weights, labels }))
    }

    /// The numbers of the used rows of a block, and the rows with mapped features, standardised
    /// targets and weights.
    pub(super) fn prepare(&self, block: &Table) -> Result<(Vec<usize>, PreparedBlock)> {
        let (rows, TargetRows { table, y, weights, labels }) = self.targets_of(block)?;
        let known = Known { y: y.as_ref(), weights: weights.as_deref() };
        let Applied { x, notes } = features(&self.model.columns, &table, Some(known))?;
        let weights = match &labels {
            Some(labels) => self.without_held(x.as_ref(), labels, weights),
            None => weights,
        };
        let examples = Examples { x: self.model.mapped(x).into(), y, weights };
        Ok((rows, PreparedBlock { examples, notes }))
    }

    /// The standardised targets ±1 of each function, for rows of these classes.
    pub(super) fn indicators(&self, of: &[usize]) -> Mat<f64> {
        let classes = self.model.classes.as_ref().map_or(0, |classes| classes.names.len());
        indicators(classes, &self.facts.targets, of)
    }
}
