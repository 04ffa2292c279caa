//! The feature map of a Nyström approximation: φ(x) with φ(x)ᵀφ(y) = k_J(x)ᵀ W⁺ k_J(y).

use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{
    Cholesky, Error, Indices, JitterLadder, PsdMatrix, Result, RowTree, Scalar, SymmetricEigen,
    ops, validate,
};
use std::ops::Range;

/// Rows whose features are in memory at a time.
const TILE_ROWS: usize = 1024;

/// How the landmark block W = K\[J, J\] is inverted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Whitening {
    /// Cholesky factorisation W + δI = RRᵀ with δ = 10·ε·tr W, raised tenfold on failure: m³/3
    /// flops. Because δ > 0, C(W + δI)⁻¹Cᵀ ⪯ CW⁺Cᵀ ⪯ K in exact arithmetic, and rounding errors of
    /// a nearly singular W are amplified by at most 1/δ. The default.
    #[default]
    ShiftedCholesky,
    /// Cholesky factorisation W + δI = RRᵀ, with δ = 0 tried first and then the shifts of
    /// [`ShiftedCholesky`](Self::ShiftedCholesky). For a block that a ridge makes well-conditioned.
    Cholesky,
    /// Eigendecomposition W = UΛUᵀ without the eigenvalues up to `cutoff`·λ_max: about 9m³ flops.
    /// The number of features is the numerical rank of W.
    Eigen {
        /// The cut-off, always relative to the largest eigenvalue λ_max; `None` stands for m·ε.
        cutoff: Option<f64>,
    },
}

impl Whitening {
    /// [`Eigen`](Self::Eigen) with the cut-off m·ε.
    pub fn eigen() -> Self {
        Whitening::Eigen { cutoff: None }
    }
}

/// The feature map x ↦ φ(x) = R⁻¹k_J(x) of m landmarks, made from their block W = RRᵀ only: O(m²)
/// memory.
///
/// k_J(x) is the vector of the m kernel values between x and the landmarks, so that the map applies
/// to rows of K and to new points, and landmarks need not be data points. Because features are
/// whitened, the matrix FᵀF of normal equations has no eigenvalue above λ_max(K), even if W is
/// nearly singular.
///
/// ```
/// use faer::mat;
/// use nystrom_sketch::{FeatureMap, Whitening};
/// let w = mat![[2.0, 1.0], [1.0, 2.0_f64]];
/// let map = FeatureMap::new(w.as_ref(), Whitening::default())?;
/// // k_J(x) for the landmarks x themselves, one per column
/// let mut phi = w.clone();
/// let phi = map.apply_in_place(phi.as_mut()).to_owned();
/// let l = phi.transpose() * &phi; // φ(x)ᵀφ(y) gives W back
/// assert!((l - w).norm_max() < 1e-13);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct FeatureMap<T> {
    factor: Factor<T>,
}

#[derive(Debug, Clone)]
enum Factor<T> {
    Cholesky(Cholesky<T>),
    Eigen(Mat<T>), // Z, m × r, with ZZᵀ = W⁺
}

impl<T: Scalar> FeatureMap<T> {
    /// The map of landmarks with block W (m × m, lower triangle read).
    ///
    /// # Errors
    /// [`Error::Empty`] if m = 0, [`Error::Shape`], [`Error::NonFinite`].
    /// [`Error::NotPositiveDefinite`] if no shift of the ladder suffices or W = 0.
    /// [`Error::RankDeficient`] if [`Whitening::Eigen`] keeps no eigenvalue.
    /// [`Error::InvalidParameter`] for a cut-off outside [0, 1).
    pub fn new(w: MatRef<'_, T>, whitening: Whitening) -> Result<Self> {
        Self::with_diagonal(w, |_| T::zero(), whitening)
    }

    /// As [`new`](Self::new) for the block W + diag(d), d ≥ 0, of the regularised approximation,
    /// where d_j = γ/w_j. The shift δ is relative to the trace of W + diag(d).
    pub fn with_diagonal(
        w: MatRef<'_, T>,
        d: impl Fn(usize) -> T,
        whitening: Whitening,
    ) -> Result<Self> {
        let m = w.nrows();
        validate::not_empty("landmarks", m)?;
        validate::same_size("columns of a square matrix", m, w.ncols())?;
        let cholesky = |ladder| Cholesky::with_diagonal(w, &d, ladder).map(Factor::Cholesky);
        let factor = match whitening {
            Whitening::ShiftedCholesky => cholesky(JitterLadder::shifted())?,
            Whitening::Cholesky => cholesky(JitterLadder::default())?,
            Whitening::Eigen { cutoff } => {
                let mut a = Mat::zeros(m, m);
                a.copy_from_triangular_lower(w);
                (0..m).for_each(|j| a[(j, j)] += d(j));
                Factor::Eigen(eigen_inverse_sqrt(a.as_ref(), cutoff)?)
            }
        };
        Ok(FeatureMap { factor })
    }

    /// m, the number of landmarks.
    pub fn landmarks(&self) -> usize {
        match &self.factor {
            Factor::Cholesky(R) => R.order(),
            Factor::Eigen(Z) => Z.nrows(),
        }
    }

    /// r, the number of features: m for whitening by Cholesky, the numerical rank of W for
    /// whitening by eigenvalues.
    pub fn rank(&self) -> usize {
        match &self.factor {
            Factor::Cholesky(R) => R.order(),
            Factor::Eigen(Z) => Z.ncols(),
        }
    }

