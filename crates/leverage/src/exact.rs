//! Exact λ-ridge leverage scores through one n × n Cholesky factor.

use crate::score::clamp;
use crate::{ExactRoute, ExactScores, ExactSpectrum};
use faer::MatMut;
use nystrom_linalg_core::{
    Error, JitterLadder, PackedCholesky, PsdMatrix, Result, Ridge, Scalar, ops, validate,
};
use std::ops::Range;

/// l_i(λ) = \[K(K + μI)⁻¹\]_ii = 1 − μ\[(K + μI)⁻¹\]_ii for all i, μ = nλ = `ridge.absolute(n)`.
///
/// **Forms half an n × n matrix**, as the exact scores must: n²/2 + O(n) entries evaluated and held
/// (400 MB at n = 10,000 in `f64`), about 2n³/3 flops. When μ is below the rounding error of K, K +
/// μI is not numerically positive definite. The scores are then computed from the
/// eigendecomposition with negative eigenvalues set to 0 ([`ExactRoute::Spectrum`]), which
/// evaluates another n² entries and takes 3n² memory and about 9n³ flops. In both cases the
/// absolute error of the scores is of the order n·ε·λ_max(K)/μ, at most 1. For μ near ε·λ_max(K)
/// the scores are those of a matrix that differs from K by rounding error.
///
/// # Source
/// Alaoui & Mahoney, NIPS 2015, section 3.3: Definition 1, equation (8). The second form above is
/// computed, from K(K + μI)⁻¹ = I − μ(K + μI)⁻¹.
///
/// # Errors
/// [`Error::Empty`] if n = 0, those of [`Ridge::absolute`], [`Error::NonFinite`] with the first
/// entry of K that is not finite.
///
/// ```
/// use faer::mat;
/// use nystrom_leverage::exact_scores;
/// use nystrom_linalg_core::{Dense, Ridge};
/// let k = mat![[3.0, 0.0], [0.0, 1.0_f64]];
/// let exact = exact_scores(&Dense::new(k.as_ref())?, Ridge::PerSample(0.5))?; // nλ = 1
/// assert!((exact.scores[0] - 0.75).abs() < 1e-15 && (exact.scores[1] - 0.5).abs() < 1e-15);
/// assert!((exact.d_eff() - 1.25).abs() < 1e-15 && (exact.d_mof() - 1.5).abs() < 1e-15);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn exact_scores<T: Scalar>(k: &dyn PsdMatrix<T>, ridge: Ridge<T>) -> Result<ExactScores<T>> {
    let n = k.dim();
    validate::not_empty("matrix", n)?;
    let mu = ridge.absolute(n)?;
    let fill = |mut out: MatMut<'_, T>, rows: Range<usize>, cols: Range<usize>| {
        let width = cols.len();
        k.block_into(out.rb_mut(), rows.into(), cols.into());
        ops::add_to_diagonal(out.subrows_mut(0, width), mu);
    };
    let factor = match PackedCholesky::from_fill(n, fill, JitterLadder::none()) {
        Ok(factor) => factor, // LLᵀ = K + μI
        Err(Error::NotPositiveDefinite { .. }) => return ExactSpectrum::new(k)?.scores(ridge),
        Err(error) => return Err(error),
    };
    let score = |(inverse_ii, k_ii): (T, T)| clamp(T::one() - mu * inverse_ii, k_ii, mu);
    let scores = factor.inverse_diagonal().into_iter().zip(k.diag()).map(score).collect();
    Ok(ExactScores { scores, mu, route: ExactRoute::Cholesky })
}

use faer::reborrow::*;
