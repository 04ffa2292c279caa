//! Passes over rows without a target: columns, sample and kernel.

use super::features::features;
use super::first_pass::{SurveyPass, TableSurvey};
use super::processes::{Alone, Ranks, share_of};
use super::reservoir::Reservoir;
use super::saved_leaves::cuts;
use super::sections;
use super::source::TableSource;
use super::used_rows::UsedRows;
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

/// The number of rows in a tile. Tiles begin at multiples of this number of used rows, so that no
/// bit depends on blocks, files or processes.
pub(super) const TILE: u64 = 1024;

/// Ridge leverage scores of all rows of a table that is read block by block, in three passes:
///
/// 1. [`survey`](Self::survey): counts, means and standard deviations of all rows, and a uniform
///    sample of them, the [`reservoir`](Self::reservoir), from which the caller chooses a length
///    scale;
/// 2. [`PointRecipe::disqueak_over`]: a dictionary of all rows, by DISQUEAK. A dictionary of the
///    sample ([`WeightedRows::of_sample`](super::WeightedRows::of_sample)) needs no pass;
/// 3. [`PointRecipe::scores_over`]: the score of every row against the dictionary, in order.
///
/// The scores depend on the rows and their order, on the seed and on the options. They do not
/// depend on blocks, files, threads, or the number of processes that share the passes
/// ([`survey_over`](Self::survey_over), [`PointRecipe::disqueak_over`]).
///
/// # Cost
/// Reading three times. With m members, the second pass takes 4.5·nm kernel values and 4.5·nm²
/// flops, the third nm kernel values and nm² flops. Memory: the sample, two blocks, about 96m²
/// bytes while dictionaries are merged, and 16m² bytes at the end.
///
/// ```
/// use nystrom::prelude::*;
/// use nystrom_data::{Column, Table};
/// use nystrom_pipeline::{Alone, Family, StreamPoints, TableBlocks};
/// let a: Vec<f64> = (0..3000).map(|i| f64::from(i * 7 % 3000) / 500.0).collect();
/// let table = Table::new("t", vec![Column::numbers("a", a)]).unwrap();
/// let mut blocks = TableBlocks::new(&table, 500);
/// let stream = StreamPoints { reservoir: 300, ..StreamPoints::default() };
/// let rng = &mut Pcg64::seed_from_u64(0);
/// let survey = stream.survey(&mut blocks, rng)?;
/// let columns = stream.columns(&survey)?;
/// assert!(columns.features() == ["a"] && columns.dropped().is_empty());
/// let kernel = Family::Gaussian.kernel(0.5, 1)?;
/// let recipe = stream.recipe(&survey, columns, kernel);
/// let lambda = 1e-3;
/// let how = (lambda, SqueakParams::new(20));
/// let dictionary = recipe.disqueak_over(&Alone, &mut blocks, how, rng)?;
/// let mut all = Vec::new();
/// recipe.scores_over(&Alone, &mut blocks, (&dictionary, lambda), |_, scores| {
///     all.extend_from_slice(scores);
///     Ok::<(), nystrom_pipeline::Error>(())
/// })?;
/// assert_eq!(all.len(), 3000);
/// assert!(all.iter().sum::<f64>() > 4.0 && dictionary.len() < 300);
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StreamPoints {
    /// The options about columns.
    pub columns: ColumnOptions,
    /// The number of rows in the sample.
    pub reservoir: usize,
    /// The largest number of parts of the rows with a dictionary, or sums, of their own. These are
    /// merged along a tree, so that at most this many processes can share a pass that makes them.
    /// The result depends on this number.
    pub leaves: usize,
}

impl Default for StreamPoints {
    /// The default columns, a sample of 50,000 rows and 8 leaves, as `nystrom scores` takes.
    fn default() -> Self {
        StreamPoints { columns: ColumnOptions::default(), reservoir: 50_000, leaves: 8 }
    }
}

impl StreamPoints {
    /// The first pass over all rows.
    ///
    /// # Errors
    /// [`Error::TooFewRows`] below 3 rows, [`Error::NoColumn`], those of the source.
    ///
    /// # Randomness
    /// The sample.
    pub fn survey(&self, source: &mut dyn TableSource, rng: &mut dyn Rng) -> Result<TableSurvey> {
        let survey = self.survey_over(&Alone, (source, 0), rng)?;
        survey.ok_or(Error::TooFewRows { rows: 0 })
    }

