//! The spectrum of a low-rank approximation of K whose k-DPP is close to that of K, without an n ×
//! n matrix.

use crate::ensemble::ROUNDED;
use crate::start::start;
use crate::{ElementarySymmetric, LEnsemble};
use nystrom_linalg_core::{Error, PivotedCholesky, PsdMatrix, Result, Scalar, validate};

/// Number of pivots, as a multiple of c, after which the distance is first computed.
const FIRST: usize = 4;
/// The distance that [`LEnsemble::of_size`] allows: too small for 10⁸ draws to detect.
const NEGLIGIBLE: f64 = 1e-9;
/// [`LEnsemble::of_size`] tries a truncation if n is at least this.
const WORTH_TRYING: usize = 500;
/// [`LEnsemble::of_size`] accepts a truncation of rank at most n divided by this.
const SHARE: usize = 8;

/// The spectrum of K̂ = FFᵀ ⪯ K, with a bound of the distance between the k-DPPs of K̂ and K.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct Truncation<T> {
    /// The decomposition of K̂.
    pub ensemble: LEnsemble<T>,
    /// The distance in total variation between the two k-DPPs of c items is at most this, rounding
    /// aside.
    pub distance: f64,
}

impl<T: Scalar> LEnsemble<T> {
    /// The decomposition of K̂ = FFᵀ for a pivoted Cholesky factor F of K (n × r). F has as many
    /// pivots as are needed for a distance of at most `within` between the k-DPPs of `c` items.
    /// `None` if more than `most` pivots are needed, or if the pivots show that K is indefinite
    /// ([`new`](Self::new) then returns an error with the eigenvalues).
    ///
    /// *The bound.* K̂ ⪯ K, so det K̂_CC ≤ det K_CC for every C, and the distance in total
    /// variation is at most 1 − e_c(K̂)/e_c(K). With τ = tr(K − K̂), which is known, the derivative
    /// of e_c(K̂ + s(K − K̂)) in s is at most τ·e_{c−1} of the same matrix. Integrating c times
    /// gives
    ///
    /// **e_c(K) ≤ Σ_j τʲ/j!·e_{c−j}(K̂)**.
    ///
    /// # Cost
    /// n·r entries, 2nr² flops for F and those of [`from_factor`](Self::from_factor), n·r numbers
    /// of memory. If the result is `None`, at most the cost for r = `most`.
    ///
    /// # Source
    /// The bound is ours. The next pivot is always the item of the largest residual.
    ///
    /// # Errors
    /// [`Error::Empty`] if c or n is 0, [`Error::TooMany`] if c > n, [`Error::InvalidParameter`]
    /// unless 0 < `within` < 1, [`Error::RankDeficient`], with the rank, if K has no c independent
    /// items. [`Error::NonFinite`], [`Error::InvalidWeight`] for a negative diagonal entry.
    ///
    /// ```
    /// use nystrom_dpp::LEnsemble;
    /// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
    /// let x: Vec<f64> = (0..2000).map(|i| f64::from(i) / 2000.0).collect();
    /// let k = KernelMatrix::new(Gaussian::new(0.1)?, Points::from_slice(&x))?;
    /// let truncated = LEnsemble::truncated(&k, 10, 1e-9, 200)?.expect("a smooth kernel");
    /// assert!(truncated.distance <= 1e-9 && truncated.ensemble.rank() < 60);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn truncated(
        k: &dyn PsdMatrix<T>,
        c: usize,
        within: f64,
        most: usize,
    ) -> Result<Option<Truncation<T>>> {
        validate::not_empty("matrix", k.dim())?;
        validate::not_empty("subset (c)", c)?;
        validate::at_most("items (c)", c, k.dim())?;
        validate::require(within > 0.0 && within < 1.0, "distance", within, "between 0 and 1")?;
        let (first, mut F) = (most.min(FIRST.saturating_mul(c)), start(k, 0)?);
        // e_{c−1}/e_c ≥ c/tr K̂: with a trace above this the distance is too large
        let hopeful = within / (1.0 - within) * k.trace() / c as f64;
        let mut ended = extend(&mut F, k, |f| {
            f.rank() >= most || f.rank() >= first && f.trace_error() <= hopeful
        })?;
        if F.rank() < c {
            let error = Error::RankDeficient { requested: c, rank: F.rank() };
            return if ended { Err(error) } else { Ok(None) };
        }
        if !ended && F.trace_error() > hopeful {
            return Ok(None);
        }
        let mut found = Truncation::of(&F, c)?;
        while found.distance > within && !ended && F.rank() < most {
            // e_{c−1}/e_c falls as K̂ grows, so that this trace suffices
            let enough = F.trace_error() * 0.5 * within / found.distance;
            ended = extend(&mut F, k, |f| f.rank() >= most || f.trace_error() <= enough)?;
            if !ended && F.trace_error() > enough {
                return Ok(None);
            }
            found = Truncation::of(&F, c)?;
        }
        Ok((found.distance <= within && !is_indefinite(&F)).then_some(found))
    }

    /// The spectrum for draws of `c` items: that of [`truncated`](Self::truncated) with a distance
    /// of 1e-9 if n ≥ 500, c ≤ n/16 and n/8 pivots suffice, otherwise that of [`new`](Self::new).
    ///
    /// # Errors
    /// Those of [`truncated`](Self::truncated) and [`new`](Self::new).
    pub fn of_size(k: &dyn PsdMatrix<T>, c: usize) -> Result<Self> {
        Self::low_rank(k, c)?.map_or_else(|| Self::new(k), Ok)
    }

    /// The truncated spectrum for draws of `c` items; `None` if the conditions of
    /// [`of_size`](Self::of_size) do not hold.
    pub(crate) fn low_rank(k: &dyn PsdMatrix<T>, c: usize) -> Result<Option<Self>> {
        let n = k.dim();
        if n < WORTH_TRYING || c == 0 || 2 * c > n / SHARE {
            return Ok(None);
        }
        let found = Self::truncated(k, c, NEGLIGIBLE, n / SHARE)?;
        Ok(found.map(|found| found.ensemble))
    }
}

