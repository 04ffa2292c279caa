//! Sums of a radial kernel over the points of a tree, to a relative tolerance.

use super::tree::{Tree, squared_distance};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A kernel φ(r²) that is decreasing and convex in r², such as exp(−r²/2) and exp(−r).
pub(crate) trait ConvexProfile: Sync {
    /// φ(s), s = r² ≥ 0.
    fn at(&self, s: f64) -> f64;
}

/// exp(−r²/(2h²)).
pub(crate) struct GaussianProfile(pub(crate) f64);

impl ConvexProfile for GaussianProfile {
    fn at(&self, s: f64) -> f64 {
        (-0.5 * s / (self.0 * self.0)).exp()
    }
}

/// exp(−r/h).
pub(crate) struct ExponentialProfile(pub(crate) f64);

impl ConvexProfile for ExponentialProfile {
    fn at(&self, s: f64) -> f64 {
        (-s.sqrt() / self.0).exp()
    }
}

/// A node that is not expanded, with bounds of its sum.
struct Open {
    node: usize,
    lower: f64,
    upper: f64,
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.upper - self.lower)
            .total_cmp(&(other.upper - other.lower))
            .then(other.node.cmp(&self.node))
    }
}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Open {}

/// Scratch memory of [`Tree::sum`], reused from query to query.
#[derive(Default)]
pub(crate) struct Frontier(BinaryHeap<Open>);

impl Tree {
    /// Σ_j φ(‖q − x_j‖²) with relative error at most `tolerance`, guaranteed up to rounding; and
    /// the number of nodes bounded and points summed.
    ///
    /// The node with the widest bounds is expanded, until half the width of the total bounds is at
    /// most `tolerance` times the lower bound; the midpoint is returned. The bounds of a node: let
    /// s̄ be the mean of the squared distances from q to its N points (computed from centroid and
    /// scatter). For convex φ, N φ(s̄) ≤ Σ φ ≤ N times the chord of φ over \[s_min, s_max\] at s̄
    /// (Jensen; Chan, Yiu & U, "KARL", ICDE 2019).
    pub(crate) fn sum(
        &self,
        q: &[f64],
        phi: &impl ConvexProfile,
        tolerance: f64,
        open: &mut Frontier,
    ) -> (f64, u64) {
        open.0.clear();
        let mut done = 0.0; // leaves summed point by point
        let mut operations = 1;
        let root = self.bound(0, q, phi);
        let (mut lower, mut upper) = (root.lower, root.upper);
        open.0.push(root);
        while 0.5 * (upper - lower) > tolerance * (done + lower) {
            let Some(widest) = open.0.pop() else { return (done, operations) };
            lower -= widest.lower;
            upper -= widest.upper;
            if self.is_leaf(widest.node) {
                let points = self.range(widest.node);
                operations += points.len() as u64;
                done += points.map(|t| phi.at(squared_distance(q, self.point(t)))).sum::<f64>();
                continue;
            }
            for child in [2 * widest.node + 1, 2 * widest.node + 2] {
                let child = self.bound(child, q, phi);
                lower += child.lower;
                upper += child.upper;
                open.0.push(child);
            }
            operations += 2;
        }
        (done + 0.5 * (lower + upper), operations)
    }

    fn bound(&self, node: usize, q: &[f64], phi: &impl ConvexProfile) -> Open {
        let count = self.range(node).len() as f64;
        let (nearest, farthest, mean) = self.squared_distances(node, q);
        let (high, low) = (phi.at(nearest), phi.at(farthest));
        let along = if farthest > nearest { (mean - nearest) / (farthest - nearest) } else { 0.0 };
        let lower = count * phi.at(mean);
        Open { node, lower, upper: (count * (high + (low - high) * along)).max(lower) }
    }
}
