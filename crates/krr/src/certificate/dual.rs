//! Dual coefficients α of a fit, and what E = K − L does to them: E_ii and Lα − f at all points, Eα
//! in chosen rows.

use super::TargetCertificate;
use super::report::Lengths;
use crate::KrrModel;
use crate::Problem;
use crate::data::TILE_ROWS;
use crate::features::{Whitener, residual_diagonal};
use crate::state::values;
use faer::reborrow::*;
use faer::{Accum, Mat};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, RowTree, Scalar, ops};

/// In weighted coordinates where it matters: α_i = w_i(y_i − f_i)/μ, γ_i = α_i/√w_i.
pub(super) struct Dual {
    pub mu: f64,
    pub kernel_entries: u64,
    /// w_i E_ii, not below the rounding errors of k(x_i, x_i).
    pub residual_diagonal: Vec<f64>,
    /// √w_i (Lα − f + b)_i, n × t.
    pub gap: Mat<f64>,
    alpha: Mat<f64>,
    /// (Lα)_i, n × t.
    fitted: Mat<f64>,
    root_weights: Vec<f64>,
    /// Mean residual of each target that a constant left (0 up to rounding), 0 without a constant.
    means: Vec<f64>,
}

impl Dual {
    /// Two passes over the rows: 2nm + m² kernel values, nm² + m³/3 flops.
    pub fn new<T: Scalar, K: Kernel<T> + Clone>(
        model: &KrrModel<K, T>,
        samples: Problem<'_, T>,
    ) -> Result<Self> {
        let (n, t, m) = (samples.x.len(), samples.y.ncols(), model.centers().len());
        let mu = model.report().ridge;
        // W + δI = RRᵀ
        let whitener = Whitener::new(model.kernel().gram(model.centers()).as_ref(), false)?;
        let root_weights: Vec<f64> = samples.root_weights();
        let FirstPass { f, diagonal, sums } = FirstPass::new(model, samples, &whitener);
        let means = mean_residuals(model, samples, &f);
        let alpha = Mat::from_fn(n, t, |i, j| {
            samples.weight(i) * (samples.y[(i, j)].f64() - f[(i, j)] - means[j]) / mu
        });
        let Ca = centered(&sums, &means, mu); //                              Cᵀα
        let fitted = times_nystrom(model, samples.x, &whitener, Ca); // Lα
        let b = model.intercept();
        let gap =
            Mat::from_fn(n, t, |i, j| root_weights[i] * (fitted[(i, j)] + b[j].f64() - f[(i, j)]));
        let residual_diagonal =
            diagonal.iter().zip(&root_weights).map(|(e, root_w)| e * root_w * root_w).collect();
        let kernel_entries = (2 * n + m) as u64 * m as u64;
        Ok(Dual { mu, kernel_entries, residual_diagonal, gap, alpha, fitted, root_weights, means })
    }

    /// √w_i (Eα)_i for i in `rows`, rows.len() × t, and how many rows were evaluated: repetitions
    /// once. n kernel values each, O(1024·rows) memory.
    pub fn rows<T: Scalar, K: Kernel<T>>(
        &self,
        kernel: &K,
        samples: Problem<'_, T>,
        rows: &[usize],
    ) -> (Mat<f64>, usize) {
        let t = self.alpha.ncols();
        let mut distinct = rows.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let at = samples.x.gather(distinct.as_slice().into());
        let mut block = Mat::<T>::zeros(distinct.len(), TILE_ROWS.min(samples.x.len()));
        let mut wide = Mat::new();
        let leaf = |leaf| {
            let mut sum = Mat::<f64>::zeros(distinct.len(), t);
            for tile in RowTree::tiles(leaf, TILE_ROWS) {
                let (at, x) = (at.points(), samples.x.slice(tile.clone()));
                let k = values(kernel, at, x, &mut block, &mut wide);
                let alpha = self.alpha.as_ref().subrows(tile.start, tile.len());
                ops::matmul(sum.as_mut(), Accum::Add, k, alpha, 1.0); // (Kα)_i
            }
            sum
        };
        let product = RowTree::new(samples.x.len()).reduce_in_order(leaf, |a, b| a + b);
        let K_alpha = product.unwrap_or_else(|| Mat::zeros(distinct.len(), t));
        let rho = Mat::from_fn(rows.len(), t, |k, j| {
            let position = distinct.partition_point(|&i| i < rows[k]);
            self.root_weights[rows[k]] * (K_alpha[(position, j)] - self.fitted[(rows[k], j)])
        });
        (rho, distinct.len())
    }

    /// γ, n × t.
    pub fn gamma(&self) -> Mat<f64> {
        Mat::from_fn(self.alpha.nrows(), self.alpha.ncols(), |i, j| self.gamma_at(i, j))
    }

    fn gamma_at(&self, i: usize, j: usize) -> f64 {
        if self.root_weights[i] > 0.0 { self.alpha[(i, j)] / self.root_weights[i] } else { 0.0 }
    }

    /// ‖γ_j‖ = ‖√w(y − f)‖/μ.
    pub fn norm(&self, j: usize) -> f64 {
        (0..self.alpha.nrows()).map(|i| self.gamma_at(i, j).powi(2)).sum::<f64>().sqrt()
    }

    /// From both sides: √w(f_K − f), the mean taken off, is within `radius` of a vector of length
    /// `centre`. `whole` and `q` bound ‖Kα − f‖ and ‖Eα‖.
    pub fn bracketed(
        &self,
        [centre, radius]: [f64; 2],
        [whole, q]: [f64; 2],
        j: usize,
    ) -> TargetCertificate {
        let lengths = self.lengths(j);
        let above = lengths.certificate(q * q, whole, lengths.bound(q, whole));
        let rms = |length: f64| (length / lengths.root_n).hypot(lengths.mean);
        let bound = above.bound.min(rms(centre + radius));
        let lower = rms((centre - radius).max(0.0)).min(bound);
        let estimate = rms(centre).min(bound).max(lower);
        TargetCertificate { bound, lower, estimate, ..above }
    }

