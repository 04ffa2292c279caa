//! Kernel ridge regression on all the data.

use super::full_memory::{ITERATIONS, Sizes};
use super::full_system::{FullSystem, Products};
use super::run::run;
use super::{Extras, IterativeFit, IterativeOptions, MemoryPlan};
use crate::device::KernelProduct;
use crate::model::Targets;
use crate::{FitReport, Problem, SolvedBy};
use faer::MatRef;
use nystrom_kernels::{Kernel, KernelMatrix};
use nystrom_linalg_core::{Counted, Result, Ridge, Scalar, ops};
use rand::Rng;

/// The memory of a fit, and how many kernel values it has evaluated so far.
pub(super) type Cost<'a> = (MemoryPlan, &'a dyn Fn() -> u64);

/// The sizes compared for a start.
pub(super) const START: &str = "rows of the start against number of points";

/// Kernel ridge regression over the whole space of k, without storing K in `f64`. It solves
/// (K + nλI)α = y by preconditioned conjugate gradients. The preconditioner is P = K̂ + nλI, with
/// K̂ = FFᵀ of rank k from randomly pivoted Cholesky.
///
/// The f is that of [`ExactKrr`](crate::ExactKrr), for n at which its n × n matrix cannot be
/// stored: with it the error of a Nyström fit can be measured. The eigenvalues of P^(−1/2)(K +
/// nλI)P^(−1/2) lie in [1, 1 + ‖K − K̂‖/nλ]. If the rank k makes ‖K − K̂‖ comparable to nλ, the
/// number of iterations does not depend on n.
///
/// With `options.memory`, the bytes left store one triangle of K in `f32`, n²/2 + 128n numbers, or
/// its first blocks; an iteration reads them instead of evaluating them. The norm of the rounding
/// errors of K in `f32` is known. If it is above nλ/4, K is not stored in `f32`; otherwise the
/// rounded system is positive definite. The true residual is that of K itself: it is bounded by
/// that norm where this is enough, and elsewhere computed by a pass in `f64`, from which the
/// iterations continue.
///
/// The run stops when the **true** residual satisfies ‖y − (K + nλI)α‖₂ ≤ tolerance·‖y‖₂ for every
/// target and, with an intercept, for the constant 1 in place of y. An iteration evaluates each
/// entry of one triangle of K once.
///
/// # Cost
/// The preconditioner takes nk + n kernel values and nk² flops. An iteration takes 2n²t + 4nkt
/// flops and n²/2 + 128n kernel values, or none where the triangle is stored. Memory: n·k numbers
/// for F, 8k² bytes and 14 vectors. The model contains all points. The bits do not depend on the
/// number of threads.
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
    /// k, the rank of the preconditioner. `None`: the rank at which F and FᵀF cost as much as ten
    /// iterations, by counts, or a smaller one at which tr(K − K̂) ≤ nλ. It is at most n/5. Without
    /// `options.memory` it is at most 2000; otherwise F takes at most a quarter of the memory.
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
    /// F. A run that does not converge is not an error: see [`IterativeFit::into_model`].
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
        self.check(samples)?;
        self.sizes(samples, 1, extras.device.is_some())?; // before the device works
        let columns = samples.y.ncols() + usize::from(self.intercept);
        let products =
            extras.device.map(|device| device.matrix(&self.kernel, samples.x, columns, rng));
        self.fit_to(samples, products.transpose()?, extras, rng)
    }

    /// As [`fit_with`](Self::fit_with), with products that the caller computes. The preconditioner
    /// and the steps of conjugate gradients are computed here, in `f64`.
    ///
    /// If the [rounding](KernelProduct::rounding) of the products is above a quarter of nλ over the
    /// largest weight, they are asked to give it up. K is not stored, whatever
    /// `options.memory`.
    ///
    /// # Cost
    /// The preconditioner takes nk + n kernel values and nk² flops, an iteration a product.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and those of the products. To keep what was computed before an error,
    /// save the run in a [`Monitor`](crate::Monitor).
    ///
    /// # Randomness
    /// As [`fit`](Self::fit).
    ///
    /// ```
    /// use faer::{Accum, Mat, MatMut, MatRef};
    /// use nystrom_kernels::{Gaussian, Kernel, Points};
    /// use nystrom_krr::{Extras, FullKrr, KernelProduct, metrics::rmse};
    /// use nystrom_linalg_core::{Result, Ridge, ops};
    /// use rand::SeedableRng;
    /// struct Stored(Mat<f64>);
    /// impl KernelProduct for Stored {
    ///     fn product(&mut self, out: MatMut<'_, f64>, a: MatRef<'_, f64>, _: bool) -> Result<()> {
    ///         ops::matmul(out, Accum::Replace, self.0.as_ref(), a, 1.0);
    ///         Ok(())
    ///     }
    /// }
    /// let x: Vec<f64> = (0..500).map(|i| i as f64 / 500.0).collect();
    /// let y = Mat::from_fn(500, 1, |i, _| (9.0 * x[i]).sin());
    /// let (points, kernel) = (Points::from_slice(&x), Gaussian::new(0.2)?);
    /// let full = FullKrr::new(kernel, Ridge::PerSample(1e-4));
    /// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
    /// let stored = Stored(kernel.gram(points));
    /// let by = full.fit_by((points, &y), stored, Extras::default(), rng)?;
    /// let fit = full.fit((points, &y), rng)?;
    /// let [a, b] = [by.model.predict(points)?, fit.model.predict(points)?];
    /// assert!(by.converged() && rmse(a.as_ref(), b.as_ref())? < 1e-4);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn fit_by<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        products: impl KernelProduct,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        let samples = problem.into();
        self.check(samples)?;
        self.fit_to(samples, Some(Box::new(products)), extras, rng)
    }

    fn check(&self, samples: Problem<'_, T>) -> Result<()> {
        samples.check(&self.kernel)?;
        self.options.check()
    }

    /// The fit to a problem that was checked.
    fn fit_to(
        &self,
        samples: Problem<'_, T>,
        products: Option<Products<'_>>,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        let mu = self.ridge.absolute(samples.x.len())?.f64(); //               μ = nλ
        extras.check_start(START, samples.x.len(), samples.y.ncols())?;
        self.with_system(
            samples,
            &[mu],
            products,
            |system, targets, cost| self.solve(system, targets, mu, cost, extras),
            rng,
        )
    }

    /// What `solve` makes of the equations at all μ, of their memory, and of the number of kernel
    /// values evaluated so far. Without `products`, K is stored as far as the memory goes.
    pub(super) fn with_system<R>(
        &self,
        samples: Problem<'_, T>,
        mu: &[f64],
        products: Option<Products<'_>>,
        solve: impl FnOnce(FullSystem<Products<'_>>, &Targets<'_, T, f64>, Cost<'_>) -> Result<R>,
        rng: &mut dyn Rng,
    ) -> Result<R> {
        let (sizes, budget) = self.sizes(samples, mu.len(), products.is_some())?;
        let targets = Targets::new(samples, self.intercept); //                 √D, y − ȳ
        let K = Counted::new(KernelMatrix::new(&self.kernel, samples.x)?);
        let of = (&targets.root[..], mu);
        let (system, memory) = FullSystem::preconditioned(products, &K, &sizes, of, budget, rng)?;
        solve(system, &targets, (memory, &|| K.entries() + K.diagonal_entries()))
    }

    /// The sizes of a fit at so many ridges, and the memory for kernel values; an error before any
    /// work if the fit does not keep to the memory allowed.
    pub(super) fn sizes(
        &self,
        samples: Problem<'_, T>,
        ridges: usize,
        is_elsewhere: bool,
    ) -> Result<(Sizes, Option<u64>)> {
        let (x, memory) = (samples.x, self.options.memory);
        let budget = memory.filter(|_| !is_elsewhere);
        let size = [x.len(), x.mean_stored(), samples.y.ncols() + usize::from(self.intercept)];
        let sizes = Sizes::new::<T>(self.rank, size, ridges, ITERATIONS, budget)?;
        sizes.plan::<T>(budget)?.within(memory, "full-data regression")?;
        Ok((sizes, budget))
    }

    /// The fit after the preconditioner; `entries` counts the kernel values evaluated so far.
    pub(super) fn solve(
        &self,
        mut system: FullSystem<impl KernelProduct>,
        targets: &Targets<'_, T, f64>,
        mu: f64,
        (memory, entries): Cost<'_>,
        extras: Extras<'_, K, T>,
    ) -> Result<IterativeFit<K, T>> {
        let b = targets.right_hand_side(1);
        let start = extras.start.map(|alpha| targets.start(alpha));
        let model = |gamma: MatRef<'_, f64>, condition: f64, reason: String| {
            let report = report(targets.samples, [mu, condition], reason, entries());
            targets.model(self.kernel.clone(), gamma, ops::dot, report)
        };
        let begun = (b.as_ref(), start);
        let mut fit = run(&mut system, begun, extras, &self.options, memory, &model)?;
        (fit.report.passes, fit.report.notice) = (system.passes, system.notice());
        Ok(fit)
    }
}

/// The report of a model of all samples at this μ.
pub(super) fn report<T: Scalar>(
    samples: Problem<'_, T>,
    [ridge, condition]: [f64; 2],
    reason: String,
    kernel_entries: u64,
) -> FitReport {
    let of_all = FitReport::of_all(SolvedBy::FullConjugateGradients, samples);
    FitReport { ridge, condition, reason, kernel_entries, ..of_all }
}
