//! A user's own kernel from a formula for one pair of points.

use crate::{Kernel, Points, tile};
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{Scalar, work};

/// The kernel k(x, y) = f(x, y), where `f` takes the coordinates of two points as slices.
///
/// `f` must be symmetric and positive semi-definite: nothing checks it, but `testing::check_kernel` (feature `testing`) does on
/// points of your choice. Blocks are evaluated in parallel tiles, one call per entry; kernels of a distance run much
/// faster as a [`Profile`](crate::Profile).
///
/// A closure cannot be written to a file, so a model of one cannot be saved: the compiler says so.
/// Make it a struct with a name then (`SavedKernel`, feature `serde`).
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
    /// The kernel of this function.
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

/// The points one after another, as the closure wants them: O(nd).
fn point_major<T: Scalar>(x: Points<'_, T>) -> Vec<Vec<T>> {
    (0..x.len()).map(|i| (0..x.dim()).map(|k| x.coordinate(i, k)).collect()).collect()
}
