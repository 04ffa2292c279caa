//! Nyström kernel ridge regression.

use crate::input::Samples;
use crate::rows::{FeatureRows, KernelRows};
use crate::whitener::Whitener;
use crate::{FitReport, KrrModel, Solver};
use faer::MatRef;
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar, validate};
use nystrom_sketch::Landmarks;

/// Kernel ridge regression with f restricted to the span of k(·, z_1), …, k(·, z_m) (subset of
/// regressors, "Nyström"):
///
/// ```text
/// minimise  (1/n) Σ_i w_i (y_i − f(x_i) − b)² + λ‖f‖²    over   f = Σ_j θ_j k(·, z_j)  and,
///     if `intercept`, b.
/// ```
///
/// Without weights and intercept θ = (CᵀC + nλW)⁺Cᵀy, with C_ij = k(x_i, z_j) and W_ij = k(z_i,
/// z_j); at the x_i this is kernel ridge regression with L = CW⁺Cᵀ in place of K. Those normal
/// equations have the squared condition number of C and lose every digit at small λ. Here they are
/// solved in whitened coordinates, one stage after another:
///
/// 1. *whiten* W + δI = RRᵀ, φ(x) = R⁻¹k_Z(x): the penalty becomes nλ‖β‖², β = Rᵀθ;
/// 2. *accumulate* ΦᵀΦ and Φᵀy over tiles of 1024 rows (or a QR factorisation of Φ, see
///    [`Solver`]);
/// 3. *solve* (ΦᵀΦ + nλI)β = Φᵀy;
/// 4. *unwhiten* θ = R⁻ᵀβ.
///
/// The error committed in forming ΦᵀΦ is as good as a change of nλ by at most c·ε·tr ΦᵀΦ, hence
/// harmless while λ ≫ ε·k(x, x), in `f32` with products in `f64` if need be; below that
/// [`Solver::Auto`] takes QR, and where W is so well conditioned that stage 1 may as safely be
/// applied to the sums it does that, for half of the flops. The shift δ (ε·tr W/10, more only if
/// the factorisation fails; reported) only shrinks the fit: the L in use is C(W + δI)⁻¹Cᵀ ⪯ L.
///
/// λ multiplies the number n of rows passed, those of weight 0 included. A row of weight 0
/// contributes nothing else, and one of weight 2 counts as two rows: with [`Ridge::Absolute`]
/// exactly so.
///
/// # Cost
/// nm + m² kernel values and 2nm² + m³ flops (nm² + 4m³/3 if whitened once, (3 + m/768)nm² + 27m³
/// with QR), in one pass over x and y. Memory beyond them: 4m²·8 bytes + 1024·(m + t) numbers (with
/// QR 6m²·8 bytes more or less; in `f32` with products in `f64` another 1024·(m + t) of 8 bytes).
/// The bits of the result do not depend on the number of threads.
///
/// # Source
/// A. Alaoui, M. Mahoney, *Fast randomized kernel ridge regression with statistical guarantees*,
/// NeurIPS 2015 (arXiv:1411.0306), for L in place of K; A. Smola, B. Schölkopf, *Sparse greedy
/// matrix approximation*, ICML 2000, for the subset of regressors.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::NystromKrr;
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::Landmarks;
/// let x = Mat::from_fn(50, 2, |i, k| ((i * (k + 3)) % 17) as f64 / 17.0); // n × d
/// let y = Mat::from_fn(50, 1, |i, _| x[(i, 0)] - x[(i, 1)] + 100.0); // n × t
/// let krr = NystromKrr {
///     intercept: true,
///     ..NystromKrr::new(Gaussian::new(0.5)?, Ridge::PerSample(1e-6))
/// };
/// let model = krr.fit(
///     Points::from_rows(x.as_ref()),
///     y.as_ref(),
///     &Landmarks::new(50, (0..17).collect())?,
/// )?;
/// assert!((model.intercept()[0] - 100.0).abs() < 2.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NystromKrr<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]).
    pub ridge: Ridge<T>,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// Normal equations or QR.
    pub solver: Solver,
}