    pub fn lengths(&self, j: usize) -> Lengths {
        let trace: f64 = self.residual_diagonal.iter().sum();
        let weight = ops::dot(&self.root_weights, &self.root_weights);
        let norms = [self.norm(j), self.gap.col(j).norm_l2()];
        Lengths::of(norms, self.means[j], (trace, self.mu, weight))
    }
}

/// The results of the first pass over the rows.
struct FirstPass {
    /// f, n × t, in `f64`.
    f: Mat<f64>,
    /// E_ii.
    diagonal: Vec<f64>,
    /// Cᵀ[α w], m × (t + 1), the mean residual not yet taken off α.
    sums: Mat<f64>,
}

impl FirstPass {
    fn new<T: Scalar, K: Kernel<T>>(
        model: &KrrModel<K, T>,
        samples: Problem<'_, T>,
        whitener: &Whitener<T>,
    ) -> Self {
        let (n, t, m) = (samples.x.len(), samples.y.ncols(), model.centers().len());
        let (mu, [mut wide, mut wide_theta]) = (model.report().ridge, [Mat::new(), Mat::new()]);
        let theta = ops::widened(model.coefficients(), &mut wide_theta);
        let (mut f, mut diagonal) = (Mat::zeros(n, t), vec![0.0; n]);
        let mut buffer = Mat::<T>::zeros(m, TILE_ROWS.min(n));
        let leaf = |leaf| {
            let mut sum = Mat::<f64>::zeros(m, t + 1);
            for rows in RowTree::tiles(leaf, TILE_ROWS) {
                let x = samples.x.slice(rows.clone());
                let mut k = buffer.as_mut().subcols_mut(0, rows.len());
                model.kernel().eval_into(k.rb_mut(), model.centers(), x); //           k_Z(x_i)
                let C = ops::widened(k.rb(), &mut wide);
                let mut f = f.as_mut().subrows_mut(rows.start, rows.len());
                ops::matmul(f.rb_mut(), Accum::Replace, C.transpose(), theta, 1.0);
                for j in 0..t {
                    (0..rows.len()).for_each(|i| f[(i, j)] += model.intercept()[j].f64());
                }
                let weighted = Mat::from_fn(rows.len(), t + 1, |s, j| {
                    let (i, w) = (rows.start + s, samples.weight(rows.start + s));
                    if j < t { w * (samples.y[(i, j)].f64() - f[(s, j)]) / mu } else { w }
                });
                ops::matmul(sum.as_mut(), Accum::Add, C, weighted.as_ref(), 1.0);
                // φ(x_i) = R⁻¹k_Z(x_i)
                whitener.whiten(k.rb_mut());
                residual_diagonal(model.kernel(), x, k.rb(), &mut diagonal[rows]);
            }
            sum
        };
        let sums = RowTree::new(n)
            .reduce_in_order(leaf, |a, b| a + b)
            .unwrap_or_else(|| Mat::zeros(m, t + 1));
        FirstPass { f, diagonal, sums }
    }
}

/// Whether a constant was fitted. Reports of earlier versions do not say so; there one that is not
/// 0 does.
pub(super) fn has_constant<T: Scalar, K: Kernel<T>>(model: &KrrModel<K, T>) -> bool {
    model.report().intercept || model.intercept().iter().any(|b| *b != T::zero())
}

/// The weighted mean residual of each target if the model has a constant, else 0.
fn mean_residuals<T: Scalar, K: Kernel<T>>(
    model: &KrrModel<K, T>,
    samples: Problem<'_, T>,
    f: &Mat<f64>,
) -> Vec<f64> {
    let (n, has_constant) = (samples.x.len(), has_constant(model));
    let total: f64 = (0..n).map(|i| samples.weight(i)).sum();
    let residual = |i: usize, j: usize| samples.weight(i) * (samples.y[(i, j)].f64() - f[(i, j)]);
    let mean = |j: usize| {
        if has_constant { (0..n).map(|i| residual(i, j)).sum::<f64>() / total } else { 0.0 }
    };
    (0..f.ncols()).map(mean).collect()
}

/// Products with α of which the mean is taken off, p × t, from those with \[α w\].
pub(super) fn centered(sums: &Mat<f64>, means: &[f64], mu: f64) -> Mat<f64> {
    let t = means.len();
    Mat::from_fn(sums.nrows(), t, |i, j| sums[(i, j)] - sums[(i, t)] * means[j] / mu)
}

/// Lα = C(W + δI)⁻¹Cᵀα from Cᵀα (m × t), n × t.
fn times_nystrom<T: Scalar, K: Kernel<T>>(
    model: &KrrModel<K, T>,
    x: Points<'_, T>,
    whitener: &Whitener<T>,
    Ca: Mat<f64>,
) -> Mat<f64> {
    let theta = whitener.solve(Ca);
    let (mut out, mut wide) = (Mat::zeros(x.len(), theta.ncols()), Mat::new());
    for rows in RowTree::tiles(0..x.len(), TILE_ROWS) {
        let k = model.kernel().eval(model.centers(), x.slice(rows.clone()));
        let C = ops::widened(k.as_ref(), &mut wide);
        let out = out.as_mut().subrows_mut(rows.start, rows.len());
        ops::matmul(out, Accum::Replace, C.transpose(), theta.as_ref(), 1.0);
    }
    out
}
