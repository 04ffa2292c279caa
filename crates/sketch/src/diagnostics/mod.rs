//! Diagnostics of a sketch for a given K: the quantities in the theory of sketched kernel ridge
//! regression, computed exactly from the eigendecomposition of K.

mod accumulation_size;

pub use accumulation_size::{AccumulationSize, SizeConstants};

use crate::Sketch;
use faer::reborrow::*;
use faer::{Accum, Mat, MatRef};
use nystrom_linalg_core::{PsdMatrix, Result, Scalar, SymmetricEigen, ops, validate};

/// A `head` above 1 − ROUNDING counts as 1: Sᵀ may map a vector in the span of U₁ to 0.
const ROUNDING: f64 = 1e-10;

/// The eigendecomposition K/n = UΣUᵀ, and the quantities that Chen & Yang's theory of sketched
/// kernel ridge regression derives from it at a level δ > 0: d_δ, K-satisfiability, incoherence,
/// and the sizes d and m of an accumulation.
///
/// **n × n by definition**: K and U are stored, and the decomposition takes 9n³ flops once. Meant
/// for n up to about 5000; for more points use a random subset, for which δ keeps its meaning,
/// because it is a level for the eigenvalues of K/n.
///
/// # Source
/// Y. Chen, Y. Yang, *Accumulations of Projections*, AISTATS 2021 (arXiv:2103.04031), Definition
/// 3.1, Theorems 3.4 and 3.6.
///
/// # Departures
/// Theorem 3.6 as printed has Ψ_δ = \[Σ(Σ + nδI)\]^{−1/2}Uᵀ, with two misprints. As Σ are the
/// eigenvalues of K/n, nδ must be δ; and only the second factor is inverted:
/// Ψ_δ = \[Σ(Σ + δI)⁻¹\]^{1/2}Uᵀ. With this Ψ_δ, ‖Ψ_δ‖²_F is the statistical dimension, as stated
/// below the theorem, and Σ₂^{1/2}U₂ᵀS = (Σ₂ + δI)^{1/2}(Ψ_δ)₂S, as used in its proof. The paper
/// does not give its constants; see [`SizeConstants`].
///
/// ```
/// use faer::Mat;
/// use nystrom_linalg_core::Dense;
/// use nystrom_sketch::{GaussianSketch, SketchDiagnostics};
/// use rand::SeedableRng;
/// let k = Mat::from_fn(100, 100, |i, j| (-((i as f64 - j as f64) / 20.0).powi(2)).exp());
/// let diagnostics = SketchDiagnostics::new(&Dense::new(k.as_ref())?)?;
/// assert_eq!(diagnostics.d_delta(1e-3)?, 9);
/// let s = GaussianSketch.sample::<f64>(100, 90, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// let found = diagnostics.satisfiability(&s, 1e-3)?;
/// assert!(found.head < 0.8 && found.tail < 2.0);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SketchDiagnostics {
    /// σ_1 ≥ … ≥ σ_n ≥ 0 of K/n.
    sigma: Vec<f64>,
    U: Mat<f64>,
}

impl SketchDiagnostics {
    /// Computes the eigendecomposition of K/n.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n = 0,
    /// [`NonFinite`](nystrom_linalg_core::Error::NonFinite), `EigenFailure`.
    pub fn new<T: Scalar>(k: &dyn PsdMatrix<T>) -> Result<Self> {
        let n = k.dim();
        validate::not_empty("matrix", n)?;
        let K = k.block((0..n).into(), (0..n).into());
        let eigen =
            SymmetricEigen::new(Mat::from_fn(n, n, |i, j| K[(i, j)].f64() / n as f64).as_ref())?;
        let sigma = eigen.values().iter().map(|s| s.max(0.0)).collect();
        Ok(SketchDiagnostics { sigma, U: eigen.vectors().to_owned() })
    }

    /// n, the order of K.
    pub fn n(&self) -> usize {
        self.sigma.len()
    }

