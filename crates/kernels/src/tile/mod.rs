//! Blocks of any kernel of the form f(Σ_k m(x_k, y_k)).

mod grid;
pub(crate) use grid::{for_each_lower_tile, for_each_tile};

use crate::metric::Metric;
use crate::{Lane, Points, lane::Plain};
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{Result, Scalar, ops, validate};

/// A kernel k(x, y) = f(Σ_k m(c_k(x), c_k(y))): a sum over coordinates, then a formula.
pub(crate) trait Formula: Send + Sync {
    /// m.
    type Metric: Metric;
    /// f: the kernel's value from the sum over coordinates.
    fn at<V: Lane>(&self, sum: V) -> V;
    /// c_k: coordinate `k` as it enters the sum. `origin` is coordinate `k` of a point common to the whole block.
    fn coordinate<T: Scalar>(&self, k: usize, value: T, origin: T) -> T {
        let _ = (k, origin);
        value
    }
    /// As [`Kernel::check_dim`](crate::Kernel::check_dim).
    fn check_dim(&self, d: usize) -> Result<()> {
        validate::not_empty("coordinates of a point (d)", d)
    }
}

/// Implements `Kernel<T>` for a [`Formula`].
macro_rules! formula_kernel {
    ([$($generics:tt)*] $kernel:ty) => {
        impl<T: nystrom_linalg_core::Scalar, $($generics)*> $crate::Kernel<T> for $kernel {
            fn eval_into(&self, out: faer::MatMut<'_, T>, x: $crate::Points<'_, T>, y: $crate::Points<'_, T>) {
                $crate::tile::eval_into(self, out, x, y);
            }
            fn diag_into(&self, out: faer::ColMut<'_, T>, x: $crate::Points<'_, T>) {
                $crate::tile::diag_into(self, out, x);
            }
            fn check_dim(&self, d: usize) -> nystrom_linalg_core::Result<()> {
                $crate::tile::Formula::check_dim(self, d)
            }
            fn gram_into(&self, out: faer::MatMut<'_, T>, x: $crate::Points<'_, T>) {
                $crate::tile::gram_into(self, out, x);
            }
        }
    };
}
pub(crate) use formula_kernel;

fn value<T: Scalar, F: Formula>(
    f: &F,
    x: Points<'_, T>,
    i: usize,
    y: Points<'_, T>,
    j: usize,
    origin: Points<'_, T>,
) -> T {
    let mut sum = Plain(0.0);
    for k in 0..x.dim() {
        let o = origin.coordinate(0, k);
        let (a, b) = (f.coordinate(k, x.coordinate(i, k), o), f.coordinate(k, y.coordinate(j, k), o));
        sum = F::Metric::add(sum, Plain(a.f64()), Plain(b.f64()));
    }
    T::lit(f.at(sum).0)
}

pub(crate) fn eval_into<T: Scalar, F: Formula>(f: &F, mut out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
    assert!(out.nrows() == x.len() && out.ncols() == y.len(), "a block has a row per x and a column per y");
    assert_eq!(x.dim(), y.dim(), "points of one dimension");
    for j in 0..y.len() {
        for i in 0..x.len() {
            out[(i, j)] = value(f, x, i, y, j, y);
        }
    }
}

pub(crate) fn gram_into<T: Scalar, F: Formula>(f: &F, mut out: MatMut<'_, T>, x: Points<'_, T>) {
    eval_into(f, out.rb_mut(), x, x);
    ops::mirror_lower(out);
}

pub(crate) fn diag_into<T: Scalar, F: Formula>(f: &F, mut out: ColMut<'_, T>, x: Points<'_, T>) {
    for i in 0..x.len() {
        out[i] = value(f, x, i, x, i, x);
    }
}

use faer::reborrow::*;
