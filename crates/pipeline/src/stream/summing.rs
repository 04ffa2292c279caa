//! Sums of a pass over all rows (normal equations, folds, leave-one-out errors), along the tree of
//! leaves; `merge_over` merges those of all processes.

use super::Recipe;
use super::prepared_block::PreparedBlock;
use super::processes::{Alone, Ranks};
use super::saved_leaves::{SavedLeaves, SavedSum, cuts};
use super::source::TableSource;
use crate::columns::Note;
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use nystrom::krr::{FoldedEquations, NormalEquations, RowSums};
use nystrom::linalg_core::RowTree;
use nystrom::prelude::*;
use nystrom_data::Table;
use std::collections::BTreeMap;
use std::ops::Range;

/// The number of rows in a tile of the sums.
const TILE: u64 = 1024;

/// The sums of a second pass.
pub(super) type State = NormalEquations<AnyKernel, f64>;

/// The sums of a second pass by folds.
pub(super) type Folded = FoldedEquations<AnyKernel, f64>;

/// The sums `S` of a pass over the rows so far, by default the normal equations.
///
/// The leaves of [`RowTree::large`] are summed one after another and merged along this tree. So the
/// result equals that of [`NystromKrr`](nystrom::krr::NystromKrr) in memory with the same rows and
/// centres, to the bit. At most five sums of m²/2 numbers are stored at a time.
/// [More leaves](Recipe::with_leaves) give another tree, and so other last bits.
#[derive(Debug)]
pub struct Summing<'a, S = State> {
    pub(super) recipe: &'a Recipe,
    pub(super) tree: RowTree,
    /// The first leaf of each process, and the number of leaves.
    cuts: Vec<usize>,
    /// The leaves of this process.
    pub(super) leaves: Range<usize>,
    pub(super) empty: S,
    /// The sums of complete leaves, merged along the tree, in order.
    pub(super) done: Vec<(Range<usize>, S)>,
    /// The sum of the leaf under way.
    pub(super) state: S,
    /// The next row of the source.
    pub(super) row: u64,
    /// The number of used rows in the sums so far and in the leaves before.
    pub(super) used: u64,
    /// The sums from checkpoints that are not used yet, by their first leaf.
    pub(super) saved: BTreeMap<usize, SavedSum<S>>,
    /// For each column, the note about cells that could not be read.
    unread: BTreeMap<String, Note>,
}

impl Recipe {
    /// The normal equations over no rows, to which [`Summing::run`] adds all rows.
    ///
    /// # Errors
    /// Those of [`NormalEquations::new`](nystrom::krr::NormalEquations::new).
    pub fn sum(&self) -> Result<Summing<'_>> {
        self.sum_after(&Alone, &[])
    }

    /// The sums over no rows, for the leaves of this process. The leaves are divided about evenly
    /// among the processes; all leaves of a node that a checkpoint in `saved` holds belong to the
    /// same process.
    ///
    /// # Errors
    /// Those of [`sum`](Self::sum).
    pub fn sum_after(&self, ranks: &dyn Ranks, saved: &[SavedLeaves]) -> Result<Summing<'_>> {
        Summing::of(self.empty()?, self, ranks, saved)
    }

    /// The sums over no rows by this many random folds, for the leaves of this process as in
    /// [`sum_after`](Self::sum_after).
    ///
    /// # Errors
    /// Those of [`NormalEquations::folded`](nystrom::krr::NormalEquations::folded).
    ///
    /// # Randomness
    /// One key. The generators of all processes must be in the same state.
    pub fn folds_after(
        &self,
        ranks: &dyn Ranks,
        saved: &[SavedLeaves],
        folds: usize,
        rng: &mut dyn Rng,
    ) -> Result<Summing<'_, Folded>> {
        let folded = self.empty()?.folded(folds, rng)?;
        let folded = if self.facts.different.is_some() { folded.by_content() } else { folded };
        Summing::of(folded, self, ranks, saved)
    }

    /// The normal equations over no rows.
    pub(super) fn empty(&self) -> Result<State> {
        self.empty_for(self.facts.targets.len())
    }

    /// The normal equations over no rows for t targets.
    pub(super) fn empty_for(&self, t: usize) -> Result<State> {
        let kernel = self.model.regression.kernel().clone();
        let centers = Points::from_cols(self.centers.as_ref());
        let Some(sketch) = self.span()? else { return Ok(State::new(kernel, centers, t)?) };
        Ok(State::sketched(kernel, centers, &sketch, t, None)?)
    }
}

