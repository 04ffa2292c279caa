//! Localised sketches: Gaussian blocks along the diagonal.

use super::{check_shape, distribution};
use crate::SparseSketch;
use nystrom_linalg_core::{Result, Scalar, Streams, random, validate};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// The block-diagonal Gaussian sketch: rows and columns are partitioned into B blocks, and block b
/// has independent N(0, 1/d_b) entries, where d_b is its number of columns.
///
/// KS takes n²/2 entries of K and 2n²d/B flops, SᵀKS another 2nd²/B flops. S is stored as n·d/B
/// numbers.
///
/// # Source
/// R. Srinivasa, M. Davenport, J. Romberg, *Localized sketching for matrix multiplication and ridge
/// regression*, arXiv:2003.09097, which Chen & Yang 2021 name among the sketches they unify.
///
/// ```
/// use nystrom_sketch::{Localized, Sketch};
/// use rand::SeedableRng;
/// let s =
///     Localized::contiguous(4).sample::<f64>(100, 20, &mut rand_pcg::Pcg64::seed_from_u64(0))?;
/// assert_eq!(s.entries(), 4 * 25 * 5);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Localized {
    /// B, the number of blocks, 1 ≤ B ≤ d. Block sizes differ by at most one.
    pub blocks: usize,
    /// Whether rows are assigned to the blocks at random (true) or in order (false).
    pub shuffled: bool,
}

impl Localized {
    /// B blocks of consecutive rows.
    pub fn contiguous(blocks: usize) -> Self {
        Localized { blocks, shuffled: false }
    }

    /// B blocks, with rows assigned at random.
    pub fn shuffled(blocks: usize) -> Self {
        Localized { blocks, shuffled: true }
    }

    /// Draws a sketch with `n` rows and `d` columns. The bits do not depend on the number of
    /// threads.
    ///
    /// # Errors
    /// [`Empty`](nystrom_linalg_core::Error::Empty) if n, d or B is 0,
    /// [`TooMany`](nystrom_linalg_core::Error::TooMany) if d > n or B > d.
    ///
    /// # Randomness
    /// n bounded integers if shuffled, then one key; column j is drawn from stream j.
    pub fn sample<T: Scalar>(
        &self,
        n: usize,
        d: usize,
        rng: &mut dyn Rng,
    ) -> Result<SparseSketch<T>> {
        check_shape(n, d)?;
        validate::at_most("blocks of a localised sketch", self.blocks, d)?;
        let part = |total: usize, b: usize| b * total / self.blocks..(b + 1) * total / self.blocks;
        let order: Vec<usize> =
            if self.shuffled { random::uniform_subset(n, n, rng)? } else { (0..n).collect() };
        let streams = Streams::from_rng(rng);
        let column = |b: usize, j: usize| {
            let mut stream = streams.stream(j as u64);
            let scale = (part(d, b).len() as f64).sqrt().recip();
            let mut entry = |&i: &usize| {
                let z: f64 = StandardNormal.sample(&mut stream);
                (i, scale * z)
            };
            order[part(n, b)].iter().map(&mut entry).collect::<Vec<_>>()
        };
        let places: Vec<(usize, usize)> =
            (0..self.blocks).flat_map(|b| part(d, b).map(move |j| (b, j))).collect();
        SparseSketch::new(n, places.into_par_iter().map(|(b, j)| column(b, j)).collect())
    }
}

distribution!(Localized);
