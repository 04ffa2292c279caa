//! Kernel principal components from Nyström features, and how far they are from exact ones.

use super::FeatureMoments;
use super::weights::{LandmarkWeights, over_rows, rounded, with_signs};
use crate::{FeatureMap, Landmarks, NystromStream, Whitening};
use faer::{Mat, MatRef};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, SymmetricEigen, ops, validate};

/// Kernel principal component analysis of the Nyström approximation L ⪯ K.
///
/// With features Φ (n × r, L = ΦΦᵀ) and their mean φ̄, the covariance S = ΦᵀΦ/n − φ̄φ̄ᵀ (r × r) has
/// the nonzero eigenvalues of HLH/n, H = I − 11ᵀ/n. Its eigenpairs (λ_j, v_j), largest first, give
/// the scores v_jᵀ(φ(x) − φ̄) of a point, whose variance over the rows is λ_j. Exact kernel PCA is
/// the same for HKH/n; [`PrincipalComponents`] bounds the distance.
///
/// # Cost
/// n·m kernel values, 2nm² flops for features and sums, about 9m³ for the eigenvalues. O(n + m²)
/// memory: features are stored for 1024 rows at a time. Scores are sums of kernel values with
/// weights of both signs, which have errors of the order of √ε times the largest score.
///
/// # Source
/// B. Schölkopf, A. Smola, K.-R. Müller, *Nonlinear component analysis as a kernel eigenvalue
/// problem*, Neural Computation 10, 1998; with Nyström features: N. Sterge, B. Sriperumbudur,
/// L. Rosasco, A. Rudi, *Gain with no pain: efficiency of kernel-PCA by Nyström sampling*, AISTATS
/// 2020 (arXiv:1907.05226).
///
/// ```
/// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
/// use nystrom_linalg_core::random;
/// use nystrom_sketch::{KernelPca, LandmarkSelector, RpCholesky};
/// use rand::SeedableRng;
///
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let x = random::standard_normal::<f64>(2000, 2, rng);
/// let k = KernelMatrix::new(Gaussian::new(3.0)?, Points::from_rows(x.as_ref()))?;
/// let landmarks = RpCholesky::default().select(&k, 40, rng)?;
/// let pca = KernelPca { components: 2 }.fit(&k, &landmarks)?;
/// let scores = pca.transform_rows(&k, &landmarks)?; // 2000 × 2
/// let mean = scores.col(0).iter().sum::<f64>() / 2000.0;
/// assert!(mean.abs() < 1e-9 && pca.subspace_bound().unwrap() < 1e-3);
/// let [least, most] = pca.exact_share(); // of the total variance of exact kernel PCA
/// assert!(least > 0.7 && most - least < 1e-3);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelPca {
    /// p, the number of components.
    pub components: usize,
}

/// Two components, for a picture.
impl Default for KernelPca {
    fn default() -> Self {
        KernelPca { components: 2 }
    }
}

impl KernelPca {
    /// The principal components of the rows of `k`, in one pass over K\[:, J\].
    ///
    /// # Errors
    /// [`Empty`](Error::Empty) and [`TooMany`](Error::TooMany) for a number of components that is 0
    /// or larger than the number of landmarks. [`Shape`](Error::Shape) if the landmarks belong to a
    /// matrix of another order, [`NonFinite`](Error::NonFinite) for an entry of K. Those of
    /// [`FeatureMap::new`] and of [`finish`](Self::finish).
    pub fn fit<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        landmarks: &Landmarks,
    ) -> Result<PrincipalComponents<T>> {
        validate::at_most("components", self.components, landmarks.len())?;
        let l = NystromStream::new(k, landmarks, Whitening::default())?;
        self.finish(l.map(), &FeatureMoments::over(&l, &k.diag())?)
    }

    /// The principal components of the rows that were added to `sums`, whose features are of `map`.
    ///
    /// # Errors
    /// [`Empty`](Error::Empty) for no components or rows, [`Shape`](Error::Shape) if `sums` has
    /// another number of features. [`InvalidParameter`](Error::InvalidParameter) if all rows have
    /// the same features. [`RankDeficient`](Error::RankDeficient) if there are fewer than p
    /// eigenvalues above the rounding errors of S, r·ε·(λ₁ + ‖φ̄‖²).
    pub fn finish<T: Scalar>(
        &self,
        map: &FeatureMap<T>,
        sums: &FeatureMoments,
    ) -> Result<PrincipalComponents<T>> {
        let p = self.components;
        validate::not_empty("components", p)?;
        validate::not_empty("rows", sums.rows())?;
        validate::same_size("features of the sums", map.rank(), sums.features())?;

        let (n, mean) = (sums.rows() as f64, sums.mean());
        let S = sums.gram_less(n, &mean); //                            S = ΦᵀΦ/n − φ̄φ̄ᵀ
        let eigen = SymmetricEigen::new(S.as_ref())?; //                S = VΛVᵀ
        let variances = eigen.values();
        let size = variances[0].max(0.0) + mean.iter().map(|a| a * a).sum::<f64>();
        let rank = above(variances, mean.len() as f64 * T::EPS * size);
        let rule = "positive: all rows are alike; take other columns or another kernel";
        validate::require(rank > 0, "variance of the features", variances[0].max(0.0), rule)?;
        if p > rank {
            return Err(Error::RankDeficient { requested: p, rank });
        }
        let V = with_signs(eigen.vectors().subcols(0, p));
        let mean = MatRef::from_column_major_slice(&mean, mean.len(), 1);
        let offset = ops::times(V.transpose(), mean);
        let offset = offset.col(0).iter().map(|&b| T::lit(-b)).collect();
        Ok(PrincipalComponents {
            weights: LandmarkWeights::new(map, rounded(V.as_ref()).as_ref(), offset),
            variances: variances[..p].to_vec(),
            next: variances.get(p).map_or(0.0, |next| next.max(0.0)),
            total: variances.iter().map(|variance| variance.max(0.0)).sum(),
            left_over: sums.left_over() / n,
        })
    }
}

