//! One of Lloyd's iterations over rows that come in tiles.

use super::KernelClusters;
use super::clusters::distances_to;
use crate::FeatureMap;
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{Result, Scalar, ops, validate};

/// The sums of a pass over rows that come in tiles: with given clusters, the rows nearest to each
/// centre, whose means are the centres of the next clusters ([`finish`](Self::finish)). 8mk bytes.
///
/// An iteration of [`KernelKMeans`](crate::KernelKMeans) on rows that are not in memory, from
/// clusters of a sample, for example. The cost never rises from one pass to the next.
///
/// ```
/// use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, Points};
/// use nystrom_sketch::{ClusterSums, FeatureMap, KernelKMeans, Landmarks, Whitening};
/// use rand::SeedableRng;
/// // rows near 0 and near 5, of which the first 20 are a sample and 6 of them the landmarks
/// let x: Vec<f64> = (0..3000).map(|i| 5.0 * (i % 2) as f64 + (i % 17) as f64 / 50.0).collect();
/// let kernel = Gaussian::new(2.0)?;
/// let landmarks = Landmarks::new(20, (0..6).collect())?;
/// let k = KernelMatrix::new(&kernel, Points::from_slice(&x[..20]))?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let mut clusters =
///     KernelKMeans { clusters: 2, ..Default::default() }.fit(&k, &landmarks, rng)?;
/// let z = Points::from_slice(&x[..6]);
/// let map = FeatureMap::new(kernel.gram(z).as_ref(), Whitening::default())?;
/// for pass in 0..20 {
///     let mut sums = ClusterSums::new(&clusters);
///     for tile in x.chunks(1024) {
///         let mut k_j = kernel.eval(z, Points::from_slice(tile));
///         sums.add(k_j.as_ref())?;
///         if pass == 0 {
///             let phi = map.apply_in_place(k_j.as_mut());
///             sums.add_traces(phi.as_ref(), &vec![1.0; tile.len()])?;
///         }
///     }
///     clusters = sums.finish(&map)?;
///     if clusters.converged() {
///         break;
///     }
/// }
/// let labels = clusters.predict(kernel.eval(z, Points::from_slice(&x)).as_ref())?;
/// assert!(clusters.converged() && (0..3000).all(|i| labels[i] == labels[i % 2]));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ClusterSums<T> {
    before: KernelClusters<T>,
    kernel: Mat<f64>, // Σ_{i∈C_j} k_J(x_i), m × k
    counts: Vec<f64>, // |C_j|
    traces: [f64; 2], // tr L and tr(K − L)
    has_traces: bool,
}

impl<T: Scalar> ClusterSums<T> {
    /// The sums over no rows, which are to join the clusters `before`.
    pub fn new(before: &KernelClusters<T>) -> Self {
        let (m, k) = before.weights().shape();
        let before = KernelClusters { labels: Vec::new(), ..before.clone() };
        let (kernel, counts) = (Mat::zeros(m, k), vec![0.0; k]);
        ClusterSums { before, kernel, counts, traces: [0.0; 2], has_traces: false }
    }

