//! Rows without a target, as a kernel sees them.

use super::bytes;
use super::features::features;
use super::places::Places;
use super::ranks::{Alone, Ranks};
use super::source::{TableSource, other_rows};
use super::survey::{Survey, survey_points};
use crate::columns::{ColumnOptions, Columns, Looked, Shape, Training};
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::kernel::AnyKernel;
use crate::problem::usable;
use nystrom::faer::{Mat, MatRef};
use nystrom::linalg_core::RowTree;
use nystrom::prelude::*;
use nystrom_data::Table;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rows that are handed over at once. Used rows are counted, and a multiple of this begins a new
/// tile. So no bit depends on blocks, files or processes.
pub(super) const TILE: u64 = 1024;

/// Ridge leverage scores of all rows of a table that is read block by block, in three passes:
///
/// 1. [`survey`](Self::survey): counts, means and standard deviations of all rows, and a uniform
///    sample of them, from which a length scale follows ([`reservoir`](Self::reservoir));
/// 2. [`PointRecipe::disqueak`]: a dictionary of all rows, by DISQUEAK; or without a pass one of
///    the sample ([`WeightedRows::of_sample`](super::WeightedRows::of_sample));
/// 3. [`PointRecipe::scores`]: the score of every row against it, in order.
///
/// What is found depends on the rows and their order, on the seed and the
/// options. It does not depend on blocks, files or threads, nor on how many processes shared the
/// passes ([`survey_over`](Self::survey_over), [`PointRecipe::disqueak_over`]).
///
/// # Cost
/// Reading; with m members 4.5·nm + nm kernel values and 4.5·nm² + nm² flops of the second and
/// third pass. Memory: the sample, a block, about 96m² bytes while dictionaries are merged, and
/// 16m² bytes at the end.
///
/// ```
/// use nystrom::prelude::*;
/// use nystrom_data::{Column, Table};
/// use nystrom_pipeline::{Family, StreamPoints, TableBlocks};
/// let a: Vec<f64> = (0..3000).map(|i| f64::from(i * 7 % 3000) / 500.0).collect();
/// let table = Table::new("t", vec![Column::numbers("a", a)]).unwrap();
/// let mut blocks = TableBlocks::new(&table, 500);
/// let stream = StreamPoints { reservoir: 300, ..StreamPoints::default() };
/// let rng = &mut Pcg64::seed_from_u64(0);
/// let survey = stream.survey(&mut blocks, &mut |_| {}, rng)?;
/// let columns = stream.columns(&survey)?;
/// assert!(columns.features() == ["a"] && columns.dropped().is_empty());
/// let kernel = Family::Gaussian.kernel(0.5, 1)?;
/// let recipe = stream.recipe(&survey, columns, kernel);
/// let lambda = 1e-3;
/// let dictionary = recipe.disqueak(&mut blocks, lambda, SqueakParams::new(20), rng)?;
/// let mut all = Vec::new();
/// recipe.scores(&mut blocks, &dictionary, lambda, |_, scores| {
///     all.extend_from_slice(scores);
///     Ok::<(), nystrom_pipeline::Error>(())
/// })?;
/// assert_eq!(all.len(), 3000);
/// assert!(all.iter().sum::<f64>() > 4.0 && dictionary.len() < 300);
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StreamPoints {
    /// How columns become features.
    pub columns: ColumnOptions,
    /// Rows of the sample.
    pub reservoir: usize,
    /// The most parts of the rows that have a dictionary of their own. These are then merged along
    /// a tree, so that many processes can share the second pass. Another number gives other bits.
    pub leaves: usize,
}

impl Default for StreamPoints {
    /// The default columns, a sample of 50,000 rows and 8 leaves, as `nystrom scores` takes.
    fn default() -> Self {
        StreamPoints { columns: ColumnOptions::default(), reservoir: 50_000, leaves: 8 }
    }
}

impl StreamPoints {
    /// One pass over all rows; `told` hears how many were read, after every block.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] below 3 rows, [`Error::NoColumn`], those of the source.
    ///
    /// # Randomness
    /// The sample.
    pub fn survey(
        &self,
        source: &mut dyn TableSource,
        told: &mut dyn FnMut(u64),
        rng: &mut dyn Rng,
    ) -> Result<Survey> {
        let survey = self.survey_over(&Alone, (source, 0), told, rng)?;
        survey.ok_or(Error::TooFewRows { rows: 0 })
    }

    /// The same by several processes, as [`StreamFit::survey_over`](super::StreamFit::survey_over).
    ///
    /// # Errors
    /// As [`survey`](Self::survey), of the rows that this process reads, and on process 0 of all.
    ///
    /// # Randomness
    /// As [`survey`](Self::survey); the generators of all processes must be in the same state.
    pub fn survey_over(
        &self,
        ranks: &dyn Ranks,
        (source, first): (&mut dyn TableSource, u64),
        told: &mut dyn FnMut(u64),
        rng: &mut dyn Rng,
    ) -> Result<Option<Survey>> {
        survey_points(&self.fit(), self.reservoir, (ranks, source, first), told, rng)
    }

    /// The columns as [`Columns::fit`] has them of all rows, up to rounding: means, standard
    /// deviations and levels are exact, medians are those of the sample.
    ///
    /// # Errors
    /// As [`Columns::fit`].
    pub fn columns(&self, survey: &Survey) -> Result<Columns> {
        let exact = |name: &str| survey.sums.get(name);
        let looked = Looked::at(&survey.table, &self.columns, &[], &exact)?;
        let training = Training { table: &survey.table, rows: None, known: None, exact: &exact };
        Columns::fit_to(&looked, &self.columns, Shape::PLAIN, training)
    }

