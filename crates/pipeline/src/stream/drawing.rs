//! Drawing rows in proportion to scores that arrive block by block.

use super::points::PointRows;
use super::processes::Ranks;
use crate::error::Result;
use nystrom::linalg_core::{Streams, validate};
use nystrom::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BinaryHeap;

/// m distinct rows, drawn one after another with probability proportional to the scores of those
/// left: the m smallest of the keys −ln(u_i)/l_i.
///
/// The probabilities are those of [`LeverageProportional`] without replacement, for scores that
/// arrive block by block. u_i depends only on the key and the number of the row, so the result does
/// not depend on how processes share the rows. Memory: m points.
///
/// # Source
/// P. Efraimidis, P. Spirakis, *Weighted random sampling with a reservoir*, Information Processing
/// Letters 97, 2006.
///
/// ```
/// use nystrom::prelude::*;
/// use nystrom_data::{Column, Table};
/// use nystrom_pipeline::{
///     Alone, ColumnOptions, DrawnRows, Error, Family, StreamPoints, TableBlocks,
/// };
/// let a: Vec<f64> = (0..2000).map(|i| f64::from(i * 7 % 2000) / 500.0).collect();
/// let table = Table::new("t", vec![Column::numbers("a", a)]).unwrap();
/// let mut blocks = TableBlocks::new(&table, 500);
/// let stream = StreamPoints { columns: ColumnOptions::default(), reservoir: 300, leaves: 8 };
/// let rng = &mut Pcg64::seed_from_u64(0);
/// let survey = stream.survey(&mut blocks, rng)?;
/// let columns = stream.columns(&survey)?;
/// let recipe = stream.recipe(&survey, columns, Family::Gaussian.kernel(0.5, 1)?);
/// let dictionary = recipe.disqueak_over(&Alone, &mut blocks, (1e-3, SqueakParams::new(8)), rng)?;
/// let mut drawn = DrawnRows::new(20, rng);
/// recipe.scores_over(&Alone, &mut blocks, (&dictionary, 1e-3), |rows, scores| {
///     drawn.offer(rows, scores);
///     Ok::<(), Error>(())
/// })?;
/// let drawn = drawn.merge_over(&Alone)?.unwrap();
/// assert!(drawn.len() == 20 && drawn.iter().all(|row| row.row < 2000 && row.point.len() == 1));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Serialize, Deserialize)]
pub struct DrawnRows {
    count: usize,
    streams: Streams,
    /// The largest key first.
    kept: BinaryHeap<DrawnRow>,
}

/// A row that was drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawnRow {
    key: f64,
    /// The number of the row among all rows, from 0.
    pub row: u64,
    /// The line of the row, as in [`PointRows`].
    pub line: u64,
    /// The d features of the row.
    pub point: Vec<f64>,
}

impl Eq for DrawnRow {}

impl PartialOrd for DrawnRow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DrawnRow {
    /// In the order of drawing.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.total_cmp(&other.key).then(self.row.cmp(&other.row))
    }
}

impl DrawnRows {
    /// Starts drawing `count` rows.
    ///
    /// # Randomness
    /// One key.
    pub fn new(count: usize, rng: &mut dyn Rng) -> DrawnRows {
        DrawnRows { count, streams: Streams::from_rng(rng), kept: BinaryHeap::new() }
    }

    /// Offers rows with their scores. Rows with score 0 are never drawn.
    pub fn offer(&mut self, rows: &PointRows, scores: &[f64]) {
        let points = rows.points();
        for (i, &score) in scores.iter().enumerate().filter(|(_, score)| **score > 0.0) {
            let u: f64 = self.streams.stream(rows.rows[i]).random();
            let key = -(1.0 - u).ln() / score; // 1 − u lies in (0, 1]
            if self.kept.len() == self.count && self.kept.peek().is_none_or(|last| key > last.key) {
                continue;
            }
            let point = (0..points.dim()).map(|k| points.coordinate(i, k)).collect();
            self.admit(DrawnRow { key, row: rows.rows[i], line: rows.lines[i], point });
        }
    }

    fn admit(&mut self, row: DrawnRow) {
        self.kept.push(row);
        if self.kept.len() > self.count {
            self.kept.pop();
        }
    }

    /// On process 0, the rows drawn from those that all processes of a job offered, in the order of
    /// drawing; `None` on the other processes.
    ///
    /// # Errors
    /// [`TooMany`](nystrom::Error::TooMany) if fewer than `count` rows have a positive score.
    pub fn merge_over(self, ranks: &dyn Ranks) -> Result<Option<Vec<DrawnRow>>> {
        let merge = |all: &mut DrawnRows, later: DrawnRows| {
            later.kept.into_iter().for_each(|row| all.admit(row));
        };
        let Some(all) = ranks.merge(self, merge)? else { return Ok(None) };
        validate::at_most("rows of positive score", all.count, all.kept.len())?;
        Ok(Some(all.kept.into_sorted_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::stream::Alone;
    use std::collections::HashMap;

    /// Ordered pairs of four rows over 40,000 draws: i then j with probability
    /// w_i/W · w_j/(W − w_i). Each of the twelve counts is within 5.6 deviations, all of them with
    /// 1 − 12·2.2e-8.
    #[test]
    fn rows_are_drawn_in_proportion_to_their_scores() {
        let (weights, draws) = ([1.0, 2.0, 3.0, 4.0, 0.0], 40_000);
        let (mut rows, rng) = (PointRows::default(), &mut Pcg64::seed_from_u64(2));
        (rows.rows, rows.lines) = ((0..5).collect(), (1..6).collect());
        let mut counts: HashMap<(u64, u64), f64> = HashMap::new();
        for _ in 0..draws {
            let mut drawn = DrawnRows::new(2, rng);
            drawn.offer(&rows, &weights);
            let pair = drawn.merge_over(&Alone).unwrap().unwrap();
            *counts.entry((pair[0].row, pair[1].row)).or_default() += 1.0;
        }
        assert_eq!(counts.len(), 12);
        for ((i, j), count) in counts {
            let (first, second) = (weights[i as usize], weights[j as usize]);
            let p = first / 10.0 * second / (10.0 - first);
            let (mean, deviation) =
                (p * f64::from(draws), (f64::from(draws) * p * (1.0 - p)).sqrt());
            assert!((count - mean).abs() < 5.6 * deviation, "{i}, {j}: {count} for {mean}");
        }
        let mut drawn = DrawnRows::new(5, rng);
        drawn.offer(&rows, &weights);
        let error = drawn.merge_over(&Alone).unwrap_err();
        assert!(matches!(error, Error::Numerics(nystrom::Error::TooMany { .. })), "{error}");
    }
}
