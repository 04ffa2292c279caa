//! The spectrum of K for the exact samplers.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Col, Mat, MatRef, Par};
use nystrom_linalg_core::{
    Error, Indices, PsdMatrix, Result, Scalar, SymmetricEigen, validate, work,
};

/// As in `SymmetricEigen`: the bits depend on the requested degree of parallelism, so the same
/// degree is always requested.
const DEGREE: usize = 4;

/// Negative eigenvalues of K up to this share of the largest in absolute value count as rounding
/// errors, since K may have been computed in `f32`.
pub(crate) const ROUNDED: f64 = 1e-6;

/// The decomposition K = V diag(λ) Vᵀ with the r eigenvalues above rounding error (V is n × r),
/// shared by all exact samplers of one matrix.
///
/// ```
/// use faer::Mat;
/// use nystrom_dpp::LEnsemble;
/// use nystrom_linalg_core::Dense;
/// use rand::SeedableRng;
/// let k = Mat::from_fn(60, 60, |i, j| (-((i as f64 - j as f64) / 5.0).powi(2)).exp());
/// let ensemble = LEnsemble::new(&Dense::new(k.as_ref())?)?;   // one eigendecomposition …
/// let k_dpp = ensemble.k_dpp(8)?;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// for _ in 0..3 {
///     assert_eq!(k_dpp.sample(rng).len(), 8);                 // … and any number of draws
/// }
/// assert!((k_dpp.inclusion().iter().sum::<f64>() - 8.0).abs() < 1e-9);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct LEnsemble<T> {
    values: Vec<f64>,
    vectors: Mat<T>,
}

