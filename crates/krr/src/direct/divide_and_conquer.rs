//! Divide and conquer: exact regression on parts of the data, predictions averaged.

use crate::data::{Part, parts_of_problem};
use crate::{ExactKrr, KrrModel, Problem};
use faer::Mat;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, ops, validate};
use rand::Rng;
use rayon::prelude::*;

/// Kernel ridge regression by divide and conquer. The rows are cut at random into m parts S_1, …,
/// S_m of equal size (within one). Exact kernel ridge regression is done on each **with the λ of
/// the full problem**, and the predictions are averaged:
///
/// ```text
/// f_i = argmin (1/|S_i|) Σ_{j ∈ S_i} (y_j − f(x_j))² + λ‖f‖²,     f̄ = (1/m) Σ_i f_i.
/// ```
///
/// With that λ every part is under-regularised: each f_i over-fits its n/m samples. Its bias is
/// then that of the full problem, and averaging reduces the variance. A λ that suits the size of a
/// part leaves a bias that averaging does not remove: do not tune λ on one part. An absolute ridge
/// μ means λ = μ/n with the n of all rows.
///
/// The error is that of exact regression while m is below about n/d_eff². The parts then have
/// n²/m ≥ n·d_eff² kernel values. Nyström regression by leverage scores needs about n·d_eff (Alaoui
/// & Mahoney 2015, section 1).
///
/// # Cost
/// n²/(2m) + 128n kernel values, half of every part's matrix, and n³/(3m²) flops; (n/m)²/2 numbers
/// of memory per thread. A prediction costs n kernel values, those of all parts.
///
/// # Source
/// Y. Zhang, J. Duchi, M. Wainwright, *Divide and conquer kernel ridge regression*, COLT 2013 (JMLR
/// 16, 2015).
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::DivideAndConquerKrr;
/// use nystrom_linalg_core::Ridge;
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..600).map(|i| i as f64 / 100.0).collect();
/// let y = Mat::from_fn(600, 1, |i, _| x[i].sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
/// let krr = DivideAndConquerKrr {
///     parts: 6,
///     ..DivideAndConquerKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-4))
/// };
/// let model =
///     krr.fit((Points::from_slice(&x), &y), &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert!((model.predict(Points::from_slice(&[1.0]))?[(0, 0)] - 1.0_f64.sin()).abs() < 0.05);
/// assert_eq!(model.report().kernel_entries, 6 * 100 * 100);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DivideAndConquerKrr<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// λ of the full problem, or nλ.
    pub ridge: Ridge<T>,
    /// Whether every part fits a constant, not penalised.
    pub intercept: bool,
    /// m; 1 is exact kernel ridge regression.
    pub parts: usize,
}

/// The report of a divide-and-conquer fit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct DivideAndConquerReport {
    /// Number of samples.
    pub n: usize,
    /// Number of parts.
    pub parts: usize,
    /// λ of every part.
    pub lambda: f64,
    /// Number of kernel values evaluated: half of Σ |S_i|² and the diagonal blocks, up to 128n
    /// more.
    pub kernel_entries: u64,
    /// The number p of landmarks with which Nyström regression evaluates as many kernel values,
    /// np + p²; rounded down.
    pub nystrom_landmarks: usize,
}

/// The average of the models of the parts.
///
/// Saved and loaded (feature `serde`) with the checks of [`KrrModel`] for each.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "Stored<K, T>",
        bound(
            serialize = "K: Clone + nystrom_kernels::SavedKernel, T: Scalar + serde::Serialize",
            deserialize = "K: Kernel<T> + nystrom_kernels::SavedKernel, T: Scalar + \
                           serde::de::DeserializeOwned"
        )
    )
)]
#[must_use]
pub struct DivideAndConquerModel<K, T> {
    models: Vec<KrrModel<K, T>>,
    report: DivideAndConquerReport,
}

