//! Bounds on the distance of a fit from exact kernel ridge regression, without computing the
//! latter.

mod bound;
mod dual;
mod passes;
mod report;
mod tight;

pub use report::{CertificateReport, Closeness, TargetCertificate};
pub use tight::{CertificateCost, TightCertificate};

use crate::KrrModel;
use crate::Problem;
use dual::Dual;
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Error, Result, Scalar, random, validate};
use rand::Rng;
use report::Lengths;

/// An upper bound on the distance of a fit f from exact kernel ridge regression f_K at the training
/// points, from few rows of K. [`TightCertificate`] bounds it from both sides, from all rows.
///
/// # What is bounded
/// With μ the ridge of the fit and α = (y − f)/μ, exact algebra gives, for *any* vector f of
/// predictions at the training points,
///
/// ```text
/// f_K − f = μ(K + μI)⁻¹(Kα − f),      hence      ‖f_K − f‖ ≤ ‖Kα − f‖,
/// ```
///
/// because (K + μI)(f_K − f) = K(y − f) − μf. Nothing but K ⪰ 0 is used. Suppose f = Lα with 0 ⪯ L
/// ⪯ K, as for Nyström regression. Then the right side is ‖Eα‖ with E = K − L. As (K + μI)⁻² ⪯ (K +
/// μI)⁻¹/μ ⪯ (E + μI)⁻¹/μ, there is a second bound, the better one where the first exceeds the
/// residuals:
///
/// ```text
/// ‖f_K − f‖² ≤ μ αᵀE(E + μI)⁻¹Eα ≤ μ αᵀEα·‖E‖/(‖E‖ + μ) ≤ ‖y − f‖·‖Eα‖·tr E/(tr E + μ).
/// ```
///
/// The smaller of the two is reported. f_K has the λ of the fit. The distance is that at the
/// training points; the distance at new points is not bounded. Both bounds are loose where K has
/// eigenvalues above μ.
///
/// With weights all norms and sums are weighted (√w_i f_i in place of f_i, α_i = w_i(y_i − f_i)/μ).
/// If the model has a constant, so has f_K. The identity then holds with a smaller matrix in place
/// of (K + μI)⁻¹, if Σα_i = 0. A mean residual that is not 0 is subtracted from f first, and its
/// size is added to the bound.
///
/// # How few rows suffice
/// Let L be the Nyström approximation of the model's centres. Lα − f is computed at all points; it
/// is 0 up to rounding for [`NystromKrr`](crate::NystromKrr). Its norm is added to both bounds. A
/// bound on ρ = Eα remains to be found. As E ⪰ 0, by Cauchy and Schwarz twice,
///
/// ```text
/// ρ_i² ≤ E_ii·αᵀEα ≤ E_ii·‖α‖·‖ρ‖.
/// ```
///
/// Rows i_1, …, i_s are drawn with replacement, p_i = E_ii/tr E. Then X_k = ρ²/p at row i_k has
/// mean q² = ‖ρ‖² and lies in \[0, aq\], where a = tr E·‖α‖ (the *trace bound*: q ≤ a). Hoeffding's
/// inequality for the mean X̄ of s such numbers, P(X̄ ≤ x) ≤ exp(−s·kl(x/aq, q/a)) for x ≤ q², is
/// solved for q:
///
/// ```text
/// with probability 1 − δ:   ‖ρ‖ ≤ max { q ≤ a : kl(X̄/(aq), q/a) ≤ ln(1/δ)/s },
/// kl(x, p) = x ln(x/p) + (1 − x) ln((1 − x)/(1 − p)).
/// ```
///
/// No variance is estimated and nothing is assumed about the other rows. Therefore the bound is
/// about a·ln(1/δ)/s even for X̄ = 0: a hundredth of the trace bound for s = 460 and δ = 0.01. With
/// several targets each has δ/t. If s ≥ n, all rows are evaluated and the bound holds with
/// certainty.
///
/// # Cost
/// 2nm + sn + m² kernel values and nm² + m³/3 flops; memory O(m² + nt + 1024·(m + s)). The bits do
/// not depend on the number of threads.
///
/// # Source
/// The identity is elementary. W. Hoeffding, *Probability inequalities for sums of bounded random
/// variables*, J. Amer. Statist. Assoc. 58 (1963), Theorem 1.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::{Certificate, Closeness, NystromKrr};
/// use nystrom_linalg_core::Ridge;
/// use nystrom_sketch::Landmarks;
/// use rand::SeedableRng;
/// let rng = &mut rand_pcg::Pcg64::seed_from_u64(0);
/// let x: Vec<f64> = (0..2000).map(|i| i as f64 / 200.0).collect();
/// let y = Mat::from_fn(2000, 1, |i, _| x[i].sin() + if i % 2 == 0 { 0.1 } else { -0.1 });
/// let (points, krr) =
///     (Points::from_slice(&x), NystromKrr::new(Gaussian::new(1.0)?, Ridge::PerSample(1e-4)));
/// let certify = |step: usize, rng: &mut rand_pcg::Pcg64| {
///     let landmarks = Landmarks::new(2000, (0..2000).step_by(step).collect())?;
///     let model = krr.fit((points, &y), &landmarks)?;
///     Certificate::default().certify(&model, (points, &y), rng)
/// };
/// let report = certify(100, rng)?; // 20 landmarks
/// let target = &report.targets[0];
/// println!(
///     "within {:.1e} of exact KRR, where the residuals are {:.1e}",
///     target.bound, target.residual
/// );
/// assert!(target.bound < 0.05 * target.residual && report.closeness() == Closeness::Close);
/// // 4 landmarks are not enough
/// assert!(matches!(certify(500, rng)?.closeness(), Closeness::Far { .. }));
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Certificate {
    /// s, the number of rows drawn; if s ≥ n all n rows are evaluated.
    pub rows: usize,
    /// 1 − δ: the probability, over the draw of rows, that the bound holds (for all targets
    /// together).
    pub confidence: f64,
    /// The fit counts as close to exact regression if their distance is at most this times the root
    /// mean square of the residuals y − f.
    pub tolerance: f64,
}

