//! Rademacher sketches.

use super::{check_shape, distribution};
use crate::DenseSketch;
use faer::Mat;
use nystrom_linalg_core::{Result, Scalar, Streams};
use rand::Rng;
use rayon::prelude::*;

/// The sketch with entries S_ij = ±1/√d with independent fair signs. It is as accurate as a
/// Gaussian sketch, and an entry takes one random bit.
///
/// S is stored as n·d numbers. KS takes n²/2 entries of K and 2n²d flops.
///
/// ```
/// use nystrom_sketch::{Rademacher, Sketch};
/// use rand::SeedableRng;
/// let s = Rademacher.sample::<f64>(100, 20, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert!((s.to_dense().squared_norm_l2() - 100.0).abs() < 1e-10);  // exactly n
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rademacher;

impl Rademacher {
    /// Draws a sketch with `n` rows and `d` columns. The bits do not depend on the number of
    /// threads.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n or d is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n.
    ///
    /// # Randomness
    /// One key; column j takes ⌈n/64⌉ words of stream j, one bit for each entry.
    pub fn sample<T: Scalar>(
        &self,
        n: usize,
        d: usize,
        rng: &mut dyn Rng,
    ) -> Result<DenseSketch<T>> {
        check_shape(n, d)?;
        let streams = Streams::from_rng(rng);
        let mut signs = Mat::zeros(n, d);
        signs.as_mut().par_col_chunks_mut(1).enumerate().for_each(|(j, mut column)| {
            let mut stream = streams.stream(j as u64);
            let mut word = 0;
            for i in 0..n {
                if i % 64 == 0 {
                    word = stream.next_u64();
                }
                column[(i, 0)] = if word >> (i % 64) & 1 == 1 { T::one() } else { -T::one() };
            }
        });
        Ok(DenseSketch::of(signs, vec![(d as f64).sqrt().recip(); d]))
    }
}

distribution!(Rademacher);
