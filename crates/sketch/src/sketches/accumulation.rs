//! Accumulations of rescaled sub-sampling matrices.

use super::{check_shape, distribution};
use crate::SparseSketch;
use crate::landmarks::check_draws;
use nystrom_linalg_core::{Result, Scalar, random, validate};
use rand::{Rng, RngExt};

/// The sum of m independent signed sub-sampling matrices, with at most m entries in each column.
/// For small m it costs little more than the Nyström method (m = 1) and is nearly as accurate as a
/// Gaussian sketch (m → ∞).
///
/// ```text
/// S = Σ_{i=1..m} S_(i),   S_(i) e_j = r_ij/√(d m p_{n_ij}) e_{n_ij},   n_ij ~ P independent,
///     r_ij = ±1 fair signs.
/// ```
///
/// # Cost
/// With u ≤ md the number of distinct rows drawn, KS takes at most n·u entries of K (repetitions
/// are evaluated once) and 2nmd flops, SᵀKS another 2md² flops. S is stored as at most md numbers.
///
/// # Source
/// Y. Chen, Y. Yang, *Accumulations of Projections — A Unified Framework for Random Sketches in
/// Kernel Ridge Regression*, AISTATS 2021 (arXiv:2103.04031), Algorithm 1.
///
/// # Departures
/// Zero columns are dropped and parallel columns merged ([`SparseSketch`]), which does not change
/// SSᵀ.
///
/// Definition 2.1 requires p_j > 0 for every row. Here a weight may be 0, as is the leverage score
/// of a row with K_jj = 0. Such a row is never drawn, and E\[SSᵀ\] is I on the other rows and 0 on
/// this row. If the leverage score of a row with weight 0 is positive, Theorem 3.6 guarantees
/// nothing: the [`incoherence`](crate::SketchDiagnostics::incoherence) is ∞.
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
    /// P, as one weight per row, finite and at least 0, with a positive sum. Only ratios matter,
    /// and a row of weight 0 is never drawn. `None`: all rows are equally likely.
    pub probabilities: Option<Vec<f64>>,
}

impl Accumulation {
    /// The sum of `m` matrices, with all rows equally likely.
    pub fn uniform(m: usize) -> Self {
        Accumulation { m, probabilities: None }
    }

    /// The sum of `m` matrices, with rows drawn in proportion to `scores`, such as leverage scores.
    pub fn proportional(m: usize, scores: Vec<f64>) -> Self {
        Accumulation { m, probabilities: Some(scores) }
    }

    /// Draws a sketch with `n` rows and at most `d` columns, by Algorithm 1.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n, d or m is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n or md > 2²⁸,
    /// [`Shape`](nystrom_linalg_core::Error::Shape) if the number of weights is not n,
    /// [`InvalidWeight`](nystrom_linalg_core::Error::InvalidWeight).
    ///
    /// # Randomness
    /// m·d draws of a row (each a bounded integer, or a uniform if there are weights), one matrix
    /// after the other, then m·d signs.
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

/// `count` independent draws from n rows, in proportion to the weights, or uniform without weights.
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
