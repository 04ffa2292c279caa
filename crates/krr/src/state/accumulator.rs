//! What is summed over rows: normal equations, or a triangular factor.

use super::bytes::{Reader, Writer};
use crate::SolvedBy;
use crate::feature_sums::{FeatureSums, Products, Solution, add_tile};
use crate::path::family::Spectrum;
use crate::path::features::{of_sums, of_triangle};
use crate::qr::Triangle;
use crate::rows::Tile;
use crate::solver::Scales;
use crate::totals::Totals;
use faer::Mat;
use nystrom_linalg_core::{GramSums, PackedLower, Result, Scalar};

/// A sum over rows of whitened features and targets, with or without a constant: [`FeatureSums`] or
/// [`Triangle`].
pub(crate) trait Accumulator: Clone {
    /// In the file's head.
    const KIND: u8;
    const SOLVED_BY: SolvedBy;

    /// The sum over no rows, for p features and t targets.
    fn zeros(p: usize, t: usize) -> Self;
    fn add<T: Scalar>(&mut self, tile: &Tile<T>, intercept: bool);
    fn merge(&mut self, other: Self);
    /// β and b at μ.
    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution>;
    /// S, g and V.
    fn decompose(&self, intercept: bool, totals: &Totals) -> Result<(Spectrum, Mat<f64>)>;
    fn write(&self, out: &mut Writer);
    fn read(reader: &mut Reader<'_>, p: usize, t: usize) -> Self;
    /// Whether it can be the sum over any rows.
    fn is_sound(&self) -> bool;
}

/// How many numbers an accumulator writes.
pub(super) fn numbers(p: usize, t: usize) -> usize {
    p * (p + 1) / 2 + p * t
}

impl Accumulator for FeatureSums {
    const KIND: u8 = 0;
    const SOLVED_BY: SolvedBy = SolvedBy::NormalEquations;

    fn zeros(p: usize, t: usize) -> Self {
        FeatureSums(GramSums::zeros(p, t))
    }

    fn add<T: Scalar>(&mut self, tile: &Tile<T>, _: bool) {
        add_tile(&mut self.0, tile, Products::Double, &mut [Mat::new(), Mat::new()]);
    }

    fn merge(&mut self, other: Self) {
        self.0 += &other.0;
    }

    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution> {
        self.solve(mu, intercept)
    }

    fn decompose(&self, intercept: bool, totals: &Totals) -> Result<(Spectrum, Mat<f64>)> {
        let floor = Scales { mu: 0.0, trace: totals.trace, once: 0.0 }.safe(f64::EPSILON);
        of_sums(self.centered(intercept), totals, floor)
    }

    fn write(&self, out: &mut Writer) {
        write(&self.0.gram, &self.0.moments, out);
    }

    fn read(reader: &mut Reader<'_>, p: usize, t: usize) -> Self {
        let (gram, moments) = read(reader, p, t);
        FeatureSums(GramSums { gram, moments })
    }

    fn is_sound(&self) -> bool {
        let gram = &self.0.gram;
        let positive = (0..gram.order()).all(|j| gram.get(j, j) >= 0.0);
        positive && finite(gram, &self.0.moments)
    }
}

impl Accumulator for Triangle {
    const KIND: u8 = 1;
    const SOLVED_BY: SolvedBy = SolvedBy::Qr;

    fn zeros(p: usize, t: usize) -> Self {
        Triangle { Rt: PackedLower::zeros(p), c: Mat::zeros(p, t) }
    }

    fn add<T: Scalar>(&mut self, tile: &Tile<T>, intercept: bool) {
        let top = std::mem::replace(self, Self::zeros(0, 0));
        *self = top.update(tile, intercept);
    }

    fn merge(&mut self, other: Self) {
        let top = std::mem::replace(self, Self::zeros(0, 0));
        *self = top.combine(other);
    }

    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution> {
        Ok(self.solve(mu, intercept))
    }

    fn decompose(&self, intercept: bool, totals: &Totals) -> Result<(Spectrum, Mat<f64>)> {
        of_triangle(self.centered(intercept), totals)
    }

    fn write(&self, out: &mut Writer) {
        write(&self.Rt, &self.c, out);
    }

    fn read(reader: &mut Reader<'_>, p: usize, t: usize) -> Self {
        let (Rt, c) = read(reader, p, t);
        Triangle { Rt, c }
    }

    fn is_sound(&self) -> bool {
        finite(&self.Rt, &self.c)
    }
}

/// A triangle column by column, then a matrix.
fn write(triangle: &PackedLower<f64>, columns: &Mat<f64>, out: &mut Writer) {
    (0..triangle.order()).for_each(|j| out.numbers(triangle.col(j)));
    (0..columns.ncols()).for_each(|j| out.numbers(columns.col_as_slice(j)));
}

fn read(reader: &mut Reader<'_>, p: usize, t: usize) -> (PackedLower<f64>, Mat<f64>) {
    let triangle = PackedLower::from_fn(p, |_, _| reader.number());
    let numbers = reader.numbers(p * t);
    (triangle, Mat::from_fn(p, t, |i, j| numbers[i + j * p]))
}

fn finite(triangle: &PackedLower<f64>, columns: &Mat<f64>) -> bool {
    (0..triangle.order()).all(|j| triangle.col(j).iter().all(|x| x.is_finite()))
        && columns.is_all_finite()
}
