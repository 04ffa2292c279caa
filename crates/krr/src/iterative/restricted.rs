//! A fit restricted to M centres, whatever the preconditioner.

use crate::input::Samples;
use crate::iterative::options::verdict;
use crate::iterative::run::run;
use crate::iterative::system::{System, factor_of_centers, right_hand_side};
use crate::iterative::tiles::{Count, KernelTiles};
use crate::iterative::{Centers, Extras, Iteration, IterativeFit, IterativeOptions, MemoryPlan};
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Cholesky, ConjugateGradients, Result, Ridge, Scalar, ops, validate};

/// What Falkon and KRILL have in common.
pub(crate) struct Restricted<'a, K, T> {
    pub kernel: &'a K,
    pub ridge: Ridge<T>,
    pub intercept: bool,
    pub options: &'a IterativeOptions,
    pub solver: SolvedBy,
    /// Numbers of `f64` in factorisations for m centres, at the peak.
    pub factors: fn(u64) -> u64,
}

/// What a preconditioner is made from.
pub(crate) struct Ingredients<'a, 'b, T, K> {
    pub tiles: &'a KernelTiles<'b, T, K>,
    /// RRᵀ = K_MM + δI.
    pub R: &'a Cholesky<f64>,
    /// What each centre stands for.
    pub omega: &'a [f64],
    pub mu: f64,
}

impl<T: Scalar, K: Kernel<T> + Clone> Restricted<'_, K, T> {
    /// Fits y at x; `precondition` makes G with GGᵀ ≈ ΦᵀDΦ + μI.
    pub fn fit(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        centers: Centers<'_, T>,
        mut extras: Extras<'_, K, T>,
        precondition: impl FnOnce(Ingredients<'_, '_, T, K>) -> Result<Cholesky<f64>>,
    ) -> Result<IterativeFit<K, T>> {
        let samples = Samples { x, y, weights: extras.sample_weights };
        samples.check(self.kernel)?;
        self.options.check()?;
        let (n, m, t) = (x.len(), centers.len(), y.ncols());
        let (z, omega) = centers.resolve(samples, self.kernel)?;
        let z = Points::from_cols(z.as_ref());
        check_start(extras.start, m, t)?;
        let mu = self.ridge.absolute(n)?.f64(); //                                          μ = nλ
        let columns = t + usize::from(self.intercept);
        let memory = MemoryPlan::restricted::<T>(n, m, columns, (self.factors)(m as u64), self.options.memory)?;

        let count = Count::default();
        let R = factor_of_centers(self.kernel, z)?; //                                      RRᵀ = K_MM + δI
        let tiles = KernelTiles::new(self.kernel, z, samples, &memory, &count);
        let G = precondition(Ingredients { tiles: &tiles, R: &R, omega: &omega, mu })?; //  GGᵀ ≈ ΦᵀDΦ + μI
        let (b, constant) = right_hand_side(&tiles, &R, self.intercept); //                 b = ΦᵀDy
        let start = extras.start.map(|theta| whitened(&R, theta)); //                       β = Rᵀθ
        let mut system = System { tiles, R: &R, mu, G, constant: constant.as_ref() };

        let model = |beta: MatRef<'_, f64>, condition: f64, reason: String| {
            let mut theta = beta.to_owned();
            R.backward_in_place(theta.as_mut()); //                                         θ = R⁻ᵀβ
            let intercepts = constant.as_ref().map_or(vec![0.0; t], |constant| constant.intercepts(beta));
            let report = FitReport {
                n,
                m,
                d: x.dim(),
                t,
                ridge: mu,
                jitter: R.jitter(),
                solver: self.solver,
                reason,
                condition,
                kernel_entries: count.entries() + (m as u64).pow(2),
            };
            KrrModel::from_parts(self.kernel.clone(), z, theta.as_ref(), &intercepts, report)
        };
        let mut look = |number: usize, cg: &ConjugateGradients<f64>| {
            let monitor = extras.monitor.as_mut()?;
            let (residual, so_far) = (cg.residual(), format!("iteration {number}, before the end"));
            let model = || model(cg.x(), cg.condition(), so_far.clone());
            verdict(monitor(&Iteration { number, residual, model: &model }))
        };
        let (beta, ran) = run(&mut system, b.as_ref(), start.as_ref().map(Mat::as_ref), self.options, &mut look)?;
        let model = model(beta.as_ref(), ran.condition, ran.reason())?;
        let kernel_entries = model.report().kernel_entries;
        let report = ran.report(self.options, count.passes(), kernel_entries, memory);
        Ok(IterativeFit { model, report })
    }
}

/// β = Rᵀθ.
fn whitened<T: Scalar>(R: &Cholesky<f64>, theta: MatRef<'_, T>) -> Mat<f64> {
    let theta = Mat::from_fn(theta.nrows(), theta.ncols(), |i, j| theta[(i, j)].f64());
    let mut beta = Mat::zeros(theta.nrows(), theta.ncols());
    ops::matmul(beta.as_mut(), Accum::Replace, R.lower().transpose(), theta.as_ref(), 1.0);
    beta
}

fn check_start<T: Scalar>(start: Option<MatRef<'_, T>>, m: usize, t: usize) -> Result<()> {
    let Some(theta) = start else { return Ok(()) };
    validate::same_size("rows of the start against number of centres", m, theta.nrows())?;
    validate::same_size("columns of the start against targets", t, theta.ncols())?;
    validate::finite("start", theta)
}
