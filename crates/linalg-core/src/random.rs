//! Random draws that the samplers use. Uniform numbers are `f64` for either scalar type, so that
//! `f32` and `f64` runs consume the same random numbers.
//!
//! The crate `rand` has subsets and weighted draws too, but their algorithms change between its
//! versions. They are therefore implemented here, so that the result for a seed depends only on
//! rand's uniform numbers and bounded integers and on rand_distr's normal numbers.

use crate::{Result, Scalar, Streams, validate};
use faer::{Mat, MatMut};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// True with probability `p` (0 or less: never; 1 or more: always).
///
/// # Randomness
/// One uniform, for any `p`.
///
/// ```
/// use nystrom_linalg_core::random;
/// use rand::SeedableRng;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// assert!(random::coin(1.0, rng) && !random::coin(0.0, rng));
/// ```
pub fn coin(p: f64, rng: &mut dyn Rng) -> bool {
    rng.random::<f64>() < p
}

/// An index i drawn with probability weights\[i\] / Σ weights; `None` if the sum is not positive
/// and finite.
///
/// Negative and NaN weights count as 0. O(n).
///
/// # Randomness
/// One uniform, or none if the result is `None`.
///
/// ```
/// use nystrom_linalg_core::random;
/// use rand::SeedableRng;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// assert_eq!(random::categorical(&[0.0, 3.0, 0.0], rng), Some(1));
/// assert_eq!(random::categorical(&[0.0, 0.0], rng), None);
/// ```
pub fn categorical<T: Scalar>(weights: &[T], rng: &mut dyn Rng) -> Option<usize> {
    let positive = |w: &T| w.f64().max(0.0); // NaN.max(0) is 0
    let total: f64 = weights.iter().map(positive).sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let mut left = rng.random::<f64>() * total;
    let mut last = None;
    for (i, w) in weights.iter().map(positive).enumerate() {
        if w > 0.0 {
            last = Some(i);
            if left < w {
                return last;
            }
            left -= w;
        }
    }
    last // rounding used up the sum: the last index of positive weight
}

/// `m` independent draws of an index with probability weights\[i\] / Σ weights, repetitions
/// allowed.
///
/// O(n + m log n), by inversion of the cumulated weights.
///
/// # Randomness
/// m uniforms.
///
/// ```
/// use nystrom_linalg_core::random;
/// use rand::SeedableRng;
/// let draws =
///     random::with_replacement(&[1.0, 1.0, 0.0], 10, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert!(draws.len() == 10 && draws.iter().all(|&i| i < 2));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Errors
/// [`InvalidWeight`](crate::Error::InvalidWeight) for a negative or non-finite weight or a zero
/// sum, [`Empty`](crate::Error::Empty) without weights or if m = 0.
pub fn with_replacement<T: Scalar>(
    weights: &[T],
    m: usize,
    rng: &mut dyn Rng,
) -> Result<Vec<usize>> {
    validate::weights("sampling weights", weights)?;
    validate::not_empty("sample (m)", m)?;
    let cumulated = Cumulated::of(weights.iter().map(|w| w.f64()));
    Ok((0..m).map(|_| cumulated.draw(rng)).collect())
}

/// Draws of an index with probability weights\[i\] / Σ weights, by inversion of the cumulated
/// weights: O(n) once and O(log n) per draw.
///
/// ```
/// use nystrom_linalg_core::random::Cumulated;
/// use rand::SeedableRng;
/// let cumulated = Cumulated::of([0.0, 3.0, 0.0]);
/// assert_eq!(cumulated.draw(&mut rand_pcg::Pcg64::seed_from_u64(0)), 1);
/// ```
#[derive(Debug, Clone)]
pub struct Cumulated(Vec<f64>);

impl Cumulated {
    /// Cumulates the weights, which must be finite, at least 0 and with a positive finite sum; this
    /// is not checked.
    pub fn of(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let add = |weight| {
            sum += weight;
            sum
        };
        Cumulated(weights.into_iter().map(add).collect())
    }

    /// Draws one index, whose weight is positive.
    ///
    /// # Randomness
    /// One uniform.
    pub fn draw(&self, rng: &mut dyn Rng) -> usize {
        let Cumulated(sums) = self;
        let total = sums.last().copied().unwrap_or(0.0);
        let u = rng.random::<f64>() * total;
        let i = sums.partition_point(|&sum| sum <= u);
        // if u is rounded to the total: the last index of positive weight
        if i < sums.len() { i } else { sums.partition_point(|&sum| sum < total) }
    }
}

