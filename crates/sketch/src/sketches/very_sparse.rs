//! Very sparse random projections.

use super::{check_shape, distribution};
use crate::SparseSketch;
use nystrom_linalg_core::{Result, Scalar, Streams, validate};
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// The sketch with independent entries S_ij = √(s/d)·{+1 with probability 1/(2s), −1 with
/// probability 1/(2s), 0 otherwise}. By default s = √n, which gives about √n nonzero entries per
/// column.
///
/// For s = √n, KS takes n·u entries of K, where u, the number of nonzero rows of S, is about d√n or
/// less, and about 2n^{3/2}d flops. S is stored as about d√n numbers.
///
/// # Source
/// P. Li, T. Hastie, K. Church, *Very sparse random projections*, KDD 2006. Scikit-learn's
/// `SparseRandomProjection` has the same entries with s = √n, and so have Chen & Yang 2021.
///
/// # Departures
/// Zero columns are dropped and parallel columns merged ([`SparseSketch`]), which does not change
/// SSᵀ.
///
/// ```
/// use nystrom_sketch::{Sketch, VerySparse};
/// use rand::SeedableRng;
/// let s =
///     VerySparse::default().sample::<f64>(10_000, 20, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert!((1700..2300).contains(&s.entries())); // about d√n = 2000
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct VerySparse {
    /// s ≥ 1: an entry is nonzero with probability 1/s. `None` (the default) stands for √n.
    pub sparsity: Option<f64>,
}

impl VerySparse {
    /// Draws a sketch with `n` rows and at most `d` columns. The bits do not depend on the number
    /// of threads.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n or d is 0 or every drawn entry is zero,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n,
    /// [`InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) for s < 1.
    ///
    /// # Randomness
    /// One key. Column j is drawn from stream j: for each of its entries a uniform (the geometric
    /// gap to the entry) and a sign, and at its end one more uniform.
    pub fn sample<T: Scalar>(
        &self,
        n: usize,
        d: usize,
        rng: &mut dyn Rng,
    ) -> Result<SparseSketch<T>> {
        check_shape(n, d)?;
        let s = self.sparsity.unwrap_or((n as f64).sqrt());
        validate::require(
            s >= 1.0 && s.is_finite(),
            "sparsity s of a very sparse projection",
            s,
            "a finite number of at least 1; None stands for the square root of n",
        )?;
        let (streams, scale) = (Streams::from_rng(rng), (s / d as f64).sqrt());
        let column = |j: usize| {
            let mut stream = streams.stream(j as u64);
            let (mut entries, mut i) = (Vec::new(), 0.0);
            loop {
                let u = 1.0 - stream.random::<f64>(); // in (0, 1]
                // P(gap ≥ g) = (1 − 1/s)^g
                i += if s > 1.0 { (u.ln() / (-s.recip()).ln_1p()).floor() } else { 0.0 };
                if i >= n as f64 {
                    return entries;
                }
                entries.push((i as usize, if stream.random::<bool>() { scale } else { -scale }));
                i += 1.0;
            }
        };
        SparseSketch::new(n, (0..d).into_par_iter().map(column).collect())
    }
}

distribution!(VerySparse);
