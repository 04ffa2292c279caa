//! Many ridges on all the data at once, the best by validation.

use super::full::{Cost, FullKrr, report as of_all};
use super::full_system::{FullSystem, Products};
use super::validation::Validation;
use super::{IterationReport, IterativeFit, IterativeOptions};
use crate::Problem;
use crate::data::all_absolute;
use crate::device::Device;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{ConjugateGradients, Result, Ridge, Scalar, Stop, ops, validate};
use rand::Rng;

/// The iteration of the first look at the validation error, and by how much its number grows from
/// look to look. A look costs as many kernel values as there are pairs of a validation point and a
/// training point.
const FIRST_LOOK: usize = 4;
const NEXT_LOOK: f64 = 1.25;
/// A ridge may still become the best while its error is within this factor of the best error.
const CONTENDER_RATIO: f64 = 1.1;
/// A ridge still improves if its error falls by more than this share from one look to the next.
const IMPROVEMENT: f64 = 1e-3;
/// An error is trusted only once the residual of its ridge is below this.
const TRUSTED_RESIDUAL: f64 = 0.03;
/// Errors within this factor count as equal. Among equal errors the largest ridge is chosen, and
/// the residual of the first look with an error equal to the last is enough.
const TIE_RATIO: f64 = 1.0005;

/// Kernel ridge regression on all the data at several ridges, the best of which is chosen by the
/// error on validation points.
///
/// One run of conjugate gradients, that of [`FullKrr`](crate::FullKrr), has the targets at every
/// ridge as its columns. The columns share the passes over K, F and FᵀF; each ridge has its own
/// preconditioner P = FFᵀ + nλI. A pass over a stored triangle for eight columns takes about three
/// times as long as for one. The path takes no more iterations than its smallest ridge.
///
/// The validation error is computed after iterations 4, 5, 6, 8, 10, 13, …: the *looks*. The run
/// ends when every ridge whose error is near the best has a residual below 0.03 and an error that
/// fell by less than 0.1 % since the last look. With `options.memory` one triangle of K is stored
/// as in [`FullKrr`](crate::FullKrr), and then, if there is memory left, the kernel values of the
/// looks.
///
/// # Cost
/// As [`FullKrr`](crate::FullKrr) with targets × ridges columns, and n·v kernel values for each
/// look at v validation points; n·v for all looks together if 8nv bytes are left of the memory.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::FullPath;
/// use nystrom_linalg_core::Ridge;
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..1500).map(|i| (i * 7 % 1500) as f64 / 500.0).collect();
/// let y = Mat::from_fn(1500, 1, |i, _| (9.0 * x[i]).sin() + 0.3 * (i as f64 * 9.7).sin());
/// let (points, y) = (Points::from_slice(&x), y.as_ref());
/// let train = (points.slice(0..1200), y.subrows(0, 1200));
/// let valid = (points.slice(1200..1500), y.subrows(1200, 300));
/// let ridges = [1e-1, 1e-3, 1e-5, 1e-7].map(Ridge::PerSample);
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let path = FullPath::new(Gaussian::new(0.05)?, &ridges).fit(train, valid, rng)?;
/// assert!(path.best == 1 || path.best == 2);
/// assert_eq!(path.fit.model.report().ridge, path.ridges[path.best]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FullPath<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]), in any order.
    pub ridges: Vec<Ridge<T>>,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// k, the rank of the preconditioner; `None`: as in [`FullKrr`](crate::FullKrr).
    pub rank: Option<usize>,
    /// When to stop if the validation error does not say so before, and how much memory to take.
    pub options: IterativeOptions,
}

/// The result of a [`FullPath`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct FullPathFit<K, T> {
    /// The model at the best ridge and the report of the iterations, with the residual of this
    /// ridge.
    pub fit: IterativeFit<K, T>,
    /// The index of the ridge with the smallest validation error. Of ridges whose errors are within
    /// 0.05 % of it, the largest, whose system is solved in the fewest iterations.
    pub best: usize,
    /// nλ of each ridge.
    pub ridges: Vec<f64>,
    /// The root mean squared validation error of each ridge, over targets and (weighted) points;
    /// infinite if it is not a number.
    pub errors: Vec<f64>,
    /// The relative residual of each ridge at the end, the largest over the targets.
    pub residuals: Vec<f64>,
    /// The residual of the best ridge at the first look from which on its error was within 0.05 %
    /// of the error at the end: a sufficient tolerance for a similar fit.
    pub enough: f64,
    /// Each look: the iteration, and the errors of all ridges after it.
    pub looks: Vec<(usize, Vec<f64>)>,
}

