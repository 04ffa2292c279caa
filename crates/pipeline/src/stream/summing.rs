//! The second pass: the normal equations of all rows, along the tree of their leaves.

use super::ranks::Ranks;
use super::ready::Ready;
use super::saved::{Saved, SavedLeaves, cuts};
use super::{Recipe, TableSource};
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::model::{Made, Model};
use nystrom::krr::{NormalEquations, StatePath};
use nystrom::linalg_core::RowTree;
use nystrom::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// Rows that a state takes at once.
const TILE: u64 = 1024;

pub(super) type State = NormalEquations<AnyKernel, f64>;

/// The sums over the rows so far.
///
/// Leaves of [`RowTree::large`] are summed one after another and merged along that tree, so that
/// the result is that of [`NystromKrr`](nystrom::krr::NystromKrr) in memory with the same rows and
/// centres, to the bit. At most five sums of m²/2 numbers are held. With
/// [more leaves](Recipe::with_leaves) they are those of another tree.
#[derive(Debug)]
pub struct Summing<'a> {
    recipe: &'a Recipe,
    pub(super) tree: RowTree,
    /// Where the leaves of each process begin, and the last ones end.
    cuts: Vec<usize>,
    /// The leaves that are summed here.
    pub(super) leaves: Range<usize>,
    pub(super) empty: State,
    /// Leaves that are done, from the first on, with what they were merged to.
    pub(super) done: Vec<(Range<usize>, State)>,
    /// The sum of the leaf under way.
    pub(super) state: State,
    /// The row of the source that comes next.
    pub(super) row: u64,
    /// Used rows from there on that belong to the leaf before.
    pub(super) skip: u64,
    /// Rows taken, and those of the leaves before.
    pub(super) used: u64,
    /// What was summed before and is not taken yet, by its first leaf.
    pub(super) saved: BTreeMap<usize, Saved>,
}

/// How a fit to all rows came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StreamReport {
    /// Rows that were used.
    pub rows: u64,
    /// Centres.
    pub landmarks: usize,
    /// λ in K + nλI, by generalised cross-validation.
    pub lambda: f64,
    /// Whether a smaller or larger one was not tried.
    pub at_edge: bool,
    /// Effective dimension.
    pub effective_dimension: f64,
    /// Root mean square of the residuals, in standard deviations of the target.
    pub training: f64,
    /// Root of the generalised cross-validation error, in the same unit.
    pub gcv: f64,
}

impl<'a> Summing<'a> {
    /// For the leaves of one of several processes, none of which divides what was saved.
    pub(super) fn new(
        recipe: &'a Recipe,
        (rank, size): (usize, usize),
        saved: &[SavedLeaves],
    ) -> Result<Self> {
        let kernel = recipe.model.regression.kernel().clone();
        let centers = Points::from_cols(recipe.centers.as_ref());
        let empty = State::new(kernel, centers, recipe.targets.len())?;
        let rows = usize::try_from(recipe.rows).map_err(|_| Error::TooFewRows { rows: 0 })?;
        let (tree, state) = (RowTree::with_leaves(rows, recipe.leaves), empty.empty());
        let cuts = cuts(tree.leaves(), size, saved);
        let leaves = cuts[rank]..cuts[rank + 1];
        let (done, saved) = (Vec::new(), BTreeMap::new());
        let (row, skip, used) = (0, 0, 0);
        let mut sum =
            Summing { recipe, tree, cuts, leaves, empty, done, state, row, skip, used, saved };
        sum.take_saved()?;
        Ok(sum)
    }

