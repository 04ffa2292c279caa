//! SHRINK: every copy survives with the probability that its point's score has fallen to.

use super::StreamDictionary;
use nystrom_linalg_core::Scalar;
use rand::Rng;
use rand_distr::{Binomial, Distribution};

/// SHRINK: p̃_i ← max(min(τ̃_i, p̃_i), floor·p̃_i), q_i ← Binomial(q_i, p̃_new/p̃_old), members
/// without copies are dropped.
///
/// The `fresh` last members have no previous score, so the floor does not apply to them.
/// E\[q_i/p̃_i\] is unchanged.
pub(crate) fn shrink<T: Scalar>(
    I: &mut StreamDictionary<T>,
    tau: &[f64],
    floor: f64,
    fresh: usize,
    rng: &mut dyn Rng,
) {
    let old_members = I.len() - fresh;
    for (i, &tau_i) in tau.iter().enumerate() {
        let lowest = if i < old_members { floor * I.p[i] } else { 0.0 };
        let p_new = tau_i.min(I.p[i]).max(lowest); //             p̃_t,i
        // Q_t,i ~ B(Q_t−1,i, p̃_t,i/p̃_t−1,i)
        I.q[i] = binomial(I.q[i], p_new / I.p[i], rng);
        I.p[i] = p_new;
    }
    I.prune();
}

/// Binomial(q, p); p outside [0, 1] counts as the nearer end.
pub(super) fn binomial(q: u32, p: f64, rng: &mut dyn Rng) -> u32 {
    if p >= 1.0 {
        return q;
    }
    Binomial::new(u64::from(q), p.max(0.0)).map_or(0, |law| law.sample(rng) as u32)
}
