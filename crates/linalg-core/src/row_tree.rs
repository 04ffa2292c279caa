//! Sums over rows, in an order that depends on the number of rows alone.
//!
//! A floating-point sum depends on the order of its terms. Every sum over n rows in this workspace
//! (Gram matrices, K_nmᵀv, effective dimensions, losses) adds leaves along the tree below, so that
//! its order is a function of n alone.

use std::convert::Infallible;
use std::ops::Range;

/// Least number of rows in a leaf, except the last.
const MIN_LEAF_ROWS: usize = 1024;
/// Limit on the number of leaves of [`RowTree::new`]: a depth-first walk then holds at most six
/// partial results.
const MAX_LEAVES: usize = 32;

/// Limit on the number of leaves of [`RowTree::large`], for results that take much memory: a
/// depth-first walk then holds at most four partial results.
const MAX_LARGE_LEAVES: usize = 8;

/// A fixed binary tree over the rows 0..n. Its leaves are contiguous ranges of rows, determined by
/// n and the limit on the number of leaves.
///
/// Both reductions combine the same leaves in the same order, so that they give the same bits with
/// any number of threads. A distributed backend may compute leaves anywhere and combine them along
/// the same tree.
///
/// * [`reduce`](RowTree::reduce) computes leaves in parallel, for small results.
/// * [`reduce_in_order`](RowTree::reduce_in_order) computes one leaf after another, for large
///   results (an m × m Gram matrix) whose own computation is parallel. At most six partial results
///   are alive at a time, at most four for a [`large`](RowTree::large) tree.
///
/// ```
/// use nystrom_linalg_core::RowTree;
/// let tree = RowTree::new(100_000);
/// let sum =
///     tree.reduce(|rows| rows.map(|i| 1.0 / (i + 1) as f64).sum::<f64>(), |a, b| a + b).unwrap();
/// assert!((sum - 12.090146129863428).abs() < 1e-12); // the harmonic number H_100000
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct RowTree {
    n: usize,
    leaf_rows: usize,
}

impl RowTree {
    /// The tree over `n` rows with at most 32 leaves. Every leaf but the last has a multiple of
    /// 1024 rows.
    pub fn new(n: usize) -> Self {
        Self::with_leaves(n, MAX_LEAVES)
    }

    /// The tree over `n` rows for results as large as an m × m matrix, which are computed [in
    /// order](Self::reduce_in_order). It has at most 8 leaves, so that at most four partial results
    /// are alive at a time, and that few are set to zero and added.
    pub fn large(n: usize) -> Self {
        Self::with_leaves(n, MAX_LARGE_LEAVES)
    }

    /// The tree over `n` rows with at most `leaves` leaves (0 counts as 1), for example the largest
    /// number of processes among which to share the leaves. Sums along a tree with other leaves
    /// have other bits.
    ///
    /// ```
    /// use nystrom_linalg_core::RowTree;
    /// assert_eq!(RowTree::with_leaves(1_000_000, 64).leaves(), 62); // of 16 × 1024 rows
    /// ```
    pub fn with_leaves(n: usize, leaves: usize) -> Self {
        RowTree {
            n,
            leaf_rows: n.div_ceil(leaves.max(1)).next_multiple_of(MIN_LEAF_ROWS).max(MIN_LEAF_ROWS),
        }
    }

    /// Number of leaves; 0 only if n = 0.
    pub fn leaves(&self) -> usize {
        self.n.div_ceil(self.leaf_rows)
    }

    /// The rows of leaf `t`.
    ///
    /// # Panics
    /// If `t >= leaves()`.
    pub fn leaf(&self, t: usize) -> Range<usize> {
        assert!(t < self.leaves(), "leaf {t} of {}", self.leaves());
        t * self.leaf_rows..(t + 1).saturating_mul(self.leaf_rows).min(self.n)
    }

