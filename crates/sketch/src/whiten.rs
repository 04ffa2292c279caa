//! The m × m half of a Nyström approximation: features φ(x) with φ(x)ᵀφ(y) = k_J(x)ᵀ W⁺ k_J(y).

use faer::reborrow::*;
use faer::{Mat, MatMut, MatRef};
use nystrom_linalg_core::{
    Cholesky, Error, Indices, JitterLadder, PsdMatrix, Result, RowTree, Scalar, SymmetricEigen,
    ops, validate,
};
use std::ops::Range;

/// Rows whose features are held at a time.
const TILE_ROWS: usize = 1024;

/// How the inverse of the landmark block W = K\[J, J\] is taken.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Whitening {
    /// W + δI = RRᵀ with δ = 10·ε·tr W (raised tenfold on failure): m³/3 flops. As δ > 0, C(W +
    /// δI)⁻¹Cᵀ ⪯ CW⁺Cᵀ ⪯ K in exact arithmetic, and no rounding error of a nearly singular W is
    /// amplified beyond 1/δ. The default.
    #[default]
    ShiftedCholesky,
    /// As above, but δ = 0 is tried first: for a block that a ridge has already made regular.
    Cholesky,
    /// W = UΛUᵀ, eigenvalues up to `cutoff`·λ_max dropped: about 9m³ flops; shows the numerical
    /// rank.
    Eigen {
        /// Relative to the largest eigenvalue; `None` stands for m·ε. Never absolute.
        cutoff: Option<f64>,
    },
}

impl Whitening {
    /// The eigenvalue route with the cut-off m·ε.
    pub fn eigen() -> Self {
        Whitening::Eigen { cutoff: None }
    }
}

/// The feature map x ↦ φ(x) = R⁻¹k_J(x) of m landmarks, from their block W = RRᵀ alone: O(m²)
/// memory.
///
/// k_J(x) is the vector of the m kernel values between x and the landmarks. So the map serves rows
/// of K, new points, and landmarks that are no data points. Whitened features are what makes normal
/// equations sound: FᵀF has eigenvalues at most λ_max(K), however singular W is.
///
/// ```
/// use faer::mat;
/// use nystrom_sketch::{FeatureMap, Whitening};
/// let w = mat![[2.0, 1.0], [1.0, 2.0_f64]];
/// let map = FeatureMap::new(w.as_ref(), Whitening::default())?;
/// // the landmarks' own kernel values, one point per column
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
    /// From the landmark block W, m × m, of which the lower triangle is read.
    ///
    /// # Errors
    /// [`Error::Empty`] if m = 0, [`Error::Shape`], [`Error::NonFinite`].
    /// [`Error::NotPositiveDefinite`] if no shift of the ladder suffices or W = 0.
    /// [`Error::RankDeficient`] if the eigenvalue route keeps nothing. [`Error::InvalidParameter`]
    /// for a cut-off outside [0, 1).
    pub fn new(w: MatRef<'_, T>, whitening: Whitening) -> Result<Self> {
        Self::with_diagonal(w, |_| T::zero(), whitening)
    }

    /// From W + diag(d), d ≥ 0: the block of the regularised approximation, where d_j = γ/w_j. The
    /// shift δ refers to W + diag(d).
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

    /// m: the number of landmarks.
    pub fn landmarks(&self) -> usize {
        match &self.factor {
            Factor::Cholesky(R) => R.order(),
            Factor::Eigen(Z) => Z.nrows(),
        }
    }

    /// r: the number of features, m by Cholesky and the numerical rank of W by eigenvalues.
    pub fn rank(&self) -> usize {
        match &self.factor {
            Factor::Cholesky(R) => R.order(),
            Factor::Eigen(Z) => Z.ncols(),
        }
    }

    /// δ: what was added to the diagonal of W; 0 by eigenvalues.
    pub fn jitter(&self) -> f64 {
        match &self.factor {
            Factor::Cholesky(R) => R.jitter(),
            Factor::Eigen(_) => 0.0,
        }
    }

    /// φ of t points. `k_j` holds k_J(x) in its columns (m × t) and is overwritten. The result, its
    /// first r rows, holds φ(x) in its columns (r × t). m²t flops.
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

    /// Calls `visit(positions, phi)` for consecutive tiles of the list `rows`. Column t of `phi` (r
    /// × tile) is φ of row `rows.get(positions.start + t)` of `k`. The columns `landmarks` of `k`
    /// are the landmarks the map was made from.
    ///
    /// rows.len()·m entries evaluated, m² flops a row, O(1024·m) memory.
    ///
    /// # Errors
    /// [`Error::NonFinite`] naming row and column of a non-finite entry of K; those of `visit`.
    ///
    /// # Panics
    /// If an index reaches beyond `k` or there are not m landmarks.
    pub fn for_each_tile_of(
        &self,
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
            visit(positions, self.apply_in_place(k_j))?;
        }
        Ok(())
    }

    /// θ, m × t, with φ(x)ᵀβ = k_J(x)ᵀθ for every x: turns weights β (r × t) of the features into
    /// weights of the landmarks.
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

/// Z with ZZᵀ = A⁺, eigenvalues up to cutoff·λ_max (default m·ε) counted as zero.
fn eigen_inverse_sqrt<T: Scalar>(a: MatRef<'_, T>, cutoff: Option<f64>) -> Result<Mat<T>> {
    let cutoff = cutoff.unwrap_or(a.nrows() as f64 * T::EPS);
    validate::require(
        (0.0..1.0).contains(&cutoff),
        "eigenvalue cut-off",
        cutoff,
        "in [0, 1), relative to the largest eigenvalue; leave it out for m·eps",
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
