//! What kernel k-means finds, and bounds on its exact cost.

use super::weights::LandmarkWeights;
use crate::FeatureMap;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{Result, Scalar, validate};
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
    pub(super) trace: f64, // tr L
    pub(super) left_over: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
}

impl<T: Scalar> KernelClusters<T> {
    /// Clusters with the [`weights`](Self::weights) and [`offsets`](Self::offsets) of others, to
    /// which no rows belong yet: the cost is infinite.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) for no clusters,
    /// [`Shape`](nystrom_linalg_core::Error::Shape),
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn from_weights(weights: MatRef<'_, T>, offsets: &[T]) -> Result<Self> {
        let k = offsets.len();
        validate::not_empty("clusters", k)?;
        validate::same_size("offsets against weights", weights.ncols(), k)?;
        validate::finite("weights", weights)?;
        validate::finite("offsets", MatRef::from_column_major_slice(offsets, k, 1))?;
        let infinite = f64::INFINITY;
        Ok(KernelClusters {
            weights: LandmarkWeights::of(weights.to_owned(), offsets.to_vec()),
            labels: Vec::new(),
            inertia: infinite,
            trace: infinite,
            left_over: infinite,
            iterations: 0,
            converged: false,
        })
    }

    /// The same clusters of rows, with the centres `before` to which they were found to be nearest,
    /// instead of the means of the rows: the cost is that of the clusters that
    /// [`predict`](Self::predict) finds for these rows.
    pub fn with_centers_of(self, before: &Self) -> Self {
        KernelClusters { weights: before.weights.clone(), ..self }
    }

    /// The cluster of each row, 0 to [`clusters`](Self::clusters) − 1; empty if the rows came in
    /// tiles.
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

    /// Whether no row changed its cluster in the last of them, or, if the rows came in tiles, no
    /// bit of a centre. Otherwise
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

/// ‖φ(x) − c‖² − ‖φ(x)‖² = ‖c‖² − 2k_J(x)ᵀR⁻ᵀc for each column c of C (r × k).
pub(super) fn distances_to<T: Scalar>(map: &FeatureMap<T>, C: MatRef<'_, T>) -> LandmarkWeights<T> {
    let squares = C.col_iter().map(|c| c.squared_norm_l2()).collect();
    let minus_two = Mat::from_fn(C.nrows(), C.ncols(), |i, j| T::lit(-2.0) * C[(i, j)]);
    LandmarkWeights::new(map, minus_two.as_ref(), squares)
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
