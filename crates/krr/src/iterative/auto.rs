//! The restricted fit by whichever method suits the sizes.

use super::direct_or_iterative::{CONDITION_KRILL, Method, Plan, ProblemSize};
use super::preconditioner::Preconditioner;
use super::restricted::Restricted;
use super::{Extras, Iteration, IterationReport, IterativeFit, IterativeOptions, Monitor};
use crate::{Centers, KrrModel, NystromKrr, Problem};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar, Streams, validate};
use rand::Rng;
use std::ops::ControlFlow;

/// Kernel ridge regression restricted to m centres by the method with the least work in the memory
/// allowed: [`NystromKrr`], [`Falkon`](crate::Falkon) or [`Krill`](crate::Krill). They give the
/// same f up to the tolerance. [`Plan::new`] has the rule.
///
/// # Cost
/// That of the method chosen, within the memory allowed.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{AutoKrr, Method};
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::{Dictionary, Draw};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..2000).map(|i| i as f64 / 1000.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin());
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let centers = Dictionary::uniform(2000, 60, Draw::WithoutReplacement, rng)?;
/// let krr = AutoKrr::new(Gaussian::new(0.1)?, Ridge::PerSample(1e-6));
/// let fit = krr.fit((Points::from_slice(&x), &y), &centers, rng)?;
/// assert_eq!(fit.plan.method, Method::Direct);
/// assert!(fit.plan.reason.starts_with("Direct: "));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutoKrr<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]).
    pub ridge: Ridge<T>,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// When an iterative method stops, and how much memory any may take.
    pub options: IterativeOptions,
}

/// A model, the choice of its method, and the report of the iterations, if any.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct PlannedFit<K, T> {
    /// The model.
    pub model: KrrModel<K, T>,
    /// The method chosen, and why.
    pub plan: Plan,
    /// Of an iterative method.
    pub iterations: Option<IterationReport>,
}

impl<K, T> AutoKrr<K, T> {
    /// Without intercept, to a residual of 1e-6, no limit of memory.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        AutoKrr { kernel, ridge, intercept: false, options: IterativeOptions::default() }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> AutoKrr<K, T> {
    /// Fits y (n × t) at the n points x of the problem; `centers` is a `&Dictionary`, `&Landmarks`
    /// or [`Points`](nystrom_kernels::Points).
    ///
    /// # Errors
    /// As [`Falkon::fit`](crate::Falkon::fit);
    /// [`OutOfBudget`](nystrom_linalg_core::Error::OutOfBudget) only if no method fits.
    ///
    /// # Randomness
    /// None, or that of [`Krill::fit`](crate::Krill::fit) if KRILL is chosen.
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<PlannedFit<K, T>> {
        self.fit_with(problem, centers, Extras::default(), rng)
    }

    /// As [`fit`](Self::fit), with a warm start or a monitor, which the direct method ignores. To
    /// continue a fit that was interrupted after it had changed to [`Krill`](crate::Krill), use
    /// `Krill`.
    ///
    /// # Errors
    /// As [`Falkon::fit_with`](crate::Falkon::fit_with).
    ///
    /// # Randomness
    /// As [`fit`](Self::fit).
    pub fn fit_with<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<PlannedFit<K, T>> {
        let (problem, centers) = (problem.into(), centers.into());
        problem.check(&self.kernel)?;
        self.options.check()?;
        validate::not_empty("centres (m)", centers.len())?;
        let t = problem.y.ncols() + usize::from(self.intercept);
        let size = ProblemSize {
            n: problem.x.len(),
            d: problem.x.mean_stored(),
            m: centers.len(),
            t,
            weighted: centers.weighted(),
        };
        let mut plan = Plan::new::<T>(size, &self.options)?;
        let fit = match plan.method {
            Method::Direct => {
                let krr = NystromKrr::new(self.kernel.clone(), self.ridge);
                let krr = NystromKrr { intercept: self.intercept, ..krr };
                let model = krr.fit(problem, centers)?;
                return Ok(PlannedFit { model, plan, iterations: None });
            }
            Method::Falkon => self.falkon(problem, centers, extras, &mut plan, rng)?,
            Method::Krill => self.krill(rng).fit(problem, centers, extras)?,
        };
        Ok(PlannedFit { model: fit.model, plan, iterations: Some(fit.report) })
    }

    /// Falkon, and KRILL from the last iterate if the condition number exceeds twice that expected
    /// of KRILL, and KRILL fits the memory.
    fn falkon(
        &self,
        problem: Problem<'_, T>,
        centers: Centers<'_, T>,
        extras: Extras<'_, K, T>,
        plan: &mut Plan,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        let Extras { start, resume, mut monitor, .. } = extras;
        let krill_fits = plan.fits(Method::Krill, &self.options);
        let mut left = None;
        let mut watch = |iteration: &Iteration<'_, K, T>| {
            let answer = monitor
                .as_mut()
                .map_or(Ok(ControlFlow::Continue(())), |monitor| monitor(iteration))?;
            if krill_fits && iteration.condition > 2.0 * CONDITION_KRILL && answer.is_continue() {
                left = Some(iteration.condition);
                return Ok(ControlFlow::Break(()));
            }
            Ok(answer)
        };
        let extras = Extras { start, resume, monitor: Some(&mut watch), device: None };
        let falkon = self.restricted(Preconditioner::Falkon);
        let first = falkon.fit(problem, centers, extras)?;
        let Some(condition) = left else { return Ok(first) };
        // for as long as the first model lives
        let monitor = monitor.map(|monitor| monitor as &mut Monitor<'_, K, T>);
        let start = Some(first.model.coefficients());
        let extras = Extras { start, monitor, ..Extras::default() };
        let IterativeFit { model, report } = self.krill(rng).fit(problem, centers, extras)?;
        let done = first.report.iterations;
        plan.method = Method::Krill;
        plan.reason += &format!(
            "; left for Krill after {done} iterations, because of a condition number above \
             {condition:.0}"
        );
        Ok(IterativeFit { model, report: first.report.then(report) })
    }

    fn krill(&self, rng: &mut dyn Rng) -> Restricted<'_, K, T> {
        self.restricted(Preconditioner::Krill(Streams::from_rng(rng)))
    }

    fn restricted(&self, preconditioner: Preconditioner) -> Restricted<'_, K, T> {
        let AutoKrr { kernel, ridge, intercept, options } = self;
        let (ridge, intercept) = (*ridge, *intercept);
        Restricted { kernel, ridge, intercept, options, preconditioner }
    }
}
