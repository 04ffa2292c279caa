//! A fit restricted to the span of m features, wherever its rows are.

use super::preconditioner::Preconditioner;
use super::run::run;
use super::system::{Moments, RestrictedSystem, RowProducts};
use super::{Extras, IterativeFit, IterativeOptions, MemoryPlan};
use crate::features::whitened;
use crate::{FitReport, KrrModel};
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Cholesky, Result, Ridge, Scalar, ops};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The sizes compared for a start.
pub(super) const START: &str = "rows of the start against number of centres";

/// A fit by Falkon or KRILL.
pub(crate) struct Restricted<'a, K, T> {
    pub kernel: &'a K,
    pub ridge: Ridge<T>,
    pub intercept: bool,
    pub options: &'a IterativeOptions,
    pub preconditioner: Preconditioner,
}

/// The span that f is restricted to: that of the kernels at centres, or of a sketch S of them.
pub(super) struct Span<'a, T> {
    /// The centres of the model.
    pub centers: Points<'a, T>,
    /// Sθ, the coefficients of the model; θ without a sketch.
    pub expand: &'a dyn Fn(Mat<f64>) -> Mat<f64>,
    /// RRᵀ = K_mm + δI, or SᵀK_uu S + δI for a sketch of u centres.
    pub R: Cholesky<f64>,
    /// Ω, how many rows each feature represents.
    pub omega: Vec<f64>,
}

impl<T: Scalar, K: Kernel<T> + Clone> Restricted<'_, K, T> {
    /// The fit after the first pass; `entries` counts the kernel values evaluated so far.
    pub(super) fn solve(
        &self,
        mut rows: impl RowProducts,
        moments: Moments,
        span: Span<'_, T>,
        (memory, entries): (MemoryPlan, &AtomicU64),
        extras: Extras<'_, K, T>,
    ) -> Result<IterativeFit<K, T>> {
        let Span { centers, expand, R, omega } = span;
        let n = moments.n;
        let mu = self.ridge.absolute(n)?.f64(); //                                           μ = nλ
        // GGᵀ ≈ ΦᵀDΦ + μI
        let G = self.preconditioner.factor(&mut rows, &R, &omega, mu)?;
        // b = ΦᵀDy
        let (b, constant) = moments.right_hand_side(&R, self.intercept);
        let wide = &mut Mat::new();
        // β = Rᵀθ
        let start = extras.start.map(|theta| whitened(R.lower(), ops::widened(theta, wide)));
        let model = |beta: MatRef<'_, f64>, condition: f64, reason: String| {
            let mut theta = beta.to_owned();
            R.backward_in_place(theta.as_mut()); //                                      θ = R⁻ᵀβ
            let b = constant.as_ref().map(|constant| constant.intercepts(beta));
            let report = FitReport {
                ridge: mu,
                jitter: R.jitter(),
                reason,
                condition,
                kernel_entries: entries.load(Relaxed),
                ..FitReport::sized(self.preconditioner.solver(), n, centers, beta.ncols())
            };
            let theta = expand(theta);
            KrrModel::from_parts(self.kernel.clone(), centers, theta.as_ref(), b.as_deref(), report)
        };
        let (constant, passes) = (constant.as_ref(), 1 + self.preconditioner.passes());
        let mut system = RestrictedSystem { rows, R: &R, mu, G, constant, passes };
        let mut fit = run(&mut system, (b.as_ref(), start), extras, self.options, memory, &model)?;
        fit.report.passes = system.passes;
        fit.report.notice = system.rows.notice();
        Ok(fit)
    }
}
