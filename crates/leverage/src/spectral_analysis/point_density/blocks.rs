//! Blocks of grid nodes; only blocks with nonzero contributions or results are stored.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Nodes of a block: 64 on the line, 8 × 8 in the plane, 4 × 4 × 4 in space.
pub(super) const NODES: usize = 64;

/// A block by its index along each axis; 0 along axes that the grid does not have.
pub(super) type Block = [i32; 3];

/// Distinct blocks, numbered in lexicographic order.
pub(super) struct BlockSet {
    blocks: Vec<Block>,
    number: FxHashMap<Block, usize>,
}

impl BlockSet {
    /// The set of the given blocks, without repetitions.
    pub(super) fn new(mut blocks: Vec<Block>) -> Self {
        blocks.par_sort_unstable();
        blocks.dedup();
        let number = blocks.iter().enumerate().map(|(i, &block)| (block, i)).collect();
        BlockSet { blocks, number }
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The number of `block`, if it exists.
    pub(super) fn number(&self, block: Block) -> Option<usize> {
        self.number.get(&block).copied()
    }

    /// The blocks on paths from `self` to `self`, where each path makes a step along axis `first`,
    /// then `middle` if there is one, then `last`. Returns the blocks that must be stored after the
    /// first pass, and after the second.
    ///
    /// A step is at most `reach` blocks long. For a compact cloud the result is its own blocks and
    /// a shell around them; for an isolated block, the block itself.
    pub(super) fn between_passes(
        &self,
        first: usize,
        middle: Option<usize>,
        last: usize,
        reach: i32,
    ) -> (BlockSet, Option<BlockSet>) {
        let (forwards, backwards) = (self.dilated(first, reach), self.dilated(last, reach));
        let Some(middle) = middle else {
            return (BlockSet::new(forwards.intersection(&backwards).copied().collect()), None);
        };
        let after_first = within_reach(forwards, &backwards, middle, reach);
        let holding = after_first.iter().copied().collect();
        let after_second = within_reach(backwards, &holding, middle, reach);
        (BlockSet::new(after_first), Some(BlockSet::new(after_second)))
    }

    fn dilated(&self, axis: usize, reach: i32) -> FxHashSet<Block> {
        self.blocks
            .iter()
            .flat_map(|&block| (-reach..=reach).map(move |offset| moved(block, axis, offset)))
            .collect()
    }
}

/// The members of `blocks` within `reach` along `axis` of a block in `others`.
fn within_reach(
    blocks: FxHashSet<Block>,
    others: &FxHashSet<Block>,
    axis: usize,
    reach: i32,
) -> Vec<Block> {
    let near = |block: &Block| {
        // from the centre outwards: most have a close neighbour
        let outwards = (0..=reach).flat_map(|offset| [offset, -offset]);
        outwards.into_iter().any(|offset| others.contains(&moved(*block, axis, offset)))
    };
    blocks.into_iter().collect::<Vec<_>>().into_par_iter().filter(near).collect()
}

/// The block that is `offset` blocks further along `axis`.
pub(super) fn moved(mut block: Block, axis: usize, offset: i32) -> Block {
    block[axis] += offset;
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_between_passes_are_those_on_a_way_from_the_set_to_itself() {
        let set = BlockSet::new(vec![[0, 0, 0], [2, 1, 1], [9, 9, 9], [0, 0, 0], [0, 0, 1]]);
        assert_eq!((set.len(), set.number([0, 0, 1]), set.number([1, 1, 1])), (4, Some(1), None));
        for reach in [0, 1, 2, 3] {
            // all paths a → b → c → e with a, e in the set: a step of at most `reach` per axis
            let steps =
                |from: Block, axis| (-reach..=reach).map(move |offset| moved(from, axis, offset));
            let mut on_a_way = (vec![], vec![]);
            for &a in set.blocks() {
                for b in steps(a, 2) {
                    for c in steps(b, 1) {
                        if steps(c, 0).any(|e| set.number(e).is_some()) {
                            on_a_way.0.push(b);
                            on_a_way.1.push(c);
                        }
                    }
                }
            }
            let (first, second) = set.between_passes(2, Some(1), 0, reach);
            assert_eq!(first.blocks(), BlockSet::new(on_a_way.0).blocks());
            assert_eq!(second.unwrap().blocks(), BlockSet::new(on_a_way.1).blocks());
        }
    }
}
