//! Saved sums, from which any number of processes can continue.

use super::Summing;
use super::saved_leaves::{SavedLeaves, SavedSum};
use super::sections::{Content, pack, unpack, wrong};
use crate::error::Result;
use nystrom::krr::RowSums;
use nystrom::linalg_core::SavedSolve;
use sha2::{Digest, Sha256};
use std::ops::Range;

impl SavedLeaves {
    /// The leaves in a checkpoint of sums, from the bytes of the recipe and of the checkpoint.
    ///
    /// # Errors
    /// [`Error::Checkpoint`](crate::Error::Checkpoint) for damaged bytes, and for sums of another
    /// recipe.
    pub fn of(recipe: &[u8], bytes: &[u8]) -> Result<SavedLeaves> {
        Ok(parts(recipe, bytes)?.0)
    }
}

/// The head of a checkpoint, and the states after it.
fn parts<'b>(recipe: &[u8], bytes: &'b [u8]) -> Result<(SavedLeaves, Vec<&'b [u8]>)> {
    let mut sections = unpack(Content::Sums, bytes)?.into_iter();
    let head = sections.next().unwrap_or_default();
    let head: SavedLeaves = serde_json::from_slice(head).map_err(wrong)?;
    if head.digest != digest(recipe) {
        return Err(wrong("its sums are of another recipe; remove it"));
    }
    let states: Vec<&[u8]> = sections.collect();
    if states.len() != head.done.len() + 1 {
        return Err(wrong("it has another number of sections"));
    }
    Ok((head, states))
}

impl<S: RowSums<f64>> Summing<'_, S> {
    /// The sums so far as bytes, from which [`resume`](Self::resume) continues; `recipe` is the
    /// recipe as bytes.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn to_bytes(&self, recipe: &[u8]) -> Result<Vec<u8>> {
        let (leaf, row, used) = (self.leaf(), self.row, self.used);
        let later = self.saved.values().filter_map(|saved| match saved {
            SavedSum::Done(leaves, sum) => Some((leaves, sum)),
            SavedSum::UnderWay { .. } => None,
        });
        let done = self.done.iter().map(|done| (&done.0, &done.1)).chain(later);
        let (mut nodes, mut states) = (Vec::new(), Vec::new());
        for (leaves, sum) in done {
            nodes.push(leaves.clone());
            states.push(sum.to_bytes());
        }
        states.push(self.state.to_bytes());
        let head = SavedLeaves { digest: digest(recipe), done: nodes, leaf, row, used };
        let head = serde_json::to_vec(&head).map_err(wrong)?;
        states.insert(0, head);
        Ok(pack(Content::Sums, &states))
    }

    /// Continues from the bytes of [`to_bytes`](Self::to_bytes), with the bytes of the same recipe.
    /// Only the leaves that are summed here are used; the function can be called for several
    /// checkpoints in turn.
    ///
    /// # Errors
    /// [`Error::Checkpoint`](crate::Error::Checkpoint) for damaged bytes, for sums of another
    /// recipe and for sums made with another instruction set.
    pub fn resume(mut self, recipe: &[u8], bytes: &[u8]) -> Result<Self> {
        let (head, states) = parts(recipe, bytes)?;
        let empty = self.empty.empty();
        let state = |bytes: &[u8]| empty.read(bytes).map_err(wrong);
        let rows_of = |node: &Range<usize>| {
            let (first, last) = (self.tree.leaf(node.start), self.tree.leaf(node.end - 1));
            first.start..last.end
        };
        for (node, bytes) in head.done.iter().zip(&states) {
            if !self.tree.is_node(node.clone()) {
                return Err(wrong("its sums are of no node of the tree: it is damaged"));
            }
            let is_ours = self.leaves.start <= node.start && node.end <= self.leaves.end;
            if is_ours && node.start >= self.leaf() && !self.holds(node) {
                self.saved.retain(|first, _| !node.contains(first));
                let state = state(bytes)?;
                if state.rows() != rows_of(node).len() as u64 {
                    return Err(wrong("its sums are not of all their rows: it is damaged"));
                }
                self.saved.insert(node.start, SavedSum::Done(node.clone(), state));
            }
        }
        let (leaf, row, used) = (head.leaf, head.row, head.used);
        let is_left = self.leaves.contains(&leaf) && leaf >= self.leaf();
        if is_left && !self.holds(&(leaf..leaf + 1)) {
            let state = state(states[head.done.len()])?;
            let (rows, of_leaf) = (state.rows(), rows_of(&(leaf..leaf + 1)));
            if rows >= of_leaf.len() as u64 || of_leaf.start as u64 + rows != used {
                return Err(wrong("its leaf has other rows than it says: it is damaged"));
            }
            let is_more = |saved: &SavedSum<S>| match saved {
                SavedSum::UnderWay { state, .. } => state.rows() < rows,
                SavedSum::Done(..) => false,
            };
            if self.saved.get(&leaf).is_none_or(is_more) {
                self.saved.insert(leaf, SavedSum::UnderWay { row, used, state });
            }
        }
        self.take_saved()?;
        if self.leaf() == self.leaves.end && leaf == self.leaves.end {
            (self.row, self.used) = (row, used);
        }
        Ok(self)
    }

    /// Whether a checkpoint holds any of the leaves that are summed here.
    pub fn wants(&self, saved: &SavedLeaves) -> bool {
        let starts = saved.done.iter().map(|node| &node.start);
        starts.chain([&saved.leaf]).any(|leaf| self.leaves.contains(leaf))
    }

    /// Whether a saved node contains all these leaves.
    fn holds(&self, leaves: &Range<usize>) -> bool {
        self.saved.values().any(|saved| match saved {
            SavedSum::Done(node, _) => node.start <= leaves.start && leaves.end <= node.end,
            SavedSum::UnderWay { .. } => false,
        })
    }
}

