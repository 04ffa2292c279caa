//! Merge trees computed by several processes, each of which does some of the chunks (feature
//! `serde`).

use super::tree::Node;
use super::{MergeTree, SqueakState, incompatible};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Error, Result, Scalar};
use serde::{Deserialize, Serialize};

/// The finished part of a [`MergeTree`], for another tree of the same shape, sizes, key, kernel and
/// parameters to [take](MergeTree::take).
///
/// If the finished chunks are consecutive, it has at most 2⌈log₂ k⌉ dictionaries.
///
/// ```
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::{MergeTree, MergeTreeState, SqueakParams, TreeShape};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..900).map(|i| (i as f64 * 0.618).fract()).collect();
/// let chunk = |c: usize| Points::from_slice(&x[300 * c..300 * (c + 1)]);
/// let tree = || {
///     let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
///     let (kernel, params) = (Gaussian::new(0.2)?, SqueakParams::new(10));
///     MergeTree::new(kernel, 1, 1.0, params, TreeShape::Balanced, &[300; 3], &mut rng)
/// };
/// let (mut here, mut there) = (tree()?, tree()?);
/// here.insert(0, chunk(0))?;
/// there.insert(1, chunk(1))?;
/// there.insert(2, chunk(2))?;
/// let sent = serde_json::to_string(&there.state()).unwrap();
/// let received: MergeTreeState<f64> = serde_json::from_str(&sent).unwrap();
/// here.take(received)?;
/// assert_eq!(here.finish()?.n_seen(), 900);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Scalar + serde::Deserialize<'de>"))]
pub struct MergeTreeState<T> {
    chunks: Vec<usize>,
    ready: Vec<(Node, SqueakState<T>)>,
}

impl<T: Scalar, K: Kernel<T> + Clone> MergeTree<K, T> {
    /// The finished part of this tree.
    pub fn state(&self) -> MergeTreeState<T> {
        let inserted = self.inserted.iter().enumerate();
        let chunks = inserted.filter(|(_, done)| **done).map(|(chunk, _)| chunk).collect();
        let mut ready: Vec<(Node, SqueakState<T>)> =
            self.ready.iter().map(|(node, squeak)| (*node, squeak.state())).collect();
        ready.sort_unstable_by_key(|(node, _)| *node);
        MergeTreeState { chunks, ready }
    }

    /// Adds the finished chunks of another tree and does every merge whose children are both
    /// present. The result has the bits of one tree that did all chunks.
    ///
    /// # Errors
    /// [`Error::DuplicateIndex`] if a chunk is already in this tree; [`Error::IndexOutOfRange`] and
    /// [`Error::Incompatible`] if the state is of another tree; those of
    /// [`Squeak::resume`](super::Squeak::resume) and of merges. After an error this tree is
    /// unchanged, unless a merge failed.
    pub fn take(&mut self, state: MergeTreeState<T>) -> Result<()> {
        let (what, n) = ("chunks of a merge tree", self.inserted.len());
        let mut below = vec![0_u64; state.ready.len()];
        for (position, &index) in state.chunks.iter().enumerate() {
            if index >= n {
                return Err(Error::IndexOutOfRange { what, position, index, n });
            }
            if self.inserted[index] || state.chunks[..position].contains(&index) {
                return Err(Error::DuplicateIndex { what, index, first: index, second: index });
            }
            let node =
                self.on_path_to_root(index, |node| state.ready.iter().position(|r| r.0 == node));
            let Some(place) = node else {
                return Err(incompatible(format!("no dictionary contains chunk {index}")));
            };
            below[place] += self.rows(index).len() as u64;
        }
        let mut taken = Vec::new();
        for ((node, state), rows) in state.ready.into_iter().zip(below) {
            let mut squeak = self.empty.clone();
            squeak.resume(state)?;
            if squeak.n_seen() != rows {
                let seen = squeak.n_seen();
                let problem = format!("a node of {rows} rows has a dictionary of {seen}");
                return Err(incompatible(problem));
            }
            taken.push((node, squeak));
        }
        state.chunks.iter().for_each(|&chunk| self.inserted[chunk] = true);
        let nodes: Vec<Node> = taken.iter().map(|(node, _)| *node).collect();
        self.ready.extend(taken);
        nodes.into_iter().try_for_each(|node| self.climb(node))
    }

    /// The first result of `find` on the path from the leaf of a chunk to the root.
    fn on_path_to_root<A>(&self, chunk: usize, find: impl Fn(Node) -> Option<A>) -> Option<A> {
        let mut node = Some(self.shape.leaf(chunk as u64, self.chunks()));
        while let Some(here) = node {
            if let Some(found) = find(here) {
                return Some(found);
            }
            node = self.shape.parent(here, self.chunks()).map(|(parent, ..)| parent);
        }
        None
    }
}
