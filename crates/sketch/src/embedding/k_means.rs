//! Kernel k-means in the span of the landmarks, without the features of the rows in memory.

use super::clusters::{KernelClusters, distances_to, nearest};
use crate::stream::trace_difference;
use crate::whiten::for_each_kernel_tile;
use crate::{FeatureMap, Landmarks, NystromStream, Whitening};
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_linalg_core::{Error, PsdMatrix, Result, RowTree, Scalar, ops, random, validate};
use rand::{Rng, RngExt};
use std::ops::Range;

/// k-means in the feature space of the Nyström approximation L ⪯ K: Lloyd's iterations from
/// k-means++ seeds, the best of several starts.
///
/// The cost of clusters C_1, …, C_k is Σ_j Σ_{i∈C_j} ‖φ_i − c_j‖² with the means c_j of the
/// features φ: tr L(I − P), where P averages over clusters. Centres are stored as m weights, with
/// c_jᵀφ(x) = k_J(x)ᵀR⁻ᵀc_j, and a mean of features is R⁻¹ applied to the mean of kernel values.
/// An iteration thus needs no features of the rows, only their kernel values with the landmarks.
///
/// # Cost
/// For s starts, which share the kernel values of every pass: n·m of them and 4nmks flops for each
/// of at most `iterations` passes, and for each of k − 1 passes that choose seeds (2nms flops); nm²
/// flops once. O(m² + mks + 1024·(m + ks)) numbers of memory, and 16 bytes for each row and start.
///
/// # Source
/// D. Calandriello, L. Rosasco, *Statistical and computational trade-offs in kernel k-means*,
/// NeurIPS 2018 (arXiv:1908.10284). Seeding: D. Arthur, S. Vassilvitskii, *k-means++:
/// the advantages of careful seeding*, SODA 2007.
///
/// # Departures
/// A cluster that loses all its rows gets the row that is farthest from its centre, one cluster a
/// pass.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_sketch::{KernelKMeans, LandmarkSelector, Uniform};
/// use rand::SeedableRng;
///
/// // two rings, of radius 1 and 5
/// let angle = |i: usize| 0.37 * i as f64;
/// let radius = |i: usize| if i % 2 == 0 { 1.0 } else { 5.0 };
/// let x = Mat::from_fn(1000, 2, |i, j| radius(i) * (angle(i) - j as f64 * 1.5708).cos());
/// let k = KernelMatrix::new(Gaussian::new(2.0)?, Points::from_rows(x.as_ref()))?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let landmarks = Uniform::default().select(&k, 50, rng)?;
/// let found = KernelKMeans { clusters: 8, ..KernelKMeans::default() }.fit(&k, &landmarks, rng)?;
/// // no cluster has rows of both rings
/// let labels = found.labels();
/// assert!((0..1000).all(|i| (0..1000).all(|j| labels[i] != labels[j] || i % 2 == j % 2)));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelKMeans {
    /// k, the number of clusters.
    pub clusters: usize,
    /// Starts, of which the one with the smallest cost is the result.
    pub starts: usize,
    /// Most iterations of a start; it ends earlier when no row changes its cluster.
    pub iterations: usize,
}

/// Eight clusters, four starts, at most 300 iterations.
impl Default for KernelKMeans {
    fn default() -> Self {
        KernelKMeans { clusters: 8, starts: 4, iterations: 300 }
    }
}

