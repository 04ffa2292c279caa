//! The fast approximation of ridge leverage scores of Alaoui & Mahoney (NIPS 2015), section 3.5.

use crate::RidgeLeverage;
use crate::estimator::dictionary_of_columns;
use crate::score::{clamp, d_eff, finite_diagonal, squared_norms};
use faer::{Mat, MatMut, reborrow::*};
use nystrom_linalg_core::{
    Cholesky, JitterLadder, PsdMatrix, Result, Ridge, Scalar, ops, validate,
};
use nystrom_sketch::{Dictionary, Landmarks, NystromStream, Whitening, check_failure_probability};
use rand::Rng;

/// Most draws per row in `for_accuracy`. n landmarks give exact scores, so that more draws than
/// this are useless.
const MOST_DRAWS_A_ROW: f64 = 1000.0;

/// The factor B is kept between the two passes if it has at most this many entries (64 MiB in
/// `f64`).
pub const STORED_ENTRIES: usize = 1 << 23;

/// Fast approximate scores: draws `columns` (p) columns with replacement, then calls
/// [`fast_scores`]. As an estimator it draws with probabilities p_i = K_ii/tr K;
/// [`scores_by`](AlaouiMahoney::scores_by) takes any probability vector.
///
/// Deterministically l_i − ‖K − L‖₂/(nλ) ≤ l̃_i ≤ l_i: the scores never over-estimate. With p from
/// [`AlaouiMahoney::for_accuracy`], l̃_i ≥ l_i − 2ε for all i with probability at least 1 − ρ
/// (Theorem 4).
///
/// # Cost
/// That of [`fast_scores`]: np entries, O(np²) flops.
///
/// # Source
/// Alaoui & Mahoney, NIPS 2015, section 3.5, equation (9).
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{AlaouiMahoney, RidgeLeverage, exact_scores};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(300, 300, |i, j| (-((i as f64 - j as f64) / 60.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let ridge = Ridge::PerSample(1e-3);
/// let fast = AlaouiMahoney { columns: 60 }.scores(&k, ridge, &mut rng)?;
/// let exact = exact_scores(&k, ridge)?.scores;
/// assert!(
///     fast.iter()
///         .zip(&exact)
///         .all(|(fast, exact)| *fast <= exact + 1e-12 && *fast >= 0.99 * exact)
/// );
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AlaouiMahoney {
    /// p, the number of draws; repeated draws are merged.
    pub columns: usize,
}

impl AlaouiMahoney {
    /// Theorem 4: p = ⌈8 (tr K/(nλε) + 1/6) ln(n/ρ)⌉ columns.
    ///
    /// Then, with probability at least 1 − ρ, for all i both l_i − 2ε ≤ l̃_i ≤ l_i and (σ_n −
    /// nλε)/(σ_n + nλε)·l_i ≤ l̃_i. Here σ_n is the smallest eigenvalue of K. If p > n, the theorem
    /// guarantees nothing for fewer than n columns, and [`exact_scores`](crate::exact_scores) are
    /// cheaper. p > 1000·n is an error.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n = 0,
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) unless tr K > 0, ε in (0,
    /// 1/2), ρ in (0, 1), or if p > 1000·n; those of [`Ridge::absolute`].
    ///
    /// ```
    /// use nystrom_leverage::AlaouiMahoney;
    /// use nystrom_linalg_core::Ridge;
    /// let am = AlaouiMahoney::for_accuracy(1000, 1000.0, Ridge::PerSample(0.1_f64), 0.25, 0.1)?;
    /// assert_eq!(am.columns, 2960); // 8·(40 + 1/6)·ln(10⁴) = 2959.58…
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn for_accuracy<T: Scalar>(
        n: usize,
        trace: f64,
        ridge: Ridge<T>,
        epsilon: f64,
        rho: f64,
    ) -> Result<Self> {
        validate::not_empty("matrix", n)?;
        validate::positive("trace of K", trace)?;
        let mu = ridge.absolute(n)?.f64();
        validate::require(
            epsilon > 0.0 && epsilon < 0.5,
            "epsilon",
            epsilon,
            "in (0, 1/2): scores are accurate to 2 epsilon",
        )?;
        check_failure_probability(rho)?;
        let p = 8.0 * (trace / (mu * epsilon) + 1.0 / 6.0) * (n as f64 / rho).ln();
        validate::require(
            !(p > MOST_DRAWS_A_ROW * n as f64),
            "epsilon",
            epsilon,
            "larger (or the ridge larger): Theorem 4 asks for more than 1000 draws per row; \
                               use exact_scores, which is cheaper",
        )?;
        Ok(AlaouiMahoney { columns: p.ceil() as usize })
    }

    /// The algorithm of section 3.5 for any probability vector: draws p columns with replacement
    /// and probabilities proportional to `probabilities`, one for each row, then [`fast_scores`].
    ///
    /// The scores never over-estimate, for any probabilities. The lower bounds of Theorem 4
    /// hold for the probabilities K_ii/tr K, which
    /// [`scores_and_dictionary`](RidgeLeverage::scores_and_dictionary) uses. The scores of a first
    /// call can be the probabilities of a second.
    ///
    /// # Cost
    /// As [`fast_scores`].
    ///
    /// # Randomness
    /// p uniforms.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) unless there are n probabilities,
    /// [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight) if a probability is negative or
    /// not finite, or if all are 0; [`Empty`](nystrom_linalg_core::Error::Empty) if n or p is 0;
    /// those of [`fast_scores`].
    ///
    /// ```
    /// use faer::Mat;
    /// use nystrom_leverage::{AlaouiMahoney, RidgeLeverage};
    /// use nystrom_linalg_core::{Dense, Ridge};
    /// use rand::SeedableRng;
    /// // 300 points close together, and one far from all
    /// let x = |i: usize| if i < 300 { i as f64 / 300.0 } else { 4.0 };
    /// let k = Mat::from_fn(301, 301, |i, j| (-(x(i) - x(j)).powi(2)).exp());
    /// let (k, ridge) = (Dense::new(k.as_ref())?, Ridge::PerSample(1e-3));
    /// let (am, mut rng) =
    ///     (AlaouiMahoney { columns: 20 }, rand_pcg::Pcg64::seed_from_u64(0));
    /// // K_ii is constant: the draws are uniform, and a far point that is not drawn scores 0
    /// let first = am.scores(&k, ridge, &mut rng)?;
    /// let known: Vec<f64> = (0..301).map(|i| if i < 300 { 1.0 } else { 300.0 }).collect();
    /// let (second, _) = am.scores_by(&k, ridge, &known, &mut rng)?;
    /// assert!(first[300] < 0.01 && second[300] > 0.7);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    pub fn scores_by<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        probabilities: &[T],
        rng: &mut dyn Rng,
    ) -> Result<(Vec<T>, Dictionary<T>)> {
        ridge.absolute(k.dim())?;
        let drawn = dictionary_of_columns(k, probabilities, self.columns, rng)?; // steps 1 to 3
        Ok((fast_scores(k, &drawn.landmarks()?, ridge)?.scores, drawn)) //          steps 4 and 5
    }
}

impl<T: Scalar> RidgeLeverage<T> for AlaouiMahoney {
    /// The distinct rows of the p draws, with weights count_i/(p·p_i). Evaluates n diagonal
    /// entries.
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>> {
        ridge.absolute(k.dim())?;
        dictionary_of_columns(k, &k.diag(), self.columns, rng)
    }

    /// The scores are those of equation (9), which under-estimate, not those of the projector.
    /// Evaluates the entries of [`fast_scores`] and n more diagonal ones.
    fn scores_and_dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<(Vec<T>, Dictionary<T>)> {
        self.scores_by(k, ridge, &k.diag(), rng)
    }
}

/// The result of [`fast_scores`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FastScores<T> {
    /// l̃_1, …, l̃_n.
    pub scores: Vec<T>,
    /// μ = nλ.
    pub mu: T,
    /// δ, the jitter added to the diagonal of W.
    pub jitter: f64,
}

impl<T: Scalar> FastScores<T> {
    /// Σ l̃_i ≤ d_eff, summed in `f64`.
    pub fn d_eff(&self) -> f64 {
        d_eff(&self.scores)
    }
}

/// l̃_i = \[L(L + μI)⁻¹\]_ii for the Nyström approximation L = C W⁺ Cᵀ of given landmarks, μ = nλ =
/// `ridge.absolute(n)`: with BBᵀ = L, l̃_i = B_iᵀ(BᵀB + μI)⁻¹B_i, equation (9) of Alaoui & Mahoney
/// (NIPS 2015).
///
/// For a weighted dictionary pass its [`landmarks`](Dictionary::landmarks): L does not depend on
/// the weights.
///
/// # Cost
/// With m landmarks: two passes over the rows of B in tiles, 3nm² + O(m³) flops (4nm² when B is not
/// kept), O(m² + 1024·m) memory. B is kept between the passes if n·m ≤ [`STORED_ENTRIES`]. Entries
/// evaluated: n·m + m² if B is kept, 2n·m + m² otherwise; in both cases n diagonal ones as well.
/// Keeping B does not change the bits of the scores.
///
/// # Errors
/// Those of [`NystromStream::new`] and of [`Ridge::absolute`].
pub fn fast_scores<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    landmarks: &Landmarks,
    ridge: Ridge<T>,
) -> Result<FastScores<T>> {
    let keep = k.dim().saturating_mul(landmarks.len()) <= STORED_ENTRIES;
    scores_in_two_passes(k, landmarks, ridge, keep)
}

