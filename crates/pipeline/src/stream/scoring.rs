//! The scores of all rows against a dictionary.

use super::WeightedRows;
use super::points::{PointRecipe, PointRows, TILE};
use super::processes::{Ranks, share_of};
use super::source::TableSource;
use crate::error::{Error, Result};
use nystrom::leverage::PointProjector;

impl PointRecipe {
    /// The ridge leverage scores of all rows at λ, by one pass. `take` is called with at most 1024
    /// rows at a time, in their order, and their scores. Each process computes the scores of its
    /// share of the rows, which follow those of the process before.
    ///
    /// The scores are those of [`PointProjector`]. If the dictionary is ε-accurate at nλ, the
    /// computed score τ̃ of a row with exact score τ is between τ/(1 + ε) and τ/(1 − ε).
    ///
    /// # Cost
    /// With m members: nm kernel values and nm² flops.
    ///
    /// # Errors
    /// Those of the source, of [`PointProjector::new`] and of `take`, and errors for rows that
    /// differ from those of the first pass.
    pub fn scores_over<E: From<Error>>(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        (dictionary, lambda): (&WeightedRows, f64),
        mut take: impl FnMut(&PointRows, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let rows = self.rows();
        let mu = lambda * rows as f64;
        let (kernel, weights) = (self.kernel().clone(), dictionary.weights().to_vec());
        let projector = PointProjector::new(kernel, dictionary.points(), weights, mu);
        let projector = projector.map_err(Error::from)?;
        let tiles = rows.div_ceil(TILE);
        let mine = share_of(ranks, tiles);
        let [start, end] = [mine.start, mine.end].map(|tile| (tile * TILE).min(rows));
        self.each(source, start..end, |tile| {
            let scores = projector.scores(tile.points()).map_err(Error::from)?;
            take(tile, &scores)
        })
    }
}
