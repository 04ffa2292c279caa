//! The variance of the Gaussian process whose mean is a regression.

use crate::data::check_points;
use faer::{Accum, Col, Mat, MatRef};
use nystrom_kernels::{Kernel, PointSet, Points};
use nystrom_linalg_core::{Result, Scalar, ops, validate};
use rayon::prelude::*;

/// Points of a tile.
const TILE: usize = 256;

/// The uncertainty of a regression at each point: the variance of a Gaussian process with
/// covariance k, given noisy values at the rows.
///
/// Kernel ridge regression at μ = nλ is the mean of that process for noise of variance σ² and
/// covariance (σ²/μ)k. With features φ(x) = R⁻¹k_Z(x) of the landmarks Z, W = RRᵀ,
///
/// ```text
/// v(x) = k(x, x) − ‖φ(x)‖² + μ φ(x)ᵀ(ΦᵀΦ + μI)⁻¹φ(x),
/// ```
///
/// in units in which the noise has variance μ. The first two terms are the variance that the
/// landmarks do not see: far from the data v is the variance of the prior. With all rows as
/// landmarks v is exact. The noise is assumed to have the same variance everywhere; intervals of
/// conformal prediction need no such assumption.
///
/// For a covariance s²k and noise of variance σ², the error of the regression at any μ has the
/// variance s²b(x) + σ²c(x), where c = ∂v/∂μ and b = v − μc ([`parts`](Posterior::parts)). For
/// σ² = s²μ this is s²v(x).
///
/// # Cost
/// m kernel values and m² flops a point; m² numbers.
///
/// # Source
/// M. Seeger, C. Williams, N. Lawrence, *Fast forward selection to speed up sparse Gaussian process
/// regression*, AISTATS 2003: the projected process, with the correction of M. Titsias, AISTATS
/// 2009.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{NystromKrr, lambda_grid};
/// use nystrom_sketch::Landmarks;
/// let x: Vec<f64> = (0..200).map(|i| i as f64 / 100.0).collect();
/// let y = Mat::from_fn(200, 1, |i, _| (4.0 * x[i]).sin());
/// let landmarks = Landmarks::new(200, (0..200).step_by(10).collect())?;
/// let path = NystromKrr::without_ridge(Gaussian::new(0.3)?)
///     .path((Points::from_slice(&x), &y), &landmarks, &lambda_grid(1e-2, 1e-8, 7)?)?;
/// let v = path.posterior_at(path.points()[3].ridge)?.variance(Points::from_slice(&[1.0, 9.0]))?;
/// assert!(v[0] < 1e-3 && v[1] > 0.99); // within the data, and far from them
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior<K, T> {
    kernel: K,
    centers: PointSet<T>,
    /// G, m × p: v(x) = k(x, x) − ‖Gᵀk_Z(x)‖².
    factor: Mat<T>,
    /// ρ, p: c(x) = Σ_j ρ_j (Gᵀk_Z(x))_j².
    rates: Vec<f64>,
    mu: f64,
}

impl<T: Scalar, K: Kernel<T> + Clone> Posterior<K, T> {
    /// From its parts: the centres (the columns of a d × m matrix, or sparse rows), G (m × p) with
    /// v(x) = k(x, x) − ‖Gᵀk_Z(x)‖², ρ (p) with c(x) = Σ_j ρ_j (Gᵀk_Z(x))_j², and μ.
    ///
    /// # Errors
    /// `Shape` if G has not a row for each centre and a column for each ρ, `NonFinite`,
    /// `InvalidParameter` unless μ > 0.
    pub fn new(
        kernel: K,
        centers: impl Into<PointSet<T>>,
        factor: Mat<T>,
        rates: Vec<f64>,
        mu: f64,
    ) -> Result<Self> {
        let centers = centers.into();
        validate::same_size("columns of the factor against rates", rates.len(), factor.ncols())?;
        validate::finite(
            "rates of the posterior",
            MatRef::from_column_major_slice(&rates, rates.len(), 1),
        )?;
        let m = centers.points().len();
        validate::same_size("rows of the factor against centres", m, factor.nrows())?;
        validate::finite("factor of the posterior", factor.as_ref())?;
        centers.points().check()?;
        validate::require(mu > 0.0 && mu.is_finite(), "mu", mu, "positive")?;
        Ok(Posterior { kernel, centers, factor, rates, mu })
    }

    /// v at these points, at least 0, in units in which the noise has variance [`mu`](Self::mu).
    ///
    /// # Errors
    /// As [`KrrModel::predict`](crate::KrrModel::predict).
    pub fn variance(&self, x: Points<'_, T>) -> Result<Vec<f64>> {
        Ok(self.parts(x)?.into_iter().map(|[b, c]| b + self.mu * c).collect())
    }

    /// b and c at these points, at least 0: the mean squared error of the regression is s²b + σ²c
    /// if the function is a Gaussian process of covariance s²k and the noise has variance σ², or
    /// σ²/w_i for weights.
    ///
    /// # Errors
    /// As [`KrrModel::predict`](crate::KrrModel::predict).
    pub fn parts(&self, x: Points<'_, T>) -> Result<Vec<[f64; 2]>> {
        check_points(&self.kernel, self.centers(), x)?;
        let mut out = vec![[0.0; 2]; x.len()];
        let ((m, p), rows) = (self.factor.shape(), TILE.min(x.len()));
        out.par_chunks_mut(TILE).enumerate().for_each_init(
            || (Mat::zeros(rows, m), Mat::zeros(rows, p)),
            |(K, C), (tile, out)| {
                let x = x.slice(tile * TILE..tile * TILE + out.len());
                let mut K = K.as_mut().subrows_mut(0, out.len());
                let mut C = C.as_mut().subrows_mut(0, out.len());
                self.kernel.eval_into(K.as_mut(), x, self.centers());
                let one = T::one();
                ops::matmul_here(C.as_mut(), Accum::Replace, K.as_ref(), self.factor.as_ref(), one);
                let mut prior = Col::zeros(out.len());
                self.kernel.diag_into(prior.as_mut(), x);
                for (i, parts) in out.iter_mut().enumerate() {
                    let square = |j: usize| C[(i, j)].f64().powi(2);
                    let c: f64 = (0..p).map(|j| self.rates[j] * square(j)).sum();
                    let known: f64 =
                        (0..p).map(|j| (1.0 + self.mu * self.rates[j]) * square(j)).sum();
                    *parts = [(prior[i].f64() - known).max(0.0), c];
                }
            },
        );
        Ok(out)
    }

    /// μ, the variance of the noise in the units of [`variance`](Self::variance).
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// k.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Z.
    pub fn centers(&self) -> Points<'_, T> {
        self.centers.points()
    }

    /// ρ, p.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// G, m × p.
    pub fn factor(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }
}
