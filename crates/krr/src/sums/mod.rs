//! Sums over rows: numbers that are merged, written to bytes and read again. The fits that hold
//! them, such as `NormalEquations`, are in `state/`.

mod accumulator;
mod bytes;
mod normal_equations;
mod qr;

pub(crate) use accumulator::{Accumulator, Decomposed, Products, Solution, condition};
pub(crate) use bytes::{Hash, Reader, to_bytes, wrong};
pub use normal_equations::NormalSums;
pub use qr::QrSums;

use faer::Mat;
use nystrom_linalg_core::PackedLower;
use std::fmt::Debug;

/// The numbers of a sum over rows.
pub(crate) trait Sums: Clone + Debug {
    /// Adds the numbers of later rows.
    fn merge(&mut self, later: Self);
    /// Passes the bits of all numbers to `out`, one after another.
    fn write(&self, out: &mut dyn FnMut(u64));
    /// Reads the numbers of [`write`](Self::write), for a sum of the shape of `self`.
    fn read(&self, reader: &mut Reader<'_>) -> Self;
    /// Whether the finite numbers read can be a sum over this number of rows.
    fn is_sound(&self, _rows: u64) -> bool {
        true
    }
}

impl Sums for f64 {
    fn merge(&mut self, later: Self) {
        *self += later;
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        out(self.to_bits());
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        reader.number()
    }
}

/// Sums side by side.
impl<S: Sums> Sums for Vec<S> {
    fn merge(&mut self, later: Self) {
        self.iter_mut().zip(later).for_each(|(sum, later)| sum.merge(later));
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        self.iter().for_each(|sum| sum.write(out));
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        self.iter().map(|sum| sum.read(reader)).collect()
    }

    fn is_sound(&self, rows: u64) -> bool {
        self.iter().all(|sum| sum.is_sound(rows))
    }
}

impl<A: Sums, B: Sums> Sums for (A, B) {
    fn merge(&mut self, later: Self) {
        self.0.merge(later.0);
        self.1.merge(later.1);
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        (self.0.read(reader), self.1.read(reader))
    }

    fn is_sound(&self, rows: u64) -> bool {
        self.0.is_sound(rows) && self.1.is_sound(rows)
    }
}

/// Column by column.
impl Sums for Mat<f64> {
    fn merge(&mut self, later: Self) {
        *self += later;
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        self.col_iter().flat_map(|col| col.iter()).for_each(|x| out(x.to_bits()));
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        Mat::from_fn(self.nrows(), self.ncols(), |_, _| reader.number())
    }
}

/// Column by column.
impl Sums for PackedLower<f64> {
    fn merge(&mut self, later: Self) {
        *self += &later;
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        (0..self.order()).flat_map(|j| self.col(j)).for_each(|x| out(x.to_bits()));
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        PackedLower::from_fn(self.order(), |_, _| reader.number())
    }
}
