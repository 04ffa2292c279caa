//! Exact samplers from one eigendecomposition, and their probabilities.

use crate::{ElementarySymmetric, LEnsemble, projection};
use nystrom_linalg_core::{Result, Scalar, random, validate};
use nystrom_sketch::Landmarks;
use rand::Rng;
use std::sync::Arc;

impl<T: Scalar> LEnsemble<T> {
    /// The unconstrained DPP: Pr(C) = det K_CC / det(I + K).
    pub fn dpp(&self) -> ExactDpp<'_, T> {
        ExactDpp { ensemble: self }
    }

    /// The DPP of size c: Pr(C) = det K_CC / e_c(K), |C| = c. O(rc).
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if c = 0,
    /// [`RankDeficient`](nystrom_linalg_core::Error::RankDeficient), with the numerical rank, if c
    /// exceeds it: then no set of size c has a positive determinant.
    pub fn k_dpp(&self, c: usize) -> Result<ExactKDpp<'_, T>> {
        self.k_dpp_by(Arc::new(ElementarySymmetric::new(self.values(), c)?))
    }

    /// As [`k_dpp`](Self::k_dpp), with polynomials of [`values`](Self::values) that were computed
    /// before, which saves a third of the time of a draw.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the polynomials are of another number of
    /// values.
    pub fn k_dpp_by(&self, e: Arc<ElementarySymmetric>) -> Result<ExactKDpp<'_, T>> {
        validate::same_size("values of the polynomials", self.rank(), e.len())?;
        Ok(ExactKDpp { ensemble: self, e })
    }
}

/// The DPP of fixed size, Pr(C) = det K_CC / e_c(K) over the subsets of size c: a k-DPP with k = c.
///
/// A draw selects c eigenvectors (Pr(S) = Π_S λ_i / e_c), then items from the projection on these
/// eigenvectors. It takes O(r + nc + c³ ln c) time besides the eigendecomposition, which is shared
/// by all draws and sizes.
///
/// # Source
/// A. Kulesza & B. Taskar, *k-DPPs: fixed-size determinantal point processes*, ICML 2011; C. Li, S.
/// Jegelka & S. Sra, *Fast DPP sampling for Nyström with application to kernel methods*, ICML 2016,
/// choose landmarks by it.
///
/// # Departures
/// The polynomials are tilted ([`ElementarySymmetric`]); items are drawn by rejection (Barthelmé,
/// Tremblay & Amblard, AISTATS 2023).
///
/// ```
/// use faer::mat;
/// use nystrom_dpp::LEnsemble;
/// use nystrom_linalg_core::Dense;
/// let k = mat![[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]];
/// let ensemble = LEnsemble::new(&Dense::new(k.as_ref())?)?;
/// let k_dpp = ensemble.k_dpp(2)?;
/// // det K_CC is 3, 2, 2 for {0, 1}, {0, 2}, {1, 2}: e_2 = 7
/// assert!((k_dpp.log_normaliser() - 7.0_f64.ln()).abs() < 1e-14);
/// assert!((k_dpp.log_probability(&[0, 2])? - (2.0 / 7.0_f64).ln()).abs() < 1e-14);
/// assert!((k_dpp.inclusion()[0] - 5.0 / 7.0).abs() < 1e-14);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExactKDpp<'a, T> {
    ensemble: &'a LEnsemble<T>,
    e: Arc<ElementarySymmetric>,
}