    /// δ, the jitter added to the diagonal of W; 0 for whitening by eigenvalues.
    pub fn jitter(&self) -> f64 {
        match &self.factor {
            Factor::Cholesky(R) => R.jitter(),
            Factor::Eigen(_) => 0.0,
        }
    }

    /// Features of t points. The columns of `k_j` (m × t) are k_J(x) and are overwritten. The
    /// result is the first r rows of `k_j`, whose columns (r × t) are φ(x). m²t flops.
    ///
    /// # Panics
    /// If `k_j` does not have m rows.
    pub fn apply_in_place<'a>(&self, mut k_j: MatMut<'a, T>) -> MatMut<'a, T> {
        assert_eq!(
            k_j.nrows(),
            self.landmarks(),
            "rows of a block of kernel values against landmarks"
        );
        match &self.factor {
            Factor::Cholesky(R) => {
                R.forward_in_place(k_j.rb_mut());
                k_j
            }
            Factor::Eigen(Z) => {
                let phi = ops::times(Z.transpose(), k_j.rb());
                let mut out = k_j.subrows_mut(0, Z.ncols());
                out.copy_from(phi);
                out
            }
        }
    }

    /// Calls `visit(positions, phi)` for consecutive tiles of the list `rows`. Column t of `phi`
    /// (r × tile) is φ at row `rows.get(positions.start + t)` of `k`. The map must have been made
    /// from the columns `landmarks` of `k`.
    ///
    /// `rows.len()`·m entries are evaluated; m² flops per row; O(1024·m) memory.
    ///
    /// # Errors
    /// [`Error::NonFinite`] with the row and column of a non-finite entry of K; those of `visit`.
    ///
    /// # Panics
    /// If an index is out of range for `k`, or the number of `landmarks` is not m.
    pub fn for_each_tile_of(
        &self,
        k: &dyn PsdMatrix<T>,
        landmarks: &[usize],
        rows: Indices<'_>,
        mut visit: impl FnMut(Range<usize>, MatMut<'_, T>) -> Result<()>,
    ) -> Result<()> {
        for_each_kernel_tile(k, landmarks, rows, |positions, k_j| {
            visit(positions, self.apply_in_place(k_j))
        })
    }

    /// Converts weights β (r × t) of the features to weights θ (m × t) of the landmarks, with
    /// φ(x)ᵀβ = k_J(x)ᵀθ for every x.
    ///
    /// # Panics
    /// If `beta` does not have r rows.
    pub fn landmark_weights(&self, beta: MatRef<'_, T>) -> Mat<T> {
        assert_eq!(beta.nrows(), self.rank(), "rows of feature weights against features");
        match &self.factor {
            Factor::Cholesky(R) => {
                let mut theta = beta.to_owned();
                R.backward_in_place(theta.as_mut());
                theta
            }
            Factor::Eigen(Z) => ops::times(Z.as_ref(), beta),
        }
    }
}

/// Calls `visit(positions, k_j)` for consecutive tiles of the list `rows`. Column t of `k_j`
/// (m × tile) has the entries of row `rows.get(positions.start + t)` of `k` in the columns
/// `landmarks`. An entry that is not finite is an error with its row and column.
pub(crate) fn for_each_kernel_tile<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    landmarks: &[usize],
    rows: Indices<'_>,
    mut visit: impl FnMut(Range<usize>, MatMut<'_, T>) -> Result<()>,
) -> Result<()> {
    let mut buffer = Mat::zeros(landmarks.len(), TILE_ROWS.min(rows.len()));
    for positions in RowTree::tiles(0..rows.len(), TILE_ROWS) {
        let mut k_j = buffer.as_mut().subcols_mut(0, positions.len());
        let tile = rows.slice(positions.clone());
        k.block_into(k_j.rb_mut(), landmarks.into(), tile.clone());
        validate::finite("kernel matrix", k_j.rb())
            .map_err(|error| error.placed(|row, col| (tile.get(col), landmarks[row])))?;
        visit(positions, k_j)?;
    }
    Ok(())
}

/// Z (m × r) with ZZᵀ = A⁺, where eigenvalues up to `cutoff`·λ_max (default m·ε·λ_max) count as 0.
fn eigen_inverse_sqrt<T: Scalar>(a: MatRef<'_, T>, cutoff: Option<f64>) -> Result<Mat<T>> {
    let cutoff = cutoff.unwrap_or(a.nrows() as f64 * T::EPS);
    validate::require(
        (0.0..1.0).contains(&cutoff),
        "eigenvalue cut-off",
        cutoff,
        "in [0, 1), as it is relative to the largest eigenvalue; None stands for m·eps",
    )?;
    let eigen = SymmetricEigen::new(a)?;
    let (U, sigma) = (eigen.vectors(), eigen.values());
    let smallest_kept = cutoff * sigma[0].f64();
    let rank = sigma.iter().take_while(|s| **s > T::zero() && s.f64() > smallest_kept).count();
    if rank == 0 {
        return Err(Error::RankDeficient { requested: a.nrows(), rank });
    }
    Ok(Mat::from_fn(U.nrows(), rank, |i, j| U[(i, j)] / num_traits::Float::sqrt(sigma[j])))
}