    /// Like [`survey`](Self::survey), shared by several processes as in
    /// [`StreamFit::survey_over`](super::StreamFit::survey_over).
    ///
    /// # Errors
    /// Those of [`survey`](Self::survey), for the rows that this process reads, and on process 0
    /// for all rows.
    ///
    /// # Randomness
    /// That of [`survey`](Self::survey). The generators of all processes must be in the same state.
    pub fn survey_over(
        &self,
        ranks: &dyn Ranks,
        (source, first): (&mut dyn TableSource, u64),
        rng: &mut dyn Rng,
    ) -> Result<Option<TableSurvey>> {
        let (targets, taken) = (Vec::new(), Vec::new());
        let pass = SurveyPass { fit: &self.fit(), targets, taken, first };
        pass.run((ranks, source), Reservoir::new(self.reservoir, rng))
    }

    /// The columns that [`Columns::fit`] would give for all rows, up to rounding, except for
    /// medians: means, standard deviations and levels are those of all rows, medians those of the
    /// sample.
    ///
    /// # Errors
    /// Those of [`Columns::fit`].
    pub fn columns(&self, survey: &TableSurvey) -> Result<Columns> {
        let exact = |name: &str| survey.all.columns.get(name);
        let looked = Looked::at(&survey.table, &self.columns, &[] as &[&str], &exact)?;
        let training = Training { table: &survey.table, rows: None, known: None, exact: &exact };
        Columns::fit_to(&looked, &self.columns, Shape::PLAIN, training)
    }

    /// The features of the sample, r × d, in the order of the rows.
    ///
    /// # Errors
    /// Those of [`Columns::apply`], which do not occur for the columns of this survey.
    pub fn reservoir(&self, survey: &TableSurvey, columns: &Columns) -> Result<Mat<f64>> {
        Ok(features(columns, &survey.table, None)?.x)
    }

    /// The columns and the kernel for the later passes.
    pub fn recipe(&self, survey: &TableSurvey, columns: Columns, kernel: AnyKernel) -> PointRecipe {
        let used = survey.used_rows(self.leaves.max(1));
        PointRecipe { fit: self.fit(), sent: Sent { columns, kernel, used } }
    }

    fn fit(&self) -> Fit {
        Fit { columns: self.columns.clone(), ..Fit::default() }
    }
}

/// How the rows of a table become points of a kernel: the columns with their scaling, and the
/// kernel.
#[derive(Debug, Clone)]
pub struct PointRecipe {
    fit: Fit,
    sent: Sent,
}

/// The part of a recipe that is sent to other processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Sent {
    columns: Columns,
    kernel: AnyKernel,
    #[serde(flatten)]
    used: UsedRows,
}

/// The features of consecutive rows, with their positions in the files.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PointRows {
    /// The number of the first of these rows among all used rows, from 0.
    pub first: u64,
    /// The number of each row among all rows, from 0.
    pub rows: Vec<u64>,
    /// The line of each row in its file; in formats without lines, its number among all rows, from
    /// 1.
    pub lines: Vec<u64>,
    /// The features, d × t.
    pub(super) x: Vec<f64>,
    pub(super) dim: usize,
}

impl PointRows {
    /// No rows, with memory for `rows` rows of d features.
    pub(super) fn with_capacity(rows: usize, dim: usize) -> Self {
        let numbers = || Vec::with_capacity(rows);
        let x = Vec::with_capacity(rows * dim);
        PointRows { first: 0, rows: numbers(), lines: numbers(), x, dim }
    }

    /// The features of the rows, t points in d dimensions.
    pub fn points(&self) -> Points<'_, f64> {
        let (d, t) = (self.dim, self.rows.len());
        Points::from_cols(MatRef::from_column_major_slice(&self.x, d, t))
    }

    /// Adds these of the rows of `other`.
    pub(super) fn extend(&mut self, other: &PointRows, rows: impl ExactSizeIterator<Item = usize>) {
        self.x.reserve_exact(rows.len() * self.dim);
        for i in rows {
            self.rows.push(other.rows[i]);
            self.lines.push(other.lines[i]);
            self.x.extend_from_slice(&other.x[i * self.dim..][..self.dim]);
        }
    }

    /// Whether there are one line and d features for each of `count` rows.
    pub(super) fn is_sound(&self, count: usize, d: usize) -> bool {
        [self.rows.len(), self.lines.len(), self.dim] == [count, count, d]
            && count.checked_mul(d) == Some(self.x.len())
    }

    /// Removes all rows; `first` is the number of the next row.
    pub(super) fn clear(&mut self, first: u64) {
        self.rows.clear();
        self.lines.clear();
        self.x.clear();
        self.first = first;
    }
}

