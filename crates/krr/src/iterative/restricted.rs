//! A fit restricted to M centres, whatever the preconditioner.

use crate::input::Samples;
use crate::iterative::run::run_watched;
use crate::iterative::system::{System, factor_of_centers, right_hand_side};
use crate::iterative::tiles::{Count, KernelTiles};
use crate::iterative::{Centers, Extras, IterativeFit, IterativeOptions, MemoryPlan};
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Accum, Mat, MatRef};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Cholesky, Result, Ridge, Scalar, ops, validate};

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
        extras: Extras<'_, K, T>,
        precondition: impl FnOnce(Ingredients<'_, '_, T, K>) -> Result<Cholesky<f64>>,
    ) -> Result<IterativeFit<K, T>> {
        let samples = Samples { x, y, weights: extras.sample_weights };
        samples.check(self.kernel)?;
        self.options.check()?;
        let (z, omega) = centers.resolve(samples, self.kernel)?;
        let z = Points::from_cols(z.as_ref());
        check_start(extras.start, z.len(), y.ncols())?;
        let mu = self.ridge.absolute(x.len())?.f64(); //                                    μ = nλ
        let memory = self.plan(x.len(), z.len(), y.ncols())?;

        let count = Count::default();
        let R = factor_of_centers(self.kernel, z)?; //                                      RRᵀ = K_MM + δI
        let tiles = KernelTiles::new(self.kernel, z, samples, &memory, &count);
        let G = precondition(Ingredients { tiles: &tiles, R: &R, omega: &omega, mu })?; //  GGᵀ ≈ ΦᵀDΦ + μI
        let (b, constant) = right_hand_side(&tiles, &R, self.intercept); //                 b = ΦᵀDy
        let start = extras.start.map(|theta| whitened(&R, theta)); //                       β = Rᵀθ
        let model = |beta: MatRef<'_, f64>, condition: f64, reason: String| {
            let mut theta = beta.to_owned();
            R.backward_in_place(theta.as_mut()); //                                         θ = R⁻ᵀβ
            let intercepts = constant.as_ref().map_or(vec![0.0; beta.ncols()], |constant| constant.intercepts(beta));
            let report = self.report(samples, z, mu, R.jitter(), condition, reason, &count);
            KrrModel::from_parts(self.kernel.clone(), z, theta.as_ref(), &intercepts, report)
        };
        let mut system = System { tiles, R: &R, mu, G, constant: constant.as_ref() };
        let (model, ran) = run_watched(&mut system, b.as_ref(), start, self.options, extras.monitor, &model)?;
        Ok(ran.finish(model, self.options, count.passes(), memory))
    }

    fn plan(&self, n: usize, m: usize, t: usize) -> Result<MemoryPlan> {
        let columns = t + usize::from(self.intercept);
        MemoryPlan::restricted::<T>(n, m, columns, (self.factors)(m as u64), self.options.memory)
    }

    fn report(
        &self,
        samples: Samples<'_, T>,
        z: Points<'_, T>,
        mu: f64,
        jitter: f64,
        condition: f64,
        reason: String,
        count: &Count,
    ) -> FitReport {
        FitReport {
            n: samples.x.len(),
            m: z.len(),
            d: z.dim(),
            t: samples.y.ncols(),
            ridge: mu,
            jitter,
            solver: self.solver,
            reason,
            condition,
            kernel_entries: count.entries() + (z.len() as u64).pow(2),
        }
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
