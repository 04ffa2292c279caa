//! Blocks for sparse points, from the coordinates that two points have in common:
//!
//! ```text
//! Σ_k m(x_k, y_k) = Σ_k m(x_k, 0) + Σ_k m(0, y_k) + Σ_{k: x_k, y_k ≠ 0} j(x_k, y_k)
//! ```
//!
//! with j(x, y) = m(x, y) − m(x, 0) − m(0, y), for m(0, 0) = 0. Sums are in `f64`. Where those of a
//! distance cancel more than four binary digits, as for nearly equal points, the distance is summed
//! again from differences.
//!
//! The points of one side are indexed by coordinate, an inverted index as in text search. Those of
//! the other side look up their coordinates one by one. The terms of an entry are added in the
//! order of coordinates: its bits depend neither on the side that is indexed nor on threads.

use super::expanded::LEAST_RATIO;
use super::lanes::Lanes;
use super::{Formula, Scales};
use crate::Plain;
use crate::metric::Metric;
use crate::points::{SparseView, merged};
use faer::reborrow::*;
use faer::{ColMut, MatMut};
use nystrom_linalg_core::{RowTree, Scalar, dispatch, ops};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Points that are indexed at a time.
const INDEXED: usize = 512;
/// Points of the other side that one thread takes at a time.
const SCANNED: usize = 64;
/// Every column of a buffer is a multiple of this many numbers, a register of any kind.
const REGISTER: usize = 16;

/// out[(i, j)] = k(x_i, y_j).
pub(super) fn eval_into<T: Scalar, F: Formula>(
    formula: &F,
    mut out: MatMut<'_, T>,
    x: SparseView<'_, T>,
    y: SparseView<'_, T>,
) {
    if x.nonzeros() > y.nonzeros() {
        return eval_into(formula, out.transpose_mut(), y, x); // k(x, y) = k(y, x)
    }
    let units = &Units::new(formula, x.dim());
    for rows in RowTree::tiles(0..x.len(), INDEXED) {
        let index = &Index::new(formula, units, x.slice(rows.clone()));
        let out = out.rb_mut().subrows_mut(rows.start, rows.len());
        out.par_col_chunks_mut(SCANNED).enumerate().for_each(|(chunk, out)| {
            let first = chunk * SCANNED;
            index.fill(formula, units, out, y.slice(first..y.len().min(first + SCANNED)));
        });
    }
}

/// out[(i, j)] = k(x_i, x_j): the lower triangle, mirrored.
pub(super) fn gram_into<T: Scalar, F: Formula>(
    formula: &F,
    mut out: MatMut<'_, T>,
    x: SparseView<'_, T>,
) {
    for cols in RowTree::tiles(0..x.len(), INDEXED) {
        let (first, below) = (cols.start, x.len() - cols.start);
        let block = out.rb_mut().submatrix_mut(first, first, below, cols.len());
        eval_into(formula, block, x.slice(first..x.len()), x.slice(cols));
    }
    ops::mirror_lower(out.rb_mut());
    diag_into(formula, out.diagonal_mut().column_vector_mut(), x);
}

/// out[i] = k(x_i, x_i).
pub(super) fn diag_into<T: Scalar, F: Formula>(
    formula: &F,
    out: ColMut<'_, T>,
    x: SparseView<'_, T>,
) {
    let mut values = vec![T::zero(); x.len().next_multiple_of(REGISTER)];
    for (i, value) in values[..x.len()].iter_mut().enumerate() {
        let add = |sum, &x: &T| {
            let x = Plain(F::coordinate(x).f64());
            F::Metric::add(sum, x, x)
        };
        *value = T::lit(x.row(i).1.iter().fold(Plain(0.0), add).0);
    }
    dispatch(Apply { formula, values: &mut values });
    out.iter_mut().zip(values).for_each(|(out, value)| *out = value);
}

/// The units of the coordinates of sparse points.
struct Units<T> {
    scales: Scales<T>,
    /// Whether every coordinate has units of its own.
    by_coordinate: bool,
}

impl<T: Scalar> Units<T> {
    /// Numbers for each of `d` dimensions only if the kernel has them too.
    fn new<F: Formula>(formula: &F, d: usize) -> Self {
        let d = if F::WEIGHTED { d } else { 1 };
        Units { scales: super::units(formula, d), by_coordinate: F::WEIGHTED }
    }

