//! Weighted regression in the span of centres, in whitened coordinates.

use super::newton::{Regression, State};
use crate::features::{FeatureRows, KernelRows, Whitener};
use crate::sums::Solution;
use crate::{FitReport, KrrModel, Problem, Solver};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar};

/// f = Σ_j θ_j k(·, z_j), β = Rᵀθ, so that ‖f‖ = ‖β‖.
pub(super) struct Landmarked<'a, T, K> {
    kernel: &'a K,
    intercept: bool,
    centers: Points<'a, T>,
    whitener: Whitener<T>,
}

impl<'a, T: Scalar, K: Kernel<T> + Clone> Landmarked<'a, T, K> {
    pub fn new(kernel: &'a K, intercept: bool, centers: Points<'a, T>) -> Result<Self> {
        let whitener = Whitener::new(kernel.gram(centers).as_ref(), true)?; // W + δI = RRᵀ
        Ok(Landmarked { kernel, intercept, centers, whitener })
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Regression<T, K> for Landmarked<'_, T, K> {
    fn size(&self) -> usize {
        self.centers.len()
    }

    fn solve(
        &mut self,
        problem: Problem<'_, T>,
        _: &State,
        mu: f64,
        _: f64,
    ) -> Result<(State, FitReport)> {
        let source = KernelRows::new(self.kernel, self.centers, None);
        let mut stream = FeatureRows::new(&problem, &source, &self.whitener, self.intercept)?;
        // β = (ΦᵀHΦ + nλI)⁻¹ΦᵀHz
        let (Solution { beta, b, .. }, mut report) =
            Solver::Auto.solve_at(&source, &mut stream, mu)?;
        report.kernel_entries += (report.n * report.m) as u64; //     to predict
        let b = stream.intercepts(b).map_or(0.0, |b| b[0]);
        let f = self.model(beta.clone(), &[b], report.clone())?.predict(problem.x)?;
        let f = f.col(0).iter().map(|f| f.f64()).collect();
        Ok((State { dual: beta, b, f }, report))
    }

    fn iterates(&self) -> bool {
        false
    }

    fn square(&self, at: &State) -> f64 {
        at.dual.squared_norm_l2()
    }

    fn model(&self, dual: Mat<f64>, b: &[f64], report: FitReport) -> Result<KrrModel<K, T>> {
        let theta = self.whitener.unwhiten(dual); //             θ = R⁻ᵀβ
        let b = self.intercept.then_some(b);
        KrrModel::from_parts(self.kernel.clone(), self.centers, theta.as_ref(), b, report)
    }
}
