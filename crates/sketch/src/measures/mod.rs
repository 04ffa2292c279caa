//! Norms of the approximation error K − L.

mod frobenius;
mod spectral;

pub use frobenius::frobenius_error;
pub use spectral::{SpectralEstimate, SpectralNorm};

use crate::stream::trace_difference;
use faer::Mat;
use nystrom_linalg_core::{PsdMatrix, Result, RowTree, Scalar, SymmetricEigen, ops, validate};
use std::ops::Range;

/// ‖K − L‖_F, ‖K − L‖₂ and tr(K − L), for an approximation L or for the best approximation of a
/// given rank.
///
/// The k-DPP paper (Li, Jegelka & Sra 2016) plots errors [relative to](Self::relative_to) those of
/// the best rank-k approximation:
///
/// ```
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_linalg_core::{PsdMatrix, SymmetricEigen};
/// use nystrom_sketch::{ErrorNorms, LandmarkSelector, Nystrom, RpCholesky};
/// use rand::SeedableRng;
/// let x: Vec<f64> = (0..200).map(|i| (i as f64 / 200.0).powi(2)).collect();
/// let k = KernelMatrix::new(Gaussian::new(0.1)?, Points::from_slice(&x))?;
/// let landmarks = RpCholesky::default().select(&k, 10, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// let error = ErrorNorms::exact(&k, &Nystrom::new(&k, &landmarks)?)?;
/// let eigen = SymmetricEigen::new(k.block((0..200).into(), (0..200).into()).as_ref())?;
/// let relative = error.relative_to(ErrorNorms::of_best_rank(eigen.values(), 10));
/// assert!(relative.frobenius >= 1.0 && relative.spectral >= 1.0 && relative.trace >= 1.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
#[non_exhaustive]
pub struct ErrorNorms {
    /// ‖K − L‖_F.
    pub frobenius: f64,
    /// ‖K − L‖₂, the largest absolute eigenvalue.
    pub spectral: f64,
    /// tr(K − L), the nuclear norm of K − L if L ⪯ K.
    pub trace: f64,
}

impl ErrorNorms {
    /// All three norms by an eigendecomposition: **n × n memory**, n² entries of K and of L, 9n³
    /// flops.
    ///
    /// For large n use [`frobenius_error`], [`SpectralNorm::estimate`] and [`trace_error`], which
    /// store no n × n matrix.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty), [`Shape`](nystrom_linalg_core::Error::Shape),
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    pub fn exact<T: Scalar>(k: &dyn PsdMatrix<T>, l: &dyn PsdMatrix<T>) -> Result<Self> {
        check(k, l)?;
        let n = k.dim();
        let (a, b) = (k.block((0..n).into(), (0..n).into()), l.block((0..n).into(), (0..n).into()));
        let left = Mat::from_fn(n, n, |i, j| a[(i, j)].f64() - b[(i, j)].f64());
        let eigen = SymmetricEigen::new(left.as_ref())?;
        let lambda = eigen.values();
        Ok(ErrorNorms {
            frobenius: norm(lambda),
            spectral: lambda[0].abs().max(lambda[n - 1].abs()),
            trace: (0..n).map(|i| left[(i, i)]).sum(),
        })
    }

    /// The norms of K − K_k, where K_k is the best approximation of rank `k`, from all n
    /// eigenvalues of K, largest first (`SymmetricEigen::values`). Eigenvalues that are negative by
    /// rounding count as 0.
    pub fn of_best_rank<T: Scalar>(eigenvalues: &[T], k: usize) -> Self {
        let tail: Vec<f64> = eigenvalues.iter().skip(k).map(|s| s.f64().max(0.0)).collect();
        ErrorNorms {
            frobenius: norm(&tail),
            spectral: tail.first().copied().unwrap_or(0.0),
            trace: tail.iter().sum(),
        }
    }

    /// Each norm divided by that of `reference`; ∞ or NaN if the norm of `reference` is 0.
    pub fn relative_to(self, reference: ErrorNorms) -> Self {
        ErrorNorms {
            frobenius: self.frobenius / reference.frobenius,
            spectral: self.spectral / reference.spectral,
            trace: self.trace / reference.trace,
        }
    }
}

/// tr(K − L) from n diagonal entries of both, summed in `f64`. Negative differences count as 0; for
/// L ⪯ K they can only be rounding errors.
///
/// # Errors
/// [`Empty`](nystrom_linalg_core::Error::Empty), [`Shape`](nystrom_linalg_core::Error::Shape).
///
/// ```
/// use faer::mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::trace_error;
/// let (k, l) = (mat![[2.0, 0.0], [0.0, 1.0]], mat![[2.0, 0.0], [0.0, 0.0]]);
/// assert_eq!(trace_error(&Dense::new(k.as_ref())?, &Dense::new(l.as_ref())?)?, 1.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn trace_error<T: Scalar>(k: &dyn PsdMatrix<T>, l: &dyn PsdMatrix<T>) -> Result<f64> {
    check(k, l)?;
    Ok(trace_difference(&k.diag(), &l.diag()))
}

fn check<T: Scalar>(k: &dyn PsdMatrix<T>, l: &dyn PsdMatrix<T>) -> Result<()> {
    validate::not_empty("matrix", k.dim())?;
    validate::same_size("order of K against order of L", k.dim(), l.dim())
}

/// √Σ x_i².
fn norm(x: &[f64]) -> f64 {
    let leaf = |rows: Range<usize>| ops::dot(&x[rows.clone()], &x[rows]);
    RowTree::new(x.len()).reduce(leaf, |a, b| a + b).unwrap_or(0.0).sqrt()
}