impl PointRecipe {
    /// The number of used rows, n.
    pub fn rows(&self) -> u64 {
        self.sent.used.rows
    }

    /// The number of used rows before row `row` of the source, which begins a file.
    pub fn rows_before(&self, row: u64) -> u64 {
        self.sent.used.places.used_before(row).min(self.rows())
    }

    /// The number of features, d.
    pub fn dim(&self) -> usize {
        self.sent.columns.dim()
    }

    /// The kernel.
    pub fn kernel(&self) -> &AnyKernel {
        &self.sent.kernel
    }

    /// The tree of dictionaries and sums, which depends only on n and the number of leaves.
    pub(super) fn tree(&self) -> Result<RowTree> {
        self.sent.used.tree()
    }

    /// The recipe as bytes, to be sent to another process of a job.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        sections::write(&self.sent)
    }

    /// Reads a recipe that [`to_bytes`](Self::to_bytes) wrote with the same options.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] for other bytes.
    pub fn from_bytes(stream: &StreamPoints, bytes: &[u8]) -> Result<PointRecipe> {
        let sent: Sent = sections::read(bytes)?;
        if !sent.used.is_sound() {
            return Err(sections::wrong("its parts contradict one another: it is damaged"));
        }
        Ok(PointRecipe { fit: stream.fit(), sent })
    }

    /// The numbers of the used rows in the share of this process, whole tiles.
    pub(super) fn own_rows(&self, ranks: &dyn Ranks) -> Range<u64> {
        let (rows, tiles) = (self.rows(), share_of(ranks, self.rows().div_ceil(TILE)));
        (tiles.start * TILE).min(rows)..(tiles.end * TILE).min(rows)
    }

    /// Calls `take` with a leaf of the tree that this process sums, the next tile of the leaf, and
    /// whether it is the last, in order.
    pub(super) fn each_of_leaves(
        &self,
        ranks: &dyn Ranks,
        source: &mut dyn TableSource,
        mut take: impl FnMut(usize, &PointRows, bool) -> Result<()>,
    ) -> Result<()> {
        let tree = self.tree()?;
        let cuts = cuts(tree.leaves(), ranks.size(), &[]);
        let [mut leaf, end] = [0, 1].map(|next| cuts[ranks.rank() + next]);
        if leaf == end {
            return Ok(());
        }
        let rows = tree.leaf(leaf).start as u64..tree.leaf(end - 1).end as u64;
        self.each(source, rows, |tile| {
            // leaves begin and end where tiles do
            let is_last = tile.first as usize + tile.rows.len() == tree.leaf(leaf).end;
            take(leaf, tile, is_last)?;
            leaf += usize::from(is_last);
            Ok(())
        })
    }

    /// Calls `take` with the used rows with numbers in `range`, in order, in tiles of at most 1024.
    pub(super) fn each<E: From<Error>>(
        &self,
        source: &mut dyn TableSource,
        range: Range<u64>,
        mut take: impl FnMut(&PointRows) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = range.start;
        let mut tile = PointRows { first: at, dim: self.dim(), ..PointRows::default() };
        let end = range.end;
        let prepare = |block: &Table| self.used_points(block);
        self.sent.used.read(source, range, prepare, |block, (used, x), (row, rows)| {
            for i in rows {
                let number = row + used[i] as u64;
                tile.rows.push(number);
                tile.lines.push(block.line(used[i]).unwrap_or(number + 1));
                tile.x.extend((0..x.ncols()).map(|k| x[(i, k)]));
                at += 1;
                if at.is_multiple_of(TILE) || at == end {
                    take(&tile)?;
                    tile.clear(at);
                }
            }
            Ok(())
        })
    }

    /// The rows of a block that are used, and their features.
    fn used_points(&self, block: &Table) -> Result<(Vec<usize>, Mat<f64>)> {
        let (rows, _) = usable(&self.fit, block, (&[], &[]), false, None)?;
        let columns = &self.sent.columns;
        let x = if rows.len() == block.rows() {
            features(columns, block, None)?.x
        } else {
            features(columns, &block.select_rows(&rows)?, None)?.x
        };
        Ok((rows, x))
    }
}
