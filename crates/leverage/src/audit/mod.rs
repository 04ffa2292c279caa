//! How far scores are from the truth, on the user's own data: exact scores of random rows by conjugate gradients.

mod report;
mod system;

pub use report::{AuditReference, AuditReport};

use crate::{RidgeLeverage, recursive_nystrom};
use faer::Mat;
use nystrom_linalg_core::{Error, PcgOptions, PsdMatrix, Result, Ridge, Scalar, pcg, random, validate};
use rand::Rng;
use system::Preconditioner;

/// Compares an estimator's scores with the exact ones on random rows.
///
/// The exact score of row i is l_i = 1 − μ·e_iᵀ(K + μI)⁻¹e_i. All `rows` systems (K + μI)z = e_i are solved together by conjugate
/// gradients, preconditioned with the Nyström approximation of `landmarks` rows; products with K go over square tiles and use
/// each entry twice. From z with true residual r = e_i − (K + μI)z follows
///
/// l_i ∈ \[u_i − e_i, u_i\], u_i = 1 − μ(e_iᵀz + zᵀr), e_i = μ·rᵀ(K̃ + μI)⁻¹r,
///
/// because zᵀe_i + zᵀr + rᵀ(K + μI)⁻¹r = e_iᵀ(K + μI)⁻¹e_i and K̃ ⪯ K. The error of the score is thus quadratic in the residual,
/// one-sided, and known without trusting the iteration (up to rounding).
///
/// Per iteration and once more at the end n²/2 entries are evaluated (n(n + 1024)/2 at most), with O(n·rows) memory: **time is
/// quadratic in n**, memory is not. The preconditioner takes n·landmarks entries to build and 2n·landmarks to apply.
///
/// ```
/// use faer::Mat;
/// use nystrom_leverage::{Audit, BlessR};
/// use nystrom_linalg_core::{Dense, Ridge};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(1000, 1000, |i, j| (-((i as f64 - j as f64) / 100.0).powi(2)).exp());
/// let (k, ridge) = (Dense::new(k.as_ref())?, Ridge::PerSample(1e-3));
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let bless = BlessR { oversampling: 20.0, ..BlessR::default() };
/// let report = Audit::default().of_estimator(&k, ridge, &bless, &mut rng)?;
/// assert!(report.largest_overestimate().1 < 2.0 && report.largest_underestimate().1 < 2.0);
/// assert!(report.reference.largest_relative_error() < 1e-2);
/// // What lies outside of what was seen: with 95 % confidence less than 3 % of all rows are over-estimated more.
/// assert!(report.unseen_fraction(0.95)? < 0.03);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Audit {
    /// Rows compared, drawn uniformly without replacement; all if there are fewer.
    pub rows: usize,
    /// Landmarks of the preconditioner, chosen by [`recursive_nystrom`] (accelerated); all if there are fewer.
    pub landmarks: usize,
    /// Relative error of the exact scores aimed at, in (0, 1).
    pub accuracy: f64,
    /// Most iterations.
    pub max_iterations: usize,
}

impl Default for Audit {
    /// 100 rows, 1000 landmarks, relative error 1e-3, 100 iterations.
    fn default() -> Self {
        Audit { rows: 100, landmarks: 1000, accuracy: 1e-3, max_iterations: 100 }
    }
}

