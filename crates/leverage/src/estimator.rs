//! The one interface of all estimators of ridge leverage scores.

use crate::{ExactScores, Projector, exact_scores};
use nystrom_linalg_core::{PsdMatrix, Result, Ridge, Scalar, validate};
use nystrom_sketch::Dictionary;
use rand::Rng;
use std::sync::Arc;

/// A method that measures rows of K at a ridge: what it finds is a dictionary, or scores, or both.
///
/// A dictionary that represents K at ridge μ gives scores for any row through [`Projector`], and
/// scores give a dictionary by sampling. Recursive and streaming methods produce a dictionary, so
/// it is the required half. Methods with a score formula of their own override
/// [`scores_and_dictionary`](Self::scores_and_dictionary).
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
    /// Rows with weights such that E\[SSᵀ\] = I, meant to represent K at the given ridge. The
    /// regularised approximation made from it, and [`Projector`], use it as it is.
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
    /// Provided: the first half of [`scores_and_dictionary`](Self::scores_and_dictionary). What
    /// needs no dictionary for its scores overrides this too.
    ///
    /// # Errors
    /// As [`dictionary`](Self::dictionary), and those of [`Projector`].
    fn scores(&self, k: &dyn PsdMatrix<T>, ridge: Ridge<T>, rng: &mut dyn Rng) -> Result<Vec<T>> {
        self.scores_and_dictionary(k, ridge, rng).map(|(scores, _)| scores)
    }

    /// What [`scores`](Self::scores) and [`dictionary`](Self::dictionary) give for this seed, from
    /// one run of the method in place of two.
    ///
    /// Provided: [`Projector`] on the dictionary, n·m + m² entries more than the dictionary took.
    ///
    /// # Errors
    /// Those of either. Some methods have scores where the dictionary is empty; here, as in
    /// `dictionary`, that is [`EmptySample`](nystrom_linalg_core::Error::EmptySample).
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
    /// // nothing stands for the last row but itself
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
/// n × n by definition: n² entries of time and memory, O(n³) flops.
///
/// # Source
/// The definition: Alaoui & Mahoney, NIPS 2015, Definition 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Exact;

impl<T: Scalar> RidgeLeverage<T> for Exact {
    /// Every row with weight 1: nothing is compressed, so nothing is lost.
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

/// A pointer to an estimator is the estimator.
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

/// p independent draws by the probabilities p_i (not necessarily normalised), with the weights
/// 1/(p·p_i).
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
