//! Conjugate gradients that stop, column by column, once a score is known well enough.

use super::preconditioner::Preconditioner;
use faer::Mat;
use nystrom_linalg_core::{PsdMatrix, Scalar, symmetric_product};

/// What is known about one score: l_i ∈ \[upper − error, upper\].
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

/// The systems (K + μI)z = e_i that are not yet solved well enough, a column each.
struct Open {
    /// Places in the list of rows.
    places: Vec<usize>,
    z: Mat<f64>,
    /// e_i − (K + μI)z, updated.
    r: Mat<f64>,
    p: Mat<f64>,
    /// rᵀ(K̃ + μI)⁻¹r.
    rho: Vec<f64>,
}

/// Bounds of the scores of `rows`, and the number of iterations.
pub(super) fn bounds<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    P: &Preconditioner<'_>,
    rows: &[usize],
    accuracy: f64,
    max_iterations: usize,
) -> (Vec<Bound>, usize) {
    let e = Mat::from_fn(k.dim(), rows.len(), |i, j| f64::from(u8::from(i == rows[j])));
    let p = P.solve(e.as_ref());
    let rho = dots(&e, &p);
    let mut open = Open {
        places: (0..rows.len()).collect(),
        z: Mat::zeros(k.dim(), rows.len()),
        r: e,
        p,
        rho,
    };
    let mut found: Vec<Bound> = open.bounds(rows, P.mu());
    let mut iterations = 0;
    loop {
        open.keep(|place| !found[place].is_within(accuracy));
        let failed = found.iter().any(|bound| !bound.residual.is_finite());
        if failed || open.places.is_empty() || iterations == max_iterations || !open.step(k, P) {
            return (found, iterations);
        }
        iterations += 1;
        for (&place, bound) in open.places.iter().zip(open.bounds(rows, P.mu())) {
            found[place] = bound;
        }
    }
}

impl Open {
    /// u = 1 − μ(e_iᵀz + zᵀr) and μ·rᵀ(K̃ + μI)⁻¹r of every column.
    fn bounds(&self, rows: &[usize], mu: f64) -> Vec<Bound> {
        let (zr, rr) = (dots(&self.z, &self.r), dots(&self.r, &self.r));
        let one = |(column, &place): (usize, &usize)| Bound {
            upper: 1.0 - mu * (self.z[(rows[place], column)] + zr[column]),
            error: mu * self.rho[column],
            residual: rr[column].sqrt(),
        };
        self.places.iter().enumerate().map(one).collect()
    }

    /// Drops the columns whose place is not to be kept.
    fn keep(&mut self, keep: impl Fn(usize) -> bool) {
        let kept: Vec<usize> = (0..self.places.len()).filter(|&j| keep(self.places[j])).collect();
        if kept.len() == self.places.len() {
            return;
        }
        for matrix in [&mut self.z, &mut self.r, &mut self.p] {
            *matrix = Mat::from_fn(matrix.nrows(), kept.len(), |i, j| matrix[(i, kept[j])]);
        }
        self.places = kept.iter().map(|&j| self.places[j]).collect();
        self.rho = kept.iter().map(|&j| self.rho[j]).collect();
    }

    /// One iteration of every column; false if none can move, because a curvature or ρ is no longer
    /// positive.
    fn step<T: Scalar>(&mut self, k: &dyn PsdMatrix<T>, P: &Preconditioner<'_>) -> bool {
        let mut q = Mat::zeros(self.p.nrows(), self.p.ncols());
        symmetric_product(k, q.as_mut(), self.p.as_ref());
        add_scaled(&mut q, &vec![P.mu(); self.places.len()], &self.p); // q = (K + μI)p
        let curvature = dots(&self.p, &q);
        let alpha: Vec<f64> =
            self.rho.iter().zip(&curvature).map(|(rho, c)| ratio(*rho, *c)).collect();
        if alpha.iter().all(|alpha| *alpha == 0.0) {
            return false;
        }
        add_scaled(&mut self.z, &alpha, &self.p);
        add_scaled(&mut self.r, &alpha.iter().map(|alpha| -alpha).collect::<Vec<_>>(), &q);
        let mut y = P.solve(self.r.as_ref());
        let rho = dots(&self.r, &y);
        let beta: Vec<f64> =
            rho.iter().zip(&self.rho).map(|(new, old)| ratio(*new, *old)).collect();
        add_scaled(&mut y, &beta, &self.p);
        (self.p, self.rho) = (y, rho);
        true
    }
}

/// a/b, and 0 if either is not positive: a column that cannot move stands still. NaN stays NaN.
fn ratio(a: f64, b: f64) -> f64 {
    if a <= 0.0 || b <= 0.0 { 0.0 } else { a / b }
}

/// out_j += factor_j·x_j, column by column.
fn add_scaled(out: &mut Mat<f64>, factors: &[f64], x: &Mat<f64>) {
    for (j, factor) in factors.iter().enumerate() {
        out.col_as_slice_mut(j)
            .iter_mut()
            .zip(x.col_as_slice(j))
            .for_each(|(out, x)| *out += factor * x);
    }
}

/// a_jᵀb_j for every column.
fn dots(a: &Mat<f64>, b: &Mat<f64>) -> Vec<f64> {
    let one = |j: usize| a.col_as_slice(j).iter().zip(b.col_as_slice(j)).map(|(a, b)| a * b).sum();
    (0..a.ncols()).map(one).collect()
}
