//! A kernel made from a closure that evaluates one pair of points.

use crate::{Kernel, Points, tile};
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{Error, Result, Scalar, validate, work};

/// Most pairs of points at which the closure is checked.
const PAIRS: usize = 16;

/// The kernel k(x, y) = f(x, y), where `f` takes the coordinates of two points as slices.
///
/// `f` must be symmetric and positive semi-definite. [`check_points`](Kernel::check_points) checks
/// this at a few pairs of points; `testing::check_kernel` (feature `testing`) checks it at all
/// pairs of given points. Blocks are evaluated in parallel tiles, with one call of `f` per entry. A
/// kernel of the Euclidean distance is much faster as a [`Profile`](crate::Profile).
///
/// A model with such a kernel cannot be saved, because a closure cannot be written to a file;
/// trying it is a compile-time error. For saved models, implement the kernel as a struct with a
/// name (`SavedKernel`, feature `serde`).
///
/// ```
/// use nystrom_kernels::{FromFn, Kernel, Points};
/// let brownian = FromFn::new(|x: &[f64], y: &[f64]| x[0].min(y[0]));
/// assert_eq!(brownian.gram(Points::from_slice(&[1.0, 3.0, 2.0]))[(1, 2)], 2.0);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FromFn<F> {
    f: F,
}

impl<F> FromFn<F> {
    /// The kernel k(x, y) = f(x, y).
    pub fn new(f: F) -> Self {
        FromFn { f }
    }
}

impl<T: Scalar, F: Fn(&[T], &[T]) -> T + Send + Sync> Kernel<T> for FromFn<F> {
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
        work::entries(x.len(), y.len());
        let (x, y) = (point_major(x), point_major(y));
        tile::for_each_tile(out, |mut tile, rows, cols| {
            for (t, j) in cols.enumerate() {
                for (s, i) in rows.clone().enumerate() {
                    tile[(s, t)] = (self.f)(&x[i], &y[j]);
                }
            }
        });
    }

    fn diag_into(&self, mut out: ColMut<'_, T>, x: Points<'_, T>) {
        work::diagonal_entries(x.len());
        for (i, x_i) in point_major(x).iter().enumerate() {
            out[i] = (self.f)(x_i, x_i);
        }
    }

    /// As [`Kernel::check_points`]. Also evaluates the closure at up to 16 pairs of points, 4 calls
    /// each.
    ///
    /// # Errors
    /// Those of [`Points::check`]. [`Error::NonFinite`] for a value that is NaN or infinite.
    /// [`Error::NotSymmetric`] if k(x, y) and k(y, x) differ by more than 64ε times the largest of
    /// k(x, x), k(y, y), |k(x, y)| and |k(y, x)|. [`Error::InvalidParameter`] if k(x, x) < 0. Rows
    /// and columns in these errors are indices of points.
    fn check_points(&self, x: Points<'_, T>) -> Result<()> {
        x.check_dense()?;
        let n = x.len();
        let coordinates = |i: usize| (0..x.dim()).map(|k| x.coordinate(i, k)).collect::<Vec<T>>();
        for t in 0..n.min(PAIRS) {
            let i = t * n / n.min(PAIRS);
            let j = (i + 1 + t * 7 % n) % n; // pairs of near and of far indices
            let (x_i, x_j) = (coordinates(i), coordinates(j));
            let value = |row: usize, col: usize, x: &[T], y: &[T]| match (self.f)(x, y).f64() {
                value if value.is_finite() => Ok(value),
                value => {
                    Err(Error::NonFinite { what: "kernel matrix of the closure", row, col, value })
                }
            };
            let (upper, lower) = (value(i, j, &x_i, &x_j)?, value(j, i, &x_j, &x_i)?);
            let mut largest = upper.abs().max(lower.abs());
            for (i, x_i) in [(i, &x_i), (j, &x_j)] {
                let value = value(i, i, x_i, x_i)?;
                validate::require(
                    !(value < 0.0),
                    "k(x, x) of the closure",
                    value,
                    "at least 0, as a kernel is positive semi-definite; correct the closure",
                )?;
                largest = largest.max(value);
            }
            if (upper - lower).abs() > 64.0 * T::EPS * largest {
                let what = "kernel matrix of the closure";
                return Err(Error::NotSymmetric { what, row: i, col: j, upper, lower });
            }
        }
        Ok(())
    }

    fn gram_into(&self, out: MatMut<'_, T>, x: Points<'_, T>) {
        work::entries(x.len(), x.len());
        let x = point_major(x);
        tile::for_each_lower_tile(out, |mut tile, rows, cols| {
            for (t, j) in cols.enumerate() {
                for (s, i) in rows.clone().enumerate() {
                    tile[(s, t)] = (self.f)(&x[i], &x[j]);
                }
            }
        });
    }
}

/// The coordinates of each point as a contiguous list, the closure's argument. O(nd).
fn point_major<T: Scalar>(x: Points<'_, T>) -> Vec<Vec<T>> {
    (0..x.len()).map(|i| (0..x.dim()).map(|k| x.coordinate(i, k)).collect()).collect()
}
