//! Kernel logistic regression on all the data.

use super::logistic::{Logistic, check};
use super::newton::{self, Regression, State};
use crate::iterative::IterativeOptions;
use crate::iterative::full_memory::{ITERATIONS, Sizes};
use crate::iterative::full_system::{FullSystem, factor};
use crate::model::Targets;
use crate::{FitReport, KrrModel, Problem, SolvedBy};
use faer::Mat;
use nystrom_kernels::{Kernel, KernelMatrix, Points};
use nystrom_linalg_core::{ConjugateGradients, Counted, KeptTriangle, Result, Ridge, Scalar, ops};
use rand::Rng;

/// Kernel logistic regression as defined, over all of the space of k, without ever storing K in
/// `f64`:
///
/// ```text
/// minimise  (1/n) Σ_i w_i ln(1 + e^{−y_i (f(x_i) + b)}) + (λ/2)‖f‖²,    y_i = ±1,
///     over   f = Σ_i α_i k(·, x_i)  and, if `intercept`, b.
/// ```
///
/// The steps are those of [`LogisticKrr`](super::LogisticKrr), each solved by the method of
/// [`FullKrr`](crate::FullKrr). Conjugate gradients start from the last α and reduce the residual
/// to a tenth; if the objective does not fall then, they continue. All steps share the factor F of
/// the preconditioner and, as far as `options.memory` allows, one stored triangle of K.
///
/// The triangle is stored in `f32`, with a relative error of at most 6·10⁻⁸ in each entry. The
/// model is the minimiser for the rounded K; unlike [`FullKrr`](crate::FullKrr), the method does
/// not correct it by residuals of K itself. If rounding changes √H K √H by more than nλ/4 in norm,
/// K is not rounded at this and smaller ridges.
///
/// # Cost
/// nk + n²/2 kernel values if the triangle is stored, otherwise n²/2 for each iteration. 2n² flops
/// for each iteration and nk² for each step. There are about 2 to 4 steps for each ridge and
/// column, of about ten iterations each. Memory as [`FullKrr`](crate::FullKrr). The bits do not
/// depend on the number of threads.
///
/// # Source
/// As [`LogisticKrr`](super::LogisticKrr), with iterative steps as in Algorithm 2 there.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::FullLogisticKrr;
/// use nystrom_linalg_core::Ridge;
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..300).map(|i| i as f64 / 150.0).collect();
/// let y = Mat::from_fn(300, 1, |i, _| if (x[i] - 1.0).abs() < 0.5 { 1.0 } else { -1.0 });
/// let logistic = FullLogisticKrr::new(Gaussian::new(0.3)?, Ridge::PerSample(1e-4));
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let model = logistic.fit((Points::from_slice(&x), &y), rng)?;
/// let odds = model.predict(Points::from_slice(&[0.2, 1.0]))?;
/// assert!(odds[(0, 0)] < -2.0 && odds[(1, 0)] > 2.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FullLogisticKrr<K, R> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]) for `fit`, `()` for `path`.
    pub ridge: R,
    /// Whether to fit a constant b, not penalised, one per column.
    pub intercept: bool,
    /// Steps end when they decrease the objective by a smaller share than `tolerance`. Also the
    /// largest number of iterations of a step, and how much memory to use.
    pub options: IterativeOptions,
}

