//! Preconditioned conjugate gradients for several right-hand sides, with the true residual
//! reported.

use crate::{LinearSystem, PcgOptions, PcgReport, Result, Scalar, Solve};
use faer::{Mat, MatMut, MatRef};

/// Solves A·X = B for an n × n symmetric positive definite A, given by its products `apply`, with
/// a preconditioner M⁻¹ ≈ A⁻¹.
///
/// * `apply(out, x)`: out = A·x, n × t, all right-hand sides at once.
/// * `precondition(out, r)`: out = M⁻¹·r, M symmetric positive definite.
/// * `b`: right-hand sides, n × t; `x0`: start, n × t (0 if `None`).
///
/// Every column has its own step lengths, so the iterates are those of t separate runs. A column
/// that has converged, or whose curvature pᵀAp is no longer positive, makes no further steps while
/// the others continue. The last iterate is returned whether or not the run converged:
/// `report.converged` says which, and [`PcgReport::check`] turns failure into an error. To monitor
/// the iterations, use [`Solve`].
///
/// Cost: an iteration applies A and M⁻¹ once, and every computation of the true residual applies A
/// once more; 5nt numbers of memory.
///
/// Source: Hestenes & Stiefel 1952; Saad, *Iterative Methods for Sparse Linear Systems*, algorithm
/// 9.1.
///
/// ```
/// use faer::{Accum, Mat, mat};
/// use nystrom_linalg_core::{PcgOptions, ops, pcg};
/// let a = mat![[4.0, 1.0], [1.0, 3.0_f64]];
/// let b = mat![[1.0], [2.0]];
/// let (x, report) = pcg(
///     &mut |out, x| ops::matmul(out, Accum::Replace, a.as_ref(), x, 1.0),
///     &mut |mut out, r| out.copy_from(r),
///     b.as_ref(), None, &PcgOptions::default(),
/// )?;
/// assert!(report.converged && (x[(0, 0)] - 1.0 / 11.0).abs() < 1e-12);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
///
/// # Errors
/// [`Shape`](crate::Error::Shape) if `x0` does not have the shape of `b`.
/// [`NonFinite`](crate::Error::NonFinite). [`InvalidParameter`](crate::Error::InvalidParameter) for
/// a tolerance ≤ 0.
pub fn pcg<T: Scalar>(
    apply: &mut dyn FnMut(MatMut<'_, T>, MatRef<'_, T>),
    precondition: &mut dyn FnMut(MatMut<'_, T>, MatRef<'_, T>),
    b: MatRef<'_, T>,
    x0: Option<MatRef<'_, T>>,
    options: &PcgOptions,
) -> Result<(Mat<T>, PcgReport)> {
    let mut system = Closures { apply, precondition };
    let mut solve = Solve::start(&mut system, b, x0)?;
    let report = solve.run(&mut system, b, options, &mut |_| false)?;
    Ok((solve.into_x(), report))
}

type Product<'a, T> = &'a mut dyn FnMut(MatMut<'_, T>, MatRef<'_, T>);

struct Closures<'a, T> {
    apply: Product<'a, T>,
    precondition: Product<'a, T>,
}

impl<T: Scalar> LinearSystem<T> for Closures<'_, T> {
    fn apply(&mut self, out: MatMut<'_, T>, x: MatRef<'_, T>) {
        (self.apply)(out, x);
    }
    fn precondition(&mut self, out: MatMut<'_, T>, r: MatRef<'_, T>) {
        (self.precondition)(out, r);
    }
}
