//! The report of a fit: sizes, choices, costs.

use crate::Problem;
use nystrom_kernels::Points;
use nystrom_linalg_core::Scalar;

/// How the linear system of a fit was solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum SolvedBy {
    /// Cholesky factorisation of the n × n matrix (exact kernel ridge regression).
    ExactCholesky,
    /// Normal equations whitened after the pass, and Cholesky.
    WhitenOnce,
    /// Normal equations of the whitened features, and Cholesky.
    NormalEquations,
    /// Streamed QR of the whitened features.
    Qr,
    /// One eigendecomposition for all ridges.
    Spectrum,
    /// Conjugate gradients with Falkon's preconditioner.
    Falkon,
    /// Conjugate gradients with KRILL's preconditioner.
    Krill,
    /// Conjugate gradients on the n × n system with a randomly pivoted Cholesky preconditioner.
    FullConjugateGradients,
}

/// Sizes, choices and costs of a fit, kept with the model.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FitReport {
    /// Number of samples.
    pub n: usize,
    /// Number of centres (n for exact kernel ridge regression).
    pub m: usize,
    /// Dimension of the points.
    pub d: usize,
    /// Number of targets.
    pub t: usize,
    /// Whether a constant was fitted for each target; it may be 0. False for a file without this
    /// field.
    #[cfg_attr(feature = "serde", serde(default))]
    pub intercept: bool,
    /// nλ as solved with: the ridge of the caller, or the rounding level of the features if the
    /// ridge was smaller and the solver was [`SolvedBy::Qr`].
    pub ridge: f64,
    /// δ in W + δI = RRᵀ (0 for exact kernel ridge regression).
    pub jitter: f64,
    /// How the system was solved.
    pub solver: SolvedBy,
    /// The reason for that solver, in words.
    pub reason: String,
    /// (max L_ii / min L_ii)² for the triangular factor L of the system: a lower bound on the
    /// condition number, often within a factor m of it. For an iterative fit, an estimate of the
    /// condition number of the preconditioned system by Ritz values.
    pub condition: f64,
    /// Number of kernel values evaluated.
    pub kernel_entries: u64,
    /// Number of Newton steps of a logistic regression, over all its columns and ridges so far; 0
    /// for other fits.
    #[cfg_attr(feature = "serde", serde(default))]
    pub steps: usize,
}

impl FitReport {
    /// For n samples with t targets and these centres. The caller adds the results.
    pub(crate) fn sized<T: Scalar>(
        solver: SolvedBy,
        n: usize,
        centers: Points<'_, T>,
        t: usize,
    ) -> Self {
        FitReport {
            n,
            m: centers.len(),
            d: centers.dim(),
            t,
            intercept: false,
            ridge: 0.0,
            jitter: 0.0,
            solver,
            reason: String::new(),
            condition: 1.0,
            kernel_entries: 0,
            steps: 0,
        }
    }

    /// For a fit of which every sample is a centre.
    pub(crate) fn of_all<T: Scalar>(solver: SolvedBy, samples: Problem<'_, T>) -> Self {
        Self::sized(solver, samples.x.len(), samples.x, samples.y.ncols())
    }
}