/// `m` distinct indices in the order drawn: each is drawn from the remaining ones with probability
/// proportional to its weight.
///
/// These are the indices of the m smallest keys −ln(u_i)/w_i, which are exponential with rate w_i.
/// O(n + m log m).
///
/// # Source
/// P. Efraimidis, P. Spirakis, *Weighted random sampling with a reservoir*, Information Processing
/// Letters 97, 2006.
///
/// # Randomness
/// One uniform for every positive weight.
///
/// ```
/// use nystrom_linalg_core::random;
/// use rand::SeedableRng;
/// let mut drawn =
///     random::without_replacement(&[5.0, 0.0, 1.0], 2, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// drawn.sort_unstable();
/// assert_eq!(drawn, [0, 2]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Errors
/// As [`with_replacement`], and [`TooMany`](crate::Error::TooMany) if fewer than `m` weights are
/// positive.
pub fn without_replacement<T: Scalar>(
    weights: &[T],
    m: usize,
    rng: &mut dyn Rng,
) -> Result<Vec<usize>> {
    validate::weights("sampling weights", weights)?;
    let mut keys: Vec<(f64, usize)> = weights
        .iter()
        .enumerate()
        .filter(|(_, w)| **w > T::zero())
        .map(|(i, w)| (-(1.0 - rng.random::<f64>()).ln() / w.f64(), i)) // 1 - u lies in (0, 1]
        .collect();
    validate::at_most("items of positive weight", m, keys.len())?;
    keys.select_nth_unstable_by(m - 1, |a, b| {
        a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)
    });
    keys.truncate(m);
    keys.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    Ok(keys.into_iter().map(|(_, i)| i).collect())
}

/// `m` distinct indices below `n`, every subset in every order equally likely. O(m) time and
/// memory.
///
/// # Randomness
/// m bounded integers.
///
/// ```
/// use nystrom_linalg_core::random;
/// use rand::SeedableRng;
/// let subset = random::uniform_subset(1_000_000_000, 3, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert_eq!(subset.len(), 3);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Errors
/// [`TooMany`](crate::Error::TooMany) if m > n, [`Empty`](crate::Error::Empty) if m = 0.
pub fn uniform_subset(n: usize, m: usize, rng: &mut dyn Rng) -> Result<Vec<usize>> {
    validate::at_most("distinct indices", m, n)?;
    // Fisher–Yates on a virtual array 0..n; only the cells that differ from it are stored.
    let mut moved = std::collections::HashMap::with_capacity(2 * m);
    Ok((0..m)
        .map(|t| {
            let j = rng.random_range(t..n);
            let here = moved.get(&t).copied().unwrap_or(t);
            moved.insert(j, here).unwrap_or(j)
        })
        .collect())
}

/// A matrix of independent standard normal numbers, `nrows` × `ncols`, filled in parallel.
///
/// # Randomness
/// One key; column j is drawn from stream j of [`Streams`].
///
/// ```
/// use nystrom_linalg_core::random;
/// use rand::SeedableRng;
/// let z = random::standard_normal::<f64>(1000, 2, &mut rand_pcg::Pcg64::seed_from_u64(0));
/// assert!(z.col(0).sum().abs() < 150.0);
/// ```
pub fn standard_normal<T: Scalar>(nrows: usize, ncols: usize, rng: &mut dyn Rng) -> Mat<T> {
    let streams = Streams::from_rng(rng);
    let mut out = Mat::zeros(nrows, ncols);
    let fill = |mut column: MatMut<'_, T>, j: usize| {
        let mut rng = streams.stream(j as u64);
        for i in 0..nrows {
            let z: f64 = StandardNormal.sample(&mut rng);
            column[(i, 0)] = T::lit(z);
        }
    };
    if nrows > 0 {
        out.as_mut().par_col_chunks_mut(1).enumerate().for_each(|(j, column)| fill(column, j));
    }
    out
}

/// The geometric path `from`·r, `from`·r², …, `to` of `steps` values with the common ratio
/// r = (to/from)^(1/steps): the levels of BLESS. `from` itself is not in the path, and the last
/// value is exactly `to`.
///
/// # Errors
/// [`InvalidParameter`](crate::Error::InvalidParameter) unless from > to > 0, both finite;
/// [`Empty`](crate::Error::Empty) if steps = 0.
pub fn geometric_path<T: Scalar>(from: T, to: T, steps: usize) -> Result<Vec<T>> {
    validate::not_empty("geometric path", steps)?;
    validate::positive("end of the geometric path", to.f64())?;
    validate::require(
        from > to && num_traits::Float::is_finite(from),
        "start of the geometric path",
        from.f64(),
        "finite and larger than its end",
    )?;
    let (first, last) = (from.f64(), to.f64());
    let ratio = (last / first).powf(1.0 / steps as f64);
    let at = |h: usize| {
        if last / first >= f64::MIN_POSITIVE {
            first * ratio.powi(h as i32)
        } else {
            // the quotient underflows
            (first.ln() + (last.ln() - first.ln()) * (h as f64 / steps as f64)).exp()
        }
    };
    Ok((1..=steps).map(|h| if h == steps { to } else { T::lit(at(h)) }).collect())
}
