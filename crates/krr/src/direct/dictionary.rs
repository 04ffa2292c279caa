//! Kernel ridge regression through a weighted dictionary, as of a stream.

use crate::features::{FeatureRows, KernelRows, Whitener};
use crate::{Centers, KrrModel, Problem, Solver};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Result, Ridge, Scalar};

/// Kernel ridge regression with K replaced by the regularised Nyström approximation of a weighted
/// dictionary D:
///
/// ```text
/// w̃ = (L_γ + μI)⁻¹y,   L_γ = KS(SᵀKS + γI)⁻¹SᵀK,   f̂ = L_γw̃ at the points,
///     f̂(x) = Σ_j θ_j k(x, z_j) anywhere,  z_j ∈ D.
/// ```
///
/// With the dictionary of SQUEAK this is the regression over all points of the stream so far. If
/// the dictionary is (ε, γ)-accurate, 0 ⪯ K − L_γ ⪯ γ/(1 − ε)·I. The risk at fixed design is then
/// at most (1 + (γ/μ)/(1 − ε))² times that of exact regression with μ. Unlike in
/// [`NystromKrr`](crate::NystromKrr), the weights have an influence, and γ bounds the condition
/// number.
///
/// # Cost
/// That of [`NystromKrr`](crate::NystromKrr): nm + m² kernel values and at most 2nm² + m³ flops in
/// one pass over x and y, O(m² + 1024·m) memory.
///
/// # Source
/// Calandriello, Lazaric & Valko, AISTATS 2017 (arXiv:1803.10172); the inversion is Woodbury's,
/// w̃ = (y − B(BᵀB + μI)⁻¹Bᵀy)/μ, BBᵀ = L_γ.
///
/// ```
/// use faer::Mat;
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_krr::DictionaryKrr;
/// use nystrom_linalg_core::Ridge;
/// let x: Vec<f64> = (0..200).map(|i| i as f64 / 100.0).collect();
/// let y = Mat::from_fn(200, 1, |i, _| (4.0 * x[i]).sin());
/// // every tenth point, each standing for ten
/// let centers: Vec<f64> = x.iter().copied().step_by(10).collect();
/// let krr = DictionaryKrr {
///     kernel: Gaussian::new(0.3)?,
///     gamma: Ridge::Absolute(1e-6),
///     ridge: Ridge::Absolute(1e-6),
/// };
/// let model =
///     krr.fit((Points::from_slice(&x), &y), (Points::from_slice(&centers), &[10.0; 20]))?;
/// let f = model.predict(Points::from_slice(&[0.123]))?;
/// assert!((f[(0, 0)] - 0.492_f64.sin()).abs() < 1e-2);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DictionaryKrr<K, T> {
    /// The kernel k.
    pub kernel: K,
    /// γ, the ridge that the dictionary was made for. For a stream it is [`Ridge::Absolute`],
    /// because n was not known.
    pub gamma: Ridge<T>,
    /// μ, the ridge of the regression.
    pub ridge: Ridge<T>,
}

impl<T: Scalar, K: Kernel<T> + Clone> DictionaryKrr<K, T> {
    /// Fits y (n × t) at the n points x of the problem through the dictionary of `centers` with
    /// their weights s_j²: a `&Dictionary`, or points and weights.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n, d, t or the dictionary is.
    /// [`Shape`](nystrom_linalg_core::Error::Shape) for sizes that do not fit.
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite).
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for a γ, μ or weight that
    /// is not positive and finite.
    pub fn fit<'a>(
        &self,
        problem: impl Into<Problem<'a, T>>,
        centers: impl Into<Centers<'a, T>>,
    ) -> Result<KrrModel<K, T>> {
        let (problem, centers) = (problem.into(), centers.into());
        problem.check(&self.kernel)?;
        let n = problem.x.len();
        let (z, weights) = (centers.points(problem.x, &self.kernel)?, centers.weights(n)?);
        let centers = z.points();
        let (gamma, mu) = (self.gamma.absolute(n)?.f64(), self.ridge.absolute(n)?.f64());
        // LLᵀ = W + γ diag(1/s²), so that B = CL⁻ᵀ
        let W = self.kernel.gram(centers);
        let whitener = Whitener::regularised(W.as_ref(), |j| gamma / weights[j])?;
        let source = KernelRows::new(&self.kernel, centers, None);
        let mut rows = FeatureRows::new(&problem, &source, &whitener, false)?;
        // β = (BᵀB + μI)⁻¹Bᵀy
        let (solution, report) = Solver::Auto.solve_at(&source, &mut rows, mu)?;
        let theta = whitener.unwhiten(solution.beta); //                           θ = L⁻ᵀβ
        KrrModel::from_parts(self.kernel.clone(), centers, theta.as_ref(), None, report)
    }
}