impl<K, T: Scalar> FullPath<K, T> {
    /// Without intercept, to a residual of 1e-6 at most.
    pub fn new(kernel: K, ridges: &[Ridge<T>]) -> Self {
        let (ridges, options) = (ridges.to_vec(), IterativeOptions::default());
        FullPath { kernel, ridges, intercept: false, rank: None, options }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> FullPath<K, T> {
    /// Fits the points and targets of `train` at all ridges and chooses by those of `valid`.
    ///
    /// # Errors
    /// As [`FullKrr::fit`](crate::FullKrr::fit) for either sample, and
    /// [`Empty`](nystrom_linalg_core::Error::Empty) without ridges.
    ///
    /// # Randomness
    /// That of [`RpCholesky`](nystrom_sketch::RpCholesky).
    pub fn fit<'a>(
        &self,
        train: impl Into<Problem<'a, T>>,
        valid: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<FullPathFit<K, T>> {
        self.fit_on(None, train, valid, rng)
    }

    /// As [`fit`](Self::fit), with products with K, and the predictions of the looks, computed on a
    /// device. Then no kernel values are stored.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and those of the device.
    ///
    /// # Randomness
    /// As [`fit`](Self::fit), and that of [`Device::matrix`].
    pub fn fit_on<'a>(
        &self,
        device: Option<&dyn Device<K, T>>,
        train: impl Into<Problem<'a, T>>,
        valid: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<FullPathFit<K, T>> {
        let (samples, valid) = (train.into(), valid.into());
        let mu = self.check(samples, valid)?;
        let FullPath { ref kernel, ref ridges, intercept, rank, options } = *self;
        let columns = (samples.y.ncols() + usize::from(intercept)) * mu.len();
        let full = FullKrr { kernel: kernel.clone(), ridge: ridges[0], intercept, rank, options };
        full.sizes(samples, mu.len(), device.is_some())?; // before the device works
        let products = device.map(|device| device.matrix(kernel, samples.x, columns, rng));
        full.with_system(
            samples,
            &mu,
            products.transpose()?,
            |system, targets, cost| {
                let budget = options.memory.filter(|_| device.is_none());
                let left = cost.0.left_for_kernel_values(budget) - cost.0.kept;
                let validation = Validation::new((kernel, device), targets, valid, left);
                self.validated(system, validation, &mu, cost)
            },
            rng,
        )
    }

    /// The run, with its looks.
    fn validated(
        &self,
        mut system: FullSystem<Products<'_>>,
        validation: Validation<'_, K, T>,
        mu: &[f64],
        (mut memory, entries): Cost<'_>,
    ) -> Result<FullPathFit<K, T>> {
        let IterativeOptions { tolerance, max_iterations, .. } = self.options;
        let targets = validation.targets;
        memory.tiles += validation.kept_bytes();
        let (mut looks, mut next, mut failed) = (Vec::new(), FIRST_LOOK, None);
        let mut at_looks = Vec::new();
        let mut look = |cg: &ConjugateGradients| {
            let number = cg.iterations();
            if number < next {
                return None;
            }
            next = (number as f64 * NEXT_LOOK).ceil() as usize;
            match validation.errors(cg.x()) {
                Ok(errors) => looks.push((number, errors)),
                Err(error) => failed = Some(error),
            }
            at_looks.push(validation.residuals(cg));
            (failed.is_some() || settled(&looks, &at_looks)).then_some(Stop::Asked)
        };
        let b = targets.right_hand_side(mu.len());
        let mut cg = ConjugateGradients::start(&mut system, b.as_ref(), None)?;
        let stop = cg.run(&mut system, b.as_ref(), tolerance, max_iterations, &mut look)?;
        failed.map_or(Ok(()), Err)?;
        let errors = validation.errors(cg.x())?;
        let best = best_of(&errors, mu);
        let residuals = validation.residuals(&cg);
        let enough =
            at_looks.get(good_from(&looks, best, errors[best])).unwrap_or(&residuals)[best];
        let report = IterationReport {
            residual: residuals[best],
            kernel_entries: entries(),
            passes: system.passes,
            notice: system.notice(),
            ..IterationReport::of(&cg, stop, &self.options, memory)
        };
        let numbers = [mu[best], report.condition];
        let of_model = of_all(targets.samples, numbers, report.reason(), report.kernel_entries);
        let gamma = targets.of_ridge(best, cg.x());
        let model = targets.model(self.kernel.clone(), gamma, ops::dot, of_model)?;
        let fit = IterativeFit { model, report };
        Ok(FullPathFit { fit, best, ridges: mu.to_vec(), errors, residuals, enough, looks })
    }

    /// All μ, and typed errors for what is wrong with either sample.
    fn check(&self, samples: Problem<'_, T>, valid: Problem<'_, T>) -> Result<Vec<f64>> {
        samples.check(&self.kernel)?;
        valid.check(&self.kernel)?;
        samples.x.check_same_dim(valid.x)?;
        let (t, given) = (samples.y.ncols(), valid.y.ncols());
        validate::same_size("validation targets against targets", t, given)?;
        self.options.check()?;
        all_absolute(&self.ridges, samples.x.len())
    }
}

/// The largest ridge whose error is as good as the smallest.
fn best_of(errors: &[f64], mu: &[f64]) -> usize {
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let good = (0..errors.len()).filter(|&r| errors[r] <= TIE_RATIO * least);
    good.max_by(|&a, &b| mu[a].total_cmp(&mu[b])).unwrap_or(0)
}

/// The first look from which on the error of a ridge is as good as at the end.
fn good_from(looks: &[(usize, Vec<f64>)], ridge: usize, end: f64) -> usize {
    let good = |(_, errors): &&(usize, Vec<f64>)| errors[ridge] <= TIE_RATIO * end;
    looks.len() - looks.iter().rev().take_while(good).count()
}

/// Whether no ridge in the running has far to go, or improved since the last look.
fn settled(looks: &[(usize, Vec<f64>)], residuals: &[Vec<f64>]) -> bool {
    let ([.., (_, before), (_, now)], [.., residuals]) = (looks, residuals) else { return false };
    let best = now.iter().copied().fold(f64::INFINITY, f64::min);
    let goes_on = |((before, now), residual): ((&f64, &f64), &f64)| {
        *now <= CONTENDER_RATIO * best
            && (*residual > TRUSTED_RESIDUAL || *now < (1.0 - IMPROVEMENT) * before)
    };
    !before.iter().zip(now).zip(residuals).any(goes_on)
}