impl<T: Scalar> ExactKDpp<'_, T> {
    /// Draws c distinct items.
    ///
    /// # Randomness
    /// At most r uniforms for the eigenvectors, then two for every candidate item: about c ln c
    /// candidates, at most 1.4·c if n is small.
    pub fn sample(&self, rng: &mut dyn Rng) -> Landmarks {
        let S = self.e.sample(rng);
        let C = projection::draw(self.ensemble.vectors(), &S, rng);
        Landmarks::new(self.ensemble.dim(), C).expect("distinct items, at least one")
    }

    /// Pr(i ∈ C) for every i, n numbers that sum to c. O(rc + nr).
    pub fn inclusion(&self) -> Vec<f64> {
        self.ensemble.mixture(&self.e.inclusion())
    }

    /// ln e_c(K).
    pub fn log_normaliser(&self) -> f64 {
        self.e.log_e(self.e.size())
    }

    /// ln Pr(C) = ln det K_CC − ln e_c(K); −∞ if det K_CC = 0. O(rc²).
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if |C| ≠ c,
    /// [`IndexOutOfRange`](nystrom_linalg_core::Error::IndexOutOfRange),
    /// [`DuplicateIndex`](nystrom_linalg_core::Error::DuplicateIndex).
    pub fn log_probability(&self, C: &[usize]) -> Result<f64> {
        validate::same_size("items of C against the size of the k-DPP", self.e.size(), C.len())?;
        Ok(self.ensemble.log_det(C)? - self.log_normaliser())
    }

    /// E tr(K − K̃_C) = (c + 1)·e_{c+1}/e_c, exactly, where K̃_C is the Nyström approximation from
    /// the columns C.
    ///
    /// Proof: the residual of item i is det K_{C∪i}/det K_CC, and Σ_C Σ_{i ∉ C} det K_{C∪i} counts
    /// every set of c + 1 items c + 1 times.
    pub fn expected_trace_error(&self) -> f64 {
        (self.e.size() as f64 + 1.0) * self.e.ratio()
    }

    /// The polynomials e_0, …, e_{c+1}, for reuse by [`LEnsemble::k_dpp_by`].
    pub fn polynomials(&self) -> &Arc<ElementarySymmetric> {
        &self.e
    }
}

/// The unconstrained DPP with likelihood matrix K: Pr(C) = det K_CC / det(I + K) over all subsets,
/// including the empty one.
///
/// The size of a draw is random, with mean tr(K(K + I)⁻¹). A draw of m items takes O(r + nm + m³ ln
/// m) time.
///
/// # Source
/// J. B. Hough, M. Krishnapur, Y. Peres & B. Virág, *Determinantal processes and independence*,
/// Probability Surveys 3 (2006), Algorithm 18.
///
/// ```
/// use faer::mat;
/// use nystrom_dpp::LEnsemble;
/// use nystrom_linalg_core::Dense;
/// let k = mat![[1.0, 0.0], [0.0, 3.0]];
/// let ensemble = LEnsemble::new(&Dense::new(k.as_ref())?)?;
/// let dpp = ensemble.dpp();
/// assert!((dpp.expected_size() - (0.5 + 0.75)).abs() < 1e-14);
/// assert!((dpp.log_probability(&[])? + 8.0_f64.ln()).abs() < 1e-14); // 1/det(I + K) = 1/8
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ExactDpp<'a, T> {
    ensemble: &'a LEnsemble<T>,
}

impl<T: Scalar> ExactDpp<'_, T> {
    /// Draws distinct items, possibly none.
    ///
    /// # Randomness
    /// r uniforms for the eigenvectors, then two for every candidate item.
    pub fn sample(&self, rng: &mut dyn Rng) -> Vec<usize> {
        let lambda = self.ensemble.values();
        let S: Vec<usize> = (0..lambda.len())
            .filter(|&i| random::coin(lambda[i] / (1.0 + lambda[i]), rng))
            .collect();
        projection::draw(self.ensemble.vectors(), &S, rng)
    }

    /// Pr(i ∈ C) for every i: the diagonal of the marginal kernel K(K + I)⁻¹. O(nr).
    pub fn inclusion(&self) -> Vec<f64> {
        let w: Vec<f64> = self.ensemble.values().iter().map(|l| l / (1.0 + l)).collect();
        self.ensemble.mixture(&w)
    }

    /// E|C| = tr(K(K + I)⁻¹).
    pub fn expected_size(&self) -> f64 {
        self.ensemble.values().iter().map(|l| l / (1.0 + l)).sum()
    }

    /// ln det(I + K).
    pub fn log_normaliser(&self) -> f64 {
        self.ensemble.values().iter().map(|l| l.ln_1p()).sum()
    }

    /// ln Pr(C) = ln det K_CC − ln det(I + K); −∞ if det K_CC = 0. O(r|C|²).
    ///
    /// # Errors
    /// [`IndexOutOfRange`](nystrom_linalg_core::Error::IndexOutOfRange),
    /// [`DuplicateIndex`](nystrom_linalg_core::Error::DuplicateIndex).
    pub fn log_probability(&self, C: &[usize]) -> Result<f64> {
        Ok(self.ensemble.log_det(C)? - self.log_normaliser())
    }
}
