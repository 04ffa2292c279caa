//! The greedy choice of rows that come in blocks: GreeDi over the parts of a table.

use super::points::{PointRecipe, PointRows, TILE};
use super::processes::{Ranks, share_of};
use super::sections::wrong;
use super::source::TableSource;
use crate::error::{Error, Result};
use nystrom::faer::MatRef;
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
    rows: Vec<u64>,
    lines: Vec<u64>,
    /// d numbers for each candidate.
    x: Vec<f64>,
}

/// The rows of a part, until it is complete.
struct Part {
    rows: Vec<u64>,
    lines: Vec<u64>,
    x: Vec<f64>,
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
        let (greedy, x) = (DistributedGreedy::new(size)?, Vec::new());
        let mut found = Candidates { greedy, rows: Vec::new(), lines: Vec::new(), x };
        let start = self.start_of(mine.start, parts);
        // with more parts than tiles, some parts have no rows
        let ends: BTreeSet<u64> = mine.map(|part| self.start_of(part + 1, parts)).collect();
        let end = ends.last().copied().unwrap_or(start);
        let mut part = Part::of(rows_of_part(self.rows(), parts), self.dim());
        self.each(source, start..end, |tile| -> Result<()> {
            part.append(tile);
            let next = tile.first + tile.rows.len() as u64;
            if ends.contains(&next) {
                found.add(self, &part, next)?;
                part.clear();
            }
            Ok(())
        })?;
        let merge = |all: &mut Candidates, later| all.merge(later, self.dim());
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

    /// Points of this recipe, d numbers each.
    fn points_of<'a>(&self, x: &'a [f64]) -> Points<'a, f64> {
        let d = self.dim();
        Points::from_cols(MatRef::from_column_major_slice(x, d, x.len() / d))
    }
}

/// The most of n rows that a part has.
fn rows_of_part(n: u64, parts: u64) -> u64 {
    n.div_ceil(parts.max(1)).saturating_add(TILE).min(n)
}

impl Part {
    /// Empty, with memory for `rows` rows of d features.
    fn of(rows: u64, d: usize) -> Self {
        let (rows, numbers) = (rows as usize, || Vec::with_capacity(rows as usize));
        Part { rows: numbers(), lines: numbers(), x: Vec::with_capacity(rows * d) }
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.lines.clear();
        self.x.clear();
    }

    fn append(&mut self, tile: &PointRows) {
        self.rows.extend_from_slice(&tile.rows);
        self.lines.extend_from_slice(&tile.lines);
        self.x.extend_from_slice(tile.features());
    }
}

impl Candidates {
    /// Adds the candidates of a part that ends before used row `end`.
    fn add(&mut self, recipe: &PointRecipe, part: &Part, end: u64) -> Result<()> {
        let block = KernelMatrix::new(recipe.kernel(), recipe.points_of(&part.x))?;
        let chosen = self.greedy.add(&block, end - part.rows.len() as u64)?;
        let d = recipe.dim();
        self.x.reserve_exact(chosen.len() * d);
        for i in chosen {
            self.rows.push(part.rows[i]);
            self.lines.push(part.lines[i]);
            self.x.extend_from_slice(&part.x[i * d..][..d]);
        }
        Ok(())
    }

    /// Adds the candidates that another process sent, at points of d features.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if they have another k, or not one row, one line and d features each.
    fn merge(&mut self, later: Candidates, d: usize) -> Result<()> {
        let count = later.greedy.candidates().len();
        let fits = later.rows.len() == count
            && later.lines.len() == count
            && count.checked_mul(d) == Some(later.x.len());
        if !fits {
            let problem = "the greedy candidates of a process do not have one row, one line and \
                           the features of one point each; run the same version on every process";
            return Err(wrong(problem));
        }
        self.greedy.merge(later.greedy).map_err(wrong)?;
        self.rows.extend(later.rows);
        self.lines.extend(later.lines);
        self.x.extend(later.x);
        Ok(())
    }

    fn finish(&self, recipe: &PointRecipe) -> Result<GreedyRows> {
        let among = KernelMatrix::new(recipe.kernel(), recipe.points_of(&self.x));
        let chosen = self.greedy.finish(&among.map_err(Error::from)?)?;
        let of = |numbers: &[u64]| chosen.positions.iter().map(|&i| numbers[i]).collect();
        let (rows, lines, candidates) = (of(&self.rows), of(&self.lines), self.rows.len());
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
        Candidates { greedy, rows: vec![0, 1], lines: vec![2, 3], x: vec![0.5; 6] }
    }

    /// What another process sends is checked: it would panic in `finish`.
    #[test]
    fn candidates_of_another_process_are_checked() {
        let merged = |later: Candidates| {
            let mut all = candidates(2);
            all.merge(later, 3).map(|()| all.rows.len())
        };
        assert_eq!(merged(candidates(2)).unwrap(), 4);
        let refused = [
            candidates(3),
            Candidates { rows: vec![0], ..candidates(2) },
            Candidates { lines: vec![2, 3, 4], ..candidates(2) },
            Candidates { x: vec![0.5; 5], ..candidates(2) },
            Candidates { x: vec![0.5; 4], ..candidates(2) },
        ];
        for later in refused {
            let error = merged(later).unwrap_err();
            assert!(matches!(error, Error::Checkpoint { .. }), "{error}");
        }
    }
}
