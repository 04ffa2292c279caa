//! Kernel ridge regression on all the data.

use crate::Problem;
use crate::iterative::low_rank::LowRankPlus;
use crate::iterative::run::run_watched;
use crate::iterative::{Extras, IterativeFit, IterativeOptions, MemoryPlan};
use crate::{FitReport, KrrModel, SolvedBy};
use faer::{Mat, MatMut, MatRef};
use nystrom_kernels::{Kernel, KernelMatrix};
use nystrom_linalg_core::{
    Counted, Error, LinearSystem, Result, Ridge, Scalar, symmetric_product, validate,
};
use nystrom_sketch::RpCholesky;
use rand::Rng;

/// The rank of the preconditioner, unless given: n/10, at most this.
const LARGEST_RANK: usize = 1000;
/// Bytes of the two blocks each thread works on.
const BLOCK_BYTES: u64 = 1 << 20;

/// Kernel ridge regression as defined, over all of the space of k, without ever storing K: (K +
/// nλI)α = y by conjugate gradients with a randomly pivoted Cholesky preconditioner P = K̂ + nλI,
/// K̂ = FFᵀ of rank k.
///
/// The answer to *what did Nyström cost me?*: the same f as [`ExactKrr`](crate::ExactKrr) at n far
/// beyond its n × n matrix. The eigenvalues of P^(−1/2)(K + nλI)P^(−1/2) lie in [1, 1 + ‖K −
/// K̂‖/nλ], so that a rank k that leaves little of K at the level nλ makes the number of iterations
/// independent of n.
///
/// Stops when the **true** residual satisfies ‖y − (K + nλI)α‖₂ ≤ tolerance·‖y‖₂ for every target
/// (and, with an intercept, for the constant 1 in the place of y). Every iteration evaluates one
/// triangle of K, each entry once.
///
/// # Cost
/// nk + n kernel values and nk² flops before, then n²/2 + 128n kernel values, 2n²t + 4nkt flops an
/// iteration. n·k numbers for F, 8k² bytes and 5 vectors; nothing n × n. The model holds all the
/// points. The bits do not depend on the number of threads.
///
/// # Source
/// M. Díaz, E. Epperly, Z. Frangella, J. Tropp, R. Webber, *Robust, randomized preconditioning for
/// kernel ridge regression*, arXiv:2304.12465, 2023 (RPCholesky preconditioning; k = n/10 up to
/// 1000 as in the authors' code).
///
/// # Departures
/// P⁻¹ is applied as (I − F(FᵀF + nλI)⁻¹Fᵀ)/nλ, without the paper's singular value decomposition of
/// F.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{FullKrr, NystromKrr, metrics::rmse};
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::Landmarks;
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..1500).map(|i| i as f64 / 500.0).collect();
/// let y = Mat::from_fn(1500, 1, |i, _| (9.0 * x[i]).sin());
/// let (points, kernel, ridge) =
///     (Points::from_slice(&x), Gaussian::new(0.05)?, Ridge::PerSample(1e-5));
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let full = FullKrr::new(kernel, ridge).fit((points, &y), rng)?;
/// let landmarks = Landmarks::new(1500, (0..1500).step_by(75).collect())?;
/// let nystrom = NystromKrr::new(kernel, ridge).fit((points, &y), &landmarks)?;
/// let cost = rmse(nystrom.predict(points)?.as_ref(), full.model.predict(points)?.as_ref())?;
/// // 20 centres are too few here, and this is by how much
/// assert!(full.converged() && cost > 0.01);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FullKrr<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]).
    pub ridge: Ridge<T>,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// k, the rank of the preconditioner; `None`: n/10, at most 1000.
    pub rank: Option<usize>,
    /// When to stop, and how much memory to take.
    pub options: IterativeOptions,
}

