//! Points of a tile, copied into the order in which registers read them.

use super::Formula;
use crate::Points;
use nystrom_linalg_core::Scalar;
use std::ops::Range;

/// Points in panels of `width`: panel p holds, coordinate after coordinate, that coordinate of points p·width … p·width + width − 1,
/// as the formula wants it. The last panel is filled up with copies of the origin.
pub(super) fn panels<T: Scalar, F: Formula>(
    formula: &F,
    points: Points<'_, T>,
    range: Range<usize>,
    origin: Points<'_, T>,
    width: usize,
) -> Vec<T> {
    let d = points.dim();
    let mut packed = vec![T::zero(); range.len().div_ceil(width) * width * d];
    for k in 0..d {
        let coordinate = formula.coordinate(k, origin.coordinate(0, k));
        let row = points.as_cols().row(k).subcols(range.start, range.len());
        match row.try_as_row_major() {
            Some(row) => {
                for (p, chunk) in row.as_slice().chunks(width).enumerate() {
                    let at = (p * d + k) * width;
                    for (to, &x) in packed[at..at + chunk.len()].iter_mut().zip(chunk) {
                        *to = coordinate(x);
                    }
                }
            }
            None => {
                for (i, &x) in row.iter().enumerate() {
                    packed[((i / width) * d + k) * width + i % width] = coordinate(x);
                }
            }
        }
    }
    packed
}
