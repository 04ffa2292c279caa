//! Gaussian sketches.

use super::{check_shape, distribution};
use crate::DenseSketch;
use nystrom_linalg_core::{Result, Scalar, random};
use rand::Rng;

/// The sketch with independent entries S_ij ~ N(0, 1/d), the standard of comparison for the
/// accuracy of other sketches.
///
/// S is stored as n·d numbers. KS takes n²/2 entries of K and 2n²d flops.
///
/// # Source
/// Y. Yang, M. Pilanci, M. Wainwright, *Randomized sketches for kernels: fast and optimal
/// nonparametric regression*, Annals of Statistics 45(3), 2017, pages 991–1023 (arXiv:1501.06195).
///
/// ```
/// use nystrom_sketch::{GaussianSketch, Sketch};
/// use rand::SeedableRng;
/// let s = GaussianSketch.sample::<f64>(100, 20, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert!((s.to_dense().squared_norm_l2() - 100.0).abs() < 20.0);   // E = n
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GaussianSketch;

impl GaussianSketch {
    /// Draws a sketch with `n` rows and `d` columns. The bits do not depend on the number of
    /// threads.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n or d is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n.
    ///
    /// # Randomness
    /// One key; column j is drawn from stream j.
    pub fn sample<T: Scalar>(
        &self,
        n: usize,
        d: usize,
        rng: &mut dyn Rng,
    ) -> Result<DenseSketch<T>> {
        check_shape(n, d)?;
        Ok(DenseSketch::of(random::standard_normal(n, d, rng), vec![(d as f64).sqrt().recip(); d]))
    }
}

distribution!(GaussianSketch);
