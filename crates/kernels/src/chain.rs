//! The chain rule for sums over coordinates.

use crate::Points;
use crate::metric::{DotProduct, Manhattan, Metric, SquaredDistance};
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{Scalar, dispatch, ops};

/// The points as the chain rule reads them: x n × d, z m × d or m × (d + 1).
pub(crate) struct Places<T> {
    x: Mat<T>,
    z: Mat<T>,
}

/// How a sum over coordinates changes with x.
pub(crate) trait Chain: Metric {
    /// p, where the sum is of p-th powers of lengths.
    const POWER: usize;

    /// What [`chain`](Chain::chain) needs of the points, whose coordinates enter the sum by c.
    fn places<T: Scalar>(x: Points<'_, T>, z: Points<'_, T>, c: fn(T) -> T) -> Places<T> {
        let rows = |points: Points<'_, T>| {
            let columns = points.as_cols();
            Mat::from_fn(points.len(), points.dim(), |i, k| c(columns[(k, i)]))
        };
        Places { x: rows(x), z: rows(z) }
    }

    /// out\[i, k\] = Σ_j h_ij ∂m(x_ik, z_jk)/∂x_ik.
    fn chain<T: Scalar>(out: MatMut<'_, T>, h: MatRef<'_, T>, places: &Places<T>);
}

impl Chain for SquaredDistance {
    const POWER: usize = 2;

    /// Less the mean of z, which changes no difference, and with a column of ones beside z.
    fn places<T: Scalar>(x: Points<'_, T>, z: Points<'_, T>, _: fn(T) -> T) -> Places<T> {
        let (x, z, m) = (x.as_cols(), z.as_cols(), z.len());
        let mean = |k: usize| (0..m).map(|j| z[(k, j)].f64() / m as f64).sum::<f64>();
        let means: Vec<T> = (0..z.nrows()).map(|k| T::lit(mean(k))).collect();
        let d = means.len();
        Places {
            x: Mat::from_fn(x.ncols(), d, |i, k| x[(k, i)] - means[k]),
            z: Mat::from_fn(m, d + 1, |j, k| if k < d { z[(k, j)] - means[k] } else { T::one() }),
        }
    }

    /// 2 Σ_j h_ij (x_i − z_j) = 2 (x_i Σ_j h_ij − Σ_j h_ij z_j).
    fn chain<T: Scalar>(mut out: MatMut<'_, T>, h: MatRef<'_, T>, places: &Places<T>) {
        let d = places.x.ncols();
        let mut products = Mat::zeros(h.nrows(), d + 1);
        ops::matmul_here(products.as_mut(), Accum::Replace, h, places.z.as_ref(), T::lit(2.0));
        for k in 0..d {
            for i in 0..h.nrows() {
                out[(i, k)] = products[(i, d)] * places.x[(i, k)] - products[(i, k)];
            }
        }
    }
}

impl Chain for Manhattan {
    const POWER: usize = 1;

    /// Σ_j h_ij sign(x_ik − z_jk).
    fn chain<T: Scalar>(mut out: MatMut<'_, T>, h: MatRef<'_, T>, places: &Places<T>) {
        let mut sums = vec![T::zero(); h.nrows()];
        for k in 0..places.x.ncols() {
            let x = places.x.as_ref().col(k).try_as_col_major().expect("a fresh matrix");
            sums.fill(T::zero());
            for j in 0..h.ncols() {
                let h = h.col(j).try_as_col_major().expect("a fresh matrix");
                add_signed(&mut sums, h.as_slice(), x.as_slice(), places.z[(j, k)]);
            }
            sums.iter().enumerate().for_each(|(i, &sum)| out[(i, k)] = sum);
        }
    }
}

/// sums\[i\] += h\[i\]·sign(x\[i\] − z).
fn add_signed<T: Scalar>(sums: &mut [T], h: &[T], x: &[T], z: T) {
    dispatch(
        #[inline(always)]
        || {
            for ((sum, &h), &x) in sums.iter_mut().zip(h).zip(x) {
                let above = if x > z { h } else { T::zero() };
                let below = if x < z { h } else { T::zero() };
                *sum += above - below;
            }
        },
    );
}

impl Chain for DotProduct {
    const POWER: usize = 0;

    /// Σ_j h_ij z_j.
    fn chain<T: Scalar>(out: MatMut<'_, T>, h: MatRef<'_, T>, places: &Places<T>) {
        ops::matmul_here(out, Accum::Replace, h, places.z.as_ref(), T::one());
    }
}