impl<'a, S: RowSums<f64>> Summing<'a, S> {
    /// The sums over no rows, for the leaves of this process; no saved node is divided.
    pub(super) fn of(
        empty: S,
        recipe: &'a Recipe,
        ranks: &dyn Ranks,
        saved: &[SavedLeaves],
    ) -> Result<Self> {
        let (tree, state) = (recipe.facts.used.tree()?, empty.empty());
        let cuts = cuts(tree.leaves(), ranks.size(), saved);
        let leaves = cuts[ranks.rank()]..cuts[ranks.rank() + 1];
        let (done, saved) = (Vec::new(), BTreeMap::new());
        let (row, used, unread) = (0, 0, BTreeMap::new());
        let mut sum =
            Summing { recipe, tree, cuts, leaves, empty, done, state, row, used, saved, unread };
        sum.take_saved()?;
        Ok(sum)
    }

    /// Notes about cells of the rows summed here that could not be read in the notation of their
    /// column and count as missing.
    pub fn notes(&self) -> Vec<Note> {
        self.unread.values().cloned().collect()
    }

    fn meet(&mut self, notes: &[Note]) {
        for note in notes {
            let Note::Unread { column, rows, .. } = note else { continue };
            match self.unread.get_mut(column) {
                Some(Note::Unread { rows: all, .. }) => *all += rows,
                _ => drop(self.unread.insert(column.clone(), note.clone())),
            }
        }
    }

