//! The scores of all rows against a dictionary.

use super::WeightedRows;
use super::points::{PointRecipe, PointRows, TILE};
use super::ranks::{Alone, Ranks};
use super::source::TableSource;
use crate::error::{Error, Result};
use nystrom::leverage::PointProjector;

impl PointRecipe {
    /// The ridge leverage scores of all rows at λ, by one pass. `take` is called with at most 1024
    /// rows at a time, in their order, and their scores.
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
    pub fn scores<E: From<Error>>(
        &self,
        source: &mut dyn TableSource,
        dictionary: &WeightedRows,
        lambda: f64,
        take: impl FnMut(&PointRows, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.scores_over(&Alone, source, (dictionary, lambda), take)
    }

    /// Like [`scores`](Self::scores), for the share of this process. The rows of each process
    /// follow those of the process before.
    ///
    /// # Errors
    /// Those of [`scores`](Self::scores).
    pub fn scores_over<E: From<Error>>(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        (dictionary, lambda): (&WeightedRows, f64),
        mut take: impl FnMut(&PointRows, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mu = lambda * self.rows as f64;
        let (kernel, weights) = (self.kernel.clone(), dictionary.weights().to_vec());
        let projector = PointProjector::new(kernel, dictionary.points(), weights, mu);
        let projector = projector.map_err(Error::from)?;
        let tiles = self.rows.div_ceil(TILE);
        let cut = |rank: usize| {
            let tile = (rank as u128 * u128::from(tiles)).div_ceil(ranks.size() as u128);
            (tile as u64 * TILE).min(self.rows)
        };
        let mine = cut(ranks.rank())..cut(ranks.rank() + 1);
        self.each(source, mine, |tile| {
            let scores = projector.scores(tile.points()).map_err(Error::from)?;
            take(tile, &scores)
        })
    }
}
