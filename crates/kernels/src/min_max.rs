//! The min–max kernel of counts.

use crate::load::saved_kernel;
use crate::metric::Manhattan;
use crate::tile::{self, Formula};
use crate::{Kernel, Lane, Points};
use faer::reborrow::*;
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{Error, Result, Scalar, validate, work};

/// The min–max kernel Σ_k min(x_k, y_k)/Σ_k max(x_k, y_k) of numbers that are not negative, such as
/// counts of a molecule's fragments or of words. Of zeros and ones it is
/// [`Tanimoto`](crate::Tanimoto).
///
/// k(x, x) = 1, also for x = 0. The kernel is positive semi-definite on all points without negative
/// coordinates.
///
/// It is evaluated as (s − D)/(s + D) with s = Σ_k (x_k + y_k) and D = ‖x − y‖₁, in 3 operations
/// per coordinate. Of whole numbers all sums are exact up to 2⁵³ (`f64`) or 2²⁴ (`f32`), and the
/// value is correctly rounded; otherwise its absolute error is at most some d·ε.
///
/// # Source
/// L. Ralaivola, S. J. Swamidass, H. Saigo & P. Baldi, *Graph kernels for chemical informatics*,
/// Neural Networks 18 (2005).
///
/// ```
/// use faer::mat;
/// use nystrom_kernels::{Kernel, KernelMatrix, MinMax, Points};
/// let x = mat![[3.0, 0.0, 1.0], [1.0, 2.0, 1.0], [0.0, 0.0, 0.0_f64]];
/// let k = MinMax.gram(Points::from_rows(x.as_ref()));
/// assert_eq!((k[(0, 1)], k[(0, 2)], k[(2, 2)]), (2.0 / 6.0, 0.0, 1.0));
/// let error = KernelMatrix::new(MinMax, Points::from_slice(&[0.0, -1.0])).unwrap_err();
/// assert!(error.to_string().contains("point 1 has the coordinate -1"));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MinMax;

saved_kernel! { [] MinMax = "min-max".into(), {} of {}, |_| Ok(MinMax) }

/// The Manhattan distance, by the tiles that kernels use.
struct Distance;

impl Formula for Distance {
    type Metric = Manhattan;

    #[inline(always)]
    fn at<V: Lane>(&self, sum: V) -> V {
        sum
    }
}

impl<T: Scalar> Kernel<T> for MinMax {
    fn eval_into(&self, mut out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        tile::eval_into(&Distance, out.rb_mut(), x, y);
        finish(out, &totals(x), &totals(y));
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, x: Points<'_, T>) {
        assert_eq!(out.nrows(), x.len(), "a diagonal has an entry per point");
        work::diagonal_entries(x.len());
        out.fill(T::one());
    }

    /// Checks that n ≥ 1, d ≥ 1, and that no coordinate is negative and no sum overflows. O(nd).
    ///
    /// # Errors
    /// Those of [`Points::check`]; [`Error::Coordinate`] for a negative number; `InvalidParameter`
    /// for a sum Σ_k x_k above a quarter of the largest number.
    fn check_points(&self, x: Points<'_, T>) -> Result<()> {
        x.check()?;
        let mut largest = 0.0_f64;
        for row in 0..x.len() {
            let mut negative = None;
            x.for_each_stored(row, |col, value| {
                if value < T::zero() {
                    negative = negative.or(Some((col, value.f64())));
                }
            });
            if let Some((col, value)) = negative {
                let requirement = "at least 0; remove negative numbers, or take a kernel that is \
                                   defined for them, such as `LaplacianL1`";
                return Err(Error::Coordinate { row, col, value, requirement });
            }
            largest = largest.max(total(x, row));
        }
        validate::require(
            largest <= T::max_value().f64() / 4.0,
            "largest sum of the coordinates of a point",
            largest,
            "at most a quarter of the largest number; divide all points by a number, or use f64",
        )
    }

    fn gram_into(&self, mut out: MatMut<'_, T>, x: Points<'_, T>) {
        tile::gram_into(&Distance, out.rb_mut(), x);
        let totals = totals(x);
        finish(out, &totals, &totals);
    }
}

/// Turns the distances D in `out` into (s − D)/(s + D).
fn finish<T: Scalar>(out: MatMut<'_, T>, x: &[T], y: &[T]) {
    tile::for_each_tile(out, |mut tile, rows, cols| {
        for (t, &y) in y[cols].iter().enumerate() {
            for (&x, k) in x[rows.clone()].iter().zip(tile.rb_mut().col_mut(t).iter_mut()) {
                let (total, distance) = (x + y, *k);
                let both = total - distance;
                let positive = if both > T::zero() { both } else { T::zero() }; // rounding
                *k = if total > T::zero() { positive / (total + distance) } else { T::one() };
            }
        }
    });
}

/// Σ_k x_k of every point x.
fn totals<T: Scalar>(x: Points<'_, T>) -> Vec<T> {
    (0..x.len()).map(|i| T::lit(total(x, i))).collect()
}

/// Σ_k x_k of point `i`.
fn total<T: Scalar>(x: Points<'_, T>, i: usize) -> f64 {
    let mut sum = 0.0;
    x.for_each_stored(i, |_, value| sum += value.f64());
    sum
}
