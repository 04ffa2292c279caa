//! P = FFᵀ + μI and its inverse.

use faer::{Accum, Mat, MatMut, MatRef};
use nystrom_linalg_core::{Cholesky, JitterLadder, Result, RowTree, Scalar, ops};
use rayon::prelude::*;

/// Rows of F that are widened to `f64` at once.
const TILE_ROWS: usize = 256;

/// P = FFᵀ + μI for F n × k, with GGᵀ = FᵀF + μI.
pub(crate) struct LowRankPlus<T> {
    F: Mat<T>,
    G: Cholesky<f64>,
    mu: f64,
}

impl<T: Scalar> LowRankPlus<T> {
    /// nk² flops.
    pub fn new(F: Mat<T>, mu: f64) -> Result<Self> {
        let k = F.ncols();
        let leaf = |rows| {
            let (mut gram, mut wide) = (Mat::zeros(k, k), Mat::new());
            for rows in RowTree::tiles(rows, TILE_ROWS) {
                let F = ops::widened(F.as_ref().subrows(rows.start, rows.len()), &mut wide);
                ops::gram_lower(gram.as_mut(), Accum::Add, F, 1.0);
            }
            gram
        };
        let mut gram = RowTree::new(F.nrows())
            .reduce_in_order(leaf, |a, b| a + b)
            .unwrap_or_else(|| Mat::zeros(k, k));
        ops::add_to_diagonal(gram.as_mut(), mu);
        let G = Cholesky::with_jitter(gram.as_ref(), JitterLadder::default())?;
        Ok(LowRankPlus { F, G, mu })
    }

    /// out = P⁻¹r = (r − F(FᵀF + μI)⁻¹Fᵀr)/μ. 4nkt flops.
    pub fn solve_into(&self, mut out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        let mut h = self.transpose_times(r);
        self.G.solve_in_place(h.as_mut()); //                   h = (FᵀF + μI)⁻¹Fᵀr
        out.rb_mut().par_row_chunks_mut(TILE_ROWS).enumerate().for_each_init(
            Mat::new,
            |wide, (c, mut out)| {
                let (start, rows) = (c * TILE_ROWS, out.nrows());
                let F = ops::widened(self.F.as_ref().subrows(start, rows), wide);
                ops::matmul_here(out.rb_mut(), Accum::Replace, F, h.as_ref(), 1.0);
                for j in 0..out.ncols() {
                    for i in 0..rows {
                        out[(i, j)] = (r[(start + i, j)] - out[(i, j)]) / self.mu;
                    }
                }
            },
        );
    }

    /// Fᵀr, summed along the row tree.
    fn transpose_times(&self, r: MatRef<'_, f64>) -> Mat<f64> {
        let (k, t) = (self.F.ncols(), r.ncols());
        let leaf = |rows| {
            let (mut sum, mut wide) = (Mat::zeros(k, t), Mat::new());
            for rows in RowTree::tiles(rows, TILE_ROWS) {
                let F = ops::widened(self.F.as_ref().subrows(rows.start, rows.len()), &mut wide);
                let r = r.subrows(rows.start, rows.len());
                ops::matmul_here(sum.as_mut(), Accum::Add, F.transpose(), r, 1.0);
            }
            sum
        };
        RowTree::new(self.F.nrows()).reduce(leaf, |a, b| a + b).unwrap_or_else(|| Mat::zeros(k, t))
    }
}

use faer::reborrow::*;

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_kernels::{Gaussian, Kernel, KernelMatrix, Points};
    use nystrom_linalg_core::{SymmetricEigen, random};
    use nystrom_sketch::RpCholesky;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    /// K of n points in the plane and F of rank k.
    fn problem(n: usize, k: usize, ell: f64, seed: u64) -> (Mat<f64>, Mat<f64>) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let x: Mat<f64> = random::standard_normal(n, 2, &mut rng);
        let (kernel, x) = (Gaussian::new(ell).unwrap(), Points::from_rows(x.as_ref()));
        let K = kernel.gram(x);
        let matrix = KernelMatrix::new(kernel, x).unwrap();
        (K, RpCholesky::default().factor(&matrix, k, &mut rng).unwrap().into_factor())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn it_is_the_inverse(n in 2..200usize, k in 1..20usize, t in 1..3usize,
        log_mu in -3.0..2.0f64, seed in 0..1000u64) {
            let (_, F) = problem(n, k.min(n), 0.5, seed);
            let mu = 10f64.powf(log_mu);
            let r: Mat<f64> = random::standard_normal(n, t, &mut Pcg64::seed_from_u64(seed));
            let mut out = Mat::zeros(n, t);
            LowRankPlus::new(F.clone(), mu).unwrap().solve_into(out.as_mut(), r.as_ref());
            let back = &F * (F.transpose() * &out) + faer::Scale(mu) * &out;
            // P⁻¹ is rounded by ε/μ, and P is at most n + μ
            prop_assert!((back - &r).norm_max() < 1e-13 * (1.0 + n as f64 / mu) * r.norm_max());
        }

        /// The eigenvalues of P^(−1/2)(K + μI)P^(−1/2) lie in [1, 1 + ‖K − K̂‖/μ]: with K̂ ⪯ K for
        /// every factor, not in the mean.
        #[test]
        fn the_preconditioned_spectrum_is_within_its_bounds(
            n in 5..80usize, k in 1..30usize, log_mu in -4.0..1.0f64, ell in 0.2..2.0f64,
            seed in 0..1000u64,
        ) {
            let (K, F) = problem(n, k.min(n), ell, seed);
            let mu = 10f64.powf(log_mu);
            let low = &F * F.transpose();
            let error = SymmetricEigen::new((&K - &low).as_ref()).unwrap().values()[0].max(0.0);
            let (mut P, mut A) = (low, K);
            ops::add_to_diagonal(P.as_mut(), mu);
            ops::add_to_diagonal(A.as_mut(), mu);
            let L = Cholesky::new(P.as_ref()).unwrap();
            L.forward_in_place(A.as_mut());
            L.forward_in_place(A.transpose_mut()); //           similar to P^(−1/2)(K + μI)P^(−1/2)
            let eigen = SymmetricEigen::new(A.as_ref()).unwrap();
            let rounding = 1e-14 * n as f64 * n as f64 / mu;
            prop_assert!(eigen.values()[n - 1] > 1.0 - rounding, "{:e}",
                eigen.values()[n - 1] - 1.0);
            prop_assert!(eigen.values()[0] < 1.0 + error / mu + rounding, "{} {}",
                eigen.values()[0], 1.0 + error / mu);
        }
    }
}
