//! The interface of all estimators of ridge leverage scores.

use crate::{ExactScores, Projector, exact_scores};
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, validate};
use nystrom_sketch::Dictionary;
use rand::Rng;
use std::sync::Arc;

/// An estimator of ridge leverage scores: at a given ridge it computes a dictionary, or scores, or
/// both.
///
/// [`Projector`] computes the score of any row from a dictionary that represents K at the ridge μ;
/// sampling by scores gives a dictionary. Recursive and streaming methods produce dictionaries, so
/// [`dictionary`](Self::dictionary) is the required method. Methods with a score formula of their
/// own override [`scores_and_dictionary`](Self::scores_and_dictionary).
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{AlaouiMahoney, Exact, RidgeLeverage};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(100, 100, |i, j| (-((i as f64 - j as f64) / 30.0).powi(2)).exp());
/// let k = Dense::new(k.as_ref())?;
/// let estimators: [Box<dyn RidgeLeverage<f64>>; 2] =
///     [Box::new(Exact), Box::new(AlaouiMahoney { columns: 50 })];
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let mut d_eff = vec![];
/// for estimator in &estimators {
///     d_eff.push(estimator.scores(&k, Ridge::PerSample(0.01), &mut rng)?.iter().sum::<f64>());
/// }
/// assert!(d_eff[1] <= d_eff[0] && d_eff[1] > 0.99 * d_eff[0]);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub trait RidgeLeverage<T: Scalar>: Sync {
    /// A dictionary (rows with weights such that E\[SSᵀ\] = I) that represents K at the given
    /// ridge. [`Projector`] and the regularised Nyström approximation take it unchanged.
    ///
    /// # Errors
    /// Those of [`Ridge::absolute`] and of the implementation.
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>>;

    /// An estimate of l_i for every row, n numbers in \[0, K_ii/(K_ii + μ)\].
    ///
    /// Provided: the scores of [`scores_and_dictionary`](Self::scores_and_dictionary). An estimator
    /// that needs no dictionary for its scores overrides this method too.
    ///
    /// # Errors
    /// As [`dictionary`](Self::dictionary), and those of [`Projector`].
    fn scores(&self, k: &dyn PsdMatrix<T>, ridge: Ridge<T>, rng: &mut dyn Rng) -> Result<Vec<T>> {
        self.scores_and_dictionary(k, ridge, rng).map(|(scores, _)| scores)
    }

    /// Both results of one run: those that [`scores`](Self::scores) and
    /// [`dictionary`](Self::dictionary) would give for the same seed.
    ///
    /// Provided: [`Projector`] with the dictionary. It evaluates n·m + m² entries besides those of
    /// the dictionary of m rows.
    ///
    /// # Errors
    /// Those of `scores` and of `dictionary`. Some methods return scores even if the dictionary is
    /// empty; here, as in `dictionary`, an empty dictionary is
    /// [`EmptySample`](nystrom_linalg_core::Error::EmptySample).
    ///
    /// ```
    /// use nystrom_kernels::{Gaussian, KernelMatrix, Points};
    /// use nystrom_leverage::{RecursiveRls, RidgeLeverage};
    /// use nystrom_linalg_core::Ridge;
    /// use rand::SeedableRng;
    /// // 300 points close together, and one far from all
    /// let x: Vec<f64> = (0..300).map(|i| f64::from(i) / 300.0).chain([4.0]).collect();
    /// let k = KernelMatrix::new(Gaussian::new(0.3)?, Points::from_slice(&x))?;
    /// let (ridge, mut rng) = (Ridge::PerSample(1e-3), rand_pcg::Pcg64::seed_from_u64(0));
    /// let (scores, dictionary) =
    ///     RecursiveRls::default().scores_and_dictionary(&k, ridge, &mut rng)?;
    /// // no other row represents the last one
    /// assert!(scores[300] > 0.7 && scores[..300].iter().all(|score| *score < 0.2));
    /// assert!(dictionary.indices().contains(&300) && dictionary.len() < 100);
    /// # Ok::<(), nystrom_linalg_core::Error>(())
    /// ```
    fn scores_and_dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<(Vec<T>, Dictionary<T>)> {
        let dictionary = self.dictionary(k, ridge, rng)?;
        let scores = Projector::new(k, &dictionary, ridge)?.scores(k, (0..k.dim()).into())?;
        Ok((scores, dictionary))
    }
}

/// The exact scores, by [`exact_scores`]. The generator is not used.
///
/// # Cost
/// That of [`exact_scores`]: half an n × n matrix by definition, O(n³) flops.
///
/// # Source
/// The definition: Alaoui & Mahoney, NIPS 2015, Definition 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Exact;

impl<T: Scalar> RidgeLeverage<T> for Exact {
    /// Every row with weight 1.
    fn dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        _rng: &mut dyn Rng,
    ) -> Result<Dictionary<T>> {
        let full = Dictionary::full(k.dim())?;
        ridge.absolute(k.dim()).map(|_| full)
    }

    fn scores(&self, k: &dyn PsdMatrix<T>, ridge: Ridge<T>, _rng: &mut dyn Rng) -> Result<Vec<T>> {
        exact_scores(k, ridge).map(|ExactScores { scores, .. }| scores)
    }

    fn scores_and_dictionary(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<(Vec<T>, Dictionary<T>)> {
        let dictionary = self.dictionary(k, ridge, rng)?;
        Ok((self.scores(k, ridge, rng)?, dictionary))
    }
}

/// References, boxes and `Arc`s of estimators are estimators: every call is forwarded.
macro_rules! forward {
    ($($pointer:ty $(: $bound:ident)?),*) => {$(
        impl<T: Scalar, E: RidgeLeverage<T> $(+ $bound)? + ?Sized> RidgeLeverage<T> for $pointer {
            fn dictionary(
                &self,
                k: &dyn PsdMatrix<T>,
                ridge: Ridge<T>,
                rng: &mut dyn Rng,
            ) -> Result<Dictionary<T>> {
                (**self).dictionary(k, ridge, rng)
            }
            fn scores(
                &self,
                k: &dyn PsdMatrix<T>,
                ridge: Ridge<T>,
                rng: &mut dyn Rng,
            ) -> Result<Vec<T>> {
                (**self).scores(k, ridge, rng)
            }
            fn scores_and_dictionary(
                &self,
                k: &dyn PsdMatrix<T>,
                ridge: Ridge<T>,
                rng: &mut dyn Rng,
            ) -> Result<(Vec<T>, Dictionary<T>)> {
                (**self).scores_and_dictionary(k, ridge, rng)
            }
        }
    )*};
}
forward!(&E, Box<E>, Arc<E>: Send);

/// A dictionary of p independent draws with probabilities p_i (normalised here), weights
/// count_i/(p·p_i).
pub(crate) fn dictionary_of_columns<T: Scalar>(
    k: &dyn PsdMatrix<T>,
    probabilities: &[T],
    columns: usize,
    rng: &mut dyn Rng,
) -> Result<Dictionary<T>> {
    validate::not_empty("matrix", k.dim())?;
    validate::not_empty("columns (p)", columns)?;
    validate::same_size("probabilities", k.dim(), probabilities.len())?;
    Dictionary::with_replacement(probabilities, columns, rng)
}
