//! What kernel k-means finds, and bounds on its exact cost.

use super::weights::LandmarkWeights;
use faer::MatRef;
use nystrom_linalg_core::{Result, Scalar};
use std::ops::Range;

/// The result of [`KernelKMeans`](crate::KernelKMeans): the cluster of each row, a map of new
/// points to clusters, and bounds on the exact cost.
///
/// # Bounds
/// Let P be the projection that replaces each row of an n-vector by the mean of its cluster. The
/// cost of these clusters is tr L(I − P) with the approximation and tr K(I − P) with the exact
/// kernel. Since 0 ⪯ I − P ⪯ I and K − L ⪰ 0, the difference tr (K − L)(I − P) is between 0 and
/// tr(K − L): the exact cost is in [`cost_bounds`](Self::cost_bounds).
#[derive(Debug, Clone)]
#[must_use]
pub struct KernelClusters<T> {
    pub(super) weights: LandmarkWeights<T>,
    pub(super) labels: Vec<usize>,
    pub(super) inertia: f64,
    pub(super) left_over: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

impl<T: Scalar> KernelClusters<T> {
    /// The cluster of each row, 0 to [`clusters`](Self::clusters) − 1.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The number of clusters, fewer than asked for if there are fewer distinct rows.
    pub fn clusters(&self) -> usize {
        self.weights.offset().len()
    }

    /// tr L(I − P), the cost of the clusters in the feature space of the approximation.
    pub fn inertia(&self) -> f64 {
        self.inertia
    }

    /// Bounds on tr K(I − P), the cost of the same clusters in the feature space of the exact
    /// kernel: tr L(I − P) and tr L(I − P) + tr(K − L).
    pub fn cost_bounds(&self) -> [f64; 2] {
        [self.inertia, self.inertia + self.left_over]
    }

    /// Iterations of the best start.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Whether no row changed its cluster in the last of them. Otherwise
    /// [`predict`](Self::predict) can differ from [`labels`](Self::labels) for some rows.
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// −2R⁻ᵀc_j for each centre, m × k: the nearest centre of a point has the smallest entry of
    /// θᵀk_J(x) plus [`offsets`](Self::offsets).
    pub fn weights(&self) -> MatRef<'_, T> {
        self.weights.theta()
    }

    /// ‖c_j‖², k numbers.
    pub fn offsets(&self) -> &[T] {
        self.weights.offset()
    }

    /// The nearest centre of each of t points, from their kernel values with the landmarks, `k_j`
    /// (m × t): 2mkt flops.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape),
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn predict(&self, k_j: MatRef<'_, T>) -> Result<Vec<usize>> {
        let values = self.weights.checked_values(k_j)?;
        let nearest = |t| nearest(values.as_ref(), 0..values.nrows(), t).0;
        Ok((0..k_j.ncols()).map(nearest).collect())
    }
}

/// The index and the value of the smallest entry among `rows` of column t; the first, if several
/// are equal.
pub(super) fn nearest<T: Scalar>(
    values: MatRef<'_, T>,
    rows: Range<usize>,
    t: usize,
) -> (usize, T) {
    let start = (rows.start, values[(rows.start, t)]);
    let smaller = |best: (usize, T), j: usize| {
        let value = values[(j, t)];
        if value < best.1 { (j, value) } else { best }
    };
    rows.skip(1).fold(start, smaller)
}