    /// Adds t rows with kernel values `k_j` (m × t) to the clusters of their nearest centres: 4mkt
    /// flops.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape),
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite). The sums are then as they were.
    pub fn add(&mut self, k_j: MatRef<'_, T>) -> Result<()> {
        let labels = self.before.predict(k_j)?;
        let mut member = Mat::<T>::zeros(labels.len(), self.counts.len());
        for (t, &j) in labels.iter().enumerate() {
            self.counts[j] += 1.0;
            member[(t, j)] = T::one();
        }
        let product = ops::times(k_j, member.as_ref()); //      Σ_{i∈C_j} k_J(x_i)
        ops::add_widened(self.kernel.as_mut(), product.as_ref(), false);
        Ok(())
    }

    /// Adds the part of the traces that t rows have, of which the costs are computed: from their
    /// features `phi` (r × t) and diagonal entries `diag` of K.
    ///
    /// Needed in one pass. Without it, the traces of the clusters before are kept; they must be of
    /// the same rows.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape),
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn add_traces(&mut self, phi: MatRef<'_, T>, diag: &[T]) -> Result<()> {
        validate::same_size("diagonal entries against rows", phi.ncols(), diag.len())?;
        validate::finite("features", phi)?;
        validate::finite("diagonal of K", MatRef::from_column_major_slice(diag, diag.len(), 1))?;
        for (k_ii, phi) in diag.iter().zip(phi.col_iter()) {
            let l_ii = phi.squared_norm_l2().f64();
            self.traces[0] += l_ii;
            self.traces[1] += (k_ii.f64() - l_ii).max(0.0);
        }
        self.has_traces = true;
        Ok(())
    }

    /// Adds the sums over other rows, for the same clusters.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the numbers of landmarks or clusters differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        validate::same_size("landmarks", self.kernel.nrows(), other.kernel.nrows())?;
        validate::same_size("clusters", self.counts.len(), other.counts.len())?;
        self.kernel += &other.kernel;
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        self.traces.iter_mut().zip(other.traces).for_each(|(a, b)| *a += b);
        self.has_traces |= other.has_traces;
        Ok(())
    }

    /// The sums as numbers, for another process.
    pub fn to_numbers(&self) -> Vec<f64> {
        let kernel = self.kernel.col_iter().flat_map(|column| column.iter().copied());
        let has_traces = f64::from(u8::from(self.has_traces));
        [has_traces]
            .into_iter()
            .chain(self.traces)
            .chain(self.counts.clone())
            .chain(kernel)
            .collect()
    }

    /// The sums for the same clusters whose numbers another process sent.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for another number of numbers,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn from_numbers(&self, numbers: &[f64]) -> Result<Self> {
        let (m, k) = self.kernel.shape();
        validate::same_size("numbers of the sums", 3 + k + m * k, numbers.len())?;
        validate::finite("sums", MatRef::from_column_major_slice(numbers, numbers.len(), 1))?;
        let (head, kernel) = numbers.split_at(3 + k);
        Ok(ClusterSums {
            before: self.before.clone(),
            kernel: MatRef::from_column_major_slice(kernel, m, k).to_owned(),
            counts: head[3..].to_vec(),
            traces: [head[1], head[2]],
            has_traces: head[0] > 0.0,
        })
    }

    /// The clusters around the means of the rows; the features are of `map`. A cluster without rows
    /// keeps its centre. [`converged`](KernelClusters::converged) if no centre has moved.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for a map of other landmarks.
    pub fn finish(self, map: &FeatureMap<T>) -> Result<KernelClusters<T>> {
        let ClusterSums { before, kernel, counts, traces, has_traces } = self;
        validate::same_size("landmarks of the map", kernel.nrows(), map.landmarks())?;
        let mean = |i, j| T::lit(kernel[(i, j)] / counts[j].max(1.0));
        let mut means = Mat::from_fn(kernel.nrows(), kernel.ncols(), mean);
        let means = map.apply_in_place(means.as_mut()); //      R⁻¹Σ_{i∈C_j} k_J(x_i)/|C_j|
        let means = means.rb();
        let explained = |(j, &count): (usize, &f64)| count * means.col(j).squared_norm_l2().f64();
        let explained: f64 = counts.iter().enumerate().map(explained).sum();
        let mut weights = distances_to(map, means);
        for (j, _) in counts.iter().enumerate().filter(|(_, count)| **count == 0.0) {
            weights.copy(j, &before.weights);
        }
        let [trace, left_over] = if has_traces { traces } else { [before.trace, before.left_over] };
        let converged = weights.theta() == before.weights.theta();
        Ok(KernelClusters {
            weights,
            labels: Vec::new(),
            inertia: (trace - explained).max(0.0), //           tr L − Σ|C_j|‖c_j‖²
            trace,
            left_over,
            iterations: before.iterations + 1,
            converged,
        })
    }
}
