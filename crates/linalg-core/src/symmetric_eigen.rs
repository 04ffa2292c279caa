//! Symmetric eigendecomposition, and the numerical rank by a relative cut-off.

use crate::{Error, Result, Scalar, validate, work};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par};

/// Degree of parallelism passed to faer's eigendecomposition. Its bits depend on this degree, not
/// on the number of threads that run it, so the degree is fixed.
const DEGREE: usize = 4;

/// A = UΛUᵀ for a symmetric n × n matrix A, with eigenvalues in descending order.
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::SymmetricEigen;
/// let a = mat![[2.0, 1.0], [1.0, 2.0_f64]];
/// let eigen = SymmetricEigen::new(a.as_ref())?;
/// assert!((eigen.values()[0] - 3.0).abs() < 1e-14 && (eigen.values()[1] - 1.0).abs() < 1e-14);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct SymmetricEigen<T> {
    values: Vec<T>,
    vectors: Mat<T>,
}

impl<T: Scalar> SymmetricEigen<T> {
    /// Decomposes `a`, reading its lower triangle: about 9n³ flops, 3n² numbers of memory. The bits
    /// do not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` is not square, [`Error::NonFinite`], [`Error::EigenFailure`].
    pub fn new(a: MatRef<'_, T>) -> Result<Self> {
        let n = a.nrows();
        validate::same_size("columns of a square matrix", n, a.ncols())?;
        validate::finite_lower("matrix to decompose", a)?;
        if n == 0 {
            return Ok(SymmetricEigen { values: vec![], vectors: Mat::new() });
        }
        let lower = (0..n).flat_map(|j| (j..n).map(move |i| a[(i, j)].f64().abs()));
        let unit = T::unit_near(lower.fold(0.0, f64::max));
        if unit == 1.0 {
            return Self::decompose(a);
        }
        let SymmetricEigen { values, vectors } = Self::decompose(
            Mat::from_fn(n, n, |i, j| T::lit(a[(i.max(j), i.min(j))].f64() / unit)).as_ref(),
        )?;
        Ok(SymmetricEigen {
            values: values.iter().map(|v| T::lit(v.f64() * unit)).collect(),
            vectors,
        })
    }

    fn decompose(a: MatRef<'_, T>) -> Result<Self> {
        let n = a.nrows();
        let (par, params) = (Par::rayon(DEGREE), Default::default());
        let mut values = faer::Col::<T>::zeros(n);
        let mut vectors = Mat::zeros(n, n);
        let mut memory =
            MemBuffer::new(self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, par, params));
        let stack = MemStack::new(&mut memory);
        work::symmetric_eigen(n);
        self_adjoint_evd(
            a,
            values.as_mut().as_diagonal_mut(),
            Some(vectors.as_mut()),
            par,
            stack,
            params,
        )
        .map_err(|_| Error::EigenFailure { order: n })?;
        let values = values.iter().rev().copied().collect();
        Ok(SymmetricEigen { values, vectors: vectors.reverse_cols().to_owned() })
    }

    /// The eigenvalues, largest first.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// U, n × n orthogonal; column j belongs to `values()[j]`.
    pub fn vectors(&self) -> MatRef<'_, T> {
        self.vectors.as_ref()
    }

    /// The number of eigenvalues above n·ε·λ_max: the numerical rank of a psd matrix.
    pub fn rank(&self) -> usize {
        rank(&self.values)
    }
}

/// The number of eigenvalues above n·ε·λ_max; `descending` lists all n, largest first. In an n × n
/// matrix of norm λ_max, a smaller eigenvalue cannot be told from rounding error.
pub(crate) fn rank<T: Scalar>(descending: &[T]) -> usize {
    let largest = descending.first().map_or(0.0, |v| v.f64().max(0.0));
    let cutoff = descending.len() as f64 * T::EPS * largest;
    descending.iter().take_while(|v| v.f64() > cutoff).count()
}
