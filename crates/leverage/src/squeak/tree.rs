//! DISQUEAK: a binary tree of merges over chunks of the data.

use super::{Squeak, SqueakParams, StreamDictionary};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Error, Result, Scalar, Streams, validate};
use rand::Rng;
use std::collections::HashMap;
use std::ops::Range;

/// The shape of a merge tree; the tree depends only on the shape and the number of chunks k.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TreeShape {
    /// DISQUEAK: a perfect tree of depth ⌊log₂ k⌋, whose first leaves are split once more if k is
    /// no power of 2. The depth is ⌈log₂ k⌉.
    #[default]
    Balanced,
    /// SQUEAK by merging: the dictionary of the first chunks is merged with the next one, k − 1
    /// times.
    Sequential,
}

/// The number of a node in its tree. The node draws from the stream of this number under the tree's
/// key.
pub(super) type Node = u64;

impl TreeShape {
    /// The node of chunk `c` among `k`.
    pub(super) fn leaf(self, c: u64, k: u64) -> Node {
        match self {
            TreeShape::Balanced => {
                let perfect = 1 << k.ilog2(); //      as a heap: root 1, children 2i and 2i + 1
                let split = k - perfect;
                if c < 2 * split { 2 * perfect + c } else { perfect + c - split }
            }
            // node k + t merges the first t chunks with chunk t
            TreeShape::Sequential => c,
        }
    }

    /// The parent of `node` with its two children, (parent, left child, right child); none for the
    /// root.
    pub(super) fn parent(self, node: Node, k: u64) -> Option<(Node, Node, Node)> {
        let chain = |t: u64| (k + t, if t == 1 { 0 } else { k + t - 1 }, t);
        match self {
            TreeShape::Balanced => (node > 1).then_some((node / 2, node & !1, node | 1)),
            TreeShape::Sequential if k == 1 || node == 2 * k - 1 => None,
            TreeShape::Sequential if node < k => Some(chain(node.max(1))),
            TreeShape::Sequential => Some(chain(node - k + 1)),
        }
    }

    fn root(self, k: u64) -> Node {
        match self {
            TreeShape::Balanced => 1,
            TreeShape::Sequential if k == 1 => 0,
            TreeShape::Sequential => 2 * k - 1,
        }
    }
}

/// Sizes of `chunks` chunks of n points, which differ by at most 1; n chunks if n < `chunks`.
///
/// ```
/// assert_eq!(nystrom_leverage::even_chunks(10, 4), [2, 3, 2, 3]);
/// ```
pub fn even_chunks(n: usize, chunks: usize) -> Vec<usize> {
    let k = chunks.min(n) as u128;
    let end = |c: u128| (c * n as u128 / k.max(1)) as usize;
    (0..k).map(|c| end(c + 1) - end(c)).collect()
}

/// A merge tree over chunks that are inserted in any order: the same key gives the same bits for
/// every order.
///
/// Each leaf is a [`Squeak`] pass over one chunk. Each inner node is the [merge](Squeak::merge) of
/// its children, done as soon as both are present. The random draws of a node depend only on the
/// tree's key and the number of the node. If chunks are inserted in order, at most ⌈log₂ k⌉ states
/// wait for their siblings.
///
/// # Source
/// DISQUEAK, Calandriello, Lazaric & Valko, AISTATS 2017 (arXiv:1803.10172); the shape of the
/// balanced tree is that of the authors' code.
///
/// # Departures
/// Leaves are shrunk before the first merge (in the authors' code they are raw chunks), so that a
/// chunk may be larger than a dictionary.
///
/// ```
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::{MergeTree, SqueakParams, TreeShape};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..900).map(|i| (i as f64 * 0.618).fract()).collect();
/// let state = |order: [usize; 3]| {
///     let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
///     let (kernel, params) = (Gaussian::new(0.2)?, SqueakParams::new(10));
///     let mut tree =
///         MergeTree::new(kernel, 1, 1.0, params, TreeShape::Balanced, &[300; 3], &mut rng)?;
///     for chunk in order {
///         tree.insert(chunk, Points::from_slice(&x[300 * chunk..300 * (chunk + 1)]))?;
///     }
///     tree.finish()
/// };
/// assert_eq!(state([0, 1, 2])?, state([2, 0, 1])?);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct MergeTree<K, T> {
    pub(super) empty: Squeak<K, T>,
    pub(super) shape: TreeShape,
    ranges: Vec<Range<u64>>,
    streams: Streams,
    pub(super) inserted: Vec<bool>,
    pub(super) ready: HashMap<Node, Squeak<K, T>>,
}