impl Default for Certificate {
    /// 1000 rows, 99 % confidence, a tenth of the residuals.
    fn default() -> Self {
        Certificate { rows: 1000, confidence: 0.99, tolerance: 0.1 }
    }
}

impl Certificate {
    /// Compares `model` with the exact regression of the data that it was fitted to: y (n × t) at
    /// the n points x.
    ///
    /// # Randomness
    /// One uniform per row; none if all n rows are evaluated.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers of points, targets or coordinates are not those of the fit;
    /// [`Error::NonFinite`]; [`Error::Empty`] for 0 rows. [`Error::InvalidParameter`] for a
    /// confidence outside (0, 1) or a tolerance that is not positive.
    pub fn certify<'a, T: Scalar, K: Kernel<T> + Clone>(
        &self,
        model: &KrrModel<K, T>,
        problem: impl Into<Problem<'a, T>>,
        rng: &mut dyn Rng,
    ) -> Result<CertificateReport> {
        let samples = problem.into();
        check_fit(model, samples)?;
        self.check_options()?;
        let (n, t, s) = (samples.x.len(), samples.y.ncols(), self.rows);
        // α, Lα − f at all points; E_ii
        let dual = Dual::new(model, samples)?;
        let trace: f64 = dual.residual_diagonal.iter().sum(); //               tr E
        let draws = if s >= n {
            (0..n).collect()
        } else if trace > 0.0 {
            random::with_replacement(&dual.residual_diagonal, s, rng)?
        } else {
            Vec::new()
        };
        // ρ = Eα in those rows
        let (rho, evaluated) = dual.rows(model.kernel(), samples, &draws);
        let target = |j: usize| {
            let p = |i: usize| dual.residual_diagonal[i] / trace;
            let of = |(k, &i)| [rho[(k, j)], dual.gap[(i, j)], p(i)];
            (dual.lengths(j), draws.iter().enumerate().map(of).collect())
        };
        let entries = dual.kernel_entries + (evaluated * n) as u64;
        self.report([n, t], [dual.mu, trace], entries, target)
    }

    /// The report for n rows and t targets, at μ and tr E, from the lengths of target j and \[ρ_i,
    /// gap_i, p_i\] of each row drawn.
    fn report(
        &self,
        [n, t]: [usize; 2],
        [ridge, trace_error]: [f64; 2],
        kernel_entries: u64,
        found: impl Fn(usize) -> (Lengths, Vec<[f64; 3]>),
    ) -> Result<CertificateReport> {
        let (s, delta) = (self.rows, (1.0 - self.confidence) / t as f64);
        let target = |j: usize| {
            let (lengths, rows) = found(j);
            if s < n { lengths.sampled(&rows, s, delta) } else { lengths.exhaustive(&rows) }
        };
        Ok(CertificateReport {
            n,
            rows: s.min(n),
            passes: 0,
            confidence: if s < n { self.confidence } else { 1.0 },
            tolerance: self.tolerance,
            ridge,
            trace_error,
            kernel_entries,
            delta,
            targets: without_nan((0..t).map(target).collect())?,
        })
    }

    fn check_options(&self) -> Result<()> {
        validate::not_empty("rows to draw", self.rows)?;
        validate::positive("tolerance", self.tolerance)?;
        validate::require(
            self.confidence > 0.0 && self.confidence < 1.0,
            "confidence",
            self.confidence,
            "strictly between 0 and 1, such as 0.99",
        )
    }
}

const POINTS: &str = "points against those the model was fitted to";

/// Returns a typed error if `samples` cannot be the data that `model` was fitted to.
fn check_fit<T: Scalar, K: Kernel<T>>(
    model: &KrrModel<K, T>,
    samples: Problem<'_, T>,
) -> Result<()> {
    samples.check(model.kernel())?;
    model.centers().check_same_dim(samples.x)?;
    validate::same_size(POINTS, model.report().n, samples.x.len())?;
    validate::same_size(
        "targets against those of the model",
        model.coefficients().ncols(),
        samples.y.ncols(),
    )
}

/// Returns a typed error if a bound or a residual overflowed.
fn without_nan(targets: Vec<TargetCertificate>) -> Result<Vec<TargetCertificate>> {
    let lost = |target: &TargetCertificate| target.bound.is_nan() || target.residual.is_nan();
    match targets.iter().position(lost) {
        None => Ok(targets),
        Some(row) => {
            let what = "certificate (scale the targets, or fit with a larger ridge)";
            Err(Error::NonFinite { what, row, col: 0, value: f64::NAN })
        }
    }
}
