//! Adaptive sampling: batches of columns, drawn in proportion to the residuals of columns.

use super::column_norm::squared_column_norms;
use crate::orthonormal::{concat_columns, extend_basis};
use crate::{LandmarkSelector, Landmarks};
use faer::{Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, SymmetricEigen, ops, random, validate};
use rand::Rng;

/// Adaptive sampling with the full residual ("AdapFull"), in batches of s columns. The first batch
/// is uniform. Each further batch is drawn with p_j ∝ ‖E_{:j}‖², where E = K − UUᵀK and U is an
/// orthonormal basis of the columns drawn so far; these have p_j = 0.
///
/// The result has m landmarks, or fewer if all residuals are within rounding error, about
/// ε·‖K_{:j}‖² for ‖E_{:j}‖².
///
/// # Cost
/// **All n² entries of K, once for every batch**, tile by tile; 2n²m flops; O(n·m) memory. No n × n
/// matrix is stored.
///
/// # Source
/// A. Deshpande, L. Rademacher, S. Vempala, G. Wang, *Matrix approximation and projective
/// clustering via volume sampling*, SODA 2006; for Nyström: S. Kumar, M. Mohri, A. Talwalkar,
/// *Sampling methods for the Nyström method*, JMLR 13, 2012.
///
/// # Departures
/// ‖E_{:j}‖² is updated as ‖K_{:j}‖² − ‖UᵀK_{:j}‖², with one product of K and the new columns of U
/// per batch.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{AdaptiveFull, LandmarkSelector};
/// use rand::SeedableRng;
/// // 60 copies of one direction and a single row of another, which the second batch must find:
/// let k = Mat::from_fn(61, 61, |i, j| if (i < 60) == (j < 60) { 1.0 } else { 0.0 });
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let landmarks = AdaptiveFull { batch: Some(1) }.select(&Dense::new(k.as_ref())?, 2, rng)?;
/// assert!(landmarks.indices().contains(&60));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AdaptiveFull {
    /// s, the number of columns per batch. `None` (the default) stands for max(1, m/10), our
    /// choice; the papers leave s open.
    pub batch: Option<usize>,
}

impl<T: Scalar> LandmarkSelector<T> for AdaptiveFull {
    /// # Errors
    /// In addition to those of the trait, [`NonFinite`](nystrom_linalg_core::Error::NonFinite), and
    /// [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) for K = 0.
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        let n = k.dim();
        let s = batch_size(self.batch, n, m)?;
        let norms = squared_column_norms(k)?; //                            ‖K_{:j}‖²
        validate::weights("squared norms of the columns", &norms)?;
        let (mut E, mut U) = (norms.clone(), Mat::<T>::zeros(n, 0));
        let mut R = random::uniform_subset(n, s, rng)?; //                  R ← s uniform
        let mut batch = R.clone();
        while R.len() < m {
            let Q = extend_basis(U.as_ref(), k.columns((&batch).into()))?; // the new columns of U
            let mut KQ = Mat::zeros(n, Q.ncols());
            k.mul_into(KQ.as_mut(), Q.as_ref());
            U = concat_columns(&U, &Q);
            let left = |j: usize| E[j] - KQ.row(j).iter().map(|x| x.f64().powi(2)).sum::<f64>();
            let rounding = |j: usize| 10.0 * (n as f64).sqrt() * T::EPS * norms[j];
            // ‖E_{:j}‖²
            E = (0..n).map(|j| if left(j) > rounding(j) { left(j) } else { 0.0 }).collect();
            batch = next_batch(&E, &R, s.min(m - R.len()), rng)?; //        p_j ∝ ‖E_{:j}‖², 0 on R
            if batch.is_empty() {
                break;
            }
            R.extend(&batch);
        }
        Landmarks::new(n, R)
    }
}