    /// The coordinate `x` = x_k before differences are taken, and the weight of differences.
    #[inline(always)]
    fn of<F: Formula>(&self, k: usize, x: T) -> (f64, f64) {
        let at = if self.by_coordinate { k } else { 0 };
        let shrink = self.scales.shrink.get(at).copied().unwrap_or(T::one());
        let weight = self.scales.weights.get(at).map_or(1.0, |w| w.f64());
        ((shrink * F::coordinate(x)).f64(), weight)
    }

    /// Calls `f(k, x_k)` for the stored coordinates of a row, in units of the sum.
    #[inline(always)]
    fn for_each<F: Formula>(&self, (columns, values): (&[u32], &[T]), mut f: impl FnMut(u32, f64)) {
        for (&k, &x) in columns.iter().zip(values) {
            let (x, weight) = self.of::<F>(k as usize, x);
            f(k, x * weight);
        }
    }

    /// Σ_k m(x_k, y_k) from differences.
    fn sum<F: Formula>(&self, x: (&[u32], &[T]), y: (&[u32], &[T])) -> f64 {
        let add = |sum, (k, x, y)| {
            let ((x, weight), (y, _)) = (self.of::<F>(k, x), self.of::<F>(k, y));
            F::Metric::add_weighted(sum, Plain(x), Plain(y), Plain(weight))
        };
        merged(x, y).fold(Plain(0.0), add).0
    }
}

/// Points x, indexed by coordinate.
struct Index<'a, T> {
    x: SparseView<'a, T>,
    /// Where the entries of a coordinate are.
    places: FxHashMap<u32, Range<usize>>,
    /// The points that have a coordinate, and x_k in units of the sum.
    entries: Vec<(u32, f64)>,
    /// Σ_k m(x_k, 0) of each point.
    alone: Vec<f64>,
}

impl<'a, T: Scalar> Index<'a, T> {
    fn new<F: Formula>(_: &F, units: &Units<T>, x: SparseView<'a, T>) -> Self {
        let mut places = FxHashMap::<u32, Range<usize>>::default();
        for i in 0..x.len() {
            x.row(i).0.iter().for_each(|&k| places.entry(k).or_default().end += 1);
        }
        let mut end = 0;
        for place in places.values_mut() {
            (*place, end) = (end..end, end + place.end);
        }
        let (mut entries, mut alone) = (vec![(0, 0.0); end], vec![0.0; x.len()]);
        for (i, alone) in alone.iter_mut().enumerate() {
            units.for_each::<F>(x.row(i), |k, value| {
                let place = places.get_mut(&k).expect("counted above");
                entries[place.end] = (i as u32, value);
                place.end += 1;
                *alone += F::Metric::alone(value);
            });
        }
        Index { x, places, entries, alone }
    }

    /// out[(i, j)] = k(x_i, y_j).
    fn fill<F: Formula>(
        &self,
        formula: &F,
        units: &Units<T>,
        mut out: MatMut<'_, T>,
        y: SparseView<'_, T>,
    ) {
        let factor = if F::SCALED && !F::WEIGHTED { units.scales.factor.f64() } else { 1.0 };
        let mut joint = vec![0.0; self.x.len()];
        let mut values = vec![T::zero(); self.x.len().next_multiple_of(REGISTER)];
        for j in 0..y.len() {
            let mut alone = 0.0;
            joint.fill(0.0);
            units.for_each::<F>(y.row(j), |k, y| {
                alone += F::Metric::alone(y);
                if let Some(place) = self.places.get(&k) {
                    for &(i, x) in &self.entries[place.clone()] {
                        joint[i as usize] += F::Metric::joint(x, y);
                    }
                }
            });
            for (i, (value, &joint)) in values.iter_mut().zip(&joint).enumerate() {
                let both = self.alone[i] + alone;
                let sum = both + joint;
                let is_accurate = both == 0.0 || (sum >= LEAST_RATIO * both && sum.is_finite());
                let sum = if is_accurate { sum } else { units.sum::<F>(self.x.row(i), y.row(j)) };
                *value = T::lit(sum * factor);
            }
            dispatch(Apply { formula, values: &mut values });
            out.rb_mut().col_mut(j).iter_mut().zip(&values).for_each(|(out, &value)| *out = value);
        }
    }
}

/// The task of applying the formula to sums, whose number is a multiple of [`REGISTER`].
struct Apply<'a, T, F> {
    formula: &'a F,
    values: &'a mut [T],
}

impl<T: Scalar, F: Formula> WithSimd for Apply<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for value in T::v_split_mut::<S>(self.values).0 {
            *value = self.formula.at(Lanes::<T, S>::new(simd, *value)).register;
        }
    }
}