impl<K, T> FullKrr<K, T> {
    /// Without intercept, to a residual of 1e-6, a preconditioner of rank n/10 up to 1000.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        FullKrr {
            kernel,
            ridge,
            intercept: false,
            rank: None,
            options: IterativeOptions::default(),
        }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> FullKrr<K, T> {
    /// Fits y (n × t) at the n points x of the problem.
    ///
    /// # Errors
    /// As [`ExactKrr::fit`](crate::ExactKrr::fit); [`Empty`](Error::Empty) or
    /// [`TooMany`](Error::TooMany) for a rank of 0 or above n, [`OutOfBudget`](Error::OutOfBudget)
    /// if the memory allowed does not hold F. Not converging is no error: see
    /// [`IterativeFit::into_model`].
    ///
    /// # Randomness
    /// That of [`RpCholesky`].
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        self.fit_with(problem, Extras::default(), rng)
    }

    /// As [`fit`](Self::fit), with a warm start (n × t) or a monitor.
    ///
    /// With weights (√D K √D + nλI)γ = √D y is solved, α = √Dγ, as in
    /// [`ExactKrr`](crate::ExactKrr).
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and those of a wrong start.
    ///
    /// # Randomness
    /// As [`fit`](Self::fit).
    pub fn fit_with<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        let samples = problem.into();
        samples.check(&self.kernel)?;
        self.options.check()?;
        let (x, n, t) = (samples.x, samples.x.len(), samples.y.ncols());
        let rank = self.rank(n)?;
        let mu = self.ridge.absolute(n)?.f64(); //                              μ = nλ
        let memory = self.plan(n, t, rank)?;
        let root: Vec<f64> = (0..n).map(|i| samples.weight(i).sqrt()).collect(); // √D
        let start = extras.start.map(|alpha| self.start(alpha, &root, t)).transpose()?;

        let K = Counted::new(KernelMatrix::new(&self.kernel, x)?);
        let mut F = RpCholesky::default().factor(&K, rank, rng)?.into_factor(); // K ≈ FFᵀ
        scale_rows(F.as_mut(), &root);
        let P = LowRankPlus::new(F, mu)?;
        let mut system = System { K: &K, root: &root, mu, P, passes: 0 };
        let mean = if self.intercept { samples.mean_target() } else { vec![0.0; t] };
        let b = self.right_hand_side(samples, &root, &mean);
        let model = |gamma: MatRef<'_, f64>, condition: f64, reason: String| {
            let (alpha, b) = self.coefficients(gamma, &root, &mean);
            let report = self.report(samples, mu, K.entries() + K.diagonal_entries());
            let report = FitReport { condition, reason, ..report };
            KrrModel::from_parts(self.kernel.clone(), x, alpha.as_ref(), &b, report)
        };
        let (model, ran) =
            run_watched(&mut system, b.as_ref(), start, &self.options, extras.monitor, &model)?;
        Ok(ran.finish(model, &self.options, system.passes, memory))
    }

    fn rank(&self, n: usize) -> Result<usize> {
        let rank = self.rank.unwrap_or(n.div_ceil(10).min(LARGEST_RANK));
        validate::at_most("columns of the preconditioner", rank, n)?;
        Ok(rank)
    }

    /// √D[y − ȳ, 1], the 1 only with an intercept.
    fn right_hand_side(&self, samples: Problem<'_, T>, root: &[f64], mean: &[f64]) -> Mat<f64> {
        let t = mean.len();
        Mat::from_fn(root.len(), t + usize::from(self.intercept), |i, j| {
            root[i] * if j < t { samples.y[(i, j)].f64() - mean[j] } else { 1.0 }
        })
    }

    /// α = √D M⁻¹√D(y − b) and b from γ = M⁻¹√D[y − ȳ, 1].
    fn coefficients(
        &self,
        gamma: MatRef<'_, f64>,
        root: &[f64],
        mean: &[f64],
    ) -> (Mat<f64>, Vec<f64>) {
        let t = mean.len();
        let b: Vec<f64> =
            (0..t).map(|j| if self.intercept { ratio(root, gamma, j) } else { 0.0 }).collect();
        let alpha = Mat::from_fn(gamma.nrows(), t, |i, j| {
            root[i] * (gamma[(i, j)] - if self.intercept { b[j] * gamma[(i, t)] } else { 0.0 })
        });
        (alpha, b.iter().zip(mean).map(|(b, mean)| b + mean).collect())
    }

    fn report(&self, samples: Problem<'_, T>, ridge: f64, kernel_entries: u64) -> FitReport {
        FitReport {
            n: samples.x.len(),
            m: samples.x.len(),
            d: samples.x.dim(),
            t: samples.y.ncols(),
            ridge,
            jitter: 0.0,
            solver: SolvedBy::FullConjugateGradients,
            reason: String::new(),
            condition: 1.0,
            kernel_entries,
        }
    }

    /// γ = D^(−1/2)α where there is weight, and 0 for the constant.
    fn start(&self, alpha: MatRef<'_, T>, root: &[f64], t: usize) -> Result<Mat<f64>> {
        validate::same_size(
            "rows of the start against number of points",
            root.len(),
            alpha.nrows(),
        )?;
        validate::same_size("columns of the start against targets", t, alpha.ncols())?;
        validate::finite("start", alpha)?;
        let entry = |i: usize, j: usize| {
            if j < t && root[i] > 0.0 { alpha[(i, j)].f64() / root[i] } else { 0.0 }
        };
        Ok(Mat::from_fn(root.len(), t + usize::from(self.intercept), entry))
    }

    fn plan(&self, n: usize, t: usize, rank: usize) -> Result<MemoryPlan> {
        let (wide, narrow) = (size_of::<f64>() as u64, size_of::<T>() as u64);
        let (n, t, k) = (n as u64, t as u64 + u64::from(self.intercept), rank as u64);
        let plan = MemoryPlan {
            factors: n * k * narrow + 6 * k * k * wide, // FᵀF is summed along the row tree
            vectors: 9 * n * t * wide,
            tiles: rayon::current_num_threads() as u64 * BLOCK_BYTES,
            kept: 0,
            kept_rows: 0,
            tile_rows: 256,
        };
        match self.options.memory {
            Some(budget) if budget < plan.total() => Err(Error::OutOfBudget {
                what: "full-data regression",
                needed: plan.total(),
                budget,
            }),
            _ => Ok(plan),
        }
    }
}

