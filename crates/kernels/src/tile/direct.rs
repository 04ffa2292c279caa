//! The register tile: sums over coordinates stay in registers, and so does the formula applied to them.
//!
//! The sums are of differences, or where that is cheaper of products ([`expanded`]).

use super::expanded::Norms;
use super::grid::ROWS;
use super::lanes::Lanes;
use super::{Formula, pack};
use crate::Points;
use crate::metric::Metric;
use faer::reborrow::*;
use faer::{ColMut, Mat, MatMut};
use nystrom_linalg_core::{RowTree, Scalar, Vectorised};
use pulp::bytemuck::cast_slice;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Registers of rows in a micro-tile.
pub(super) const REGISTERS: usize = 2;
/// Columns of a group: 2 × 4 sums, two registers of x and one of y fit the 16 registers of AVX2. AVX-512 has 32 and takes two groups at a time.
pub(super) const GROUP: usize = 4;

/// The sums of a micro-tile of `G` groups: [group][column][register].
pub(super) type Sums<T, S, const G: usize> = [[[<T as Vectorised>::Register<S>; REGISTERS]; GROUP]; G];

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
    /// Whether the tile is part of a block so large that it is better written past the caches.
    pub(super) streaming: bool,
}

impl<T: Scalar, F: Formula> WithSimd for Fill<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if const { size_of::<T::Register<S>>() == 64 } { self.run::<S, 2>(simd) } else { self.run::<S, 1>(simd) }
    }
}

impl<T: Scalar, F: Formula> Fill<'_, T, F> {
    /// The tile, `G` groups of columns at a time.
    #[inline(always)]
    fn run<S: Simd, const G: usize>(self, simd: S) {
        let Fill { formula, mut out, x, rows, y, cols, origin, streaming } = self;
        let height = REGISTERS * T::v_lanes::<S>();
        let x = pack::panels(formula, x, rows, origin, height);
        let y = pack::panels(formula, y, cols, origin, G * GROUP);
        let (x, _) = T::v_split::<S>(x.as_slice());
        let (x, _) = x.as_chunks::<REGISTERS>();
        let (y, _) = y.as_slice().as_chunks::<GROUP>();
        let (y, _) = y.as_chunks::<G>();
        let panels = Panels { x, y, norms: Norms::new::<F::Metric>(simd, x, y, origin.dim()), d: origin.dim() };
        match out.rb_mut().try_as_col_major_mut() {
            Some(out) => {
                let mut columns: Vec<&mut [T]> = out.col_iter_mut().map(|column| column.as_slice_mut()).collect();
                panels.fill(simd, formula, &mut columns, streaming);
            }
            None => {
                let mut scratch = Mat::zeros(out.nrows(), out.ncols());
                let mut columns: Vec<&mut [T]> = scratch
                    .as_mut()
                    .col_iter_mut()
                    .map(|column| column.try_as_col_major_mut().expect("a fresh matrix").as_slice_mut())
                    .collect();
                panels.fill(simd, formula, &mut columns, false);
                out.copy_from(&scratch);
            }
        }
    }
}

/// The points of a tile as the micro-tiles read them.
struct Panels<'a, T: Scalar, S: Simd, const G: usize> {
    /// Coordinate by coordinate, panel after panel.
    x: &'a [[T::Register<S>; REGISTERS]],
    y: &'a [[[T; GROUP]; G]],
    /// There if sums of products are to be taken.
    norms: Option<Norms<T, S, G>>,
    d: usize,
}

impl<T: Scalar, S: Simd, const G: usize> Panels<'_, T, S, G> {
    /// Every micro-tile: column panels outside, so that a tile of `out` is written a few columns at a time.
    #[inline(always)]
    fn fill<F: Formula>(&self, simd: S, formula: &F, out: &mut [&mut [T]], streaming: bool) {
        let height = REGISTERS * T::v_lanes::<S>();
        for (q, (out, y)) in out.chunks_mut(G * GROUP).zip(self.y.chunks_exact(self.d)).enumerate() {
            for (p, x) in self.x.chunks_exact(self.d).enumerate() {
                let mut values = match &self.norms {
                    Some(norms) => norms.squared_distances::<F::Metric>(simd, (p, x), (q, y)),
                    None => sums::<T, S, F::Metric, G>(simd, x, y),
                };
                for value in values.as_flattened_mut().as_flattened_mut() {
                    *value = formula.at(Lanes::<T, S>::new(simd, *value)).register;
                }
                for (column, values) in out.iter_mut().zip(values.as_flattened()) {
                    write::<T, S>(simd, &mut column[p * height..], values, streaming);
                }
            }
        }
        if streaming {
            T::v_stream_end();
        }
    }
}

/// The leading values into `column`, as many as it has room for.
#[inline(always)]
fn write<T: Scalar, S: Simd>(simd: S, column: &mut [T], values: &[T::Register<S>; REGISTERS], streaming: bool) {
    let values_each: &[T] = cast_slice(values);
    if column.len() < values_each.len() {
        column.copy_from_slice(&values_each[..column.len()]);
        return;
    }
    let (to, _) = T::v_split_mut::<S>(&mut column[..values_each.len()]);
    if streaming {
        T::v_stream::<S>(simd, to, values);
    } else {
        to.copy_from_slice(values);
    }
}

/// Σ_k m(x_k, y_k) for one panel of x against one panel of y.
#[inline(always)]
pub(super) fn sums<T: Scalar, S: Simd, M: Metric, const G: usize>(
    simd: S,
    x: &[[T::Register<S>; REGISTERS]],
    y: &[[[T; GROUP]; G]],
) -> Sums<T, S, G> {
    let mut sums = [[[T::v_splat(simd, T::zero()); REGISTERS]; GROUP]; G];
    for (x, y) in x.iter().zip(y) {
        add_coordinate::<T, S, M>(simd, &mut sums[0], x, &y[0]);
        if const { G == 2 } {
            add_coordinate::<T, S, M>(simd, &mut sums[G - 1], x, &y[G - 1]); // written out: a loop would keep the sums in memory
        }
    }
    sums
}

/// sums[j][i] += m(x_i, y_j).
#[inline(always)]
fn add_coordinate<T: Scalar, S: Simd, M: Metric>(
    simd: S,
    sums: &mut [[T::Register<S>; REGISTERS]; GROUP],
    x: &[T::Register<S>; REGISTERS],
    y: &[T; GROUP],
) {
    for j in 0..GROUP {
        let y_j = Lanes::<T, S>::splat(simd, y[j]);
        for i in 0..REGISTERS {
            sums[j][i] = M::add(Lanes::new(simd, sums[j][i]), Lanes::new(simd, x[i]), y_j).register;
        }
    }
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
            let (packed, _) = T::v_split::<S>(packed.as_slice());
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
