//! Bias², variance and risk of kernel ridge regression at fixed design, in closed form.
//!
//! The model: y = f* + noise at n fixed points, the noise independent of variance σ². Fitting with
//! the psd matrix M (the kernel matrix K, or a low-rank L) gives f̂ = M(M + nλI)⁻¹y, and E‖f̂ −
//! f*‖²/n = bias² + variance with
//!
//! ```text
//! bias²(M)  = nλ²‖(M + nλI)⁻¹f*‖²
//! var(M)    = (σ²/n) tr(M²(M + nλI)⁻²)
//! ```
//!
//! # Source
//! A. Alaoui, M. Mahoney, *Fast randomized kernel ridge regression with statistical guarantees*,
//! NeurIPS 2015 (arXiv:1411.0306), section 2. They print the noise as σ²ξ but use σ² as its
//! variance; so do we.

use crate::algebra::svd;
use faer::{Accum, ColRef, Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, SymmetricEigen, ops, validate};

/// bias², variance, and their sum: the risk.
///
/// ```
/// use nystrom_krr::risk::Risk;
/// let (exact, sketched) =
///     (Risk { bias_squared: 1.0, variance: 1.0 }, Risk { bias_squared: 2.0, variance: 0.5 });
/// assert_eq!(sketched.ratio(exact), 1.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Risk {
    /// nλ²‖(M + nλI)⁻¹f*‖².
    pub bias_squared: f64,
    /// (σ²/n) tr(M²(M + nλI)⁻²).
    pub variance: f64,
}

impl Risk {
    /// bias² + variance = E‖f̂ − f*‖²/n.
    pub fn total(&self) -> f64 {
        self.bias_squared + self.variance
    }

    /// R(f̂_this)/R(f̂_reference): the column of Alaoui & Mahoney's Table 1 if the reference is
    /// exact.
    pub fn ratio(&self, reference: Risk) -> f64 {
        self.total() / reference.total()
    }
}

/// A psd matrix M and a true f*, reduced to what the risk depends on, for any number of ridges and
/// noise levels.
///
/// With M = UΣUᵀ and c = Uᵀf*: bias² = (1/n)(Σ (nλ/(σ_i + nλ))² c_i² + ‖f* − Uc‖²) and var = (σ²/n)
/// Σ (σ_i/(σ_i + nλ))²: sums of non-negative terms without any cancellation, however small λ is.
///
/// ```
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_krr::risk::FixedDesign;
/// use nystrom_linalg_core::Ridge;
/// let x: Vec<f64> = (0..20).map(|i| i as f64 / 20.0).collect();
/// let f_star: Vec<f64> = x.iter().map(|x| (6.0 * x).sin()).collect();
/// let k = KernelMatrix::new(Gaussian::new(0.2)?, Points::from_slice(&x))?;
/// let design = FixedDesign::exact(&k, &f_star)?;
/// let risk = design.risk(Ridge::PerSample(1e-3), 0.01)?;       // noise variance σ² = 0.01
/// assert!(risk.total() < 0.01 && risk.variance > 0.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FixedDesign {
    n: usize,
    /// σ_i ≥ 0.
    eigenvalues: Vec<f64>,
    /// c_i² = (u_iᵀf*)².
    projections: Vec<f64>,
    /// ‖f* − Uc‖²: the part of f* that M does not see at all.
    unseen: f64,
}

impl FixedDesign {
    /// M = K itself. n × n by definition: one n × n matrix and its eigenvectors in memory, about
    /// 9n³ flops.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if f* does not have n entries,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite),
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n = 0, `EigenFailure`.
    pub fn exact<T: Scalar>(k: &dyn PsdMatrix<T>, f_star: &[T]) -> Result<Self> {
        let n = k.dim();
        check(n, f_star)?;
        let K = k.block((0..n).into(), (0..n).into());
        validate::finite("kernel matrix", K.as_ref())?;
        let eigen = SymmetricEigen::new(K.as_ref())?;
        let c = ops::times(eigen.vectors().transpose(), column(f_star));
        validate::finite(PROJECTIONS, c.as_ref())?;
        Ok(FixedDesign {
            n,
            eigenvalues: eigen.values().iter().map(|s| s.f64().max(0.0)).collect(),
            projections: (0..n).map(|i| c[(i, 0)].f64().powi(2)).collect(),
            unseen: 0.0,
        })
    }

