//! A k-d tree with the geometry per node that bounds sums of a radial kernel.

use rayon::prelude::*;

/// Most points of a leaf.
const LEAF: usize = 32;

/// A balanced k-d tree over n points of ℝ^d.
///
/// Node v has the children 2v + 1 and 2v + 2; its points are contiguous in tree order. The tree is
/// built in parallel in O(n d log n) time and is the same for any number of threads.
pub(crate) struct Tree {
    pub(super) d: usize,
    pub(super) n: usize,
    /// The coordinates, point after point in tree order.
    pub(super) coords: Vec<f64>,
    /// `order[t]` is the number of the point at position t.
    order: Vec<usize>,
    levels: u32,
    /// Per node: d lower ends, d upper ends of the bounding box, d coordinates of the centroid.
    geometry: Vec<f64>,
    /// Per node: the mean of the squared distances to the centroid.
    pub(super) scatter: Vec<f64>,
}

impl Tree {
    /// The tree over `coords`, n·d numbers, point after point.
    pub(crate) fn new(coords: &[f64], d: usize) -> Self {
        let n = coords.len() / d;
        let mut order: Vec<usize> = (0..n).collect();
        let levels = n.div_ceil(LEAF).next_power_of_two().trailing_zeros();
        split(coords, d, &mut order, levels);
        let mut sorted = Vec::with_capacity(coords.len());
        order.iter().for_each(|&i| sorted.extend_from_slice(&coords[i * d..(i + 1) * d]));
        let mut tree =
            Tree { d, n, coords: sorted, order, levels, geometry: vec![], scatter: vec![] };
        let nodes: Vec<(Vec<f64>, f64)> =
            (0..tree.nodes()).into_par_iter().map(|v| tree.measure(v)).collect();
        (tree.geometry, tree.scatter) =
            (nodes.iter().flat_map(|(g, _)| g).copied().collect(), vec![]);
        tree.scatter = nodes.into_iter().map(|(_, scatter)| scatter).collect();
        tree
    }

    fn nodes(&self) -> usize {
        (2 << self.levels) - 1
    }

    /// The numbers of the points, in tree order.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The point at position `t` of the tree order.
    pub(crate) fn point(&self, t: usize) -> &[f64] {
        &self.coords[t * self.d..(t + 1) * self.d]
    }

    /// Whether node `v` has no children.
    pub(super) fn is_leaf(&self, v: usize) -> bool {
        2 * v + 1 >= self.nodes()
    }

    /// Positions of the points of node `v`.
    pub(super) fn range(&self, v: usize) -> std::ops::Range<usize> {
        let depth = (v + 1).ilog2();
        let path = v + 1 - (1 << depth);
        let (mut start, mut end) = (0, self.n);
        for level in (0..depth).rev() {
            let mid = start + (end - start) / 2;
            match path >> level & 1 {
                0 => end = mid,
                _ => start = mid,
            }
        }
        start..end
    }

    /// Smallest and largest squared distance of `q` from the box of node `v`, and the mean over its
    /// points.
    pub(super) fn squared_distances(&self, v: usize, q: &[f64]) -> (f64, f64, f64) {
        let d = self.d;
        let node = &self.geometry[3 * d * v..3 * d * (v + 1)];
        let (mut nearest, mut farthest, mut to_centroid) = (0.0, 0.0, 0.0);
        for k in 0..d {
            let (below, above) = (node[k] - q[k], q[k] - node[d + k]);
            let outside = below.max(above).max(0.0);
            let across = below.abs().max(above.abs());
            nearest += outside * outside;
            farthest += across * across;
            to_centroid += (q[k] - node[2 * d + k]).powi(2);
        }
        (nearest, farthest, (to_centroid + self.scatter[v]).clamp(nearest, farthest))
    }

    /// Bounding box, centroid and scatter of node `v`.
    fn measure(&self, v: usize) -> (Vec<f64>, f64) {
        let (d, range) = (self.d, self.range(v));
        let count = range.len() as f64;
        let mut geometry = vec![f64::INFINITY; d];
        geometry.resize(2 * d, f64::NEG_INFINITY);
        geometry.resize(3 * d, 0.0);
        for t in range.clone() {
            for (k, &x) in self.point(t).iter().enumerate() {
                geometry[k] = geometry[k].min(x);
                geometry[d + k] = geometry[d + k].max(x);
                geometry[2 * d + k] += x / count;
            }
        }
        let squared = |t: usize| squared_distance(self.point(t), &geometry[2 * d..]);
        let scatter = range.map(squared).sum::<f64>() / count;
        (geometry, scatter)
    }
}

pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Orders the points of `order` recursively: each part is split into two halves along the widest
/// side of its bounding box, `levels` times.
fn split(coords: &[f64], d: usize, order: &mut [usize], levels: u32) {
    if levels == 0 || order.len() < 2 {
        return;
    }
    let at = |i: usize, k: usize| coords[i * d + k];
    let width = |k: usize| {
        let (low, high) =
            order.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &i| {
                (low.min(at(i, k)), high.max(at(i, k)))
            });
        high - low
    };
    let widths: Vec<f64> = (0..d).map(width).collect();
    let axis = (0..d).max_by(|&a, &b| widths[a].total_cmp(&widths[b])).unwrap_or(0);
    let mid = order.len() / 2;
    order.select_nth_unstable_by(mid, |&i, &j| at(i, axis).total_cmp(&at(j, axis)).then(i.cmp(&j)));
    let (left, right) = order.split_at_mut(mid);
    rayon::join(|| split(coords, d, left, levels - 1), || split(coords, d, right, levels - 1));
}