    /// Whether `leaves` are exactly the leaves below one node of the tree, so that their results
    /// are combined there.
    ///
    /// To combine along the tree, keep a stack of the results of leaves in order, and combine the
    /// top two results whenever this returns true for the range of leaves that they cover.
    ///
    /// ```
    /// use nystrom_linalg_core::RowTree;
    /// let tree = RowTree::large(5 * 1024); // ((0 1) 2) (3 4)
    /// assert!(tree.is_node(0..2) && tree.is_node(0..3) && tree.is_node(3..5));
    /// assert!(!tree.is_node(1..3) && !tree.is_node(2..5) && !tree.is_node(3..3));
    /// ```
    pub fn is_node(&self, leaves: Range<usize>) -> bool {
        if leaves.is_empty() {
            return false; // no node is as small: the search would not end
        }
        let mut node = 0..self.leaves();
        while node.len() > leaves.len() {
            let (left, right) = halves(node);
            node = if leaves.start < left.end { left } else { right };
        }
        node == leaves
    }

    /// The leaves below the two children of the node above `node`, a range of at least two leaves.
    /// The result of the node is the combination of the results of its children, which may be
    /// computed in other processes.
    ///
    /// ```
    /// use nystrom_linalg_core::RowTree;
    /// assert_eq!(RowTree::children(0..5), (0..3, 3..5));
    /// ```
    pub fn children(node: Range<usize>) -> (Range<usize>, Range<usize>) {
        halves(node)
    }

    /// Computes leaves in parallel and combines them along the tree; `None` if n = 0.
    pub fn reduce<A: Send>(
        &self,
        leaf: impl Fn(Range<usize>) -> A + Sync,
        combine: impl Fn(A, A) -> A + Sync,
    ) -> Option<A> {
        (self.n > 0).then(|| self.walk(0..self.leaves(), &leaf, &combine))
    }

    fn walk<A: Send>(
        &self,
        leaves: Range<usize>,
        leaf: &(impl Fn(Range<usize>) -> A + Sync),
        combine: &(impl Fn(A, A) -> A + Sync),
    ) -> A {
        if leaves.len() == 1 {
            return leaf(self.leaf(leaves.start));
        }
        let (left, right) = halves(leaves);
        let (a, b) =
            rayon::join(|| self.walk(left, leaf, combine), || self.walk(right, leaf, combine));
        combine(a, b)
    }

    /// Computes leaves one after another in row order and combines them along the same tree; `None`
    /// if n = 0.
    pub fn reduce_in_order<A>(
        &self,
        mut leaf: impl FnMut(Range<usize>) -> A,
        combine: impl FnMut(A, A) -> A,
    ) -> Option<A> {
        let Ok(sum) = self.try_reduce_in_order(|rows| Ok::<A, Infallible>(leaf(rows)), combine);
        sum
    }

    /// As [`reduce_in_order`](Self::reduce_in_order), for leaves that may fail.
    ///
    /// # Errors
    /// The first error of a leaf, which ends the computation.
    pub fn try_reduce_in_order<A, E>(
        &self,
        mut leaf: impl FnMut(Range<usize>) -> Result<A, E>,
        mut combine: impl FnMut(A, A) -> A,
    ) -> Result<Option<A>, E> {
        if self.n == 0 {
            return Ok(None);
        }
        self.walk_in_order(0..self.leaves(), &mut leaf, &mut combine).map(Some)
    }

    fn walk_in_order<A, E>(
        &self,
        leaves: Range<usize>,
        leaf: &mut impl FnMut(Range<usize>) -> Result<A, E>,
        combine: &mut impl FnMut(A, A) -> A,
    ) -> Result<A, E> {
        if leaves.len() == 1 {
            return leaf(self.leaf(leaves.start));
        }
        let (left, right) = halves(leaves);
        let a = self.walk_in_order(left, leaf, combine)?;
        let b = self.walk_in_order(right, leaf, combine)?;
        Ok(combine(a, b))
    }

    /// Cuts `rows` into consecutive tiles of `size` rows, for the loop inside a leaf; the last tile
    /// may be shorter.
    ///
    /// # Panics
    /// If `size` is 0.
    pub fn tiles(rows: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
        rows.clone().step_by(size).map(move |start| start..(start + size).min(rows.end))
    }
}

