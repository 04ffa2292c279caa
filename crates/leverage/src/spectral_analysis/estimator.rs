//! Spectral analysis as an implementation of [`RidgeLeverage`].

use super::{SpectralAnalysis, SpectralScores, Stationary};
use crate::RidgeLeverage;
use crate::recursive::check_size;
use nystrom_kernels::Points;
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, validate};
use nystrom_sketch::Dictionary;
use rand::Rng;

/// Spectral analysis with the kernel and the points that it needs, so that it implements
/// [`RidgeLeverage`], whose methods get only the kernel matrix K.
///
/// The matrix given to [`scores`](RidgeLeverage::scores) must be that of `kernel` on `points`. Only
/// its order and its first diagonal entry are checked.
///
/// # Cost
/// That of [`SpectralAnalysis`], and one entry of K. A dictionary takes ⌈q·Σ_i l̃_i⌉ draws.
///
/// # Source
/// Chen & Yang, *Fast statistical leverage score approximation in kernel ridge regression*, AISTATS
/// 2021 (arXiv:2103.05238).
///
/// ```
/// use nystrom_kernels::{KernelMatrix, Matern32, Points};
/// use nystrom_leverage::{
///     Audit, Draw, LandmarkSelector, LeverageProportional, RecursiveRls, RidgeLeverage,
///     SpectralLeverage,
/// };
/// use nystrom_linalg_core::Ridge;
/// use rand::SeedableRng;
/// // 1000 points, dense on the left, sparse on the right
/// let x: Vec<f64> = (0..1000).map(|i| ((i as f64 + 0.5) / 1000.0).powi(2)).collect();
/// let (kernel, points) = (Matern32::new(0.2)?, Points::from_slice(&x));
/// let k = KernelMatrix::new(kernel, points)?;
/// let ridge = Ridge::PerSample(1e-4);
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
///
/// let spectral = SpectralLeverage::new(&kernel, points);
/// let estimators: [(&str, &dyn RidgeLeverage<f64>); 2] =
///     [("recursive", &RecursiveRls::default()), ("spectral", &spectral)];
/// for (name, estimator) in estimators {
///     let report = Audit::default().of_estimator(&k, ridge, estimator, &mut rng)?;
///     assert!(report.largest_overestimate().1 < 4.0, "{name}");
/// }
/// let landmarks =
///     LeverageProportional { estimator: spectral, ridge, draw: Draw::WithReplacement };
/// assert!(landmarks.select(&k, 50, &mut rng)?.len() <= 50);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SpectralLeverage<'a, T> {
    /// The kernel of the matrix.
    pub kernel: &'a dyn Stationary,
    /// The points of the matrix.
    pub points: Points<'a, T>,
    /// The density and the guard.
    pub analysis: SpectralAnalysis<'a, T>,
    /// q > 0: a dictionary takes ⌈q·Σ_i l̃_i⌉ draws, as does a level of BLESS.
    pub oversampling: f64,
    /// Cap on the draws of a dictionary; more draws are
    /// [`SampleTooLarge`](nystrom_linalg_core::Error::SampleTooLarge).
    pub max_size: usize,
}

impl<'a, T: Scalar> SpectralLeverage<'a, T> {
    /// The default [`SpectralAnalysis`]; q = 5 and at most 20,000 draws.
    pub fn new(kernel: &'a dyn Stationary, points: Points<'a, T>) -> Self {
        SpectralLeverage {
            kernel,
            points,
            analysis: SpectralAnalysis::default(),
            oversampling: 5.0,
            max_size: 20_000,
        }
    }

    /// The scores of the matrix `k`, with a report.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if k's order is not the number of points,
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) if k_00 is not k(0);
    /// those of [`SpectralAnalysis::scores`].
    pub fn report(&self, k: &dyn PsdMatrix<T>, ridge: Ridge<T>) -> Result<SpectralScores<T>> {
        self.check(k)?;
        self.analysis.scores(self.kernel, self.points, ridge)
    }

    fn check(&self, k: &dyn PsdMatrix<T>) -> Result<()> {
        validate::same_size(
            "order of the matrix against number of points",
            self.points.len(),
            k.dim(),
        )?;
        validate::not_empty("points (n)", self.points.len())?;
        let mut k_00 = faer::Col::<T>::zeros(1);
        k.diag_into(k_00.as_mut(), (0..1).into());
        let value = k_00[0].f64() / self.kernel.variance();
        validate::require(
            (value - 1.0).abs() <= 64.0 * T::EPS,
            "K_00/k(0)",
            value,
            "1: give SpectralLeverage the kernel of this matrix",
        )
    }
}

impl<T: Scalar> RidgeLeverage<T> for SpectralLeverage<'_, T> {
    /// ⌈q·Σ l̃⌉ draws with replacement in proportion to the scores, weighted so that E\[SSᵀ\] = I.
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>> {
        self.scores_and_dictionary(k, ridge, rng).map(|(_, dictionary)| dictionary)
    }

    /// Evaluates no entry of K except K_00, and draws no dictionary; the generator is not used.
    fn scores(&self, k: &dyn PsdMatrix<T>, ridge: Ridge<T>, _rng: &mut dyn Rng) -> Result<Vec<T>> {
        Ok(self.report(k, ridge)?.scores)
    }

    fn scores_and_dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<(Vec<T>, Dictionary<T>)> {
        validate::positive("oversampling", self.oversampling)?;
        let found = self.report(k, ridge)?;
        let draws = (self.oversampling * found.d_eff()).ceil();
        check_size(draws, ridge.absolute(k.dim())?, self.max_size)?;
        let dictionary = Dictionary::with_replacement(&found.scores, draws as usize, rng)?;
        Ok((found.scores, dictionary))
    }
}
