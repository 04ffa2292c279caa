//! The points of a tile, copied into the order in which the register loops read them.

use super::Formula;
use crate::Points;
use nystrom_linalg_core::Scalar;
use std::ops::Range;

/// The points of `range` in panels of `width` points. Panel p holds, for one coordinate k after the
/// other, `shrink[k]`·c(x_k) (`shrink[k]` is 1 if missing) of points p·width, …,
/// p·width + width − 1, with c of [`Formula::coordinate`]. The last panel is padded with zeros.
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

/// Numbers that start at the beginning of a cache line, so that a register is never loaded from two
/// lines.
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

    /// The panels (of `width` points) with every coordinate multiplied by its weight.
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
