//! Nyström kernel ridge regression.

use crate::data::{RowSource, SourceTiles, Tiles};
use crate::features::{FeatureRows, KernelRows, Whitener};
use crate::{Centers, KrrModel, Problem, Solver};
use nystrom_kernels::{Kernel, Points};
use nystrom_linalg_core::{Result, Ridge, Scalar};

/// Kernel ridge regression with f restricted to the span of k(·, z_1), …, k(·, z_m) (subset of
/// regressors, "Nyström"):
///
/// ```text
/// minimise  (1/n) Σ_i w_i (y_i − f(x_i) − b)² + λ‖f‖²    over   f = Σ_j θ_j k(·, z_j)  and,
///     if `intercept`, b.
/// ```
///
/// Without weights and intercept θ = (CᵀC + nλW)⁺Cᵀy, with C_ij = k(x_i, z_j) and W_ij = k(z_i,
/// z_j). At the points x_i this f is kernel ridge regression with L = CW⁺Cᵀ in place of K. The
/// matrix CᵀC has the squared condition number of C, so that these equations lose every digit at
/// small λ. Here they are solved in whitened coordinates, in four stages:
///
/// 1. *whiten* W + δI = RRᵀ, φ(x) = R⁻¹k_Z(x): the penalty becomes nλ‖β‖², β = Rᵀθ;
/// 2. *accumulate* ΦᵀΦ and Φᵀy over tiles of 1024 rows (or a QR factorisation of Φ, see
///    [`Solver`]);
/// 3. *solve* (ΦᵀΦ + nλI)β = Φᵀy;
/// 4. *unwhiten* θ = R⁻ᵀβ.
///
/// The rounding errors of ΦᵀΦ act like a change of nλ by at most c·ε·tr ΦᵀΦ. This change is
/// harmless while λ ≫ ε·k(x, x); in `f32`, products in `f64` lower the bound. Below the bound
/// [`Solver::Auto`] takes QR. Where W is well conditioned, [`Solver::Auto`] whitens the sums
/// instead of the tiles, for half of the flops. If necessary it refines that solution by exact
/// residuals. The shift δ is ε·tr W/10, or larger if the factorisation fails; the report has it. It
/// shrinks the fit: L becomes C(W + δI)⁻¹Cᵀ ⪯ L.
///
/// # Cost
/// nm + m² kernel values and 2nm² + m³ flops, in one pass over x and y. Whitening the sums takes
/// nm² + 4m³/3 flops instead, QR (3 + m/768)nm² + 27m³. Each further pass, by which
/// [`Solver::Auto`] checks its solution or tries another method, takes nm kernel values. Memory
/// beyond x and y: 4m²·8 bytes and 1024·(m + t) numbers; with QR about 6m²·8 bytes. In `f32` with
/// products in `f64`, another 1024·(m + t) numbers of 8 bytes.
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
/// let landmarks = Landmarks::new(50, (0..17).collect())?;
/// let model = krr.fit((Points::from_rows(x.as_ref()), &y), &landmarks)?;
/// assert!((model.intercept()[0] - 100.0).abs() < 2.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NystromKrr<K, R> {
    /// The kernel k.
    pub kernel: K,
    /// λ ([`Ridge::PerSample`]) or nλ ([`Ridge::Absolute`]) for `fit`, `()` for `path`.
    pub ridge: R,
    /// Whether to fit a constant b, not penalised, one per target.
    pub intercept: bool,
    /// Normal equations or QR.
    pub solver: Solver,
}

impl<K, R> NystromKrr<K, R> {
    /// Without intercept, the solver chosen from λ.
    pub fn new(kernel: K, ridge: R) -> Self {
        NystromKrr { kernel, ridge, intercept: false, solver: Solver::Auto }
    }
}

impl<T: Scalar, K: Kernel<T> + Clone> NystromKrr<K, Ridge<T>> {
    /// Fits y (n × t) at the n points x of the problem, with these centres.
    ///
    /// # Errors
    /// [`Error::Empty`](nystrom_linalg_core::Error::Empty) if n, d, t or m is 0.
    /// [`Error::Shape`](nystrom_linalg_core::Error::Shape) if y or the weights do not have n rows.
    /// Also if landmarks were chosen among another number of points, or centres are of another
    /// dimension. [`Error::NonFinite`](nystrom_linalg_core::Error::NonFinite) for NaN or ∞ in x, y
    /// or the centres. [`Error::InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) for a
    /// weight that is negative or not finite, or if all are 0.
    /// [`Error::InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a ridge that
    /// is not positive.
    /// [`Error::NotPositiveDefinite`](nystrom_linalg_core::Error::NotPositiveDefinite) with
    /// [`Solver::NormalEquations`] if λ is lost in rounding errors.
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
    ) -> Result<KrrModel<K, T>> {
        let problem = problem.into();
        problem.check(&self.kernel)?;
        let centers = centers.into().points(problem.x, &self.kernel)?;
        self.ridge.absolute(problem.x.len())?;
        self.fit_tiles(&problem, centers.points())
    }

    /// As [`fit`](Self::fit) for rows that are read block by block, with the same bits. Memory:
    /// O(m²) and one block.
    ///
    /// The rows are read once to count and check them, and once for each pass. One pass is enough,
    /// unless [`Solver::Auto`] checks or refines its solution by residuals, or has to take another
    /// method because the first was not safe. The report's `kernel_entries` are (passes·n + m)m.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and those of the source;
    /// [`Error::Shape`](nystrom_linalg_core::Error::Shape) if it has fewer rows when read again.
    pub fn fit_source(
        &self,
        rows: &mut dyn RowSource<T>,
        centers: Points<'_, T>,
    ) -> Result<KrrModel<K, T>> {
        let tiles = SourceTiles::new(rows, &self.kernel, centers)?;
        self.ridge.absolute(1)?;
        self.fit_tiles(&tiles, centers)
    }

    fn fit_tiles(&self, tiles: &dyn Tiles<T>, centers: Points<'_, T>) -> Result<KrrModel<K, T>> {
        // W + δI = RRᵀ
        let is_auto = self.solver == Solver::Auto;
        let whitener = Whitener::new(self.kernel.gram(centers).as_ref(), is_auto)?;
        let source = KernelRows::new(&self.kernel, centers, None);
        let mut stream = FeatureRows::new(tiles, &source, &whitener, self.intercept)?;
        let mu = self.ridge.absolute(stream.len())?.f64(); //        nλ
        // β = (ΦᵀΦ + nλI)⁻¹Φᵀy
        let (solution, report) = self.solver.solve_at(&source, &mut stream, mu)?;
        let intercept = stream.intercepts(solution.b);
        let theta = whitener.unwhiten(solution.beta); //               θ = R⁻ᵀβ
        let b = intercept.as_deref();
        KrrModel::from_parts(self.kernel.clone(), centers, theta.as_ref(), b, report)
    }
}
