//! k-means clustering, for centres that are not data points.

use crate::{Isotropic, Kernel, Lane, Points, Profile};
use faer::{ColRef, Mat};
use nystrom_linalg_core::{Result, RowTree, Scalar, random, validate};
use rand::{Rng, RngExt};
use rayon::prelude::*;
use std::ops::Range;

/// Points whose nearest centres one task computes.
const CHUNK: usize = 256;

/// k-means clustering by k-means++ seeding and Lloyd's iterations.
///
/// For k-means Nyström (Zhang, Tsang & Kwok 2008) five iterations are enough: the quantisation
/// error Σ_i min_j ‖x_i − z_j‖², which bounds the error of the approximation, decreases mostly in
/// the first few iterations. Pass the centres to
/// [`KernelMatrix::against`](crate::KernelMatrix::against), or to `NystromKrr::fit` of
/// `nystrom-krr`.
///
/// # Cost
/// k·n·d operations per iteration and for the seeding, in parallel; O(n + kd) memory, and 256·k
/// numbers per thread. The bits do not depend on the number of threads.
///
/// # Source
/// S. Lloyd, *Least squares quantization in PCM*, IEEE Transactions on Information Theory 28, 1982;
/// seeding: D. Arthur, S. Vassilvitskii, *k-means++: the advantages of careful seeding*, SODA 2007;
/// the use: K. Zhang, I. Tsang, J. Kwok, *Improved Nyström low-rank approximation and error
/// analysis*, ICML 2008.
///
/// # Departures
/// The start is k-means++ in place of random points. A centre without points is moved to the point
/// that is farthest from its nearest centre.
///
/// ```
/// use nystrom_kernels::{KMeans, Points};
/// use rand::SeedableRng;
/// // points near 0, 1 and 2
/// let x: Vec<f64> = (0..90).map(|i| (i % 3) as f64 + 1e-3 * i as f64).collect();
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let clusters = KMeans::default().run(Points::from_slice(&x), 3, rng)?;
/// let mut z: Vec<f64> = clusters.centers().as_cols().row(0).iter().copied().collect();
/// z.sort_by(f64::total_cmp);
/// assert!((z[1] - 1.0445).abs() < 1e-12 && clusters.quantization_error() < 0.1);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KMeans {
    /// Most iterations of Lloyd's algorithm; it ends earlier when no point changes its centre.
    pub iterations: usize,
}

impl Default for KMeans {
    /// Five iterations, the number in the code of Zhang, Tsang & Kwok.
    fn default() -> Self {
        KMeans { iterations: 5 }
    }
}

/// The result of [`KMeans::run`]: the centres, and the nearest centre of each point.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters<T> {
    centers: Mat<T>, // d × k
    assignment: Vec<usize>,
    quantization_error: f64,
    iterations: usize,
}

impl<T: Scalar> Clusters<T> {
    /// The centres z_1, …, z_k.
    pub fn centers(&self) -> Points<'_, T> {
        Points::from_cols(self.centers.as_ref())
    }

    /// For every point, the index of its nearest centre (the first, if several are equally near).
    pub fn assignment(&self) -> &[usize] {
        &self.assignment
    }

    /// Σ_i min_j ‖x_i − z_j‖², summed in `f64`; infinite if it overflows.
    pub fn quantization_error(&self) -> f64 {
        self.quantization_error
    }

    /// Iterations done.
    pub fn iterations(&self) -> usize {
        self.iterations
    }
}

impl KMeans {
    /// Computes `k` centres of `points`; fewer if there are fewer distinct points.
    ///
    /// # Randomness
    /// One bounded integer, then one uniform for every further centre.
    ///
    /// # Errors
    /// Those of [`Points::check`]; [`Empty`](nystrom_linalg_core::Error::Empty) if k = 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if k > n.
    pub fn run<T: Scalar>(
        &self,
        points: Points<'_, T>,
        k: usize,
        rng: &mut dyn Rng,
    ) -> Result<Clusters<T>> {
        points.check_dense()?;
        validate::at_most("centres", k, points.len())?;
        let unit = T::unit_near(points.as_cols().norm_max().f64());
        let seeds = seeds(points, k, unit, rng)?;
        let mut Z = gather(points, &seeds);
        let mut nearest = assign(points, Points::from_cols(Z.as_ref()), unit)?;
        let mut iterations = 0;
        while iterations < self.iterations {
            iterations += 1;
            let (moved, before) = (means(points, &nearest, Z.ncols(), unit), nearest.clone());
            Z = moved; //                                                   z_j ← mean of its points
            nearest = assign(points, Points::from_cols(Z.as_ref()), unit)?; //  x_i → nearest z_j
            if nearest.iter().zip(&before).all(|(a, b)| a.0 == b.0) {
                break;
            }
        }
        let quantization_error = sum(&nearest, |&(_, squared)| squared) * unit * unit;
        let assignment = nearest.into_iter().map(|(j, _)| j).collect();
        Ok(Clusters { centers: Z, assignment, quantization_error, iterations })
    }
}