fn scores_in_two_passes<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    landmarks: &Landmarks,
    ridge: Ridge<T>,
    keep: bool,
) -> Result<FastScores<T>> {
    let n = k.dim();
    let mu = ridge.absolute(n)?;
    let k_ii = finite_diagonal(k, (0..n).into())?;
    let B = NystromStream::new(k, landmarks, Whitening::default())?; // BBᵀ = C W⁺ Cᵀ, by row tiles
    let scores = in_two_passes(&B, keep, |mut M| {
        ops::add_to_diagonal(M.as_mut(), mu);
        let R = Cholesky::with_jitter(M.as_ref(), JitterLadder::default())?; // RRᵀ = BᵀB + μI
        Ok(move |mut bt: MatMut<'_, T>, scores: &mut [T]| {
            R.forward_in_place(bt.rb_mut());
            squared_norms(scores, bt.rb()); // l̃_i = ‖R⁻¹B_i‖²
        })
    })?;
    let scores = scores.into_iter().zip(k_ii).map(|(l, k_ii)| clamp(l, k_ii, mu)).collect();
    Ok(FastScores { scores, mu, jitter: B.map().jitter() })
}

/// Computes one number per row of B in two passes. `prepare` takes BᵀB (lower triangle) from the
/// first pass and returns the function that computes the numbers of a tile of Bᵀ in the second.
///
/// If `keep`, Bᵀ is stored between the passes instead of evaluated twice.
pub(crate) fn in_two_passes<T: Scalar, S: FnMut(MatMut<'_, T>, &mut [T])>(
    B: &NystromStream<'_, T>,
    keep: bool,
    prepare: impl FnOnce(Mat<T>) -> Result<S>,
) -> Result<Vec<T>> {
    let n = B.dim();
    let mut scores = vec![T::zero(); n];
    if keep {
        let mut bt = Mat::zeros(B.map().rank(), n);
        let gram = B.gram_lower_keeping(bt.as_mut())?;
        prepare(gram)?(bt.as_mut(), &mut scores);
    } else {
        let mut score = prepare(B.gram_lower()?)?;
        B.for_each_tile(0..n, |rows, bt| {
            score(bt, &mut scores[rows]);
            Ok(())
        })?;
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nystrom_linalg_core::{Counted, Dense};

    #[test]
    fn kept_or_recomputed_the_bits_are_the_same_and_the_entries_are_counted() {
        let n = 2500; // more than two tiles and two leaves
        let k = Mat::from_fn(n, n, |i, j| (-((i as f64 - j as f64) / 300.0).powi(2)).exp());
        let k = Counted::new(Dense::new(k.as_ref()).unwrap());
        let landmarks = Landmarks::new(n, (0..n).step_by(113).collect()).unwrap();
        let (n, m) = (n as u64, landmarks.len() as u64);
        let kept = scores_in_two_passes(&k, &landmarks, Ridge::PerSample(1e-4), true).unwrap();
        assert_eq!((k.entries(), k.diagonal_entries()), (n * m + m * m, n));
        k.reset();
        let again = scores_in_two_passes(&k, &landmarks, Ridge::PerSample(1e-4), false).unwrap();
        assert_eq!((k.entries(), k.diagonal_entries()), (2 * n * m + m * m, n));
        assert!(kept.scores.iter().zip(&again.scores).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}
