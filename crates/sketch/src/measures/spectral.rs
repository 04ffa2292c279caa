//! ‖K − L‖₂ by block Lanczos iteration.

use super::check;
use crate::orthonormal::{concat_columns, extend_basis};
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::psd_factor::transpose_times;
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, SymmetricEigen, ops, random, validate};
use rand::Rng;

/// Parameters of an estimate of ‖K − L‖₂ from products x ↦ Kx − Lx, by block Lanczos iteration with
/// full orthogonalisation and a random start.
///
/// After j passes, the estimate is the largest absolute eigenvalue of the compression of K − L to
/// the Krylov space of a random n × b block. The estimate never exceeds the norm (up to rounding),
/// and converges faster than power iteration, whose iterates are in the same space. A pass
/// evaluates all entries of K for any b, so that a block costs little more than a single vector;
/// unlike a vector, it does not miss one of several eigenvalues.
///
/// # Cost
/// Per pass, one product of K and one of L with an n × b block; 2·n·b·passes numbers of memory.
///
/// # Source
/// G. Golub, R. Underwood, *The block Lanczos method for computing eigenvalues*, 1977; error of a
/// random start: J. Kuczyński, H. Woźniakowski, SIAM Journal on Matrix Analysis 13, 1992; blocks:
/// C. Musco, C. Musco, *Randomized block Krylov methods*, NIPS 2015.
///
/// ```
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_sketch::{ErrorNorms, LandmarkSelector, Nystrom, RpCholesky, SpectralNorm};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..200).map(|i| (i as f64 / 200.0).powi(2)).collect();
/// let k = KernelMatrix::new(Gaussian::new(0.1)?, Points::from_slice(&x))?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let l = Nystrom::new(&k, &RpCholesky::default().select(&k, 8, rng)?)?;
/// let estimate = SpectralNorm::default().estimate(&k, &l, rng)?;
/// let exact = ErrorNorms::exact(&k, &l)?.spectral;
/// assert!(estimate.value <= exact * (1.0 + 1e-9) && estimate.value > 0.999 * exact);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpectralNorm {
    /// b, the number of columns of a block.
    pub block: usize,
    /// Limit on the number of passes.
    pub passes: usize,
    /// The iteration stops when the residual is at most `tolerance` times the estimate.
    pub tolerance: f64,
}

impl Default for SpectralNorm {
    /// Blocks of 8 columns, at most 20 passes, and a tolerance of 1 %, which for an isolated
    /// eigenvalue means a relative error of about 1e-4.
    fn default() -> Self {
        SpectralNorm { block: 8, passes: 20, tolerance: 1e-2 }
    }
}

/// The result of [`SpectralNorm::estimate`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SpectralEstimate {
    /// The estimate |θ| ≤ ‖K − L‖₂ (up to rounding), where θ is a Ritz value of K − L.
    pub value: f64,
    /// ‖(K − L)v − θv‖ for the unit Ritz vector v of θ. K − L has an eigenvalue within this
    /// distance of θ.
    pub residual: f64,
    /// Passes done.
    pub passes: usize,
}

impl SpectralNorm {
    /// An estimate of ‖K − L‖₂, with a residual that measures its accuracy. A large residual after
    /// the last pass is not an error.
    ///
    /// # Randomness
    /// One n × b block of standard normals.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) for n, b or passes 0,
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the orders differ,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite),
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a tolerance that is
    /// not positive.
    pub fn estimate<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        l: &dyn PsdMatrix<T>,
        rng: &mut dyn Rng,
    ) -> Result<SpectralEstimate> {
        check(k, l)?;
        validate::not_empty("columns of a block", self.block)?;
        validate::not_empty("passes", self.passes)?;
        validate::positive("tolerance", self.tolerance)?;
        let n = k.dim();
        let start = random::standard_normal::<T>(n, self.block.min(n), rng);
        let (mut Q, mut EQ) = (Mat::<T>::zeros(n, 0), Mat::<T>::zeros(n, 0));
        let mut next = extend_basis(Q.as_ref(), start)?;
        let mut estimate = SpectralEstimate { value: 0.0, residual: 0.0, passes: 0 };
        while next.ncols() > 0 {
            let E_next = difference_times(k, l, next.as_ref())?; //          (K − L)Q_j
            Q = concat_columns(&Q, &next);
            EQ = concat_columns(&EQ, &E_next);
            estimate = SpectralEstimate {
                passes: estimate.passes + 1,
                ..largest_ritz(Q.as_ref(), EQ.as_ref())?
            };
            if estimate.residual <= self.tolerance * estimate.value
                || estimate.passes == self.passes
            {
                break;
            }
            // Q_{j+1}; without columns if the space is invariant
            next = extend_basis(Q.as_ref(), E_next)?;
        }
        Ok(estimate)
    }
}

/// The eigenvalue θ of QᵀEQ with the largest modulus, and the residual of its Ritz vector.
fn largest_ritz<T: Scalar>(Q: MatRef<'_, T>, EQ: MatRef<'_, T>) -> Result<SpectralEstimate> {
    let mut H = transpose_times(Q, EQ);
    ops::mirror_lower(H.as_mut());
    let eigen = SymmetricEigen::new(H.as_ref())?;
    let (V, theta, last) = (eigen.vectors(), eigen.values(), H.nrows() - 1);
    let j = if theta[0].f64().abs() >= theta[last].f64().abs() { 0 } else { last };
    let v = V.subcols(j, 1);
    let mut r = ops::times(EQ, v);
    ops::matmul(r.as_mut(), Accum::Add, Q, v, -theta[j]);
    Ok(SpectralEstimate { value: theta[j].f64().abs(), residual: r.norm_l2().f64(), passes: 0 })
}

/// (K − L)x.
fn difference_times<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    l: &dyn PsdMatrix<T>,
    x: MatRef<'_, T>,
) -> Result<Mat<T>> {
    let (mut kx, mut lx) = (Mat::zeros(x.nrows(), x.ncols()), Mat::zeros(x.nrows(), x.ncols()));
    k.mul_into(kx.as_mut(), x);
    l.mul_into(lx.as_mut(), x);
    kx -= lx;
    validate::finite("(K - L)x", kx.as_ref())?;
    Ok(kx)
}