/// The points `idx` as columns.
fn gather<T: Scalar>(points: Points<'_, T>, idx: &[usize]) -> Mat<T> {
    Mat::from_fn(points.dim(), idx.len(), |k, t| points.coordinate(idx[t], k))
}

/// Indices of the k-means++ seeds: the first is uniform, each further one has probability
/// proportional to the squared distance to the nearest seed so far.
fn seeds<T: Scalar>(
    points: Points<'_, T>,
    k: usize,
    unit: f64,
    rng: &mut dyn Rng,
) -> Result<Vec<usize>> {
    let mut d = vec![f64::INFINITY; points.len()];
    let mut seeds: Vec<usize> = vec![];
    let mut next = Some(rng.random_range(0..points.len()));
    while let Some(s) = next {
        seeds.push(s);
        if seeds.len() == k {
            break;
        }
        let z = gather(points, &[s]);
        let closer = assign(points, Points::from_cols(z.as_ref()), unit)?;
        d.iter_mut().zip(closer).for_each(|(d, (_, squared))| *d = d.min(squared));
        next = random::categorical(&d, rng);
    }
    Ok(seeds)
}

/// κ(s) = s, with which the tiles of the isotropic kernels compute squared distances.
struct Squared;

impl Profile for Squared {
    #[inline(always)]
    fn at<V: Lane>(&self, s: V) -> V {
        s
    }
}

/// For every point, the nearest centre and the squared distance to it divided by `unit`².
fn assign<T: Scalar>(
    points: Points<'_, T>,
    Z: Points<'_, T>,
    unit: f64,
) -> Result<Vec<(usize, f64)>> {
    let distance = Isotropic::with_profile(Squared, unit)?;
    let nearest = |squared: ColRef<'_, T>| {
        let closer =
            |best: (usize, T), (j, &s): (usize, &T)| if s < best.1 { (j, s) } else { best };
        let (j, s) = squared.iter().enumerate().skip(1).fold((0, squared[0]), closer);
        (j, s.f64())
    };
    let chunk = |rows: Range<usize>| {
        let block = distance.eval(Z, points.slice(rows)); //                k × chunk
        block.col_iter().map(nearest).collect::<Vec<_>>()
    };
    let chunks: Vec<Range<usize>> = RowTree::tiles(0..points.len(), CHUNK).collect();
    Ok(chunks.into_par_iter().map(chunk).collect::<Vec<_>>().concat())
}

/// The means of the clusters, d × k, summed in `f64` along the row tree. An empty cluster gets the
/// point that is farthest from its nearest centre.
fn means<T: Scalar>(
    points: Points<'_, T>,
    nearest: &[(usize, f64)],
    k: usize,
    unit: f64,
) -> Mat<T> {
    let d = points.dim();
    let leaf = |rows: Range<usize>| {
        let mut sums = Mat::<f64>::zeros(d + 1, k); //                       last row: counts
        for i in rows {
            let j = nearest[i].0;
            (0..d).for_each(|c| sums[(c, j)] += points.coordinate(i, c).f64() / unit);
            sums[(d, j)] += 1.0;
        }
        sums
    };
    let sums = RowTree::new(points.len())
        .reduce(leaf, |a, b| a + b)
        .unwrap_or_else(|| Mat::zeros(d + 1, k));
    let mut far: Vec<usize> = vec![];
    if (0..k).any(|j| sums[(d, j)] == 0.0) {
        far = (0..points.len()).collect();
        // a stable sort: of equally far points the first comes first
        far.sort_by(|&a, &b| nearest[b].1.total_cmp(&nearest[a].1));
    }
    let mut far = far.into_iter();
    let mut Z = Mat::zeros(d, k);
    for j in 0..k {
        let lost = (sums[(d, j)] == 0.0).then(|| far.next()).flatten();
        for c in 0..d {
            Z[(c, j)] = match lost {
                Some(i) => points.coordinate(i, c),
                None => T::lit(sums[(c, j)] / sums[(d, j)] * unit),
            };
        }
    }
    Z
}

fn sum<A: Sync>(items: &[A], value: impl Fn(&A) -> f64 + Sync) -> f64 {
    let leaf = |rows: Range<usize>| items[rows].iter().map(&value).sum::<f64>();
    RowTree::new(items.len()).reduce(leaf, |a, b| a + b).unwrap_or(0.0)
}