    /// M = L = FFᵀ for F n × m, without an n × n matrix, by the singular value decomposition of F
    /// in `f64`: O(nm²) flops and two n × m matrices. Singular values s_i are accurate to ε·‖F‖. So
    /// σ_i = s_i² is meaningful down to ε²·‖L‖; eigenvalues of FᵀF would be down to ε·‖L‖.
    ///
    /// # Errors
    /// As [`exact`](Self::exact).
    pub fn low_rank<T: Scalar>(factor: MatRef<'_, T>, f_star: &[T]) -> Result<Self> {
        let (n, m) = factor.shape();
        check(n, f_star)?;
        validate::not_empty("columns of the factor", m)?;
        validate::finite("factor", factor)?;
        let F = Mat::from_fn(n, m, |i, j| factor[(i, j)].f64());
        let svd::Svd { values: s, U, .. } = svd::thin(F.as_ref(), false)?;
        let f = Mat::from_fn(n, 1, |i, _| f_star[i].f64());
        let c = ops::times(U.transpose(), f.as_ref());
        validate::finite(PROJECTIONS, c.as_ref())?;
        let mut unseen = f;
        ops::matmul(unseen.as_mut(), Accum::Add, U.as_ref(), c.as_ref(), -1.0); // f* − Uc
        Ok(FixedDesign {
            n,
            eigenvalues: s.iter().map(|s| s * s).collect(),
            projections: (0..s.len()).map(|i| c[(i, 0)].powi(2)).collect(),
            unseen: unseen.squared_norm_l2(),
        })
    }

    /// n.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no points (never: constructors refuse it).
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The eigenvalues σ_i of M, those that can differ from 0 (min(n, m) of them), largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// d_eff = tr M(M + nλI)⁻¹.
    ///
    /// # Errors
    /// `InvalidParameter` for a ridge that is not positive.
    pub fn effective_dimension(&self, ridge: Ridge<f64>) -> Result<f64> {
        let mu = ridge.absolute(self.n)?;
        Ok(self.eigenvalues.iter().map(|s| s / (s + mu)).sum())
    }

    /// bias² and variance at this ridge, σ² = `noise_variance`. O(n).
    ///
    /// # Errors
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a ridge that is not
    /// positive or a variance that is negative or not finite.
    pub fn risk(&self, ridge: Ridge<f64>, noise_variance: f64) -> Result<Risk> {
        let mu = ridge.absolute(self.n)?;
        validate::require(
            noise_variance >= 0.0 && noise_variance.is_finite(),
            "noise variance",
            noise_variance,
            "finite and at least 0 (it is sigma squared, not sigma)",
        )?;
        let n = self.n as f64;
        let seen: f64 = self
            .eigenvalues
            .iter()
            .zip(&self.projections)
            .map(|(s, c2)| (mu / (s + mu)).powi(2) * c2)
            .sum();
        let trace: f64 = self.eigenvalues.iter().map(|s| (s / (s + mu)).powi(2)).sum();
        Ok(Risk { bias_squared: (seen + self.unseen) / n, variance: noise_variance * trace / n })
    }
}

/// The quantity that overflows for a very large f*.
const PROJECTIONS: &str = "projections of f* (scale it)";

fn check<T: Scalar>(n: usize, f_star: &[T]) -> Result<()> {
    validate::not_empty("points (n)", n)?;
    validate::same_size("entries of f* against number of points", n, f_star.len())?;
    validate::finite("f*", column(f_star))
}

fn column<T: Scalar>(f: &[T]) -> MatRef<'_, T> {
    ColRef::from_slice(f).as_mat()
}