impl Audit {
    /// Exact scores of random rows, to compare any number of estimates with.
    ///
    /// # Randomness
    /// The rows without replacement, then [`recursive_nystrom`] for the preconditioner.
    ///
    /// # Errors
    /// [`Error::Empty`] if n, `rows`, `landmarks` or `max_iterations` is 0; [`Error::InvalidParameter`] for an accuracy outside (0, 1);
    /// those of [`Ridge::absolute`] and of [`recursive_nystrom`]. Iterations that run out are no error: the bounds say what was
    /// reached ([`AuditReference::check`] makes them one).
    pub fn reference<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<AuditReference> {
        let mu = self.check(k, ridge)?;
        let rows = random::uniform_subset(k.dim(), self.rows.min(k.dim()), rng)?;
        let landmarks = recursive_nystrom(k, self.landmarks.min(k.dim()), true, rng)?.landmarks;
        let P = Preconditioner::new(k, &landmarks, mu)?; // K̃ + μI
        let e = system::unit_columns(k.dim(), &rows);
        let options = PcgOptions { tolerance: self.residual_goal(&P, &e)?, max_iterations: self.max_iterations };
        let mut Az = Mat::zeros(e.nrows(), e.ncols());
        let mut apply = |mut out: faer::MatMut<'_, T>, x: faer::MatRef<'_, T>| {
            system::multiply(k, mu, out.rb_mut(), x);
            Az.copy_from(out.rb()); // the last product pcg takes is that of the true residual
        };
        let (z, report) = pcg(&mut apply, &mut |out, r| P.solve_into(out, r), e.as_ref(), None, &options)?;
        let r = &e - Az;
        let mut Pr = Mat::zeros(r.nrows(), r.ncols());
        P.solve_into(Pr.as_mut(), r.as_ref());
        let bounds = (0..rows.len()).map(|j| {
            let (z, r, Pr) = (z.col(j), r.col(j), Pr.col(j));
            let upper = 1.0 - mu.f64() * (z[rows[j]].f64() + system::dot(z, r));
            (upper, mu.f64() * system::dot(r, Pr), system::dot(r, r).sqrt())
        });
        AuditReference::new(rows.clone(), bounds.collect(), mu.f64(), &report, self.accuracy)
    }

    /// Compares the given scores of all n rows.
    ///
    /// # Randomness
    /// That of [`reference`](Self::reference).
    ///
    /// # Errors
    /// As [`reference`](Self::reference) and [`AuditReference::compare`], the latter's before any work.
    pub fn of_scores<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        scores: &[T],
        rng: &mut dyn Rng,
    ) -> Result<AuditReport> {
        report::check_scores(k.dim(), scores)?;
        self.reference(k, ridge, rng)?.compare(scores)
    }

    /// Runs an estimator, then compares what it found.
    ///
    /// # Randomness
    /// That of the estimator, then that of [`reference`](Self::reference).
    ///
    /// # Errors
    /// Those of the estimator and of [`reference`](Self::reference).
    pub fn of_estimator<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        estimator: &dyn RidgeLeverage<T>,
        rng: &mut dyn Rng,
    ) -> Result<AuditReport> {
        self.check(k, ridge)?;
        let scores = estimator.scores(k, ridge, rng)?;
        self.of_scores(k, ridge, &scores, rng)
    }

    fn check<T: Scalar>(&self, k: &dyn PsdMatrix<T>, ridge: Ridge<T>) -> Result<T> {
        validate::not_empty("matrix", k.dim())?;
        validate::not_empty("rows to audit", self.rows)?;
        validate::not_empty("landmarks of the preconditioner", self.landmarks)?;
        validate::not_empty("iterations", self.max_iterations)?;
        if !(self.accuracy > 0.0 && self.accuracy < 1.0) {
            let requirement = "strictly between 0 and 1: the relative error of the exact scores";
            return Err(Error::InvalidParameter { name: "accuracy", value: self.accuracy, requirement });
        }
        ridge.absolute(k.dim())
    }

    /// ‖r‖² ≤ accuracy·l_i for every row suffices, since e_i ≤ ‖r‖²; l_i is at least the score of K̃, 1 − μe_iᵀ(K̃ + μI)⁻¹e_i.
    fn residual_goal<T: Scalar>(&self, P: &Preconditioner<'_, T>, e: &Mat<T>) -> Result<f64> {
        let mut Pe = Mat::zeros(e.nrows(), e.ncols());
        P.solve_into(Pe.as_mut(), e.as_ref());
        let score = |j| 1.0 - P.mu().f64() * system::dot(e.col(j), Pe.col(j));
        let smallest = (0..e.ncols()).map(score).filter(|l| *l > 4.0 * T::EPS).fold(1.0, f64::min);
        Ok((self.accuracy * smallest).sqrt().max(16.0 * T::EPS))
    }
}

use faer::reborrow::*;