    /// The number of rows of the source that are already summed.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Sums all remaining rows of the leaves that are summed here. `pause` is called several times
    /// in each block and may call [`to_bytes`](Self::to_bytes); an error of `pause` ends the pass.
    ///
    /// # Errors
    /// Those of the source and of `pause`, and errors for rows that differ from those of the first
    /// pass.
    pub fn run(
        &mut self,
        source: &mut dyn TableSource,
        pause: &mut dyn FnMut(&mut Self) -> Result<()>,
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

    /// Takes the sums from checkpoints that come next, and moves to the first row that is left.
    pub(super) fn take_saved(&mut self) -> Result<()> {
        loop {
            let leaf = self.leaf();
            match self.saved.remove(&leaf) {
                Some(SavedSum::Done(leaves, sum)) => {
                    self.state = self.empty.empty();
                    self.push(leaves, sum)?;
                }
                Some(SavedSum::UnderWay { row, used, state }) => {
                    if self.state.rows() <= state.rows() {
                        (self.row, self.used, self.state) = (row, used, state);
                    }
                    return Ok(());
                }
                None => {
                    if leaf < self.leaves.end && self.state.rows() == 0 {
                        self.used = self.tree.leaf(leaf).start as u64;
                        self.state = self.empty.empty_at(self.used);
                        self.row = self.recipe.facts.used.places.find(self.used).0;
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Adds the rows of the leaves before leaf `stop`.
    fn run_to(
        &mut self,
        stop: usize,
        source: &mut dyn TableSource,
        pause: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (recipe, end) = (self.recipe, self.tree.leaf(stop - 1).end as u64);
        let (range, prepare) = (self.used..end, |block: &Table| recipe.prepare(block));
        recipe.facts.used.read(source, range, prepare, |table, (used, block), (first, rows)| {
            self.meet(&block.notes);
            self.add((used, &block), rows, (first, table.rows() as u64), pause)
        })
    }

    /// Adds some of the used rows of a block that begins at row `first` of the source.
    fn add(
        &mut self,
        (used, block): (&[usize], &PreparedBlock),
        rows: Range<usize>,
        (first, block_rows): (u64, u64),
        pause: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let mut at = rows.start;
        while at < rows.end {
            let end = self.tree.leaf(self.leaf()).end as u64;
            let left = (end - self.used).min((rows.end - at) as u64);
            // up to the last whole tile, if there is one
            let whole = (self.state.rows() + left) / TILE * TILE;
            let take = whole.checked_sub(self.state.rows()).filter(|take| *take > 0);
            let take = take.unwrap_or(left) as usize;
            self.state.accumulate(block.examples.part(at..at + take))?;
            at += take;
            self.used += take as u64;
            self.row = first + used.get(at).map_or(block_rows, |&row| row as u64);
            if self.used == end {
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

    /// Completes the leaf under way.
    fn end_leaf(&mut self) -> Result<()> {
        let leaf = self.leaf();
        let state = std::mem::replace(&mut self.state, self.empty.empty_at(self.used));
        self.push(leaf..leaf + 1, state)
    }

    /// Adds the sum of the next leaves.
    fn push(&mut self, leaves: Range<usize>, sum: S) -> Result<()> {
        push_node(self.tree, &mut self.done, (leaves, sum), |a, b| Ok(a.merge(b)?))
    }

    /// Merges the sums of all processes on process 0, along the tree.
    ///
    /// Memory: a process that receives stores one more sum, and its bytes.
    ///
    /// # Errors
    /// [`Incompatible`](nystrom::Error::Incompatible) for sums made with another instruction set.
    pub fn merge_over(&mut self, ranks: &dyn Ranks) -> Result<()> {
        let all = 0..self.tree.leaves();
        if let Some(sum) = self.of_node(all.clone(), ranks)? {
            self.done.push((all, sum));
        }
        Ok(())
    }

    /// The sum of a node, on the process that sums its first leaf.
    fn of_node(&mut self, node: Range<usize>, ranks: &dyn Ranks) -> Result<Option<S>> {
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
                sum.merge(self.empty.read(&ranks.receive(other))?)?;
                Ok(Some(sum))
            }
            (None, Some(mut later)) => {
                later.close()?;
                ranks.send(first, &later.to_bytes());
                Ok(None)
            }
            (None, None) => Ok(None),
        }
    }

    /// The sum of all leaves, on every process.
    pub(super) fn everywhere(mut self, ranks: &dyn Ranks) -> Result<S> {
        self.merge_over(ranks)?;
        if ranks.size() > 1 {
            let all = 0..self.tree.leaves();
            let bytes = match self.done.last_mut() {
                Some((leaves, sum)) if *leaves == all => {
                    sum.close()?;
                    sum.to_bytes()
                }
                _ => Vec::new(),
            };
            let bytes = ranks.broadcast(bytes);
            if ranks.rank() > 0 {
                self.done = vec![(all, self.empty.read(&bytes)?)];
            }
        }
        self.whole()
    }

    /// The sum of all leaves, if it is complete on this process.
    pub(super) fn whole(mut self) -> Result<S> {
        let all = 0..self.tree.leaves();
        match self.done.pop().filter(|(leaves, _)| *leaves == all) {
            Some((_, sum)) => Ok(sum),
            None => Err(Error::TooFewRows { rows: self.used as usize }),
        }
    }
}

/// Adds the sum of the next leaves, and merges it with its neighbours along the tree.
pub(super) fn push_node<S>(
    tree: RowTree,
    done: &mut Vec<(Range<usize>, S)>,
    next: (Range<usize>, S),
    mut merge: impl FnMut(&mut S, S) -> Result<()>,
) -> Result<()> {
    done.push(next);
    while let [.., (a, _), (b, _)] = &done[..]
        && tree.is_node(a.start..b.end)
    {
        let (Some((right, later)), Some((left, mut sum))) = (done.pop(), done.pop()) else { break };
        merge(&mut sum, later)?;
        done.push((left.start..right.end, sum));
    }
    Ok(())
}