impl<T: Scalar> LEnsemble<T> {
    /// The decomposition of a matrix K: evaluates n² entries and stores n × n matrices by
    /// definition (about 3n² numbers at the peak); 9n³ flops.
    ///
    /// Eigenvalues up to n·ε·λ_max count as 0, since they may be rounding errors of K.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0, [`Error::NonFinite`], [`Error::EigenFailure`].
    /// [`Error::Indefinite`] if the smallest eigenvalue is below −max(10⁻⁶, n·ε)·λ_max: K has no
    /// DPP.
    ///
    /// ```
    /// use faer::mat;
    /// use nystrom_dpp::LEnsemble;
    /// use nystrom_linalg_core::{Dense, Error};
    /// let l = mat![[1.0, 2.0], [2.0, 1.0]]; // eigenvalues 3 and -1
    /// let error = LEnsemble::new(&Dense::new(l.as_ref())?).unwrap_err();
    /// assert!(matches!(error, Error::Indefinite { smallest, .. } if smallest < -0.99));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(k: &dyn PsdMatrix<T>) -> Result<Self> {
        let n = k.dim();
        validate::not_empty("matrix", n)?;
        let all = k.block((0..n).into(), (0..n).into());
        let eigen = SymmetricEigen::new(all.as_ref())?;
        refuse_indefinite(eigen.values())?;
        let r = eigen.rank();
        let values = eigen.values()[..r].iter().map(|v| v.f64()).collect();
        Ok(LEnsemble { values, vectors: eigen.vectors().subcols(0, r).to_owned() })
    }

    /// The decomposition of K = BBᵀ for a factor B (n × p), by the singular values of B:
    /// O(np·min(n, p)) flops, 3np numbers of memory.
    ///
    /// Singular values up to max(n, p)·ε·σ_max count as 0. Eigenvalues are thus resolved down to
    /// (max(n, p)·ε)²·λ_max, where [`new`](Self::new) resolves them down to n·ε·λ_max.
    ///
    /// # Source
    /// The dual representation of A. Kulesza & B. Taskar (2012), section 3.3.
    ///
    /// # Departures
    /// Uses singular vectors of B, not eigenvectors of BᵀB, because forming BᵀB squares the
    /// condition number and loses the orthogonality that the sampler needs.
    ///
    /// # Errors
    /// [`Error::Empty`] if n = 0 or p = 0, [`Error::NonFinite`], [`Error::NotPositive`] if σ_max²
    /// overflows, [`Error::EigenFailure`].
    ///
    /// ```
    /// use nystrom_dpp::LEnsemble;
    /// use nystrom_linalg_core::{Error, random::standard_normal};
    /// use rand::SeedableRng;
    /// let b = standard_normal::<f64>(1000, 5, &mut rand_pcg::Pcg64::seed_from_u64(0));
    /// let ensemble = LEnsemble::from_factor(b.as_ref())?;
    /// assert_eq!(ensemble.rank(), 5);
    /// assert!(matches!(ensemble.k_dpp(6), Err(Error::RankDeficient { requested: 6, rank: 5 })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_factor(b: MatRef<'_, T>) -> Result<Self> {
        let (n, p) = (b.nrows(), b.ncols());
        validate::not_empty("factor", n.min(p))?;
        validate::finite("factor", b)?;
        let (sigma, mut U) = thin_svd(b)?;
        let cutoff = n.max(p) as f64 * T::EPS * sigma[0].f64();
        let squares: Vec<f64> = sigma.iter().map(|s| s.f64().powi(2)).collect();
        if !squares[0].is_finite() {
            let (what, value) = ("squared singular values of the factor", squares[0]);
            return Err(Error::NotPositive { what, index: 0, value });
        }
        let r = sigma
            .iter()
            .zip(&squares)
            .take_while(|(s, square)| s.f64() > cutoff && **square > 0.0)
            .count();
        U.resize_with(n, r, |_, _| T::zero());
        Ok(LEnsemble { values: squares[..r].to_vec(), vectors: U })
    }

    /// n, the number of items.
    pub fn dim(&self) -> usize {
        self.vectors.nrows()
    }

    /// r: the numerical rank of K.
    pub fn rank(&self) -> usize {
        self.values.len()
    }

    /// λ, the r eigenvalues above rounding error, largest first.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// V, the eigenvectors of these eigenvalues: n × r with orthonormal columns.
    pub fn vectors(&self) -> MatRef<'_, T> {
        self.vectors.as_ref()
    }

    /// Pr(i ∈ C) = Σ_j w_j V_ij² for every i, where w_j is the probability that eigenvector j is
    /// selected. O(nr).
    pub(crate) fn mixture(&self, w: &[f64]) -> Vec<f64> {
        let mut p = vec![0.0; self.dim()];
        for (j, &w) in w.iter().enumerate() {
            for (p, v) in p.iter_mut().zip(self.vectors.col(j).iter()) {
                *p += w * v.f64().powi(2);
            }
        }
        p
    }

    /// ln det K_CC from the spectrum; −∞ if det K_CC = 0. O(rc²).
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`], [`Error::DuplicateIndex`].
    pub(crate) fn log_det(&self, C: &[usize]) -> Result<f64> {
        if C.is_empty() {
            return Ok(0.0);
        }
        Indices::from(C).check_distinct(self.dim(), "landmarks")?;
        if C.len() > self.rank() {
            return Ok(f64::NEG_INFINITY);
        }
        // K_CC = BBᵀ with B = V_C Λ^{1/2}, so ln det K_CC = 2 Σ ln σ(B)
        let B = Mat::from_fn(C.len(), self.rank(), |i, j| {
            self.vectors[(C[i], j)].f64() * self.values[j].sqrt()
        });
        let (sigma, _) = thin_svd(B.as_ref())?;
        let cutoff = self.rank() as f64 * f64::EPSILON * sigma[0];
        Ok(sigma.iter().map(|&s| if s > cutoff { 2.0 * s.ln() } else { f64::NEG_INFINITY }).sum())
    }
}

/// An error if an eigenvalue is negative by more than rounding error; the eigenvalues come largest
/// first.
pub(crate) fn refuse_indefinite<T: Scalar>(descending: &[T]) -> Result<()> {
    let (Some(first), Some(last)) = (descending.first(), descending.last()) else { return Ok(()) };
    let (largest, smallest) = (first.f64(), last.f64());
    let rounding = ROUNDED.max(descending.len() as f64 * T::EPS) * largest.max(0.0);
    if smallest < -rounding {
        return Err(Error::Indefinite { what: "the matrix", smallest, largest });
    }
    Ok(())
}

/// B = UΣWᵀ: the singular values, largest first, and U (n × min(n, p)).
fn thin_svd<T: Scalar>(b: MatRef<'_, T>) -> Result<(Vec<T>, Mat<T>)> {
    let (n, size) = (b.nrows(), b.nrows().min(b.ncols()));
    let (par, params) = (Par::rayon(DEGREE), Default::default());
    let (mut sigma, mut U) = (Col::<T>::zeros(size), Mat::zeros(n, size));
    let vectors = (ComputeSvdVectors::Thin, ComputeSvdVectors::No);
    let mut memory =
        MemBuffer::new(svd_scratch::<T>(n, b.ncols(), vectors.0, vectors.1, par, params));
    let diagonal: DiagMut<'_, T> = sigma.as_mut().as_diagonal_mut();
    work::svd(n, b.ncols(), false);
    svd(b, diagonal, Some(U.as_mut()), None, par, MemStack::new(&mut memory), params)
        .map_err(|_| Error::EigenFailure { order: size })?;
    Ok((sigma.iter().copied().collect(), U))
}
