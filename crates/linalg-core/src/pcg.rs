//! Preconditioned conjugate gradients for several right-hand sides, with the true residual
//! reported.

use crate::{ConjugateGradients, Error, LinearSystem, Result, Scalar, validate};
use faer::{Mat, MatMut, MatRef};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgOptions {
    /// Relative residual ‖b − Ax‖₂/‖b‖₂ that every right-hand side must reach.
    pub tolerance: f64,
    /// Most applications of A.
    pub max_iterations: usize,
}

impl Default for PcgOptions {
    /// 1e-8 within 100 iterations.
    fn default() -> Self {
        PcgOptions { tolerance: 1e-8, max_iterations: 100 }
    }
}

/// What an iterative solve did.
#[derive(Debug, Clone, PartialEq)]
pub struct PcgReport {
    /// Iterations done.
    pub iterations: usize,
    /// The *true* relative residual ‖b − Ax‖/‖b‖ at the end, the largest over the right-hand sides.
    pub residual: f64,
    /// Whether `residual` is within the tolerance.
    pub converged: bool,
    /// The recurrence's relative residual (largest over the right-hand sides) after each iteration.
    pub history: Vec<f64>,
}

/// Solves A·X = B for an n × n symmetric positive definite A known by `apply`, with a
/// preconditioner M⁻¹ ≈ A⁻¹.
///
/// * `apply(out, x)`: out = A·x, n × t, all right-hand sides at once.
/// * `precondition(out, r)`: out = M⁻¹·r, M symmetric positive definite.
/// * `b`: n × t; `x0`: start (0 if `None`).
///
/// Column j has its own step lengths, so the iterates are those of t separate runs. A column that
/// has converged, or whose curvature pᵀAp is no longer positive, stands still while the others go
/// on. The best effort is returned in any case: `report.converged` tells, and [`PcgReport::check`]
/// turns a failure into an error. One application of A per iteration and one more at the end for
/// the true residual; 5nt memory. To watch or verify on the way, [`ConjugateGradients`].
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
/// [`Error::Shape`] if `x0` does not have the shape of `b`, [`Error::NonFinite`],
/// [`Error::InvalidParameter`] for a tolerance ≤ 0.
pub fn pcg<T: Scalar>(
    apply: &mut dyn FnMut(MatMut<'_, T>, MatRef<'_, T>),
    precondition: &mut dyn FnMut(MatMut<'_, T>, MatRef<'_, T>),
    b: MatRef<'_, T>,
    x0: Option<MatRef<'_, T>>,
    options: &PcgOptions,
) -> Result<(Mat<T>, PcgReport)> {
    validate::positive("tolerance", options.tolerance)?;
    let mut system = Closures { apply, precondition };
    let mut cg = ConjugateGradients::start(&mut system, b, x0)?;
    let mut history = Vec::new();
    while history.len() < options.max_iterations && !(cg.residual() <= options.tolerance) {
        if !cg.step(&mut system, options.tolerance) {
            break;
        }
        history.push(cg.residual());
    }
    let residual = cg.true_residual(&mut system, b);
    let report = PcgReport {
        iterations: history.len(),
        residual,
        converged: residual <= options.tolerance,
        history,
    };
    Ok((cg.into_x(), report))
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

impl PcgReport {
    /// `Ok` if converged.
    ///
    /// # Errors
    /// [`Error::NotConverged`] with the true residual.
    pub fn check(&self, options: &PcgOptions) -> Result<()> {
        if self.converged {
            return Ok(());
        }
        let (iterations, residual, tolerance) = (self.iterations, self.residual, options.tolerance);
        Err(Error::NotConverged { iterations, residual, tolerance })
    }
}