fn halves(range: Range<usize>) -> (Range<usize>, Range<usize>) {
    let mid = range.start + range.len().div_ceil(2);
    (range.start..mid, mid..range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::same_at_any_thread_count;

    #[test]
    fn leaves_cover_the_rows_once() {
        for n in [0, 1, 1023, 1024, 1025, 32 * 1024, 32 * 1024 + 1, 1_000_003] {
            let tree = RowTree::new(n);
            assert!(tree.leaves() <= MAX_LEAVES);
            let covered: Vec<usize> =
                (0..tree.leaves()).flat_map(|t| [tree.leaf(t).start, tree.leaf(t).end]).collect();
            assert_eq!(covered.first().copied().unwrap_or(0), 0);
            assert_eq!(covered.last().copied().unwrap_or(0), n);
            assert!(
                covered[..].chunks(2).collect::<Vec<_>>().windows(2).all(|w| w[0][1] == w[1][0])
            );
        }
    }

    #[test]
    fn both_walks_give_the_same_bits_at_any_thread_count() {
        let tree = RowTree::new(123_457);
        let leaf = |rows: Range<usize>| rows.map(|i| ((i as f64) * 0.37).sin()).sum::<f64>();
        let reference = tree.reduce_in_order(leaf, |a, b| a + b).unwrap();
        let sum = same_at_any_thread_count(|| tree.reduce(leaf, |a, b| a + b).unwrap().to_bits());
        assert_eq!(sum, reference.to_bits());
    }

    #[test]
    fn a_large_tree_holds_four_results_at_most() {
        use std::cell::Cell;
        struct Partial<'a>(&'a Cell<usize>);
        impl Drop for Partial<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() - 1);
            }
        }
        for (tree, most) in [(RowTree::large(1_000_003), 4), (RowTree::new(1_000_003), 6)] {
            let (alive, peak) = (Cell::new(0), Cell::new(0));
            let leaf = |_| {
                alive.set(alive.get() + 1);
                peak.set(alive.get().max(peak.get()));
                Partial(&alive)
            };
            drop(tree.reduce_in_order(leaf, |a, _| a));
            assert_eq!((peak.get(), alive.get()), (most, 0));
        }
    }

    #[test]
    fn combining_whenever_it_can_is_combining_along_the_tree() {
        for leaves in 1..=MAX_LEAVES {
            let tree = RowTree::new(leaves * MIN_LEAF_ROWS);
            let expected =
                tree.reduce_in_order(|rows| format!("{}", rows.start), |a, b| format!("({a} {b})"));
            let mut done: Vec<(Range<usize>, String)> = Vec::new();
            for leaf in 0..tree.leaves() {
                done.push((leaf..leaf + 1, format!("{}", tree.leaf(leaf).start)));
                while let [.., (a, _), (b, _)] = &done[..]
                    && tree.is_node(a.start..b.end)
                {
                    let (right, left) = (done.pop().unwrap(), done.pop().unwrap());
                    let both = format!("({} {})", left.1, right.1);
                    done.push((left.0.start..right.0.end, both));
                }
            }
            assert_eq!(done.len(), 1);
            assert_eq!(Some(&done[0].1), expected.as_ref());
        }
    }

    #[test]
    fn no_rows_no_result() {
        assert_eq!(RowTree::new(0).reduce(|_| 1, |a, b| a + b), None);
        assert_eq!(RowTree::new(0).reduce_in_order(|_| 1, |a, b| a + b), None);
    }

    #[test]
    fn the_first_error_ends_the_walk() {
        let tree = RowTree::new(10 * MIN_LEAF_ROWS);
        let mut walked = 0;
        let leaf = |rows: Range<usize>| {
            walked += 1;
            if walked < 3 { Ok(rows.len()) } else { Err(rows.start) }
        };
        let failed = tree.try_reduce_in_order(leaf, |a, b| a + b);
        assert_eq!((failed, walked), (Err(tree.leaf(2).start), 3));
    }

    #[test]
    fn tiles_cut_a_range() {
        let tiles: Vec<_> = RowTree::tiles(3..10, 3).collect();
        assert_eq!(tiles, [3..6, 6..9, 9..10]);
        assert_eq!(RowTree::tiles(3..3, 4).count(), 0);
    }
}
