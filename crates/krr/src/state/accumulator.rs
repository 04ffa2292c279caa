//! The two ways to sum up whitened features and targets: normal equations and a triangular factor.

use super::bytes::Reader;
use super::sums::Sums;
use crate::SolvedBy;
use crate::feature_sums::{FeatureSums, Products, Solution, add_tile};
use crate::path::family::Spectrum;
use crate::path::features::{of_sums, of_triangle};
use crate::qr::Triangle;
use crate::rows::Tile;
use crate::solver::Scales;
use crate::totals::Totals;
use faer::Mat;
use nystrom_linalg_core::{GramSums, Result, Scalar};

/// A sum over rows of whitened features and targets, with or without a constant: [`FeatureSums`] or
/// [`Triangle`].
pub(crate) trait Accumulator: Sums {
    /// In the file's head.
    const KIND: u8;
    const SOLVED_BY: SolvedBy;

    /// The sum over no rows, for p features and t targets.
    fn zeros(p: usize, t: usize) -> Self;
    fn add<T: Scalar>(&mut self, tile: &Tile<T>, intercept: bool);
    /// β and b at μ.
    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution>;
    /// S, g and V.
    fn decompose(&self, intercept: bool, totals: &Totals) -> Result<(Spectrum, Mat<f64>)>;
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

    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution> {
        self.solve(mu, intercept)
    }

    fn decompose(&self, intercept: bool, totals: &Totals) -> Result<(Spectrum, Mat<f64>)> {
        let floor = Scales { mu: 0.0, trace: totals.trace, once: 0.0 }.safe(f64::EPSILON);
        of_sums(self.centered(intercept), totals, floor)
    }
}

impl Accumulator for Triangle {
    const KIND: u8 = 1;
    const SOLVED_BY: SolvedBy = SolvedBy::Qr;

    fn zeros(p: usize, t: usize) -> Self {
        Triangle::zeros(p, t)
    }

    fn add<T: Scalar>(&mut self, tile: &Tile<T>, intercept: bool) {
        let top = std::mem::replace(self, Triangle::zeros(0, 0));
        *self = top.update(tile, intercept);
    }

    fn solve(&self, mu: f64, intercept: bool) -> Result<Solution> {
        Ok(self.solve(mu, intercept))
    }

    fn decompose(&self, intercept: bool, totals: &Totals) -> Result<(Spectrum, Mat<f64>)> {
        of_triangle(self.centered(intercept), totals)
    }
}

impl Sums for FeatureSums {
    fn merge(&mut self, later: Self) {
        self.0 += &later.0;
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        self.0.gram.write(out);
        self.0.moments.write(out);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        let GramSums { gram, moments } = &self.0;
        FeatureSums(GramSums { gram: gram.read(reader), moments: moments.read(reader) })
    }

    fn is_sound(&self, _: u64) -> bool {
        (0..self.0.gram.order()).all(|j| self.0.gram.get(j, j) >= 0.0)
    }
}

impl Sums for Triangle {
    fn merge(&mut self, later: Self) {
        let top = std::mem::replace(self, Triangle::zeros(0, 0));
        *self = top.combine(later);
    }

    fn write(&self, out: &mut dyn FnMut(u64)) {
        self.Rt.write(out);
        self.c.write(out);
    }

    fn read(&self, reader: &mut Reader<'_>) -> Self {
        Triangle { Rt: self.Rt.read(reader), c: self.c.read(reader) }
    }
}
