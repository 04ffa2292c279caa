//! What a kernel is: something that fills blocks.

use crate::Points;
use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{Result, Scalar};
use std::sync::Arc;

/// A positive semi-definite function k(x, y) on ℝ^d, known by the blocks it fills.
///
/// Required: [`eval_into`](Kernel::eval_into) and [`diag_into`](Kernel::diag_into). A kernel given
/// by a formula for one pair of points takes one line with [`FromFn`](crate::FromFn).
///
/// Contracts, checked by `testing::check_kernel` (feature `testing`):
/// * `eval_into` does not depend on the number of threads;
/// * `gram_into` is exactly symmetric and its diagonal is exactly that of `diag_into`;
/// * `gram_into`, `eval_into` and a block of one entry agree to a few ulp of k(x, x).
///
/// Block methods do not validate; entry points ([`KernelMatrix::new`](crate::KernelMatrix::new),
/// `fit`, `predict`) call [`check_points`](Kernel::check_points) first.
pub trait Kernel<T: Scalar>: Send + Sync {
    /// Writes `out[(i, j)] = k(x_i, y_j)`; `out` is x.len() × y.len().
    ///
    /// # Panics
    /// If shapes or dimensions do not fit.
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>);

    /// Writes `out[i] = k(x_i, x_i)`.
    ///
    /// # Panics
    /// If `out` does not have x.len() entries.
    fn diag_into(&self, out: ColMut<'_, T>, x: Points<'_, T>);

    /// Whether the kernel is defined on points of dimension `d`; the default accepts every d ≥ 1.
    ///
    /// # Errors
    /// A typed error naming the dimension the kernel was made for.
    fn check_dim(&self, d: usize) -> Result<()> {
        nystrom_linalg_core::validate::not_empty("coordinates of a point (d)", d)
    }

    /// Whether `x` are points that the kernel can be evaluated on: what every public entry point
    /// calls first. O(nd).
    ///
    /// # Errors
    /// Those of [`Points::check`] and [`check_dim`](Kernel::check_dim). Kernels on a part of ℝ^d
    /// (such as [`Precomputed`](crate::Precomputed)) add their own. Those of inner products refuse
    /// values that overflow, and [`FromFn`](crate::FromFn) looks at a few pairs.
    fn check_points(&self, x: Points<'_, T>) -> Result<()> {
        x.check()?;
        self.check_dim(x.dim())
    }

    /// Writes the Gram matrix `out[(i, j)] = k(x_i, x_j)`, exactly symmetric, with the exact
    /// diagonal.
    ///
    /// The default evaluates the block and mirrors its lower triangle; fast kernels evaluate one
    /// triangle only.
    fn gram_into(&self, mut out: MatMut<'_, T>, x: Points<'_, T>) {
        self.eval_into(out.rb_mut(), x, x);
        nystrom_linalg_core::ops::mirror_lower(out.rb_mut());
        let mut diagonal = vec![T::zero(); x.len()];
        self.diag_into(ColMut::from_slice_mut(&mut diagonal), x);
        for (i, k_ii) in diagonal.into_iter().enumerate() {
            out[(i, i)] = k_ii;
        }
    }

    /// k(x_i, y_j) as a new x.len() × y.len() matrix.
    fn eval(&self, x: Points<'_, T>, y: Points<'_, T>) -> Mat<T> {
        let mut out = Mat::zeros(x.len(), y.len());
        self.eval_into(out.as_mut(), x, y);
        out
    }

    /// The Gram matrix k(x_i, x_j) as a new matrix: n² entries of memory, for small n.
    fn gram(&self, x: Points<'_, T>) -> Mat<T> {
        let mut out = Mat::zeros(x.len(), x.len());
        self.gram_into(out.as_mut(), x);
        out
    }

    /// k(x, y) for one pair of points by their coordinates, unchecked as blocks are. A block costs
    /// a fraction of as many single values.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, Kernel};
    /// let value = Gaussian::new(2.0)?.value(&[0.0, 1.0], &[2.0, 1.0_f64]);
    /// assert!((value - (-0.5_f64).exp()).abs() < 1e-15);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the points are not of one dimension.
    fn value(&self, x: &[T], y: &[T]) -> T {
        let (x, y) = (Points::from_row_major(x, x.len()), Points::from_row_major(y, y.len()));
        self.eval(x, y)[(0, 0)]
    }
}

use faer::reborrow::*;

/// A pointer to a kernel is the kernel.
macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: Scalar, K: Kernel<T> + ?Sized> Kernel<T> for $pointer {
            fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>) {
                (**self).eval_into(out, x, y);
            }
            fn diag_into(&self, out: ColMut<'_, T>, x: Points<'_, T>) {
                (**self).diag_into(out, x);
            }
            fn check_dim(&self, d: usize) -> Result<()> {
                (**self).check_dim(d)
            }
            fn check_points(&self, x: Points<'_, T>) -> Result<()> {
                (**self).check_points(x)
            }
            fn gram_into(&self, out: MatMut<'_, T>, x: Points<'_, T>) {
                (**self).gram_into(out, x);
            }
            fn eval(&self, x: Points<'_, T>, y: Points<'_, T>) -> Mat<T> {
                (**self).eval(x, y)
            }
            fn gram(&self, x: Points<'_, T>) -> Mat<T> {
                (**self).gram(x)
            }
            fn value(&self, x: &[T], y: &[T]) -> T {
                (**self).value(x, y)
            }
        }
    )*};
}
forward!(&K, Box<K>, Arc<K>);
