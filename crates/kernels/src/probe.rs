//! Kernel values that identify a kernel.

use crate::{Kernel, PointSet, Points};
use faer::Mat;
use nystrom_linalg_core::Scalar;

/// Columns of a probe.
const PROBES: usize = 8;

/// k(x_i, p_j) for the n `points` x and at most 8 points p near the first of them, n × 8 (n × n for
/// n < 8).
///
/// Two kernels with the same bits here are treated as the same kernel, whatever their types. Saved
/// states of fits are compared in this way. The points themselves could not serve as p: with a
/// single point, they would not distinguish length scales. Only for kernels that are not defined at
/// the nearby points, such as [`Precomputed`](crate::Precomputed), the first points serve as p. 8n
/// kernel values.
///
/// ```
/// use nystrom_kernels::{Gaussian, Points, kernel_probe};
/// let x = Points::from_slice(&[0.5_f64]);
/// let of = |length: f64| Gaussian::new(length).map(|kernel| kernel_probe(&kernel, x));
/// assert_eq!(of(1.0)?, of(1.0)?);
/// assert_ne!(of(1.0)?, of(1.0 + 1e-9)?);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[must_use]
pub fn kernel_probe<T: Scalar>(kernel: &impl Kernel<T>, points: Points<'_, T>) -> Mat<T> {
    let near = |x: T, j: usize| T::lit(x.f64() + (1.0 + x.f64().abs()) / (3 << j) as f64);
    let first = points.slice(0..PROBES.min(points.len()));
    let probes: PointSet<T> = match first.as_sparse() {
        Some(rows) => rows.moved(near).into(),
        None => {
            Mat::from_fn(points.dim(), first.len(), |k, j| near(first.coordinate(j, k), j)).into()
        }
    };
    let taken = kernel.check_points(probes.points()).is_ok();
    kernel.eval(points, if taken { probes.points() } else { first })
}
