//! Kernel values for sums: in chunks of rows, one per thread, with fingerprints.

use crate::Problem;
use crate::sums::Hash;
use faer::reborrow::*;
use faer::{Mat, MatRef};
use nystrom_kernels::{Kernel, Points, kernel_probe};
use nystrom_linalg_core::{Scalar, instruction_set, ops};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Buffers for kernel values, all of one shape: one for each thread, kept for the tiles of a block.
#[derive(Debug)]
pub(crate) struct Buffers<T>(Mutex<Vec<Mat<T>>>);

impl<T> Default for Buffers<T> {
    fn default() -> Self {
        Buffers(Mutex::default())
    }
}

impl<T: Scalar> Buffers<T> {
    /// Lends a buffer of this shape, whatever it holds.
    pub(super) fn lend<X>(&self, shape: (usize, usize), to: impl FnOnce(&mut Mat<T>) -> X) -> X {
        let buffers = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = buffers().pop();
        let mut buffer = free.unwrap_or_else(|| Mat::zeros(shape.0, shape.1));
        let result = to(&mut buffer);
        buffers().push(buffer);
        result
    }
}

/// A hash that two sums must share to be merged: of scalar type, instruction set, sizes,
/// and kernel values at points between the centres.
///
/// A kernel is known by its values, so that any kernel will do. Values that come out with other
/// rounding errors count as another kernel's.
pub(super) fn fingerprint<T: Scalar>(
    kernel: &impl Kernel<T>,
    centers: Points<'_, T>,
    targets: usize,
) -> Hash {
    let hash = Hash::new().bytes(T::NAME.as_bytes()).bytes(instruction_set().as_bytes());
    let sizes = [centers.dim(), centers.len(), targets];
    let hash = sizes.iter().fold(hash, |hash, &size| hash.integer(size as u64));
    hash.numbers(entries(kernel_probe(kernel, centers).as_ref()))
}

/// Column by column.
pub(super) fn entries<T>(a: MatRef<'_, T>) -> impl Iterator<Item = &T> {
    a.col_iter().flat_map(|col| col.iter())
}

/// The values of `of` for each chunk of rows of a tile, in order. One thread takes a chunk, with a
/// buffer of `height` × `rows` numbers, so that their kernel values stay in its cache.
pub(super) fn by_rows<T: Scalar, X: Send>(
    tile: Problem<'_, T>,
    (height, rows): (usize, usize),
    buffers: &Buffers<T>,
    of: impl Fn(Problem<'_, T>, &mut Mat<T>) -> X + Sync,
) -> Vec<X> {
    let starts: Vec<usize> = (0..tile.x.len()).step_by(rows).collect();
    let part = |start: usize| tile.slice(start..tile.x.len().min(start + rows));
    let parts = starts.into_par_iter();
    parts.map(|start| buffers.lend((height, rows), |buffer| of(part(start), buffer))).collect()
}

/// k_Z(x) of rows in `f64`, one a column: in `buffer`, and if T is another type, in `wide`.
pub(crate) fn values<'a, T: Scalar>(
    kernel: &impl Kernel<T>,
    centers: Points<'_, T>,
    x: Points<'_, T>,
    buffer: &'a mut Mat<T>,
    wide: &'a mut Mat<f64>,
) -> MatRef<'a, f64> {
    let mut k = buffer.as_mut().submatrix_mut(0, 0, centers.len(), x.len());
    kernel.eval_into(k.rb_mut(), centers, x);
    ops::widened(k.into_const(), wide)
}