/// √D K √D + μI with its preconditioner.
struct System<'a, T, A> {
    K: &'a A,
    root: &'a [f64],
    mu: f64,
    P: LowRankPlus<T>,
    passes: usize,
}

impl<T: Scalar, A: nystrom_linalg_core::PsdMatrix<T>> LinearSystem<f64> for System<'_, T, A> {
    fn apply(&mut self, mut out: MatMut<'_, f64>, gamma: MatRef<'_, f64>) {
        self.passes += 1;
        let alpha = Mat::from_fn(gamma.nrows(), gamma.ncols(), |i, j| self.root[i] * gamma[(i, j)]);
        symmetric_product(self.K, out.rb_mut(), alpha.as_ref());
        for j in 0..out.ncols() {
            for i in 0..out.nrows() {
                out[(i, j)] = self.root[i] * out[(i, j)] + self.mu * gamma[(i, j)];
            }
        }
    }

    fn precondition(&mut self, out: MatMut<'_, f64>, r: MatRef<'_, f64>) {
        self.P.solve_into(out, r);
    }
}

/// (uᵀM⁻¹√Dy)/(uᵀM⁻¹u), u = √D1: the constant in column j of M⁻¹√D[y, 1].
fn ratio(root: &[f64], gamma: MatRef<'_, f64>, j: usize) -> f64 {
    let against = |j: usize| root.iter().enumerate().map(|(i, u)| u * gamma[(i, j)]).sum::<f64>();
    let whole = against(gamma.ncols() - 1);
    if whole > 0.0 { against(j) / whole } else { 0.0 } // 0 before the first iteration
}

fn scale_rows<T: Scalar>(mut F: MatMut<'_, T>, root: &[f64]) {
    for j in 0..F.ncols() {
        for (i, &root) in root.iter().enumerate() {
            F[(i, j)] *= T::lit(root);
        }
    }
}

use faer::reborrow::*;
