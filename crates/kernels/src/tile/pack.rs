//! Points of a tile, copied into the order in which registers read them.

use super::Formula;
use crate::Points;
use nystrom_linalg_core::Scalar;
use std::ops::Range;

/// Points in panels of `width`, times `shrink[k]` (1 if there is none). Panel p holds, coordinate
/// after coordinate, that coordinate of points p·width … p·width + width − 1, as the formula wants
/// it. The last panel is filled up with zeros.
pub(super) fn panels<T: Scalar, F: Formula>(
    points: Points<'_, T>,
    range: Range<usize>,
    width: usize,
    shrink: &[T],
) -> Aligned<T> {
    let d = points.dim();
    let mut panels = Aligned::zeros(range.len().div_ceil(width) * width * d);
    let packed = panels.as_mut_slice();
    for k in 0..d {
        let shrink = shrink.get(k).copied().unwrap_or(T::one());
        let row = points.as_cols().row(k).subcols(range.start, range.len());
        for (p, start) in (0..range.len()).step_by(width).enumerate() {
            let row = row.subcols(start, width.min(range.len() - start));
            let to = packed[(p * d + k) * width..][..row.ncols()].iter_mut();
            let pack = |(to, &x): (&mut T, &T)| *to = shrink * F::coordinate(x);
            match row.try_as_row_major() {
                Some(row) => to.zip(row.as_slice()).for_each(pack),
                None => to.zip(row.iter()).for_each(pack),
            }
        }
    }
    panels
}

/// Numbers that begin on a cache line: a register is then never read from two.
pub(super) struct Aligned<T> {
    buffer: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Scalar> Aligned<T> {
    fn zeros(len: usize) -> Self {
        const LINE: usize = 64;
        let buffer = vec![T::zero(); len + LINE / size_of::<T>()];
        let start = buffer.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
        Aligned { buffer, start, len }
    }

    /// Panels of `width` with every coordinate multiplied by its weight.
    pub(super) fn weighted(&self, weights: &[T], width: usize) -> Self {
        let mut scaled = Aligned::zeros(self.len);
        let coordinates =
            scaled.as_mut_slice().chunks_exact_mut(width).zip(self.as_slice().chunks_exact(width));
        for ((to, from), &weight) in coordinates.zip(weights.iter().cycle()) {
            to.iter_mut().zip(from).for_each(|(to, &x)| *to = weight * x);
        }
        scaled
    }

    pub(super) fn as_slice(&self) -> &[T] {
        &self.buffer[self.start..self.start + self.len]
    }

    fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}