impl<K, R> FullLogisticKrr<K, R> {
    /// With an intercept, until a step gains less than 1e-6.
    pub fn new(kernel: K, ridge: R) -> Self {
        let options = IterativeOptions::default();
        FullLogisticKrr { kernel, ridge, intercept: true, options }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> FullLogisticKrr<K, Ridge<T>> {
    /// Fits y (n × t, all ±1) at the n points x of the problem.
    ///
    /// # Errors
    /// As [`FullKrr::fit`](crate::FullKrr::fit), and `InvalidParameter` for a y that is neither −1
    /// nor 1.
    ///
    /// # Randomness
    /// That of [`RpCholesky`](nystrom_sketch::RpCholesky).
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<KrrModel<K, T>> {
        let problem = problem.into();
        let way = newton::way(problem.x.len(), self.ridge, self.options.tolerance)?;
        newton::last(|goes_on| self.each(problem, &way, goes_on, rng))
    }
}

impl<K> FullLogisticKrr<K, ()> {
    /// For a [`path`](Self::path), which is given many ridges. With an intercept.
    pub fn without_ridge(kernel: K) -> Self {
        FullLogisticKrr::new(kernel, ())
    }

    /// The fits at all these ridges, as [`LogisticKrr::path`](super::LogisticKrr::path).
    ///
    /// # Errors
    /// As `fit`, and `Empty` without ridges.
    ///
    /// # Randomness
    /// As `fit`.
    pub fn path<'a, T: Scalar>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        ridges: &[Ridge<T>],
        goes_on: impl FnMut(KrrModel<K, T>) -> bool,
        rng: &mut dyn Rng,
    ) -> Result<()>
    where
        K: Kernel<T> + Clone,
    {
        let problem = problem.into();
        let way = newton::path(problem.x.len(), ridges, self.options.tolerance)?;
        self.each(problem, &way, goes_on, rng)
    }
}

impl<K, R> FullLogisticKrr<K, R> {
    fn each<T: Scalar>(
        &self,
        problem: Problem<'_, T>,
        way: &[newton::Stop],
        goes_on: impl FnMut(KrrModel<K, T>) -> bool,
        rng: &mut dyn Rng,
    ) -> Result<()>
    where
        K: Kernel<T> + Clone,
    {
        let (kernel, intercept, options) = (&self.kernel, self.intercept, &self.options);
        check(problem, kernel)?;
        options.check()?;
        let (x, n) = (problem.x, problem.x.len());
        let columns = 1 + usize::from(intercept);
        let sizes = [n, x.mean_stored(), columns];
        let sizes = Sizes::new::<T>(None, sizes, 1, ITERATIONS, options.memory)?;
        let memory = sizes.plan::<T>(options.memory)?;
        // p(1 − p) is at most 1/4
        let root: Vec<f64> = (0..n).map(|i| 0.5 * problem.weight(i).sqrt()).collect();
        let mu: Vec<f64> = way.iter().map(newton::Stop::mu).collect();
        let K = Counted::new(KernelMatrix::new(kernel, x)?);
        let F = factor(&K, &sizes, &root, &mu, rng)?; //           K ≈ FFᵀ
        let bytes = [memory.kept, memory.left_for_kernel_values(options.memory)];
        // a ridge that does not allow for rounding is met when a step comes to it
        let mut system = FullSystem::keeping(&K, F.clone(), &root, &mu[..1], bytes)?;
        system.treat_rounded_as_exact = true;
        let entries = || K.entries() + K.diagonal_entries();
        let constant = vec![0.0; n];
        let entries: &dyn Fn() -> u64 = &entries;
        let mut regression = All { kernel, intercept, options, x, entries, F, constant, system };
        newton::follow(&mut regression, (problem, &Logistic), way, goes_on)
    }
}

/// f = Σ_i α_i k(·, x_i).
struct All<'a, T, K> {
    kernel: &'a K,
    intercept: bool,
    options: &'a IterativeOptions,
    x: Points<'a, T>,
    entries: &'a dyn Fn() -> u64,
    F: Mat<T>,
    /// √H(√H K √H + μI)⁻¹√H1 of the last step.
    constant: Vec<f64>,
    system: FullSystem<KeptTriangle<'a, T>>,
}

impl<T: Scalar, K: Kernel<T> + Clone> Regression<T, K> for All<'_, T, K> {
    fn size(&self) -> usize {
        self.x.len()
    }

    fn solve(
        &mut self,
        problem: Problem<'_, T>,
        from: &State,
        mu: f64,
        left: f64,
    ) -> Result<(State, FitReport)> {
        let n = self.x.len();
        let targets = Targets::new(problem, self.intercept);
        let root = &targets.root; //                                     √H
        let system = &mut self.system;
        system.reweight(self.F.clone(), root, &[mu])?;
        let b = targets.right_hand_side(1);
        // (√H K √H + μI)γ = √H[z, 1], from √H⁻¹ times what solved the last system
        let start = Mat::from_fn(n, targets.width(), |i, j| {
            let last = if j == 0 { from.dual[(i, 0)] } else { self.constant[i] };
            if root[i] > 0.0 { last / root[i] } else { 0.0 }
        });
        let mut cg = ConjugateGradients::start(system, b.as_ref(), Some(start.as_ref()))?;
        let wanted: Vec<f64> = cg.residuals().iter().map(|first| left * first).collect();
        let reached = |now: &[f64]| now.iter().zip(&wanted).all(|(now, wanted)| now <= wanted);
        for _ in 0..self.options.max_iterations {
            if reached(cg.residuals()) || !cg.step(system, 0.0)? {
                break;
            }
        }
        let condition = cg.condition();
        if targets.width() > 1 {
            self.constant = (0..n).map(|i| root[i] * cg.x()[(i, 1)]).collect();
        }
        let (alpha, b) = targets.coefficients(cg.x(), ops::dot);
        let f = system.times(alpha.as_ref());
        let (kernel_entries, ridge) = ((self.entries)(), mu);
        let of_all = FitReport::of_all(SolvedBy::FullConjugateGradients, problem);
        let report = FitReport { ridge, condition, kernel_entries, ..of_all };
        let f = f.col(0).iter().map(|f| f + b[0]).collect();
        Ok((State { dual: alpha, b: b[0], f }, report))
    }

    fn iterates(&self) -> bool {
        true
    }

    /// αᵀKα.
    fn square(&self, at: &State) -> f64 {
        at.f.iter().enumerate().map(|(i, f)| at.dual[(i, 0)] * (f - at.b)).sum()
    }

    fn model(&self, dual: Mat<f64>, b: &[f64], report: FitReport) -> Result<KrrModel<K, T>> {
        let b = self.intercept.then_some(b);
        KrrModel::from_parts(self.kernel.clone(), self.x, dual.as_ref(), b, report)
    }
}
