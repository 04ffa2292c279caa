//! Independent random streams from one generator.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A family of independent generators, numbered 0, 1, 2, …, with a key drawn from the caller's
/// generator.
///
/// A parallel loop gives item (or block) i the generator `streams.stream(i)`, whose numbers depend
/// on i and the caller's seed alone. The result has the same bits with any number of threads and in
/// any order of execution.
///
/// ```
/// use nystrom_linalg_core::Streams;
/// use rand::{RngExt, SeedableRng};
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(7);
/// let streams = Streams::from_rng(&mut rng);
/// let a: f64 = streams.stream(41).random();
/// let b: f64 = streams.stream(41).random();
/// assert_eq!(a, b);
/// assert_ne!(a, streams.stream(42).random::<f64>());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Streams {
    key: u64,
}

impl Streams {
    /// A family whose key is drawn from the caller's generator.
    ///
    /// # Randomness
    /// One 64-bit word, the key.
    pub fn from_rng(rng: &mut dyn Rng) -> Self {
        Streams { key: rng.next_u64() }
    }

    /// The family with a given key, to resume work from a saved state.
    pub fn from_key(key: u64) -> Self {
        Streams { key }
    }

    /// The key, to be saved for [`from_key`](Self::from_key).
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The generator of item `index`.
    pub fn stream(&self, index: u64) -> Pcg64 {
        // Two rounds of mixing: neighbouring keys and indices give unrelated states.
        Pcg64::seed_from_u64(mix(mix(self.key) ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// The family of item `index`, for nested parallel work such as the nodes of a merge tree.
    pub fn child(&self, index: u64) -> Streams {
        Streams {
            key: mix(
                mix(self.key ^ 0x6a09_e667_f3bc_c909) ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ),
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection of 64-bit words with full
/// avalanche.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use std::collections::HashSet;

    #[test]
    fn streams_children_and_keys_are_distinct() {
        let streams = Streams::from_key(0);
        let mut seen = HashSet::new();
        for i in 0..2000 {
            assert!(seen.insert(streams.stream(i).random::<u64>()));
            assert!(seen.insert(streams.child(i).stream(0).random::<u64>()));
            assert!(seen.insert(Streams::from_key(i + 1).stream(0).random::<u64>()));
        }
    }

    #[test]
    fn first_outputs_across_streams_are_uniform() {
        // 10^5 uniforms in 64 cells: chi-square with 63 degrees of freedom is below 131 with
        // probability 1 - 1e-6.
        let streams = Streams::from_key(12345);
        let mut cells = [0.0_f64; 64];
        for i in 0..100_000 {
            cells[(streams.stream(i).random::<f64>() * 64.0) as usize] += 1.0;
        }
        let expected = 100_000.0 / 64.0;
        let chi2: f64 = cells.iter().map(|c| (c - expected).powi(2) / expected).sum();
        assert!(chi2 < 131.0, "{chi2}");
    }
}
