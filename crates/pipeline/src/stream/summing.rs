//! The second pass: the normal equations of all rows, along the tree of their leaves.

use super::bytes::{Kind, pack, unpack, wrong};
use super::ready::Ready;
use super::{Recipe, TableSource};
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::model::{Made, Model};
use nystrom::krr::{NormalEquations, StatePath};
use nystrom::linalg_core::RowTree;
use nystrom::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Rows that a state takes at once.
const TILE: u64 = 1024;

type State = NormalEquations<AnyKernel, f64>;

/// The sums over the rows so far.
///
/// Leaves of [`RowTree::large`] are summed one after another and merged along that tree, so that
/// the result is that of [`NystromKrr`](nystrom::krr::NystromKrr) in memory with the same rows and
/// centres, to the bit. At most five sums of m²/2 numbers are held.
#[derive(Debug)]
pub struct Summing<'a> {
    recipe: &'a Recipe,
    tree: RowTree,
    empty: State,
    /// Leaves that are done, with what they were merged to.
    done: Vec<(Range<usize>, State)>,
    /// The sum of the leaf under way.
    state: State,
    /// The row of the source that comes next.
    row: u64,
    /// Rows taken.
    used: u64,
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

/// The small things in a checkpoint.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Of the recipe.
    digest: String,
    row: u64,
    used: u64,
    /// Leaves of the sums that follow, before that of the leaf under way.
    done: Vec<Range<usize>>,
}

impl<'a> Summing<'a> {
    pub(super) fn new(recipe: &'a Recipe) -> Result<Self> {
        let kernel = recipe.model.regression.kernel().clone();
        let centers = Points::from_cols(recipe.centers.as_ref());
        let empty = State::new(kernel, centers, recipe.targets.len())?;
        let rows = usize::try_from(recipe.rows).map_err(|_| Error::TooFewRows { rows: 0 })?;
        let (tree, state) = (RowTree::large(rows), empty.empty());
        Ok(Summing { recipe, tree, empty, done: Vec::new(), state, row: 0, used: 0 })
    }

    /// Rows of the source that are behind.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Adds all rows that are left. `pause` is called several times a block, where
    /// [`to_bytes`](Self::to_bytes) may be; its error ends the pass.
    ///
    /// # Errors
    /// Those of the source, of rows that are not as the first pass found them, and of `pause`.
    pub fn run(
        &mut self,
        source: &mut dyn TableSource,
        pause: &mut dyn FnMut(&mut Summing<'_>) -> Result<()>,
    ) -> Result<()> {
        source.start(self.row)?;
        while let Some(block) = source.next_block()? {
            let ready = self.recipe.ready(&block)?;
            self.add(&ready, block.rows() as u64, pause)?;
        }
        let (expected, got) = (self.recipe.rows as usize, self.used as usize);
        if expected == got {
            return Ok(());
        }
        let what = "rows of the source when read again";
        Err(nystrom::Error::Shape { what, expected, got }.into())
    }

    fn add(
        &mut self,
        ready: &Ready,
        block_rows: u64,
        pause: &mut dyn FnMut(&mut Summing<'_>) -> Result<()>,
    ) -> Result<()> {
        let (first, count) = (self.row, ready.rows.len());
        let mut at = 0;
        while at < count {
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
    fn leaf(&self) -> usize {
        self.done.last().map_or(0, |(leaves, _)| leaves.end)
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

    /// Keeps the sum of a leaf, and merges what belongs together.
    fn end_leaf(&mut self) -> Result<()> {
        let leaf = self.leaf();
        let state = std::mem::replace(&mut self.state, self.empty.empty());
        self.done.push((leaf..leaf + 1, state));
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

    /// The sums so far, to go on from; `recipe` are the bytes of the recipe.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn to_bytes(&mut self, recipe: &[u8]) -> Result<Vec<u8>> {
        let done = self.done.iter().map(|(leaves, _)| leaves.clone()).collect();
        let head = Head { digest: digest(recipe), row: self.row, used: self.used, done };
        let head = serde_json::to_vec(&head).map_err(|error| wrong(error.to_string()))?;
        let mut sections = vec![head];
        sections.extend(self.done.iter_mut().map(|(_, state)| state.to_bytes()));
        sections.push(self.state.to_bytes());
        Ok(pack(Kind::Sums, &sections))
    }

    /// Goes on from [`to_bytes`](Self::to_bytes), with the bytes of the same recipe.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] for damaged bytes and those of another recipe, and for sums that were
    /// made on another instruction set.
    pub fn resume(mut self, recipe: &[u8], bytes: &[u8]) -> Result<Self> {
        let sections = unpack(Kind::Sums, bytes)?;
        let [head, states @ .., last] = &sections[..] else {
            return Err(wrong("it has other parts".into()));
        };
        let head: Head = serde_json::from_slice(head).map_err(|error| wrong(error.to_string()))?;
        if head.digest != digest(recipe) {
            return Err(wrong("its sums are of another recipe; remove it".into()));
        }
        if states.len() != head.done.len() {
            return Err(wrong("it has other parts".into()));
        }
        let state =
            |bytes: &[u8]| self.empty.from_bytes(bytes).map_err(|error| wrong(error.to_string()));
        let done = head.done.into_iter().zip(states);
        self.done =
            done.map(|(leaves, bytes)| Ok((leaves, state(bytes)?))).collect::<Result<_>>()?;
        self.state = state(last)?;
        (self.row, self.used) = (head.row, head.used);
        Ok(self)
    }

    /// The model with the λ of `lambdas`, in decreasing order, whose generalised cross-validation
    /// error is the smallest.
    ///
    /// # Errors
    /// Those of [`FitState::path`](nystrom::krr::FitState::path); [`Error::File`] if the model is
    /// not finite.
    pub fn finish(mut self, lambdas: &[f64]) -> Result<(Model, StreamReport)> {
        let Some((_, mut state)) = self.done.pop().filter(|_| self.used == self.recipe.rows) else {
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

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