impl KernelKMeans {
    /// The clusters of the rows of `k`; fewer than asked for if there are fewer distinct rows.
    ///
    /// Rows count as equal if their squared distance in feature space is at most
    /// 4·√ε·(l(x, x) + l(y, y)), the size of rounding errors.
    ///
    /// # Randomness
    /// A bounded integer for each start, then a uniform for each start and further seed.
    ///
    /// # Errors
    /// [`Empty`](Error::Empty) and [`TooMany`](Error::TooMany) for a number of clusters that is 0
    /// or larger than n. [`InvalidParameter`](Error::InvalidParameter) for 0 or more than 1000
    /// starts, or 0 iterations. [`Shape`](Error::Shape) if the landmarks belong to a matrix of
    /// another order, [`NonFinite`](Error::NonFinite) for an entry of K, and those of
    /// [`FeatureMap::new`].
    pub fn fit<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        landmarks: &Landmarks,
        rng: &mut dyn Rng,
    ) -> Result<KernelClusters<T>> {
        let n = k.dim();
        validate::at_most("clusters", self.clusters, n)?;
        let (starts, iterations) = (self.starts as f64, self.iterations as f64);
        validate::require((1..=1000).contains(&self.starts), "starts", starts, "from 1 to 1000")?;
        validate::require(self.iterations > 0, "iterations", iterations, "at least 1")?;
        let l = NystromStream::new(k, landmarks, Whitening::default())?;
        let squares = l.diag()?;
        let part = |rows: Range<usize>| squares[rows].iter().map(|square| square.f64()).sum();
        let trace = RowTree::new(n).reduce(part, |a: f64, b| a + b).unwrap_or(0.0);
        let rows = Rows { k, J: l.indices(), map: l.map(), squares, trace };
        let mut starts: Vec<Start<T>> = rows
            .seeds(self.clusters, self.starts, rng)?
            .iter()
            .map(|seeds| Ok(Start::new(rows.features(seeds)?, n)))
            .collect::<Result<_>>()?;
        for _ in 0..self.iterations {
            let going = starts.iter_mut().filter(|start| !start.converged).collect::<Vec<_>>();
            if going.is_empty() {
                break;
            }
            rows.lloyd(going)?;
        }
        let best = (0..starts.len()).min_by(|&a, &b| starts[a].cost.total_cmp(&starts[b].cost));
        let start = starts.swap_remove(best.unwrap_or(0));
        let weights = distances_to(rows.map, start.centers.as_ref());
        let (trace, left_over) = (rows.trace, trace_difference(&k.diag(), &rows.squares));
        let Start { labels, cost: inertia, iterations, converged, .. } = start;
        Ok(KernelClusters { weights, labels, inertia, trace, left_over, iterations, converged })
    }
}

/// The rows of K, with what does not change between the passes over them.
struct Rows<'a, T> {
    k: &'a dyn PsdMatrix<T>,
    J: &'a [usize],
    map: &'a FeatureMap<T>,
    squares: Vec<T>, // l(x_i, x_i) = ‖φ_i‖²
    trace: f64,      // tr L
}

/// One start: its centres (r × k) and the clusters of the rows.
struct Start<T> {
    centers: Mat<T>,
    labels: Vec<usize>,
    cost: f64,
    iterations: usize,
    converged: bool,
}

impl<T: Scalar> Start<T> {
    fn new(centers: Mat<T>, n: usize) -> Self {
        // no row has a cluster yet, so that the first pass changes all of them
        let labels = vec![usize::MAX; n];
        Start { centers, labels, cost: f64::INFINITY, iterations: 0, converged: false }
    }

    fn clusters(&self) -> usize {
        self.centers.ncols()
    }
}

/// What a pass learns about one start, beside the sums.
#[derive(Clone, Copy)]
struct Seen {
    changed: bool,
    farthest: (f64, usize),
}