/// Adaptive sampling with the partial residual ("AdapPart"): as [`AdaptiveFull`], but residuals are
/// measured only on the columns C = K\[:, R\] drawn so far. A batch is drawn with p_j ∝ ‖E_{j:}‖²,
/// where E = C − C̃ and C̃ is the Nyström approximation of C with rank k' < rank W, W = K\[R, R\].
///
/// C̃ = C W_{k'}⁺ W = CVVᵀ, where V are the first k' eigenvectors of W. Thus ‖E_{j:}‖ is the norm
/// of row j of C times the other eigenvectors. A row that is orthogonal in feature space to all
/// rows R has ‖E_{j:}‖ = 0, so that far-away clusters are missed. If all remaining rows have
/// ‖E_{j:}‖ = 0, the batch is uniform.
///
/// # Cost
/// At most n·m entries; O(nm²) flops per batch; O(n·m) memory.
///
/// # Source
/// S. Kumar, M. Mohri, A. Talwalkar, *Sampling methods for the Nyström method*, JMLR 13, 2012, the
/// algorithm "adaptive-partial". The paper leaves k' open; the default is our choice.
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::{Counted, Dense};
/// use nystrom_sketch::{AdaptivePartial, LandmarkSelector};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(50, 50, |i, j| (-(i as f64 - j as f64).abs() / 10.0).exp());
/// let k = Counted::new(Dense::new(k.as_ref())?);
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// assert_eq!(AdaptivePartial::default().select(&k, 10, rng)?.len(), 10);
/// assert!(k.entries() < 50 * 10);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AdaptivePartial {
    /// s, the number of columns per batch; `None` (the default) stands for max(1, m/10).
    pub batch: Option<usize>,
    /// k'/rank W in \[0, 1); `None` (the default) stands for ½. k' is rounded up and at most
    /// rank W − 1.
    pub rank_fraction: Option<f64>,
}

impl<T: Scalar> LandmarkSelector<T> for AdaptivePartial {
    /// # Errors
    /// In addition to those of the trait, [`NonFinite`](nystrom_linalg_core::Error::NonFinite) with
    /// an entry of K, and [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a
    /// fraction outside \[0, 1).
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        let n = k.dim();
        let s = batch_size(self.batch, n, m)?;
        let fraction = self.rank_fraction.unwrap_or(0.5);
        validate::require(
            (0.0..1.0).contains(&fraction),
            "rank fraction",
            fraction,
            "in [0, 1), as with the whole rank all residuals are 0",
        )?;
        let mut R = random::uniform_subset(n, s, rng)?; //                  R ← s uniform
        let (mut C, mut batch) = (Mat::<T>::zeros(n, 0), R.clone());
        while R.len() < m {
            let new = k.columns((&batch).into());
            validate::finite_block(new.as_ref(), 0..n, &batch)?;
            C = concat_columns(&C, &new);
            let E = partial_residual(C.as_ref(), &R, fraction)?; //         ‖E_{j:}‖²
            batch = next_batch(&E, &R, s.min(m - R.len()), rng)?; //        p_j ∝ ‖E_{j:}‖², 0 on R
            if batch.is_empty() {
                batch = next_batch(&vec![1.0; n], &R, s.min(m - R.len()), rng)?;
            }
            R.extend(&batch);
        }
        Landmarks::new(n, R)
    }
}

/// ‖(C − C̃)_{j:}‖² for every j: the squared norms of the rows of CV', where V' are the
/// eigenvectors of W after the first k'.
fn partial_residual<T: Scalar>(C: MatRef<'_, T>, R: &[usize], fraction: f64) -> Result<Vec<f64>> {
    let r = R.len();
    let W = Mat::from_fn(r, r, |i, j| C[(R[i.max(j)], i.min(j))]);
    let eigen = SymmetricEigen::new(W.as_ref())?;
    let rank = eigen.rank();
    let rank = ((fraction * rank as f64).ceil() as usize).min(rank.saturating_sub(1)); // k'
    let CV = ops::times(C, eigen.vectors().subcols(rank, r - rank));
    let noise = (r as f64 * T::EPS * eigen.values()[0].f64()).powi(2);
    let squared = |j: usize| CV.row(j).iter().map(|x| x.f64().powi(2)).sum::<f64>();
    Ok((0..C.nrows()).map(squared).map(|e| if e > noise { e } else { 0.0 }).collect())
}

/// The batch size s, after the checks of n and m.
fn batch_size(batch: Option<usize>, n: usize, m: usize) -> Result<usize> {
    validate::not_empty("matrix", n)?;
    validate::at_most("landmarks", m, n)?;
    let s = batch.unwrap_or((m / 10).max(1));
    validate::not_empty("columns per batch", s)?;
    Ok(s.min(m))
}

/// Up to s further columns, drawn one after another with p_j ∝ E_j among the columns not in R;
/// fewer than s if fewer columns have E_j > 0.
fn next_batch(E: &[f64], R: &[usize], s: usize, rng: &mut dyn Rng) -> Result<Vec<usize>> {
    let mut p = E.to_vec();
    R.iter().for_each(|&j| p[j] = 0.0);
    match p.iter().filter(|&&p| p > 0.0).count() {
        0 => Ok(vec![]),
        positive => random::without_replacement(&p, s.min(positive), rng),
    }
}