/// How many of the `descending` numbers are above `bar`.
fn above(descending: &[f64], bar: f64) -> usize {
    descending.iter().take_while(|value| **value > bar).count()
}

/// The result of [`KernelPca`]: p components of the Nyström approximation, a map of points to their
/// scores, and bounds on the distance to exact kernel PCA.
///
/// # Bounds
/// Let A = HKH/n and B = HLH/n, with eigenvalues α_j and λ_j, and E = A − B = H(K − L)H/n ⪰ 0. Its
/// norms are at most tr E ≤ η = tr(K − L)/n ([`left_over`](Self::left_over)). Hence
///
/// * λ_j ≤ α_j ≤ λ_j + η (Weyl), and Σ_{j≤p} α_j ≤ Σ_{j≤p} λ_j + tr E (Ky Fan), which gives
///   [`exact_share`](Self::exact_share).
/// * The eigenspaces of the p largest eigenvalues of A and of B, orthonormal bases w_1, …, w_p and
///   u_1, …, u_p, have ‖sin Θ‖_F ≤ η/(λ_p − λ_{p+1})
///   ([`subspace_bound`](Self::subspace_bound)): for i > p ≥ j, (α_j − λ_i)·u_iᵀw_j = u_iᵀEw_j, and
///   α_j − λ_i ≥ λ_p − λ_{p+1} since α_j ≥ λ_j. The gap is that of B alone, because E ⪰ 0.
///
/// They hold in exact arithmetic; a rounding error of L of the order of ε·tr K/n is not in η.
///
/// # Source
/// The second is the sin Θ theorem of C. Davis, W. M. Kahan, *The rotation of eigenvectors by a
/// perturbation III*, SIAM J. Numer. Anal. 7, 1970.
#[derive(Debug, Clone)]
#[must_use]
pub struct PrincipalComponents<T> {
    weights: LandmarkWeights<T>,
    variances: Vec<f64>,
    next: f64, // λ_{p+1}
    total: f64,
    left_over: f64,
}

impl<T: Scalar> PrincipalComponents<T> {
    /// λ_1 ≥ … ≥ λ_p, the variances of the scores over the rows (divided by n). The exact ones are
    /// at least as large, by at most [`left_over`](Self::left_over).
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// tr(HLH)/n = Σ_j λ_j, the total variance of the approximation. That of K is at least as
    /// large, by at most [`left_over`](Self::left_over).
    pub fn total_variance(&self) -> f64 {
        self.total
    }

    /// η = tr(K − L)/n, the part of the mean of k(x, x) that the landmarks leave.
    pub fn left_over(&self) -> f64 {
        self.left_over
    }

    /// λ_j/Σ_i λ_i: the share of each component in the total variance of the approximation.
    pub fn shares(&self) -> Vec<f64> {
        self.variances.iter().map(|variance| variance / self.total).collect()
    }

    /// Bounds on the share of the first p components of exact kernel PCA in its total variance:
    /// Σλ_j/(t + η) and (Σλ_j + η)/(t + η), with t the total variance of the approximation.
    pub fn exact_share(&self) -> [f64; 2] {
        let (sum, eta) = (self.variances.iter().sum::<f64>(), self.left_over);
        [sum, sum + eta].map(|part| (part / (self.total + eta)).min(1.0))
    }

    /// η/(λ_p − λ_{p+1}), a bound on the Frobenius norm of the sines of the angles between the
    /// space of these p components (as functions of the rows) and that of exact kernel PCA; `None`
    /// if it is 1 or more and so says nothing. Take more landmarks then, or another p.
    pub fn subspace_bound(&self) -> Option<f64> {
        let gap = self.variances.last()? - self.next;
        let bound = self.left_over / gap;
        (gap > 0.0 && bound < 1.0).then_some(bound)
    }

    /// θ (m × p): the score of a point is θᵀk_J(x) plus [`offsets`](Self::offsets).
    pub fn weights(&self) -> MatRef<'_, T> {
        self.weights.theta()
    }

    /// −v_jᵀφ̄, p numbers.
    pub fn offsets(&self) -> &[T] {
        self.weights.offset()
    }

    /// The scores of t points (p × t, one column a point) from their kernel values with the
    /// landmarks, `k_j` (m × t): 2mpt flops.
    ///
    /// # Errors
    /// [`Shape`](Error::Shape), [`NonFinite`](Error::NonFinite).
    pub fn transform(&self, k_j: MatRef<'_, T>) -> Result<Mat<T>> {
        self.weights.checked_values(k_j)
    }

    /// The scores of the rows of `k`, n × p, in one pass over K\[:, J\].
    ///
    /// # Errors
    /// [`Shape`](Error::Shape) if the landmarks belong to a matrix of another order or are not as
    /// many as in the fit, [`NonFinite`](Error::NonFinite) for an entry of K.
    pub fn transform_rows(&self, k: &dyn PsdMatrix<T>, landmarks: &Landmarks) -> Result<Mat<T>> {
        over_rows(k, landmarks, self.variances.len(), |_, k_j| self.transform(k_j))
    }
}
