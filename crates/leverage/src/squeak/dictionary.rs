//! The dictionary of a stream: it owns its points, with their copies and probabilities.

use nystrom_kernels::Points;
#[cfg(feature = "serde")]
use nystrom_linalg_core::Error;
use nystrom_linalg_core::{Result, Scalar};
use nystrom_sketch::Dictionary;

/// The dictionary I = {(x_i, p̃_i, q_i)} of a stream: the points kept, their probabilities and
/// their numbers of copies.
///
/// The weights s_i² = q_i/(q̄p̃_i) satisfy E\[SSᵀ\] = I over all points seen, where dropped points
/// have q_i = 0. The p̃_i never rise, and dropped points never return. Probabilities and weights
/// are `f64` for either scalar type. O(m·d) memory.
///
/// Deserialisation (feature `serde`) checks that the lists have one length, that coordinates are
/// finite, probabilities in (0, 1], copies in 1 to q̄, and that positions are distinct.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "Stored<T>",
        bound(
            serialize = "T: serde::Serialize",
            deserialize = "T: Scalar + serde::Deserialize<'de>"
        )
    )
)]
#[must_use]
pub struct StreamDictionary<T> {
    pub(super) dim: usize,
    pub(super) copies_per_point: u32,
    pub(super) seen: u64,
    pub(super) coordinates: Vec<T>, // d × m, a point after another
    pub(super) positions: Vec<u64>,
    pub(super) p: Vec<f64>,
    pub(super) q: Vec<u32>,
}

impl<T: Scalar> StreamDictionary<T> {
    pub(crate) fn empty(dim: usize, copies_per_point: u32) -> Self {
        let (coordinates, positions, p, q) = (vec![], vec![], vec![], vec![]);
        StreamDictionary { dim, copies_per_point, seen: 0, coordinates, positions, p, q }
    }

    /// m, the number of distinct points kept.
    pub fn len(&self) -> usize {
        self.q.len()
    }

    /// Whether no point is kept.
    pub fn is_empty(&self) -> bool {
        self.q.is_empty()
    }

    /// d, the dimension of the points.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The number of points of the stream so far, kept or dropped.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The points kept, m points in d dimensions; they serve as landmarks.
    pub fn points(&self) -> Points<'_, T> {
        Points::from_row_major(&self.coordinates, self.dim)
    }

    /// The position of each kept point in the stream (or point set), counted from 0 unless
    /// [`Squeak::starting_at`](super::Squeak::starting_at) says otherwise.
    pub fn positions(&self) -> &[u64] {
        &self.positions
    }

    /// q_i ≥ 1, the copies left of each kept point.
    pub fn copies(&self) -> &[u32] {
        &self.q
    }

    /// q̄, the copies of every new point.
    pub fn copies_per_point(&self) -> u32 {
        self.copies_per_point
    }

    /// p̃_i in (0, 1], for each kept point.
    pub fn probabilities(&self) -> &[f64] {
        &self.p
    }

    /// The weights s_i² = q_i/(q̄p̃_i) of the kept points.
    pub fn weights(&self) -> Vec<f64> {
        weights(&self.q, &self.p, self.copies_per_point)
    }

    /// Σ s_i², an unbiased estimate of the number of points seen.
    pub fn total_weight(&self) -> f64 {
        self.weights().iter().sum()
    }

    /// The same dictionary with positions as row numbers, for the kernel matrix of the stream's
    /// points, of order n = max(`seen`, last position + 1).
    ///
    /// # Errors
    /// [`Error::Empty`](nystrom_linalg_core::Error::Empty) if no point was seen;
    /// [`Error::InvalidParameter`](nystrom_linalg_core::Error::InvalidParameter) if a weight
    /// overflows `f32`.
    pub fn by_rows(&self) -> Result<Dictionary<T>> {
        let last = self.positions.iter().max().map_or(0, |last| last.saturating_add(1));
        let rows = self.positions.iter().map(|&i| i as usize).collect();
        Dictionary::new(
            self.seen.max(last) as usize,
            rows,
            self.weights().into_iter().map(T::lit).collect(),
        )
    }

    /// Drops the members without copies, keeping the order of the others.
    pub(super) fn prune(&mut self) {
        let mut kept = 0;
        for i in 0..self.len() {
            if self.q[i] > 0 {
                self.coordinates.copy_within(i * self.dim..(i + 1) * self.dim, kept * self.dim);
                (self.positions[kept], self.p[kept], self.q[kept]) =
                    (self.positions[i], self.p[i], self.q[i]);
                kept += 1;
            }
        }
        self.coordinates.truncate(kept * self.dim);
        self.positions.truncate(kept);
        self.p.truncate(kept);
        self.q.truncate(kept);
    }
}

