//! A length scale estimated from the data.

use crate::Points;
use nystrom_linalg_core::{Result, Scalar, validate};
use rand::{Rng, RngExt};

/// The median Euclidean distance over `pairs` random pairs of distinct points: a common first guess
/// for a length scale ℓ.
///
/// Pairs of equal points are left out of the median, so that data with many repetitions do not give
/// ℓ = 0. With 1000 pairs the result lies between the 45 % and the 55 % quantile of all distances
/// with probability 0.998. O(`pairs`·d), where d counts only stored coordinates of sparse points.
///
/// ```
/// use nystrom_kernels::{Gaussian, Points, median_heuristic};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..100).map(f64::from).collect();
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let length_scale = median_heuristic(Points::from_slice(&x), 1000, &mut rng)?;
/// assert!((25.0..=33.0).contains(&length_scale)); // the median of |i − j| is 29
/// let kernel = Gaussian::new(length_scale)?;
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Randomness
/// Two bounded integers per pair.
///
/// # Errors
/// Those of [`Points::check`]; `Empty` if `pairs` = 0; `InvalidParameter` if n = 1, if every
/// sampled pair has distance 0, or if the median overflows. In these cases choose the length scale
/// yourself.
pub fn median_heuristic<T: Scalar>(
    points: Points<'_, T>,
    pairs: usize,
    rng: &mut dyn Rng,
) -> Result<f64> {
    median(points, pairs, euclidean, rng)
}

/// The median L1 distance over `pairs` random pairs of distinct points, as
/// [`median_heuristic`]: for [`LaplacianL1`](crate::LaplacianL1) and other kernels of the L1
/// distance.
///
/// ```
/// use nystrom_kernels::{Points, median_manhattan_heuristic};
/// use rand::SeedableRng;
/// let x = faer::mat![[0.0, 0.0], [3.0, -4.0_f64]];
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// assert_eq!(median_manhattan_heuristic(Points::from_rows(x.as_ref()), 10, &mut rng)?, 7.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Randomness
/// Two bounded integers per pair.
///
/// # Errors
/// As [`median_heuristic`].
pub fn median_manhattan_heuristic<T: Scalar>(
    points: Points<'_, T>,
    pairs: usize,
    rng: &mut dyn Rng,
) -> Result<f64> {
    median(points, pairs, manhattan, rng)
}

fn median<T: Scalar>(
    points: Points<'_, T>,
    pairs: usize,
    distance: fn(Points<'_, T>, usize, usize) -> f64,
    rng: &mut dyn Rng,
) -> Result<f64> {
    points.check()?;
    validate::not_empty("pairs", pairs)?;
    let n = points.len();
    validate::require(
        n != 1,
        "number of points",
        1.0,
        "at least 2 for a distance; choose the length scale yourself",
    )?;
    let mut distances: Vec<f64> = (0..pairs)
        .map(|_| {
            let i = rng.random_range(0..n);
            let j = (i + rng.random_range(1..n)) % n;
            distance(points, i, j)
        })
        .filter(|&r| r > 0.0)
        .collect();
    let middle = distances.len() / 2;
    let median = if distances.is_empty() {
        0.0
    } else {
        *distances.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    validate::require(
        median > 0.0 && median.is_finite(),
        "median distance of the sampled pairs",
        median,
        "positive and finite; if most points are equal, choose the length scale yourself; if \
         distances overflow, scale the features",
    )?;
    Ok(median)
}

fn manhattan<T: Scalar>(x: Points<'_, T>, i: usize, j: usize) -> f64 {
    let mut sum = 0.0;
    x.for_each_difference(i, j, |u| sum += u.abs());
    sum
}

fn euclidean<T: Scalar>(x: Points<'_, T>, i: usize, j: usize) -> f64 {
    let mut r = 0.0_f64;
    x.for_each_difference(i, j, |u| r = r.hypot(u));
    r
}
