//! Sparse sign embeddings.

use super::{check_shape, distribution};
use crate::SparseSketch;
use nystrom_linalg_core::{Result, Scalar, validate};
use rand::{Rng, RngExt};

/// The sketch whose rows each have ζ nonzero entries ±1/√ζ in distinct random columns (ζ = 8 by
/// default, and at most d). Sᵀ hashes every coordinate into ζ signed buckets.
///
/// No row is zero, so that KS takes n²/2 entries of K, but only 2ζn² flops. S is stored as ζn
/// numbers. The sketch is designed to embed tall matrices that are in memory. For a kernel matrix
/// its advantage is that every row contributes.
///
/// # Source
/// J. Tropp, A. Yurtsever, M. Udell, V. Cevher, *Streaming low-rank matrix approximation with an
/// application to scientific simulation*, SIAM J. Sci. Comput. 41(4), 2019. The value ζ = min(d, 8)
/// is taken from an implementation that cites this paper (Skema's `SparseSignDimRedux`), not from
/// the paper.
///
/// ```
/// use nystrom_sketch::{Sketch, SparseSign};
/// use rand::SeedableRng;
/// let s = SparseSign::default().sample::<f64>(500, 20, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert_eq!(s.entries(), 500 * 8);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SparseSign {
    /// ζ ≥ 1, the number of nonzero entries per row; values above d count as d.
    pub per_row: usize,
}

impl Default for SparseSign {
    /// ζ = 8.
    fn default() -> Self {
        SparseSign { per_row: 8 }
    }
}

impl SparseSign {
    /// Draws a sketch with `n` rows and `d` columns.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n, d or ζ is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n.
    ///
    /// # Randomness
    /// For each row ζ bounded integers, each followed by a sign.
    pub fn sample<T: Scalar>(
        &self,
        n: usize,
        d: usize,
        rng: &mut dyn Rng,
    ) -> Result<SparseSketch<T>> {
        check_shape(n, d)?;
        validate::not_empty("entries in a row of a sparse sign embedding", self.per_row)?;
        let zeta = self.per_row.min(d);
        let value = (zeta as f64).sqrt().recip();
        let mut columns = vec![Vec::with_capacity(n * zeta / d + 1); d];
        let mut taken = Vec::with_capacity(zeta);
        for i in 0..n {
            taken.clear();
            for last in d - zeta..d {
                // Floyd's algorithm: a new column, or else `last`, keeps subsets equally likely
                let j = rng.random_range(0..=last);
                let j = if taken.contains(&j) { last } else { j };
                taken.push(j);
                columns[j].push((i, if rng.random::<bool>() { value } else { -value }));
            }
        }
        SparseSketch::new(n, columns)
    }
}

distribution!(SparseSign);