impl<T: Scalar, K: Kernel<T> + Clone> MergeTree<K, T> {
    /// A tree over `sizes.len()` chunks; chunk c has `sizes[c]` points of dimension `dim`.
    ///
    /// # Randomness
    /// One 64-bit key is drawn; node i of the tree draws from stream i under that key.
    ///
    /// # Errors
    /// Those of [`Squeak::new`]; [`Error::Empty`] without chunks.
    pub fn new(
        kernel: K,
        dim: usize,
        gamma: T,
        params: SqueakParams,
        shape: TreeShape,
        sizes: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let empty = Squeak::new(kernel, dim, gamma, params)?;
        validate::not_empty("chunks of a merge tree", sizes.len())?;
        let mut end = 0;
        let mut range = |&size: &usize| {
            let start = end;
            end += size as u64;
            start..end
        };
        let ranges = sizes.iter().map(&mut range).collect();
        let (streams, inserted) = (Streams::from_rng(rng), vec![false; sizes.len()]);
        Ok(MergeTree { empty, shape, ranges, streams, inserted, ready: HashMap::new() })
    }

    /// Inserts the points of chunk number `chunk` and does every merge whose children are both
    /// present.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] or [`Error::DuplicateIndex`] for the chunk number,
    /// [`Error::Shape`] if the chunk has not the number of points given to [`new`](Self::new),
    /// those of [`Squeak::push`] and [`Squeak::merge`]. No finished work is lost. After
    /// [`Error::DictionaryFull`] raise the cap with
    /// [`set_max_dictionary`](Self::set_max_dictionary). If a leaf failed, insert the chunk again;
    /// if a merge failed, [`finish`](Self::finish) repeats the merge.
    pub fn insert(&mut self, chunk: usize, points: Points<'_, T>) -> Result<()> {
        self.check_new(chunk)?;
        validate::same_size("points of a chunk", self.rows(chunk).len(), points.len())?;
        let leaf = self.leaf(chunk, points)?;
        self.keep(chunk, leaf)
    }

    /// Starts a chunk that comes block by block: returns an empty state and the generator of the
    /// chunk's leaf. [Push](Squeak::push) the blocks to the state in order, with this generator,
    /// then pass both to [`end`](Self::end).
    ///
    /// # Errors
    /// As [`insert`](Self::insert) for the chunk number.
    pub fn begin(&self, chunk: usize) -> Result<(Squeak<K, T>, impl Rng + use<K, T>)> {
        self.check_new(chunk)?;
        Ok(self.empty_leaf(chunk))
    }

    /// Inserts a chunk started by [`begin`](Self::begin), with the generator that its blocks were
    /// pushed with, and does every merge whose children are both present. The bits are those of
    /// [`insert`](Self::insert).
    ///
    /// # Randomness
    /// As [`Squeak::settle`].
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn end(&mut self, chunk: usize, leaf: Squeak<K, T>, rng: &mut dyn Rng) -> Result<()> {
        self.check_new(chunk)?;
        let (rows, seen) = (self.rows(chunk).len(), leaf.n_seen() as usize);
        validate::same_size("points of a chunk", rows, seen)?;
        let leaf = leaf.settled(rng)?;
        self.keep(chunk, leaf)
    }

    /// Returns the merged state of all chunks.
    ///
    /// # Errors
    /// [`Error::Shape`] if chunks are missing; those of the remaining merges.
    pub fn finish(&mut self) -> Result<Squeak<K, T>> {
        let inserted = self.inserted.iter().filter(|inserted| **inserted).count();
        validate::same_size("chunks inserted into a merge tree", self.ranges.len(), inserted)?;
        let mut nodes: Vec<Node> = self.ready.keys().copied().collect();
        nodes.sort_unstable();
        for node in nodes {
            self.climb(node)?;
        }
        // every leaf is present and every merge is done: only the root remains
        self.ready
            .get(&self.shape.root(self.chunks()))
            .cloned()
            .ok_or(Error::Empty { what: "root of the merge tree" })
    }

    /// Sets the cap for later leaves and merges.
    ///
    /// # Errors
    /// [`Error::Empty`] if it is 0.
    pub fn set_max_dictionary(&mut self, cap: usize) -> Result<()> {
        self.empty.set_max_dictionary(cap)
    }

