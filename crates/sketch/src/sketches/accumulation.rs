//! Accumulations of rescaled sub-sampling matrices.

use super::{check_shape, distribution};
use crate::SparseSketch;
use crate::landmarks::check_draws;
use nystrom_linalg_core::{Result, Scalar, random, validate};
use rand::{Rng, RngExt};

/// The sum of m independent signed sub-sampling matrices: at most m entries in each column. Hence
/// it has nearly the price of Nyström (m = 1), and nearly the accuracy of a Gaussian sketch (m → ∞)
/// already for small m.
///
/// ```text
/// S = Σ_{i=1..m} S_(i),   S_(i) e_j = r_ij/√(d m p_{n_ij}) e_{n_ij},   n_ij ~ P independent,
///     r_ij = ±1 fair signs.
/// ```
///
/// # Cost
/// Let u ≤ md be the number of distinct rows drawn. KS takes at most n·u entries of K (repetitions
/// are evaluated once) and 2nmd flops, SᵀKS another 2md² flops; S itself md numbers.
///
/// # Source
/// Y. Chen, Y. Yang, *Accumulations of Projections — A Unified Framework for Random Sketches in
/// Kernel Ridge Regression*, AISTATS 2021 (arXiv:2103.04031), Algorithm 1.
///
/// # Departures
/// Columns that come out zero or parallel are merged ([`SparseSketch`]): SSᵀ is the same.
///
/// Definition 2.1 asks for p_j > 0 at every row. Here a weight may be 0, as the leverage score of a
/// row with K_jj = 0 is. Such a row is never drawn: E\[SSᵀ\] is I on the other rows and 0 on this
/// one. Where the row's own leverage score is positive, Theorem 3.6 then promises nothing: the
/// [`incoherence`](crate::SketchDiagnostics::incoherence) is ∞.
///
/// ```
/// use nystrom_sketch::{Accumulation, Sketch};
/// use rand::SeedableRng;
/// let s =
///     Accumulation::uniform(4).sample::<f64>(1000, 20, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert!(s.width() == 20 && s.entries() <= 80 && s.support().len() <= 80);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Accumulation {
    /// m, the number of matrices in the sum, at least 1.
    pub m: usize,
    /// P: one weight per row, finite and at least 0, with a positive sum; scale does not matter. A
    /// row of weight 0 is never drawn. `None`: all rows equally likely.
    pub probabilities: Option<Vec<f64>>,
}

impl Accumulation {
    /// m matrices, all rows equally likely.
    pub fn uniform(m: usize) -> Self {
        Accumulation { m, probabilities: None }
    }

    /// m matrices, rows drawn in proportion to `scores`, such as leverage scores.
    pub fn proportional(m: usize, scores: Vec<f64>) -> Self {
        Accumulation { m, probabilities: Some(scores) }
    }

    /// Algorithm 1.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n, d or m is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n or md > 2²⁸,
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if there are not n weights,
    /// [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight).
    ///
    /// # Randomness
    /// m·d draws of a row (a bounded integer each, or a uniform if weighted), matrix by matrix,
    /// then m·d signs.
    pub fn sample<T: Scalar>(
        &self,
        n: usize,
        d: usize,
        rng: &mut dyn Rng,
    ) -> Result<SparseSketch<T>> {
        check_shape(n, d)?;
        validate::not_empty("accumulated matrices (m)", self.m)?;
        let m = self.m;
        check_draws(m.saturating_mul(d))?;
        let rows = draw_rows(self.probabilities.as_deref(), n, m * d, rng)?; //        n_ij ~ P
        let mut columns = vec![Vec::with_capacity(m); d]; //                           S = 0
        for i in 0..m {
            for (j, column) in columns.iter_mut().enumerate() {
                let DrawnRow { row, p } = rows[i * d + j];
                let r = if rng.random::<bool>() { 1.0 } else { -1.0 };
                // S[n_ij, j] += r_ij/√(d m p)
                column.push((row, r / ((d * m) as f64 * p).sqrt()));
            }
        }
        SparseSketch::new(n, columns)
    }
}

distribution!(Accumulation);

/// A row and the probability with which it is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawnRow {
    pub row: usize,
    pub p: f64,
}

/// `count` independent rows of n, in proportion to the weights or uniform.
pub(super) fn draw_rows(
    weights: Option<&[f64]>,
    n: usize,
    count: usize,
    rng: &mut dyn Rng,
) -> Result<Vec<DrawnRow>> {
    let Some(weights) = weights else {
        let p = (n as f64).recip();
        return Ok((0..count).map(|_| DrawnRow { row: rng.random_range(0..n), p }).collect());
    };
    validate::same_size("sampling weights against rows of the sketch", n, weights.len())?;
    let total = validate::weights("sampling weights of the sketch", weights)?;
    let rows = random::with_replacement(weights, count, rng)?;
    Ok(rows.into_iter().map(|row| DrawnRow { row, p: weights[row] / total }).collect())
}
