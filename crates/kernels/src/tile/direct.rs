//! Evaluation of a tile in registers: sums over coordinates are accumulated in registers, and the
//! formula is applied to them there.
//!
//! The sums are over differences or, where that is cheaper, over products ([`expanded`]).

use super::expanded::{self, Norms};
use super::grid::ROWS;
use super::lanes::Lanes;
use super::pack;
use super::sums::{GROUP, Panels, REGISTERS, SINGLE_COLUMN_REGISTERS, Sums, sums, weighted_sums};
use super::{Formula, Scales};
use crate::Points;
use crate::metric::Metric;
use faer::ColMut;
use nystrom_linalg_core::{RowTree, Scalar, WrittenColumns};
use pulp::bytemuck::cast_slice;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// The task of filling one tile: out[(i, j)] = f(Σ_k m(x_ik, y_jk)) for the points `rows` of x and
/// `cols` of y.
pub(super) struct Fill<'a, 'b, T: Scalar, F> {
    pub(super) formula: &'a F,
    pub(super) scales: &'a Scales<T>,
    pub(super) out: &'a mut WrittenColumns<'b, T>,
    pub(super) x: Points<'a, T>,
    pub(super) rows: Range<usize>,
    pub(super) y: Points<'a, T>,
    pub(super) cols: Range<usize>,
}

impl<T: Scalar, F: Formula> WithSimd for Fill<'_, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.cols.len() == 1 {
            self.run::<S, 1, 1, SINGLE_COLUMN_REGISTERS>(simd)
        } else if const { size_of::<T::Register<S>>() == 64 } {
            self.run::<S, 2, GROUP, REGISTERS>(simd)
        } else {
            self.run::<S, 1, GROUP, REGISTERS>(simd)
        }
    }
}

impl<T: Scalar, F: Formula> Fill<'_, '_, T, F> {
    /// Fills the tile, `G` groups of `C` columns by `R` registers of rows at a time.
    #[inline(always)]
    fn run<S: Simd, const G: usize, const C: usize, const R: usize>(self, simd: S) {
        let Fill { formula, scales, out, x, rows, y, cols } = self;
        let (d, height, width) = (x.dim(), R * T::v_lanes::<S>(), G * C);
        let shrink = &scales.shrink;
        let (x, y) = (
            pack::panels::<T, F>(x, rows, height, shrink),
            pack::panels::<T, F>(y, cols, width, shrink),
        );
        let points = Panels::<T, S, G, C, R>::new(&x, &y, d);
        let weighted; // no closure: it would not be compiled for the instruction set
        let norms = if !expanded::expands::<F::Metric>(d) {
            None
        } else if scales.weights.is_empty() {
            Some(Norms::new(simd, points))
        } else {
            weighted = (x.weighted(&scales.weights, height), y.weighted(&scales.weights, width));
            Some(Norms::new(simd, Panels::new(&weighted.0, &weighted.1, d)))
        };
        Tile { points, weights: &scales.weights, factor: scales.factor, norms }
            .fill(simd, formula, out);
    }
}

/// The packed input of a tile.
struct Tile<'a, T: Scalar, S: Simd, const G: usize, const C: usize, const R: usize> {
    points: Panels<'a, T, S, G, C, R>,
    weights: &'a [T],
    factor: T,
    /// Present if squared distances are computed from products.
    norms: Option<Norms<'a, T, S, G, C, R>>,
}

impl<T: Scalar, S: Simd, const G: usize, const C: usize, const R: usize> Tile<'_, T, S, G, C, R> {
    /// Fills every micro-tile. The outer loop is over column panels, so that `out` is written a few
    /// columns at a time.
    #[inline(always)]
    fn fill<F: Formula>(&self, simd: S, formula: &F, out: &mut WrittenColumns<'_, T>) {
        let (height, width) = (R * T::v_lanes::<S>(), G * C);
        let factor = Lanes::<T, S>::splat(simd, self.factor);
        for (q, y) in self.points.y.chunks_exact(self.points.d).enumerate() {
            for (p, x) in self.points.x.chunks_exact(self.points.d).enumerate() {
                let mut values = match &self.norms {
                    Some(norms) => match norms.expanded(simd, (p, q)) {
                        (expanded, true) => expanded,
                        (expanded, false) => {
                            norms.corrected(simd, (p, q), expanded, self.sums::<F>(simd, x, y))
                        }
                    },
                    None => self.sums::<F>(simd, x, y),
                };
                for value in values.as_flattened_mut().as_flattened_mut() {
                    let sum = Lanes::<T, S>::new(simd, *value);
                    *value = formula
                        .at(if const { F::SCALED && !F::WEIGHTED } { sum * factor } else { sum })
                        .register;
                }
                out.write(simd, q * width, p * height, values.as_flattened());
            }
        }
    }

    /// The sums for one panel of x and one panel of y, with weights if there are any.
    #[inline(always)]
    fn sums<F: Formula>(
        &self,
        simd: S,
        x: &[[T::Register<S>; R]],
        y: &[[[T; C]; G]],
    ) -> Sums<T, S, G, C, R> {
        if const { F::WEIGHTED } || (const { F::SCALED } && !self.weights.is_empty()) {
            weighted_sums::<T, S, F::Metric, G, C, R>(simd, x, y, self.weights)
        } else {
            sums::<T, S, F::Metric, G, C, R>(simd, x, y)
        }
    }
}

/// The task of filling a diagonal: out[i] = f(Σ_k m(x_ik, x_ik)). Units are not applied, because
/// the distance of a point to itself is 0 in any unit.
pub(super) struct Diagonal<'a, T: Scalar, F> {
    pub(super) formula: &'a F,
    pub(super) out: ColMut<'a, T>,
    pub(super) x: Points<'a, T>,
}

impl<T: Scalar, F: Formula> WithSimd for Diagonal<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Diagonal { formula, mut out, x } = self;
        let lanes = T::v_lanes::<S>();
        for rows in RowTree::tiles(0..x.len(), ROWS) {
            let packed = pack::panels::<T, F>(x, rows.clone(), lanes, &[]);
            let (packed, _) = T::v_split::<S>(packed.as_slice());
            let values: Vec<T::Register<S>> = packed
                .chunks_exact(x.dim())
                .map(|x| own_value::<T, S, F>(simd, formula, x))
                .collect();
            for (i, &value) in rows.zip(cast_slice::<_, T>(&values)) {
                out[i] = value;
            }
        }
    }
}

/// f(Σ_k m(x_k, x_k)) for a register of points x.
#[inline(always)]
fn own_value<T: Scalar, S: Simd, F: Formula>(
    simd: S,
    formula: &F,
    x: &[T::Register<S>],
) -> T::Register<S> {
    let mut sum = Lanes::<T, S>::splat(simd, T::zero());
    for &x in x {
        let x = Lanes::new(simd, x);
        sum = F::Metric::add(sum, x, x);
    }
    formula.at(sum).register
}
