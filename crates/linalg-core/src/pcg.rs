//! Preconditioned conjugate gradients for several right-hand sides, with the true residual reported.

use crate::{Error, Result, Scalar, validate};
use faer::reborrow::*;
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

/// Solves A·X = B for an n × n symmetric positive definite A known by `apply`, with a preconditioner M⁻¹ ≈ A⁻¹.
///
/// * `apply(out, x)`: out = A·x, n × t, all right-hand sides at once.
/// * `precondition(out, r)`: out = M⁻¹·r, M symmetric positive definite.
/// * `b`: n × t; `x0`: start (0 if `None`).
///
/// Column j has its own step lengths, so the iterates are those of t separate runs. A column that has converged, or whose
/// curvature pᵀAp is no longer positive, stands still while the others go on. The best effort is returned in any case:
/// `report.converged` tells, and [`PcgReport::check`] turns a failure into an error. One application of A per iteration and
/// one more at the end for the true residual; 4nt memory.
///
/// Source: Hestenes & Stiefel 1952; Saad, *Iterative Methods for Sparse Linear Systems*, algorithm 9.1.
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
/// [`Error::Shape`] if `x0` does not have the shape of `b`, [`Error::NonFinite`], [`Error::InvalidParameter`] for a tolerance ≤ 0.
pub fn pcg<T: Scalar>(
    apply: &mut dyn FnMut(MatMut<'_, T>, MatRef<'_, T>),
    precondition: &mut dyn FnMut(MatMut<'_, T>, MatRef<'_, T>),
    b: MatRef<'_, T>,
    x0: Option<MatRef<'_, T>>,
    options: &PcgOptions,
) -> Result<(Mat<T>, PcgReport)> {
    validate::positive("tolerance", options.tolerance)?;
    validate::finite("right-hand side", b)?;
    let (n, t) = (b.nrows(), b.ncols());
    let mut x = Mat::zeros(n, t);
    let mut r = b.to_owned(); // r = b − Ax
    if let Some(x0) = x0 {
        validate::same_size("rows of the start", n, x0.nrows())?;
        validate::same_size("columns of the start", t, x0.ncols())?;
        validate::finite("start", x0)?;
        x.copy_from(x0);
        residual_into(r.as_mut(), apply, b, x.as_ref());
    }
    let b_norm = norms(b);
    let relative =
        |r: MatRef<'_, T>| norms(r).iter().zip(&b_norm).map(|(r, b)| if *b > 0.0 { r / b } else { *r }).collect();
    let (mut z, mut q) = (Mat::zeros(n, t), Mat::zeros(n, t));
    precondition(z.as_mut(), r.as_ref());
    let mut p = z.clone();
    let mut rho = dots(r.as_ref(), z.as_ref()); // ρ = rᵀM⁻¹r
    let mut history = Vec::new();
    let mut now: Vec<f64> = relative(r.as_ref());
    while history.len() < options.max_iterations && now.iter().any(|e| *e > options.tolerance) {
        apply(q.as_mut(), p.as_ref()); // q = Ap
        let curvature = dots(p.as_ref(), q.as_ref());
        let active: Vec<bool> =
            (0..t).map(|j| now[j] > options.tolerance && curvature[j] > 0.0 && rho[j] > 0.0).collect();
        if !active.contains(&true) {
            break;
        }
        for j in (0..t).filter(|&j| active[j]) {
            let alpha = T::lit(rho[j] / curvature[j]);
            for i in 0..n {
                x[(i, j)] += alpha * p[(i, j)];
                r[(i, j)] -= alpha * q[(i, j)];
            }
        }
        precondition(z.as_mut(), r.as_ref());
        let rho_next = dots(r.as_ref(), z.as_ref());
        for j in (0..t).filter(|&j| active[j]) {
            let beta = T::lit(rho_next[j] / rho[j]);
            for i in 0..n {
                p[(i, j)] = z[(i, j)] + beta * p[(i, j)];
            }
            rho[j] = rho_next[j];
        }
        now = relative(r.as_ref());
        history.push(largest(&now));
    }
    residual_into(r.as_mut(), apply, b, x.as_ref());
    let residual = largest(&relative(r.as_ref()));
    let report = PcgReport { iterations: history.len(), residual, converged: residual <= options.tolerance, history };
    Ok((x, report))
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

/// r = b − Ax.
fn residual_into<T: Scalar>(
    mut r: MatMut<'_, T>,
    apply: &mut dyn FnMut(MatMut<'_, T>, MatRef<'_, T>),
    b: MatRef<'_, T>,
    x: MatRef<'_, T>,
) {
    apply(r.rb_mut(), x);
    for j in 0..b.ncols() {
        for i in 0..b.nrows() {
            r[(i, j)] = b[(i, j)] - r[(i, j)];
        }
    }
}

/// Column-wise inner products, summed in `f64`.
fn dots<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Vec<f64> {
    (0..a.ncols()).map(|j| (0..a.nrows()).map(|i| a[(i, j)].f64() * b[(i, j)].f64()).sum()).collect()
}

fn norms<T: Scalar>(a: MatRef<'_, T>) -> Vec<f64> {
    dots(a, a).into_iter().map(f64::sqrt).collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