    /// Rows of the source that are behind.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Adds all rows that are left, of the leaves that are summed here. `pause` is called several
    /// times a block, where [`to_bytes`](Self::to_bytes) may be; its error ends the pass.
    ///
    /// # Errors
    /// Those of the source, of rows that are not as the first pass found them, and of `pause`.
    pub fn run(
        &mut self,
        source: &mut dyn TableSource,
        pause: &mut dyn FnMut(&mut Summing<'_>) -> Result<()>,
    ) -> Result<()> {
        loop {
            self.take_saved()?;
            if self.leaf() == self.leaves.end {
                return Ok(());
            }
            let stop = self.saved.keys().next().copied().unwrap_or(self.leaves.end);
            self.run_to(stop, source, pause)?;
        }
    }

    /// Takes what was saved, and goes to the first row that is left.
    pub(super) fn take_saved(&mut self) -> Result<()> {
        loop {
            let leaf = self.leaf();
            match self.saved.remove(&leaf) {
                Some(Saved::Done(leaves, sum)) => {
                    self.state = self.empty.empty();
                    self.push(leaves, sum)?;
                }
                Some(Saved::UnderWay { row, skip, used, state }) => {
                    if self.state.rows() <= state.rows() {
                        (self.row, self.skip, self.used) = (row, skip, used);
                        self.state = state;
                    }
                    return Ok(());
                }
                None => {
                    if leaf < self.leaves.end && self.state.rows() == 0 {
                        self.used = self.tree.leaf(leaf).start as u64;
                        (self.row, self.skip) = self.recipe.places.find(self.used);
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Adds the rows of the leaves before this one.
    fn run_to(
        &mut self,
        stop: usize,
        source: &mut dyn TableSource,
        pause: &mut dyn FnMut(&mut Summing<'_>) -> Result<()>,
    ) -> Result<()> {
        source.start(self.row)?;
        // behind the last leaf there may be rows that were not there
        let to_end = stop == self.tree.leaves();
        while to_end || self.leaf() < stop {
            let Some(block) = source.next_block()? else { break };
            let ready = self.recipe.ready(&block)?;
            self.add(&ready, (block.rows() as u64, stop), pause)?;
        }
        let (expected, got) = (self.tree.leaf(stop - 1).end, self.used as usize);
        if expected == got {
            return Ok(());
        }
        let what = "rows of the source when read again";
        Err(nystrom::Error::Shape { what, expected, got }.into())
    }

    fn add(
        &mut self,
        ready: &Ready,
        (block_rows, stop): (u64, usize),
        pause: &mut dyn FnMut(&mut Summing<'_>) -> Result<()>,
    ) -> Result<()> {
        let (first, count) = (self.row, ready.rows.len());
        let mut at = (self.skip as usize).min(count);
        self.skip -= at as u64;
        while at < count && (self.leaf() < stop || stop == self.tree.leaves()) {
            let left = self.left_in_leaf()?.min((count - at) as u64);
            // up to the last whole tile, if there is one
            let whole = (self.state.rows() + left) / TILE * TILE;
            let take = whole.checked_sub(self.state.rows()).filter(|take| *take > 0);
            let take = take.unwrap_or(left) as usize;
            self.state.accumulate(ready.problem(at..at + take))?;
            at += take;
            self.used += take as u64;
            self.row = first + ready.rows.get(at).map_or(block_rows, |&row| row as u64);
            if self.is_leaf_done() {
                self.end_leaf()?;
            }
            if self.state.rows().is_multiple_of(TILE) {
                pause(self)?;
            }
        }
        self.row = first + block_rows;
        Ok(())
    }

    /// The leaf under way.
    pub(super) fn leaf(&self) -> usize {
        self.done.last().map_or(self.leaves.start, |(leaves, _)| leaves.end)
    }

    fn is_leaf_done(&self) -> bool {
        self.leaf() < self.tree.leaves() && self.used == self.tree.leaf(self.leaf()).end as u64
    }

    /// Rows that the leaf under way still takes.
    fn left_in_leaf(&self) -> Result<u64> {
        if self.leaf() == self.tree.leaves() {
            let (what, expected) = ("rows of the source when read again", self.used as usize);
            return Err(nystrom::Error::Shape { what, expected, got: expected + 1 }.into());
        }
        Ok(self.tree.leaf(self.leaf()).end as u64 - self.used)
    }

    /// Keeps the sum of a leaf.
    fn end_leaf(&mut self) -> Result<()> {
        let leaf = self.leaf();
        let state = std::mem::replace(&mut self.state, self.empty.empty());
        self.push(leaf..leaf + 1, state)
    }

    /// Keeps the sum of leaves that come next, and merges what belongs together.
    fn push(&mut self, leaves: Range<usize>, sum: State) -> Result<()> {
        self.done.push((leaves, sum));
        while let [.., (a, _), (b, _)] = &self.done[..]
            && self.tree.is_node(a.start..b.end)
        {
            let (Some((right, later)), Some((left, mut sum))) = (self.done.pop(), self.done.pop())
            else {
                break;
            };
            sum.merge(later)?;
            self.done.push((left.start..right.end, sum));
        }
        Ok(())
    }

    /// Sends the sums of all processes up the tree to process 0, which can then
    /// [finish](Self::finish).
    ///
    /// A process holds one sum more for what it receives, and its bytes.
    ///
    /// # Errors
    /// [`Incompatible`](nystrom::Error::Incompatible) for sums made on other instruction sets.
    pub fn merge_over(&mut self, ranks: &dyn Ranks) -> Result<()> {
        let all = 0..self.tree.leaves();
        if let Some(sum) = self.of_node(all.clone(), ranks)? {
            self.done.push((all, sum));
        }
        Ok(())
    }

    /// The sum of a node, on the process that has its first leaf.
    fn of_node(&mut self, node: Range<usize>, ranks: &dyn Ranks) -> Result<Option<State>> {
        if let Some(place) = self.done.iter().position(|(leaves, _)| *leaves == node) {
            return Ok(Some(self.done.remove(place).1));
        }
        let of = |leaf: usize| self.cuts.partition_point(|cut| *cut <= leaf) - 1;
        let (first, last, here) = (of(node.start), of(node.end - 1), ranks.rank());
        if !(first..=last).contains(&here) || first == last {
            return Ok(None);
        }
        let (left, right) = RowTree::children(node);
        let other = of(right.start);
        let sum = self.of_node(left, ranks)?;
        let later = self.of_node(right, ranks)?;
        match (sum, later) {
            (Some(mut sum), Some(later)) => {
                sum.merge(later)?;
                Ok(Some(sum))
            }
            (Some(mut sum), None) => {
                sum.merge(self.empty.from_bytes(&ranks.receive(other))?)?;
                Ok(Some(sum))
            }
            (None, Some(mut later)) => {
                ranks.send(first, &later.to_bytes());
                Ok(None)
            }
            (None, None) => Ok(None),
        }
    }

    /// The model with the λ of `lambdas`, in decreasing order, whose generalised cross-validation
    /// error is the smallest.
    ///
    /// # Errors
    /// Those of [`FitState::path`](nystrom::krr::FitState::path); [`Error::File`] if the model is
    /// not finite.
    pub fn finish(mut self, lambdas: &[f64]) -> Result<(Model, StreamReport)> {
        let all = 0..self.tree.leaves();
        let Some((_, mut state)) = self.done.pop().filter(|(leaves, _)| *leaves == all) else {
            return Err(Error::TooFewRows { rows: self.used as usize });
        };
        // room for the decomposition
        drop((self.done, self.state, self.empty));
        let ridges: Vec<Ridge<f64>> = lambdas.iter().copied().map(Ridge::PerSample).collect();
        let path = state.path(&ridges)?;
        let best = best(&path);
        let point = &path.points[best];
        let recipe = self.recipe;
        let n = recipe.rows as usize;
        let regression = path.model_at(point.ridge)?;
        let report = StreamReport {
            rows: recipe.rows,
            landmarks: recipe.landmarks(),
            lambda: point.mu / n as f64,
            at_edge: ridges.len() > 1 && (best == 0 || best + 1 == ridges.len()),
            effective_dimension: point.d_eff,
            training: point.training.sqrt(),
            gcv: point.gcv.sqrt(),
        };
        let Model { columns, layout, map, classes, made, .. } = recipe.model.clone();
        let one = match &recipe.targets[..] {
            [one] if classes.is_none() => Some(report.training * one.scale),
            _ => None,
        };
        let made = Made {
            centers: format!("uniform:{}", report.landmarks),
            lambda: report.lambda,
            training_rmse: one.filter(|rmse| rmse.is_finite()),
            holds_all_rows: false,
            ..made
        };
        let model = Model::new(columns, layout, recipe.targets.clone(), map, regression, made)?;
        let model = match classes {
            Some(classes) => model.with_classes(classes)?,
            None => model,
        };
        Ok((model, report))
    }
}

/// The place of the smallest generalised cross-validation error among those that are above the
/// level of rounding.
fn best(path: &StatePath<AnyKernel, f64>) -> usize {
    let points = path.points.iter().enumerate();
    let known = points.filter(|(_, point)| point.training >= point.rounding);
    known.min_by(|(_, a), (_, b)| a.gcv.total_cmp(&b.gcv)).map_or(0, |(best, _)| best)
}
