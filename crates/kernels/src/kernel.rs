//! The interface of a kernel: it evaluates blocks.

use crate::Points;
use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{Result, Scalar};
use std::sync::Arc;

/// A positive semi-definite function k(x, y) on ℝ^d, given by blocks of its values.
///
/// An implementation provides [`eval_into`](Kernel::eval_into) and
/// [`diag_into`](Kernel::diag_into). For a formula for one pair of points,
/// [`FromFn`](crate::FromFn) makes a kernel of a closure.
///
/// An implementation must satisfy, as `testing::check_kernel` (feature `testing`) checks:
/// * `eval_into` and `gram_into` give the same bits with any number of threads;
/// * `gram_into` is exactly symmetric, and its diagonal is exactly that of `diag_into`;
/// * `gram_into`, `eval_into` and blocks of one row or column agree to 64 ulp of the largest
///   k(x, x).
///
/// Methods that evaluate blocks do not check their points. Public functions that take points
/// ([`KernelMatrix::new`](crate::KernelMatrix::new), `fit`, `predict`) call
/// [`check_points`](Kernel::check_points) first.
pub trait Kernel<T: Scalar>: Send + Sync {
    /// Writes `out[(i, j)] = k(x_i, y_j)`; `out` is `x.len()` × `y.len()`.
    ///
    /// # Panics
    /// If shapes or dimensions do not fit, or one of x and y is sparse.
    fn eval_into(&self, out: MatMut<'_, T>, x: Points<'_, T>, y: Points<'_, T>);

    /// Writes `out[i] = k(x_i, x_i)`.
    ///
    /// # Panics
    /// If `out` does not have `x.len()` entries.
    fn diag_into(&self, out: ColMut<'_, T>, x: Points<'_, T>);

    /// Checks that the kernel is defined on points of dimension `d`; the default accepts every
    /// d ≥ 1.
    ///
    /// # Errors
    /// An error that names the dimension for which the kernel is defined.
    fn check_dim(&self, d: usize) -> Result<()> {
        nystrom_linalg_core::validate::not_empty("coordinates of a point (d)", d)
    }

    /// Checks that the kernel can be evaluated on the points `x`. O(nd). The default refuses sparse
    /// points.
    ///
    /// # Errors
    /// Those of [`Points::check_dense`] and [`check_dim`](Kernel::check_dim). Kernels that are
    /// defined on a part of ℝ^d (such as [`Precomputed`](crate::Precomputed)) return errors for
    /// points outside it, and kernels of inner products for values that overflow.
    /// [`FromFn`](crate::FromFn) also evaluates and checks a few pairs of points.
    fn check_points(&self, x: Points<'_, T>) -> Result<()> {
        x.check_dense()?;
        self.check_dim(x.dim())
    }

    /// Writes the Gram matrix `out[(i, j)] = k(x_i, x_j)`, n × n and exactly symmetric, with the
    /// diagonal of [`diag_into`](Kernel::diag_into).
    ///
    /// The default evaluates the whole block and mirrors its lower triangle; most kernels of this
    /// crate evaluate only one triangle.
    fn gram_into(&self, mut out: MatMut<'_, T>, x: Points<'_, T>) {
        self.eval_into(out.rb_mut(), x, x);
        nystrom_linalg_core::ops::mirror_lower(out.rb_mut());
        let mut diagonal = vec![T::zero(); x.len()];
        self.diag_into(ColMut::from_slice_mut(&mut diagonal), x);
        for (i, k_ii) in diagonal.into_iter().enumerate() {
            out[(i, i)] = k_ii;
        }
    }

    /// k(x_i, y_j) as a new `x.len()` × `y.len()` matrix.
    fn eval(&self, x: Points<'_, T>, y: Points<'_, T>) -> Mat<T> {
        let mut out = Mat::zeros(x.len(), y.len());
        self.eval_into(out.as_mut(), x, y);
        out
    }

    /// The Gram matrix k(x_i, x_j) as a new n × n matrix: n² numbers of memory, for small n.
    fn gram(&self, x: Points<'_, T>) -> Mat<T> {
        let mut out = Mat::zeros(x.len(), x.len());
        self.gram_into(out.as_mut(), x);
        out
    }

    /// k(x, y) for one pair of points, given by their coordinates; like blocks, without checks. A
    /// block costs a fraction of the same number of single values.
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, Kernel};
    /// let value = Gaussian::new(2.0)?.value(&[0.0, 1.0], &[2.0, 1.0_f64]);
    /// assert!((value - (-0.5_f64).exp()).abs() < 1e-15);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the points have different dimensions.
    fn value(&self, x: &[T], y: &[T]) -> T {
        let (x, y) = (Points::from_row_major(x, x.len()), Points::from_row_major(y, y.len()));
        self.eval(x, y)[(0, 0)]
    }
}

use faer::reborrow::*;

/// Implements the trait for pointers by forwarding to the kernel.
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