    /// The eigenvalues σ_1 ≥ … ≥ σ_n ≥ 0 of K/n.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.sigma
    }

    /// d_δ = min{i : σ_i ≤ δ} − 1, the number of eigenvalues of K/n above δ.
    ///
    /// # Errors
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) unless δ is positive and
    /// finite.
    pub fn d_delta(&self, delta: f64) -> Result<usize> {
        validate::positive("level delta", delta)?;
        Ok(self.sigma.partition_point(|&s| s > delta))
    }

    /// Σ_i σ_i/(σ_i + δ), the statistical (effective) dimension at the per-sample ridge λ = δ.
    ///
    /// # Errors
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) unless δ is positive and
    /// finite.
    pub fn statistical_dimension(&self, delta: f64) -> Result<f64> {
        validate::positive("level delta", delta)?;
        Ok(self.sigma.iter().map(|s| s / (s + delta)).sum())
    }

    /// Both norms of Definition 3.1 for the sketch S (n × d) at the level δ. 2n²d flops.
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if S does not have n rows; `InvalidParameter`
    /// for δ.
    pub fn satisfiability<T: Scalar>(
        &self,
        sketch: &dyn Sketch<T>,
        delta: f64,
    ) -> Result<Satisfiability> {
        validate::same_size(
            "order of the matrix against rows of the sketch",
            self.n(),
            sketch.n(),
        )?;
        let d_delta = self.d_delta(delta)?;
        let S = sketch.to_dense();
        let mut UtS = ops::times(self.U.transpose(), S.as_ref());
        let (head, mut tail) = UtS.split_at_row_mut(d_delta); //                      U₁ᵀS, U₂ᵀS
        for (row, sigma) in tail.rb_mut().row_iter_mut().zip(&self.sigma[d_delta..]) {
            row.iter_mut().for_each(|s| *s *= sigma.sqrt()); //                   Σ₂^{1/2}U₂ᵀS
        }
        let mut identity_error = gram(head.transpose()); //                       U₁ᵀSSᵀU₁ − I
        ops::add_to_diagonal(identity_error.as_mut(), -1.0);
        Ok(Satisfiability {
            delta,
            d_delta,
            head: spectral_norm(identity_error.as_ref())?,
            tail: (spectral_norm(gram(tail.rb()).as_ref())? / delta).sqrt(),
        })
    }

    /// M = max_i max(‖ψ̃_i‖², ‖ψ_i‖² − ‖ψ̃_i‖²)/p_i, the incoherence of the sampling probabilities
    /// p with K at the level δ. M is ∞ if p_i = 0 for a row with ψ_i ≠ 0 (beyond rounding).
    ///
    /// ψ_i is column i of \[Σ(Σ + δI)⁻¹\]^{1/2}Uᵀ, and ψ̃_i are its first d_δ entries, so that
    /// ‖ψ_i‖² is the leverage score l_i(δ). For p ∝ l(δ), M ≤ Σ_i l_i, the smallest possible order;
    /// for uniform p (`None`), M ≤ n·max_i l_i. O(n²).
    ///
    /// # Errors
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the number of probabilities, which need not
    /// be normalised, is not n; [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight);
    /// `InvalidParameter` for δ.
    pub fn incoherence(&self, delta: f64, probabilities: Option<&[f64]>) -> Result<f64> {
        let (n, d_delta) = (self.n(), self.d_delta(delta)?);
        let total = match probabilities {
            None => n as f64,
            Some(p) => {
                validate::same_size(
                    "sampling probabilities against order of the matrix",
                    n,
                    p.len(),
                )?;
                validate::weights("sampling probabilities", p)?
            }
        };
        let filter: Vec<f64> = self.sigma.iter().map(|s| s / (s + delta)).collect();
        // errors of nεσ_1 in the eigenvalues can make the score of a zero row positive
        let rounding = n as f64 * f64::EPSILON * self.sigma[0] / delta;
        let part = |i: usize, range: std::ops::Range<usize>| {
            range.map(|j| filter[j] * self.U[(i, j)].powi(2)).sum()
        };
        let of_row = |i: usize| {
            let (first, rest): (f64, f64) = (part(i, 0..d_delta), part(i, d_delta..n));
            let (p, largest) = (probabilities.map_or(1.0, |p| p[i]) / total, first.max(rest));
            let zero = if p > 0.0 { 0.0 } else { rounding };
            if largest <= zero { 0.0 } else { largest / p }
        };
        Ok((0..n).map(of_row).fold(0.0, f64::max))
    }
}

/// The two norms of Definition 3.1 (K-satisfiability) for one sketch, level and K.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Satisfiability {
    /// The level δ.
    pub delta: f64,
    /// d_δ, the number of eigenvalues of K/n above δ.
    pub d_delta: usize,
    /// ‖U₁ᵀSSᵀU₁ − I‖₂, where U₁ are the eigenvectors of K/n with σ > δ.
    pub head: f64,
    /// ‖SᵀU₂Σ₂^{1/2}‖₂/√δ, where U₂, Σ₂ are the other eigenpairs: the least c of the definition.
    pub tail: f64,
}

impl Satisfiability {
    /// Whether S is K-satisfiable at δ with the constant c: `head` ≤ ½ and `tail` ≤ c.
    pub fn holds(&self, c: f64) -> bool {
        self.head <= 0.5 && self.tail <= c
    }

    /// A bound E with K − K_S ⪯ nE·I: E = δ(1 + `tail`/√(1 − `head`))², or ∞ if `head` is 1 up to
    /// rounding.
    ///
    /// Proof: for any x let z be the solution of U₁ᵀSz = U₁ᵀx with least norm, which satisfies
    /// ‖z‖ ≤ ‖x‖/√(1 − head). Then K^{1/2}x − K^{1/2}Sz has no component in the span of U₁, and its
    /// norm is at most √(nδ)(1 + tail/√(1 − head))‖x‖. This bounds xᵀ(K − K_S)x, the squared
    /// distance of K^{1/2}x from the range of K^{1/2}S.
    ///
    /// It follows that the estimators, evaluated at the points, satisfy
    /// (1/n)‖f_S − f_K‖² ≤ min(E·αᵀKα, nE²‖α‖²) with α = (K + nλI)⁻¹y, where αᵀKα is the squared
    /// norm of f_K in the space of the kernel. This is the deterministic part of Theorem 3.4, with
    /// its constant. In expectation over the noise, αᵀKα ≤ 2(‖f*‖² + σ²·d_λ/(nλ)), which gives the
    /// theorem's δ + d_δδ/(nλ).
    pub fn error(&self) -> f64 {
        if 1.0 - self.head > ROUNDING {
            self.delta * (1.0 + self.tail / (1.0 - self.head).sqrt()).powi(2)
        } else {
            f64::INFINITY
        }
    }
}

/// The lower triangle of aᵀa.
fn gram(a: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.ncols(), a.ncols());
    ops::gram_lower(out.as_mut(), Accum::Replace, a, 1.0);
    out
}

/// The largest modulus of the eigenvalues of a symmetric matrix; 0 for an empty matrix.
fn spectral_norm(a: MatRef<'_, f64>) -> Result<f64> {
    if a.nrows() == 0 {
        return Ok(0.0);
    }
    Ok(SymmetricEigen::new(a)?.values().iter().fold(0.0, |norm, v| norm.max(v.abs())))
}