impl<T: Scalar> Rows<'_, T> {
    fn for_each_tile(
        &self,
        rows: Range<usize>,
        mut visit: impl FnMut(Range<usize>, MatRef<'_, T>),
    ) -> Result<()> {
        let first = rows.start;
        for_each_kernel_tile(self.k, self.J, rows.into(), |at, k_j| {
            visit(first + at.start..first + at.end, k_j.rb());
            Ok(())
        })
    }

    /// The features of some rows, r × their number.
    fn features(&self, rows: &[usize]) -> Result<Mat<T>> {
        let mut k_j = self.k.block(self.J.into(), rows.into());
        validate::finite_block(k_j.as_ref(), self.J, rows)?;
        Ok(self.map.apply_in_place(k_j.as_mut()).to_owned())
    }

    /// For each start up to k distinct rows: the first is uniform, each further one has probability
    /// proportional to the squared distance to the nearest seed so far.
    fn seeds(&self, k: usize, starts: usize, rng: &mut dyn Rng) -> Result<Vec<Vec<usize>>> {
        let n = self.squares.len();
        let mut seeds: Vec<_> = (0..starts).map(|_| vec![rng.random_range(0..n)]).collect();
        let mut nearest = vec![vec![f64::INFINITY; n]; starts];
        for _ in 1..k {
            let newest: Vec<usize> =
                seeds.iter().filter_map(|seeds| seeds.last().copied()).collect();
            let to_newest = distances_to(self.map, self.features(&newest)?.as_ref());
            self.for_each_tile(0..n, |rows, k_j| {
                let values = to_newest.values(k_j);
                for (t, i) in rows.enumerate() {
                    for (start, &seed) in newest.iter().enumerate() {
                        let d = self.squared_distance(i, values[(start, t)]);
                        let equal = equal_below(self.squares[i] + self.squares[seed]);
                        let d = if d > equal { d } else { 0.0 };
                        nearest[start][i] = nearest[start][i].min(d);
                    }
                }
            })?;
            for (seeds, nearest) in seeds.iter_mut().zip(&nearest) {
                seeds.extend(random::categorical(nearest, rng)); // none if all rows are seeds
            }
        }
        Ok(seeds)
    }

    /// ‖φ_i − c‖² from the value of [`distances_to`].
    fn squared_distance(&self, i: usize, value: T) -> f64 {
        (self.squares[i].f64() + value.f64()).max(0.0)
    }

    /// One pass: every row gets the nearest centre of each start, then every centre becomes the
    /// mean of its rows.
    fn lloyd(&self, mut starts: Vec<&mut Start<T>>) -> Result<()> {
        let centers = side_by_side(starts.iter().map(|start| start.centers.as_ref()));
        let (q, values) = (centers.ncols(), distances_to(self.map, centers.as_ref()));
        let mut counts = vec![0_usize; q];
        let mut seen = vec![Seen { changed: false, farthest: (0.0, 0) }; starts.len()];
        let leaf = |rows: Range<usize>| {
            let mut sums = Mat::<f64>::zeros(self.J.len(), q);
            self.for_each_tile(rows, |rows, k_j| {
                let values = values.values(k_j);
                let mut member = Mat::<T>::zeros(rows.len(), q);
                let mut first = 0;
                for (start, seen) in starts.iter_mut().zip(&mut seen) {
                    for (t, i) in rows.clone().enumerate() {
                        let (j, value) =
                            nearest(values.as_ref(), first..first + start.clusters(), t);
                        seen.changed |= start.labels[i] != j - first;
                        start.labels[i] = j - first; //             x_i → nearest c_j
                        counts[j] += 1;
                        member[(t, j)] = T::one();
                        let d = self.squared_distance(i, value);
                        seen.farthest = if d > seen.farthest.0 { (d, i) } else { seen.farthest };
                    }
                    first += start.clusters();
                }
                let product = ops::times(k_j, member.as_ref()); //  Σ_{i∈C_j} k_J(x_i)
                ops::add_widened(sums.as_mut(), product.as_ref(), false);
            })?;
            Ok::<_, Error>(sums)
        };
        let tree = RowTree::large(self.squares.len());
        let sums = tree.try_reduce_in_order(leaf, |a, b| a + b)?;
        let sums = sums.unwrap_or_else(|| Mat::zeros(self.J.len(), q));
        let mut first = 0;
        for (start, seen) in starts.into_iter().zip(seen) {
            let k = start.clusters();
            self.update(start, sums.subcols(first, k), &counts[first..first + k], seen)?;
            first += k;
        }
        Ok(())
    }

    /// c_j ← R⁻¹Σ_{i∈C_j} k_J(x_i)/|C_j|, and the cost tr L(I − P) = Σ‖φ_i‖² − Σ|C_j|‖c_j‖². An
    /// empty cluster gets the farthest row.
    fn update(
        &self,
        start: &mut Start<T>,
        sums: MatRef<'_, f64>,
        counts: &[usize],
        seen: Seen,
    ) -> Result<()> {
        let mean = |i, j| T::lit(sums[(i, j)] / counts[j].max(1) as f64);
        let mut means = Mat::from_fn(sums.nrows(), sums.ncols(), mean);
        let means = self.map.apply_in_place(means.as_mut());
        let mut explained = 0.0;
        for (j, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            start.centers.col_mut(j).copy_from(means.rb().col(j));
            explained += count as f64 * means.rb().col(j).squared_norm_l2().f64();
        }
        start.cost = (self.trace - explained).max(0.0);
        start.iterations += 1;
        start.converged = !seen.changed;
        if let Some(empty) = counts.iter().position(|count| *count == 0)
            && seen.farthest.0 > equal_below(self.squares[seen.farthest.1])
        {
            let row = self.features(&[seen.farthest.1])?;
            start.centers.col_mut(empty).copy_from(row.col(0));
            start.converged = false;
        }
        Ok(())
    }
}

/// Squared distances up to this bound, for points with squares of this size, are rounding errors.
fn equal_below<T: Scalar>(squares: T) -> f64 {
    4.0 * T::EPS.sqrt() * squares.f64()
}

fn side_by_side<'a, T: Scalar>(blocks: impl Iterator<Item = MatRef<'a, T>> + Clone) -> Mat<T> {
    let rows = blocks.clone().next().map_or(0, |block| block.nrows());
    let mut out = Mat::zeros(rows, blocks.clone().map(|block| block.ncols()).sum());
    let mut first = 0;
    for block in blocks {
        out.as_mut().subcols_mut(first, block.ncols()).copy_from(block);
        first += block.ncols();
    }
    out
}