    /// The sample as the kernel sees it, r × d, in the order of all rows.
    ///
    /// # Errors
    /// Those of applying columns to rows that they were made for.
    pub fn reservoir(&self, survey: &Survey, columns: &Columns) -> Result<Mat<f64>> {
        features(columns, &survey.table, None)
    }

    /// What the later passes need to know.
    pub fn recipe(&self, survey: &Survey, columns: Columns, kernel: AnyKernel) -> PointRecipe {
        let (rows, places, fit) = (survey.used, survey.places.clone(), self.fit());
        PointRecipe { fit, columns, kernel, rows, places, leaves: self.leaves.max(1) }
    }

    fn fit(&self) -> Fit {
        Fit { columns: self.columns.clone(), ..Fit::default() }
    }
}

/// How the rows of a table become points of a kernel: columns, scaling and the kernel.
#[derive(Debug, Clone)]
pub struct PointRecipe {
    fit: Fit,
    columns: Columns,
    pub(super) kernel: AnyKernel,
    /// Rows that are used.
    pub(super) rows: u64,
    /// Where they are.
    places: Places,
    leaves: usize,
}

/// The same for another process.
#[derive(Serialize, Deserialize)]
struct Sent {
    columns: Columns,
    kernel: AnyKernel,
    rows: u64,
    places: Places,
    leaves: usize,
}

/// Points of some rows that follow one another, with their places in the files.
#[derive(Debug, Clone, Default)]
pub struct PointRows {
    /// The place of the first among all rows that are used.
    pub first: u64,
    /// The number of each among all rows, from 0.
    pub rows: Vec<u64>,
    /// The line of each in its file; in formats without lines its number among all rows, from 1.
    pub lines: Vec<u64>,
    /// d × t.
    x: Vec<f64>,
    dim: usize,
}

impl PointRows {
    /// As the kernel sees them, t points in d dimensions.
    pub fn points(&self) -> Points<'_, f64> {
        let (d, t) = (self.dim, self.rows.len());
        Points::from_cols(MatRef::from_column_major_slice(&self.x, d, t))
    }

    /// Forgets them; the next is at this place.
    fn clear(&mut self, first: u64) {
        self.rows.clear();
        self.lines.clear();
        self.x.clear();
        self.first = first;
    }
}

impl PointRecipe {
    /// n, the rows that are used.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.columns.dim()
    }

    /// The kernel.
    pub fn kernel(&self) -> &AnyKernel {
        &self.kernel
    }

    /// The parts of the rows that have a dictionary each, which n alone says.
    pub(super) fn tree(&self) -> Result<RowTree> {
        let rows = usize::try_from(self.rows).map_err(|_| Error::TooFewRows { rows: 0 })?;
        Ok(RowTree::with_leaves(rows, self.leaves))
    }

    /// The recipe for another process of a job.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let PointRecipe { columns, kernel, rows, places, leaves, .. } = self.clone();
        bytes::write(&Sent { columns, kernel, rows, places, leaves })
    }

    /// The recipe that [`to_bytes`](Self::to_bytes) wrote, of the same options.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] for other bytes.
    pub fn from_bytes(stream: &StreamPoints, bytes: &[u8]) -> Result<PointRecipe> {
        let Sent { columns, kernel, rows, places, leaves } = bytes::read(bytes)?;
        Ok(PointRecipe { fit: stream.fit(), columns, kernel, rows, places, leaves })
    }

    /// Hands over the used rows with places in `range`, in order and in tiles of at most 1024.
    pub(super) fn each<E: From<Error>>(
        &self,
        source: &mut dyn TableSource,
        range: Range<u64>,
        mut take: impl FnMut(&PointRows) -> Result<(), E>,
    ) -> Result<(), E> {
        if range.is_empty() {
            return Ok(());
        }
        let (mut row, mut skip) = self.places.find(range.start);
        source.start(row).map_err(Error::from)?;
        let (mut at, all, to_end) = (range.start, range.end as usize, range.end == self.rows);
        let mut tile = PointRows { first: at, dim: self.dim(), ..PointRows::default() };
        // behind the last row there may be some that were not there
        while at < range.end || to_end {
            let Some(block) = source.next_block().map_err(Error::from)? else { break };
            let (used, x) = self.ready(&block)?;
            for (i, &of_block) in used.iter().enumerate().skip(skip as usize) {
                if at == range.end {
                    if to_end {
                        return Err(other_rows(all, all + 1).into());
                    }
                    break;
                }
                let number = row + of_block as u64;
                tile.rows.push(number);
                tile.lines.push(block.line(of_block).unwrap_or(number + 1));
                tile.x.extend((0..x.ncols()).map(|k| x[(i, k)]));
                at += 1;
                if at.is_multiple_of(TILE) || at == range.end {
                    take(&tile)?;
                    tile.clear(at);
                }
            }
            skip = skip.saturating_sub(used.len() as u64);
            row += block.rows() as u64;
        }
        if at == range.end { Ok(()) } else { Err(other_rows(all, at as usize).into()) }
    }

    /// The rows of a block that are used, and their features.
    fn ready(&self, block: &Table) -> Result<(Vec<usize>, Mat<f64>)> {
        let (rows, _) = usable(&self.fit, block, (&[], &[]), false, None)?;
        let x = if rows.len() == block.rows() {
            features(&self.columns, block, None)?
        } else {
            features(&self.columns, &block.select_rows(&rows)?, None)?
        };
        Ok((rows, x))
    }
}