/// q_i/(q̄p̃_i) for every member.
pub(super) fn weights(q: &[u32], p: &[f64], copies_per_point: u32) -> Vec<f64> {
    let weight = |(&q, &p): (&u32, &f64)| f64::from(q) / (f64::from(copies_per_point) * p);
    q.iter().zip(p).map(weight).collect()
}

/// The contents of a file, before the checks.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Stored<T> {
    dim: usize,
    copies_per_point: u32,
    seen: u64,
    coordinates: Vec<T>,
    positions: Vec<u64>,
    p: Vec<f64>,
    q: Vec<u32>,
}

#[cfg(feature = "serde")]
impl<T: Scalar> TryFrom<Stored<T>> for StreamDictionary<T> {
    type Error = Error;

    fn try_from(stored: Stored<T>) -> Result<Self> {
        if let Some(problem) = stored.problem() {
            return Err(Error::Incompatible { what: "dictionary of a stream", problem });
        }
        let Stored { dim, copies_per_point, seen, coordinates, positions, p, q } = stored;
        Ok(StreamDictionary { dim, copies_per_point, seen, coordinates, positions, p, q })
    }
}

#[cfg(feature = "serde")]
impl<T: Scalar> Stored<T> {
    fn problem(&self) -> Option<String> {
        let (m, d, copies) = (self.q.len(), self.dim, self.copies_per_point);
        if d == 0 || copies == 0 {
            return Some(format!(
                "points of {d} coordinates, {copies} copies of each; at least 1 of both is needed"
            ));
        }
        if m.checked_mul(d) != Some(self.coordinates.len())
            || self.positions.len() != m
            || self.p.len() != m
        {
            let (x, at, p) = (self.coordinates.len(), self.positions.len(), self.p.len());
            return Some(format!(
                "{x} coordinates, {at} positions and {p} probabilities for {m} points of {d} \
                 coordinates"
            ));
        }
        if (m as u64) > self.seen {
            return Some(format!("{m} points are kept of {} seen", self.seen));
        }
        if let Some(at) = self.coordinates.iter().position(|x| !x.f64().is_finite()) {
            return Some(format!(
                "coordinate {} of point {} is {}",
                at % d,
                at / d,
                self.coordinates[at].f64()
            ));
        }
        if let Some(i) = (0..m).find(|&i| !(1..=copies).contains(&self.q[i])) {
            return Some(format!(
                "point {i} has {} copies, which must be between 1 and {copies}",
                self.q[i]
            ));
        }
        let weight = |p: f64| f64::from(copies) / (f64::from(copies) * p);
        if let Some(i) = (0..m)
            .find(|&i| !(self.p[i] > 0.0 && self.p[i] <= 1.0 && weight(self.p[i]).is_finite()))
        {
            let p = self.p[i];
            return Some(format!(
                "point {i} has the probability {p:?}, which must be in (0, 1] and have a finite \
                 reciprocal"
            ));
        }
        let mut positions = self.positions.clone();
        positions.sort_unstable();
        let twice = positions.windows(2).find(|pair| pair[0] == pair[1]);
        twice.map(|pair| format!("position {} occurs twice", pair[0]))
    }
}
