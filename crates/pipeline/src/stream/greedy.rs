//! The greedy choice of rows that come in blocks: GreeDi over the parts of a table.

use super::points::{PointRecipe, PointRows, TILE};
use super::processes::{Ranks, share_of};
use super::sections::wrong;
use super::source::TableSource;
use crate::error::{Error, Result};
use nystrom::prelude::*;
use nystrom::sketch::DistributedGreedy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Rows that [`PointRecipe::greedy_over`] chose, in the order of the choice.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GreedyRows {
    /// The number of each row among all rows, from 0.
    pub rows: Vec<u64>,
    /// The line of each row, as in [`PointRows`].
    pub lines: Vec<u64>,
    /// ln det K_CC of these rows.
    pub log_det: f64,
    /// The number of rows that the first round chose, from all parts.
    pub candidates: usize,
}

/// The candidates of the parts so far, with their points.
#[derive(Debug, Serialize, Deserialize)]
struct Candidates {
    greedy: DistributedGreedy,
    rows: PointRows,
}

impl PointRecipe {
    /// `size` rows C with a large ln det K_CC, chosen greedily in one pass by
    /// [`DistributedGreedy`]: `size` candidates from each of `parts` parts of the rows, then `size`
    /// rows from all candidates. The result is on process 0, `None` on the others.
    ///
    /// The parts are tiles of 1024 rows that follow one another. At most as many processes as parts
    /// share the pass. The result depends on the rows, their order and the number of parts, not on
    /// blocks, files, threads or processes.
    ///
    /// # Cost
    /// With n rows: at most about n·size kernel values and n·size² flops, then as much for the
    /// `parts`·size candidates. [`greedy_bytes`](Self::greedy_bytes) of memory.
    ///
    /// # Source
    /// That of [`DistributedGreedy`].
    ///
    /// # Errors
    /// Those of the source and of [`DistributedGreedy`], and errors for rows that differ from those
    /// of the first pass and for candidates of another process that are not of this choice.
    /// [`Empty`](nystrom::Error::Empty) if `size` or `parts` is 0.
    ///
    /// ```
    /// use nystrom::prelude::*;
    /// use nystrom_data::{Column, Table};
    /// use nystrom_pipeline::{Alone, Family, StreamPoints, TableBlocks};
    /// let a: Vec<f64> = (0..3000).map(|i| f64::from(i * 7 % 3000) / 500.0).collect();
    /// let table = Table::new("t", vec![Column::numbers("a", a)]).unwrap();
    /// let mut blocks = TableBlocks::new(&table, 500);
    /// let stream = StreamPoints { reservoir: 300, ..StreamPoints::default() };
    /// let survey = stream.survey(&mut blocks, &mut Pcg64::seed_from_u64(0))?;
    /// let columns = stream.columns(&survey)?;
    /// let recipe = stream.recipe(&survey, columns, Family::Gaussian.kernel(0.2, 1)?);
    /// let chosen = recipe.greedy_over(&Alone, &mut blocks, 5, 3)?.unwrap();
    /// assert!(chosen.rows.len() == 5 && chosen.candidates == 15);
    /// assert!(chosen.log_det > -0.1);
    /// # Ok::<(), nystrom_pipeline::Error>(())
    /// ```
    pub fn greedy_over(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        size: usize,
        parts: u64,
    ) -> Result<Option<GreedyRows>> {
        nystrom::linalg_core::validate::not_empty("parts", parts as usize)?;
        let mine = share_of(ranks, parts);
        let (greedy, d) = (DistributedGreedy::new(size)?, self.dim());
        let mut found = Candidates { greedy, rows: PointRows::with_capacity(0, d) };
        let start = self.start_of(mine.start, parts);
        // with more parts than tiles, some parts have no rows
        let ends: BTreeSet<u64> = mine.map(|part| self.start_of(part + 1, parts)).collect();
        let end = ends.last().copied().unwrap_or(start);
        let most = rows_of_part(self.rows(), parts) as usize;
        let mut part = PointRows { first: start, ..PointRows::with_capacity(most, d) };
        self.each(source, start..end, |tile| -> Result<()> {
            part.extend(tile, 0..tile.rows.len());
            let next = tile.first + tile.rows.len() as u64;
            if ends.contains(&next) {
                found.add(self, &part)?;
                part.clear(next);
            }
            Ok(())
        })?;
        let merge = |all: &mut Candidates, later| all.merge(later, d);
        let Some(found) = ranks.try_merge(found, merge)? else { return Ok(None) };
        found.finish(self).map(Some)
    }

