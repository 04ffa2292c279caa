//! EXPAND: adds new points with p̃ = 1 and all q̄ copies.

use super::StreamDictionary;
use nystrom_kernels::Points;
use nystrom_linalg_core::Scalar;

/// EXPAND: I ← I ∪ {(x, p̃ = 1, q = q̄)} for every new point x, at positions `first`, `first` + 1,
/// ….
pub(crate) fn expand<T: Scalar>(I: &mut StreamDictionary<T>, new: Points<'_, T>, first: u64) {
    for t in 0..new.len() {
        I.coordinates.extend((0..new.dim()).map(|k| new.coordinate(t, k)));
        I.positions.push(first + t as u64);
        I.p.push(1.0);
        I.q.push(I.copies_per_point);
        I.seen += 1;
    }
}