impl<K, T> DivideAndConquerKrr<K, T> {
    /// Without intercept, in one part.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        DivideAndConquerKrr { kernel, ridge, intercept: false, parts: 1 }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> DivideAndConquerKrr<K, T> {
    /// Fits y (n × t) at the n points `x`, the parts in parallel. The bits do not depend on the
    /// number of threads.
    ///
    /// # Randomness
    /// The partition: n bounded integers.
    ///
    /// # Errors
    /// As [`ExactKrr::fit`]; [`Error::Empty`] for 0 parts, [`Error::TooMany`] for more parts than
    /// samples of positive weight.
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<DivideAndConquerModel<K, T>> {
        let problem = problem.into();
        problem.check(&self.kernel)?;
        let n = problem.x.len();
        validate::not_empty("parts", self.parts)?;
        let lambda = self.ridge.per_sample(n)?;
        let krr = ExactKrr {
            intercept: self.intercept,
            ..ExactKrr::new(self.kernel.clone(), Ridge::PerSample(lambda))
        };
        let parts = parts_of_problem(problem, ("parts", self.parts), rng)?; // S_1, …, S_m
        let fit = |rows: &Vec<usize>| {
            krr.fit(Part::new(problem, rows).problem()) //                  f_i
        };
        let models: Vec<Result<_>> = parts.par_iter().map(fit).collect();
        let models = models.into_iter().collect::<Result<Vec<_>>>()?; // the first of several errors
        let mut model = DivideAndConquerModel::from_parts(models)?;
        model.report.lambda = lambda.f64();
        Ok(model)
    }
}

impl<T: Scalar, K: Kernel<T>> DivideAndConquerModel<K, T> {
    /// The average of models that the caller fitted to the parts, by [`ExactKrr`] or any other
    /// regression, all with the same λ.
    ///
    /// # Errors
    /// [`Error::Empty`] without models, [`Error::Shape`] if they differ in dimension or targets,
    /// [`Error::InvalidParameter`] if their λ differ by more than a thousandth.
    pub fn from_parts(models: Vec<KrrModel<K, T>>) -> Result<Self> {
        check_parts(&models)?;
        let lambda = |model: &KrrModel<K, T>| model.report().ridge / model.report().n as f64;
        let first = lambda(&models[0]);
        models.iter().map(lambda).try_for_each(|value| {
            let requirement = "that of all parts, which is that of the full problem";
            let differs = (value / first - 1.0).abs() > 1e-3;
            validate::require(!differs, "lambda of a part", value, requirement)
        })?;
        let n: usize = models.iter().map(|model| model.report().n).sum();
        let entries: u64 = models.iter().map(|model| model.report().kernel_entries).sum();
        let (half, entries_f) = (0.5 * n as f64, entries as f64);
        let report = DivideAndConquerReport {
            n,
            parts: models.len(),
            lambda: first,
            kernel_entries: entries,
            nystrom_landmarks: ((half * half + entries_f).sqrt() - half) as usize,
        };
        Ok(DivideAndConquerModel { models, report })
    }

    /// f̄ at the points `x`, as an x.len() × t matrix: n kernel values per point.
    ///
    /// # Errors
    /// As [`KrrModel::predict`].
    pub fn predict(&self, x: Points<'_, T>) -> Result<Mat<T>> {
        let mut sum = Mat::<f64>::zeros(x.len(), self.models[0].intercept().len());
        for model in &self.models {
            let f = model.predict(x)?; //                                    f_i
            sum += ops::widened(f.as_ref(), &mut Mat::new());
        }
        let m = self.models.len() as f64;
        Ok(Mat::from_fn(sum.nrows(), sum.ncols(), |i, j| T::lit(sum[(i, j)] / m))) // f̄
    }

    /// The models of the parts.
    pub fn models(&self) -> &[KrrModel<K, T>] {
        &self.models
    }

    /// The report of the fit.
    pub fn report(&self) -> &DivideAndConquerReport {
        &self.report
    }
}

/// Whether models can be averaged.
fn check_parts<T: Scalar, K: Kernel<T>>(models: &[KrrModel<K, T>]) -> Result<()> {
    let first = models.first().ok_or(Error::Empty { what: "parts of the model" })?;
    models.iter().try_for_each(|model| {
        first.centers().check_same_dim(model.centers())?;
        let (targets, of_model) = (first.intercept().len(), model.intercept().len());
        validate::same_size("targets of the parts", targets, of_model)
    })
}

/// The fields of a model in a file.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "K: Kernel<T> + nystrom_kernels::SavedKernel, T: Scalar + \
                   serde::de::DeserializeOwned"))]
struct Stored<K, T> {
    models: Vec<KrrModel<K, T>>,
    report: DivideAndConquerReport,
}

#[cfg(feature = "serde")]
impl<T: Scalar, K: Kernel<T>> TryFrom<Stored<K, T>> for DivideAndConquerModel<K, T> {
    type Error = Error;

    /// # Errors
    /// [`Error::Empty`] without parts, [`Error::Shape`] if they differ in dimension or targets or
    /// are not as many as stated.
    fn try_from(stored: Stored<K, T>) -> Result<Self> {
        check_parts(&stored.models)?;
        validate::same_size("parts of the saved model", stored.report.parts, stored.models.len())?;
        Ok(DivideAndConquerModel { models: stored.models, report: stored.report })
    }
}