    /// An upper estimate of the bytes that [`greedy_over`](Self::greedy_over) allocates for n rows
    /// of d features: for the largest part beside the candidates' points, then for the choice among
    /// the candidates.
    pub fn greedy_bytes([n, d]: [u64; 2], size: usize, parts: u64) -> u64 {
        let (of_point, of_row) = (8 * (d + 2), 8 * (d + size as u64 + 9));
        let candidates = parts.saturating_mul(size as u64).min(n);
        let first = of_row.saturating_mul(rows_of_part(n, parts));
        let first = first.saturating_add(of_point.saturating_mul(candidates));
        first.max(of_row.saturating_mul(candidates))
    }

    /// The number of the first used row of a part.
    fn start_of(&self, part: u64, parts: u64) -> u64 {
        let tiles = self.rows().div_ceil(TILE);
        let tile = (u128::from(part) * u128::from(tiles) / u128::from(parts)) as u64;
        (tile * TILE).min(self.rows())
    }
}

/// The most of n rows that a part has.
fn rows_of_part(n: u64, parts: u64) -> u64 {
    n.div_ceil(parts.max(1)).saturating_add(TILE).min(n)
}

impl Candidates {
    /// Adds the candidates of a part.
    fn add(&mut self, recipe: &PointRecipe, part: &PointRows) -> Result<()> {
        let block = KernelMatrix::new(recipe.kernel(), part.points())?;
        let chosen = self.greedy.add(&block, part.first)?;
        self.rows.extend(part, chosen.into_iter());
        Ok(())
    }

    /// Adds the candidates that another process sent, at points of d features.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if they have another k, or not one row, one line and d features each.
    fn merge(&mut self, later: Candidates, d: usize) -> Result<()> {
        let count = later.greedy.candidates().len();
        if !later.rows.is_sound(count, d) {
            let problem = "the greedy candidates of a process do not have one row, one line and \
                           the features of one point each; run the same version on every process";
            return Err(wrong(problem));
        }
        self.greedy.merge(later.greedy).map_err(wrong)?;
        self.rows.extend(&later.rows, 0..count);
        Ok(())
    }

    fn finish(&self, recipe: &PointRecipe) -> Result<GreedyRows> {
        let among = KernelMatrix::new(recipe.kernel(), self.rows.points());
        let chosen = self.greedy.finish(&among.map_err(Error::from)?)?;
        let of = |numbers: &[u64]| chosen.positions.iter().map(|&i| numbers[i]).collect();
        let PointRows { rows, lines, .. } = &self.rows;
        let (rows, lines, candidates) = (of(rows), of(lines), rows.len());
        Ok(GreedyRows { rows, lines, log_det: chosen.log_det(), candidates })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom::faer::Mat;
    use nystrom::linalg_core::Dense;

    /// Two candidates of k = 2, at points of three features.
    fn candidates(k: usize) -> Candidates {
        let mut greedy = DistributedGreedy::new(k).unwrap();
        let matrix = Mat::<f64>::identity(2, 2);
        greedy.add(&Dense::new(matrix.as_ref()).unwrap(), 0).unwrap();
        Candidates { greedy, rows: rows() }
    }

    fn rows() -> PointRows {
        PointRows { first: 0, rows: vec![0, 1], lines: vec![2, 3], x: vec![0.5; 6], dim: 3 }
    }

    /// What another process sends is checked: it would panic in `finish`.
    #[test]
    fn candidates_of_another_process_are_checked() {
        let merged = |later: Candidates| {
            let mut all = candidates(2);
            all.merge(later, 3).map(|()| all.rows.rows.len())
        };
        assert_eq!(merged(candidates(2)).unwrap(), 4);
        let damaged = [
            PointRows { rows: vec![0], ..rows() },
            PointRows { lines: vec![2, 3, 4], ..rows() },
            PointRows { x: vec![0.5; 5], ..rows() },
            PointRows { x: vec![0.5; 4], ..rows() },
            PointRows { dim: 2, ..rows() },
        ];
        let damaged = damaged.map(|rows| Candidates { rows, ..candidates(2) });
        for later in damaged.into_iter().chain([candidates(3)]) {
            let error = merged(later).unwrap_err();
            assert!(matches!(error, Error::Checkpoint { .. }), "{error}");
        }
    }
}