impl<T: Scalar> Truncation<T> {
    fn of(F: &PivotedCholesky<T>, c: usize) -> Result<Self> {
        let ensemble = LEnsemble::from_factor(F.factor())?;
        let e = ElementarySymmetric::new(ensemble.values(), c)?;
        Ok(Truncation { distance: distance(&e, F.trace_error()), ensemble })
    }
}

/// Adds pivots, the largest residual first, until `done`. Returns true if no residual above
/// rounding error is left.
fn extend<T: Scalar>(
    F: &mut PivotedCholesky<T>,
    k: &dyn PsdMatrix<T>,
    done: impl Fn(&PivotedCholesky<T>) -> bool,
) -> Result<bool> {
    while !done(F) {
        match F.largest() {
            Some(s) => F.take(k, s)?,
            None => return Ok(true),
        };
    }
    Ok(F.largest().is_none())
}

/// Whether a residual K_jj − ‖F(j, :)‖² is negative by more than rounding error.
fn is_indefinite<T: Scalar>(F: &PivotedCholesky<T>) -> bool {
    let largest = F.diagonal().iter().copied().fold(0.0, f64::max);
    let rounding = ROUNDED.max(F.diagonal().len() as f64 * T::EPS) * largest;
    let mut residuals = F.diagonal().to_vec();
    for column in F.factor().col_iter() {
        residuals.iter_mut().zip(column.iter()).for_each(|(d, f)| *d -= f.f64().powi(2));
    }
    residuals.iter().any(|residual| *residual < -rounding)
}

/// S/(1 + S) with S = Σ_{j ≥ 1} τʲ/j!·e_{c−j}/e_c, whose terms are log-concave in j.
fn distance(e: &ElementarySymmetric, trace: f64) -> f64 {
    if trace == 0.0 {
        return 0.0;
    }
    let (c, mut sum, mut log_power) = (e.size(), 0.0, 0.0); // ln (τʲ/j!)
    for j in 1..=c {
        log_power += trace.ln() - (j as f64).ln();
        let term = (log_power + e.log_e(c - j) - e.log_e(c)).exp();
        sum += term;
        if term <= f64::EPSILON * sum {
            break;
        }
    }
    if sum.is_finite() { sum / (1.0 + sum) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use nystrom_linalg_core::Dense;

    /// Compares the bound with the sum of all its terms.
    #[test]
    fn the_bound_is_the_sum() {
        let lambda = [5.0, 3.0, 1.0, 0.5, 0.25];
        let e = ElementarySymmetric::new(&lambda, 3).unwrap();
        let of = |j: usize| if j == 0 { 1.0 } else { e.log_e(j).exp() };
        for trace in [1e-12, 0.01, 2.0] {
            let sum = trace * of(2) + trace * trace / 2.0 * of(1) + trace.powi(3) / 6.0;
            let sum = sum / of(3);
            assert!((distance(&e, trace) / (sum / (1.0 + sum)) - 1.0).abs() < 1e-12);
        }
        assert_eq!(distance(&e, 0.0), 0.0);
    }

    /// By enumeration of all subsets: the distance is below its bound, but at least a thousandth of
    /// it.
    #[test]
    fn distances_are_below_their_bound() {
        let x = |i: usize| (i * i % 11) as f64 / 3.0;
        let k = Mat::from_fn(11, 11, |i, j| {
            (-(x(i) - x(j)).powi(2)).exp() + 1e-3 * f64::from(u8::from(i == j))
        });
        let k = Dense::new(k.as_ref()).unwrap();
        for (c, r) in [(1, 3), (2, 4), (3, 5), (3, 8)] {
            let mut F = start(&k, 0).unwrap();
            extend(&mut F, &k, |f| f.rank() >= r).unwrap();
            let found = Truncation::of(&F, c).unwrap();
            let (whole, part) = (LEnsemble::new(&k).unwrap(), &found.ensemble);
            let (whole, part) = (whole.k_dpp(c).unwrap(), part.k_dpp(c).unwrap());
            let sets = (0_u32..1 << 11).filter(|mask| mask.count_ones() as usize == c);
            let apart: f64 = sets
                .map(|mask| {
                    let C: Vec<usize> = (0..11).filter(|i| mask >> i & 1 == 1).collect();
                    let of = |k_dpp: &crate::ExactKDpp<'_, f64>| {
                        k_dpp.log_probability(&C).unwrap().exp()
                    };
                    0.5 * (of(&whole) - of(&part)).abs()
                })
                .sum();
            assert!(apart <= found.distance + 1e-12, "{apart} above {}", found.distance);
            assert!(apart > 1e-3 * found.distance, "{apart} far below {}", found.distance);
        }
    }
}
