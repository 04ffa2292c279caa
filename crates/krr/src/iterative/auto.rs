//! The restricted fit by whichever method suits the sizes.

use crate::input::Samples;
use crate::iterative::plan::{Method, Plan, ProblemSize};
use crate::iterative::{Centers, Extras, Falkon, IterationReport, IterativeFit, IterativeOptions, Krill};
use crate::{KrrModel, NystromKrr, Solver};
use faer::MatRef;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use rand::Rng;

/// Kernel ridge regression restricted to M centres by the method that takes the least work in the memory allowed: directly, by Falkon or
/// by KRILL, which give the same f up to the tolerance. [`Plan::new`] has the rule.
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
/// let fit = AutoKrr::new(Gaussian::new(0.1)?, Ridge::PerSample(1e-6)).fit(Points::from_slice(&x), y.as_ref(), &centers, rng)?;
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

/// A model, how it was decided to fit it, and how the iterations went if there were any.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedFit<K, T> {
    /// The model.
    pub model: KrrModel<K, T>,
    /// The decision.
    pub plan: Plan,
    /// Of the iterative methods.
    pub iterations: Option<IterationReport>,
}

impl<K, T> AutoKrr<K, T> {
    /// Without intercept, to a residual of 1e-6, no limit of memory.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        AutoKrr { kernel, ridge, intercept: false, options: IterativeOptions::default() }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> AutoKrr<K, T> {
    /// Fits y (n × t) at the n points `x`; `centers` is a `&Dictionary`, `&Landmarks` or [`Points`].
    ///
    /// # Errors
    /// As [`Falkon::fit`]; [`OutOfBudget`](nystrom_linalg_core::Error::OutOfBudget) only if no method fits.
    ///
    /// # Randomness
    /// None, or that of [`Krill::fit`] where it is taken.
    pub fn fit<'a>(
        &self,
        x: Points<'a, T>,
        y: MatRef<'_, T>,
        centers: impl Into<Centers<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<PlannedFit<K, T>> {
        self.fit_with(x, y, centers, Extras::default(), rng)
    }

    /// As [`fit`](Self::fit), with sample weights, a warm start or a monitor: the last two are for iterative methods and ignored by the
    /// direct one.
    ///
    /// # Errors
    /// As [`Falkon::fit_with`].
    ///
    /// # Randomness
    /// As [`fit`](Self::fit).
    pub fn fit_with<'a>(
        &self,
        x: Points<'a, T>,
        y: MatRef<'_, T>,
        centers: impl Into<Centers<'a, T>>,
        extras: Extras<'_, K, T>,
        rng: &mut dyn Rng,
    ) -> Result<PlannedFit<K, T>> {
        let (centers, samples) = (centers.into(), Samples { x, y, weights: extras.sample_weights });
        samples.check(&self.kernel)?;
        self.options.check()?;
        validate::not_empty("centres (m)", centers.len())?;
        let t = y.ncols() + usize::from(self.intercept);
        let size = ProblemSize { n: x.len(), d: x.dim(), m: centers.len(), t, weighted: centers.weighted() };
        let plan = Plan::new::<T>(size, &self.options)?;
        let (ridge, intercept, options) = (self.ridge, self.intercept, self.options);
        let kernel = || self.kernel.clone();
        let IterativeFit { model, report } = match plan.method {
            Method::Direct => {
                let model = self.direct(samples, centers)?;
                return Ok(PlannedFit { model, plan, iterations: None });
            }
            Method::Falkon => Falkon { kernel: kernel(), ridge, intercept, options }.fit_with(x, y, centers, extras)?,
            Method::Krill => {
                Krill { kernel: kernel(), ridge, intercept, options }.fit_with(x, y, centers, extras, rng)?
            }
        };
        Ok(PlannedFit { model, plan, iterations: Some(report) })
    }

    fn direct(&self, samples: Samples<'_, T>, centers: Centers<'_, T>) -> Result<KrrModel<K, T>> {
        let krr = NystromKrr {
            kernel: self.kernel.clone(),
            ridge: self.ridge,
            intercept: self.intercept,
            solver: Solver::Auto,
        };
        let (z, _) = centers.resolve(samples, &self.kernel)?;
        let z = Points::from_cols(z.as_ref());
        match samples.weights {
            Some(weights) => krr.fit_centers_weighted(samples.x, samples.y, z, weights),
            None => krr.fit_centers(samples.x, samples.y, z),
        }
    }
}
