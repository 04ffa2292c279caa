//! Conjugate gradients for many systems; each stops once its score is known to the given accuracy.

use super::preconditioner::Preconditioner;
use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{
    ConjugateGradients, LinearSystem, PsdMatrix, Result, Scalar, symmetric_product,
};

/// Bounds of one score, l_i ∈ \[upper − error, upper\], with the norm of the residual.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) upper: f64,
    pub(super) error: f64,
    pub(super) residual: f64,
}

impl Bound {
    fn is_within(&self, accuracy: f64) -> bool {
        self.error <= (accuracy * self.upper).max(4.0 * f64::EPSILON)
    }
}

/// K + μI, preconditioned by K̃ + μI.
struct Shifted<'a, T> {
    k: &'a dyn PsdMatrix<T>,
    P: &'a Preconditioner<'a>,
    mu: f64,
}

impl<T: Scalar> LinearSystem for Shifted<'_, T> {
    fn apply(&mut self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: bool) -> Result<()> {
        symmetric_product(self.k, out.rb_mut(), x);
        out += faer::Scale(self.mu) * x;
        Ok(())
    }

    fn precondition(&mut self, out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        self.P.solve_into(out, r);
    }
}

/// Bounds of the scores of `rows`, and the number of iterations.
pub(super) fn bounds<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    P: &Preconditioner<'_>,
    mu: f64,
    rows: &[usize],
    accuracy: f64,
    max_iterations: usize,
) -> Result<(Vec<Bound>, usize)> {
    let mut system = Shifted { k, P, mu };
    let e = Mat::from_fn(k.dim(), rows.len(), |i, j| f64::from(u8::from(i == rows[j])));
    let mut cg = ConjugateGradients::start(&mut system, e.as_ref(), None)?;
    // positions in `rows` of the unfinished systems; each has a column in `cg`
    let mut open: Vec<usize> = (0..rows.len()).collect();
    let mut found: Vec<Bound> = (0..rows.len()).map(|j| bound(&cg, j, rows[j], mu)).collect();
    let mut iterations = 0;
    loop {
        let kept: Vec<usize> =
            (0..open.len()).filter(|&j| !found[open[j]].is_within(accuracy)).collect();
        if kept.len() < open.len() {
            cg.keep(&kept);
            open = kept.iter().map(|&j| open[j]).collect();
        }
        let failed = found.iter().any(|bound| !bound.residual.is_finite());
        if failed
            || open.is_empty()
            || iterations == max_iterations
            || !cg.step(&mut system, 0.0)?
        {
            return Ok((found, iterations));
        }
        iterations += 1;
        for (j, &place) in open.iter().enumerate() {
            found[place] = bound(&cg, j, rows[place], mu);
        }
    }
}

/// The bound of column j, whose system is that of row i: u = 1 − μ(e_iᵀz + zᵀr) and δ = μ·rᵀ(K̃ +
/// μI)⁻¹r.
fn bound(cg: &ConjugateGradients, j: usize, i: usize, mu: f64) -> Bound {
    let (z, r) = (cg.x().col(j), cg.r().col(j));
    let zr: f64 = z.iter().zip(r.iter()).map(|(z, r)| z * r).sum();
    Bound { upper: 1.0 - mu * (z[i] + zr), error: mu * cg.rho()[j], residual: cg.residuals()[j] }
}