    /// An error if there is no such chunk, or if it was inserted before.
    fn check_new(&self, chunk: usize) -> Result<()> {
        let (what, n) = ("chunks of a merge tree", self.ranges.len());
        match self.inserted.get(chunk) {
            None => Err(Error::IndexOutOfRange { what, position: chunk, index: chunk, n }),
            Some(true) => {
                Err(Error::DuplicateIndex { what, index: chunk, first: chunk, second: chunk })
            }
            Some(false) => Ok(()),
        }
    }

    /// Stores the state of a complete chunk and does the merges above it.
    fn keep(&mut self, chunk: usize, leaf: Squeak<K, T>) -> Result<()> {
        let node = self.shape.leaf(chunk as u64, self.chunks());
        self.ready.insert(node, leaf);
        self.inserted[chunk] = true;
        self.climb(node)
    }

    pub(super) fn chunks(&self) -> u64 {
        self.ranges.len() as u64
    }

    pub(super) fn rows(&self, chunk: usize) -> Range<usize> {
        self.ranges[chunk].start as usize..self.ranges[chunk].end as usize
    }

    fn empty_leaf(&self, chunk: usize) -> (Squeak<K, T>, impl Rng + use<K, T>) {
        let rng = self.streams.stream(self.shape.leaf(chunk as u64, self.chunks()));
        (self.empty.clone().starting_at(self.ranges[chunk].start), rng)
    }

    fn leaf(&self, chunk: usize, points: Points<'_, T>) -> Result<Squeak<K, T>> {
        let (mut leaf, mut rng) = self.empty_leaf(chunk);
        leaf.push(points, &mut rng)?;
        leaf.settled(&mut rng)
    }

    fn merge(&self, node: Node, a: &Squeak<K, T>, b: &Squeak<K, T>) -> Result<Squeak<K, T>> {
        let mut merged = Squeak { params: self.empty.params, ..a.clone() };
        merged.absorb(b, &mut self.streams.stream(node))?;
        Ok(merged)
    }

    /// Merges `node` with its sibling, then the parent with its sibling, and so on, while the
    /// sibling is present.
    pub(super) fn climb(&mut self, mut node: Node) -> Result<()> {
        while let Some((parent, left, right)) = self.shape.parent(node, self.chunks()) {
            let (Some(a), Some(b)) = (self.ready.get(&left), self.ready.get(&right)) else { break };
            let merged = self.merge(parent, a, b)?;
            self.ready.remove(&left);
            self.ready.remove(&right);
            self.ready.insert(parent, merged);
            node = parent;
        }
        Ok(())
    }

    /// Computes the subtree of `node` on the threads of the current rayon pool; chunks are slices
    /// of `points`.
    pub(super) fn subtree(
        &self,
        node: Node,
        leaves: Range<u64>,
        points: Points<'_, T>,
    ) -> Result<Squeak<K, T>> {
        if leaves.end - leaves.start == 1 {
            let chunk = leaves.start as usize;
            return self.leaf(chunk, points.slice(self.rows(chunk)));
        }
        let (left, right) = (2 * node, 2 * node + 1);
        let middle = leaves.start + self.leaves_below(left);
        let (a, b) = rayon::join(
            || self.subtree(left, leaves.start..middle, points),
            || self.subtree(right, middle..leaves.end, points),
        );
        self.merge(node, &a?, &b?)
    }

    /// The number of leaves below a node of the balanced tree.
    fn leaves_below(&self, node: Node) -> u64 {
        let k = self.chunks();
        let perfect = 1_u64 << k.ilog2();
        if node >= perfect {
            return if node < k { 2 } else { 1 }; // heap nodes perfect..k are split once more
        }
        self.leaves_below(2 * node) + self.leaves_below(2 * node + 1)
    }

    /// The dictionary of all chunks: in parallel for the balanced shape, chunk after chunk for the
    /// sequential one.
    pub(super) fn run(mut self, points: Points<'_, T>) -> Result<StreamDictionary<T>> {
        let root = match self.shape {
            TreeShape::Balanced => self.subtree(1, 0..self.chunks(), points),
            TreeShape::Sequential => {
                for chunk in 0..self.ranges.len() {
                    self.insert(chunk, points.slice(self.rows(chunk)))?;
                }
                self.finish()
            }
        };
        Ok(root?.dictionary)
    }
}

impl<T: Scalar, K: Kernel<T>> Squeak<K, T> {
    /// A complete leaf: shrinks the dictionary and checks the cap.
    fn settled(mut self, rng: &mut dyn Rng) -> Result<Self> {
        self.settle(rng)?;
        self.params.check_cap(self.dictionary.len(), self.n_seen())?;
        Ok(self)
    }
}
