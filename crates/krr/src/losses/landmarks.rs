//! Weighted regression in the span of centres, in whitened coordinates.

use super::newton::{Regression, State};
use crate::data::Tiles;
use crate::features::{FeatureRows, KeptRows, KernelRows, Source, Whitener};
use crate::sums::Solution;
use crate::{FitReport, KrrModel, Problem, Solver};
use faer::{Accum, Mat};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Scalar, ops};

/// f = Σ_j θ_j k(·, z_j), β = Rᵀθ, so that ‖f‖ = ‖β‖.
pub(super) struct Landmarked<'a, T, K> {
    kernel: &'a K,
    intercept: bool,
    centers: Points<'a, T>,
    whitener: Whitener<T>,
    rows: KeptRows<'a, T, K>,
}

impl<'a, T: Scalar, K: Kernel<T> + Clone> Landmarked<'a, T, K> {
    /// Keeps rows of K_nm in `memory`, as far as they fit.
    pub fn new(
        kernel: &'a K,
        intercept: bool,
        [centers, x]: [Points<'a, T>; 2],
        memory: Option<u64>,
    ) -> Result<Self> {
        let whitener = Whitener::new(kernel.gram(centers).as_ref(), true)?; // W + δI = RRᵀ
        let rows = KeptRows::new(KernelRows::new(kernel, centers, None), x, memory);
        Ok(Landmarked { kernel, intercept, centers, whitener, rows })
    }

    /// f(x_i) + b for the rows of the problem.
    fn values(&self, problem: Problem<'_, T>, theta: &Mat<f64>, b: f64) -> Result<Vec<f64>> {
        let (m, n) = (self.centers.len(), problem.x.len());
        let theta = Mat::from_fn(m, 1, |j, _| T::lit(theta[(j, 0)]));
        let mut f = Vec::with_capacity(n);
        Tiles::each(&problem, &mut |tile| {
            let rows = f.len()..f.len() + tile.x.len();
            let mut k = Mat::zeros(m, rows.len());
            self.rows.fill(k.as_mut(), tile.x, rows, &mut None);
            let mut values = Mat::<T>::zeros(tile.x.len(), 1);
            ops::matmul(values.as_mut(), Accum::Replace, k.transpose(), theta.as_ref(), T::one());
            f.extend(values.col(0).iter().map(|f| f.f64() + b));
            Ok(())
        })?;
        Ok(f)
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
        let mut stream = FeatureRows::new(&problem, &self.rows, &self.whitener, self.intercept)?;
        // β = (ΦᵀHΦ + nλI)⁻¹ΦᵀHz
        let (Solution { beta, b, .. }, mut report) =
            Solver::Auto.solve_at(self.rows.source(), &mut stream, mu)?;
        let b = stream.intercepts(b).map_or(0.0, |b| b[0]);
        let f = self.values(problem, &self.whitener.unwhiten(beta.clone()), b)?;
        report.kernel_entries = self.rows.entries();
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
