//! KRILL.

use super::preconditioner::Preconditioner;
use super::restricted::Restricted;
use super::{Extras, IterativeFit, IterativeOptions};
use crate::{Centers, Problem};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar, Streams};
use rand::Rng;

/// Kernel ridge regression restricted to m centres as [`Falkon`](crate::Falkon), with a
/// preconditioner for centres of any kind: K_nm compressed to 2m rows by a random embedding.
///
/// ```text
/// Hθ = K_nmᵀy,   H = K_nmᵀK_nm + nλK_mm,   preconditioned by   (ΨK_nm)ᵀ(ΨK_nm) + nλK_mm,
/// ```
///
/// Ψ a sparse sign embedding, 2m × n: eight entries ±1/√8 in each column, at random rows. Falkon's
/// preconditioner needs centres that are an unbiased sample of the data with known weights. This
/// preconditioner suits any centres and any m: greedy pivots, k-means centres, inducing points of
/// another method. It takes one more pass over K_nm and about 5m³ flops.
///
/// Residual, tolerance, memory, report and errors are those of [`Falkon`](crate::Falkon).
///
/// # Cost
/// An iteration as `Falkon`; the preconditioner nm kernel values and 16nm + 5m³ flops. 32m² bytes
/// for the factors and the sketch.
///
/// # Source
/// M. Díaz, E. Epperly, Z. Frangella, J. Tropp, R. Webber, *Robust, randomized preconditioning for
/// kernel ridge regression*, arXiv:2304.12465, 2023: KRILL, with the sizes of the authors' code (2m
/// rows, 8 non-zeros, which may coincide).
///
/// # Departures
/// The system is solved in the coordinates β = Rᵀθ, RRᵀ = K_mm + δI, like Falkon's; the
/// preconditioner is then SᵀS + nλI with S = ΨK_nm R⁻ᵀ and needs no shift of its own. One m³/3
/// more.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::Krill;
/// use nystrom_linalg_core::Ridge;
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..2000).map(|i| i as f64 / 1000.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| (4.0 * x[i]).sin());
/// // centres that are no data
/// let anywhere: Vec<f64> = (0..60).map(|i| i as f64 / 30.0).collect();
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let krill = Krill::new(Gaussian::new(0.1)?, Ridge::PerSample(1e-6));
/// let fit = krill.fit((Points::from_slice(&x), &y), Points::from_slice(&anywhere), rng)?;
/// assert!(fit.converged() && fit.report.iterations < 60);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Krill<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]).
    pub ridge: Ridge<T>,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// When to stop, and how much memory to take.
    pub options: IterativeOptions,
}

impl<K, T> Krill<K, T> {
    /// Without intercept, to a residual of 1e-6, nothing kept.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        Krill { kernel, ridge, intercept: false, options: IterativeOptions::default() }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> Krill<K, T> {
    /// Fits y (n × t) at the n points x of the problem; `centers` is a `&Landmarks`, `&Dictionary`
    /// (whose weights are not used) or [`Points`](nystrom_kernels::Points).
    ///
    /// # Errors
    /// As [`Falkon::fit`](crate::Falkon::fit).
    ///
    /// # Randomness
    /// One key; every 1024 points have a stream, from which eight rows and signs are drawn for
    /// each.
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<IterativeFit<K, T>> {
        self.fit_with(problem, centers, Extras::default(), rng)
    }

    /// As [`fit`](Self::fit), with a warm start or a monitor.
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
    ) -> Result<IterativeFit<K, T>> {
        self.restricted(rng).fit(problem.into(), centers.into(), extras)
    }

    pub(super) fn restricted(&self, rng: &mut dyn Rng) -> Restricted<'_, K, T> {
        let Krill { kernel, ridge, intercept, options } = self;
        let (ridge, intercept) = (*ridge, *intercept);
        let preconditioner = Preconditioner::Krill(Streams::from_rng(rng));
        Restricted { kernel, ridge, intercept, options, preconditioner }
    }
}
