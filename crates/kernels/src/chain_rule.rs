//! The chain rule for sums over coordinates.

use crate::Points;
use crate::metric::{DotProduct, Manhattan, Metric, SquaredDistance};
use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{Scalar, dispatch, ops};

/// Points as the chain rule reads them: x is n × d, z is m × d or m × (d + 1).
pub(crate) struct PackedPoints<T> {
    x: Mat<T>,
    z: Mat<T>,
}

/// The derivative of a sum over coordinates with respect to x.
pub(crate) trait Chain: Metric {
    /// p if the terms of the sum are p-th powers of lengths, 0 if they are not lengths.
    const POWER: usize;

    /// The points in the form that [`chain`](Chain::chain) reads, with every coordinate mapped by
    /// c.
    fn packed<T: Scalar>(x: Points<'_, T>, z: Points<'_, T>, c: fn(T) -> T) -> PackedPoints<T> {
        let rows = |points: Points<'_, T>| {
            let columns = points.as_cols();
            Mat::from_fn(points.len(), points.dim(), |i, k| c(columns[(k, i)]))
        };
        PackedPoints { x: rows(x), z: rows(z) }
    }

    /// out\[i, k\] = Σ_j h_ij ∂m(x_ik, z_jk)/∂x_ik.
    fn chain<T: Scalar>(out: MatMut<'_, T>, h: MatRef<'_, T>, packed: &PackedPoints<T>);
}

impl Chain for SquaredDistance {
    const POWER: usize = 2;

    /// Subtracts the mean of z from x and z, which changes no difference, and appends a column of
    /// ones to z.
    fn packed<T: Scalar>(x: Points<'_, T>, z: Points<'_, T>, _: fn(T) -> T) -> PackedPoints<T> {
        let (x, z, m) = (x.as_cols(), z.as_cols(), z.len());
        let mean = |k: usize| (0..m).map(|j| z[(k, j)].f64() / m as f64).sum::<f64>();
        let means: Vec<T> = (0..z.nrows()).map(|k| T::lit(mean(k))).collect();
        let d = means.len();
        PackedPoints {
            x: Mat::from_fn(x.ncols(), d, |i, k| x[(k, i)] - means[k]),
            z: Mat::from_fn(m, d + 1, |j, k| if k < d { z[(k, j)] - means[k] } else { T::one() }),
        }
    }

    /// 2 Σ_j h_ij (x_i − z_j) = 2 (x_i Σ_j h_ij − Σ_j h_ij z_j).
    fn chain<T: Scalar>(mut out: MatMut<'_, T>, h: MatRef<'_, T>, packed: &PackedPoints<T>) {
        let d = packed.x.ncols();
        let mut products = Mat::zeros(h.nrows(), d + 1);
        ops::matmul_here(products.as_mut(), Accum::Replace, h, packed.z.as_ref(), T::lit(2.0));
        for k in 0..d {
            for i in 0..h.nrows() {
                out[(i, k)] = products[(i, d)] * packed.x[(i, k)] - products[(i, k)];
            }
        }
    }
}

impl Chain for Manhattan {
    const POWER: usize = 1;

    /// Σ_j h_ij sign(x_ik − z_jk).
    fn chain<T: Scalar>(mut out: MatMut<'_, T>, h: MatRef<'_, T>, packed: &PackedPoints<T>) {
        let mut sums = vec![T::zero(); h.nrows()];
        for k in 0..packed.x.ncols() {
            let x = packed.x.as_ref().col(k).try_as_col_major().expect("a fresh matrix");
            sums.fill(T::zero());
            for j in 0..h.ncols() {
                let h = h.col(j).try_as_col_major().expect("a fresh matrix");
                add_signed(&mut sums, h.as_slice(), x.as_slice(), packed.z[(j, k)]);
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
    fn chain<T: Scalar>(out: MatMut<'_, T>, h: MatRef<'_, T>, packed: &PackedPoints<T>) {
        ops::matmul_here(out, Accum::Replace, h, packed.z.as_ref(), T::one());
    }
}
