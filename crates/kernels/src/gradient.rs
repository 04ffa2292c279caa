//! Gradients of sums of kernel values.

use crate::{Kernel, Points};
use faer::{MatMut, MatRef};
use nystrom_linalg_core::Scalar;
use std::sync::Arc;

/// A kernel with a gradient ∇ₓk(x, z) wherever k is differentiable in x.
///
/// Where k is not differentiable because points or coordinates coincide (Matérn 1/2, powers q ≤ 1,
/// L1), its term counts as 0, the mean of the gradients on both sides.
///
/// Implemented by all kernels of this crate except [`Precomputed`](crate::Precomputed) and closures
/// ([`FromFn`](crate::FromFn)), and by all isotropic kernels of a user's own
/// [`Profile`](crate::Profile). The gradient of a model with another kernel is a compile-time
/// error.
///
/// ```
/// use faer::{Mat, mat};
/// use nystrom_kernels::{DifferentiableKernel, Gaussian, Kernel, Points};
/// let kernel = Gaussian::new(1.0)?;
/// let (x, z) = (mat![[0.0, 1.0_f64]], mat![[0.0, 0.0], [2.0, 1.0]]);
/// let (x, z) = (Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
/// let mut gradient = Mat::zeros(1, 2); // gradient of 1·k(x, z₁) + 3·k(x, z₂)
/// kernel.gradient_into(gradient.as_mut(), x, z, mat![[1.0, 3.0]].as_ref());
/// let k = kernel.eval(x, z); // ∇k(x, z) = k(x, z)·(z − x)
/// assert!((gradient[(0, 0)] - 3.0 * k[(0, 1)] * 2.0).abs() < 1e-15);
/// assert!((gradient[(0, 1)] + k[(0, 0)]).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the kernel `{Self}` has no gradient",
    label = "does not implement `DifferentiableKernel`",
    note = "a closure (`FromFn`) and a stored matrix (`Precomputed`) have no derivative",
    note = "implement `DifferentiableKernel` for your own kernel"
)]
pub trait DifferentiableKernel<T: Scalar>: Kernel<T> {
    /// Writes out_τ\[i\] = Σ_j weights_τ\[i, j\] ∇ₓk(x_i, z_j) for t sums τ = 1, …, t at once.
    ///
    /// With n = `x.len()` and m = `z.len()`, `weights` is n × (m·t), m columns for each τ, and
    /// `out` is n × (d·t), the d coordinates of the gradient for each τ. The input is not checked.
    /// The bits do not depend on the number of threads.
    ///
    /// For isotropic kernels, Σ_j h_ij (x_i − z_j) with h_ij = weights_ij·2κ′(s_ij)/ℓ² is computed
    /// from row sums of h and a matrix product: n·m derivatives κ′ and 2nm(d + 1)t flops. A term
    /// loses as many digits as x_i and z_j, relative to the mean of z, are larger than x_i − z_j.
    ///
    /// # Panics
    /// If shapes or dimensions do not fit, or points are sparse.
    fn gradient_into(
        &self,
        out: MatMut<'_, T>,
        x: Points<'_, T>,
        z: Points<'_, T>,
        weights: MatRef<'_, T>,
    );
}

macro_rules! forward_gradient {
    ($([$($generics:tt)*] $pointer:ty),*) => {
        $(impl<T: Scalar, $($generics)*> DifferentiableKernel<T> for $pointer {
            fn gradient_into(
                &self,
                out: MatMut<'_, T>,
                x: Points<'_, T>,
                z: Points<'_, T>,
                weights: MatRef<'_, T>,
            ) {
                (**self).gradient_into(out, x, z, weights);
            }
        })*
    };
}
forward_gradient!(
    [K: DifferentiableKernel<T> + ?Sized] &K,
    [K: DifferentiableKernel<T> + ?Sized] Box<K>,
    [K: DifferentiableKernel<T> + ?Sized] Arc<K>
);
