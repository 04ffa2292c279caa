//! Which leaves of the tree are summed where, and which are saved.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What was summed before.
#[derive(Debug)]
pub(super) enum SavedSum<S> {
    /// All leaves below a node of the tree.
    Done(Range<usize>, S),
    /// A leaf, and how far it is: as in [`Summing`](super::Summing).
    UnderWay { row: u64, used: u64, state: S },
}

/// The leaves of the tree of sums that a checkpoint holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedLeaves {
    /// Of the recipe.
    pub(super) digest: String,
    /// Below nodes of the tree, in any order.
    pub(super) done: Vec<Range<usize>>,
    /// The leaf under way, and how far it is.
    pub(super) leaf: usize,
    pub(super) row: u64,
    pub(super) used: u64,
}

impl SavedLeaves {
    /// Whether any of these leaves is in it, wholly or in part.
    pub(super) fn has(&self, leaves: &Range<usize>) -> bool {
        leaves.contains(&self.leaf) || self.done.iter().any(|node| leaves.contains(&node.start))
    }
}

/// Where the leaves of each of so many processes begin, and their end: about as many for each, and
/// no node divided that was saved.
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
