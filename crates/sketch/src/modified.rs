//! Modified Nyström: the best core between C and Cᵀ.

use crate::orthonormal::extend_basis;
use crate::{Landmarks, Nystrom};
use faer::{Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, SymmetricEigen, ops, psd_factor, validate};

/// K̃ = C(C⁺K(C⁺)ᵀ)Cᵀ = QQᵀKQQᵀ, Q an orthonormal basis of C = K\[:, J\]: of all CUCᵀ the nearest
/// to K in the Frobenius norm.
///
/// Where the Nyström approximation extrapolates from W = K\[J, J\] alone, this looks at all of K.
/// It is positive semi-definite and kept as FFᵀ, but not ⪯ K in general. What rests on L ⪯ K (risk
/// bounds, scores that never over-estimate) does not hold for it.
///
/// # Cost
/// **All n² entries** are evaluated, tile by tile, and nm + m² for C; 2n²m flops; O(nm) memory.
/// Never n × n.
///
/// # Source
/// S. Wang, Z. Zhang, *Improving CUR matrix decomposition and the Nyström approximation via
/// adaptive sampling*, JMLR 14, 2013.
///
/// # Departures
/// Directions of the Nyström approximation with eigenvalues below 1000·m·ε of the largest are
/// dropped from Q.
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
    /// From the columns `landmarks` of `k`.
    ///
    /// # Errors
    /// As [`Nystrom::new`]; [`NonFinite`](nystrom_linalg_core::Error::NonFinite) for an entry
    /// elsewhere in K.
    pub fn new(k: &dyn PsdMatrix<T>, landmarks: &Landmarks) -> Result<Self> {
        // CR⁻ᵀ, which has the same range
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

    /// F, n × r, with K̃ = FFᵀ; r is the numerical rank of C.
    pub fn factor(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }
}

nystrom_linalg_core::psd_by_factor!(ModifiedNystrom);
