//! Landmarks drawn in proportion to rank-k leverage scores: exact ("Lev"), or of a Nyström
//! approximation ("AppLev").

use crate::ExactSpectrum;
use crate::alaoui_mahoney::{STORED_ENTRIES, in_two_passes};
use crate::estimator::dictionary_of_columns;
use crate::score::squared_norms;
use faer::{Mat, reborrow::*};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Scalar, SymmetricEigen, ops, validate};
use nystrom_sketch::{Draw, LandmarkSelector, Landmarks, NystromStream, Whitening};
use rand::Rng;

/// Landmarks drawn in proportion to the exact rank-k leverage scores Σ_{j ≤ k} U_ij² ("Lev").
///
/// Ridge leverage scores ([`LeverageProportional`](crate::LeverageProportional)) weigh the
/// eigenvectors smoothly. Rank-k scores use only the first k eigenvectors, so that they change
/// discontinuously where the gap σ_k − σ_{k+1} closes.
///
/// # Cost
/// **n × n memory**, n² entries and about 9n³ flops, as [`ExactSpectrum::new`].
///
/// # Source
/// P. Drineas, M. Mahoney, S. Muthukrishnan, *Relative-error CUR matrix decompositions*, SIAM
/// Journal on Matrix Analysis 30, 2008; for Nyström, A. Gittens, M. Mahoney, *Revisiting the
/// Nyström method*, JMLR 17, 2016.
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{LandmarkSelector, RankLeverage};
/// use nystrom_linalg_core::Dense;
/// use rand::SeedableRng;
/// // 60 copies of one direction, one row of another: the second eigenvector is that row alone
/// let k = Mat::from_fn(61, 61, |i, j| if (i < 60) == (j < 60) { 1.0 } else { 0.0 });
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(1);
/// let landmarks = RankLeverage { rank: Some(2),
///     ..Default::default() }.select(&Dense::new(k.as_ref())?, 6, rng)?;
/// assert!(landmarks.indices().contains(&60));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RankLeverage {
    /// k. `None` (the default): the smaller of the requested number of landmarks and the numerical
    /// rank of K.
    pub rank: Option<usize>,
    /// With or without replacement.
    pub draw: Draw,
}

impl<T: Scalar> LandmarkSelector<T> for RankLeverage {
    /// Besides the common errors, those of [`ExactSpectrum::new`] and
    /// [`ExactSpectrum::rank_k_scores`].
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        validate::not_empty("matrix", k.dim())?;
        self.draw.check(m, k.dim())?;
        let spectrum = ExactSpectrum::new(k)?;
        let scores = spectrum.rank_k_scores(self.rank.unwrap_or(m.min(spectrum.rank()).max(1)))?;
        Landmarks::draw(&scores, m, self.draw, rng)
    }
}

/// Landmarks drawn in proportion to approximate rank-k leverage scores ("AppLev"): the scores of
/// the Nyström approximation from p columns, which are drawn with replacement and p_i = K_ii/tr K.
///
/// The counterpart for ridge leverage scores ("AppRegLev") is
/// [`LeverageProportional`](crate::LeverageProportional) with
/// [`AlaouiMahoney`](crate::AlaouiMahoney).
///
/// # Cost
/// As [`fast_rank_k_scores`] with p columns, and n diagonal entries.
///
/// # Source
/// C. Li, S. Jegelka, S. Sra, *Fast DPP sampling for Nyström with application to kernel methods*,
/// ICML 2016, section 6; the columns are those of Alaoui & Mahoney (NIPS 2015), section 3.5.
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{FastRankLeverage, LandmarkSelector};
/// use nystrom_linalg_core::Dense;
/// use rand::SeedableRng;
/// let k = Mat::from_fn(300, 300, |i, j| (-((i as f64 - j as f64) / 60.0).powi(2)).exp());
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let selector = FastRankLeverage { columns: 40, ..Default::default() };
/// assert_eq!(selector.select(&Dense::new(k.as_ref())?, 10, rng)?.len(), 10);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FastRankLeverage {
    /// p, the number of draws; repeated draws are merged.
    pub columns: usize,
    /// k. `None` (the default): the smaller of the requested number of landmarks and the numerical
    /// rank of the approximation.
    pub rank: Option<usize>,
    /// With or without replacement.
    pub draw: Draw,
}

