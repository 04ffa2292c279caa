//! The leaves of the tree that each process sums, and those in checkpoints.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A sum from a checkpoint.
#[derive(Debug)]
pub(super) enum SavedSum<S> {
    /// The sum of all leaves below a node of the tree.
    Done(Range<usize>, S),
    /// The sum of the first rows of a leaf, with the fields of [`Summing`](super::Summing).
    UnderWay { row: u64, used: u64, state: S },
}

/// The leaves of the tree of sums that a checkpoint holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedLeaves {
    /// The digest of the recipe.
    pub(super) digest: String,
    /// The leaves below each saved node of the tree, in any order.
    pub(super) done: Vec<Range<usize>>,
    /// The leaf under way, with the fields of [`Summing`](super::Summing).
    pub(super) leaf: usize,
    pub(super) row: u64,
    pub(super) used: u64,
}

/// The first leaf of each of `size` processes, and the number of leaves: all processes have about
/// the same number of leaves, and no saved node is divided.
pub(super) fn cuts(leaves: usize, size: usize, saved: &[SavedLeaves]) -> Vec<usize> {
    let cut = |rank: usize| {
        let mut cut = (rank * leaves).div_ceil(size);
        let nodes = saved.iter().flat_map(|saved| &saved.done);
        // a damaged checkpoint may name others
        let nodes = || nodes.clone().filter(|node| node.end <= leaves);
        while let Some(node) = nodes().find(|node| node.start < cut && cut < node.end) {
            cut = node.end;
        }
        cut
    };
    (0..=size).map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::{SavedLeaves, cuts};

    #[test]
    fn processes_have_about_as_many_leaves_and_whole_nodes() {
        let saved = |done: Vec<std::ops::Range<usize>>| {
            [SavedLeaves { digest: String::new(), done, leaf: 0, row: 0, used: 0 }]
        };
        assert_eq!(cuts(8, 3, &[]), [0, 3, 6, 8]);
        assert_eq!(cuts(2, 4, &[]), [0, 1, 1, 2, 2]);
        assert_eq!(cuts(8, 4, &saved(vec![0..4, 4..5])), [0, 4, 4, 6, 8]);
        assert_eq!(cuts(8, 2, &saved(vec![0..8, 2..4])), [0, 8, 8]);
        assert_eq!(cuts(8, 2, &saved(std::iter::once(2..9).collect())), [0, 4, 8]);
    }
}
