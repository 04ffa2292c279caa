//! The register tile: sums over coordinates stay in registers, and so does the formula applied to them.

use super::grid::ROWS;
use super::lanes::Lanes;
use super::{Formula, pack};
use crate::Points;
use crate::metric::Metric;
use faer::reborrow::*;
use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{RowTree, Scalar};
use pulp::bytemuck::cast_slice;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Registers of rows in a micro-tile.
const REGISTERS: usize = 2;
/// Columns of a micro-tile: 2 × 4 sums, two registers of x and one of y fit the 16 registers of AVX2.
const COLUMNS: usize = 4;

/// One tile: out[(i, j)] = f(Σ_k m(x_k, y_k)) for the points `rows` of x and `cols` of y.
pub(super) struct Fill<'a, T: Scalar, F> {
    pub(super) formula: &'a F,
    pub(super) out: MatMut<'a, T>,
    pub(super) x: Points<'a, T>,
    pub(super) rows: Range<usize>,
    pub(super) y: Points<'a, T>,
    pub(super) cols: Range<usize>,
    /// A point set whose first point is the common origin.
    pub(super) origin: Points<'a, T>,
}

impl<T: Scalar, F: Formula> WithSimd for Fill<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Fill { formula, mut out, x, rows, y, cols, origin } = self;
        let height = REGISTERS * T::v_lanes::<S>();
        let x = pack::panels(formula, x, rows, origin, height);
        let y = pack::panels(formula, y, cols, origin, COLUMNS);
        let (x, _) = T::v_split::<S>(&x);
        let (x, _) = x.as_chunks::<REGISTERS>();
        let (y, _) = y.as_chunks::<COLUMNS>();
        match out.rb_mut().try_as_col_major_mut() {
            Some(out) => {
                let mut columns: Vec<&mut [T]> = out.col_iter_mut().map(|column| column.as_slice_mut()).collect();
                fill::<T, S, F>(simd, formula, &mut columns, x, y, origin.dim());
            }
            None => {
                let mut scratch = Mat::zeros(out.nrows(), out.ncols());
                let mut columns: Vec<&mut [T]> = scratch
                    .as_mut()
                    .col_iter_mut()
                    .map(|column| column.try_as_col_major_mut().expect("a fresh matrix").as_slice_mut())
                    .collect();
                fill::<T, S, F>(simd, formula, &mut columns, x, y, origin.dim());
                out.copy_from(&scratch);
            }
        }
    }
}

/// Every micro-tile: column panels outside, so that a tile of `out` is written a few columns at a time.
#[inline(always)]
fn fill<T: Scalar, S: Simd, F: Formula>(
    simd: S,
    formula: &F,
    out: &mut [&mut [T]],
    x: &[[T::Register<S>; REGISTERS]],
    y: &[[T; COLUMNS]],
    d: usize,
) {
    let height = REGISTERS * T::v_lanes::<S>();
    for (out, y) in out.chunks_mut(COLUMNS).zip(y.chunks_exact(d)) {
        for (p, x) in x.chunks_exact(d).enumerate() {
            let values = micro_tile::<T, S, F>(simd, formula, x, y);
            for (column, values) in out.iter_mut().zip(values) {
                let column = &mut column[p * height..];
                if column.len() >= height {
                    let (to, _) = T::v_split_mut::<S>(&mut column[..height]);
                    to.copy_from_slice(&values);
                } else {
                    let values: &[T] = cast_slice(&values);
                    column.copy_from_slice(&values[..column.len()]);
                }
            }
        }
    }
}

/// The formula of the sums over coordinates of one panel of x against one panel of y, column by column.
#[inline(always)]
fn micro_tile<T: Scalar, S: Simd, F: Formula>(
    simd: S,
    formula: &F,
    x: &[[T::Register<S>; REGISTERS]],
    y: &[[T; COLUMNS]],
) -> [[T::Register<S>; REGISTERS]; COLUMNS] {
    let mut sums = [[T::v_splat(simd, T::zero()); REGISTERS]; COLUMNS];
    for (x, y) in x.iter().zip(y) {
        for j in 0..COLUMNS {
            let y_j = Lanes::<T, S>::splat(simd, y[j]);
            for i in 0..REGISTERS {
                let sum = Lanes::<T, S>::new(simd, sums[j][i]);
                sums[j][i] = F::Metric::add(sum, Lanes::new(simd, x[i]), y_j).register;
            }
        }
    }
    for column in &mut sums {
        for sum in column {
            *sum = formula.at(Lanes::<T, S>::new(simd, *sum)).register;
        }
    }
    sums
}

/// out[i] = f(Σ_k m(x_k, x_k)).
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
            let packed = pack::panels(formula, x, rows.clone(), x, lanes);
            let (packed, _) = T::v_split::<S>(&packed);
            let values: Vec<T::Register<S>> =
                packed.chunks_exact(x.dim()).map(|x| own_value::<T, S, F>(simd, formula, x)).collect();
            for (i, &value) in rows.zip(cast_slice::<_, T>(&values)) {
                out[i] = value;
            }
        }
    }
}

/// The formula of the sums over coordinates of a register of points with themselves.
#[inline(always)]
fn own_value<T: Scalar, S: Simd, F: Formula>(simd: S, formula: &F, x: &[T::Register<S>]) -> T::Register<S> {
    let mut sum = Lanes::<T, S>::splat(simd, T::zero());
    for &x in x {
        let x = Lanes::new(simd, x);
        sum = F::Metric::add(sum, x, x);
    }
    formula.at(sum).register
}