impl<K, T> NystromKrr<K, T> {
    /// Without intercept, the solver chosen from λ.
    pub fn new(kernel: K, ridge: Ridge<T>) -> Self {
        NystromKrr { kernel, ridge, intercept: false, solver: Solver::Auto }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> NystromKrr<K, T> {
    /// Fits y (n × t) at the n points `x`, the centres being the landmarks among them.
    ///
    /// # Errors
    /// [`Error::Empty`](nystrom_linalg_core::Error::Empty) if n, d or t is 0;
    /// [`Error::Shape`](nystrom_linalg_core::Error::Shape) if y does not have n rows or the
    /// landmarks were chosen among another number of points;
    /// [`Error::NonFinite`](nystrom_linalg_core::Error::NonFinite) for NaN or ∞ in x or y;
    /// [`Error::InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a ridge that
    /// is not positive;
    /// [`Error::NotPositiveDefinite`](nystrom_linalg_core::Error::NotPositiveDefinite) with
    /// [`Solver::NormalEquations`] if λ is lost in rounding errors.
    pub fn fit(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        landmarks: &Landmarks,
    ) -> Result<KrrModel<K, T>> {
        self.fit_landmarks(Samples { x, y, weights: None }, landmarks)
    }

    /// As [`fit`](Self::fit) with one weight w_i ≥ 0 per sample.
    ///
    /// # Errors
    /// As [`fit`](Self::fit); [`Error::Shape`](nystrom_linalg_core::Error::Shape) if there are not
    /// n weights, [`Error::InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) for a
    /// negative or non-finite one, or if all are 0.
    pub fn fit_weighted(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        landmarks: &Landmarks,
        sample_weights: &[T],
    ) -> Result<KrrModel<K, T>> {
        self.fit_landmarks(Samples { x, y, weights: Some(sample_weights) }, landmarks)
    }

    /// As [`fit`](Self::fit) with any m points as centres: they need not be data points, there may
    /// be more of them than data, and repeated ones add nothing.
    ///
    /// # Errors
    /// As [`fit`](Self::fit); [`Error::Empty`](nystrom_linalg_core::Error::Empty) without centres,
    /// [`Error::Shape`](nystrom_linalg_core::Error::Shape) if their dimension is not that of `x`.
    pub fn fit_centers(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        centers: Points<'_, T>,
    ) -> Result<KrrModel<K, T>> {
        self.fit_centers_to(Samples { x, y, weights: None }, centers)
    }

    /// [`fit_centers`](Self::fit_centers) with sample weights.
    ///
    /// # Errors
    /// Those of [`fit_centers`](Self::fit_centers) and [`fit_weighted`](Self::fit_weighted).
    pub fn fit_centers_weighted(
        &self,
        x: Points<'_, T>,
        y: MatRef<'_, T>,
        centers: Points<'_, T>,
        sample_weights: &[T],
    ) -> Result<KrrModel<K, T>> {
        self.fit_centers_to(Samples { x, y, weights: Some(sample_weights) }, centers)
    }

    fn fit_landmarks(
        &self,
        samples: Samples<'_, T>,
        landmarks: &Landmarks,
    ) -> Result<KrrModel<K, T>> {
        validate::same_size(
            "points the landmarks were chosen among",
            samples.x.len(),
            landmarks.n(),
        )?;
        let centers = samples.x.gather(landmarks.indices().into());
        self.fit_centers_to(samples, Points::from_cols(centers.as_ref()))
    }

    fn fit_centers_to(
        &self,
        samples: Samples<'_, T>,
        centers: Points<'_, T>,
    ) -> Result<KrrModel<K, T>> {
        samples.check(&self.kernel)?;
        self.check_centers(samples.x, centers)?;
        let mu = self.ridge.absolute(samples.x.len())?.f64(); //       nλ
        let whitener = Whitener::new(&self.kernel, centers)?; //     W + δI = RRᵀ
        let source = KernelRows { kernel: &self.kernel, centers, x: samples.x };
        let mut stream = FeatureRows::new(&source, &whitener, samples, self.intercept);
        // ‖k_Z(x)‖², the mean over the centres
        let row = whitener.squared_norm / centers.len() as f64;
        // β = (ΦᵀΦ + nλI)⁻¹Φᵀy
        let (solution, by, reason) = self.solver.solve(&mut stream, mu, row)?;
        let report = FitReport {
            ridge: solution.mu,
            solver: by,
            reason,
            condition: solution.condition,
            ..source.report(&stream, 1)
        };
        let intercept = stream.intercepts(solution.b);
        let theta = whitener.unwhiten(solution.beta); //               θ = R⁻ᵀβ
        KrrModel::from_parts(self.kernel.clone(), centers, theta.as_ref(), &intercept, report)
    }

    pub(crate) fn check_centers(&self, x: Points<'_, T>, centers: Points<'_, T>) -> Result<()> {
        validate::not_empty("centres (m)", centers.len())?;
        x.check_same_dim(centers)?;
        validate::finite("centres", centers.as_cols().transpose())?;
        self.kernel.check_points(centers)
    }
}
