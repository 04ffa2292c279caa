//! The modified Nyström approximation CUCᵀ, with the best U in the Frobenius norm.

use crate::orthonormal::extend_basis;
use crate::{Landmarks, Nystrom};
use faer::{Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, SymmetricEigen, ops, psd_factor, validate};

/// K̃ = C(C⁺K(C⁺)ᵀ)Cᵀ = QQᵀKQQᵀ, where Q is an orthonormal basis of the range of C = K\[:, J\]. Of
/// all matrices CUCᵀ, K̃ is the nearest to K in the Frobenius norm.
///
/// The Nyström approximation uses only C and W = K\[J, J\]; this approximation uses all of K. K̃ is
/// positive semi-definite and stored as FFᵀ, but K̃ ⪯ K does not hold in general. Results that need
/// L ⪯ K, such as risk bounds and scores that never over-estimate, do not hold for K̃.
///
/// # Cost
/// **All n² entries** of K are evaluated, tile by tile, and another nm + m² for C; 2n²m flops;
/// O(nm) memory. No n × n matrix is stored.
///
/// # Source
/// S. Wang, Z. Zhang, *Improving CUR matrix decomposition and the Nyström approximation via
/// adaptive sampling*, JMLR 14, 2013.
///
/// # Departures
/// Directions in which the Nyström approximation has eigenvalues below 1000·m·ε times the largest
/// are left out of Q.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{Landmarks, ModifiedNystrom, Nystrom, frobenius_error};
/// let k = Mat::from_fn(40, 40, |i, j| (-(i as f64 - j as f64).abs() / 15.0).exp());
/// let k = Dense::new(k.as_ref())?;
/// let landmarks = Landmarks::new(40, vec![3, 13, 23, 33])?;
/// let (plain, best) = (Nystrom::new(&k, &landmarks)?, ModifiedNystrom::new(&k, &landmarks)?);
/// assert!(frobenius_error(&k, &best)? < frobenius_error(&k, &plain)?);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModifiedNystrom<T> {
    factor: Mat<T>,
}

impl<T: Scalar> ModifiedNystrom<T> {
    /// K̃ from the columns `landmarks` of `k`.
    ///
    /// # Errors
    /// Those of [`Nystrom::new`], and [`NonFinite`](nystrom_linalg_core::Error::NonFinite) if
    /// another entry of K is not finite.
    pub fn new(k: &dyn PsdMatrix<T>, landmarks: &Landmarks) -> Result<Self> {
        // CR⁻ᵀ, which has the same range as C
        let C = Nystrom::new(k, landmarks)?.factor().to_owned();
        let Q = extend_basis(Mat::zeros(k.dim(), 0).as_ref(), C)?;
        let mut KQ = Mat::zeros(k.dim(), Q.ncols());
        k.mul_into(KQ.as_mut(), Q.as_ref());
        validate::finite("kernel matrix times a basis", KQ.as_ref())?;
        // QᵀKQ = VΛVᵀ
        let eigen =
            SymmetricEigen::new(psd_factor::transpose_times(Q.as_ref(), KQ.as_ref()).as_ref())?;
        let (V, lambda) = (eigen.vectors(), eigen.values());
        let root = |j: usize| num_traits::Float::sqrt(num_traits::Float::max(lambda[j], T::zero()));
        let VL = Mat::from_fn(V.nrows(), V.ncols(), |i, j| V[(i, j)] * root(j));
        Ok(ModifiedNystrom { factor: ops::times(Q.as_ref(), VL.as_ref()) }) // F = QVΛ^½
    }

    /// F, n × r, with K̃ = FFᵀ, where r is the numerical rank of C.
    pub fn factor(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }
}

nystrom_linalg_core::psd_by_factor!(ModifiedNystrom);
