//! DICT-MERGE: two dictionaries of disjoint data become one.

use super::measure::Measure;
use super::shrink::shrink;
use super::{SqueakParams, StreamDictionary};
use nystrom_kernels::Kernel;
use nystrom_linalg_core::{Error, Result, Ridge, Scalar, validate};
use rand::Rng;
use std::collections::HashSet;

/// DICT-MERGE: the dictionary of the union of two disjoint sets of points, from their dictionaries
/// alone.
///
/// If both are (ε, γ)-accurate the scores it shrinks by satisfy τ/α ≤ τ̃ ≤ τ, α = (1 + 3ε)/(1 − ε)
/// ([`ScoreRule::Provable`](super::ScoreRule)). γ is absolute: the number added to K's diagonal.
///
/// (m_A + m_B)² kernel values, 2(m_A + m_B)³/3 flops. The order of the arguments matters for the
/// bits, not for the law.
///
/// # Source
/// Calandriello, Lazaric & Valko, *Distributed adaptive sampling for kernel matrix approximation*,
/// AISTATS 2017 (arXiv:1803.10172).
///
/// # Departures
/// Both sets of constants are offered, see [`ScoreRule`](super::ScoreRule).
///
/// # Errors
/// [`Error::Shape`] for dictionaries of different dimension or copies per point,
/// [`Error::SamePosition`] for a position that is in both (number shards by
/// [`Squeak::starting_at`](super::Squeak::starting_at)), [`Error::DictionaryFull`] if the result
/// exceeds the cap, those of [`Ridge::absolute`] and of the factorisation.
/// Neither argument is changed.
///
/// ```
/// use nystrom_kernels::{Gaussian, Points};
/// use nystrom_leverage::{Squeak, SqueakParams, dict_merge};
/// use rand::SeedableRng;
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(0);
/// let (kernel, gamma, params) = (Gaussian::new(0.2)?, 1.0, SqueakParams::new(10));
/// let x: Vec<f64> = (0..2000).map(|i| (i as f64 * 0.618).fract()).collect();
/// let mut shards = vec![];
/// for half in [0..1000, 1000..2000] {
///     let mut squeak = Squeak::new(kernel, 1, gamma, params)?.starting_at(half.start as u64);
///     squeak.push(Points::from_slice(&x[half]), &mut rng)?;
///     shards.push(squeak.into_dictionary(&mut rng)?);
/// }
/// let merged = dict_merge(&kernel, &shards[0], &shards[1], gamma, &params, &mut rng)?;
/// assert!(merged.seen() == 2000 && merged.len() < 200);
/// # Ok::<(), nystrom_linalg_core::Error>(())
/// ```
pub fn dict_merge<T: Scalar, K: Kernel<T>>(
    kernel: &K,
    I_A: &StreamDictionary<T>,
    I_B: &StreamDictionary<T>,
    gamma: T,
    params: &SqueakParams,
    rng: &mut dyn Rng,
) -> Result<StreamDictionary<T>> {
    params.check()?;
    let mut I = concatenate(I_A, I_B)?; //                                           I_A ∪ I_B
    let gamma = Ridge::Absolute(gamma).absolute(1)?.f64();
    if !I.is_empty() {
        let (factor, mu) = params.merging(gamma);
        // τ̃
        let tau: Vec<f64> =
            Measure::new(kernel, &I, mu)?.members().iter().map(|r| factor * r).collect();
        // p̃ ← min(τ̃, p̃), Q ~ B(Q, p̃/p̃_old)
        shrink(&mut I, &tau, 0.0, 0, rng);
    }
    params.check_cap(I.len(), I.seen)?;
    Ok(I)
}

pub(super) fn concatenate<T: Scalar>(
    a: &StreamDictionary<T>,
    b: &StreamDictionary<T>,
) -> Result<StreamDictionary<T>> {
    validate::same_size("coordinates of a point (d)", a.dim, b.dim)?;
    let (of_a, of_b) = (a.copies_per_point as usize, b.copies_per_point as usize);
    validate::same_size("copies per point (q) of two dictionaries to merge", of_a, of_b)?;
    let in_a: HashSet<u64> = a.positions.iter().copied().collect();
    if let Some(&position) = b.positions.iter().find(|position| in_a.contains(position)) {
        return Err(Error::SamePosition { position });
    }
    let mut both = a.clone();
    both.seen = both.seen.saturating_add(b.seen);
    both.coordinates.extend_from_slice(&b.coordinates);
    both.positions.extend_from_slice(&b.positions);
    both.p.extend_from_slice(&b.p);
    both.q.extend_from_slice(&b.q);
    Ok(both)
}
