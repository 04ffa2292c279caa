//! Gradients of sums of kernel values.

use crate::{Kernel, Points};
use faer::{MatMut, MatRef};
use nystrom_linalg_core::Scalar;
use std::sync::Arc;

/// A kernel with a gradient ∇ₓk(x, z) wherever k is differentiable in x.
///
/// Where it is not, because points or coordinates coincide (Matérn 1/2, powers q ≤ 1, L1), the term
/// counts 0. That is the mean of the gradients on both sides.
///
/// All kernels of this crate are, but those without a derivative
/// ([`Precomputed`](crate::Precomputed), closures); a model of these has no gradient, says the
/// compiler. Kernels of a [`Profile`](crate::Profile) of your own are.
///
/// ```
/// use faer::{Mat, mat};
/// use nystrom_kernels::{DifferentiableKernel, Gaussian, Kernel, Points};
/// let kernel = Gaussian::new(1.0)?;
/// let (x, z) = (mat![[0.0, 1.0_f64]], mat![[0.0, 0.0], [2.0, 1.0]]);
/// let (x, z) = (Points::from_rows(x.as_ref()), Points::from_rows(z.as_ref()));
/// let mut gradient = Mat::zeros(1, 2); // of 1·k(x, z₁) + 3·k(x, z₂)
/// kernel.gradient_into(gradient.as_mut(), x, z, mat![[1.0, 3.0]].as_ref());
/// let k = kernel.eval(x, z); // ∇k(x, z) = k(x, z)·(z − x)
/// assert!((gradient[(0, 0)] - 3.0 * k[(0, 1)] * 2.0).abs() < 1e-15);
/// assert!((gradient[(0, 1)] + k[(0, 0)]).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the kernel `{Self}` has no gradient",
    label = "is not differentiable as far as the compiler knows",
    note = "a closure (`FromFn`) and a stored matrix (`Precomputed`) have no derivative",
    note = "a kernel of your own implements `DifferentiableKernel`"
)]
pub trait DifferentiableKernel<T: Scalar>: Kernel<T> {
    /// Writes out_τ\[i\] = Σ_j weights_τ\[i, j\] ∇ₓk(x_i, z_j) for t sums τ at once.
    ///
    /// `weights` is x.len() × (m·t), with m = z.len() columns for each τ; `out` is x.len() × (d·t),
    /// with the d coordinates of a gradient for each τ. Does not validate. The bits do not
    /// depend on the number of threads.
    ///
    /// Isotropic kernels, in x.len()·m slopes κ′ and 2·x.len()·m·(d + 1)·t flops:
    /// Σ_j h_ij (x_i − z_j) with h_ij = weights_ij·2κ′(s_ij)/ℓ² is a sum of rows and a product.
    /// A term loses the digits by which x_i and z_j (less the mean of z) exceed x_i − z_j.
    ///
    /// # Panics
    /// If shapes or dimensions do not fit.
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
