//! Kernel ridge regression on all the data.

use crate::iterative::full_sizes::{ITERATIONS, Sizes, chosen_rank};
use crate::iterative::full_system::System;
use crate::iterative::run::{Watch, run_watched};
use crate::iterative::{Extras, IterativeFit, IterativeOptions};
use crate::targets::Targets;
use crate::{FitReport, KrrModel, Problem, SolvedBy};
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, KernelMatrix};
use nystrom_linalg_core::{Counted, Result, Ridge, Scalar, ops};
use rand::Rng;

/// Kernel ridge regression as defined, over all of the space of k, without ever storing K. It
/// solves (K + nλI)α = y by preconditioned conjugate gradients. The preconditioner is P = K̂ + nλI,
/// with K̂ = FFᵀ of rank k from randomly pivoted Cholesky.
///
/// The answer to *what did Nyström cost me?*: the same f as [`ExactKrr`](crate::ExactKrr) at n far
/// beyond its n × n matrix. The eigenvalues of P^(−1/2)(K + nλI)P^(−1/2) lie in [1, 1 + ‖K −
/// K̂‖/nλ]. So a rank k that leaves little of K at the level nλ makes
/// the number of iterations independent of n.
///
/// With `options.memory`, what is left of that budget keeps one triangle of K in `f32`, n²/2 + 128n
/// numbers, or a prefix of its blocks. An iteration reads them at memory speed. That is the one
/// n × n in this crate beyond exact methods. It is dropped if the norm of what was rounded away,
/// known exactly, is above nλ/4; the rounded system is positive definite otherwise. Residuals are
/// verified against K itself. Where that norm is small enough it bounds what they are off by.
/// Elsewhere a pass in `f64` computes them, and the iterations refine.
///
/// Stops when the **true** residual satisfies ‖y − (K + nλI)α‖₂ ≤ tolerance·‖y‖₂ for every target
/// (and, with an intercept, for the constant 1 in the place of y). Every iteration evaluates one
/// triangle of K, each entry once.
///
/// # Cost
/// nk + n kernel values and nk² flops before, then n²/2 + 128n kernel values, 2n²t + 4nkt flops an
/// iteration, no kernel values where the triangle is kept. n·k numbers for F, 8k² bytes and 14
/// vectors. The model holds all the points. The bits do not depend on the number of threads.
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
    /// k, the rank of the preconditioner. `None`: by counts, that at which F and FᵀF cost as much
    /// as ten iterations, less where tr(K − K̂) ≤ nλ before. It is at most n/5, and 2000 or a
    /// quarter of the memory given.
    pub rank: Option<usize>,
    /// When to stop, and how much memory to take.
    pub options: IterativeOptions,
}

impl<K, T> FullKrr<K, T> {
    /// Without intercept, to a residual of 1e-6, the rank of the preconditioner by counts.
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
    /// As [`ExactKrr::fit`](crate::ExactKrr::fit); [`Empty`](nystrom_linalg_core::Error::Empty) or
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) for a rank of 0 or above n,
    /// [`OutOfBudget`](nystrom_linalg_core::Error::OutOfBudget) if the memory allowed does not hold
    /// F. Not converging is no error: see [`IterativeFit::into_model`].
    ///
    /// # Randomness
    /// That of [`RpCholesky`](nystrom_sketch::RpCholesky).
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
        let columns = t + usize::from(self.intercept);
        let memory = self.options.memory;
        let rank = chosen_rank::<T>(self.rank, [n, x.dim(), columns], ITERATIONS, memory)?;
        let mu = self.ridge.absolute(n)?.f64(); //                              μ = nλ
        let sizes = Sizes { n, columns, rank, ridges: 1 };
        sizes.plan::<T>(memory)?; //                                            refused in advance
        let root: Vec<f64> = samples.root_weights(); //                         √D
        let start = self.start(&extras, &root, t)?;

        let K = Counted::new(KernelMatrix::new(&self.kernel, x)?);
        let (mut system, memory) =
            System::preconditioned(&K, &sizes, self.rank, &root, &[mu], memory, rng)?;
        let targets = Targets::new(samples, &root, self.intercept);
        let b = targets.right_hand_side(1);
        let model = |gamma: MatRef<'_, f64>, condition: f64, reason: String| {
            let (alpha, b) = targets.coefficients(gamma, ops::dot);
            let of_all = FitReport::of_all(SolvedBy::FullConjugateGradients, samples);
            let kernel_entries = K.entries() + K.diagonal_entries();
            let report = FitReport { ridge: mu, condition, reason, kernel_entries, ..of_all };
            let b = self.intercept.then_some(&b[..]);
            KrrModel::from_parts(self.kernel.clone(), x, alpha.as_ref(), b, report)
        };
        let watch = Watch { start, resume: extras.resume, monitor: extras.monitor };
        let (model, ran) = run_watched(&mut system, b.as_ref(), watch, &self.options, &model)?;
        Ok(ran.finish(model, &self.options, system.passes, memory))
    }

    /// γ = D^(−1/2)α where there is weight, and 0 for the constant.
    pub(super) fn start(
        &self,
        extras: &Extras<'_, K, T>,
        root: &[f64],
        t: usize,
    ) -> Result<Option<Mat<f64>>> {
        let n = root.len();
        extras.check_start("rows of the start against number of points", n, t)?;
        let gamma = |alpha: MatRef<'_, T>| {
            Mat::from_fn(n, t + usize::from(self.intercept), |i, j| {
                if j < t && root[i] > 0.0 { alpha[(i, j)].f64() / root[i] } else { 0.0 }
            })
        };
        Ok(extras.start.map(gamma))
    }
}
