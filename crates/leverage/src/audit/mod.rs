//! Measures the error of leverage scores on the user's own data: exact scores of random rows by
//! conjugate gradients.

mod iterate;
mod preconditioner;
mod report;

pub use report::{AuditReference, AuditReport};

use crate::{RecursiveNystrom, RecursiveRls, RecursiveSample, RidgeLeverage};
use nystrom_linalg_core::{Error, PsdMatrix, Result, Ridge, Scalar, random, validate};
use nystrom_sketch::{Draw, Landmarks};
use preconditioner::{Preconditioner, Streamed, Wide};
use rand::Rng;

/// Landmarks of the preconditioner per unit of effective dimension.
const LANDMARKS_PER_DEGREE: f64 = 4.0;

/// Compares an estimator's scores with the exact ones on random rows.
///
/// The exact score of row i is l_i = 1 − μ·e_iᵀ(K + μI)⁻¹e_i. All `rows` systems (K + μI)z = e_i
/// are solved together by conjugate gradients, preconditioned with a Nyström approximation K̃ ⪯ K;
/// products with K evaluate one triangle of K. An approximate solution z with residual r = e_i −
/// (K + μI)z gives the bounds
///
/// l_i ∈ \[u_i − δ_i, u_i\], u_i = 1 − μ(e_iᵀz + zᵀr), δ_i = μ·rᵀ(K̃ + μI)⁻¹r,
///
/// because zᵀe_i + zᵀr + rᵀ(K + μI)⁻¹r = e_iᵀ(K + μI)⁻¹e_i and K̃ ⪯ K. The error of u_i is thus
/// one-sided, quadratic in the residual, and bounded at every step without extra work, because the
/// iteration computes rᵀ(K̃ + μI)⁻¹r anyway. A system is iterated only until its score is known to
/// `accuracy`.
///
/// The preconditioner's landmarks are drawn in proportion to over-estimates of the scores at the
/// ridge itself, four per unit of effective dimension, so that K − K̃ is a fraction of μ and a few
/// steps suffice. Their number is limited to `landmarks` and to √(n·rows), at which the
/// preconditioner costs as much as one step; where a limit applies, more steps are needed.
///
/// # Cost
/// A step evaluates n²/2 + 128n entries and takes 2n² flops per unfinished system: **time is
/// quadratic in n**. Memory is O(n·rows + m²) for m landmarks of the preconditioner. Building the
/// preconditioner takes n·m entries and 2n·m² flops; its application evaluates 2n·m entries per
/// step. Vectors are `f64` for entries of either precision.
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
/// // with 95 % confidence, less than 3 % of all rows are over-estimated by a larger factor
/// assert!(report.unseen_fraction(0.95)? < 0.03);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Audit {
    /// Number of rows compared, drawn uniformly without replacement; all n rows if n is smaller.
    pub rows: usize,
    /// Most landmarks of the preconditioner. Its factors take up to about 64·`landmarks`² bytes.
    pub landmarks: usize,
    /// Target for the relative error of the exact scores, in (0, 1).
    pub accuracy: f64,
    /// Most iterations of conjugate gradients.
    pub max_iterations: usize,
}

impl Default for Audit {
    /// 100 rows, at most 3000 landmarks, relative error 1e-3, 100 iterations.
    fn default() -> Self {
        Audit { rows: 100, landmarks: 3000, accuracy: 1e-3, max_iterations: 100 }
    }
}

impl Audit {
    /// Exact scores of random rows, for comparison with any number of estimates.
    ///
    /// # Randomness
    /// The rows, drawn without replacement; then a run of [`RecursiveRls`] and the landmarks of the
    /// preconditioner, drawn without replacement by its scores. If that run would keep more rows
    /// than the limit on landmarks, or finds no landmark, [`RecursiveNystrom`] draws the landmarks.
    ///
    /// # Errors
    /// [`Error::Empty`] if n, `rows`, `landmarks` or `max_iterations` is 0;
    /// [`Error::InvalidParameter`] for an accuracy outside (0, 1); those of [`Ridge::absolute`] and
    /// of [`RecursiveNystrom`]. Reaching `max_iterations` is no error: the bounds then show the
    /// accuracy reached, and [`AuditReference::check`] returns an error.
    pub fn reference<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        ridge: Ridge<T>,
        rng: &mut dyn Rng,
    ) -> Result<AuditReference> {
        let mu = self.check(k, ridge)?;
        let rows = random::uniform_subset(k.dim(), self.rows.min(k.dim()), rng)?;
        let landmarks = self.landmarks_at(k, mu, rng)?;
        let wide = Wide(k);
        let P = Preconditioner::new(Streamed::new(&wide, &landmarks)?, &[mu.f64()])?; // K̃ + μI
        let (bounds, iterations) =
            iterate::bounds(k, &P, mu.f64(), &rows, self.accuracy, self.max_iterations)?;
        AuditReference::new(rows, &bounds, mu.f64(), landmarks.len(), iterations, self.accuracy)
    }

    fn landmarks_at<T: Scalar>(
        &self,
        k: &dyn PsdMatrix<T>,
        mu: T,
        rng: &mut dyn Rng,
    ) -> Result<Landmarks> {
        // with this m the preconditioner takes 2nm² flops, as many as one step
        let balanced = (k.dim() as f64 * self.rows as f64).sqrt().ceil() as usize;
        let most = self.landmarks.min(balanced).min(k.dim());
        let coarse = RecursiveRls { max_size: most, ..RecursiveRls::with_oversampling(1.0) };
        let scores = match coarse.sample(k, Ridge::Absolute(mu), rng) {
            Ok(RecursiveSample { over_estimates, .. }) => over_estimates,
            Err(Error::SampleTooLarge { .. }) => vec![],
            Err(error) => return Err(error),
        };
        let d_eff: f64 = scores.iter().map(|tau| tau.f64()).sum();
        let available = scores.iter().filter(|tau| **tau > T::zero()).count();
        let wanted = (LANDMARKS_PER_DEGREE * d_eff).ceil() as usize;
        match wanted.min(available).min(most) {
            0 => RecursiveNystrom { accelerated: true }
                .sample(k, most, rng)
                .map(|sample| sample.landmarks),
            m => Landmarks::draw(&scores, m, Draw::WithoutReplacement, rng),
        }
    }

    /// Compares the given scores of all n rows.
    ///
    /// # Randomness
    /// That of [`reference`](Self::reference).
    ///
    /// # Errors
    /// As [`reference`](Self::reference) and [`AuditReference::compare`]; the scores are checked
    /// before any work.
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

    /// Runs an estimator, then compares its scores.
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
        validate::require(
            self.accuracy > 0.0 && self.accuracy < 1.0,
            "accuracy",
            self.accuracy,
            "strictly between 0 and 1: the relative error of the exact scores",
        )?;
        ridge.absolute(k.dim())
    }
}