/// A checkpoint of the iterations of [`Recipe::iterate_over`](crate::Recipe::iterate_over), as
/// bytes; `recipe` is the recipe as bytes.
///
/// ```
/// use nystrom_pipeline::{iterations_from_bytes, iterations_to_bytes};
/// # use nystrom::faer::{MatMut, MatRef, mat};
/// # use nystrom::linalg_core::{ConjugateGradients, LinearSystem, Result};
/// # struct Twice;
/// # impl LinearSystem for Twice {
/// #     fn apply(&mut self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: bool) -> Result<()> {
/// #         out.copy_from(nystrom::faer::Scale(2.0) * x);
/// #         Ok(())
/// #     }
/// #     fn precondition(&mut self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
/// #         out.copy_from(r);
/// #     }
/// # }
/// # let solve = ConjugateGradients::start(&mut Twice, mat![[1.0], [2.0]].as_ref(), None)?.save();
/// let bytes = iterations_to_bytes(b"recipe", &solve);
/// assert_eq!(iterations_from_bytes(b"recipe", &bytes)?, solve);
/// assert!(iterations_from_bytes(b"another", &bytes).is_err());
/// # Ok::<(), nystrom_pipeline::Error>(())
/// ```
#[must_use]
pub fn iterations_to_bytes(recipe: &[u8], solve: &SavedSolve) -> Vec<u8> {
    pack(Content::Solve, &[digest(recipe).into_bytes(), solve.to_bytes()])
}

/// Reads a checkpoint that [`iterations_to_bytes`] wrote with the bytes of the same recipe.
///
/// # Errors
/// [`Error::Checkpoint`](crate::Error::Checkpoint) for damaged bytes, and for those of another
/// recipe or layout.
pub fn iterations_from_bytes(recipe: &[u8], bytes: &[u8]) -> Result<SavedSolve> {
    match unpack(Content::Solve, bytes)?[..] {
        [of, _] if of != digest(recipe).as_bytes() => {
            Err(wrong("its iterations are of another recipe"))
        }
        [_, solve] => SavedSolve::from_bytes(solve).map_err(wrong),
        _ => Err(wrong("it has another number of sections")),
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