impl Default for FastRankLeverage {
    /// 100 columns (the middle of the range in the paper's experiments), k = `None`.
    fn default() -> Self {
        FastRankLeverage { columns: 100, rank: None, draw: Draw::default() }
    }
}

impl<T: Scalar> LandmarkSelector<T> for FastRankLeverage {
    /// Besides the common errors, those of [`fast_rank_k_scores`] and
    /// [`InvalidWeight`](Error::InvalidWeight) for a diagonal that is negative, not finite or zero.
    fn select(&self, k: &dyn PsdMatrix<T>, m: usize, rng: &mut dyn Rng) -> Result<Landmarks> {
        validate::not_empty("matrix", k.dim())?;
        self.draw.check(m, k.dim())?;
        let columns = dictionary_of_columns(k, &k.diag(), self.columns, rng)?.landmarks()?;
        let (rank, strict) = (self.rank.unwrap_or(m), self.rank.is_some());
        let scores = scores_of_approximation(k, &columns, rank, strict)?;
        Landmarks::draw(&scores, m, self.draw, rng)
    }
}

/// The rank-k leverage scores Σ_{j ≤ k} Ũ_ij² of every row, which sum to k. Ũ holds the
/// eigenvectors of the Nyström approximation L = C W⁺ Cᵀ of the given landmarks.
///
/// With L = BBᵀ and BᵀB = VΣ²Vᵀ, Ũ = BVΣ⁻¹. Two passes over the rows of B in tiles: n·m + m²
/// entries if B fits in [`STORED_ENTRIES`], 2n·m + m² otherwise; 2nm² + nmk + 9m³ flops, O(m² +
/// 1024·m) memory besides B.
///
/// # Source
/// Li, Jegelka & Sra (ICML 2016), section 6.
///
/// # Errors
/// [`Error::Empty`] if k = 0, [`Error::RankDeficient`] with the numerical rank of L if k exceeds
/// it; those of [`NystromStream::new`] and [`NystromStream::for_each_tile`].
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{ExactSpectrum, Landmarks, fast_rank_k_scores};
/// use nystrom_linalg_core::Dense;
/// let k = Mat::from_fn(200, 200, |i, j| (-((i as f64 - j as f64) / 60.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let fast = fast_rank_k_scores(&k, &Landmarks::new(200, (0..200).step_by(10).collect())?, 4)?;
/// let exact = ExactSpectrum::new(&k)?.rank_k_scores(4)?;
/// assert!(fast.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-5));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn fast_rank_k_scores<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    landmarks: &Landmarks,
    rank: usize,
) -> Result<Vec<T>> {
    scores_of_approximation(k, landmarks, rank, true)
}

fn scores_of_approximation<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    landmarks: &Landmarks,
    rank: usize,
    strict: bool,
) -> Result<Vec<T>> {
    validate::not_empty("rank (k)", rank)?;
    let B = NystromStream::new(k, landmarks, Whitening::default())?; // BBᵀ = C W⁺ Cᵀ, by row tiles
    let keep = k.dim() * B.map().rank() <= STORED_ENTRIES;
    in_two_passes(&B, keep, |gram| {
        let eigen = SymmetricEigen::new(gram.as_ref())?; //           BᵀB = VΣ²Vᵀ
        let (V, squared) = (eigen.vectors(), eigen.values());
        if eigen.rank() == 0 || (strict && rank > eigen.rank()) {
            return Err(Error::RankDeficient { requested: rank, rank: eigen.rank() });
        }
        let rank = rank.min(eigen.rank());
        let VS =
            Mat::from_fn(V.nrows(), rank, |i, j| V[(i, j)] / num_traits::Float::sqrt(squared[j]));
        Ok(move |bt: faer::MatMut<'_, T>, scores: &mut [T]| {
            let ut = ops::times(VS.transpose(), bt.rb()); //          Ũᵀ = Σ⁻¹VᵀBᵀ
            squared_norms(scores, ut.as_ref());
        })
    })
}
